/* SPDX-License-Identifier: MIT */
/* Runs the passes of a quantization in their order: see quantizer.h. */

/* Decision: a float network becomes a simulated one, then integers. `quantize` (`emitter/quantizer`) works on the graph
 * after the pass `affine`, where batch norms are folded and nothing depends on the target yet.
 *
 *   - Which tensors get a grid follows from the operators' rows (`edges.c`): the facts with which `realize` derives
 *     quantized affine values. A relu or a bias behind a convolution belongs to its requantization; a function of one
 *     tensor is a table; a move shares the grid of its operand; sigmoid, tanh and softmax have fixed grids.
 *   - Parts of a layer's result that are read apart are cut before the grids are chosen, by rewriting the float
 *     graph: a layer for each part (`parts.c`). Edges, ranges, equalization and realization then see no parts. The call
 *     is evaluated over the numbers of the elements to find those that it selects, so slices, strides and indices need
 *     no row.
 *   - Channels are found in the computes: the axis of the weights with the index that the input has along its last
 *     axis (`layers.c`). An operator needs no fact to be equalized.
 *   - The factors of equalization are powers of two, so the equalized float network computes the same bits.
 *   - Bins of a histogram are as wide as a power of two. So neither the order of the samples nor the first of them
 *     has an effect on the result.
 *   - Choices are measured by interpreting the network on samples, hundreds of times (`runner.c`). Its nests are
 *     naive, because schedules for a core do not suit the interpreter: it runs hundreds of points of a block together,
 *     and orders the loops of a reduction so that these are sums of different elements (`ir/interpret/program.c`). Each
 *     run's tensors have an arena of their own, so memory does not grow with the number of measurements.
 *   - Biases stay real numbers: `requantize` finds constants that are exact for any bias, so they need no grid of
 *     their own.
 *   - The ratio of an output's step to the product of the scales of a layer's input and weights is an odd number of
 *     12 bits over a power of two (`ties.c`). No integer sum is then within the errors of 32-bit floats of a tie, so a
 *     runtime that computes the QDQ file in floats stores the same bytes. A scale moves by at most 2^-10 for it. Steps
 *     around a sum of two tensors have 8 significant bits, so floats are exact up to the quotient.
 *   - The QDQ file states what the integers compute. A recurrent layer with a 16-bit state is therefore a Scan with a
 *     pair of 16-bit values around its state, not a GRU or LSTM of reals (`export/onnx_recurrent.c`).
 *   - The last layers before the outputs lose the mean error of the whole simulated network, measured on samples
 *     (`bias.c`): earlier layers lose only the mean error of their rounded weights, which needs no run of its own.
 *     Methods of ranges and scales of weights are compared with these biases, because noise that a bias removes decides
 *     nothing.
 *   - A range before a softmax is judged by the error of the softmax (`calibrate.c`), not by the error of the range's
 *     values. A range before functions of one tensor is judged by the error of their results, from the histogram, if
 *     that lessens the noise at the outputs.
 *   - Weights of recurrent layers are rounded by the error of their sums (`refine.c`), without `--refine`:
 *     neighbouring steps are alike as a rule, so the errors of the nearest values would add up. Where the samples'
 *     steps are independent, as noise is, the nearest values are better, so both are measured at the outputs.
 *   - `--finetune` trains the simulated network: its weights, biases and scales are inputs of a graph whose step
 *     `--train` emits (`finetune.c`, `tuned.c`). The quantizer is below the code that runs programs, so it receives
 *     that as a function (`Tuner`, `api/finetune.c`). Scales are exponentials, which stay positive; units of weights
 *     follow the channels. The loss is computed by the trained graph itself, which holds the float network beside the
 *     simulated one: so a step compares hidden tensors and learns from mixed samples, and no target is stored.
 *   - The user's annotations are requests (`requests.c`): the first pass turns them into marks, which passes carry
 *     along; edges, ranges, equalization and bias correction obey them. `dump --at annotated` and `--at calibrated`
 *     write the quantizer's own decisions as such annotations (`annotate.c`), so a stage that is read back gives the
 *     same integers. */
