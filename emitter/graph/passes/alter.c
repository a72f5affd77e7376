/* SPDX-License-Identifier: MIT */
/* What a target would rather compute: rows of implementations with `alter` give another form of a call, such as a
 * convolution over packed weights, before groups are made. Their rows are asked in the order of the target's chain, the
 * nearest first; the first form found stands. */
#include "graph/passes/passes.h"

#include <string.h>

static bool names_op(const char *ops, const char *op)
{
    size_t n = strlen(op);
    for (const char *p = ops; (p = strstr(p, op)) != NULL; p += n)
        if ((p == ops || p[-1] == ' ') && (p[n] == 0 || p[n] == ' ')) return true;
    return false;
}

static void alter_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    const Target *target = uses_target(uses);
    for (const Target *t = target; t; t = t->base ? target_find(cx, t->base) : NULL)
        for (int i = 0; i < count; i++) {
            if (!all[i]->alter || strcmp(all[i]->target, t->name) != 0 || !names_op(all[i]->ops, call->op->name)) continue;
            Tensor *form = all[i]->alter(cx, target, call, uses);
            if (!form) continue;
            form->quant = out[0]->quant;
            out[0] = form;
            return;
        }
}

Graph graph_alter(Ctx *cx, Graph g) { return graph_rewrite(cx, g, alter_call); }
