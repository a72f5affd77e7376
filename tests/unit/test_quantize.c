/* SPDX-License-Identifier: MIT */
/* Quantization after training.
 *
 *   histograms   do not depend on the order of values; the chosen range has the least error of those scanned
 *   networks     random small networks: on integers and in floats the simulated network is equally near the float one
 *   bounds       with a bound on the outputs, tensors are widened until the integers keep it
 *   costs        the part around a tensor adds, wider, the instructions that the whole network adds
 *
 *   test_quantize [COUNT]    COUNT random networks, 20 by default */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "quantizer/layers.h"
#include "quantizer/precision.h"
#include "support/text.h"

static uint32_t next(uint32_t *s) { return (*s = *s * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8; }
static int below(uint32_t *s, int n) { return (int)(next(s) % (uint32_t)n); }
static double real(uint32_t *s) { return (double)next(s) / 8388608.0 - 1.0; }

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

static void check_histograms(Ctx *cx)
{
    enum { COUNT = 3000, PARTS = 30 };
    float v[COUNT];
    uint32_t s = 5;
    Histogram forward = { 0 }, backward = { 0 };
    for (int i = 0; i < COUNT; i++) v[i] = below(&s, 8) ? (float)(real(&s) * exp2(below(&s, 12) - 8)) : 0;
    for (int p = 0; p < PARTS; p++) histogram_add(cx->arena, &forward, v + p * COUNT / PARTS, COUNT / PARTS);
    for (int p = PARTS - 1; p >= 0; p--) histogram_add(cx->arena, &backward, v + p * COUNT / PARTS, COUNT / PARTS);
    const bool same = forward.exponent == backward.exponent && forward.zeros == backward.zeros &&
        memcmp(forward.bin, backward.bin, HISTOGRAM_BINS * sizeof *forward.bin) == 0;
    check_that(same && forward.count == COUNT, "histograms: the order of values has no effect", "they differ");
    int64_t sum = forward.zeros;
    for (int i = 0; i < HISTOGRAM_BINS; i++) sum += forward.bin[i];
    check_that(sum == COUNT, "histograms: every value is counted once", "%lld of %d", (long long)sum, COUNT);
    /* A million values in [-1, 1) and one 4: clipped to 1 it adds 9 to the squared error, less than the smaller step
     * saves */
    Histogram tail = { 0 };
    const float outlier = 4;
    for (int i = 0; i < COUNT; i++) v[i] = (float)real(&s);
    for (int i = 0; i < 333; i++) histogram_add(cx->arena, &tail, v, COUNT);
    histogram_add(cx->arena, &tail, &outlier, 1);
    const Grid g = grid_least_error(&tail), whole = grid_whole(&tail);
    const double low = (double)(INT8_MIN - g.zero) * g.step, high = (double)(INT8_MAX - g.zero) * g.step;
    check_that(histogram_error(&tail, low, high) < histogram_error(&tail, tail.least, tail.greatest)
                   && high < 2 && g.step < whole.step,
               "histograms: an outlier is clipped if that lessens the error", "step %g of %g", g.step, whole.step);
    const Grid kept = grid_by(RANGE_PERCENTILE, &tail), least = grid_by(RANGE_LEAST_ERROR, &tail);
    const double most = grid_by(RANGE_MIN_MAX, &tail).step, squared = grid_by(RANGE_SQUARED, &tail).step;
    check_that(kept.step < whole.step && most == whole.step && least.step <= g.step * 1.01 && squared == g.step
                   && grid_by(RANGE_DIVERGENCE, &tail).step < whole.step,
               "histograms: percentile and divergence leave an outlier out", "steps %g and %g of %g", kept.step,
               grid_by(RANGE_DIVERGENCE, &tail).step, whole.step);
    const Histogram none = { 0 };
    for (int m = RANGE_LEAST_ERROR; m <= RANGE_DIVERGENCE; m++)
        check_that(grid_by((RangeMethod)m, &none).step > 0, "histograms: each method has a grid without values",
                   "method %d has none", m);
    check_that(grid_whole(&none).step > 0 && grid_least_error(&none).step > 0,
               "histograms: without values the grid has a positive step", "it has none");
    const Grid one = grid_of_range(3, 5), less = grid_of_range(-5, -3);
    check_that(one.zero == INT8_MIN && less.zero == INT8_MAX, "grids: zero is on every grid", "zeros %lld and %lld",
               (long long)one.zero, (long long)less.zero);
}

/* ---- Networks ---------------------------------------------------------------------------------------------------- */

typedef struct Net { Text text; uint32_t seed; int weights, rank, h, w, c; char last[16]; int tensors; } Net;

static void add_constant(Net *n, const char *kind, const char *shape, int count, int channels, const double *factor)
{
    text_printf(&n->text, "const %s%d: f32%s = [", kind, n->weights, shape);
    for (int i = 0; i < count; i++) {
        text_add(&n->text, i ? ", " : "");
        text_float(&n->text, (float)(real(&n->seed) * (factor ? factor[i % channels] : 1)));
    }
    text_add(&n->text, "]\n");
}

static void define(Net *n, const char *format, ...)
{
    va_list args;
    char name[16], call[200];
    snprintf(name, sizeof name, "t%d", n->tensors++);
    text_printf(&n->text, "%s = ", name);
    va_start(args, format);
    vsnprintf(call, sizeof call, format, args);
    va_end(args);
    text_printf(&n->text, "%s\n", call);
    memcpy(n->last, name, sizeof name);
}

static void add_bias(Net *n, int channels)
{
    char shape[32];
    snprintf(shape, sizeof shape, "[%d]", channels);
    add_constant(n, "b", shape, channels, channels, NULL);
    define(n, "add(%s, b%d)", n->last, n->weights);
    n->weights++;
}

static void add_conv(Net *n)
{
    const int out = 2 + below(&n->seed, 7), k = 1 + 2 * below(&n->seed, 2);
    char shape[64];
    snprintf(shape, sizeof shape, "[%d][%d][%d][%d]", k, k, n->c, out);
    add_constant(n, "w", shape, k * k * n->c * out, out, NULL);
    define(n, "conv2d(%s, w%d, pad=[%d,%d,%d,%d])", n->last, n->weights, k / 2, k / 2, k / 2, k / 2);
    n->c = out;
    add_bias(n, out);
}

static void add_depthwise(Net *n)
{
    char shape[64];
    snprintf(shape, sizeof shape, "[3][3][%d]", n->c);
    add_constant(n, "w", shape, 9 * n->c, n->c, NULL);
    define(n, "depthwise_conv2d(%s, w%d, pad=[1,1,1,1])", n->last, n->weights);
    add_bias(n, n->c);
}

static void add_layer(Net *n)
{
    char before[16];
    memcpy(before, n->last, sizeof before);
    switch (below(&n->seed, 6)) {
    case 0: add_conv(n); break;
    case 1: add_depthwise(n); break;
    case 2:
        define(n, "max_pool2d(%s, kernel=[2,2], stride=[1,1], pad=[0,0,1,1])", n->last);
        break;
    case 3: define(n, "sigmoid(%s)", n->last); break;
    case 4: define(n, "add(%s, %s)", before, n->last); break;
    default: define(n, "relu(%s)", n->last);
    }
}

/* Returns the text of a network: a convolution, layers, a mean and a dense layer. */
static const char *random_net(Ctx *cx, uint32_t seed)
{
    Net n = { .text = text_new(cx), .seed = seed, .h = 6, .w = 5, .c = 3, .last = "x" };
    char shape[32];
    text_add(&n.text, "input x: f32[1][6][5][3]\n");
    add_conv(&n);
    for (int i = below(&n.seed, 6); i >= 0; i--) add_layer(&n);
    define(&n, "global_avg_pool(%s)", n.last);
    define(&n, "reshape(%s, shape=[1,%d])", n.last, n.c);
    snprintf(shape, sizeof shape, "[%d][4]", n.c);
    add_constant(&n, "w", shape, n.c * 4, 4, NULL);
    define(&n, "dense(%s, w%d)", n.last, n.weights);
    add_bias(&n, 4);
    text_printf(&n.text, "output %s\n", n.last);
    return text_string(&n.text);
}

static Samples random_samples(Ctx *cx, int count, int elems, uint32_t seed)
{
    float *v = NEW_ARRAY(cx->arena, float, count * elems);
    for (int i = 0; i < count * elems; i++) v[i] = (float)real(&seed);
    return samples_in_memory(cx, count, 1, &(int64_t){ elems * (int64_t)sizeof *v }, &(const char *){ (char *)v });
}

static const lw_options plain_options;

/* Runs the graph of 8-bit or float ports on the samples; `fixed`: on integers. Returns [count][elems] bytes or
 * floats. */
static const void *run_all(Ctx *cx, const char *text, const Samples *s, bool simulated, const char *qdq,
                           const Graph *graph, int64_t *bytes)
{
    Build b;
    static lw_options options;
    options = plain_options;
    options.qdq = qdq;
    if (!build_read_text(&b, cx, "net.te", text, false, &options)) return NULL;
    if (graph) {
        b.model.input = graph->input;
        b.model.output = graph->output;
        b.mode.in_fixed_point = simulated && !qdq;
    }
    if (!build_graph(&b) || !build_nests(&b)) return NULL;
    *bytes = tensor_bytes(b.graph.output[0]);
    char *out = arena_alloc(cx->arena, (size_t)(s->count * *bytes));
    for (int64_t i = 0; i < s->count; i++) {
        void *sample = arena_alloc(cx->arena, (size_t)s->bytes[0]);
        const void *in = sample, *y;
        if (!samples_copy(cx, s, 0, i, sample) || !build_run(&b, &in, &y)) return NULL;
        memcpy(out + i * *bytes, y, (size_t)*bytes);
    }
    return out;
}

static bool quantized(Ctx *cx, const char *text, const Samples *s, const QualityBounds *bounds, Graph *out)
{
    Build b;
    if (!build_read_text(&b, cx, "net.te", text, false, &plain_options)) return false;
    Quantized q;
    if (!build_quantize(&b, s, &(QuantizeSettings){ .ports = PORTS_FLOAT, .bounds = bounds }, &q)) return false;
    *out = q.simulated;
    return true;
}

static double sqnr(const float *want, const float *got, int64_t count)
{
    double signal = 0, noise = 0;
    for (int64_t i = 0; i < count; i++) {
        signal += (double)want[i] * (double)want[i];
        noise += ((double)want[i] - (double)got[i]) * ((double)want[i] - (double)got[i]);
    }
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

static void check_net(uint32_t seed)
{
    enum { SAMPLES = 24 };
    Ctx *cx = context_new(NULL, NULL);
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, 90, seed + 1);
    Graph g;
    int64_t bytes = 0;
    const float *floats = run_all(cx, text, &s, false, NULL, NULL, &bytes), *on_integers = NULL, *in_floats = NULL;
    if (floats && quantized(cx, text, &s, NULL, &g)) {
        on_integers = run_all(cx, text, &s, true, NULL, &g, &bytes);
        in_floats = run_all(cx, text, &s, true, "float", &g, &bytes);
    }
    const int64_t count = SAMPLES * bytes / (int64_t)sizeof *floats;
    const double near = on_integers ? sqnr(floats, on_integers, count) : 0;
    const double simulated = on_integers && in_floats ? sqnr(floats, in_floats, count) : 0;
    check_that(near > 15 && fabs(near - simulated) < 1.5, text_format(cx, "networks: seed %u", (unsigned)seed),
               "%.1f dB on integers, %.1f simulated: %s\n%s", near, simulated,
               cx->diags ? diag_text(cx, cx->diags) : "", text);
    ctx_free(cx);
}

/* Returns the squared error of the refined, or nearest, weights of a dense layer over the samples, which follow a line:
 * their sum decides the output. */
static double dense_error(bool refines)
{
    enum { TERMS = 24, OUTS = 3, SAMPLES = 40 };
    Ctx *cx = context_new(NULL, NULL);
    Text t = text_new(cx);
    uint32_t seed = 77;
    float *x = NEW_ARRAY(cx->arena, float, SAMPLES * TERMS);
    text_printf(&t, "input x: f32[1][%d]\nconst w: f32[%d][%d] = [", TERMS, TERMS, OUTS);
    for (int i = 0; i < TERMS * OUTS; i++) {
        text_add(&t, i ? ", " : "");
        text_float(&t, (float)real(&seed));
    }
    text_add(&t, "]\ny = dense(x, w)\noutput y\n");
    for (int k = 0; k < SAMPLES; k++) {
        const double common = real(&seed);
        for (int i = 0; i < TERMS; i++) x[k * TERMS + i] = (float)(common + 0.1 * real(&seed));
    }
    const Samples s = samples_in_memory(cx, SAMPLES, 1, &(int64_t){ TERMS * (int64_t)sizeof *x },
                                        &(const char *){ (char *)x });
    Build b;
    Quantized q = { 0 };
    const QuantizeSettings settings = { .ports = PORTS_FLOAT, .refines = refines };
    double error = -1;
    if (build_read_text(&b, cx, "net.te", text_string(&t), false, &plain_options)
        && build_quantize(&b, &s, &settings, &q)) {
        const Tensor *w = b.model.output[0]->producer->in[0]->producer->in[1]->producer->in[0];
        const Tensor *was = q.floats.output[0]->producer->in[1];
        int64_t count;
        const float *scale = weight_scales(cx, &q.edges, was, 1, &count), *v = w->data, *v0 = was->data;
        error = 0;
        for (int k = 0; k < SAMPLES; k++)
            for (int o = 0; o < OUTS; o++) {
                double d = 0;
                for (int i = 0; i < TERMS; i++) {
                    const double on_grid = nearbyint((double)(v[i * OUTS + o] / scale[o])) * (double)scale[o];
                    d += (double)x[k * TERMS + i] * (on_grid - (double)v0[i * OUTS + o]);
                }
                error += d * d;
            }
    }
    ctx_free(cx);
    return error;
}

static void check_refinement(void)
{
    const double nearest = dense_error(false), refined = dense_error(true);
    check_that(refined >= 0 && refined < nearest / 4, "refine: the layer's error is lessened", "%g of %g", refined,
               nearest);
}

/* ---- Ties -------------------------------------------------------------------------------------------------------- */

/* Each scale of weights has an odd ratio to the steps around its layer. */
static void check_ties(uint32_t seed)
{
    enum { SAMPLES = 8 };
    Ctx *cx = context_new(NULL, NULL);
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, 90, seed + 1);
    Build b;
    Quantized q;
    Node **order;
    const bool ok = build_read_text(&b, cx, "net.te", text, false, &plain_options)
        && build_quantize(&b, &s, &(QuantizeSettings){ .ports = PORTS_FLOAT }, &q);
    const int count = ok ? graph_order(cx, &q.floats, &order) : 0;
    int layers = 0, near = 0;
    for (int i = 0; i < count; i++) {
        int axis;
        const int w = weights_operand(order[i], &axis);
        if (w < 0 || !map_get_ptr(&q.edges.between, order[i]->in[w])) continue;
        int64_t scales;
        const float *scale = weight_scales(cx, &q.edges, order[i]->in[w], axis, &scales);
        layers++;
        for (int64_t c = 0; c < scales; c++) near += !(unit_without_ties(&q.edges, order[i]->in[w], scale[c]) > 0);
    }
    check_that(ok && layers > 0 && !near, text_format(cx, "ties: no sum is near one, seed %u", (unsigned)seed),
               "%d layers, %d channels: %s\n%s", layers, near, cx->diags ? diag_text(cx, cx->diags) : "", text);
    ctx_free(cx);
}

