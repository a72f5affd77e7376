/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_RECOMPUTE_H
#define LW_GRAPH_DIFFERENTIATE_RECOMPUTE_H
/* Checkpoints. The region of a checkpoint is all calls from which its input is computed, down to inputs, constants and
 * the results of other checkpoints. Adjoints read copies of the region's calls instead of the originals, so only the
 * region's own inputs stay live until the backward pass. The copies are created when the sweep first requires them.
 * The copies follow everything that the sweep has created before, because calls execute in the order of creation. */
#include "ir/expr/tensor.h"
#include "support/map.h"

typedef struct Recompute {
    Ctx *cx;
    int count; Node *const *order;
    Map region;                      /* maps a call to the last checkpoint in whose region the call is */
    Map is_boundary;                 /* results of checkpoints that another region reads; they are stored */
    Map copies;                      /* maps a call of a region to its copy */
    Map read_again;                  /* the tensors that copies read */
} Recompute;

Recompute recompute_new(Ctx *cx, Node *const *order, int count);
/* Gives later adjoints new copies, so that the copies for an earlier adjoint die with that adjoint. */
void recompute_afresh(Recompute *r);
/* Returns the tensor that an adjoint reads instead of t: t itself, or its copy. */
Tensor *recomputed(Recompute *r, Tensor *t);
/* Returns the call over the tensors that its adjoint reads, or n itself if all of them are stored. */
const Node *recomputed_call(Recompute *r, const Node *n);
#endif
