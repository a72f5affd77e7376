/* SPDX-License-Identifier: MIT */
/* Runs calls over constants at compile time with the interpreter, so the emitted program computes only what depends on
 * its inputs. A result much larger than its operands stays a call: flash costs more than a broadcast. */
#include "graph/passes/passes.h"

static bool all_constant(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return attrs_are_fixed(n);
}

static bool is_worth_it(const Node *n)
{
    enum { ALWAYS = 4096 };      /* bytes folded regardless of the operands' size */
    int64_t from = ALWAYS, to = 0;
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) from += 2 * tensor_bytes(n->in[i]);
    for (int i = 0; i < n->out_count; i++) {
        int64_t bytes = tensor_bytes(n->out[i]);
        if (bytes < 0) return false;
        to += bytes;
    }
    return to <= from;
}

static void fold_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (all_constant(call) && is_worth_it(call)) graph_run_call(cx, call, out);
}

Graph graph_fold(Ctx *cx, Graph g) { return graph_rewrite(cx, g, fold_call); }
