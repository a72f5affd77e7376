/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_ALGEBRA_LEGALIZE_H
#define LW_IR_ALGEBRA_LEGALIZE_H
/* Legalizes integer arithmetic, so that C's own operators compute it. A legal expression has the value of the
 * expression that it replaces, and in it
 *
 *   sums, products, negations  never leave their type: one that may wrap is computed in u32 or u64, which wrap in C
 *   tdiv, tmod                 have a divisor other than 0, and -1 only of types that hold the quotient
 *   a % b, floored             has a power of 2 as b: a mask
 *   a << b, a >> b             shift by a constant below the number of bits; a >> b shifts no negative a
 *   everything else            is a call of the runtime (EXPR_RUNTIME), the cheapest that intervals admit
 *
 * The printer translates such an expression kind by kind, without facts. */
#include "ir/algebra/algebra.h"

typedef struct Legalize {
    Ctx *cx;
    const Bounds *scope;         /* the bounds that hold at the expression */
    /* Variables with a loaded value, or NULL; arithmetic on these may wrap, arithmetic on indices may not. */
    const Map *data;
} Legalize;

const Expr *legal_expr(const Legalize *l, const Expr *e);
/* Returns true if an i32 is computed only from loops, sizes and other indices. The checker has proved that it does not
 * wrap. */
bool legal_is_index(const Legalize *l, const Expr *e);
#endif
