/* SPDX-License-Identifier: MIT */
#ifndef LW_API_BUILDER_H
#define LW_API_BUILDER_H
/* Calls functions of a client that build tensors from tensors (lw_build). */
#include "graph/dag/target.h"
#include "loopwright.h"

/* The function Op.meaning.compute, for rows whose `user` is a BuiltOp. */
typedef struct BuiltOp { lw_build *build; int depth; } BuiltOp;
int builder_compute(Ctx *cx, const Node *call, Tensor **out);
/* Functions of an Implementation, for rows whose `user` is the client's lw_implementation. */
int builder_other_compute(Ctx *cx, const Implementation *with, const Node *call, Tensor **out);
Tensor *builder_alter(Ctx *cx, const Implementation *with, const Target *t, const Node *call, const Uses *uses);
#endif
