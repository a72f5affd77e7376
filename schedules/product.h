/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_PRODUCT_H
#define LW_SCHEDULES_PRODUCT_H
/* What strategies for packed operators share (ops/integer/packed.c): a patch of the input is made, a product of it and weights is
 * summed, and a tail of elementwise stages makes the output. */
#include "schedules/tile.h"

const Stage *product_stage(const Nest *n);                                   /* the one that sums; NULL: none */
const Stage *patch_stage(Ctx *cx, const Nest *n, const Stage *acc);          /* the first made here that acc reads; NULL: none */
/* The result of the product has the shape of the group's one output, and nothing else is reduced. */
bool product_makes_output(Ctx *cx, const GroupNest *g);
/* Everything inlined but the stages of these names, up to NULL, and the product, *acc, apart from the output. */
const Nest *isolate_product(Ctx *cx, const Nest *n, const char **acc, const char *const *kept);
/* The instruction for the loop, or, where what is read lies otherwise (behind a transpose that went into it), the loops as they are. */
const Nest *tensorize_if_fits(Ctx *cx, const Nest *n, const char *loop, const char *macro);
/* A loop that is there and no unit. */
const Nest *unroll_if_found(Ctx *cx, const Nest *n, const char *loop);
#endif
