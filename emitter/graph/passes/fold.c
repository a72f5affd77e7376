/* SPDX-License-Identifier: MIT */
/* Calls over constants are run now, by the interpreter, so that the emitted program does only what depends on its
 * inputs. A result much larger than what it was made from stays a call: flash is dearer than a broadcast. */
#include "graph/dag/graph.h"
#include "ir/interpret/interpret.h"

static bool all_constant(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return attrs_are_fixed(n);
}

static bool is_worth_it(const Node *n)
{
    enum { ALWAYS = 4096 };      /* bytes that are folded whatever they grew from */
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

static Tensor *constant_like(Ctx *cx, const Tensor *t, const void *data)
{
    Tensor *c = tensor_new(cx, t->name, t->type, t->rank, t->shape);
    if (!c) return NULL;
    c->data = data;
    c->quant = t->quant;
    return c;
}

static bool run_expanded(Ctx *cx, const Node *call, void **data)
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
    void **data = NEW_ARRAY(cx->arena, void *, call->out_count);
    if (call->op->layout.is_view) {
        out[0] = constant_like(cx, call->out[0], call->in[0]->data);
        return out[0] != NULL;
    }
    if (!run_expanded(cx, call, data)) return false;
    for (int i = 0; i < call->out_count; i++) out[i] = constant_like(cx, call->out[i], data[i]);
    return true;
}

static void fold_call(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (all_constant(call) && is_worth_it(call)) graph_run_call(cx, call, out);
}

Graph graph_fold(Ctx *cx, Graph g) { return graph_rewrite(cx, g, fold_call); }
