/* SPDX-License-Identifier: MIT */
/* Matches the epilogue i8(min(max(roundshift(mulhigh(acc, m), s) + zero, least), most)) to an instruction with its
 * parameters, and the addition of two such bytes, which are first shifted left by 20 bits:
 *
 *   i8(min(max(roundshift(mulhigh(term(a) + term(b), m), s) + zero, least), most))
 *   term(a) = roundshift(mulhigh(i32(a) - zero_a << 20, m_a), s_a)
 *
 * which is one line for all pairs of bytes, as a rule (line.c).
 * Any other epilogue stays in loops. */
#include "schedules/arm/scale.h"

#include "ir/algebra/algebra.h"
#include "schedules/line.h"
#include "support/text.h"

/* roundshift(mulhigh(of, factor), shift) + zero, clamped to least and most. A NULL shift: none. */
typedef struct Scale { const Expr *of, *factor, *shift; int64_t zero, least, most; } Scale;

static const Expr *as_kind(const Expr *e, ExprKind kind) { return e && e->kind == kind ? e : NULL; }

/* Matches e = kind(other, number): returns the other operand; stores the number in *number. */
static const Expr *with_number(const Expr *e, ExprKind kind, int64_t *number)
{
    if (!as_kind(e, kind)) return NULL;
    int at = e->arg[1]->kind == EXPR_INT ? 1 : 0;
    if (e->arg[at]->kind != EXPR_INT) return NULL;
    *number = e->arg[at]->integer;
    return e->arg[1 - at];
}

static bool read_steps(const Expr *e, Scale *s)
{
    s->shift = as_kind(e, EXPR_ROUNDSHIFT) ? e->arg[1] : NULL;
    if (s->shift) e = e->arg[0];
    if (!as_kind(e, EXPR_MULHIGH)) return false;
    s->of = e->arg[0];
    s->factor = e->arg[1];
    return true;
}

static bool read_scale(const Stage *stage, Scale *s)
{
    const Expr *e = as_kind(stage->value[0], EXPR_CAST);
    *s = (Scale){ 0 };
    if (!e || e->type != I8) return false;
    e = with_number(with_number(e->arg[0], EXPR_MIN, &s->most), EXPR_MAX, &s->least);
    if (as_kind(e, EXPR_ADD)) e = with_number(e, EXPR_ADD, &s->zero);
    return e && read_steps(e, s);
}

/* True if the stage scales a stored sum, by numbers or by one factor and shift per channel. */
static bool scales_sum(const Stage *stage, Scale *s)
{
    if (!read_scale(stage, s) || s->of->kind != EXPR_READ || !s->shift) return false;
    bool all = s->factor->kind == EXPR_INT && s->shift->kind == EXPR_INT;
    bool each = s->factor->kind == EXPR_READ && as_kind(s->shift, EXPR_CAST) && s->shift->arg[0]->kind == EXPR_READ
                && s->shift->arg[0]->type == U8;
    return all || each;
}

/* A stage whose ranges leave one value has no operands. */
static bool has_vectors(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count)
{
    if (!target_has(g->target, "bytes") || last_extent(stage) <= 0 || last_extent(stage) % count) return false;
    const Interval range = interval_of(cx, stage->value[0], NULL);
    return range.least < range.greatest;
}

bool scales_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count)
{
    Scale s;
    return has_vectors(cx, g, stage, count) && scales_sum(stage, &s);
}

bool scales_pair_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count)
{
    Scale s;
    const bool has_pairs = target_has(g->target, "mve") || target_has(g->target, "avx2");
    return has_pairs && has_vectors(cx, g, stage, count) && scales_sum(stage, &s)
           && s.factor->kind == EXPR_READ;
}

/* " + number", as the simplifier writes it. */
static const char *plus_text(Ctx *cx, int64_t number)
{
    return number ? text_format(cx, " %c %lld", number < 0 ? '-' : '+', (long long)(number < 0 ? -number : number))
                  : "";
}

const Nest *scale_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop, int64_t count)
{
    Scale s;
    if (ctx_failed(cx) || !scales_sum(nest_stage(n, stage), &s)) return n;
    bool each = s.factor->kind == EXPR_READ;
    long long c = (long long)count, zero = (long long)s.zero, least = (long long)s.least, most = (long long)s.most;
    const char *macro = each ? "LW_SCALE_EACH_I8" : "LW_SCALE_I8";
    const char *operands = each ? text_format(cx, "a: i32[%lld], m: i32[%lld], s: u8[%lld]", c, c, c)
                                : text_format(cx, "a: i32[%lld], m: i32, s: i32", c);
    const char *scaled = each ? "roundshift(mulhigh(a[e], m[e]), i32(s[e]))" : "roundshift(mulhigh(a[e], m), s)";
    n = sched_instruction(cx, n,
                          text_format(cx, "%s[%lld,%lld,%lld,%lld](%s) y[e<%lld] = i8(min(max(%s%s, %lld), %lld))",
                                      macro, c, zero, least, most, operands, c, scaled, plus_text(cx, zero), least,
                                      most),
                          NULL);
    return sched_tensorize(cx, n, loop, macro);
}

