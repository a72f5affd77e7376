/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_ARM_H
#define LW_SCHEDULES_ARM_H
/* What a core has, what follows from it for the form of weights, and what strategies share. */
#include "schedules/product.h"

/* Pairs of i16 are what the instructions of the target multiply. */
bool wants_pairs(const Target *t);
/* So many channels of a depthwise convolution are taken at once. */
int64_t channel_block(const Target *t);
/* The stage `rows` of a packed convolution, rows of x with their borders: each is one instruction, over these two of its loops;
 * `channels` NULL: a pixel has one. */
const Nest *fetch_rows(Ctx *cx, const Nest *n, const Node *anchor, const char *rows, const char *pixels, const char *channels);
#endif
