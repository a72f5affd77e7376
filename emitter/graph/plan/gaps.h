/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_GAPS_H
#define LW_GRAPH_PLAN_GAPS_H
/* Places copies in the bytes that the items of a memory leave free during one group. */
#include "support/ctx.h"

typedef struct Gap { int64_t begin, bytes; } Gap;
/* offset is the result, -1 for an item without a place. */
typedef struct GapItem { int64_t bytes, gain, offset; int index; } GapItem;

/* Stores the gaps between the ranges `taken`, which it sorts, in gap[count + 1]; returns their number. */
int gaps_between(Gap *taken, int count, int64_t capacity, Gap *gap);
/* Gives the items offsets in the gaps, and returns the sum of their gains. The items are sorted by index. */
int64_t gaps_fill(Ctx *cx, const Gap *gap, int gaps, GapItem *item, int count);
#endif
