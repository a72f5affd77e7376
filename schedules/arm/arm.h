/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_ARM_ARM_H
#define LW_SCHEDULES_ARM_ARM_H
/* Declares properties of a core, the weight layouts that follow from them, and functions that strategies share. */
#include "ir/nest/costs.h"
#include "schedules/product.h"

/* Returns true if the target's instructions multiply pairs of i16. */
bool multiplies_pairs(const Target *t);
/* Returns the number of channels that a depthwise convolution with `channels` channels computes at once. */
int64_t channel_tile(const Target *t, int64_t channels);
/* Returns the number of channels whose weights of few bits are unpacked at once: of at most 1 KB, but at least four. */
int64_t unpacked_channels(int64_t length);
/* Returns true for a scalar core that computes up to five pixels by four channels of a panel. */
bool is_scalar_with_panels(const Target *t);
/* Returns true if convolutions of single pixels may be computed over one row of all pixels. */
bool joins_rows(const Target *t);
/* Returns true if the tiles of rows.c read weights in this layout (ops/integer/packed.c). */
bool rows_have_tile(const char *layout);
/* Returns true for a convolution of single pixels that is computed over one row of all pixels, `join_pixels` of the
 * input. */
bool joins_pixels(const Target *t, const Node *n);
Tensor *join_pixels(Ctx *cx, Tensor *x);
/* Returns the row of pixels of which `t` is a view, or NULL. t must be the view's only use. */
Tensor *before_view(const Tensor *t, const Uses *uses);
/* Copies the padded rows of x, the stage `rows` of a packed convolution, with one instruction per row over these two
 * loops; `channels` is NULL if a pixel has one channel. */
const Nest *fetch_rows(Ctx *cx, const Nest *n, const Node *anchor, const char *rows, const char *pixels,
                       const char *channels);
/* costs of macros and operations in instructions (costs.c) */
extern const Costs costs_arm, costs_m0plus, costs_m3, costs_m4, costs_mve;
/* figures for cycles and the stack (costs.c) */
extern const CoreFigures core_m0plus, core_m3, core_m4, core_m7, core_m33, core_m55, core_m85;
#endif
