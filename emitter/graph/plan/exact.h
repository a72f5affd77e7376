/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_EXACT_H
#define LW_GRAPH_PLAN_EXACT_H
/* Finds offsets in the smallest arena, by branch and bound. */
#include "support/ctx.h"

/* Two items that are live in a common group do not overlap. Exception: an item may begin `lead` bytes after the begin
 * of item `into`, or later. */
typedef struct ExactItem {
    int64_t bytes, offset;           /* multiples of the unit */
    int first, last;                 /* the first and last group in which the item is live, inclusive */
    int into; int64_t lead;          /* `into` is an index of an item, or -1 */
} ExactItem;

/* Searches for offsets in an arena of less than `size` bytes; no arena is smaller than `bound`. Returns the size found
 * and sets the offsets, or returns `size` and leaves them unchanged. Sets *least to a proved lower bound of the arena's
 * size. The result is the smallest arena if it equals *least. Counts limit the effort, so the result is the same on any
 * machine. */
int64_t exact_offsets(Ctx *cx, ExactItem *item, int count, int64_t unit, int64_t bound, int64_t size, int64_t *least);
#endif
