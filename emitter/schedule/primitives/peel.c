/* SPDX-License-Identifier: MIT */
/* peel: a loop is cut in two at the first iteration in which one of its guards may fail.
 *
 *   for wo < 4: for wi < 4: relu if wo*4 + wi < 15        for wo < 3: for wi < 4: relu
 *                                                  =>     for wi < 3: relu@tail           (wo = 3)
 *
 * Below the cut X every guard on the loop holds and is dropped. The remainder is a copy for v >= X; a loop in it that a
 * guard cuts at a fixed value is shortened to that value. Cutting a range in two keeps every iteration and their
 * order, so the only claim concerns the dropped guards: a*v + rest < 0 holds for v < X = floor((a - 1 - max rest) /
 * a). */
#include "schedule/draft/draft.h"

#include <string.h>

#include "support/names.h"

/* ---- Where to cut ---------------------------------------------------------------------------------------------- */

/* Writes the guard as a*v + rest < 0. Returns false for any other form. */
static bool less_than_zero(Ctx *cx, const Expr *conjunct, Linear *out)
{
    if (conjunct->kind != EXPR_LT && conjunct->kind != EXPR_LE) return false;
    const Expr *difference = expr_sub(cx, conjunct->arg[0], conjunct->arg[1]);
    if (!linear_of(cx, difference, out)) return false;
    if (conjunct->kind == EXPR_LE) out->constant--;
    return true;
}

/* Removes the variable from the sum and returns its coefficient. */
static int64_t take_term(Linear *l, const Expr *var)
{
    for (int i = 0; i < l->count; i++) {
        if (l->term[i] != var) continue;
        int64_t c = l->coef[i];
        linear_drop(l, i);
        return c;
    }
    return 0;
}

static bool uses_loops(const Expr *e)
{
    const Var *v = expr_as_var(e);
    if (v) return v->role == VAR_LOOP;
    for (int i = 0; i < e->arg_count; i++)
        if (uses_loops(e->arg[i])) return true;
    return false;
}

/* Returns the first value of the loop for which the guard may fail, over sizes only. Returns NULL if the guard does not
 * have this form. */
static const Expr *first_doubt(Ctx *cx, const Expr *conjunct, const Stmt *loop, const Bounds *scope)
{
    Linear l;
    if (!less_than_zero(cx, conjunct, &l)) return NULL;
    int64_t a = take_term(&l, loop->var);
    const Expr *rest = linear_expr(cx, &l);
    if (a <= 0 || a > INT32_MAX || expr_uses(rest, loop->var)) return NULL;
    const Expr *inner[MAX_DEPTH];
    int inner_count = 0;
    for (const Bounds *b = scope; b && b->var != loop->var; b = b->outer)
        if (b->var && inner_count < MAX_DEPTH) inner[inner_count++] = b->var;
    Reach r;
    const char *why;
    if (!reach(cx, rest, scope, inner, inner_count, &r, &why)) return NULL;
    const Expr *up = expr_sub(cx, expr_index(cx, a - 1), r.high);
    const Expr *x = simplify(cx, expr_binary(cx, EXPR_FLOORDIV, simplify(cx, up, NULL), expr_index(cx, a)), NULL);
    return uses_loops(x) ? NULL : x;
}

typedef struct Cut {
    Draft *d;
    const Stmt *loop;
    const Expr *at;              /* the smallest first_doubt */
    bool fine;
} Cut;

static void take_least(Cut *c, const Stmt *block, const Expr *x)
{
    Ctx *cx = c->d->cx;
    if (!c->at || c->at == x) c->at = x;
    else if (provably(cx, expr_binary(cx, EXPR_LE, x, c->at), NULL)) c->at = x;
    else if (!provably(cx, expr_binary(cx, EXPR_LE, c->at, x), NULL))
        c->fine = refuse_unproved(c->d, FAULT_INDEX, "guards that all hold up to the same iteration",
                                  "the guards of %s end at two iterations that cannot be compared", block->name);
}

static void visit_guard(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Cut *c = user;
    const Expr *part[MAX_CONJUNCTS];
    int n = conjuncts_of(block->cond, part);
    for (int i = 0; i < n && c->fine; i++) {
        if (!expr_uses(part[i], c->loop->var)) continue;
        const Expr *x = first_doubt(cx, part[i], c->loop, scope);
        if (x) take_least(c, block, x);
    }
}