static void check_short_steps(void)
{
    const Grid g = grid_short((Grid){ 0.0123456789, 17, INT8_MIN, INT8_MAX });
    const Grid wide = grid_short((Grid){ 1.2345e-4, 0, -INT16_MAX, INT16_MAX });
    int exponent;
    const double digits = ldexp(frexp(g.step, &exponent), SHORT_BITS);
    const double few = ldexp(frexp(wide.step, &exponent), SHORT_BITS);
    check_that(digits == floor(digits) && few == floor(few) && wide.zero == 0 && g.step >= 0.0123456789,
               "ties: a short step covers the range", "%.17g and %.17g", g.step, wide.step);
    check_that(fabs((double)(INT8_MIN - g.zero) * g.step - (INT8_MIN - 17) * 0.0123456789) <= g.step / 2,
               "ties: a short step moves the zero", "%lld", (long long)g.zero);
}

/* The mean errors of the last layer's channels over the samples are within their noise. */
static void check_last_bias(uint32_t seed)
{
    enum { SAMPLES = 24, OUTS = 4 };
    Ctx *cx = context_new(NULL, NULL);
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, 90, seed + 1);
    Graph g;
    int64_t bytes = 0;
    const float *want = run_all(cx, text, &s, false, NULL, NULL, &bytes), *got = NULL;
    if (want && quantized(cx, text, &s, NULL, &g)) got = run_all(cx, text, &s, true, NULL, &g, &bytes);
    for (int o = 0; o < OUTS; o++) {
        double mean = 0, square = 0;
        for (int k = 0; got && k < SAMPLES; k++) {
            const double d = (double)got[k * OUTS + o] - (double)want[k * OUTS + o];
            mean += d / SAMPLES;
            square += d * d / SAMPLES;
        }
        check_that(got && mean * mean <= square / 4, text_format(cx, "bias: seed %u, output %d has no mean error",
                   (unsigned)seed, o), "mean %g, deviation %g", mean, sqrt(square));
    }
    ctx_free(cx);
}

