/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_CHECK_H
#define LW_IR_CHECK_CHECK_H
/* The checker proves a whole nest correct or returns the reason. It shares no code with the schedule primitives but
 * reach and dense. check.c lists the invariants I1..I6 and the proof of each. */
#include "ir/nest/refusal.h"
#include "ir/nest/nest.h"

/* Returns NULL if the nest is proved. */
const Refusal *nest_refusal(Ctx *cx, const Nest *n);
/* The refusal as text: unless PROVED, *why is a sentence that names the stage, loop or tensor and the fault. */
Verdict nest_check(Ctx *cx, const Nest *n, const char **why);

/* Returns the window of a buffer, for the checker, the storage pass and the interpreter: per dimension the interval of
 * coordinates that the statements below its Alloc access, over the loops outside the Alloc. Cut to the tensor. */
typedef struct Window { const Expr *begin[MAX_RANK], *extent[MAX_RANK]; } Window;
bool alloc_window(Ctx *cx, const Nest *n, const Stmt *alloc, Window *out, const char **why);
#endif
