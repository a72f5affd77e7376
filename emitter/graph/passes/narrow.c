/* SPDX-License-Identifier: MIT */
/* Stores constants whose values need 2 or 4 bits several to a byte, where the reader can unpack them element by element
 * (ops/move/bits.c). Elements that share a byte are from adjacent rows of the last axis, so that loops over this axis
 * shift all elements by the same number. */
#include "graph/passes/passes.h"

/* Returns true if the call reads each element only where it uses it, so that no unpacked copy is stored. Packed
 * operators have layouts of their own, which `alter` has chosen. */
static bool unpacks_in_place(const Node *call)
{
    const Pattern p = call->op->fusion.pattern;
    const bool joins = p <= PATTERN_INJECTIVE || p == PATTERN_REDUCTION || p == PATTERN_OUT_FUSABLE;
    return joins && !call->op->layouts && !call->op->layout.is_view && !call->op->layout.is_concat && !call->device;
}

static void narrow_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    Tensor **in = NULL;
    if (!unpacks_in_place(call)) return;
    for (int i = 0; i < call->in_count; i++) {
        Tensor *k = call->in[i];
        int64_t least;
        if (!k || uses_of(uses, k) != 1 || !narrow_bits(k, &least)) continue;
        if (!in) in = arena_copy(cx->arena, call->in, (size_t)call->in_count * sizeof *in);
        in[i] = stored_in_bits(cx, k, 1, tensor_dim(k, k->rank - 1));
        if (!in[i]) return;
    }
    Node *now = in ? node_over(cx, call, in) : NULL;
    for (int i = 0; now && i < call->out_count; i++) out[i] = now->out[i];
}

Graph graph_narrow(Ctx *cx, Graph g) { return g.target ? graph_rewrite(cx, g, narrow_call) : g; }