/* ---- Additions --------------------------------------------------------------------------------------------------- */

enum { UP = 20 };      /* left shift of the terms before scaling */

static bool read_number(const Expr *e, int64_t *number)
{
    *number = e && e->kind == EXPR_INT ? e->integer : 0;
    return !e || e->kind == EXPR_INT;
}

/* Matches bytes that are contiguous along the last axis. */
static bool read_term(const Stage *stage, const Expr *e, ScaledTerm *t)
{
    Scale s;
    *t = (ScaledTerm){ 0 };
    if (!read_steps(e, &s) || !read_number(s.factor, &t->factor) || !read_number(s.shift, &t->shift)) return false;
    e = as_kind(s.of, EXPR_SHL) && expr_is_int(s.of->arg[1], UP) ? s.of->arg[0] : NULL;
    const ExprKind sum = as_kind(e, EXPR_SUB) ? EXPR_SUB : EXPR_ADD;
    if (as_kind(e, sum)) e = with_number(e, sum, &t->zero);
    if (sum == EXPR_SUB) t->zero = -t->zero;
    e = as_kind(e, EXPR_CAST) && e->arg[0]->kind == EXPR_READ && e->arg[0]->type == I8 ? e->arg[0] : NULL;
    return e && e->arg_count > 0 && stage->data_count > 0
           && e->arg[e->arg_count - 1] == stage->axis[stage->data_count - 1].var;
}

static bool read_sum(const Stage *stage, Scale *s, ScaledTerm term[2], int64_t *factor, int64_t *shift)
{
    if (!read_scale(stage, s) || s->of->kind != EXPR_ADD) return false;
    return read_term(stage, s->of->arg[0], &term[0]) && read_term(stage, s->of->arg[1], &term[1])
           && read_number(s->factor, factor) && read_number(s->shift, shift);
}

bool adds_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count)
{
    Scale s;
    ScaledTerm term[2];
    int64_t factor, shift;
    return has_vectors(cx, g, stage, count) && read_sum(stage, &s, term, &factor, &shift);
}

/* The name and the numbers of the addition as a line, if it is one and the target has instructions for products of
 * pairs of 16-bit values; else NULL. */
static const char *line_text(Ctx *cx, const Target *t, int64_t count, const ScaledSum *sum)
{
    enum { HALF = 15 };
    ByteLine line;
    if (!target_has(t, "avx2") || !line_of_sum(cx, sum, &line)) return NULL;
    const char *text = text_format(cx, "LW_ADD_LINE_I8[%lld", (long long)count);
    for (int i = 0; i < 2; i++)
        text = text_format(cx, "%s,%lld,%lld", text, (long long)(line.slope[i] >> HALF),
                           (long long)(line.slope[i] & ((1 << HALF) - 1)));
    return text_format(cx, "%s,%lld,%d,%lld,%lld]", text, (long long)line.offset, line.shift, (long long)sum->least,
                       (long long)sum->most);
}

static const char *steps_text(Ctx *cx, const char *of, int64_t factor, int64_t shift)
{
    const char *high = text_format(cx, "mulhigh(%s, %lld)", of, (long long)factor);
    return shift ? text_format(cx, "roundshift(%s, %lld)", high, (long long)shift) : high;
}

const Nest *add_at_once(Ctx *cx, const GroupNest *g, const Nest *n, const char *stage, const char *loop, int64_t count)
{
    static const char *const operand[] = { "a", "b" };
    Scale s;
    ScaledTerm term[2];
    int64_t factor, shift;
    if (ctx_failed(cx) || !read_sum(nest_stage(n, stage), &s, term, &factor, &shift)) return n;
    const char *text[2], *numbers = text_format(cx, "%lld", (long long)count);
    for (int i = 0; i < 2; i++) {
        const ScaledTerm *t = &term[i];
        text[i] = steps_text(cx, text_format(cx, "i32(%s[e])%s << %d", operand[i], plus_text(cx, t->zero), UP),
                             t->factor, t->shift);
        numbers = text_format(cx, "%s,%lld,%lld,%lld", numbers, (long long)t->zero, (long long)t->factor,
                              (long long)t->shift);
    }
    const ScaledSum sum = { { term[0], term[1] }, factor, shift, s.zero, s.least, s.most };
    const char *line = line_text(cx, g->target, count, &sum);
    const long long c = (long long)count, least = (long long)s.least, most = (long long)s.most;
    const char *steps = text_format(cx, "LW_ADD_I8[%s,%lld,%lld,%lld,%lld,%lld]", numbers, (long long)factor,
                                    (long long)shift, (long long)s.zero, least, most);
    n = sched_instruction(cx, n,
                          text_format(cx, "%s(a: i8[%lld], b: i8[%lld]) y[e<%lld] = i8(min(max(%s%s, %lld), %lld))",
                                      line ? line : steps, c, c, c,
                                      steps_text(cx, text_format(cx, "%s + %s", text[0], text[1]), factor, shift),
                                      plus_text(cx, s.zero), least, most),
                          NULL);
    return sched_tensorize(cx, n, loop, line ? "LW_ADD_LINE_I8" : "LW_ADD_I8");
}

