/* SPDX-License-Identifier: MIT */
#include "import/model/fold_small.h"

#include "graph/dag/op.h"
#include "ir/interpret/evaluate.h"

enum { SMALL_RESULT = 1024, SMALL_WORK = 4096 };

static bool is_small(const Node *n, int64_t most)
{
    int64_t work = 0;
    for (int i = 0; i < n->in_count; i++) {
        int64_t elems = n->in[i] ? tensor_elems(n->in[i]) : 0;
        if (elems < 0 || elems > most) return false;
        work += elems;
    }
    return work <= most;
}

Tensor *import_folded(Ctx *cx, Tensor *t) { return import_folded_to(cx, t, SMALL_RESULT, SMALL_WORK); }

Tensor *import_folded_to(Ctx *cx, Tensor *t, int64_t most_result, int64_t most_work)
{
    Node *n = t ? t->producer : NULL;
    int64_t shape[MAX_RANK];
    if (n && n->kind == NODE_CALL
        && (n->op->quantization.grid || n->op->meaning.is_foreign || !attrs_are_fixed(n)))
        return t;
    if (ctx_failed(cx) || !n || t->data || n->kind != NODE_CALL || tensor_elems(t) < 0 || tensor_elems(t) > most_result
        || !is_small(n, most_work))
        return t;
    Env *env = env_new(cx);
    for (int i = 0; i < n->in_count; i++) {
        Tensor *in = n->in[i] ? import_folded_to(cx, n->in[i], most_result, most_work) : NULL;
        if (in && !in->data) return t;
        if (in) env_set_const(env, n->in[i], in->data);
    }
    Tensor *const *out = op_expand(cx, n);
    if (!out || !evaluate(cx, env, &out[t->output], 1)) return t;
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return tensor_constant(cx, t->name, t->type, t->rank, shape, env_get(env, out[t->output]));
}
