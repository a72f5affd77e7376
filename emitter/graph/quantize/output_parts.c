/* SPDX-License-Identifier: MIT */
/* Parts of outputs: the tensors whose elements a network moves into one output, by concatenations, perhaps with moves
 * between and after them. Noise is measured for each part. In the noise of the whole, a part with small values, such as
 * scores beside boxes, would not show. */
#include "graph/quantize/output_parts.h"

#include "graph/dag/graph.h"
#include "ir/interpret/evaluate.h"

enum { MOST_PARTS = 256 };

typedef struct Parts { Ctx *cx; OutputParts *out; Map now; } Parts;

static bool moves(const Node *n)
{
    if (!n || n->kind != NODE_CALL || n->out_count != 1 || n->out[0]->type != F32) return false;
    return n->op->layout.is_concat || n->op->layout.is_view || n->op->layout.is_transpose ||
        n->op->quantization.moves_elements;
}

/* Returns the tensor with each element replaced by the number of its part, starting at 1; NULL on error. */
static Tensor *numbered(Parts *p, Tensor *t)
{
    Tensor *known = map_get_ptr(&p->now, t), **in;
    const Node *n = t->producer;
    if (known) return known;
    if (moves(n)) {
        in = NEW_ARRAY(p->cx->arena, Tensor *, n->in_count);
        for (int i = 0; i < n->in_count; i++) {
            const bool is_data = n->in[i] && n->in[i]->type == F32 && !tensor_is_constant(n->in[i]);
            in[i] = is_data ? numbered(p, n->in[i]) : n->in[i];
            if (!in[i] && n->in[i]) return NULL;
        }
        const Node *now = node_over(p->cx, n, in);
        known = now ? now->out[0] : NULL;
    } else if (p->out->count < MOST_PARTS) {
        void *data;
        known = tensor_new(p->cx, t->name, F32, t->rank, t->shape);
        if (!known || !tensor_is_fixed(t)) return NULL;
        known->data = data = NEW_ARRAY(p->cx->arena, float, tensor_elems(t));
        p->out->name[p->out->count++] = t->name;
        for (int64_t i = 0; i < tensor_elems(t); i++) ((float *)data)[i] = (float)p->out->count;
    }
    if (known) map_put_ptr(&p->now, t, known);
    return known;
}

/* Returns the values of t, computed from constants. */
static const float *values_of(Ctx *cx, Tensor *t)
{
    Env *env = env_new(cx);
    Node **order;
    const int count = dag_order(cx, &t, 1, &order);
    for (int i = 0; i < count; i++) {
        Tensor *const *out = op_expand(cx, order[i]);
        if (!out || !evaluate(cx, env, out, 1)) return NULL;
        env_set_const(env, order[i]->out[0], env_get(env, out[0]));
    }
    return env_get(env, t);
}

OutputParts parts_of_output(Ctx *cx, Tensor *t)
{
    OutputParts none = { 1, NULL, NULL }, found = { 0, NULL, NEW_ARRAY(cx->arena, const char *, MOST_PARTS) };
    Parts p = { cx, &found, map_new(cx->arena) };
    if (t->type != F32 || !moves(t->producer)) return none;
    Tensor *numbers = numbered(&p, t);
    const float *v = numbers && found.count > 1 ? values_of(cx, numbers) : NULL;
    if (!v) return none;
    const int64_t count = tensor_elems(t);
    found.of = NEW_ARRAY(cx->arena, int, count);
    for (int64_t i = 0; i < count; i++) found.of[i] = v[i] >= 1 && v[i] <= (float)found.count ? (int)v[i] - 1 : 0;
    return found;
}