#include <math.h>

#include "ir/algebra/algebra.h"
#include "quantizer/finetune.h"
#include "quantizer/precision.h"
#include "support/names.h"
#include "support/text.h"

/* Replaces a quotient by constants with the product with their reciprocals, which has an integer form. The product
 * differs from the quotient by the rounding of the reciprocals to f32. */
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

/* Returns true if no size depends on data, because samples are computed by graphs of fixed sizes. */
static bool has_fixed_sizes(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++) {
        const Tensor *t = first_of_decided_size(cx, order[i]->out, order[i]->out_count);
        if (!t) continue;
        diag_unsupported(cx, text_format(cx, "node \"%s\"", order[i]->name), "data decide the sizes of \"%s\", %s, "
                         "so the model cannot be quantized; use a model with fixed sizes, for example one that ends "
                         "before this node", t->name, tensor_shape_text(cx, t));
        return false;
    }
    return true;
}

/* Runs the passes that rewrite the model as layers with folded weights, before any that depends on the target. */
static bool float_graph(Build *b, Graph *out)
{
    Build floats = *b;
    floats.mode.until = "affine";
    floats.mode.records_grids = true;
    if (b->model.is_nest || b->model.schedule_count)
        diag_unsupported(b->cx, NULL, "the file has `nest` or `schedule`; remove these statements");
    if (b->states.count)
        diag_unsupported(b->cx, NULL, "the model has state; omit --state, and use a model without variables");
    if (ctx_failed(b->cx) || !build_graph(&floats) || !has_fixed_sizes(b->cx, &floats.graph)) return false;
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
    const char *what = "the model is already quantized; use compile or evaluate, or quantize a float model";
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
    out->edges = edges_of(cx, &out->floats, ports);
    if (!out->edges.count)
        diag_error(cx, NULL,
                   "no call of the model has an integer form; use a model with at least one such operator, for example "
                   "a convolution or a dense layer");
    return !ctx_failed(cx);
}

/* Replaces the model by the graph simulated on the grids of the edges. */
static bool simulate_model(Build *b, Ports ports, Quantized *out)
{
    out->simulated = simulate(b->cx, &out->floats, &out->edges, ports);
    b->model.input = out->simulated.input;
    b->model.output = out->simulated.output;
    b->mode.in_fixed_point = true;
    return !ctx_failed(b->cx);
}

/* Enters the trained scales and the chosen bits of weights as requests. */
static void keep_scales(Ctx *cx, Edges *e, const Map *scaled, const Edges *from, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < order[i]->in_count; k++) {
            const Tensor *w = order[i]->in[k];
            Request *r = w ? map_get_ptr(scaled, w) : NULL, *narrow = w ? map_get_ptr(&from->requests, w) : NULL;
            if (narrow && narrow->saturates) map_put_ptr(&e->requests, w, narrow);
            if (r) map_put_ptr(&e->requests, w, r);
        }
}

/* Moves scales between layers, unless this adds noise: if few values of a channel are seen, some values exceed the
 * channel's range, and with equal ranges this affects all channels. The noise is measured on samples that did not
 * determine the ranges. */
static bool equalized(const Build *b, const Samples *s, const ChannelStats *stats, Ports ports, Graph *g, Edges *e)
{
    enum { FEWEST = 4 };
    /* in dB: differences below this are chance, because the samples are few */
    static const double least_loss = 3;
    Ctx *cx = b->cx;
    double with, without;
    const Samples some = samples_from(s, 0, trial_samples(cx, g, CHOICE_MACS));
    ChannelStats *of_half = NEW_ARRAY(cx->arena, ChannelStats, e->count);
    if (some.count >= FEWEST) {
        if (!calibrate(b, g, s, some.count / 2, e, of_half)) return false;
        const Graph half = equalize(cx, *g, e, of_half);
        Edges of = edges_of(cx, &half, ports);
        of.per_tensor = e->per_tensor;
        if (!measure_unseen(b, g, g, &some, e, &without)) return false;
        if (!measure_unseen(b, g, &half, &some, &of, &with)) return false;
        if (without > with + least_loss) return true;
    }
    *g = equalize(cx, *g, e, stats);
    *e = edges_of(cx, g, ports);
    return !ctx_failed(cx);
}

