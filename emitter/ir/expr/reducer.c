/* SPDX-License-Identifier: MIT */
#include "ir/expr/reducer.h"

#include <string.h>

static const ReducerInfo reducers[REDUCER_COUNT] = {
    /* The columns: spelling, components, whether the order is free on integers, and on floats */
    [REDUCE_NONE]   = { "",        1,          false,                  false },
    [REDUCE_SUM]    = { "sum",     1,          true,                   false },
    [REDUCE_PROD]   = { "prod",    1,          true,                   false },
    [REDUCE_MAX]    = { "max",     1,          true,                   false },   /* max(-0, +0) depends on the order */
    [REDUCE_MIN]    = { "min",     1,          true,                   false },
    [REDUCE_ALL]    = { "all",     1,          true,                   true },
    [REDUCE_ANY]    = { "any",     1,          true,                   true },
    /* If several values are NaN, the first NaN that is combined wins, whatever its index. */
    [REDUCE_ARGMAX] = { "argmax",  2,          true,                   false },
    [REDUCE_ARGMIN] = { "argmin",  2,          true,                   false },
    /* A combiner has its own row */
    [REDUCE_OWN]    = { "reducer", 1,          false,                  false },
};

const ReducerInfo *reducer_info(Reducer r) { return &reducers[r]; }

bool reducer_read(const char *s, size_t n, Reducer *out)
{
    for (int k = REDUCE_NONE + 1; k < REDUCE_OWN; k++)
        if (strlen(reducers[k].spelling) == n && memcmp(reducers[k].spelling, s, n) == 0)
            return *out = (Reducer)k, true;
    return false;
}

static const Expr *least_of(Ctx *cx, DType t, int sign)
{
    if (dtype_is_float(t)) return expr_real(cx, t, sign < 0 ? -1.0 / 0.0 : 1.0 / 0.0);
    const DTypeInfo *info = dtype_info(t);
    return expr_int(cx, t, sign < 0 ? info->least : t == U64 ? -1 : info->greatest);
}

/* Returns the identity. The initial index of argmax exceeds all indices, so the first candidate wins even if its value
 * equals the identity. */
const Expr *reducer_identity(Ctx *cx, Reducer r, DType t, int component)
{
    switch (r) {
    case REDUCE_SUM: case REDUCE_ANY: case REDUCE_NONE: return expr_int(cx, t, 0);
    case REDUCE_PROD: case REDUCE_ALL: return expr_int(cx, t, 1);
    case REDUCE_MAX: return least_of(cx, t, -1);
    case REDUCE_MIN: return least_of(cx, t, +1);
    case REDUCE_ARGMAX: return component == 0 ? least_of(cx, t, +1) : least_of(cx, t, -1);
    case REDUCE_ARGMIN: return component == 0 ? least_of(cx, t, +1) : least_of(cx, t, +1);
    case REDUCE_OWN: case REDUCER_COUNT: break;
    }
    return expr_poison(cx);
}

const Expr *reducer_neutral(Ctx *cx, Reducer r, DType t, int component, bool begins_at_identity)
{
    if (r == REDUCE_SUM && dtype_is_float(t) && !begins_at_identity) return expr_real(cx, t, -0.0);
    return reducer_identity(cx, r, t, component);
}

/* Returns a condition: a is a number and b is NaN. */
static const Expr *first_nan(Ctx *cx, const Expr *a, const Expr *b)
{
    return expr_and(cx, expr_unary(cx, EXPR_ISNAN, b), expr_unary(cx, EXPR_NOT, expr_unary(cx, EXPR_ISNAN, a)));
}

/* Combines two pairs of an index and a value. (value[0], value[1]) replaces (old[0], old[1]) if value[1] is better, or
 * equal at a smaller index. A NaN is better than any number, so the value equals max and min, and the index is inside
 * the row. */
static void combine_arg(Ctx *cx, bool is_max, const Expr *const *old, const Expr *const *value, const Expr **out)
{
    const Expr *a = is_max ? old[1] : value[1], *b = is_max ? value[1] : old[1];
    const Expr *wins = expr_binary(cx, EXPR_LT, a, b);
    if (dtype_is_float(old[1]->type)) wins = expr_binary(cx, EXPR_OR, wins, first_nan(cx, old[1], value[1]));
    const Expr *ties = expr_and(cx, expr_binary(cx, EXPR_EQ, old[1], value[1]),
                                expr_binary(cx, EXPR_LT, value[0], old[0]));
    const Expr *take = expr_binary(cx, EXPR_OR, wins, ties);
    for (int i = 0; i < 2; i++) out[i] = expr_select(cx, take, value[i], old[i]);
}

static void combine_own(Ctx *cx, const Combiner *c, const Expr *const *old, const Expr *const *value, const Expr **out)
{
    const int count = c->info.components;
    const Expr *from[2 * MAX_COMPONENTS], *to[2 * MAX_COMPONENTS];
    for (int i = 0; i < count; i++) {
        from[i] = c->old[i];
        to[i] = old[i];
        from[count + i] = c->value[i];
        to[count + i] = value[i];
    }
    for (int i = 0; i < count; i++) out[i] = expr_substitute(cx, c->combined[i], from, to, 2 * count);
}

void reducer_combine(Ctx *cx, Reducer r, const Combiner *own, int count, const Expr *const *old,
                     const Expr *const *value, const Expr **out)
{
    static const ExprKind kinds[REDUCER_COUNT] = {
        [REDUCE_SUM] = EXPR_ADD, [REDUCE_PROD] = EXPR_MUL, [REDUCE_MAX] = EXPR_MAX, [REDUCE_MIN] = EXPR_MIN,
        [REDUCE_ALL] = EXPR_AND, [REDUCE_ANY] = EXPR_OR,
    };
    if (own) combine_own(cx, own, old, value, out);
    else if (reducer_selects(r)) combine_arg(cx, r == REDUCE_ARGMAX, old, value, out);
    else
        for (int i = 0; i < count; i++) out[i] = expr_binary(cx, kinds[r], old[i], value[i]);
}
