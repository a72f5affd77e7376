/* SPDX-License-Identifier: MIT */
/* Chooses the bits of weights: 8, 4 or 2. Weights of few bits stay packed (ops/move/bits.c): they take half the flash
 * or a quarter. All layers get the same bits, or as few layers as possible lose bits until the constants fit the
 * flash. Then layers lose bits in the order of the noise that this adds at the outputs for each saved byte:
 *
 *     8 to 4 bits    noise(4) - noise(8)                noise(n): squared error of the float network's outputs, over
 *     4 to 2 bits    noise(2) - noise(4)                some samples, with the weights of one layer in n bits
 *
 * Errors of layers add up only roughly, which is enough for an order. The bytes are the bytes of the emitted constants.
 * A depthwise layer keeps 8 bits, as does one that would save fewer bytes than unpacking is worth: their weights are
 * few. The bits are a request, as if the user had annotated the weights. */
#include <math.h>

#include "quantizer/layers.h"
#include "quantizer/precision.h"

enum { WIDTHS = 3, BYTE_BITS = 8, LEAST_SAVED = 256 };
static const int widths[WIDTHS] = { 8, 4, 2 };

typedef struct NarrowLayer {
    Tensor *weights;
    int axis, width;                   /* the axis of the scales; the chosen index of `widths` */
    double noise[WIDTHS];
} NarrowLayer;

typedef struct Narrowing {
    const Build *b; Ctx *cx; const Graph *g; Edges *e; const Samples *samples;
    int64_t measured;
    int count; NarrowLayer *at;
    Map *refined;                      /* the rounded values of the weights of few bits */
} Narrowing;

static int64_t bytes_of(const NarrowLayer *l, int width)
{
    return tensor_elems(l->weights) * widths[width] / BYTE_BITS;
}

static bool is_candidate(const Narrowing *z, const Readers *r, const Node *n, Layer *l)
{
    if (!layer_of(r, n, l) || l->axis_out < 0 || l->axis_in == l->axis_out) return false;
    if (!is_integer_layer(z->e, r, n)) return false;
    Tensor *w = n->in[l->weights];
    return tensor_elems(w) / 2 >= LEAST_SAVED && !request_of(&z->e->requests, w) && readers_list(r, w)->count == 1;
}

static void find_layers(Narrowing *z)
{
    const Readers r = readers_of(z->cx, z->g);
    z->at = NEW_ARRAY(z->cx->arena, NarrowLayer, r.count + 1);
    for (int i = 0; i < r.count && !ctx_failed(z->cx); i++) {
        Layer l;
        int axis = -1;
        if (!is_candidate(z, &r, r.order[i], &l)) continue;
        weights_operand(r.order[i], &axis);
        z->at[z->count++] = (NarrowLayer){ .weights = r.order[i]->in[l.weights], .axis = axis };
    }
}

/* Requests the bits for the layer's weights; 8 bits need no request. */
static void request_bits(const Narrowing *z, const NarrowLayer *l, int bits)
{
    Request *r = NEW(z->cx->arena, Request);
    Tensor *mark = bits < BYTE_BITS ? call_on(z->cx, "annotation.simulated_quantize", l->weights->name, l->weights,
                                              ATTRS(attr_int("bits", bits))) : NULL;
    if (mark) *r = (Request){ .annotation = mark->producer, .tensor = l->weights, .bits = bits, .saturates = true };
    map_put_ptr(&z->e->requests, l->weights, mark ? r : NULL);
}

/* ---- Noise ------------------------------------------------------------------------------------------------------- */

/* Returns the layer's weights on their grid of these bits, each rounded to nearest. */
static float *on_grid(const Narrowing *z, const NarrowLayer *l, int bits)
{
    int64_t scales;
    const int64_t count = tensor_elems(l->weights);
    const float most = (float)((1 << (bits - 1)) - 1), *v = l->weights->data;
    float *out = NEW_ARRAY(z->cx->arena, float, count);
    const Request *was = request_of(&z->e->requests, l->weights);
    request_bits(z, l, bits);
    const float *scale = weight_scales(z->cx, z->e, l->weights, l->axis, &scales);
    request_bits(z, l, was ? was->bits : BYTE_BITS);
    for (int64_t i = 0; i < count; i++) {
        const float s = scale[scales == 1 ? 0 : channel_at(l->weights, l->axis, i)];
        out[i] = fminf(most, fmaxf(-most, nearbyintf(v[i] / s))) * s;
    }
    return out;
}

