/* SPDX-License-Identifier: MIT */
/* Joins two loops into one. If i < n is inside o, both loops together have the iterations of a single loop s = o * n +
 * i, in the same order, whatever is between them. A statement about o and i therefore holds for s, with o = s / n and i
 * = s % n. A loop before a split thus becomes one loop again. More loops are joined two by two. */
#include "ir/check/check_parts.h"

Carrier carrier_of(const Stmt *loop) { return (Carrier){ loop->name, loop->var, loop->extent, NULL, NULL }; }

Carrier carrier_join(Ctx *cx, const Carrier *outer, const Carrier *inner)
{
    const Expr *var = expr_new_var(cx, expr_as_var(outer->var)->name, VAR_LOOP, I32, 0, INT32_MAX);
    return (Carrier){ outer->name, var, expr_mul(cx, outer->extent, inner->extent), outer, inner };
}

const Expr *carrier_value(Ctx *cx, const Expr *e, const Carrier *s, const Bounds *scope)
{
    if (!s->inner) return e;
    const Expr *apart = carrier_value(cx, carrier_value(cx, e, s->inner, scope), s->outer, scope),
               *n = s->inner->extent;
    const Expr *from[] = { s->outer->var, s->inner->var };
    const Expr *to[] = { expr_binary(cx, EXPR_FLOORDIV, s->var, n), expr_binary(cx, EXPR_FLOORMOD, s->var, n) };
    return simplify(cx, expr_substitute(cx, apart, from, to, 2), scope);
}

static bool is_part(const Carrier *s, const Expr *var)
{
    return var == s->var || (s->inner && (is_part(s->inner, var) || is_part(s->outer, var)));
}

static const Carrier *outermost(const Carrier *s) { return s->outer ? outermost(s->outer) : s; }

const Bounds *carrier_scope(Ctx *cx, const Bounds *b, const Carrier *s)
{
    if (!b || !s->inner) return b;
    const Bounds *outer = carrier_scope(cx, b->outer, s);
    if (b->fact) return bounds_fact(cx, outer, carrier_value(cx, b->fact, s, outer));
    if (b->var == outermost(s)->var) return bounds_var(cx, outer, s->var, s->extent);
    return is_part(s, b->var) ? outer : bounds_var(cx, outer, b->var, carrier_value(cx, b->extent, s, outer));
}
