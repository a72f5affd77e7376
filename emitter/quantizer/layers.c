/* SPDX-License-Identifier: MIT */
/* Finds readers and channels of layers: see layers.h. Also finds the edge of a tensor, which the files that depend on
 * edges.c look up. */
#include "quantizer/layers.h"

#include <math.h>

const Edge *edge_of(const Edges *e, const Tensor *t) { return map_get_ptr(&e->of, t); }

int group_bits(const EdgeGroup *g) { return g->is_wide && g->bits != FLOAT_BITS ? 16 : g->bits; }

bool is_sampled(const EdgeGroup *g) { return g->range != EDGE_FIXED && g->range != EDGE_GIVEN; }

/* ---- Readers ----------------------------------------------------------------------------------------------------- */

Readers readers_of(Ctx *cx, const Graph *g)
{
    Readers r = { .cx = cx, .graph = g, .of = map_new(cx->arena) };
    r.count = graph_order(cx, g, &r.order);
    for (int i = 0; i < r.count; i++)
        for (int k = 0; k < r.order[i]->in_count; k++) {
            const Tensor *t = r.order[i]->in[k];
            ReaderList *list = t ? map_get_ptr(&r.of, t) : NULL;
            if (!t) continue;
            if (!list) map_put_ptr(&r.of, t, list = NEW(cx->arena, ReaderList));
            if (list->count == list->capacity) {
                const Node **more = NEW_ARRAY(cx->arena, const Node *, list->capacity = 2 * list->capacity + 2);
                for (int j = 0; j < list->count; j++) more[j] = list->at[j];
                list->at = more;
            }
            list->at[list->count++] = r.order[i];
        }
    return r;
}

