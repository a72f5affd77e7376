/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_FACTS_H
#define LW_GRAPH_FACTS_H
/* What the ranges of channels say about the arithmetic of a call: which sums stay small, which clamps never bind. */
#include "graph/shrink/ranges.h"

typedef struct Fact {
    const Node *call;
    bool is_sum;                      /* it adds up integers: what an accumulator can hold on the way, over all channels */
    Interval sum;
    bool clamps, binds;               /* it limits integers to constants; for some input that changes a value (or may) */
} Fact;
int graph_facts(Ctx *cx, const Graph *g, const Fact **out);      /* the calls of which something is known, in order */
bool fits_type(Interval i, DType t);
#endif
