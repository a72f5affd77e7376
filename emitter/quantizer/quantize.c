/* SPDX-License-Identifier: MIT */
/* The order of the passes: see quantizer.h. */
#include <math.h>

#include "quantizer/finetune.h"
#include "quantizer/precision.h"
#include "support/names.h"
#include "support/text.h"

/* A quotient by constants becomes the product with their reciprocals, which has an integer form. It differs from the
 * quotient by the rounding of the reciprocals to f32. */
static void multiply_by_reciprocals(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    const Tensor *divisor = n->op->quantization.is_quotient ? n->in[1] : NULL;
    (void)uses;
    if (!divisor || !tensor_is_constant(divisor) || divisor->type != F32 || tensor_is_constant(n->in[0])) return;
    const int64_t count = tensor_elems(divisor);
    float *reciprocal = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) {
        reciprocal[i] = 1 / ((const float *)divisor->data)[i];
        if (!isnormal(reciprocal[i])) return;
    }
    Tensor *factor = tensor_new(cx, divisor->name, F32, divisor->rank, divisor->shape);
    if (!factor) return;
    factor->data = reciprocal;
    out[0] = call(cx, "mul", n->name, (Tensor *[]){ n->in[0], factor }, 2, NULL);
}

/* Runs the passes that rewrite the model as layers with folded weights, before any that depends on the target. */
static bool float_graph(Build *b, Graph *out)
{
    Build floats = *b;
    floats.until = "affine";
    floats.records_grids = true;
    if (b->model.is_nest || b->model.schedule_count)
        diag_unsupported(b->cx, NULL, "quantization of a file with `nest` or `schedule`; accepted: one without them");
    if (b->state_count)
        diag_unsupported(b->cx, NULL,
                         "quantization of a model with state; accepted: one without --state and variables");
    if (ctx_failed(b->cx) || !build_graph(&floats)) return false;
    *out = graph_rewrite(b->cx, floats.graph, multiply_by_reciprocals);
    return requests_resolve(b->cx, out);
}

/* Refuses a model that holds quantized values, as imported. */
static void refuse_quantized(Build *b)
{
    Ctx *cx = b->cx;
    Node **order;
    const Graph g = { .output = b->model.output, .output_count = b->model.output_count };
    const int count = graph_order(cx, &g, &order);
    const char *what = "the model is quantized already: compile and evaluate accept it; quantize "
                       "expects a float model";
    for (int i = 0; i < b->model.input_count; i++)
        if (b->model.input[i]->quant)
            diag_error(cx, name_format(cx, "input \"%s\"", b->model.input[i]->name), "%s", what);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (order[i]->kind == NODE_CALL && order[i]->op->quantization.grid
            && order[i]->op->quantization.grid != GRID_SIMULATE)
            diag_error(cx, name_format(cx, "node \"%s\" (%s)", order[i]->name, order[i]->op->name), "%s", what);
}

enum { EQUALIZE_SAMPLES = 32 };

bool build_annotate(Build *b, Ports ports, Quantized *out)
{
    Ctx *cx = b->cx;
    *out = (Quantized){ 0 };
    refuse_quantized(b);
    if (!float_graph(b, &out->floats)) return false;
    out->original = out->floats;
    out->edges = edges_of(cx, &out->floats, ports);
    if (!out->edges.count)
        diag_error(cx, NULL,
                   "no call of the model has an integer form; a model with a convolution, dense layer or the like "
                   "is accepted");
    return !ctx_failed(cx);
}

/* Replaces the model by the graph simulated on the grids of the edges. */
static bool simulate_model(Build *b, Ports ports, Quantized *out)
{
    out->simulated = simulate(b->cx, &out->floats, &out->edges, ports);
    b->model.input = out->simulated.input;
    b->model.output = out->simulated.output;
    b->in_fixed_point = true;
    return !ctx_failed(b->cx);
}

/* Enters the trained scales of weights as requests. */
static void keep_scales(Ctx *cx, Edges *e, const Map *scaled, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < order[i]->in_count; k++) {
            const Tensor *w = order[i]->in[k];
            Request *r = w ? map_get_ptr(scaled, w) : NULL;
            if (r) map_put_ptr(&e->requests, w, r);
        }
}

bool build_quantize(Build *b, const Samples *s, const QuantizeSettings *settings, Quantized *out)
{
    Ctx *cx = b->cx;
    const Ports ports = settings->ports;
    Precision *p = settings->bounds ? NEW(cx->arena, Precision) : NULL;
    if (!build_annotate(b, ports, out)) return false;
    Graph g = out->floats;
    Edges e = out->edges;
    e.per_tensor = out->edges.per_tensor = settings->per_tensor;
    if (!s->count && settings->tuner) diag_usage(cx, NULL, "--finetune trains on samples: --samples FILE.npy");
    else if (!s->count && edges_without_grid(&e))
        diag_usage(cx, NULL, "samples are required: --samples FILE.npy for each input; no annotation gives the grid of "
                   "\"%s\"", edges_without_grid(&e)->name);
    if (!s->count && p) diag_usage(cx, NULL, "a bound on the outputs is measured on samples: --samples FILE.npy");
    if (!s->count) return !ctx_failed(cx) && simulate_model(b, ports, out);
    ChannelStats *stats = NEW_ARRAY(cx->arena, ChannelStats, e.count);
    if (!settings->no_equalization) {
        if (ctx_failed(cx) || !calibrate(b, &g, s, EQUALIZE_SAMPLES, &e, stats)) return false;
        g = equalize(cx, g, &e, stats);
        e = edges_of(cx, &g, ports);
        e.per_tensor = settings->per_tensor;
    }
    if (ctx_failed(cx) || !calibrate(b, &g, s, s->count, &e, stats)) return false;
    Map *refined = NEW(cx->arena, Map);
    *refined = map_new(cx->arena);
    e.refined = refined;
    if (!refine_recurrent(b, &g, s, &e, refined)) return false;
    const LastLayers *last = last_layers_of(b, &g, s, &e);
    if (!last || !choose_ranges(b, &g, s, settings->ranges, stats, last, &e)) return false;
    warn_of_constants(cx, &e);
    if (settings->refines && (ctx_failed(cx) || !refine_layers(b, &g, s, &e, refined))) return false;
    Map corrected = corrected_biases(cx, &g, &e, stats), scaled = map_new(cx->arena);
    e.corrected = &corrected;
    if (ctx_failed(cx) || !correct_last_biases(last, &e, s->count, &corrected)) return false;
    if (ctx_failed(cx) || (p && !choose_precision(b, &g, s, ports, settings->bounds, &e, p))) return false;
    if (settings->tuner && !finetune(b, &g, s, settings->tuner, &e, refined, &corrected, &scaled)) return false;
    const Graph original = g;
    g = with_corrected_biases(cx, g, &e);
    Edges now = edges_of(cx, &g, ports);                /* the same edges, in the same order, of the changed graph */
    now.refined = refined;
    now.coarser = e.coarser;
    now.per_tensor = settings->per_tensor;
    keep_scales(cx, &now, &scaled, &g);
    for (int i = 0; i < now.group_count; i++) {
        now.group[i].grid = e.group[i].grid;
        now.group[i].bits = e.group[i].bits;
        now.group[i].seen = e.group[i].seen;
    }
    *out = (Quantized){ .edges = now, .original = original, .floats = g, .precision = p };
    return simulate_model(b, ports, out);
}
