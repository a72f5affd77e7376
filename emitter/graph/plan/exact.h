/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_EXACT_H
#define LW_GRAPH_PLAN_EXACT_H
/* Offsets in the smallest arena, by branch and bound. */
#include "support/ctx.h"

/* Two items with a common group are apart, except that an item may begin `lead` bytes behind item `into`, or later. */
typedef struct ExactItem {
    int64_t bytes, offset;           /* multiples of the unit */
    int first, last;                 /* groups, inclusive */
    int into; int64_t lead;          /* into: -1: none */
} ExactItem;

/* Searches for offsets in an arena of less than `size` bytes; `bound`: no arena is smaller. Returns the size found and
 * sets the offsets, or returns `size` and leaves them. *least, at least the bound, is proved: no arena is smaller. The
 * result is the smallest arena where both are equal. Effort is limited by counts, so the result is the same anywhere.
 */
int64_t exact_offsets(Ctx *cx, ExactItem *item, int count, int64_t unit, int64_t bound, int64_t size, int64_t *least);
#endif
