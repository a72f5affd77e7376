/* SPDX-License-Identifier: MIT */
/* Runs calls over constants at compile time with the interpreter, so the emitted program computes only what depends on
 * its inputs. A call whose result is much larger than its operands is not folded, because constants in flash cost more
 * than a broadcast. */

/* Decision: weights are converted where they are read, so they keep their stored size. A call over constants is not
 * folded if its result has more bytes than twice its operands plus 4,096. A call that is not folded joins the group of
 * its one consumer, with scales that repeat by blocks; a transpose of it is folded into the constants. Int8 weights of
 * a QDQ network are therefore converted where they are read, once per reduction step for all positions of a tile; no
 * float copy exists in memory. The sums stay float, in their order. The scale is not factored out, because that rounds
 * differently. With several consumers the conversion is computed before the first of them
 * (`graph/plan/near_readers.c`), not at the start. */
#include "graph/passes/passes.h"

static bool all_constant(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return attrs_are_fixed(n);
}

static bool is_worth_it(const Node *n)
{
    enum { ALWAYS = 4096 };      /* a result of at most this many bytes is folded, whatever its operands */
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
