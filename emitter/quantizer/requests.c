/* SPDX-License-Identifier: MIT */
/* Reads the user's annotations of grids. */
#include "quantizer/quantizer.h"

#include <math.h>

#include "support/names.h"
#include "support/text.h"

static const char *place_of(Ctx *cx, const Node *n) { return name_format(cx, "annotation of \"%s\"", n->name); }

/* Returns true if a call computes the tensor, or reads it. */
static bool is_in_graph(const Graph *g, Node *const *order, int count, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return true;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < order[i]->out_count; k++)
            if (order[i]->out[k] == t) return true;
        for (int k = 0; k < order[i]->in_count; k++)
            if (order[i]->in[k] == t) return true;
    }
    return false;
}

/* Returns the tensor of the graph that holds the elements of the marked tensor. Layouts are changed by moves, and the
 * tensor that the mark followed may be dead. Weights are replaced, but their call keeps its name. Returns NULL if no
 * tensor has these elements. */
static Tensor *current(const Graph *g, Node *const *order, int count, const Mark *m)
{
    Tensor *t = m->tensor;
    if (is_in_graph(g, order, count, t)) return t;
    while (t->producer && t->producer->kind == NODE_CALL && t->producer->op->quantization.moves_elements
           && t->producer->in_count == 1) {
        t = t->producer->in[0];
        if (is_in_graph(g, order, count, t)) return t;
    }
    for (int i = 0; i < count && m->reader && m->is_constant && m->annotation->in_count == 1; i++) {
        int axis;
        const int weights = text_equal(order[i]->name, m->reader) ? weights_operand(order[i], &axis) : -1;
        if (weights >= 0) return order[i]->in[weights];
    }
    return NULL;
}

static bool has_form(Ctx *cx, const Node *n, const Request *r)
{
    const bool is_constant = tensor_is_constant(r->tensor);
    if (!text_equal(node_text(n, "rounding", "even"), "even"))
        diag_unsupported(cx, place_of(cx, n), "rounding=%s; use even", node_text(n, "rounding", "even"));
    if (is_constant ? r->bits > 8 && r->bits != FLOAT_BITS : r->bits != 8 && r->bits != 16 && r->bits != FLOAT_BITS)
        diag_unsupported(cx, place_of(cx, n), "bits=%d; use %s", r->bits,
                         is_constant ? "2 to 8, or 32 for floats" : "8, 16, or 32 for floats");
    return !ctx_failed(cx);
}

/* Reads a grid of all elements. */
static void read_grid(Ctx *cx, const Node *n, Request *r)
{
    const Tensor *scale = n->in[1], *zero = n->in[2];
    if (tensor_elems(scale) != 1 || tensor_elems(zero) != 1) {
        diag_unsupported(cx, place_of(cx, n), "the tensor is computed, but has a scale per channel; use one scale");
        return;
    }
    const bool is_byte = r->bits == 8;
    const int64_t shift = node_int(n, "sign", 1) ? 0 : is_byte ? -INT8_MIN : -(int64_t)INT16_MIN;
    const int64_t least = is_byte ? INT8_MIN : -INT16_MAX, greatest = is_byte ? INT8_MAX : INT16_MAX;
    const int64_t at = dtype_load(zero->type, zero->data, 0).i - shift;
    const double step = dtype_load(scale->type, scale->data, 0).f;
    if (!(step > 0) || !isfinite(step))
        diag_error(cx, place_of(cx, n), "the scale is %g; use a positive number", step);
    else if (at < least || at > greatest || (!is_byte && at))
        diag_error(cx, place_of(cx, n), "zero %lld is not on the grid; use %s", (long long)(at + shift),
                   !is_byte ? "0" : shift ? "0 to 255" : "-128 to 127");
    r->grid = (Grid){ step, at, least, greatest };
}

