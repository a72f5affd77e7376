/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_PRODUCT_H
#define LW_SCHEDULES_PRODUCT_H
/* Helps strategies for packed operators (ops/integer/packed.c): a stage gathers a patch matrix of the input, a stage
 * sums its product with the weights, and an elementwise epilogue computes the output. */
#include "schedules/tile.h"

/* the stage that sums, or NULL if there is none */
const Stage *product_stage(const Nest *n);
/* the first stage of this nest that acc reads, or NULL if there is none */
const Stage *patch_stage(Ctx *cx, const Nest *n, const Stage *acc);
/* Returns the stage that unpacks the weights of a product from few bits, in their order in memory, or NULL. */
const Stage *unpacking_stage(const Nest *n);
/* Returns true if the product's result has the shape of the group's only output, and no other stage reduces. */
bool product_makes_output(Ctx *cx, const GroupNest *g);
/* Inlines all stages except the product, *acc, which stays separate from the output, and the stages in `kept`, a list
 * that ends with NULL. */
const Nest *isolate_product(Ctx *cx, const Nest *n, const char **acc, const char *const *kept);
/* Tensorizes the loop if the operands have the required layout; otherwise, for example after a folded transpose, leaves
 * the loops unchanged. number: all numbers of the macro, or NULL. */
const Nest *tensorize_if_fits(Ctx *cx, const Nest *n, const char *loop, const char *macro, const int64_t *number,
                              int count);
/* Unrolls the loop, if it exists and is not tensorized. */
const Nest *unroll_if_found(Ctx *cx, const Nest *n, const char *loop);
#endif
