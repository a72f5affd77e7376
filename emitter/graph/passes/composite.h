/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_COMPOSITE_H
#define LW_GRAPH_PASSES_COMPOSITE_H
#include "graph/passes/passes.h"

/* The composites of devices among the calls of a graph. */
typedef struct Composites {
    Map match;                         /* call -> CompositeMatch */
    Map unmet;                         /* call of a chain whose condition does not hold -> Composite */
} Composites;
Composites composites_match(Ctx *cx, const Graph *g, Node *const *order, int count);
bool device_takes_types(const Device *d, const Node *n, const Tensor **refused);
/* An input or output of the call whose size the run decides: a device's function has no parameter for it; NULL: none */
const Tensor *device_decided_of(Ctx *cx, const Node *n);
#endif
