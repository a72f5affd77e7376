/* SPDX-License-Identifier: MIT */
/* Hoists conditions. If one condition guards a loop's whole body,
 *
 *     for (v = b; v < e; v++) if (c && a*v + r >= 0 && d) S       c free of v, r free of v
 *
 * then c is tested before the loop, and the linear part becomes a bound (here for a = 1; d is neither and stays):
 *
 *     if (c) for (v = max(b, -r); v < e; v++) if (d) S
 *
 * Thus the padding of a convolution costs nothing in its loops. The conditions read only indices, so no store changes
 * them; r may read constants, such as the width of a band, if the loop has an iteration. Unrolled and vector loops keep
 * constant extents: only constants become their bounds, and the pass `partition` removes the other conditions. */

/* Decision: guards leave hot loops in three ways. This is their order (`emitter/lower/passes/guard.c`,
 * `partition.c`). They become bounds of a loop whose whole body they guard. The enclosing loop is cut into boundary
 * and interior. Or, where copies are expensive (the target's `copy_budget`), both boundaries share one loop, or only
 * the innermost loop has two versions. Unrolled and vector loops keep constant extents, so their guards take the
 * second way. */
#include "lower/passes/passes.h"

enum { MAX_CONJUNCTS = 32 };

static const Expr *both_hold(Ctx *cx, const Expr *a, const Expr *b) { return !a ? b : !b ? a : expr_and(cx, a, b); }

/* Rewrites a*v + r >= 0 as a bound of v: a lower bound of begin if a > 0, otherwise an upper bound of end. */
static void tighten(Ctx *cx, int64_t a, const Expr *r, const Expr **begin, const Expr **end)
{
    const Expr *one = expr_index(cx, 1);
    if (a > 0) {
        const Expr *low = expr_sub(cx, expr_index(cx, a - 1), r);
        if (a > 1) low = expr_binary(cx, EXPR_FLOORDIV, low, expr_index(cx, a));
        *begin = expr_binary(cx, EXPR_MAX, simplify(cx, low, NULL), *begin);
    } else {
        const Expr *high = a < -1 ? expr_binary(cx, EXPR_FLOORDIV, r, expr_index(cx, -a)) : r;
        *end = expr_binary(cx, EXPR_MIN, simplify(cx, expr_add(cx, high, one), NULL), *end);
    }
}

static bool may_have_bounds(const Code *loop, const Expr *begin, const Expr *end)
{
    bool is_free = loop->loop_kind == LOOP_SERIAL || loop->loop_kind == LOOP_PARALLEL;
    return is_free || (begin->kind == EXPR_INT && end->kind == EXPR_INT);
}

static bool has_iterations(const Code *loop)
{
    return loop->begin->kind == EXPR_INT && loop->end->kind == EXPR_INT && loop->begin->integer < loop->end->integer;
}

static const Code *guard_loop(Ctx *cx, const Code *loop)
{
    const Code *inside = loop->child[0];
    const Expr *part[MAX_CONJUNCTS], *outside = NULL, *stays = NULL, *begin = loop->begin, *end = loop->end;
    if (inside->kind != CODE_IF || inside->child_count > 1) return loop;
    int n = conjuncts(inside->cond, part, MAX_CONJUNCTS);
    if (n > MAX_CONJUNCTS) return loop;
    for (int i = 0; i < n; i++) {
        const Expr *sum = is_steady(cx, part[i]) ? as_nonnegative(cx, part[i]) : NULL, *rest;
        int64_t coef;
        if (!is_pure(cx, part[i]) && !(sum && has_iterations(loop))) stays = both_hold(cx, stays, part[i]);
        else if (is_pure(cx, part[i]) && !expr_uses(part[i], loop->var)) outside = both_hold(cx, outside, part[i]);
        else if (sum && loop->step == 1 && split_linear(cx, sum, loop->var, &coef, &rest)) {
            const Expr *from = begin, *to = end;
            tighten(cx, coef, rest, &from, &to);
            bool tightens = may_have_bounds(loop, from, to);
            begin = tightens ? from : begin;
            end = tightens ? to : end;
            if (!tightens) stays = both_hold(cx, stays, part[i]);
        } else stays = both_hold(cx, stays, part[i]);
    }
    const Code *body = code_if(cx, stays, inside->child[0], NULL);
    return code_if(cx, outside, code_for(cx, loop->var, begin, end, loop->step, loop->loop_kind, body), NULL);
}

static bool same_condition(const Code *a, const Code *b)
{
    return a->kind == CODE_IF && b->kind == CODE_IF && a->cond == b->cond && a->child_count == 1 && b->child_count == 1;
}

static bool declares(const Code *c) { return c->kind == CODE_LOCAL; }

/* Returns the condition shared by all statements of the sequence except declarations, or NULL. */
static const Expr *common_condition(Ctx *cx, const Code *seq)
{
    const Code *first = NULL;
    for (int i = 0; i < seq->child_count; i++) {
        const Code *c = seq->child[i];
        if (declares(c)) continue;
        if (!first) first = c;
        if (!same_condition(first, c)) return NULL;
    }
    return first && is_pure(cx, first->cond) ? first->cond : NULL;
}

/* Rewrites A; if (c) B to if (c) { A; B } where A only declares. */
static const Code *declare_inside(Ctx *cx, const Code *seq, const Expr *cond)
{
    const Code **child = NEW_ARRAY(cx->arena, const Code *, seq->child_count);
    for (int i = 0; i < seq->child_count; i++)
        child[i] = declares(seq->child[i]) ? seq->child[i] : seq->child[i]->child[0];
    return code_if(cx, cond, code_seq(cx, child, seq->child_count), NULL);
}

/* Rewrites if (c) A; if (c) B to if (c) { A; B }. */
static const Code *merge_neighbours(Ctx *cx, const Code *seq)
{
    const Expr *cond = common_condition(cx, seq);
    if (cond) return declare_inside(cx, seq, cond);
    const Code **child = NEW_ARRAY(cx->arena, const Code *, seq->child_count);
    int n = 0;
    for (int i = 0; i < seq->child_count; i++) {
        const Code *c = seq->child[i];
        if (n && same_condition(child[n - 1], c) && is_pure(cx, c->cond)) {
            const Code *both[] = { child[n - 1]->child[0], c->child[0] };
            child[n - 1] = code_if(cx, c->cond, code_seq(cx, both, 2), NULL);
        } else child[n++] = c;
    }
    return n == seq->child_count ? seq : code_seq(cx, child, n);
}

static const Code *guard(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind == CODE_SEQ) return merge_neighbours(cx, c);
    return c->kind == CODE_FOR ? guard_loop(cx, c) : c;
}

const Code *pass_guard(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return code_rewrite(cx, c, guard, NULL);
}

const Code *pass_trim(Ctx *cx, const LowerOptions *options, const Code *c)
{
    return pass_guard(cx, options, pass_normalize(cx, options, c));
}