/* With a bound, tensors are widened until the integers keep it. */
static void check_bound(uint32_t seed, double least)
{
    enum { SAMPLES = 16 };
    Ctx *cx = context_new(NULL, NULL);
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, 90, seed + 1);
    const QualityBounds bounds = { .least_sqnr = least, .most_drop = -1 };
    Graph g;
    int64_t bytes = 0;
    const float *floats = run_all(cx, text, &s, false, NULL, NULL, &bytes), *on_integers = NULL;
    if (floats && quantized(cx, text, &s, &bounds, &g)) on_integers = run_all(cx, text, &s, true, NULL, &g, &bytes);
    const double near = on_integers ? sqnr(floats, on_integers, SAMPLES * bytes / (int64_t)sizeof *floats) : 0;
    check_that(near >= least, text_format(cx, "bounds: seed %u, %g dB", (unsigned)seed, least), "%.1f dB: %s\n%s", near,
               cx->diags ? diag_text(cx, cx->diags) : "", text);
    ctx_free(cx);
}

/* The part around each group, and the whole network, with the group at another width: the same instructions are
 * added, up to copies that the part needs at its border. */
static void check_costs(uint32_t seed)
{
    enum { SAMPLES = 4 };
    Ctx *cx = context_new(NULL, NULL);
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, 90, seed + 1);
    Build b;
    Quantized q;
    NetworkCost whole = { 0 };
    bool ok = build_read_text(&b, cx, "net.te", text, false, &plain_options)
        && build_quantize(&b, &s, &(QuantizeSettings){ .ports = PORTS_FLOAT }, &q)
        && network_cost(&b, &q.floats, &q.edges, PORTS_FLOAT, &whole);
    for (int i = 0; ok && i < q.edges.group_count; i++) {
        EdgeGroup *g = &q.edges.group[i];
        Edges edges;
        NetworkCost wider, part, wider_part;
        const Graph around = part_around(cx, &q.floats, &q.edges, i, &edges);
        const Grid narrow = g->grid;
        ok = network_cost(&b, &around, &edges, PORTS_FLOAT, &part);
        g->bits = 16;
        g->grid = grid_wide(&g->seen);
        ok = ok && network_cost(&b, &q.floats, &q.edges, PORTS_FLOAT, &wider)
            && network_cost(&b, &around, &edges, PORTS_FLOAT, &wider_part);
        g->bits = 8;
        g->grid = narrow;
        const int64_t a = wider.instructions - whole.instructions, p = wider_part.instructions - part.instructions;
        check_that(ok && llabs(a - p) <= whole.instructions / 50, text_format(cx, "costs: seed %u, %s", (unsigned)seed,
                   g->name), "the network adds %lld instructions to %lld, the part %lld to %lld: %s", (long long)a,
                   (long long)whole.instructions, (long long)p, (long long)part.instructions, text);
    }
    check_that(ok && whole.bytes > 0, "costs: a network is counted", "%s", cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 20;
    Ctx *cx = context_new(NULL, NULL);
    check_histograms(cx);
    ctx_free(cx);
    check_refinement();
    check_short_steps();
    for (int i = 0; i < count; i++) check_ties((uint32_t)i);
    for (int i = 0; i < count / 4; i++) check_last_bias((uint32_t)i);
    for (int i = 0; i < count; i++) check_net((uint32_t)i);
    for (int i = 0; i < count / 2; i++) check_bound((uint32_t)(100 + i), i % 3 ? 45 : 60);
    for (int i = 0; i < count / 2; i++) check_costs((uint32_t)(200 + i));
    return check_done();
}
