/* SPDX-License-Identifier: MIT */
/* Annotates the float network for the user: annotation.simulated_quantize after every tensor that has a grid and on all
 * weights of integer layers. If the annotations are read back, they are requests. With grids, they give the same
 * integer network, without samples. Without grids, they give the same grids from the same samples. */
#include "quantizer/layers.h"
#include "support/names.h"

typedef struct Annotator { Ctx *cx; const Edges *edges; bool with_grids; Map read; Readers readers; } Annotator;

static Tensor *annotation(const Annotator *a, Tensor *x, const Grid *g, int bits)
{
    Ctx *cx = a->cx;
    Tensor *in[] = { x, NULL, NULL };
    if (g) in[1] = tensor_scalar(cx, name_format(cx, "%s_scale", x->name), F32, g->step);
    if (g) in[2] = tensor_scalar(cx, name_format(cx, "%s_zero", x->name), bits == 16 ? I16 : I8, (double)g->zero);
    const char *label = name_format(cx, "%s_grid", x->name);
    return call(cx, "annotation.simulated_quantize", label, in, g ? 3 : 1,
                ATTRS(attr_int("bits", bits)));
}

/* Enters the new version of a tensor, which its consumers read. A tensor that the user keeps in floats keeps the user's
 * annotation. */
static void enter_annotated(Annotator *a, const Tensor *old, Tensor *now)
{
    const Edge *e = edge_of(a->edges, old);
    const EdgeGroup *g = e ? &a->edges->group[e->group] : NULL;
    const Request *r = request_of(&a->edges->requests, old);
    const bool has_grid = g && g->bits != FLOAT_BITS && (a->with_grids || g->range == EDGE_GIVEN);
    if (g) now = annotation(a, now, has_grid ? &g->grid : NULL, group_bits(g));
    else if (r) now = call(a->cx, "annotation.simulated_quantize", r->annotation->name, &now, 1,
                           ATTRS(attr_int("bits", r->bits)));
    map_put_ptr(&a->read, old, now);
}

static Tensor *annotated_weights(Annotator *a, Tensor *w, int axis)
{
    Ctx *cx = a->cx;
    int64_t count;
    Tensor *known = map_get_ptr(&a->read, w);
    const Request *r = request_of(&a->edges->requests, w);
    const bool in_floats = r && r->bits == FLOAT_BITS, has_grid = !in_floats && (a->with_grids || (r && r->has_grid));
    if (known) return known;
    Tensor *in[] = { has_grid ? weights_on_grid(cx, a->edges, w) : w, NULL, NULL };
    const float *scale = has_grid ? weight_scales(cx, a->edges, w, axis, &count) : NULL;
    if (scale) in[1] = tensor_constant(cx, name_format(cx, "%s_scale", w->name), F32, count > 1, &count, scale);
    if (scale) in[2] = tensor_scalar(cx, name_format(cx, "%s_zero", w->name), I8, 0);
    known = call(cx, "annotation.simulated_quantize", name_format(cx, "%s_grid", w->name), in, scale ? 3 : 1,
                 ATTRS(attr_int("bits", r ? r->bits : 8)));
    map_put_ptr(&a->read, w, known);
    return known;
}

/* Annotates the weights of a recurrent layer. The scales of these weights follow from their elements, so the annotation
 * states only the user's bits. */
static Tensor *annotated_state_weights(Annotator *a, Tensor *w)
{
    const Request *r = request_of(&a->edges->requests, w);
    Tensor *now = a->with_grids ? weights_on_grid(a->cx, a->edges, w) : w;
    return r ? call(a->cx, "annotation.simulated_quantize", name_format(a->cx, "%s_grid", w->name), &now, 1,
                    ATTRS(attr_int("bits", r->bits))) : now;
}

static void annotate_call(Annotator *a, const Node *n)
{
    int axis, bits[2];
    const int weights = weights_operand(n, &axis);
    Tensor **in = NEW_ARRAY(a->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) {
        Tensor *now = n->in[i] ? map_get_ptr(&a->read, n->in[i]) : NULL;
        in[i] = now ? now : n->in[i];
        const bool in_floats = a->with_grids && !is_integer_layer(a->edges, &a->readers, n);
        if (i == weights && edge_of(a->edges, n->in[1 - i]) && !in_floats) in[i] = annotated_weights(a, n->in[i], axis);
    }
    for (int i = 1; i < 3 && has_integer_weights(a->cx, a->edges, n, bits); i++)
        in[i] = annotated_state_weights(a, n->in[i]);
    const Node *now = ctx_failed(a->cx) ? NULL : node_over(a->cx, n, in);
    for (int i = 0; now && i < n->out_count; i++) enter_annotated(a, n->out[i], now->out[i]);
}

/* Replaces a simulated quantization, and a dequantization of a quantization, by their operand. */
static void remove_grid(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    (void)cx, (void)uses;
    const Node *store = n->op->quantization.grid == GRID_READ ? n->in[0]->producer : NULL;
    const bool is_pair = store && store->kind == NODE_CALL && store->op->quantization.grid == GRID_STORE;
    if (n->op->quantization.grid == GRID_SIMULATE) out[0] = n->in[0];
    else if (is_pair) out[0] = store->in[0];
}

void model_without_grids(Ctx *cx, Model *m)
{
    const Graph g = { .input_count = m->input_count, .input = m->input, .output_count = m->output_count,
                      .output = m->output };
    m->output = graph_rewrite(cx, g, remove_grid).output;
}

Graph annotated(Ctx *cx, const Graph *g, const Edges *e, bool with_grids)
{
    Annotator a = { cx, e, with_grids, map_new(cx->arena), readers_of(cx, g) };
    Graph out = *g;
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < g->input_count; i++) enter_annotated(&a, g->input[i], g->input[i]);
    for (int i = 0; i < count && !ctx_failed(cx); i++) annotate_call(&a, order[i]);
    out.output = NEW_ARRAY(cx->arena, Tensor *, g->output_count);
    for (int i = 0; i < g->output_count; i++) {
        Tensor *now = map_get_ptr(&a.read, g->output[i]);
        out.output[i] = now ? now : g->output[i];
    }
    out.mark_count = 0;
    return out;
}
