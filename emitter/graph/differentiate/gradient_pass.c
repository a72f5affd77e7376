/* SPDX-License-Identifier: MIT */
/* Replaces each call whose row requests gradients with the calls that compute these gradients. The gradient pass runs
 * first. Before this pass a request is a call, so that importers and the command line need no special case. */
#include "graph/differentiate/differentiate.h"

static bool asks(const Node *n) { return n->kind == NODE_CALL && op_asks_gradient(n->op); }

static void answer(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (!asks(call)) return;
    const int first = call->op->gradient.role == GRADIENT_OF_SEED ? 2 : 1;
    Tensor **adjoint = NEW_ARRAY(cx->arena, Tensor *, call->out_count);
    const uint32_t before = cx->serial;
    if (!differentiate(cx, call->in[0], first == 2 ? call->in[1] : NULL, call->in + first, call->out_count, adjoint))
        return;
    for (int i = 0; i < call->out_count; i++) {
        if (adjoint[i]->serial > before) adjoint[i]->name = call->out[i]->name;
        out[i] = adjoint[i];
    }
}

Graph graph_gradient(Ctx *cx, Graph g)
{
    Node **order;
    const int count = graph_order(cx, &g, &order);
    for (int i = 0; i < count; i++)
        if (asks(order[i])) return graph_rewrite(cx, g, answer);
    return g;
}