const Nest *scale_pair_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop, int64_t count)
{
    Scale s;
    if (ctx_failed(cx) || !scales_sum(nest_stage(n, stage), &s)) return n;
    const long long c = (long long)count, zero = (long long)s.zero, least = (long long)s.least,
                    most = (long long)s.most;
    n = sched_instruction(cx, n,
                          text_format(cx,
                                      "LW_SCALE2_EACH_I8[%lld,%lld,%lld,%lld](a: i32[2][%lld], m: i32[%lld], "
                                      "s: u8[%lld]) y[w<2,e<%lld] = i8(min(max(roundshift(mulhigh(a[w,e], m[e]), "
                                      "i32(s[e]))%s, %lld), %lld))",
                                      c, zero, least, most, c, c, c, c, plus_text(cx, zero), least, most),
                          NULL);
    return sched_tensorize(cx, n, loop, "LW_SCALE2_EACH_I8");
}

const Nest *initialize_at_once(Ctx *cx, const Nest *n, const char *loop, int64_t count)
{
    if (ctx_failed(cx)) return n;
    n = sched_instruction(cx, n,
                          text_format(cx, "LW_COPY_I32[%lld](a: i32[%lld]) y[e<%lld] = a[e]", (long long)count,
                                      (long long)count, (long long)count),
                          NULL);
    return sched_tensorize(cx, n, loop, "LW_COPY_I32");
}

const Nest *initialize_pair_at_once(Ctx *cx, const Nest *n, const char *loop, int64_t count)
{
    if (ctx_failed(cx)) return n;
    n = sched_instruction(cx, n,
                          text_format(cx, "LW_COPY2_I32[%lld](a: i32[%lld]) y[w<2,e<%lld] = a[e]", (long long)count,
                                      (long long)count, (long long)count),
                          NULL);
    return sched_tensorize(cx, n, loop, "LW_COPY2_I32");
}

/* ---- Sums of two pixels that alternate --------------------------------------------------------------------------- */

const Nest *scale_alternate_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop, int64_t count)
{
    Scale s;
    if (ctx_failed(cx) || !scales_sum(nest_stage(n, stage), &s)) return n;
    const bool each = s.factor->kind == EXPR_READ;
    const long long c = (long long)count, zero = (long long)s.zero, least = (long long)s.least,
                    most = (long long)s.most;
    const char *macro = each ? "LW_SCALE_PAIR_I8" : "LW_SCALE_PAIR_ALL_I8";
    const char *factors = each ? text_format(cx, "m: i32[%lld], s: u8[%lld]", c, c) : "m: i32, s: i32";
    const char *scaled = each ? "roundshift(mulhigh(a[e,w], m[e]), i32(s[e]))" : "roundshift(mulhigh(a[e,w], m), s)";
    n = sched_instruction(cx, n,
                          text_format(cx,
                                      "%s[%lld,%lld,%lld,%lld](a: i32[%lld][2], %s) y[w<2,e<%lld] = "
                                      "i8(min(max(%s%s, %lld), %lld))",
                                      macro, c, zero, least, most, c, factors, c, scaled, plus_text(cx, zero), least,
                                      most),
                          NULL);
    return sched_tensorize(cx, n, loop, macro);
}

const Nest *initialize_alternate_at_once(Ctx *cx, const Nest *n, const char *loop, int64_t count)
{
    if (ctx_failed(cx)) return n;
    n = sched_instruction(cx, n,
                          text_format(cx, "LW_COPY_PAIR_I32[%lld](a: i32[%lld]) y[e<%lld,w<2] = a[e]",
                                      (long long)count, (long long)count, (long long)count),
                          NULL);
    return sched_tensorize(cx, n, loop, "LW_COPY_PAIR_I32");
}

/* ---- Separate additions ------------------------------------------------------------------------------------------ */

static const Nest *schedule_addition(Ctx *cx, const GroupNest *g)
{
    const Nest *n = inline_elementwise(cx, g->nest, NULL);
    const Stage *out = output_stage(g->nest);
    const int last = out->data_count - 1;
    return ctx_failed(cx) ? n : add_at_once(cx, g, n, out->name, loop_name(cx, out, last), axis_extent(out, last));
}

static bool is_addition(Ctx *cx, const GroupNest *g)
{
    enum { LANES = 4 };
    const Stage *out = output_stage(g->nest);
    if (g->nest->output_count != 1 || out->data_count < 1 || last_extent(out) < LANES)
        return false;
    DiagMark mark = diag_mark(cx);
    const Nest *n = inline_elementwise(cx, g->nest, NULL);
    const bool adds = !ctx_failed(cx) && adds_at_once(cx, g, nest_stage(n, out->name), 1);
    diag_rewind(cx, mark);
    return adds;
}

const Implementation implementations_arm_scale[] = {
    { .name = "add.vectors", .features = "rows bytes", .plevel = 12,
      .ops = "pattern:elementwise pattern:broadcast pattern:injective",
      .what = "the sum of two quantized tensors, row by row", .applies = is_addition, .schedule = schedule_addition },
    { 0 }
};
