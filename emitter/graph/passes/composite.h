/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_COMPOSITE_H
#define LW_GRAPH_PASSES_COMPOSITE_H
#include "graph/passes/passes.h"

/* The composites of devices that match calls of a graph. */
typedef struct Composites {
    Map match;                         /* call -> CompositeMatch */
    Map unmet;                         /* maps a call of a chain whose condition does not hold to its Composite */
} Composites;
Composites composites_match(Ctx *cx, const Graph *g, Node *const *order, int count);
bool device_takes_types(const Device *d, const Node *n, const Tensor **refused);
/* Returns an input or output of the call whose size the run decides, or NULL. A device's function has no parameter for
 * such a size. */
const Tensor *device_decided_of(Ctx *cx, const Node *n);
#endif
