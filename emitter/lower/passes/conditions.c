/* SPDX-License-Identifier: MIT */
/* Queries on conditions and indices, shared by the passes. */
#include "lower/passes/passes.h"

bool split_linear(Ctx *cx, const Expr *e, const Expr *var, int64_t *coef, const Expr **rest)
{
    Linear l;
    if (e->type != I32 || !linear_of(cx, e, &l)) return false;
    int kept = 0;
    *coef = 0;
    for (int i = 0; i < l.count; i++) {
        if (l.term[i] == var) *coef = l.coef[i];
        else if (expr_uses(l.term[i], var)) return false;
        else {
            l.term[kept] = l.term[i];
            l.coef[kept++] = l.coef[i];
        }
    }
    l.count = kept;
    *rest = linear_expr(cx, &l);
    return *coef != 0;
}

static const Expr *difference(Ctx *cx, const Expr *a, const Expr *b, int64_t minus)
{
    return expr_sub(cx, expr_sub(cx, a, b), expr_index(cx, minus));
}

const Expr *as_nonnegative(Ctx *cx, const Expr *cond)
{
    bool negated = cond->kind == EXPR_NOT;
    if (negated) cond = cond->arg[0];
    if ((cond->kind != EXPR_LT && cond->kind != EXPR_LE) || cond->arg[0]->type != I32) return NULL;
    const Expr *a = cond->arg[0], *b = cond->arg[1];
    bool strict = cond->kind == EXPR_LT;
    if (negated) return difference(cx, a, b, strict ? 0 : 1);     /* !(a < b) is a - b >= 0 */
    return difference(cx, b, a, strict ? 1 : 0);
}

static void find_load(const Expr *e, void *user)
{
    bool *found = user;
    if (e->kind == EXPR_LOAD || e->kind == EXPR_AT) *found = true;
}

bool is_pure(Ctx *cx, const Expr *e)
{
    bool loads = false;
    expr_walk(cx, e, find_load, &loads);
    return !loads;
}

static void find_changing_load(const Expr *e, void *user)
{
    bool *found = user;
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    if (e->kind == EXPR_AT || (m && !(m->kind == MEMORY_INPUT && m->tensor && tensor_is_constant(m->tensor))))
        *found = true;
}

bool is_steady(Ctx *cx, const Expr *e)
{
    bool changes = false;
    expr_walk(cx, e, find_changing_load, &changes);
    return !changes;
}
