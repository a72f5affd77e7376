/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_COPY_H
#define LW_IR_NEST_COPY_H
#include "ir/nest/nest.h"

/* A block that a copy engine can compute: it stores the elements of another tensor, a constant of equal bytes, or an
 * element where a condition holds and such a constant elsewhere. */
typedef struct BlockCopy {
    const Expr *read;                /* over the axes of the stage; NULL if the block stores only the constant */
    const Expr *inside;              /* the condition, over the axes, or NULL */
    const Expr *fill;                /* the constant, or NULL */
} BlockCopy;
bool block_copy(Ctx *cx, const Stmt *block, BlockCopy *out);
/* Returns the block below a Start, in loops of its own, or NULL. */
const Stmt *start_block(const Stmt *start);
/* Returns the Start below s that copies to the tensor, or from it, or NULL. *is_back is true for a copy from it. */
const Stmt *start_of(Ctx *cx, const Stmt *s, const Tensor *t, bool *is_back);
/* Returns the number of these Starts. */
int starts_of(Ctx *cx, const Stmt *s, const Tensor *t);
/* Returns the byte that each byte of the constant equals, or -1. */
int fill_byte(const Expr *constant);
#endif
