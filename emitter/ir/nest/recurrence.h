/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_RECURRENCE_H
#define LW_IR_NEST_RECURRENCE_H
/* Stages that read each other. They share an ordered first axis, the steps: at each step a stage may read what the others
 * made at earlier steps, or at the same one if no circle comes of it. */
#include "ir/expr/tensor.h"

/* The nodes that need n and that n needs, n among them, in the order in which one step makes them. Alone: n itself. Sets an
 * error where they need each other within one step, or differ in the number of steps. */
int recurrence_of(Ctx *cx, Node *n, Node ***out);

/* What a stage reads before its maker exists: make a tensor with tensor_new, read it, then let the compute that makes it
 * keep the promise: the promised tensor takes the place of its first output. */
Tensor *promise_keep(Ctx *cx, Tensor *promised, Tensor *made);
/* All that read each other are ordered; an error names what is not */
bool promise_is_sound(Ctx *cx, const Tensor *kept);
#endif
