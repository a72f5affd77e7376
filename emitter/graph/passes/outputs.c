/* SPDX-License-Identifier: MIT */
/* Copies every output that is an input, a constant or another output, so that one call writes each output. */
#include "graph/passes/passes.h"

static bool is_among(const Tensor *t, Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

Graph graph_outputs(Ctx *cx, Graph g)
{
    Tensor **output = arena_copy(cx->arena, g.output, (size_t)g.output_count * sizeof *g.output);
    for (int i = 0; i < g.output_count && !ctx_failed(cx); i++) {
        Tensor *t = output[i];
        if (t->producer && (t->producer->kind == NODE_COMPUTE || !is_among(t, output, i))) continue;
        output[i] = call(cx, "identity", t->name, &t, 1, NULL);
        if (output[i]) output[i]->quant = t->quant;
    }
    g.output = output;
    return g;
}
