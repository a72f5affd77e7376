/* SPDX-License-Identifier: MIT */
/* Replaces a region by one of its branches if the condition is constant and the results have the branch's shapes. */
#include "graph/passes/passes.h"

#include "graph/dag/region.h"

static void take_branch(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (n->region->kind != REGION_CHOICE || n->region->capacity || !tensor_is_constant(n->in[0])) return;
    bool holds = dtype_load(n->in[0]->type, n->in[0]->data, 0).i != 0;
    const Graph taken = graph_bind(cx, &n->region->graph[holds ? 0 : 1], n->in + 1);
    for (int i = 0; i < n->out_count; i++) out[i] = taken.output[i];
}

/* Replaces regions, then simplifies and folds the inlined branches, which no pass has seen yet. */
Graph graph_regions(Ctx *cx, Graph g)
{
    const Graph now = graph_rewrite_regions(cx, g, take_branch);
    for (int i = 0; i < g.output_count; i++)
        if (now.output[i] != g.output[i]) return graph_fold(cx, graph_simplify(cx, now));
    return now;
}
