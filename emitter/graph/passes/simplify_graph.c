/* SPDX-License-Identifier: MIT */
/* Replaces calls by their simpler forms until no call has one. A view of a view becomes one view of the first tensor,
 * unless one of them is an annotation that later passes read (annotation.stop_fusion). */
#include "graph/passes/passes.h"

static Tensor *view_of_view(Ctx *cx, Node *call)
{
    Tensor *from = call->in[0];
    if (!from->producer || from->producer->kind != NODE_CALL || !from->producer->op->layout.is_view ||
        from->producer->op->fusion.annotation) return NULL;
    return view_call(cx, call->name, from->producer->in[0], call->out[0]);
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    if (a->rank != b->rank || a->type != b->type) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

/* Returns true for a call that a training step computes in a different form. */
static bool is_kept(const Node *n, const Uses *uses)
{
    if (n->op->gradient.role == GRADIENT_DROPOUT) return uses_keep_dropout(uses);
    if (n->op->gradient.role != GRADIENT_NORM || !uses_keep_norms(uses)) return false;
    for (int i = 1; i < n->in_count; i++)
        if (!tensor_is_constant(n->in[i])) return false;
    return n->in[0]->rank > 1 && tensor_is_fixed(n->in[0]) && tensor_dim(n->in[0], 0) > 1;
}

static void simplify_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    while (call && call->kind == NODE_CALL && !ctx_failed(cx) && !is_kept(call, uses)) {
        Tensor *simpler = call->op->meaning.simplify ? call->op->meaning.simplify(cx, call) : NULL;
        if (!simpler && call->op->layout.is_view && !call->op->fusion.annotation)
            simpler = same_shape(call->in[0], call->out[0]) ? call->in[0] : view_of_view(cx, call);
        if (!simpler) return;
        out[0] = simpler;
        if (simpler->producer == call) return;
        call = simpler->producer && simpler->output == 0 ? simpler->producer : NULL;
    }
}

Graph graph_simplify(Ctx *cx, Graph g) { return graph_rewrite(cx, g, simplify_call); }
