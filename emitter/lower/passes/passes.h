/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_PASSES_H
#define LW_LOWER_PASSES_H
/* The passes between a nest and its printed C, each a file of this folder and a row of passes.def; and what they share. */
#include "lower/expand/storage.h"

typedef const Code *PassRun(Ctx *cx, const LowerOptions *options, const Code *c);
#define PASS(name, what) PassRun pass_##name;
#include "lower/passes/passes.def"
#undef PASS

/* Linear in one variable: e == coef * var + rest, rest free of var. False where it is not so. */
bool split_linear(Ctx *cx, const Expr *e, const Expr *var, int64_t *coef, const Expr **rest);
/* A comparison of integers as `sum >= 0`; NULL where the expression is none. */
const Expr *as_nonnegative(Ctx *cx, const Expr *cond);
/* The condition is about indices only: no loads, so that no store can change it. */
bool is_pure(Ctx *cx, const Expr *e);
/* A vector loop that will be statements on the vectors of the target (vectors.c). */
bool vectors_suit(Ctx *cx, const Code *loop);
#endif