const ReaderList *readers_list(const Readers *r, const Tensor *t)
{
    static const ReaderList none;
    const ReaderList *list = map_get_ptr(&r->of, t);
    return list ? list : &none;
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

int64_t channels_of(const Tensor *t) { return t->rank ? tensor_dim(t, t->rank - 1) : 1; }

int64_t channel_at(const Tensor *t, int axis, int64_t i)
{
    int64_t behind = 1;
    for (int d = axis + 1; d < t->rank; d++) behind *= tensor_dim(t, d);
    return i / behind % tensor_dim(t, axis);
}

typedef struct Search { const Tensor *of; const Expr *found; } Search;

static void find_read(const Expr *e, void *user)
{
    Search *s = user;
    if (e->kind == EXPR_READ && e->ref == s->of && !s->found) s->found = e;
}

/* Returns an access to the tensor in the stage's values, or NULL if there is none. */
static const Expr *read_in(Ctx *cx, const Stage *stage, const Tensor *t)
{
    Search s = { t, NULL };
    for (int i = 0; i < stage->out_count; i++) expr_walk(cx, stage->value[i], find_read, &s);
    return s.found;
}

int weights_operand(const Node *n, int *axis)
{
    *axis = -1;
    if (n->kind != NODE_CALL || !n->op->quantization.is_bilinear || n->in_count < 2 || n->op->fold.affine) return -1;
    for (int i = 0; i < 2; i++) {
        const Tensor *w = n->in[i];
        if (!w || !tensor_is_constant(w) || w->type != F32 || !n->in[1 - i] || n->in[1 - i]->type != F32
            || tensor_is_constant(n->in[1 - i])) continue;
        if (i == 1 && n->op->fold.weights == 1) *axis = w->rank - 1;
        return i;
    }
    return -1;
}

/* Returns the call's only stage, or NULL if it has several. */
static const Stage *stage_of(Ctx *cx, const Node *n)
{
    Tensor *const *out = n->kind == NODE_CALL ? op_expand(cx, n) : NULL;
    return out && out[0]->producer && out[0]->producer->kind == NODE_COMPUTE ? out[0]->producer->stage : NULL;
}

/* Returns the axis of the weights with the index that the access to the input has along its channels, or -1 if there is
 * none. */
static int axis_along(const Expr *x, int x_rank, const Expr *w, int w_rank)
{
    for (int d = 0; x && w && x_rank && d < w_rank; d++)
        if (w->arg[d] == x->arg[x_rank - 1]) return d;
    return -1;
}

static int axis_of_output(const Stage *s, const Expr *w, int w_rank)
{
    for (int d = 0; w && s->data_count && d < w_rank; d++)
        if (w->arg[d] == s->axis[s->data_count - 1].var) return d;
    return -1;
}

/* Finds the bias of the layer: the addition of a constant with an element per channel, which must be the only
 * consumer. */
static void find_bias(const Readers *r, Layer *l)
{
    const ReaderList *readers = readers_list(r, l->last);
    const Node *n = readers->count == 1 && !graph_has_output(r->graph, l->last) ? readers->at[0] : NULL;
    if (!n || n->kind != NODE_CALL || n->op->fold.affine != AFFINE_SHIFT || n->in_count != 2) return;
    Tensor *c = n->in[n->in[0] == l->last];
    if (!tensor_is_constant(c) || tensor_elems(c) != channels_of(l->last)) return;
    if (channels_of(c) != channels_of(l->last) || readers_list(r, c)->count != 1) return;
    l->bias = c;
    l->last = n->out[0];
}

bool layer_of(const Readers *r, const Node *n, Layer *out)
{
    int axis;
    *out = (Layer){ .call = n, .weights = weights_operand(n, &axis), .axis_in = -1, .axis_out = -1 };
    if (out->weights < 0) return false;
    const Tensor *w = n->in[out->weights], *x = n->in[1 - out->weights];
    const Stage *s = stage_of(r->cx, n);
    const Expr *read = s ? read_in(r->cx, s, w) : NULL;
    if (read) {
        out->axis_in = axis_along(read_in(r->cx, s, x), x->rank, read, w->rank);
        out->axis_out = axis_of_output(s, read, w->rank);
    }
    out->last = n->out[0];
    find_bias(r, out);
    return true;
}

/* Returns true if every access to x in the tensor's stages has the tensor's last index. */
static bool follows_channels(Ctx *cx, const Tensor *t, const Tensor *x)
{
    const Stage *s = t->producer && t->producer->kind == NODE_COMPUTE ? t->producer->stage : NULL;
    const Tensor **read;
    const int count = s && s->data_count ? stage_reads(cx, s, &read) : 0;
    for (int i = 0; i < count; i++) {
        const Expr *at = read_in(cx, s, read[i]);
        const int rank = read[i]->rank;
        if (!at || !rank || at->arg[rank - 1] != s->axis[s->data_count - 1].var) return false;
        if (read[i] != x && !follows_channels(cx, read[i], x)) return false;
    }
    return count > 0;
}

static void find_other_value(const Expr *e, void *user)
{
    bool *has = user;
    if (e->kind == EXPR_REAL && e->real != 0 && !isinf(e->real)) *has = true;
}

/* Returns true if the result also has elements of a constant, such as a border of ones, which a factor of the channel
 * would change. */
static bool has_other_values(Ctx *cx, const Tensor *t)
{
    bool has = false;
    const Stage *s = t->producer && t->producer->kind == NODE_COMPUTE ? t->producer->stage : NULL;
    for (int i = 0; s && i < s->out_count; i++) expr_walk(cx, s->value[i], find_other_value, &has);
    return has;
}

bool keeps_channels(Ctx *cx, const Node *n)
{
    if (n->kind != NODE_CALL || n->out_count != 1 || n->in_count < 1 || !n->in[0]) return false;
    const OpQuantization *q = &n->op->quantization;
    double low, high;
    if (channels_of(n->in[0]) != channels_of(n->out[0]) || n->op->layout.is_concat) return false;
    if (n->op->layout.is_view) return true;
    if (q->limits) return q->limits(n, &low, &high) && low == 0 && isinf(high);
    if (n->op->layout.is_transpose || (!q->moves_elements && !q->total)) return false;
    Tensor *const *out = op_expand(cx, n);
    if (!out || (q->moves_elements && has_other_values(cx, out[0]))) return false;
    return follows_channels(cx, out[0], n->in[0]);
}