/* ---- Dropping guards and shortening loops ---------------------------------------------------------------------- */

typedef struct Drop { const Stmt *loop; const Expr *at; const Bounds *scope; } Drop;

/* Drops the guards that hold for all iterations before the cut. */
static const Stmt *drop_guards(Ctx *cx, const Stmt *s, const Bounds *scope, const Drop *d)
{
    if (s->kind == STMT_BLOCK) {
        const Expr *part[MAX_CONJUNCTS], *kept = NULL;
        int n = conjuncts_of(s->cond, part);
        for (int i = 0; i < n; i++) {
            const Expr *x = expr_uses(part[i], d->loop->var) ? first_doubt(cx, part[i], d->loop, scope) : NULL;
            bool holds = x && (x == d->at || provably(cx, expr_binary(cx, EXPR_LE, d->at, x), NULL));
            if (!holds) kept = conjoin(cx, kept, part[i]);
        }
        return kept == s->cond ? s : stmt_block(cx, s->name, s->stage, s->part, s->bind, kept);
    }
    const Bounds *inside = s->kind == STMT_FOR ? bounds_var(cx, scope, s->var, s->extent) : scope;
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count);
    for (int i = 0; i < s->child_count; i++) child[i] = drop_guards(cx, s->child[i], inside, d);
    return stmt_with_children(cx, s, child, s->child_count);
}

/* Returns the extent at which the guard cuts the loop, or NULL. The coefficient must be 1, and the other terms must
 * depend only on sizes and be within [0, extent]. */
static const Expr *cut_extent(Ctx *cx, const Expr *conjunct, const Stmt *loop)
{
    Linear l;
    if (!less_than_zero(cx, conjunct, &l) || take_term(&l, loop->var) != 1) return NULL;
    const Expr *x = simplify(cx, expr_sub(cx, expr_index(cx, 0), linear_expr(cx, &l)), NULL);
    if (uses_loops(x)) return NULL;
    bool inside = provably(cx, expr_binary(cx, EXPR_LE, x, loop->extent), NULL) &&
                  provably(cx, expr_binary(cx, EXPR_LE, expr_index(cx, 0), x), NULL);
    return inside ? x : NULL;
}

typedef struct Common { const Stmt *loop; const Expr *extent; bool first, agree; } Common;

/* Compares the extents at which the blocks below end the loop. Keeps the extent only if all blocks have the same
 * one. */
static void visit_common(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Common *c = user;
    const Expr *part[MAX_CONJUNCTS], *found = NULL;
    int n = conjuncts_of(block->cond, part);
    (void)scope;
    for (int i = 0; i < n && !found; i++) found = cut_extent(cx, part[i], c->loop);
    if (c->first) c->extent = found;
    c->agree = c->agree && found && found == c->extent;
    c->first = false;
}

typedef struct Shorten { const Stmt *loop; const Expr *extent; } Shorten;

static const Stmt *drop_cut(Ctx *cx, const Stmt *s, void *user)
{
    const Shorten *c = user;
    if (s->kind != STMT_BLOCK) return s;
    const Expr *part[MAX_CONJUNCTS], *kept = NULL;
    int n = conjuncts_of(s->cond, part);
    for (int i = 0; i < n; i++)
        if (cut_extent(cx, part[i], c->loop) != c->extent) kept = conjoin(cx, kept, part[i]);
    return stmt_block(cx, s->name, s->stage, s->part, s->bind, kept);
}

static const Stmt *shorten_loop(Ctx *cx, const Stmt *s, void *user)
{
    (void)user;
    if (s->kind != STMT_FOR) return s;
    Common c = { s, NULL, true, true };
    each_block(cx, s->child[0], NULL, visit_common, &c);
    if (!c.agree || !c.extent || c.extent == s->extent) return s;
    Shorten cut = { s, c.extent };
    const Stmt *body = stmt_rewrite(cx, s->child[0], drop_cut, &cut);
    return stmt_for(cx, s->name, s->var, c.extent, s->loop_kind, body);
}

/* ---- The tail -------------------------------------------------------------------------------------------------- */

/* Returns true if at = E / f and extent = (E + f - 1) / f, which is the cut of a split; *rest = E - at * f is its
 * remainder. */
