/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_KNAPSACK_H
#define LW_GRAPH_PLAN_KNAPSACK_H
/* Solves a knapsack over time: an item is live from one group to another, and the chosen items fit at every group. */
#include "support/ctx.h"

typedef struct KnapsackItem {
    int64_t bytes, gain;             /* gain is 0 or more; it counts only if the item is chosen */
    int first, last;                 /* the first and last group, inclusive */
    bool is_forced;                  /* true if the item is always in the knapsack */
    bool is_optional;                /* true if the item does not count towards least[group] */
    bool is_chosen;                  /* the result */
} KnapsackItem;

/* Chooses items with the largest gain. In each group, the chosen items have at most capacity[group] bytes, and the
 * chosen items that are not optional have at least least[group] bytes. Returns false if no choice exists or was found.
 * Sets *is_exact to true if no choice has a larger gain. */
bool knapsack_choose(Ctx *cx, KnapsackItem *item, int count, int group_count, const int64_t *capacity,
                     const int64_t *least, bool *is_exact);
/* Returns a gain that no choice exceeds. The bound treats each group separately: in a group, an item has a share of its
 * gain, and a part of an item may be chosen. */
int64_t knapsack_bound(Ctx *cx, const KnapsackItem *item, int count, int group_count, int64_t capacity);
#endif