/* Cuts results into parts and moves scales between layers, by the ranges over some samples. Returns statistics for all
 * edges, or NULL on error. */
static ChannelStats *prepare(const Build *b, const Samples *s, const QuantizeSettings *settings, Graph *g, Edges *e)
{
    enum { ROUNDS = 4 };
    Ctx *cx = b->cx;
    ChannelStats *stats = NEW_ARRAY(cx->arena, ChannelStats, e->count);
    bool is_good = !ctx_failed(cx) && calibrate(b, g, s, EQUALIZE_SAMPLES, e, stats);
    for (int i = 0; i < ROUNDS && is_good && cut_parts(cx, g, e); i++) {
        *e = edges_of(cx, g, settings->ports);
        e->per_tensor = settings->per_tensor;
        stats = NEW_ARRAY(cx->arena, ChannelStats, e->count);
        is_good = !ctx_failed(cx) && calibrate(b, g, s, EQUALIZE_SAMPLES, e, stats);
    }
    if (is_good && !settings->no_equalization) is_good = equalized(b, s, stats, settings->ports, g, e);
    return is_good && !ctx_failed(cx) ? stats : NULL;
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
    if (!s->count && settings->tuner) diag_usage(cx, NULL, "--finetune trains on samples; pass --samples FILE.npy");
    else if (!s->count && edges_without_grid(&e))
        diag_usage(cx, NULL, "samples are required, because no annotation gives the grid of \"%s\"; pass --samples "
                             "FILE.npy for each input",
                   edges_without_grid(&e)->name);
    if (!s->count && p) diag_usage(cx, NULL, "a bound on the error of the outputs is measured on samples; pass "
                                             "--samples FILE.npy");
    if (!s->count) return !ctx_failed(cx) && simulate_model(b, ports, out);
    ChannelStats *stats = prepare(b, s, settings, &g, &e);
    if (!stats) return false;
    e.per_tensor = settings->per_tensor;
    if (ctx_failed(cx) || !calibrate(b, &g, s, s->count, &e, stats)) return false;
    Map *refined = NEW(cx->arena, Map);
    *refined = map_new(cx->arena);
    e.refined = refined;
    if (!refine_recurrent(b, &g, s, &e, refined)) return false;
    const LastLayers *last = last_layers_of(b, &g, s, &e);
    if (!last || !choose_ranges(b, &out->floats, &g, s, settings->ranges, stats, last, &e)) return false;
    warn_of_constants(cx, &e);
    warn_of_parts(cx, &g, &e);
    if (ctx_failed(cx) || !choose_weight_bits(b, &g, s, ports, &settings->weights, &e, refined))
        return false;
    if (settings->refines && (ctx_failed(cx) || !refine_layers(b, &g, s, &e, refined))) return false;
    Map corrected = corrected_biases(cx, &g, &e, stats), scaled = map_new(cx->arena);
    e.corrected = &corrected;
    if (ctx_failed(cx) || !correct_last_biases(last, &e, s->count, &corrected)) return false;
    if (ctx_failed(cx) || (p && !choose_precision(b, &out->floats, &g, s, ports, settings->bounds, &e, p)))
        return false;
    if (settings->tuner && !finetune(b, &g, s, settings->tuner, &e, refined, &corrected, &scaled)) return false;
    g = with_corrected_biases(cx, g, &e);
    Edges now = edges_of(cx, &g, ports);                /* the same edges, in the same order, of the changed graph */
    now.refined = refined;
    now.coarser = e.coarser;
    now.per_tensor = settings->per_tensor;
    keep_scales(cx, &now, &scaled, &e, &g);
    for (int i = 0; i < now.group_count; i++) {
        now.group[i].grid = e.group[i].grid;
        now.group[i].bits = e.group[i].bits;
        now.group[i].seen = e.group[i].seen;
    }
    *out = (Quantized){ .edges = now, .floats = g, .precision = p };
    return simulate_model(b, ports, out);
}
