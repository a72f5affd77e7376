/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_ARM_ARM_H
#define LW_SCHEDULES_ARM_ARM_H
/* Properties of a core, the weight layouts that follow from them, and functions that strategies share. */
#include "schedules/product.h"

/* True if the target's instructions multiply pairs of i16. */
bool multiplies_pairs(const Target *t);
/* Channels that a depthwise convolution of `channels` computes at once. */
int64_t channel_tile(const Target *t, int64_t channels);
/* Copies the padded rows of x, the stage `rows` of a packed convolution, with one instruction per row over these two
 * loops; `channels` is NULL if a pixel has one channel. */
const Nest *fetch_rows(Ctx *cx, const Nest *n, const Node *anchor, const char *rows, const char *pixels,
                       const char *channels);
#endif
