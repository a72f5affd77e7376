/* SPDX-License-Identifier: MIT */
/* Decision: a mask of lanes is a comparison with a number of the run, not a type of its own. `select(i < n, x[i], 0)`
 * is the formula of a masked load; cores differ in how they form the mask (a register of bits, a predicate, a vector
 * length), and each macro forms its own from n. The compiler solves the nest's condition for n, so lanes are a prefix
 * (`i < n`), a suffix (`n <= i`) or, with two numbers, a range. */
#include "ir/check/match_mask.h"

#include "ir/nest/nest.h"

/* Sets out to a form that is at least 0 where the comparison holds. */
static bool holds_from_zero(Ctx *cx, const Expr *e, Linear *out)
{
    const bool is_strict = e->kind == EXPR_LT;
    if ((!is_strict && e->kind != EXPR_LE) || e->arg[0]->type != I32) return false;
    if (!linear_of(cx, expr_sub(cx, e->arg[1], e->arg[0]), out)) return false;
    out->constant -= is_strict;
    return true;
}

static bool fits(const Interval *i) { return i->least >= INT32_MIN && i->greatest <= INT32_MAX; }

bool mask_is_exact(Ctx *cx, const Expr *comparison, const Bounds *inside)
{
    Linear form[3];
    bool exact = holds_from_zero(cx, comparison, &form[2]);
    Ranges r = ranges_new(cx, inside);
    for (int i = 0; i < 3 && exact; i++) {
        if (i < 2 && !linear_of(cx, comparison->arg[i], &form[i])) exact = false;
        const Interval known = exact ? ranges_of_linear(&r, &form[i]) : (Interval){ 0, 0 };
        exact = exact && fits(&known);
    }
    ranges_free(&r);
    return exact;
}

/* Moves the terms over loops to `lanes`. Returns false if a loop is in a term that is not a multiple of it. */
static bool divide_terms(const Linear *all, const Stmt *const *loop, int loop_count, Linear *lanes, Linear *rest)
{
    *lanes = *rest = (Linear){ .type = all->type };
    rest->constant = all->constant;
    for (int t = 0; t < all->count; t++) {
        bool is_loop = false;
        for (int l = 0; l < loop_count; l++) {
            is_loop = is_loop || all->term[t] == loop[l]->var;
            if (all->term[t] != loop[l]->var && expr_uses(all->term[t], loop[l]->var)) return false;
        }
        Linear *to = is_loop ? lanes : rest;
        to->term[to->count] = all->term[t];
        to->coef[to->count++] = all->coef[t];
    }
    return true;
}

bool mask_is_linear(Ctx *cx, const Expr *condition, const Stmt *const *loop, int loop_count)
{
    Linear all, lanes, rest;
    return holds_from_zero(cx, condition, &all) && divide_terms(&all, loop, loop_count, &lanes, &rest) && lanes.count;
}

static const Expr *negated_if(Ctx *cx, bool is_negative, const Expr *e)
{
    return is_negative ? expr_sub(cx, expr_index(cx, 0), e) : e;
}

/* Sets the values that enable no lane and all lanes. */
static void set_ends(Ctx *cx, Mask *m, const Stmt *const *loop, int loop_count)
{
    int64_t least = 0, greatest = 0;
    for (int t = 0; t < m->lanes.count; t++)
        for (int l = 0; l < loop_count; l++) {
            if (m->lanes.term[t] != loop[l]->var) continue;
            if (loop[l]->extent->kind != EXPR_INT) return;
            const int64_t span = m->lanes.coef[t] * (loop[l]->extent->integer - 1);
            *(span < 0 ? &least : &greatest) += span;
        }
    const Expr *rest = linear_expr(cx, &m->rest);
    const Expr *first = expr_add(cx, rest, expr_index(cx, least)), *last = expr_add(cx, rest, expr_index(cx, greatest));
    m->all = simplify(cx, negated_if(cx, m->is_above, first), NULL);
    m->none = simplify(cx, negated_if(cx, m->is_above, expr_add(cx, last, expr_index(cx, 1))), NULL);
}

bool mask_of(Ctx *cx, const Expr *comparison, const Expr *unknown, const Stmt *const *loop, int loop_count, Mask *out)
{
    Linear all;
    *out = (Mask){ .unknown = unknown };
    if (!holds_from_zero(cx, comparison, &all)) return false;
    const int64_t coef = linear_coef(&all, unknown);
    if (coef != 1 && coef != -1) return false;
    out->is_above = coef > 0;
    for (int t = 0; t < all.count; t++)
        if (all.term[t] == unknown) linear_drop(&all, t--);
    if (!divide_terms(&all, loop, loop_count, &out->lanes, &out->rest)) return false;
    set_ends(cx, out, loop, loop_count);
    return true;
}

const Expr *mask_value(Ctx *cx, const Mask *m, const Expr *condition, const Stmt *const *loop, int loop_count,
                       const Bounds *inside, const Bounds *outside)
{
    Linear all, lanes, rest, sum;
    if (!holds_from_zero(cx, condition, &all) || !mask_is_exact(cx, condition, inside)
        || !divide_terms(&all, loop, loop_count, &lanes, &rest)) return NULL;
    if (lanes.count != m->lanes.count || lanes.count == 0) return NULL;
    /* lanes = factor * m->lanes, so the condition holds where m->lanes + rest / factor >= 0 */
    const int64_t factor = lanes.coef[0] / m->lanes.coef[0];
    if (factor < 1) return NULL;
    for (int t = 0; t < lanes.count; t++)
        if (lanes.coef[t] != factor * linear_coef(&m->lanes, lanes.term[t])) return NULL;
    sum = rest;
    const bool has_sum = linear_add(&sum, &m->rest, -1);
    Ranges r = ranges_new(cx, outside);
    const Interval known = has_sum ? ranges_of_linear(&r, &sum) : (Interval){ INT64_MIN, INT64_MAX };
    ranges_free(&r);
    if (!fits(&known)) return NULL;
    const Expr *distance = expr_binary(cx, EXPR_FLOORDIV, linear_expr(cx, &rest), expr_index(cx, factor));
    return simplify(cx, negated_if(cx, !m->is_above, expr_sub(cx, distance, linear_expr(cx, &m->rest))), outside);
}

const Expr *mask_both(Ctx *cx, const Mask *m, const Expr *x, const Expr *y, const Bounds *outside)
{
    return simplify(cx, expr_binary(cx, m->is_above ? EXPR_MIN : EXPR_MAX, x, y), outside);
}

const Expr *mask_within(Ctx *cx, const Mask *m, const Expr *value, const Bounds *outside)
{
    if (!m->all) return value;
    const Expr *least = m->is_above ? m->none : m->all, *greatest = m->is_above ? m->all : m->none;
    value = expr_binary(cx, EXPR_MIN, value, greatest);
    return simplify(cx, expr_binary(cx, EXPR_MAX, simplify(cx, value, outside), least), outside);
}
