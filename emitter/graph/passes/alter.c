/* SPDX-License-Identifier: MIT */
/* Lets a target replace calls before grouping. An implementation row with `alter` offers another form of a call, such
 * as a convolution over packed weights. Rows are tried nearest first (implementation_rank); the first form offered
 * wins. */
#include "graph/passes/passes.h"

#include "support/text.h"

/* Returns the row after *key that alters calls of the operator, ordered by rank, then by position, and moves *key to
 * it. NULL: no more rows. */
static const Implementation *next_row(Ctx *cx, const Target *t, const Op *op, int *key)
{
    const int after = *key;
    int count;
    const Implementation *const *all = implementation_list(cx, &count), *next = NULL;
    for (int i = 0; i < count; i++) {
        if (!all[i]->alter || !text_has_word(all[i]->ops, op->name)) continue;
        const int rank = implementation_rank(cx, t, all[i]), own = rank * count + i;
        if (rank < 0 || own <= after || (next && own >= *key)) continue;
        next = all[i];
        *key = own;
    }
    return next;
}

static void alter_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    const Target *target = uses_target(uses);
    int key = -1;
    for (const Implementation *i; (i = next_row(cx, target, call->op, &key)) != NULL;) {
        Tensor *form = i->alter(cx, i, target, call, uses);
        if (!form) continue;
        form->quant = out[0]->quant;
        out[0] = form;
        return;
    }
}

/* A graph without a target keeps its calls. */
Graph graph_alter(Ctx *cx, Graph g) { return g.target ? graph_rewrite(cx, g, alter_call) : g; }
