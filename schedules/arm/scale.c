/* SPDX-License-Identifier: MIT */
/* The tail i8(min(max(roundshift(mulhigh(acc, m), s) + zero, least), most)), taken apart to be declared as an instruction with its
 * numbers. Anything else between the sums and the output stays loops. */
#include "schedules/arm/scale.h"

#include "support/text.h"

typedef struct Scale { const Expr *factor, *shift; int64_t zero, least, most; } Scale;

static const Expr *as_kind(const Expr *e, ExprKind kind) { return e && e->kind == kind ? e : NULL; }

/* e = kind(other, number): the other; the number is written to *number. */
static const Expr *with_number(const Expr *e, ExprKind kind, int64_t *number)
{
    if (!as_kind(e, kind)) return NULL;
    int at = e->arg[1]->kind == EXPR_INT ? 1 : 0;
    if (e->arg[at]->kind != EXPR_INT) return NULL;
    *number = e->arg[at]->integer;
    return e->arg[1 - at];
}

static bool read_scale(const Nest *n, Scale *s)
{
    const Stage *out = nest_stage(n, output_stage(n)->name);      /* as it is now, with what was inlined */
    const Expr *e = as_kind(out->value[0], EXPR_CAST);
    *s = (Scale){ 0 };
    if (!e || e->type != I8) return false;
    e = with_number(with_number(e->arg[0], EXPR_MIN, &s->most), EXPR_MAX, &s->least);
    if (as_kind(e, EXPR_ADD)) e = with_number(e, EXPR_ADD, &s->zero);
    if (!as_kind(e, EXPR_ROUNDSHIFT) || !as_kind(e->arg[0], EXPR_MULHIGH) || e->arg[0]->arg[0]->kind != EXPR_READ) return false;
    s->factor = e->arg[0]->arg[1];
    s->shift = e->arg[1];
    bool all = s->factor->kind == EXPR_INT && s->shift->kind == EXPR_INT;
    bool each = s->factor->kind == EXPR_READ && as_kind(s->shift, EXPR_CAST) && s->shift->arg[0]->kind == EXPR_READ && s->shift->arg[0]->type == U8;
    return all || each;
}

bool scales_at_once(const GroupNest *g, const Nest *n, int64_t count)
{
    Scale s;
    const Stage *out = output_stage(n);
    return has_feature(g->target, "mve") && axis_extent(out, out->data_count - 1) % count == 0 && read_scale(n, &s);
}

const Nest *scale_at_once(Ctx *cx, const Nest *n, const char *loop, int64_t count)
{
    Scale s;
    if (ctx_failed(cx) || !read_scale(n, &s)) return n;
    bool each = s.factor->kind == EXPR_READ;
    long long c = (long long)count, zero = (long long)s.zero, least = (long long)s.least, most = (long long)s.most;
    const char *macro = each ? "LW_SCALE_EACH_I8" : "LW_SCALE_I8";
    const char *operands = each ? text_format(cx, "a: i32[%lld], m: i32[%lld], s: u8[%lld]", c, c, c) : text_format(cx, "a: i32[%lld], m: i32, s: i32", c);
    const char *scaled = each ? "roundshift(mulhigh(a[e], m[e]), i32(s[e]))" : "roundshift(mulhigh(a[e], m), s)";
    if (zero) scaled = text_format(cx, "%s %c %lld", scaled, zero < 0 ? '-' : '+', zero < 0 ? -zero : zero);      /* as the simplifier has it */
    n = sched_instruction(cx, n, text_format(cx, "%s[%lld,%lld,%lld,%lld](%s) y[e<%lld] = i8(min(max(%s, %lld), %lld))", macro, c, zero, least, most, operands, c,
                                             scaled, least, most), NULL);
    return sched_tensorize(cx, n, loop, macro);
}

const Nest *begin_at_once(Ctx *cx, const Nest *n, const char *loop, int64_t count)
{
    if (ctx_failed(cx)) return n;
    n = sched_instruction(cx, n, text_format(cx, "LW_COPY_I32[%lld](a: i32[%lld]) y[e<%lld] = a[e]", (long long)count, (long long)count, (long long)count), NULL);
    return sched_tensorize(cx, n, loop, "LW_COPY_I32");
}

const Implementation implementations_arm_scale[] = { { 0 } };      /* it is part of others */
