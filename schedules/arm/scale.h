/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_ARM_SCALE_H
#define LW_SCHEDULES_ARM_SCALE_H
/* Computes the fixed-point scaling of sums, the last step of a quantized layer (ops/integer/rescale.c), as an
 * instruction. */
#include "schedules/arm/arm.h"

/* Returns true if the stage scales sums, `count` channels at once, and the target has vectors for it. */
bool scales_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count);
/* Tensorizes `loop`, whose trip count is the number of channels: LW_SCALE_I8, or LW_SCALE_EACH_I8 if factors differ. */
const Nest *scale_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop);
/* Like scale_at_once, for two pixels whose factors differ by channel: `loop` iterates over the pixels.
 * LW_SCALE2_EACH_I8. */
bool scales_pair_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count);
const Nest *scale_pair_at_once(Ctx *cx, const Nest *n, const char *loop);
/* Does the same as scale_pair_at_once if the sums of the two pixels alternate: LW_SCALE_PAIR_I8, or
 * LW_SCALE_PAIR_ALL_I8. */
const Nest *scale_alternate_at_once(Ctx *cx, const Nest *n, const char *stage, const char *loop);
/* Does the same as scale_at_once for the sum of two quantized bytes: LW_ADD_I8, or LW_ADD_LINE_I8 if the sum is a line
 * for all bytes. */
bool adds_at_once(Ctx *cx, const GroupNest *g, const Stage *stage, int64_t count);
const Nest *add_at_once(Ctx *cx, const GroupNest *g, const Nest *n, const char *stage, const char *loop, int64_t count);
/* Copies the initial values of contiguous sums, over which `loop` iterates: LW_COPY_I32. */
const Nest *initialize_at_once(Ctx *cx, const Nest *n, const char *loop);
/* Copies the initial values for two pixels, over which `loop` iterates: LW_COPY2_I32. */
const Nest *initialize_pair_at_once(Ctx *cx, const Nest *n, const char *loop);
/* Does the same as initialize_pair_at_once if the sums alternate: LW_COPY_PAIR_I32. `loop` iterates over the channels,
 * and the next loop over the pixels. */
const Nest *initialize_alternate_at_once(Ctx *cx, const Nest *n, const char *loop);
#endif
