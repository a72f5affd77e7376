/* SPDX-License-Identifier: MIT */
/* The order of the passes: see quantizer.h. */
#include "quantizer/quantizer.h"
#include "support/text.h"

/* Runs the passes that turn the model into layers with folded weights, before any that depends on the target. */
static bool float_graph(Build *b, Graph *out)
{
    Build floats = *b;
    floats.until = "affine";
    if (build_is_nest(b)) diag_unsupported(b->cx, NULL, "quantization of a file with formulas or steps");
    if (b->state_count) diag_unsupported(b->cx, NULL, "quantization of a model with state");
    if (ctx_failed(b->cx) || !build_graph(&floats)) return false;
    *out = floats.graph;
    return true;
}

static void refuse_quantized(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_CALL && order[i]->op->quantization.grid) {
            diag_error(cx, text_format(cx, "node \"%s\" (%s)", order[i]->name, order[i]->op->name),
                       "the model is quantized already; a float model is expected");
            return;
        }
}

enum { EQUALIZE_SAMPLES = 32 };

bool build_quantize_samples(Build *b, const Samples *s, Ports ports)
{
    Ctx *cx = b->cx;
    Graph g;
    if (!float_graph(b, &g)) return false;
    refuse_quantized(cx, &g);
    if (ctx_failed(cx)) return false;
    Edges e = edges_of(cx, &g);
    if (!e.count) diag_error(cx, NULL, "the model has no call with an integer form; there is nothing to quantize");
    ChannelStats *stats = NEW_ARRAY(cx->arena, ChannelStats, e.count);
    if (ctx_failed(cx) || !calibrate(b, &g, s, EQUALIZE_SAMPLES, &e, stats)) return false;
    g = equalize(cx, g, &e, stats);
    e = edges_of(cx, &g);
    if (ctx_failed(cx) || !calibrate(b, &g, s, s->count, &e, stats)) return false;
    choose_grids(cx, &e);
    g = correct_biases(cx, g, &e, stats);
    Edges now = edges_of(cx, &g);                /* the same edges, in the same order, of the changed graph */
    now.group = e.group;
    g = simulate(cx, &g, &now, ports);
    b->model.input = g.input;
    b->model.output = g.output;
    b->in_fixed_point = true;
    return !ctx_failed(cx);
}

bool build_quantize(Build *b, const QuantizeOptions *o)
{
    Samples s;
    return samples_read(b, o->samples, o->sample_count, &s) && build_quantize_samples(b, &s, o->ports);
}
