/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_MATCH_MASK_H
#define LW_IR_CHECK_MATCH_MASK_H
/* A mask of lanes: a comparison of an instruction's formula between its axes and one unknown, a number of the run or an
 * operand of rank 0, such as `i < n`. A condition of the nest over the loops that are the axes gives its value. */
#include "ir/algebra/algebra.h"
#include "ir/nest/nest.h"

typedef struct Mask {
    const Expr *unknown;
    bool is_above;                           /* true if larger values enable more lanes, as in i < n */
    /* The comparison holds where lanes + rest + unknown >= 0, or lanes + rest - unknown >= 0 */
    Linear lanes, rest;                      /* the terms over loops; all others */
    /* Values from none to all enable the lanes one after the other; NULL if a loop's extent is not constant. */
    const Expr *none, *all;
} Mask;

/* Reads a comparison over loops and the unknown. Returns false for any other condition. */
bool mask_of(Ctx *cx, const Expr *comparison, const Expr *unknown, const Stmt *const *loop, int loop_count, Mask *out);
/* Returns true if the condition is a comparison of a linear form over the loops. */
bool mask_is_linear(Ctx *cx, const Expr *condition, const Stmt *const *loop, int loop_count);
/* Returns true if a comparison is < or <= of integers, and neither its sides nor their difference wrap. */
bool mask_is_exact(Ctx *cx, const Expr *comparison, const Bounds *inside);
/* Returns the value of the unknown for which the mask is the condition, over the scope outside the loops; NULL if there
 * is none, or if the condition may wrap. */
const Expr *mask_value(Ctx *cx, const Mask *m, const Expr *condition, const Stmt *const *loop, int loop_count,
                       const Bounds *inside, const Bounds *outside);
/* Returns the value that enables the lanes that both values enable. */
const Expr *mask_both(Ctx *cx, const Mask *m, const Expr *x, const Expr *y, const Bounds *outside);
/* Returns a value that enables the same lanes and is within none to all, if the value is not. */
const Expr *mask_within(Ctx *cx, const Mask *m, const Expr *value, const Bounds *outside);
#endif
