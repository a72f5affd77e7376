/* SPDX-License-Identifier: MIT */
#include "import/model/fold_small.h"

#include "graph/dag/op.h"
#include "ir/interpret/evaluate.h"
#include "support/map.h"

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

/* State of a folding. Each tensor is folded only once; otherwise a chain of n squares would be evaluated 2^n times. */
typedef struct Folding {
    Ctx *cx;
    int64_t most_result, most_work;
    /* maps the result of a call to its constant, or to itself if it has no constant */
    Map folded;
} Folding;

static Tensor *fold(Folding *f, Tensor *t);

/* Returns t as a constant, or NULL if it cannot be evaluated. */
static Tensor *evaluated(Folding *f, Tensor *t)
{
    Ctx *cx = f->cx;
    Node *n = t->producer;
    Env *env = env_new(cx);
    int64_t shape[MAX_RANK];
    for (int i = 0; i < n->in_count; i++) {
        const Tensor *in = n->in[i] ? fold(f, n->in[i]) : NULL;
        if (in && !in->data) return NULL;
        if (in) env_set_const(env, n->in[i], in->data);
    }
    Tensor *const *out = op_expand(cx, n);
    if (!out || !evaluate(cx, env, &out[t->output], 1)) return NULL;
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return tensor_constant(cx, t->name, t->type, t->rank, shape, env_get(env, out[t->output]));
}

static Tensor *fold(Folding *f, Tensor *t)
{
    const Node *n = t ? t->producer : NULL;
    if (n && n->kind == NODE_CALL
        && (n->op->quantization.grid || n->op->meaning.is_foreign || !attrs_are_fixed(n)))
        return t;
    if (ctx_failed(f->cx) || !n || t->data || n->kind != NODE_CALL || tensor_elems(t) < 0
        || tensor_elems(t) > f->most_result || !is_small(n, f->most_work))
        return t;
    Tensor *found = map_get_ptr(&f->folded, t);
    if (found) return found;
    found = evaluated(f, t);
    if (!found) found = t;
    map_put_ptr(&f->folded, t, found);
    return found;
}

Tensor *import_folded(Ctx *cx, Tensor *t) { return import_folded_to(cx, t, SMALL_RESULT, SMALL_WORK); }

Tensor *import_folded_to(Ctx *cx, Tensor *t, int64_t most_result, int64_t most_work)
{
    Folding f = { cx, most_result, most_work, map_new(cx->arena) };
    return fold(&f, t);
}