static bool is_rounded_up(Ctx *cx, const Expr *at, const Expr *extent, const Expr **rest)
{
    if (at->kind != EXPR_FLOORDIV || !is_constant(at->arg[1])) return false;
    const Expr *size = at->arg[0], *f = at->arg[1];
    const Expr *up = expr_add(cx, size, expr_index(cx, f->integer - 1));
    if (simplify(cx, expr_binary(cx, EXPR_FLOORDIV, up, f), NULL) != extent || interval_of(cx, size, NULL).least < 0)
        return false;
    *rest = simplify(cx, expr_sub(cx, size, expr_mul(cx, at, f)), NULL);
    return true;
}

/* Returns true if every block is inside a loop of this extent. */
static bool all_inside_loop_of(const Stmt *s, const Expr *extent)
{
    if (s->kind == STMT_BLOCK) return false;
    if (s->kind == STMT_FOR && s->extent == extent) return true;
    bool all = true;
    for (int i = 0; i < s->child_count; i++) all = all && all_inside_loop_of(s->child[i], extent);
    return all;
}

/* Returns the iterations after the cut. If there is at most one, its index is the cut. The loop of that iteration is
 * dropped if the iteration exists for certain, or if the loops inside have no iterations whenever it does not exist. */
static const Stmt *tail_of(Draft *d, const Stmt *loop, const Expr *at, const Bounds *scope)
{
    Ctx *cx = d->cx;
    const Expr *left = simplify(cx, expr_sub(cx, loop->extent, at), NULL), *rest = NULL;
    const Stmt *copy = draft_copy(d, loop, "tail");
    if (ctx_failed(cx)) return copy;
    bool rounded = is_rounded_up(cx, at, loop->extent, &rest);
    const Expr *v = rounded || expr_is_int(left, 1) ? at : expr_add(cx, copy->var, at);
    const Stmt *body = replace_loops(cx, copy->child[0], bounds_var(cx, scope, copy->var, left), &copy->var, &v, 1);
    body = stmt_rewrite(cx, body, shorten_loop, NULL);
    if (expr_is_int(left, 1) || (rounded && all_inside_loop_of(body, rest))) return body;
    return stmt_for(cx, copy->name, copy->var, left, loop->loop_kind, body);
}

/* Returns true if 0 <= at <= extent. The quotients of one size rounded down and up satisfy this by their form. */
static bool cut_is_inside(Ctx *cx, const Expr *at, const Expr *extent)
{
    const Expr *rest;
    if (is_rounded_up(cx, at, extent, &rest)) return true;
    return provably(cx, expr_binary(cx, EXPR_LE, at, extent), NULL) &&
           provably(cx, expr_binary(cx, EXPR_LE, expr_index(cx, 0), at), NULL);
}

/* Peels the loop. A loop without a guard, or with a guard that may fail everywhere, is accepted and leaves the nest
 * unchanged. */
bool draft_peel(Draft *d, const char **loop)
{
    Ctx *cx = d->cx;
    Path p;
    if (!draft_find_loop(d, loop, &p)) return false;
    const Stmt *old = path_end(&p);
    if (expr_is_int(old->extent, 1)) return true;
    const Bounds *scope = path_bounds(cx, &p);
    Cut cut = { d, old, NULL, true };
    each_block(cx, old->child[0], scope, visit_guard, &cut);
    if (!cut.fine) return false;
    if (!cut.at || expr_is_int(cut.at, 0) || cut.at == old->extent) return true;
    if (!cut_is_inside(cx, cut.at, old->extent)) {
        if (provably(cx, expr_binary(cx, EXPR_LE, old->extent, cut.at), NULL)) return true;
        return refuse_unproved(d, FAULT_COVER, "a guard that holds up to some iteration and fails from there on",
                               "the guards below %s are not shown to begin to fail within its range", *loop);
    }
    Drop drop = { old, cut.at, scope };
    const Stmt *body = drop_guards(cx, old->child[0], scope, &drop);
    const Stmt *both[] = { stmt_for(cx, old->name, old->var, cut.at, old->loop_kind, body),
                           tail_of(d, old, cut.at, scope->outer) };
    if (ctx_failed(cx)) return false;
    d->next.root = path_replace(cx, &p, stmt_seq(cx, both, 2));
    return true;
}

const Nest *run_peel(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_peel, a);
    if (!draft_peel(&d, &d.args.loop[0])) return n;
    return draft_close(&d);
}