/* Reads the scales of weights, whose zero is 0. */
static void read_scales(Ctx *cx, const Node *n, Request *r)
{
    const Tensor *scale = n->in[1], *zero = n->in[2], *w = r->tensor;
    const int64_t count = tensor_elems(scale);
    float *own = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < tensor_elems(zero); i++)
        if (dtype_load(zero->type, zero->data, i).i)
            diag_unsupported(cx, place_of(cx, n), "weights with a zero other than 0");
    if (count != 1 && (!w->rank || count != tensor_dim(w, w->rank - 1) || tensor_dim(scale, scale->rank - 1) != count))
        diag_unsupported(cx, place_of(cx, n), "there are %lld scales of weights %s; use one scale, or one for each "
                                              "index of the last axis, which is the output channel", (long long)count,
                                              tensor_shape_text(cx, w));
    for (int64_t i = 0; i < count; i++) {
        own[i] = (float)dtype_load(scale->type, scale->data, i).f;
        if (!(own[i] > 0) || !isfinite(own[i]))
            diag_error(cx, place_of(cx, n), "the scale is %g; use a positive number", (double)own[i]);
    }
    r->scale = own;
    r->scale_count = count;
}

static Request *read_request(Ctx *cx, const Mark *m)
{
    const Node *n = m->annotation;
    Request *r = NEW(cx->arena, Request);
    *r = (Request){ .annotation = n, .tensor = m->tensor, .bits = (int)node_int(n, "bits", 8),
                    .has_grid = n->in_count == 3 };
    if (!has_form(cx, n, r) || !r->has_grid) return r;
    if (!tensor_is_constant(n->in[1]) || !tensor_is_constant(n->in[2]))
        diag_unsupported(cx, place_of(cx, n), "the scale or the zero point is computed; use constants");
    else if (tensor_is_constant(r->tensor)) read_scales(cx, n, r);
    else read_grid(cx, n, r);
    return r;
}

static bool is_grid(const Mark *m) { return m->annotation->op->quantization.grid == GRID_SIMULATE; }

/* Refuses an annotation of a value that no longer exists: a convolution before a batch norm, a constant that a pass
 * replaced. The call that read the value names its place. */
static void refuse_folded(Ctx *cx, Node *const *order, int count, const Mark *m)
{
    const Node *reader = NULL;
    for (int i = 0; i < count && m->reader && !m->is_constant; i++)
        if (text_equal(order[i]->name, m->reader)) reader = order[i];
    if (reader)
        diag_error(cx, place_of(cx, m->annotation), "the passes fold this value into \"%s\"; annotate \"%s\", or "
                   "another value of `dump --at annotated`", reader->name, reader->name);
    else
        diag_error(cx, place_of(cx, m->annotation), "the passes fold this value into other values%s; annotate a value "
                   "of `dump --at annotated`", m->reader && m->annotation->in_count > 1 ? ", so its scale has no effect"
                   : "");
}

bool requests_resolve(Ctx *cx, Graph *g)
{
    Node **order;
    const int count = g->mark_count ? graph_order(cx, g, &order) : 0;
    Mark *mark = arena_copy(cx->arena, g->mark, (size_t)g->mark_count * sizeof *g->mark);
    for (int i = 0; i < g->mark_count && !ctx_failed(cx); i++) {
        const Mark *m = &g->mark[i];
        if (!is_grid(m)) continue;
        mark[i].tensor = current(g, order, count, m);
        if (!mark[i].tensor) refuse_folded(cx, order, count, m);
    }
    g->mark = mark;
    return !ctx_failed(cx);
}

Map requests_of(Ctx *cx, const Graph *g)
{
    Map all = map_new(cx->arena);
    for (int i = 0; i < g->mark_count && !ctx_failed(cx); i++)
        if (is_grid(&g->mark[i])) map_put_ptr(&all, g->mark[i].tensor, read_request(cx, &g->mark[i]));
    return all;
}

const Request *request_of(const Map *requests, const Tensor *t) { return t ? map_get_ptr(requests, t) : NULL; }

const char *request_place(Ctx *cx, const Request *r) { return place_of(cx, r->annotation); }
