/* SPDX-License-Identifier: MIT */
/* Evaluates a call over constants with the interpreter. */
#include "graph/dag/graph.h"
#include "ir/interpret/interpret.h"

static Tensor *constant_like(Ctx *cx, const Tensor *t, const void *data)
{
    Tensor *c = tensor_new(cx, t->name, t->type, t->rank, t->shape);
    if (!c) return NULL;
    c->data = data;
    c->quant = t->quant;
    return c;
}

static bool run_expanded(Ctx *cx, const Node *call, const void **data)
{
    Tensor *const *computed = op_expand(cx, call);
    if (!computed) return false;
    const Nest *nest = nest_naive(cx, call->name, NULL, 0, computed, call->out_count);
    Env *env = env_new(cx);
    RunOptions fast = { .checked = false };
    if (!nest || !interpret(cx, nest, env, &fast)) return false;
    for (int i = 0; i < call->out_count; i++) data[i] = env_get(env, computed[i]);
    return true;
}

bool graph_run_call(Ctx *cx, const Node *call, Tensor **out)
{
    const void **data = NEW_ARRAY(cx->arena, const void *, call->out_count);
    if (call->op->meaning.is_foreign) return false;
    if (call->op->layout.is_view) {
        out[0] = constant_like(cx, call->out[0], call->in[0]->data);
        return out[0] != NULL;
    }
    if (!run_expanded(cx, call, data)) return false;
    for (int i = 0; i < call->out_count; i++) out[i] = constant_like(cx, call->out[i], data[i]);
    return true;
}
