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

/* Decision: guards leave hot loops in three ways. The three ways follow in their order (`emitter/lower/passes/guard.c`,
 * `partition.c`). First, guards become bounds of a loop whose whole body they guard. The enclosing loop is cut into
 * boundary and interior. Or, where copies are expensive (the target's `copy_budget`), both boundaries share one loop,
 * or only the innermost loop has two versions. Unrolled and vector loops keep constant extents, so their guards take
 * the second way. */
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

/* For e == v + r, returns e - r; NULL if the condition has another form. */
static const Expr *only_value(Ctx *cx, const Expr *cond, const Expr *var)
{
    int64_t coef;
    const Expr *rest;
    if (cond->kind != EXPR_EQ || cond->arg[0]->type != I32) return NULL;
    for (int i = 0; i < 2; i++) {
        const Expr *e = cond->arg[1 - i];
        if (expr_uses(e, var)) continue;
        if (cond->arg[i] == var) return e;
        if (expr_uses(cond->arg[i], var) && split_linear(cx, cond->arg[i], var, &coef, &rest) && coef == 1)
            return simplify(cx, expr_sub(cx, e, rest), NULL);
    }
    return NULL;
}

static bool may_store(const Code *c, const void *memory)
{
    return c->kind == CODE_CALL || (c->kind == CODE_STORE && c->memory == memory);
}

typedef struct Loads { const Code *body; bool changes; } Loads;

static void find_changed(const Expr *e, void *user)
{
    Loads *l = user;
    if (e->kind == EXPR_AT) l->changes = true;
    if (e->kind == EXPR_LOAD && code_any(l->body, may_store, e->ref)) l->changes = true;
}

/* Returns true if the body stores what the expression loads. */
static bool changes(Ctx *cx, const Expr *e, const Code *body)
{
    Loads l = { body, false };
    expr_walk(cx, e, find_changed, &l);
    return l.changes;
}

static bool is_of_loops(Ctx *cx, const Expr *e) { return e->kind != EXPR_INT && is_pure(cx, e); }

/* Returns true for x[i] == u, where u is over the variables of loops around this one, which may need that iteration
 * only. */
static bool chooses_outside(Ctx *cx, const Expr *cond, const Code *loop)
{
    if (cond->kind != EXPR_EQ || expr_uses(cond, loop->var) || is_pure(cx, cond) || !has_iterations(loop)) return false;
    return (is_of_loops(cx, cond->arg[0]) || is_of_loops(cx, cond->arg[1]))
           && !changes(cx, cond, loop->child[0]->child[0]);
}

/* Rewrites for (v = b; v < e; v++) if (c && x[i] == v && d) S to if (c) { at = x[i]; if (b <= at && at < e && d) S },
 * with at for v. This is legal because only one iteration has an effect, if S does not store the element that x[i]
 * loads. Where the loop may have no iteration, b < e is tested first. Returns NULL for any other loop. */
static const Code *one_iteration(Ctx *cx, const Code *loop)
{
    const Code *inside = loop->child[0];
    const Expr *part[MAX_CONJUNCTS], *before = NULL, *at = NULL;
    const int n = conjuncts(inside->cond, part, MAX_CONJUNCTS);
    int i = 0;
    if (loop->loop_kind != LOOP_SERIAL || loop->step != 1 || n > MAX_CONJUNCTS) return NULL;
    for (; i < n && !at; i++) {
        at = only_value(cx, part[i], loop->var);
        if (!at && expr_uses(part[i], loop->var)) return NULL;
        if (!at) before = both_hold(cx, before, part[i]);
    }
    if (!at) return NULL;
    if (changes(cx, at, inside->child[0]) || (before && changes(cx, before, inside->child[0]))) return NULL;
    const bool is_named = at->kind != EXPR_INT && at->kind != EXPR_VAR;
    const Expr *var = is_named ? expr_new_var(cx, "at", VAR_LOCAL, I32, INT32_MIN, INT32_MAX) : at;
    const Expr *inner = expr_and(cx, expr_binary(cx, EXPR_LE, loop->begin, var),
                                 expr_binary(cx, EXPR_LT, var, loop->end));
    for (; i < n; i++) inner = expr_and(cx, inner, part[i]);
    if (!has_iterations(loop)) before = both_hold(cx, expr_binary(cx, EXPR_LT, loop->begin, loop->end), before);
    const Code *code = code_if(cx, inner, inside->child[0], NULL);
    if (is_named) {
        const Code *let_and_if[] = { code_let(cx, var, at), code };
        code = code_seq(cx, let_and_if, 2);
    }
    return code_if(cx, before, code_substitute(cx, code, loop->var, var), NULL);
}

static const Code *guard_loop(Ctx *cx, const Code *loop)
{
    const Code *inside = loop->child[0];
    const Expr *part[MAX_CONJUNCTS], *outside = NULL, *stays = NULL, *begin = loop->begin, *end = loop->end;
    if (inside->kind != CODE_IF || inside->child_count > 1) return loop;
    const Code *one = one_iteration(cx, loop);
    if (one) return one;
    int n = conjuncts(inside->cond, part, MAX_CONJUNCTS);
    if (n > MAX_CONJUNCTS) return loop;
    for (int i = 0; i < n; i++) {
        const Expr *sum = is_steady(cx, part[i]) ? as_nonnegative(cx, part[i]) : NULL, *rest;
        int64_t coef;
        if (!stays && chooses_outside(cx, part[i], loop)) outside = both_hold(cx, outside, part[i]);
        else if (!is_pure(cx, part[i]) && !(sum && has_iterations(loop))) stays = both_hold(cx, stays, part[i]);
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

/* For m[i] = c ? x : m[i], returns if (c) m[i] = x. Returns NULL for any other statement. */
static const Code *update_if(Ctx *cx, const Code *c)
{
    if (c->kind != CODE_STORE || c->value->kind != EXPR_SELECT) return NULL;
    const Expr *old = c->value->arg[SELECT_NO];
    if (old->kind != EXPR_LOAD || old->ref != c->memory || old->arg[0] != c->index) return NULL;
    return code_if(cx, c->value->arg[SELECT_COND],
                   code_store(cx, c->memory, c->index, c->value->arg[SELECT_YES]), NULL);
}

static bool tests_in_loop(const Code *c, const void *user)
{
    (void)user;
    return c->kind == CODE_FOR && c->child[0]->kind == CODE_IF;
}

/* An update of a part of an array needs only the iterations of this part, if its condition becomes bounds. */
static const Code *guard_update(Ctx *cx, const Code *loop)
{
    const Code *update = update_if(cx, loop->child[0]);
    if (!update) return guard_loop(cx, loop);
    const Code *code = guard_loop(cx, code_for(cx, loop->var, loop->begin, loop->end, loop->step, loop->loop_kind,
                                               update));
    return code_any(code, tests_in_loop, NULL) ? loop : code;
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
    return c->kind == CODE_FOR ? guard_update(cx, c) : c;
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
