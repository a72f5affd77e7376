/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_ARM_H
#define LW_SCHEDULES_ARM_H
/* What a core has, and what follows from it for the form of weights. */
#include "schedules/product.h"

bool has_feature(const Target *t, const char *word);
/* Pairs of i16 are what the instructions of the target multiply. */
bool wants_pairs(const Target *t);
/* So many channels of a depthwise convolution are taken at once. */
int64_t channel_block(const Target *t);
#endif
