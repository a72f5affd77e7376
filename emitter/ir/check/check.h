/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_CHECK_H
#define LW_IR_CHECK_CHECK_H
/* The checker proves a whole nest correct or returns the reason of the refusal. The only code that it shares with the
 * schedule primitives is reach and dense. check.c lists the invariants and the proof of each. */
#include "ir/algebra/algebra.h"
#include "ir/nest/refusal.h"
#include "ir/nest/nest.h"

/* Returns NULL if the nest is proved, otherwise the refusal. */
const Refusal *nest_refusal(Ctx *cx, const Nest *n);
/* Like nest_refusal, for the invariants of a finished schedule: the buffers in declared memories. */
const Refusal *nest_memory_refusal(Ctx *cx, const Nest *n);
/* Returns the verdict. Unless it is PROVED, *why is a sentence that names the stage, loop or tensor and the fault. */
Verdict nest_check(Ctx *cx, const Nest *n, const char **why);

/* Returns the window of a buffer, for the checker, the storage pass and the interpreter. Per dimension, the window is
 * the interval of coordinates that the statements below the buffer's Alloc access. The window is an expression over the
 * loops outside the Alloc, cut to the tensor. */
typedef struct Window { const Expr *begin[MAX_RANK], *extent[MAX_RANK]; } Window;
bool alloc_window(Ctx *cx, const Nest *n, const Stmt *alloc, Window *out, const char **why);

/* The elements of a buffer in memory order. A size of the run counts as its declared maximum. */
typedef struct BufferLayout {
    Window window;
    /* Per dimension: the number of slots, or of tiles; its stride; and the stride inside a tile, or 0. */
    int64_t extent[MAX_RANK], stride[MAX_RANK], within[MAX_RANK];
    int64_t elems;
} BufferLayout;
/* Lays the window out in the order, rings, tiles and rows of the buffer. `around` holds the loops outside the Alloc.
 * Returns -1, or a dimension that has no bound. */
int alloc_layout(Ctx *cx, const Nest *n, const Stmt *alloc, const Bounds *around, BufferLayout *out);
#endif
