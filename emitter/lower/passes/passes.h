/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_PASSES_H
#define LW_LOWER_PASSES_H
/* The passes between a nest and its printed C, and their shared queries. Each pass has one file and one row of
 * passes.def. */
#include "lower/expand/storage.h"

typedef const Code *PassRun(Ctx *cx, const LowerOptions *options, const Code *c);
#define PASS(name, what) PassRun pass_##name;
#include "lower/passes/passes.def"
#undef PASS

/* Splits e into coef * var + rest, with rest free of var. Returns false if e is not linear in var. */
bool split_linear(Ctx *cx, const Expr *e, const Expr *var, int64_t *coef, const Expr **rest);
/* Returns a comparison of integers as `sum >= 0`, or NULL if the expression is not such a comparison. */
const Expr *as_nonnegative(Ctx *cx, const Expr *cond);
/* Returns true if the condition reads only indices. Such a condition has no loads, so no store changes it. */
bool is_pure(Ctx *cx, const Expr *e);
/* Returns true if the expression reads only indices and constants. */
bool is_steady(Ctx *cx, const Expr *e);
/* Returns true if the pass `vectors` lowers the vector loop to statements on the target's vectors. */
bool vectors_suit(Ctx *cx, const Code *loop);
/* Returns true for types that the target's vectors hold, as elements of local arrays and in expressions. */
bool is_lane_type(DType t);
#endif
