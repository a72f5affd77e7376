/* SPDX-License-Identifier: MIT */
/* Quantized networks written in real numbers, as integers. The reference computes with whole numbers of 2048 bits: the
 * exact real number, and the nearest integer.
 *
 *   constants   random scales, offsets, grids and ranges: every constant found gives the reference's value at the ends
 *               of the range, at every step of the staircase and at random points
 *   words       factors of two words for 16-bit grids: the same
 *   layers      one call of each kind, then random networks, through all passes, byte for byte; no float remains
 *   ties        if an intermediate float would round, the layer stays in floats, unless the option takes it; otherwise
 *               they are equal to the bit
 *   tables      functions of one byte, equal to floats to the bit
 *
 *   test_realize [COUNT]    COUNT random networks, 40 by default, and trials in proportion */
#include "graphs.h"
#include "own_data.h"

#include <stdlib.h>

#include "graph/quantize/requantize.h"

/* ---- Whole numbers of 2048 bits; bit 0 counts 2^-1024 ------------------------------------------------------------ */

enum { LIMBS = 64, POINT = 1024 };

typedef struct Big { uint32_t limb[LIMBS]; } Big;      /* two's complement */

static void big_add_at(Big *b, int64_t v, int bit)
{
    uint64_t carry = 0, sign = v < 0 ? UINT32_MAX : 0;
    for (int i = bit / 32, word = 0; i < LIMBS; i++, word++) {
        const uint64_t low = word < 2 ? (uint64_t)v >> (32 * word) & UINT32_MAX : sign,
                       before = word == 0  ? 0
                                : word < 3 ? (uint64_t)v >> (32 * (word - 1)) & UINT32_MAX
                                           : sign;
        const int shift = bit % 32;
        const uint64_t part = shift ? (low << shift & UINT32_MAX) | before >> (32 - shift) : low;
        carry += b->limb[i] + part;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* b += a * d */
static void big_add(Big *b, int64_t a, double d)
{
    int exponent;
    const int64_t mantissa = (int64_t)ldexp(frexp(d, &exponent), 54), low = mantissa % (1 << 27),
                  high = mantissa / (1 << 27);
    big_add_at(b, a * low, POINT + exponent - 54);
    big_add_at(b, a * high, POINT + exponent - 27);
}

static int big_sign(const Big *b)
{
    if (b->limb[LIMBS - 1] >> 31) return -1;
    for (int i = 0; i < LIMBS; i++)
        if (b->limb[i]) return 1;
    return 0;
}

/* (a * scale + b * scale_b + offset) / count */
typedef struct Real { int64_t a, b, count; double scale, scale_b, offset; } Real;

/* The sign of 2 * real - halves * step. */
static int beside(const Real *r, int64_t halves, double step)
{
    Big sum = { { 0 } };
    big_add(&sum, 2 * r->a, r->scale);
    big_add(&sum, 2 * r->b, r->scale_b);
    big_add(&sum, 2, r->offset);
    big_add(&sum, -halves * r->count, step);
    return big_sign(&sum);
}

/* real / step to the nearest, ties to even, + zero, between least and greatest. */
static int64_t on_grid(const Real *r, const Grid *g)
{
    enum { FAR = 100000 };
    double near = ((double)r->a * r->scale + (double)r->b * r->scale_b + r->offset) / ((double)r->count * g->step);
    int64_t k = near > FAR ? FAR : near < -FAR ? -FAR : (int64_t)floor(near);
    if (llabs(k) < FAR) {
        while (beside(r, 2 * k + 1, g->step) > 0) k++;
        while (beside(r, 2 * k - 1, g->step) < 0) k--;
        if (beside(r, 2 * k + 1, g->step) == 0 && k % 2) k++;
        else if (beside(r, 2 * k - 1, g->step) == 0 && k % 2) k--;
    }
    k += g->zero;
    return k < g->least ? g->least : k > g->greatest ? g->greatest : k;
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static uint64_t draw_bits(Net *n, int bits)
{
    uint64_t v = 0;
    for (int i = 0; i < bits; i += 16) v = v << 16 | (draw(&n->seed) >> 4 & 0xffff);
    return v & ((UINT64_C(1) << bits) - 1);
}

/* A float around 2^exponent: of all bits, a power of two, or of few decimals. */
static double random_scale(Net *n, int exponent, int kind)
{
    if (kind == 1) return ldexp(1, exponent + pick(n, 3) - 1);
    if (kind == 2) return (double)(float)(0.01 * (1 + pick(n, 99)) * ldexp(1, exponent));
    return ldexp((double)(draw_bits(n, 23) | 1 << 23), exponent - 23);
}

static Grid random_grid(Net *n, double step)
{
    int64_t a = pick(n, 256) - 128, b = pick(n, 256) - 128;
    bool is_whole = pick(n, 3) > 0;
    return (Grid){ step, pick(n, 256) - 128, is_whole ? -128 : a < b ? a : b, is_whole ? 127 : a < b ? b : a };
}

static int64_t asr(int64_t v, int n) { return v >= 0 ? v >> n : ~(~v >> n); }

static int64_t divided(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The constants of the operators. */
static int64_t applied(const Scaling *s, const Grid *g, int64_t a, int64_t b)
{
    const int64_t t = a * s->m + b * s->m_b + s->c;
    const int64_t k = s->is_even ? divided(t + s->d / 2 - 1 + (divided(t, s->d) & 1), s->d) + g->zero : asr(t, s->n);
    return k < g->least ? g->least : k > g->greatest ? g->greatest : k;
}

/* The relevant points: near each step, at the ends, and random ones. */
static bool agrees(Net *n, const Scaling *s, const Affine *x, const Grid *g, Interval range)
{
    for (int i = 0; i < 900; i++) {
        double at = (((i < 768 ? (double)(i / 3 - 128) : (double)g->zero) - (double)g->zero - 0.5) * g->step
                         * (double)x->count
                     - x->offset)
                    / x->scale;
        int64_t a = i < 768 ? (int64_t)fmax(-2e9, fmin(2e9, floor(at))) + i % 3
                            : range.least + (int64_t)(draw_bits(n, 31) % (uint64_t)(range.greatest - range.least + 1));
        if (i > 896) a = i % 2 ? range.least : range.greatest;
        if (a < range.least || a > range.greatest) continue;
        const Real r = { a, 0, x->count, x->scale, 0, x->offset };
        if (applied(s, g, a, 0) != on_grid(&r, g)) return false;
    }
    return true;
}

/* COUNT */
static int networks_tried = 40;

static void constants(void)
{
    const int trials = 75 * networks_tried;
    Net net = net_new(5), *n = &net;
    int fixed = 0, even = 0, wrong = 0;
    for (int i = 0; i < trials; i++) {
        const int kind = i % 3, reach = 8 + pick(n, 22);
        const Grid g = random_grid(n, random_scale(n, -4, kind));
        Affine x = { g.step * random_scale(n, 6 - reach - pick(n, 3), kind), 0, i % 7 ? 1 : 1 + pick(n, 60), 0 };
        if (pick(n, 2)) x.offset = random_scale(n, -3 + pick(n, 6), kind) * (pick(n, 2) ? 1 : -1);
        const Interval range = { -(INT64_C(1) << reach), (INT64_C(1) << reach) - pick(n, 9) };
        Scaling s;
        bool is_fixed = scaling_of(&x, &g, range, 62, &s);
        if (!is_fixed && !scaling_even(&x, 0, &g, range, (Interval){ 0, 0 }, 0, &s)) continue;
        fixed += is_fixed;
        even += !is_fixed;
        wrong += !agrees(n, &s, &x, &g, range);
    }
    check_that(!wrong && fixed > trials / 3 && even > trials / 30, "constants of one term",
               "%d fixed, %d with ties, %d wrong of %d", fixed, even, wrong, trials);
    ctx_free(n->cx);
}

/* Scales of small fractions have ties and are left to other forms; the constants of the others are centered. */
static void centered_constants(void)
{
    const int trials = 75 * networks_tried;
    Net net = net_new(8), *n = &net;
    int found = 0, wrong = 0, general = 0;
    for (int i = 0; i < trials; i++) {
        const int kind = i % 3, reach = 10 + pick(n, 20);
        const Grid g = random_grid(n, random_scale(n, -4, kind));
        const Affine x = { g.step * random_scale(n, 6 - reach - pick(n, 3), kind), 0, 1, 0 };
        const Interval range = { -(INT64_C(1) << reach), (INT64_C(1) << reach) - pick(n, 9) };
        Scaling s;
        if (!kind) general++;
        if (!scaling_centered(&x, &g, range, &s)) continue;
        found += !kind;
        wrong += !agrees(n, &s, &x, &g, range) || s.c != offset_centered(&g, s.n) || s.n < 33;
    }
    check_that(!wrong && found > general * 9 / 10, "centered constants", "%d of %d, %d wrong", found, general, wrong);
    ctx_free(n->cx);
}

static void constants_of_sums(void)
{
    const int trials = 3 * networks_tried;
    Net net = net_new(6), *n = &net;
    const Interval byte = { -128, 127 };
    int fixed = 0, even = 0, wrong = 0;
    for (int i = 0; i < trials; i++) {
        const int kind = i % 3;
        const Grid g = random_grid(n, random_scale(n, -4, kind));
        const double scale_b = random_scale(n, -5 + pick(n, 3), kind) * (pick(n, 4) ? 1 : -1);
        const Affine x = { random_scale(n, -5 + pick(n, 3), kind), (double)(pick(n, 200) - 100) * scale_b, 1, 0 };
        Scaling s;
        bool is_fixed = scaling_of_sum(&x, scale_b, &g, byte, byte, &s);
        if (!is_fixed && !scaling_even(&x, scale_b, &g, byte, byte, 0, &s)) continue;
        fixed += is_fixed;
        even += !is_fixed;
        for (int j = 0; j < 4000; j++) {
            const Real r = { pick(n, 256) - 128, pick(n, 256) - 128, 1, x.scale, scale_b, x.offset };
            wrong += applied(&s, &g, r.a, r.b) != on_grid(&r, &g);
        }
    }
    check_that(!wrong && fixed > trials / 3 && even > trials / 30, "constants of sums",
               "%d fixed, %d with ties, %d wrong of %d", fixed, even, wrong, trials);
    ctx_free(n->cx);
}

/* 16-bit grids: the points on both sides of random steps, the ends, and random points. */
static int wrong_words(Net *n, const Scaling *s, const Affine *x, const Grid *g, Interval range)
{
    int wrong = 0;
    for (int i = 0; i < 600; i++) {
        const double k = (double)(g->least + (int64_t)(draw_bits(n, 16) % (uint64_t)(g->greatest - g->least + 1)));
        const double at = ((k - (double)g->zero - 0.5) * g->step * (double)x->count - x->offset) / x->scale;
        int64_t a = (int64_t)fmax(-4e9, fmin(4e9, floor(at))) + x->zero + i % 3;
        if (i > 400) a = range.least + (int64_t)(draw_bits(n, 31) % (uint64_t)(range.greatest - range.least + 1));
        if (i > 597) a = i % 2 ? range.least : range.greatest;
        if (a < range.least || a > range.greatest) continue;
        const Real r = { a - x->zero, 0, x->count, x->scale, 0, x->offset };
        const int64_t y = asr(a * s->m + asr(a * s->low, 31) + s->c, s->n);
        wrong += (y < g->least ? g->least : y > g->greatest ? g->greatest : y) != on_grid(&r, g);
    }
    return wrong;
}

static void constants_of_words(void)
{
    const int trials = 15 * networks_tried / 2;
    Net net = net_new(9), *n = &net;
    int found = 0, general = 0, wrong = 0;
    for (int i = 0; i < trials; i++) {
        const int kind = i % 3, reach = 12 + pick(n, 19);
        const bool is_whole = pick(n, 3) > 0;
        const Grid g = { random_scale(n, -12, kind), pick(n, 8192) - 4096, is_whole ? -32768 : -200 - pick(n, 9000),
                         is_whole ? 32767 : 3000 + pick(n, 9000) };
        Affine x = { g.step * random_scale(n, 15 - reach - pick(n, 3), kind), 0, i % 7 ? 1 : 1 + pick(n, 60),
                     pick(n, 2) ? pick(n, 8192) - 4096 : 0 };
        if (pick(n, 2)) x.offset = random_scale(n, -3 + pick(n, 6), kind) * (pick(n, 2) ? 1 : -1);
        const Interval range = { -(INT64_C(1) << reach), (INT64_C(1) << reach) - pick(n, 9) };
        Scaling s;
        general += !kind;
        if (!scaling_of_words(&x, &g, range, 62, &s)) continue;
        found += !kind;
        wrong += wrong_words(n, &s, &x, &g, range) || s.m < 0 || s.m > INT32_MAX || s.low < 0 || s.low > INT32_MAX;
    }
    check_that(!wrong && found > general * 9 / 10, "factors of two words", "%d of %d, %d wrong", found, general, wrong);
    ctx_free(n->cx);
}

/* ---- Layers ------------------------------------------------------------------------------------------------------ */

/* A real tensor with its contents on its grid: v is over (stored - zero), as doubles, so operators sum them exactly. */
typedef struct Layer { Tensor *real, *v; Grid grid; } Layer;

/* kind: of the scales; is_sixteen: activations have 16 bits */
typedef struct World { Net net; int kind; bool takes_u8, takes_reals, is_sixteen; } World;

static Tensor *run(Ctx *cx, Tensor *t)
{
    Tensor *out = NULL;
    return t && t->producer && graph_run_call(cx, t->producer, &out) ? out : t;
}

static double at(const Tensor *t, int64_t i) { return ((const double *)t->data)[i]; }

static Tensor *doubles_like(Net *n, const Tensor *t)
{
    int64_t shape[MAX_RANK];
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return tensor_constant(n->cx, "v", F64, t->rank, shape, NULL);
}

/* The quantizer of the importer, or the annotation; in u8 the same grid is higher by 128. */
static Tensor *quantized(World *w, Tensor *real, const Grid *g)
{
    Ctx *cx = w->net.cx;
    const bool is_u8 = !w->is_sixteen && w->takes_u8 && pick(&w->net, 2);
    const DType t = w->is_sixteen ? I16 : is_u8 ? U8 : I8;
    Tensor *scale = tensor_scalar(cx, "scale", F32, g->step),
           *zero = tensor_scalar(cx, "zero", t, (double)(g->zero + (is_u8 ? 128 : 0)));
    if (pick(&w->net, 2))
        return call_text(cx, "annotation.simulated_quantize", "sq", (Tensor *[]){ real, scale, zero }, 3,
                         "bits=%d sign=%d", w->is_sixteen ? 16 : 8, !is_u8);
    Tensor *stored = call_text(cx, "quantize", "q", (Tensor *[]){ real, scale, zero }, 3, "to=%s",
                               dtype_info(t)->spelling);
    return call_text(cx, "dequantize", "dq", (Tensor *[]){ stored, scale, zero }, 3, "");
}

typedef struct Terms {
    Tensor *a, *b;
    double scale_b;
    const double *scale, *offset;
    int64_t channels, count;
    double low, high;
} Terms;

/* A grid of random step and zero point, for values up to about 2^exponent of 80 steps, or of 32768. */
static Grid grid_of(World *w, double most, bool starts_at_zero)
{
    int exponent;
    Net *n = &w->net;
    frexp(most / (w->is_sixteen ? 24000 : 80), &exponent);
    const double step = random_scale(n, exponent - 1, w->kind);
    if (w->is_sixteen) return (Grid){ step, pick(n, 4000) - (starts_at_zero ? 32768 : 2000), -32768, 32767 };
    return (Grid){ step, pick(n, 60) - 30 - (starts_at_zero ? 98 : 0), -128, 127 };
}

/* The layer that stores `real`, the value of the terms; the grid covers most of the values. */
static Layer stored(World *w, Tensor *real, const Terms *x)
{
    Net *n = &w->net;
    double most = 1e-9;
    for (int64_t i = 0; i < tensor_elems(x->a); i++)
        most = fmax(most, fabs(at(x->a, i) * x->scale[i % x->channels] + (x->b ? at(x->b, i) * x->scale_b : 0)
                               + x->offset[i % x->channels])
                              / (double)x->count);
    const Grid g = grid_of(w, most, x->low == 0);
    Layer l = { quantized(w, real, &g), doubles_like(n, x->a), g };
    double *values = own_data(n->cx, l.v);
    const Grid wide = { g.step, 0, -100000, 100000 };
    Real low = { 0, 0, 1, 0, 0, x->low }, high = { 0, 0, 1, 0, 0, x->high };
    for (int64_t i = 0; i < tensor_elems(x->a); i++) {
        const Real r = {
            (int64_t)at(x->a, i), x->b ? (int64_t)at(x->b, i) : 0, x->count, x->scale[i % x->channels], x->scale_b,
            x->offset[i % x->channels]
        };
        int64_t v = on_grid(&r, &wide);
        if (x->low > -1e30 && v < on_grid(&low, &wide)) v = on_grid(&low, &wide);
        if (x->high < 1e30 && v > on_grid(&high, &wide)) v = on_grid(&high, &wide);
        v = v + g.zero < g.least ? g.least - g.zero : v + g.zero > g.greatest ? g.greatest - g.zero : v;
        values[i] = (double)v;
    }
    return l;
}

static const double *all_of(World *w, int64_t count, double v)
{
    double *d = NEW_ARRAY(w->net.cx->arena, double, count);
    for (int64_t i = 0; i < count; i++) d[i] = v;
    return d;
}

static Terms terms_of(World *w, Tensor *a, double scale)
{
    return (Terms){ .a = a,
                    .scale = all_of(w, 1, scale),
                    .offset = all_of(w, 1, 0),
                    .channels = 1,
                    .count = 1,
                    .low = -1e31,
                    .high = 1e31 };
}

/* relu, clip or nothing in front of the quantization. */
static Tensor *activated(World *w, Tensor *real, Terms *x)
{
    const int way = pick(&w->net, 3);
    if (way == 0) return real;
    x->low = 0;
    if (way == 1) return one(&w->net, "relu", "relu", real, "");
    x->high = (double)(float)(fabs(x->scale[0]) * 900);
    Text t = text_new(w->net.cx);
    text_printf(&t, "min=0 max=");
    text_double(&t, x->high);
    return one(&w->net, "clip", "clip", real, text_string(&t));
}

static Layer input_layer(World *w, int rank, const int64_t *shape)
{
    Net *n = &w->net;
    const bool is_u8 = !w->is_sixteen && w->takes_u8 && pick(n, 2);
    const Grid g = w->is_sixteen ? (Grid){ random_scale(n, -13, w->kind), pick(n, 4000) - 2000, -32768, 32767 }
                                 : (Grid){ random_scale(n, -5, w->kind), pick(n, 40) - 20, -128, 127 };
    const DType t = w->is_sixteen ? I16 : is_u8 ? U8 : I8;
    Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", t, rank, shape);
    Tensor *in[] = {
        x, tensor_scalar(n->cx, "scale", F32, g.step), tensor_scalar(n->cx, "zero", x->type,
        (double)(g.zero + (is_u8 ? 128 : 0)))
    };
    Layer l = { call_text(n->cx, "dequantize", "dq", in, 3, ""), doubles_like(n, x), g };
    double *values = own_data(n->cx, l.v);
    for (int64_t i = 0; i < tensor_elems(x); i++) values[i] = w->is_sixteen ? (double)(pick(n, 65536) - 32768 - g.zero)
                                                                           : (double)(pick(n, 256) - 128 - g.zero);
    return l;
}

/* Weights with scales for all or for each channel, stored in i8, or in u8 around 128 or, for one scale, anywhere; or as
 * real numbers that are quantized where they are used. */
typedef struct Weights { Tensor *real, *v; const double *scale; int64_t channels; } Weights;

static Weights weights(World *w, int rank, const int64_t *shape)
{
    Net *n = &w->net;
    const int64_t last = shape[rank - 1], channels = pick(n, 2) ? last : 1;
    const DType t = w->takes_u8 && pick(n, 2) ? U8 : I8;
    const int64_t zero = t == I8 ? 0 : channels == 1 && pick(n, 2) ? 100 + pick(n, 50) : 128;
    Weights k = { NULL, tensor_constant(n->cx, "v", F64, rank, shape, NULL), NULL, channels };
    Tensor *q = tensor_constant(n->cx, "k", t, rank, shape, NULL),
           *scale = tensor_constant(n->cx, "scale", F32, channels > 1, &channels, NULL);
    double *s = NEW_ARRAY(n->cx->arena, double, channels);
    void *scales = own_data(n->cx, scale), *stored = own_data(n->cx, q);
    double *values = own_data(n->cx, k.v);
    for (int64_t i = 0; i < channels; i++)
        dtype_store(F32, scales, i, (Scalar){ .f = s[i] = random_scale(n, -7, w->kind) });
    for (int64_t i = 0; i < tensor_elems(q); i++) {
        const int64_t v = pick(n, 256) - (t == I8 ? 128 : 0);
        dtype_store(t, stored, i, (Scalar){ .i = v });
        values[i] = (double)(v - zero);
    }
    Tensor *zeros = tensor_constant(n->cx, "zero", t, channels > 1, &channels, NULL);
    void *zero_data = own_data(n->cx, zeros);
    for (int64_t i = 0; i < channels; i++) dtype_store(t, zero_data, i, (Scalar){ .i = zero });
    k.scale = s;
    k.real = call_text(n->cx, "dequantize", "dk", (Tensor *[]){ q, scale, zeros }, 3, "");
    if (w->takes_reals && pick(n, 3) == 0)
        k.real = call_text(n->cx, "annotation.simulated_quantize", "sk",
                           (Tensor *[]){ run(n->cx, k.real), scale, zeros }, 3,
                           "bits=8 sign=%d", t == I8);
    return k;
}

/* No bias, one of floats, or one in i32 in the unit of the sums. */
static Tensor *biased(World *w, Tensor *real, Terms *x)
{
    Net *n = &w->net;
    const int way = pick(n, 3);
    const int64_t last = last_dim(real);
    if (way == 0) return real;
    double *offset = NEW_ARRAY(n->cx->arena, double, last), *scale = NEW_ARRAY(n->cx->arena, double, last);
    Tensor *q = tensor_constant(n->cx, "b", I32, 1, &last, NULL), *b = tensor_constant(n->cx, "b", F32, 1, &last, NULL),
           *unit = tensor_constant(n->cx, "u", F32, 1, &last, NULL);
    void *stored = own_data(n->cx, q), *units = own_data(n->cx, unit), *reals = own_data(n->cx, b);
    for (int64_t i = 0; i < last; i++) {
        const int64_t v = pick(n, 20001) - 10000;
        scale[i] = x->scale[i % x->channels];
        dtype_store(I32, stored, i, (Scalar){ .i = v });
        dtype_store(F32, units, i, (Scalar){ .f = (double)(float)scale[i] });
        const double real_bias = (double)(float)((double)v * 0.77 * scale[i]);
        dtype_store(F32, reals, i, (Scalar){ .f = real_bias });
        offset[i] = way == 1 ? real_bias : (double)v * scale[i];
    }
    if (way == 2) {
        double *values = own_data(n->cx, x->a);
        for (int64_t i = 0; i < tensor_elems(x->a); i++) values[i] += (double)dtype_load(I32, q->data, i % last).i;
        for (int64_t i = 0; i < last; i++) offset[i] = 0;
        b = call_text(n->cx, "dequantize", "db", (Tensor *[]){ q, unit, tensor_scalar(n->cx, "zero", I32, 0) }, 3, "");
    }
    x->scale = scale;
    x->offset = offset;
    x->channels = last;
    return two(n, "add", "bias", real, b, "");
}

static Layer contraction(World *w, const char *op, Layer x, const char *attrs, int rank, const int64_t *shape)
{
    Net *n = &w->net;
    const Weights k = weights(w, rank, shape);
    Tensor *real = two(n, op, op, x.real, k.real, attrs), *acc = run(n->cx, two(n, op, op, x.v, k.v, attrs));
    double *scale = NEW_ARRAY(n->cx->arena, double, k.channels);
    for (int64_t i = 0; i < k.channels; i++) scale[i] = x.grid.step * k.scale[i];
    Terms t = terms_of(w, acc, 1);
    t.scale = scale;
    t.offset = all_of(w, k.channels, 0);
    t.channels = k.channels;
    real = biased(w, real, &t);
    real = activated(w, real, &t);
    return stored(w, real, &t);
}

static Layer conv(World *w, Layer x)
{
    return contraction(w, "conv2d", x, pick(&w->net, 2) ? "pad=1,1,1,1" : "pad=1,0,1,2",
                       SHAPE(3, 3, last_dim(x.v), 1 + pick(&w->net, 5)));
}
static Layer pointwise(World *w, Layer x)
{
    return contraction(w, "conv2d", x, "", SHAPE(1, 1, last_dim(x.v), 1 + pick(&w->net, 9)));
}
static Layer depthwise(World *w, Layer x)
{
    return contraction(w, "depthwise_conv2d", x, "pad=1,1,1,1", SHAPE(3, 3, last_dim(x.v)));
}
static Layer dense_layer(World *w, Layer x)
{
    return contraction(w, "dense", x, "", SHAPE(last_dim(x.v), 1 + pick(&w->net, 9)));
}

static Layer added(World *w, Layer x)
{
    const Layer y = contraction(w, "conv2d", x, "", SHAPE(1, 1, last_dim(x.v), last_dim(x.v)));
    Terms t = terms_of(w, x.v, x.grid.step);
    t.b = y.v;
    t.scale_b = y.grid.step;
    Tensor *real = two(&w->net, "add", "add", x.real, y.real, "");
    real = activated(w, real, &t);
    return stored(w, real, &t);
}

static Layer multiplied(World *w, Layer x)
{
    Net *n = &w->net;
    const Layer y = contraction(w, "conv2d", x, "", SHAPE(1, 1, last_dim(x.v), last_dim(x.v)));
    Terms t = terms_of(w, run(n->cx, two(n, "mul", "mul", x.v, y.v, "")), x.grid.step * y.grid.step);
    return stored(w, two(n, "mul", "mul", x.real, y.real, ""), &t);
}

static Layer side_by_side(World *w, Layer x)
{
    Net *n = &w->net;
    Layer y = contraction(w, "conv2d", x, "", SHAPE(1, 1, last_dim(x.v), 3));
    Terms t = terms_of(w, run(n->cx, two(n, "concat", "concat", x.v, y.v, "axis=3")), 1);
    const int64_t all = last_dim(t.a);
    double *scale = NEW_ARRAY(n->cx->arena, double, all);
    for (int64_t i = 0; i < all; i++) scale[i] = i < last_dim(x.v) ? x.grid.step : y.grid.step;
    t.scale = scale;
    t.offset = all_of(w, all, 0);
    t.channels = all;
    return stored(w, two(n, "concat", "concat", x.real, y.real, "axis=3"), &t);
}

/* Calls that only move elements, of both. */
static Layer moved_by(World *w, Layer x, const char *op, const char *attrs)
{
    Terms t = terms_of(w, run(w->net.cx, one(&w->net, op, op, x.v, attrs)), x.grid.step);
    return stored(w, one(&w->net, op, op, x.real, attrs), &t);
}

static Layer max_pooled(World *w, Layer x) { return moved_by(w, x, "max_pool2d", "kernel=3,3 pad=1,1,1,1"); }
static Layer padded(World *w, Layer x) { return moved_by(w, x, "pad", "pad=0,1,0,0,0,0,1,0"); }

static Layer averaged(World *w, Layer x, const char *op, const char *attrs, int64_t count)
{
    Net *n = &w->net;
    Tensor *mean = run(n->cx, one(n, op, op, x.v, attrs));
    double *values = own_data(n->cx, mean);
    for (int64_t i = 0; i < tensor_elems(mean); i++) values[i] = rint(values[i] * (double)count);
    Terms t = terms_of(w, mean, x.grid.step);
    t.count = count;
    return stored(w, one(n, op, op, x.real, attrs), &t);
}

static Layer avg_pooled(World *w, Layer x)
{
    return averaged(w, x, "avg_pool2d", "kernel=3,3 pad=1,1,1,1 count_pad=1", 9);
}
static Layer mean_of(World *w, Layer x)
{
    return averaged(w, x, "reduce_mean", "axes=1 keepdims=1", tensor_dim(x.v, 1));
}
static Layer global_mean(World *w, Layer x)
{
    return averaged(w, x, "global_avg_pool", "", tensor_dim(x.v, 1) * tensor_dim(x.v, 2));
}

/* In integers from the first: sums of products of differences, requantized by a factor that is an f32. */
static Layer in_integers(World *w, Layer x)
{
    Net *n = &w->net;
    Ctx *cx = n->cx;
    World stored_alone = *w;
    stored_alone.takes_reals = false;
    const Weights k = weights(&stored_alone, SHAPE(3, 3, last_dim(x.v), 4));
    const Node *dk = k.real->producer;
    const Grid g = { random_scale(n, 0, w->kind), pick(n, 60) - 30, -128, 127 };
    Tensor *zero = tensor_scalar(cx, "zero", I8, (double)x.grid.zero),
           *scale = tensor_scalar(cx, "scale", F32, x.grid.step);
    Tensor *q = call_text(cx, "quantize", "q", (Tensor *[]){ x.real, scale, zero }, 3, "to=i8"),
           *out_zero = tensor_scalar(cx, "zero", I8, (double)g.zero);
    Tensor *sums = two(n, "conv2d", "sums", two(n, "centered", "x", q, zero, ""),
                       two(n, "centered", "k", dk->in[0], dk->in[2], ""), "pad=1,1,1,1");
    const int64_t one = 1, channels = k.channels;
    Tensor *factor = tensor_constant(cx, "factor", F32, 1, channels > 1 ? &channels : &one, NULL);
    double *f = NEW_ARRAY(cx->arena, double, channels);
    void *factors = own_data(cx, factor);
    for (int64_t i = 0; i < channels; i++)
        dtype_store(F32, factors, i, (Scalar){ .f = f[i] = (double)(float)(k.scale[i] * 0.3) });
    Tensor *stored_in = call_text(cx, "requantize", "requantize", (Tensor *[]){ sums, factor, out_zero }, 3, "to=i8");
    Layer y = {
        call_text(cx, "dequantize", "dq",
                  (Tensor *[]){ stored_in, tensor_scalar(cx, "scale", F32, g.step), out_zero }, 3,
        ""), NULL, g
    };
    Tensor *acc = run(cx, two(n, "conv2d", "sums", x.v, k.v, "pad=1,1,1,1"));
    y.v = doubles_like(n, acc);
    double *values = own_data(cx, y.v);
    for (int64_t i = 0; i < tensor_elems(acc); i++) {
        const Real r = { (int64_t)at(acc, i), 0, 1, f[i % channels], 0, 0 };
        values[i] = (double)(on_grid(&r, &(Grid){ 1, g.zero, -128, 127 }) - g.zero);
    }
    return y;
}

/* ---- Whole networks ---------------------------------------------------------------------------------------------- */

typedef Layer MakeLayer(World *w, Layer x);
static const struct { const char *name; MakeLayer *make; } kinds[] = {
    { "conv", conv }, { "pointwise", pointwise }, { "depthwise", depthwise }, { "dense", dense_layer }, { "add",
      added }, { "mul", multiplied }, { "concat", side_by_side },
    { "max_pool", max_pooled }, { "pad", padded }, { "avg_pool", avg_pooled }, { "reduce_mean", mean_of },
      { "global_avg_pool", global_mean }, { "integers", in_integers },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Stored values of a layer as its type has them. */
static void *bytes_of(Net *n, const Layer *l, DType t)
{
    void *to = arena_alloc(n->cx->arena, (size_t)(tensor_elems(l->v) * dtype_info(t)->bytes));
    for (int64_t i = 0; i < tensor_elems(l->v); i++)
        dtype_store(t, to, i, (Scalar){ .i = (int64_t)at(l->v, i) + l->grid.zero + (t == U8 ? 128 : 0) });
    return to;
}

static int floats_of(Net *n, const Graph *g)
{
    Node **order;
    int count = graph_order(n->cx, g, &order), found = 0;
    for (int i = 0; i < count; i++) {
        const int grid = order[i]->op->quantization.grid;
        found += (dtype_is_float(order[i]->out[0]->type) && !grid) || grid == GRID_REQUANTIZE;
    }
    return found;
}

typedef struct Outcome { bool is_right; int floats; } Outcome;

static Outcome outcome_of(World *w, const Layer *first, const Layer *last)
{
    Net *n = &w->net;
    const void *in[] = { bytes_of(n, first, n->input[0]->type) }, *found[1];
    net_output(n, last->real);
    Graph g = net_graph(n);
    g.qdq = QDQ_INTEGER;
    g = passed(n, g);
    if (ctx_failed(n->cx) || !evaluate_graph(n, &g, in, found)) return (Outcome){ false, -1 };
    Outcome o = { true, floats_of(n, &g) };
    for (int64_t i = 0; i < tensor_elems(last->v); i++)
        o.is_right = o.is_right && ((const float *)found[0])[i] == (float)at(last->v, i) * (float)last->grid.step;
    return o;
}

static void single_layers(void)
{
    for (int k = 0; k < KINDS; k++) {
        int wrong = 0, floats = 0, failed = 0;
        for (uint32_t trial = 0; trial < 18; trial++) {
            World w = { net_new(100 * (uint32_t)k + trial), (int)trial % 3, trial % 2 != 0, true, false };
            const Layer x = input_layer(&w, SHAPE(1, 4, 3, 5)), y = kinds[k].make(&w, x);
            const Outcome o = ctx_failed(w.net.cx) ? (Outcome){ false, -1 } : outcome_of(&w, &x, &y);
            wrong += !o.is_right;
            floats += o.floats > 0;
            failed += o.floats < 0;
            ctx_free(w.net.cx);
        }
        check_that(!wrong && !floats && !failed, check_label(kinds[k].name, "equals-the-reference"),
                   "%d wrong, %d with floats, %d failed", wrong, floats, failed);
    }
}

/* 16-bit activations and 8-bit weights: sums of products, moves of elements and, as an option, sums of two. */
static void layers_of_sixteen_bits(void)
{
    static const struct { const char *name; MakeLayer *make; } made[] = {
        { "conv-16", conv }, { "pointwise-16", pointwise }, { "depthwise-16", depthwise }, { "dense-16", dense_layer },
        { "add-16", added }, { "concat-16", side_by_side }, { "max_pool-16", max_pooled },
    };
    for (int k = 0; k < (int)(sizeof made / sizeof *made); k++) {
        int wrong = 0, floats = 0, failed = 0;
        for (uint32_t trial = 0; trial < 9; trial++) {
            World w = { net_new(5000 + 100 * (uint32_t)k + trial), (int)trial % 3, false, false, true };
            const Layer x = input_layer(&w, SHAPE(1, 4, 3, 5)), y = made[k].make(&w, x);
            const Outcome o = ctx_failed(w.net.cx) ? (Outcome){ false, -1 } : outcome_of(&w, &x, &y);
            wrong += !o.is_right;
            floats += o.floats > 0;
            failed += o.floats < 0;
            if (o.floats < 0) printf("# %s\n", net_error(&w.net));
            ctx_free(w.net.cx);
        }
        check_that(!wrong && !floats && !failed, check_label(made[k].name, "equals-the-reference"),
                   "%d wrong, %d with floats, %d failed", wrong, floats, failed);
    }
}

static void networks(int count)
{
    int wrong = 0, floats = 0;
    uint32_t first_wrong = 0;
    for (int i = 0; i < count; i++) {
        World w = { net_new(9000 + (uint32_t)i), i % 3, i % 2 != 0, true, false };
        const Layer x = input_layer(&w, SHAPE(1, 5, 4, 1 + pick(&w.net, 6)));
        Layer y = x;
        for (int layers = 2 + pick(&w.net, 4); layers > 0; layers--) y = kinds[pick(&w.net, KINDS)].make(&w, y);
        const Outcome o = ctx_failed(w.net.cx) ? (Outcome){ false, -1 } : outcome_of(&w, &x, &y);
        if (!o.is_right && !wrong++) first_wrong = 9000 + (uint32_t)i;
        floats += o.floats > 0;
        if (!o.is_right) printf("# network %d: %s\n", 9000 + i, net_error(&w.net));
        ctx_free(w.net.cx);
    }
    check_that(!wrong && floats * 20 <= count, "networks by chance", "%d of %d wrong, the first is %lu; %d with floats",
               wrong, count, (unsigned long)first_wrong, floats);
}

/* ---- Layers that stay in floats ---------------------------------------------------------------------------------- */

/* A mean of four, of steps of `step`; the number of calls that stay in floats. */
static int floats_of_mean(double step, Qdq qdq)
{
    World w = { net_new(1), 0, false, false, false };
    Net *n = &w.net;
    const Grid g = { step, 3, -128, 127 };
    Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, SHAPE(1, 4, 4, 2));
    Tensor *in[] = { x, tensor_scalar(n->cx, "scale", F32, step), tensor_scalar(n->cx, "zero", I8, 3) };
    Tensor *real = one(n, "avg_pool2d", "mean", call_text(n->cx, "dequantize", "dq", in, 3, ""), "kernel=2,2 stride=2");
    net_output(n, quantized(&w, real, &g));
    Graph all = net_graph(n);
    all.qdq = qdq;
    all = passed(n, all);
    const int floats = ctx_failed(n->cx) ? -1 : floats_of(n, &all);
    const bool is_told = all.quantized_count == 1 && all.unrealized_count == (floats > 0);
    ctx_free(n->cx);
    return is_told ? floats : -2;
}

static void ties(void)
{
    CHECK("a mean of four stays in floats, where their noise decides", floats_of_mean(0.1f, QDQ_EXACT) == 1);
    CHECK("with steps that are powers of two floats are exact, and it does not", floats_of_mean(0.125, QDQ_EXACT) == 0);
    CHECK("--qdq integer: it does not", floats_of_mean(0.1f, QDQ_INTEGER) == 0);
    CHECK("--qdq float: it does", floats_of_mean(0.125, QDQ_FLOAT) == 1);
}

/* Steps that are powers of two: the very floats, of the network as it was written. */
static void equal_to_floats(void)
{
    int differ = 0, floats = 0;
    for (uint32_t i = 0; i < 40; i++) {
        World w = { net_new(700 + i), 1, i % 2 != 0, false, false };
        Net *n = &w.net;
        const Layer x = input_layer(&w, SHAPE(1, 4, 4, 3));
        Layer y = x;
        for (int layers = 1 + pick(n, 3); layers > 0; layers--) y = kinds[pick(n, 4)].make(&w, y);
        const void *in[] = { bytes_of(n, &x, n->input[0]->type) }, *found[1], *wanted[1];
        net_output(n, y.real);
        Graph was = net_graph(n), is = passed(n, was);
        floats += floats_of(n, &is) > 0;
        bool ok = evaluate_graph(n, &was, in, wanted) && evaluate_graph(n, &is, in, found);
        differ += !ok || memcmp(found[0], wanted[0], (size_t)tensor_bytes(y.real)) != 0;
        ctx_free(n->cx);
    }
    check_that(!differ && floats * 4 < 40, "equal to floats that round nothing", "%d of 40 differ, %d with floats",
               differ, floats);
}

/* A function of one byte: the float form to the bit, whatever the steps. */
static void tables(void)
{
    static const char *const curves[] = { "sigmoid", "tanh", "hard_swish", "leaky_relu", "exp" };
    int differ = 0, others = 0;
    for (uint32_t i = 0; i < 15; i++) {
        World w = { net_new(800 + i), 0, i % 2 != 0, false, false };
        Net *n = &w.net;
        const Layer x = input_layer(&w, SHAPE(256));
        double *values = own_data(n->cx, x.v);
        for (int64_t v = 0; v < 256; v++) values[v] = (double)(v - 128 - x.grid.zero);
        Tensor *real = one(n, curves[i % 5], "curve", x.real, ""), *half = tensor_scalar(n->cx, "half", F32, 0.37f);
        if (i % 2) real = two(n, "mul", "mul", two(n, "add", "add", real, half, ""), x.real, "");
        net_output(n, quantized(&w, real, &(Grid){ 0.013f, -20, -128, 127 }));
        const void *in[] = { bytes_of(n, &x, n->input[0]->type) }, *found[1], *wanted[1];
        Graph was = net_graph(n), is = passed(n, was);
        bool ok = evaluate_graph(n, &was, in, wanted) && evaluate_graph(n, &is, in, found);
        differ += !ok || memcmp(found[0], wanted[0], 1024) != 0;
        others += floats_of(n, &is) > 0 || count_calls(n, &is, "lookup") != 1;
        ctx_free(n->cx);
    }
    check_that(!differ && !others, "functions of one byte are tables", "%d differ, %d are no tables", differ, others);
}

/* From one grid to one twice as coarse, where every second value is a tie: a table, as floats decide. A limit on the
 * grid is a limit of bytes, and a product after it requires no other form. */
static void from_grid_to_grid(void)
{
    World w = { net_new(900), 0, false, false, false };
    Net *n = &w.net;
    const Layer x = input_layer(&w, SHAPE(256));
    double *values = own_data(n->cx, x.v);
    for (int64_t v = 0; v < 256; v++) values[v] = (double)(v - 128 - x.grid.zero);
    const Grid coarse = { 2 * x.grid.step, 5, -128, 127 };
    net_output(n, quantized(&w, x.real, &coarse));
    net_output(
        n,
        quantized(&w, two(n, "dense", "dense", one(n, "relu", "relu", x.real, ""), weights(&w, SHAPE(256, 3)).real, ""),
                  &(Grid){ 3, 0, -128, 127 }));
    const void *in[] = { bytes_of(n, &x, I8) }, *found[2], *wanted[2];
    Graph was = net_graph(n), is = passed(n, was);
    CHECK("from grid to grid", evaluate_graph(n, &was, in, wanted) && evaluate_graph(n, &is, in, found)
                                   && memcmp(found[0], wanted[0], 1024) == 0 && floats_of(n, &is) == 0
                                   && count_calls(n, &is, "lookup") == 1 && count_calls(n, &is, "clip") == 1);
    ctx_free(n->cx);
}

/* A filter of zeros makes its channel constant. The proof continues through the fixed-point step and removes the
 * channel. */
static void shrinks(void)
{
    World w = { net_new(950), 1, false, false, false };
    Net *n = &w.net;
    const Layer x = input_layer(&w, SHAPE(1, 4, 4, 3));
    const Weights k = weights(&w, SHAPE(1, 1, 3, 4)), k2 = weights(&w, SHAPE(1, 1, 4, 2));
    int8_t *q = own_data(n->cx, k.real->producer->in[0]);
    for (int i = 1; i < 12; i += 4) q[i] = 0;
    Tensor *a = quantized(&w, one(n, "relu", "relu", two(n, "conv2d", "first", x.real, k.real, ""), ""),
                          &(Grid){ 0.25, -128, -128, 127 });
    net_output(n, quantized(&w, two(n, "conv2d", "second", a, k2.real, ""), &(Grid){ 0.5, 3, -128, 127 }));
    const void *in[] = { bytes_of(n, &x, I8) }, *found[1], *wanted[1];
    Graph was = net_graph(n), is = passed(n, was);
    CHECK("realized networks shrink", evaluate_graph(n, &was, in, wanted) && evaluate_graph(n, &is, in, found)
                                          && memcmp(found[0], wanted[0], 16 * 2 * 4) == 0 && floats_of(n, &is) == 0
                                          && is.shrunk_count == 2 && is.shrunk[0].is.channels == 3);
    ctx_free(n->cx);
}

int main(int argc, char **argv)
{
    if (argc > 1) networks_tried = atoi(argv[1]);
    CHECK_RUN(constants, centered_constants, constants_of_sums, constants_of_words, single_layers,
              layers_of_sixteen_bits, ties, equal_to_floats, tables,
              from_grid_to_grid, shrinks);
    networks(networks_tried);
    return check_done();
}
