/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_RECURRENCE_H
#define LW_IR_NEST_RECURRENCE_H
/* Stages that read each other. These stages share an ordered first axis, the steps. At each step, a stage may read
 * values of earlier steps, and values of the same step unless that closes a cycle. */

/* Decision: recurrences are cycles among computes. A layer reads its own output of the previous step: a promised
 * tensor is read before its formula (`ir/nest/recurrence.h`). Only stages whose first axis is `ordered` may be in
 * such a cycle. Only the naive nest and the evaluator treat it specially: both execute the stages of a cycle step by
 * step.
 *
 *   - Later stages see one loop with the stages inside. The checker's rule for loop-carried values covers the state,
 *     and `fold_storage` stores it in a ring buffer of two.
 *   - On a scalar core the loop is divided into blocks of a few steps. Each begins with the input products of its
 *     steps, which read a weight once for all of them; the checker treats the two loops as the one that they were
 *     (`ir/check/check_carrier.c`).
 *   - In text, `promise s: f32[n]` precedes the early read of `s`, in printed nests and `.te` files alike. */
#include "ir/expr/tensor.h"

/* Collects n and the nodes that depend on n and on which n depends, in the order of one step. If there are no such
 * nodes, collects only n. Sets an error if the nodes depend on each other within one step, or differ in the number of
 * steps. */
int recurrence_of(Ctx *cx, Node *n, Node ***out);

/* A promise declares a tensor before its producer exists. Create the tensor with tensor_new, read it, and let the
 * compute that produces it keep the promise: the promised tensor replaces the compute's first output. */
Tensor *promise_keep(Ctx *cx, Tensor *promised, Tensor *made);
/* Returns true if all stages that read each other are ordered. Otherwise reports an error that names one of them. */
bool promise_is_sound(Ctx *cx, const Tensor *kept);
#endif