/* Gives the layer these bits, and its weights their values on that grid. */
static void take_bits(const Narrowing *z, const NarrowLayer *l, int bits)
{
    request_bits(z, l, bits);
    map_put_ptr(z->refined, l->weights, on_grid(z, l, bits));
}

static double noise_with(const Narrowing *z, float *const *want, const NarrowLayer *l, int bits)
{
    Map weights = map_new(z->cx->arena);
    map_put_ptr(&weights, l->weights, on_grid(z, l, bits));
    const Graph changed = with_constants(z->cx, *z->g, &weights);
    float **got = runner_outputs(z->b, &changed, z->samples, z->measured);
    double signal = 0, noise = 0;
    for (int o = 0; got && o < z->g->output_count; o++)
        if (want[o]) add_noise(want[o], got[o], z->measured * tensor_elems(z->g->output[o]), &signal, &noise);
    return noise;
}

static bool measure(Narrowing *z)
{
    z->measured = trial_samples(z->cx, z->g, SEARCH_MACS);
    if (z->measured > z->samples->count) z->measured = z->samples->count;
    float **want = runner_outputs(z->b, z->g, z->samples, z->measured);
    for (int i = 0; i < z->count && !ctx_failed(z->cx); i++) {
        build_progress(z->b, "weighing", i, z->count);
        for (int w = 0; w < WIDTHS && want; w++) z->at[i].noise[w] = noise_with(z, want, &z->at[i], widths[w]);
    }
    return want && !ctx_failed(z->cx);
}

/* ---- Choice ------------------------------------------------------------------------------------------------------ */

/* Returns the layer whose next step adds the lowest noise for each saved byte, or NULL if all have the fewest bits. */
static NarrowLayer *next_step(const Narrowing *z)
{
    NarrowLayer *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < z->count; i++) {
        NarrowLayer *l = &z->at[i];
        if (l->width + 1 == WIDTHS) continue;
        const double added = fmax(0, l->noise[l->width + 1] - l->noise[l->width]),
                     share = added / (double)(bytes_of(l, l->width) - bytes_of(l, l->width + 1));
        if (best && share >= least) continue;
        best = l;
        least = share;
    }
    return best;
}

/* Takes steps until the constants fit. Each time that they seem to fit, counts the constants of the emitted network. */
static bool fit_flash(Narrowing *z, Ports ports, int64_t flash)
{
    int64_t bytes = 0, saved = 0;
    if (!network_constants(z->b, z->g, z->e, ports, &bytes)) return false;
    if (bytes > flash && !measure(z)) return false;
    while (bytes > flash) {
        NarrowLayer *l = next_step(z);
        if (!l && !saved) {
            diag_error(z->cx, NULL, "the constants need %lld bytes with the fewest bits, but --flash is %lld; use at "
                       "least %lld bytes", (long long)bytes, (long long)flash, (long long)bytes);
            return false;
        }
        if (l) {
            saved += bytes_of(l, l->width) - bytes_of(l, l->width + 1);
            take_bits(z, l, widths[++l->width]);
            if (bytes - saved > flash) continue;
        }
        saved = 0;
        if (!network_constants(z->b, z->g, z->e, ports, &bytes)) return false;
    }
    return true;
}

bool choose_weight_bits(const Build *b, const Graph *g, const Samples *s, Ports ports, const WeightBits *asked,
                        Edges *e, Map *refined)
{
    Narrowing z = { .b = b, .cx = b->cx, .g = g, .e = e, .samples = s, .refined = refined };
    if (!asked->bits && !asked->flash) return true;
    find_layers(&z);
    for (int i = 0; i < z.count && asked->bits; i++) take_bits(&z, &z.at[i], asked->bits);
    if (asked->flash && !fit_flash(&z, ports, asked->flash)) return false;
    return !ctx_failed(b->cx);
}

void count_weight_bits(Ctx *cx, const Graph *g, const Edges *e, int *of_bits)
{
    const Readers r = readers_of(cx, g);
    for (int i = 0; i < r.count; i++) {
        Layer l;
        if (!layer_of(&r, r.order[i], &l) || !is_integer_layer(e, &r, r.order[i])) continue;
        const Request *asked = request_of(&e->requests, r.order[i]->in[l.weights]);
        if (!asked || asked->bits <= BYTE_BITS) of_bits[asked ? asked->bits : BYTE_BITS]++;
    }
}
