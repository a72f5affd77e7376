/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_FACTS_H
#define LW_GRAPH_SHRINK_FACTS_H
/* Facts about a call's arithmetic that follow from channel ranges: bounds of sums, clamps that never bind. */
#include "graph/shrink/ranges.h"

typedef struct Fact {
    const Node *call;
    /* For an integer sum: bounds of the accumulator at any point, over all channels. */
    bool is_sum;
    DType type;                      /* of the accumulator */
    Interval sum;
    int64_t terms;                   /* the number of terms of the sum */
    /* `clamps` is true for a call that limits integers to constants; `binds` is true if the limit may change a value
     * for some input. */
    bool clamps, binds;
} Fact;
/* Returns the calls with at least one fact, in order. */
int graph_facts(Ctx *cx, const Graph *g, const Fact **out);
bool fits_type(Interval i, DType t);
#endif
