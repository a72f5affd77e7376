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

#include <string.h>

#include "ir/algebra/algebra.h"
#include "schedules/line.h"

/* roundshift(mulhigh(of, factor), shift) + zero, clamped to least and most; shift: or NULL. */
typedef struct Scale { const Expr *of, *factor, *shift; int64_t zero, least, most; } Scale;

static const Expr *as_kind(const Expr *e, ExprKind kind) { return e && e->kind == kind ? e : NULL; }

/* Matches e = kind(other, number). Returns the other operand, or NULL; stores the number in *number. */
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

/* Returns true if the stage scales a stored sum, by numbers or by one factor and shift per channel. */
static bool scales_sum(const Stage *stage, Scale *s)
{
    if (!read_scale(stage, s) || s->of->kind != EXPR_READ || !s->shift) return false;
    bool all = s->factor->kind == EXPR_INT && s->shift->kind == EXPR_INT;
    bool each = s->factor->kind == EXPR_READ && as_kind(s->shift, EXPR_CAST) && s->shift->arg[0]->kind == EXPR_READ
                && s->shift->arg[0]->type == U8;
    return all || each;
}

/* Returns true if the target's vectors compute `count` channels of the stage at once. A stage with a single possible
 * value is excluded, because it has no operands. */
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

/* Replaces the loop by a macro: `each` for factors of channels, `all` for one factor. */
static const Nest *scaled_by(Ctx *cx, const Nest *n, const char *stage, const char *loop, const char *each,
                             const char *all)
{
    Scale s;
    if (ctx_failed(cx) || !scales_sum(nest_stage(n, stage), &s)) return n;
    return sched_tensorize(cx, n, loop, s.factor->kind == EXPR_READ ? each : all);
}

const Nest *scale_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return scaled_by(cx, n, stage, loop, "LW_SCALE_EACH_I8", "LW_SCALE_I8");
}

const Nest *scale_pair_at_once(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_tensorize(cx, n, loop, "LW_SCALE2_EACH_I8");
}

const Nest *scale_alternate_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return scaled_by(cx, n, stage, loop, "LW_SCALE_PAIR_I8", "LW_SCALE_PAIR_ALL_I8");
}

const Nest *initialize_at_once(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_tensorize(cx, n, loop, "LW_COPY_I32");
}

const Nest *initialize_pair_at_once(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_tensorize(cx, n, loop, "LW_COPY2_I32");
}

const Nest *initialize_alternate_at_once(Ctx *cx, const Nest *n, const char *loop)
{
    return sched_tensorize(cx, n, loop, "LW_COPY_PAIR_I32");
}

/* ---- Additions --------------------------------------------------------------------------------------------------- */

enum { UP = 20 };      /* left shift of terms before they are scaled */

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

/* Stores the numbers of both terms, and then the numbers of the sum. */
static int put_sum(int64_t *to, const ScaledSum *sum)
{
    const int64_t number[] = { sum->term[0].zero, sum->term[0].factor, sum->term[0].shift,
                               sum->term[1].zero, sum->term[1].factor, sum->term[1].shift, sum->factor, sum->shift,
                               sum->zero };
    memcpy(to, number, sizeof number);
    return sizeof number / sizeof number[0];
}

/* Stores the numbers of the line, with the slopes in parts of 15 bits. */
static int put_line(int64_t *to, const ByteLine *line)
{
    enum { HALF = 15, LOW = (1 << HALF) - 1 };
    const int64_t number[] = { line->slope[0] >> HALF, line->slope[0] & LOW, line->slope[1] >> HALF,
                               line->slope[1] & LOW, line->offset, line->shift };
    memcpy(to, number, sizeof number);
    return sizeof number / sizeof number[0];
}

/* Uses the line if the target has instructions for products of pairs of 16-bit elements. */
const Nest *add_at_once(Ctx *cx, const GroupNest *g, const Nest *n, const char *stage, const char *loop, int64_t count)
{
    Scale s;
    ScaledTerm term[2];
    ByteLine line;
    int64_t factor, shift, number[MAX_NUMBERS] = { count };
    if (ctx_failed(cx) || !read_sum(nest_stage(n, stage), &s, term, &factor, &shift)) return n;
    const ScaledSum sum = { { term[0], term[1] }, factor, shift, s.zero, s.least, s.most };
    const bool is_line = target_has(g->target, "avx2") && line_of_sum(cx, &sum, &line);
    int at = 1;
    at += is_line ? put_line(number + at, &line) : put_sum(number + at, &sum);
    number[at++] = s.least;
    number[at++] = s.most;
    if (is_line) at += put_sum(number + at, &sum);
    return sched_tensorize_with(cx, n, loop, is_line ? "LW_ADD_LINE_I8" : "LW_ADD_I8", number, at);
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
