/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_COMPOSITE_H
#define LW_GRAPH_PASSES_COMPOSITE_H
#include "graph/passes/passes.h"

/* Finds the composites of the devices among the graph's calls. Returns a map from call to CompositeMatch. */
Map composites_match(Ctx *cx, const Graph *g, Node *const *order, int count);
bool device_takes_types(const Device *d, const Node *n, const Tensor **refused);
#endif
