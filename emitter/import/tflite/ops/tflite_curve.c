/* SPDX-License-Identifier: MIT */
/* Translates functions of one int8 element to tables of 256 values: the arithmetic of the reference kernels, in fixed
 * point or floats, is evaluated at compile time. Also translates quotients and norms, which have several operands. */
#include <math.h>

#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_DIV = 29, OPTIONS_LEAKY = 75, OPTIONS_L2_NORM = 12, OPTIONS_GELU = 116 };

static int32_t fixed(ExprKind k, int64_t a, int64_t b)
{
    return (int32_t)scalar_apply(k, I32, I32, (const Scalar[]){ { .i = a }, { .i = b } }).i;
}
static int64_t within(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }

/* Returns x * factor, rounded once or twice. */
static int32_t times(int64_t x, Factor f, bool once)
{
    int by = f.exponent > 30 ? 1 : 31 - f.exponent;
    if (once)
        return (int32_t)scalar_apply(
                   EXPR_SHR, I64, I64,
                   (const Scalar[]){ { .i = x * f.multiplier + ((int64_t)1 << (by - 1)) }, { .i = by } })
            .i;
    int32_t left = f.exponent > 0 ? fixed(EXPR_SHL, x, f.exponent) : (int32_t)x,
            high = fixed(EXPR_MULHIGH, left, f.multiplier);
    return f.exponent < 0 ? fixed(EXPR_ROUNDSHIFT, high, -f.exponent) : high;
}

/* Returns 1 / sqrt(v) by five steps of Newton's method in Q3.28, like the reference. */
static Factor inverse_root(int64_t v)
{
    enum { HALF_ROOT_2 = 1518500250, THREE_HALVES = 402653184 };
    if (v <= 1) return (Factor){ INT32_MAX, 0 };
    int pairs = (fixed(EXPR_CLZ, v, 0) - 1) / 2 - 1, shift = 11 - pairs;
    int32_t s = (int32_t)(v << (2 * pairs)), half = fixed(EXPR_ROUNDSHIFT, s >> 1, 1), x = 1 << 28;
    for (int i = 0; i < 5; i++) {
        int32_t cube = fixed(EXPR_SHL, fixed(EXPR_MULHIGH, fixed(EXPR_MULHIGH, x, x), x), 6);
        x = fixed(EXPR_SHL, (int64_t)fixed(EXPR_MULHIGH, THREE_HALVES, x) - fixed(EXPR_MULHIGH, half, cube), 3);
    }
    x = fixed(EXPR_MULHIGH, x, HALF_ROOT_2);
    return shift < 0 ? (Factor){ x << -shift, 0 } : (Factor){ x, -shift };
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

typedef struct Curve { const TfliteTensor *x, *y; float alpha; bool once, is_unsigned; } Curve;
/* Maps a stored input q to the stored output, before saturation. */
typedef int64_t Formula(const Curve *c, int64_t q);

static void by_table(TfliteCall *c, Formula *of, float alpha)
{
    int8_t table[256];
    const int64_t count = 256;
    if (!tflite_has_quants(c, 1)) return;
    const Curve curve = { tflite_in_info(c, 0), tflite_out_info(c, 0), alpha, c->file->rounds_once,
                          c->is_unsigned };
    for (int i = 0; i < 256; i++) table[i] = (int8_t)within(of(&curve, i - 128), INT8_MIN, INT8_MAX);
    c->out[0] = tflite_call2(c, "lookup", c->in[0], tensor_constant(c->cx, "table", I8, 1, &count, table));
}

/* Computes a 16-bit function as the reference does, by interpolation between 513 points that are 128 elements apart.
 * Each point is biased by half of the error in the middle of its interval. Slopes and results have 16 bits, and
 * wrap. */
static void by_points(TfliteCall *c, float (*of)(const Curve *c, float x))
{
    enum { STEPS = 512, BITS = 7, COUNT = 1 << 16 };
    const int64_t count = STEPS;
    int16_t point[STEPS + 1];
    int32_t start[STEPS], slope[STEPS], bend[STEPS] = { 0 };
    bool wraps = false;
    if (!tflite_has_quants(c, 1)) return;
    const Curve k = { .x = tflite_in_info(c, 0), .y = tflite_out_info(c, 0) };
    const float least = tflite_scale(k.x) * (float)(INT16_MIN - tflite_zero(k.x)),
                most = tflite_scale(k.x) * (float)(INT16_MAX - tflite_zero(k.x)), step = (most - least) / STEPS,
                low = tflite_scale(k.y) * (float)(INT16_MIN - tflite_zero(k.y)),
                high = tflite_scale(k.y) * (float)(INT16_MAX - tflite_zero(k.y)), unit = COUNT / (high - low);
    for (int i = 0; i <= STEPS; i++) {
        const float at = i < STEPS ? least + (float)i * step : most, here = roundf(of(&k, at) * unit),
                    middle = roundf((of(&k, least + (float)(i + 1) * step) * unit + here) / 2),
                    bias = i < STEPS ? roundf((middle - roundf(of(&k, at + step / 2) * unit)) / 2) : 0;
        point[i] = (int16_t)fmaxf(fminf(here - bias, INT16_MAX), INT16_MIN);
    }
    for (int i = 0; i < STEPS; i++) {
        slope[i] = (int16_t)scalar_apply(EXPR_SUB, I16, I16,
                                         (const Scalar[]){ { .i = point[i + 1] }, { .i = point[i] } }).i;
        wraps |= slope[i] != point[i + 1] - point[i];
        start[i] = point[i] * (1 << BITS) + (1 << (BITS - 1));
    }
    Tensor *starts = tensor_constant(c->cx, "start", I32, 1, &count, start);
    Tensor *slopes = tensor_constant(c->cx, "slope", I32, 1, &count, slope);
    Tensor *in[] = { c->in[0], starts, slopes, tensor_constant(c->cx, "bend", I32, 1, &count, bend) };
    c->out[0] = call(c->cx, "lookup_wide", c->name, in, 4,
                     ATTRS(attr_int("bits", BITS), attr_int("shift", BITS),
                           attr_if(wraps, attr_flag("wraps", true))));
}

/* Returns x's scale * alpha / y's scale. The factor is computed in 64 bits, as in TensorFlow Lite Micro after commit
 * 90b983c2, or in floats for the older quantization, as in TensorFlow Lite. The results differ at ties. */
static double quotient(const TfliteTensor *x, const TfliteTensor *y, float alpha, bool is_unsigned)
{
    const float sx = tflite_scale(x), sy = tflite_scale(y);
    return is_unsigned ? (double)(sx * alpha / sy) : (double)sx * (double)alpha / (double)sy;
}

static int64_t leaky_of(const Curve *c, int64_t q)
{
    const int64_t d = q - tflite_zero(c->x);
    const double factor = quotient(c->x, c->y, d < 0 ? c->alpha : 1, c->is_unsigned);
    const int64_t v = times(d, tflite_factor(fabs(factor)), c->once);
    return tflite_zero(c->y) + (factor < 0 ? -v : v);
}

static int64_t abs_of(const Curve *c, int64_t q)
{
    int64_t d = q < tflite_zero(c->x) ? tflite_zero(c->x) - q : q - tflite_zero(c->x);
    bool same = tflite_scale(c->x) == tflite_scale(c->y);
    return tflite_zero(c->y)
           + (same ? d : times(d, tflite_factor(quotient(c->x, c->y, 1, c->is_unsigned)), c->once));
}

/* fraction bits of the result of rsqrt */
enum { ROOT_BITS = 20 };
static Factor rsqrt_factor(const TfliteTensor *x, const TfliteTensor *y)
{
    const Factor f = tflite_factor(1.0 / (sqrt((double)tflite_scale(x)) * (double)tflite_scale(y)));
    return (Factor){ f.multiplier, f.exponent - ROOT_BITS };
}

/* Returns the reciprocal root. Inputs below the zero point, which the reference refuses, give the largest value. */
static int64_t rsqrt_of(const Curve *c, int64_t q)
{
    int64_t d = q - tflite_zero(c->x);
    if (d <= 0) return INT8_MAX;
    const Factor f = rsqrt_factor(c->x, c->y);
    Factor root = inverse_root(d);
    root.exponent += ROOT_BITS;
    return times(times(1, root, c->once), f, c->once) + tflite_zero(c->y);
}

/* Converts v to an integer. Absurd scales give an infinite v or NaN; the limit is far outside 8 bits, so such values
 * saturate. */
static int64_t whole(float v) { return (int64_t)fmaxf(fminf(v, 1e6f), -1e6f); }

static int64_t elu_of(const Curve *c, int64_t q)
{
    float x = tflite_scale(c->x) * (float)(q - tflite_zero(c->x)), inverse = 1 / tflite_scale(c->y);
    float v = x < 0 ? (float)scalar_apply(EXPR_EXP, F32, F32, &(Scalar){ .f = (double)x }).f - 1 : x;
    return whole(roundf(v * inverse) + (float)tflite_zero(c->y));
}

/* Tabulates a function of the real value, in floats, as the reference computes its tables. */
static int64_t of_real(const Curve *c, int64_t q, float (*of)(const Curve *c, float x))
{
    float v = of(c, tflite_scale(c->x) * (float)(q - tflite_zero(c->x)));
    return isnan(v) ? tflite_zero(c->y) : whole(roundf(v * (1 / tflite_scale(c->y))) + (float)tflite_zero(c->y));
}

/* Evaluates an expression kind in doubles, with one rounding to float. */
static float of_kind(ExprKind k, double x) { return (float)scalar_apply(k, F64, F64, &(Scalar){ .f = x }).f; }

static float exp_real(const Curve *c, float x) { (void)c; return of_kind(EXPR_EXP, (double)x); }
/* Returns the logarithm; the logarithm of 0 and of negative values is the smallest value of the output. */
static float log_real(const Curve *c, float x)
{
    const int64_t least = c->y->type == TFLITE_INT16 ? INT16_MIN : INT8_MIN;
    return x > 0 ? of_kind(EXPR_LOG, (double)x) : tflite_scale(c->y) * (float)(least - tflite_zero(c->y));
}
static float gelu_real(const Curve *c, float x)
{
    (void)c;
    return 0.5f * x * (float)(1 + scalar_apply(EXPR_ERF, F64, F64, &(Scalar){ .f = (double)(x * 0.70710678f) }).f);
}
static float gelu_tanh_real(const Curve *c, float x)
{
    (void)c;
    return 0.5f * x * (1 + of_kind(EXPR_TANH, (double)(0.79788456f * (x + 0.044715f * x * x * x))));
}
static float sigmoid_real(const Curve *c, float x) { return 1 / (1 + exp_real(c, -x)); }
static float tanh_real(const Curve *c, float x) { (void)c; return of_kind(EXPR_TANH, (double)x); }
static int64_t exp_of(const Curve *c, int64_t q) { return of_real(c, q, exp_real); }
static int64_t sigmoid_of(const Curve *c, int64_t q) { return of_real(c, q, sigmoid_real); }
static int64_t tanh_of(const Curve *c, int64_t q) { return of_real(c, q, tanh_real); }
/* Returns the truncated root, as the reference does. Negative values, which the reference refuses, give 0. */
static int64_t sqrt_of(const Curve *c, int64_t q)
{
    float x = tflite_scale(c->x) * (float)(q - tflite_zero(c->x));
    return whole(truncf((x > 0 ? sqrtf(x) : 0) / tflite_scale(c->y))) + tflite_zero(c->y);
}
static int64_t log_of(const Curve *c, int64_t q) { return of_real(c, q, log_real); }
static int64_t gelu_of(const Curve *c, int64_t q) { return of_real(c, q, gelu_real); }
static int64_t gelu_tanh_of(const Curve *c, int64_t q) { return of_real(c, q, gelu_tanh_real); }

static int64_t in_16_bits(int64_t v) { return within(v, INT16_MIN, INT16_MAX); }
/* Returns a * b / 2^15, rounded to nearest, ties up, or truncated. */
static int64_t high_16(int64_t a, int64_t b)
{
    return in_16_bits((a * b + (a * b >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}
static int16_t factor_16(Factor f)
{
    return f.multiplier >= 0x7fff8000 ? INT16_MAX : (int16_t)((f.multiplier + (1 << 15)) >> 16);
}

static int64_t half_even_shift(int64_t v, int by) { return by > 0 ? fixed(EXPR_ROUNDSHIFT, v, by) : v; }

/* Computes x * relu6(x + 3) / 6 in 16 bits; the second factor is in units of 3/32768. */
static int64_t hard_swish_of(const Curve *c, int64_t q)
{
    const float fine = 1.0f / 128.0f * tflite_scale(c->x);
    Factor out = tflite_factor((double)(fine / tflite_scale(c->y))),
           unit = tflite_factor((double)(fine / (3.0f / 32768.0f)));
    int64_t x = (q - tflite_zero(c->x)) * 128, scaled = high_16(x, factor_16(out)), bend = x;
    if (unit.exponent > 0) bend = in_16_bits(bend * ((int64_t)1 << (unit.exponent - 1)));
    bend = high_16(bend, factor_16(unit));
    if (unit.exponent > 0) bend = in_16_bits(bend * 2);
    bend = half_even_shift(bend, -unit.exponent);
    bend = (bend + (1 << 15)) >> 1;
    int64_t product = bend * scaled / (1 << 15);
    return half_even_shift(product, -out.exponent) + tflite_zero(c->y);
}

/* ---- Lowerings --------------------------------------------------------------------------------------------------- */

static void curve(TfliteCall *c, const char *real, Formula *of)
{
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_int8(c)) by_table(c, of, 0);
    else c->out[0] = tflite_call(c, real, c->in[0]);
}
void tflite_sigmoid_uint8(TfliteCall *c) { by_table(c, sigmoid_of, 0); }
void tflite_tanh_uint8(TfliteCall *c) { by_table(c, tanh_of, 0); }
/* With 16 bits, returns the magnitude, rescaled if the scales differ. */
static void abs_(TfliteCall *c)
{
    if (!tflite_needs(c, 1) || !tflite_is_int16(c)) {
        curve(c, "abs", abs_of);
        return;
    }
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    Tensor *d = tflite_call(c, "abs", tflite_difference(c, 0));
    if (tflite_scale(x) != tflite_scale(y))
        d = tflite_rescale(c, d, tflite_factor(quotient(x, y, 1, false)), (Rescaling){ .to = I32 });
    d = tflite_call(c, "clip", d, attr_real("min", INT16_MIN), attr_real("max", INT16_MAX));
    c->out[0] = tflite_call(c, "cast", d, attr_type("to", I16));
}
/* With 16 bits, returns the largest value if the input is not positive. */
static void rsqrt(TfliteCall *c)
{
    if (!tflite_needs(c, 1) || !tflite_is_int16(c)) {
        curve(c, "rsqrt", rsqrt_of);
        return;
    }
    if (!tflite_has_quants(c, 1)) return;
    Factor f = rsqrt_factor(tflite_in_info(c, 0), tflite_out_info(c, 0));
    if (f.exponent < -31) f = (Factor){ 0, 0 };              /* every result is 0 */
    Tensor *d = tflite_difference(c, 0), *zero = tensor_scalar(c->cx, c->name, I32, 0),
           *y = tflite_rescale(c, tflite_call(c, "rsqrt_fixed", d), f, (Rescaling){ .to = I16 });
    Tensor *number = tensor_scalar(c->cx, c->name, I16, INT16_MAX);
    c->out[0] = tflite_select(c, tflite_call2(c, "greater", d, zero), y, number);
}
static void elu(TfliteCall *c) { curve(c, "elu", elu_of); }
static void exp_(TfliteCall *c)
{
    if (tflite_needs(c, 1) && tflite_is_int16(c)) by_points(c, exp_real);
    else curve(c, "exp", exp_of);
}
static void sqrt_(TfliteCall *c) { curve(c, "sqrt", sqrt_of); }
static void log_(TfliteCall *c)
{
    if (tflite_needs(c, 1) && tflite_is_int16(c)) by_points(c, log_real);
    else curve(c, "log", log_of);
}
static void gelu(TfliteCall *c)
{
    const bool by_tanh = flat_int(&c->op->options, 0, 1, 0);
    if (tflite_needs(c, 1) && tflite_is_int16(c)) by_points(c, by_tanh ? gelu_tanh_real : gelu_real);
    else if (by_tanh) curve(c, "gelu_tanh", gelu_tanh_of);
    else curve(c, "gelu", gelu_of);
}

/* Translates HARD_SWISH. Floats follow the reference's order of operations, which rounds differently from x * relu6(x /
 * 6 + 1/2). */
static void hard_swish(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_int8(c)) {
        by_table(c, hard_swish_of, 0);
        return;
    }
    Tensor *bend = tflite_activate(c, tflite_call2(c, "add", c->in[0], tensor_scalar(c->cx, c->name, F32, 3)),
                                   ACT_RELU6);
    Tensor *number = tensor_scalar(c->cx, c->name, F32, 6);
    c->out[0] = tflite_call2(c, "div", tflite_call2(c, "mul", c->in[0], bend), number);
}

static Tensor *whole_factor(TfliteCall *c, Tensor *x, double real)
{
    return tflite_rescale(c, x, tflite_factor(real), (Rescaling){ .to = I32 });
}

/* Translates LEAKY_RELU of 16 bits, which has no table: elements below zero have a separate factor. */
static void leaky_int16(TfliteCall *c, float alpha)
{
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    const double slope = quotient(x, y, alpha, false);
    Tensor *d = tflite_difference(c, 0), *zero = tensor_scalar(c->cx, c->name, I32, 0),
           *above = whole_factor(c, d, quotient(x, y, 1, false)),
           *below = whole_factor(c, d, fabs(slope));
    if (slope < 0 && below) below = tflite_call(c, "neg", below);
    if (!above || !below) return;
    Tensor *v = tflite_select(c, tflite_call2(c, "less", d, zero), below, above);
    v = tflite_call2(c, "add", v, tensor_scalar(c->cx, c->name, I32, tflite_zero(y)));
    v = tflite_call(c, "clip", v, attr_real("min", INT16_MIN), attr_real("max", INT16_MAX));
    c->out[0] = tflite_call(c, "cast", v, attr_type("to", I16));
}

static void leaky_relu(TfliteCall *c)
{
    float alpha = flat_float(&c->op->options, 0, 0);
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_int8(c)) by_table(c, leaky_of, alpha);
    else if (tflite_is_int16(c)) leaky_int16(c, alpha);
    else c->out[0] = tflite_call(c, "leaky_relu", c->in[0], attr_real("alpha", (double)alpha));
}

/* Requantizes to the output's grid, and clamps to the activation's bounds on this grid. */
static void rescaled_activation(TfliteCall *c, int activation)
{
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    Rescaling r = { .zero_x = tflite_zero(x), .zero = tflite_zero(y), .has_least = true,
                    .has_greatest = activation != ACT_RELU, .to = c->in[0]->type };
    tflite_clamp(y, activation, &r.least, &r.greatest);
    c->out[0] = tflite_rescale(c, c->in[0], tflite_factor(quotient(x, y, 1, c->is_unsigned)), r);
}

static void relu(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_quantized(c)) rescaled_activation(c, ACT_RELU);
    else c->out[0] = tflite_activate(c, c->in[0], ACT_RELU);
}

static bool has_one_grid(const TfliteTensor *x, const TfliteTensor *y)
{
    return y->quant && tflite_scale(x) == tflite_scale(y) && tflite_zero(x) == tflite_zero(y);
}

/* Translates RELU6. The int8 reference assumes that input and output have one grid; the uint8 reference requantizes. */
static void relu6(TfliteCall *c)
{
    int64_t least, greatest;
    if (!tflite_needs(c, 1)) return;
    if (!tflite_is_quantized(c)) {
        c->out[0] = tflite_activate(c, c->in[0], ACT_RELU6);
        return;
    }
    if (!tflite_has_quant(c, tflite_in_info(c, 0), false)) return;
    if (c->is_unsigned && !has_one_grid(tflite_in_info(c, 0), tflite_out_info(c, 0))) {
        rescaled_activation(c, ACT_RELU6);
        return;
    }
    tflite_clamp(tflite_in_info(c, 0), ACT_RELU6, &least, &greatest);
    c->out[0] = tflite_call(c, "clip", c->in[0], attr_real("min", (double)least), attr_real("max", (double)greatest));
}

static void relu_n1_to_1(TfliteCall *c)
{
    c->out[0] = tflite_needs(c, 1) ? tflite_activate(c, c->in[0], ACT_RELU_N1_TO_1) : NULL;
}

/* Translates RELU_0_TO_1. Integers are requantized to the output's scale, and the bounds are on that grid. */
static void relu_0_to_1(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (!tflite_is_int8(c)) {
        c->out[0] = tflite_call(c, "clip", c->in[0], attr_real("min", 0), attr_real("max", 1));
        return;
    }
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    const float top = roundf(1 / tflite_scale(y)) + (float)tflite_zero(y);
    const Rescaling r = { .zero_x = tflite_zero(x), .zero = tflite_zero(y), .has_least = true, .has_greatest = true,
                          .least = tflite_zero(y), .greatest = top < INT8_MAX ? (int64_t)top : INT8_MAX, .to = I8 };
    c->out[0] = tflite_rescale(c, c->in[0], tflite_factor((double)(tflite_scale(x) / tflite_scale(y))), r);
}

/* Translates PRELU. TensorFlow Lite, the only reference of UINT8 and INT16, computes the factors in floats. */
static void prelu(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    if (!tflite_is_quantized(c)) {
        c->out[0] = tflite_call2(c, "prelu", c->in[0], c->in[1]);
        return;
    }
    if (c->in[1]->type != I8)
        tflite_unsupported(c, "it has slopes of type %s; use INT8, even for 16-bit activations",
                           tflite_type_text(c->cx, tflite_in_info(c, 1)->type));
    if (ctx_failed(c->cx) || !tflite_has_quants(c, 2)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *a = tflite_in_info(c, 1), *y = tflite_out_info(c, 0);
    const bool is_float = c->is_unsigned || tflite_is_int16(c);
    Tensor *d = tflite_difference(c, 0), *above = whole_factor(c, d, quotient(x, y, 1, is_float));
    Tensor *below = whole_factor(c, tflite_call2(c, "mul", d, tflite_difference(c, 1)),
                                 quotient(x, y, tflite_scale(a), is_float)),
           *is_below = tflite_call2(c, "less", d, tensor_scalar(c->cx, c->name, I32, 0));
    if (!above || !below || !is_below) return;
    Tensor *v = tflite_select(c, is_below, below, above);
    v = tflite_call2(c, "add", v, tensor_scalar(c->cx, c->name, I32, tflite_zero(y)));
    const DTypeInfo *type = dtype_info(c->in[0]->type);
    v = tflite_call(c, "clip", v, attr_real("min", (double)type->least), attr_real("max", (double)type->greatest));
    c->out[0] = tflite_call(c, "cast", v, attr_type("to", c->in[0]->type));
}

/* ---- Quotients and norms ----------------------------------------------------------------------------------------- */

/* Returns 1 / |b| in Q0.31 for every stored b; bits[] becomes the exponents of |b|. */
static Tensor *inverses(TfliteCall *c, int zero, int32_t *bits)
{
    int32_t inverse[256] = { 0 };
    const int64_t count = 256;
    for (int i = 0; i < 256; i++) {
        int64_t d = i - 128 - zero < 0 ? zero + 128 - i : i - 128 - zero;
        bits[i] = 0;
        if (d == 0) continue;                              /* the reference refuses division by zero */
        int32_t head = fixed(EXPR_CLZ, d, 0);
        int64_t rest = (int64_t)(((uint64_t)d << head) & 0xffffffffu) - ((int64_t)1 << 31);
        int32_t r = (int32_t)scalar_apply(EXPR_RECIPQ, I32, I32, &(Scalar){ .i = (rest >> 1) + (1 << 30) }).i;
        inverse[i] = r > 1073741823 ? INT32_MAX : r * 2;
        bits[i] = 31 - head;
    }
    return tensor_constant(c->cx, "inverse", I32, 1, &count, inverse);
}

static void divide(TfliteCall *c)
{
    int act = (int)flat_int(&c->op->options, 0, 1, ACT_NONE);
    int32_t bits[256];
    int64_t least, greatest;
    const int64_t count = 256;
    if (!tflite_needs(c, 2)) return;
    if (!tflite_is_int8(c)) {
        c->out[0] = tflite_activate(c, tflite_call2(c, "div", c->in[0], c->in[1]), act);
        return;
    }
    if (!tflite_has_quants(c, 2)) return;
    const TfliteTensor *a = tflite_in_info(c, 0), *b = tflite_in_info(c, 1), *y = tflite_out_info(c, 0);
    Factor f = tflite_factor((double)(tflite_scale(a) / (tflite_scale(b) * tflite_scale(y))));
    Tensor *inverse = inverses(c, tflite_zero(b), bits),
           *in[] = { c->in[0], c->in[1], inverse, tensor_constant(c->cx, "bits", I32, 1, &count, bits) };
    tflite_clamp(y, act, &least, &greatest);
    c->out[0] = call(c->cx, "div_fixed", c->name, in, 4,
                     ATTRS(attr_int("zero_a", tflite_zero(a)), attr_int("zero_b", tflite_zero(b)),
                           attr_int("multiplier", f.multiplier), attr_int("left", f.exponent),
                           attr_int("zero", tflite_zero(y)), attr_int("min", least), attr_int("max", greatest)));
}

static void l2_normalization(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    int activation = (int)flat_int(&c->op->options, 0, 1, ACT_NONE);
    if (activation != ACT_NONE) tflite_refuse_activation(c, activation, ACT_NONE);
    else if (!tflite_is_int8(c)) {
        Tensor *norm = tflite_call(c, "reduce_l2", c->in[0], attr_list("axes", -1), attr_flag("keepdims", true));
        c->out[0] = tflite_call2(c, "div", c->in[0],
                                 tflite_call2(c, "max", norm, tensor_scalar(c->cx, c->name, F32, 1e-6)));
    } else if (tflite_has_quants(c, 1)) {
        const TfliteTensor *y = tflite_out_info(c, 0);
        if (tflite_zero(y) != 0 || tflite_scale(y) != 1.0f / 128)
            tflite_refuse(c, "the output's zero point is %d and its scale %g; use zero point 0 and scale 1/128",
                             tflite_zero(y),
                          (double)tflite_scale(y));
        else c->out[0] = tflite_call(c, "l2_norm_fixed", c->in[0], attr_int("zero", tflite_zero(tflite_in_info(c, 0))),
                                     attr_int("early", c->is_unsigned));
    }
}

const TfliteRow tflite_rows_curve[] = {
    { 11, "L2_NORMALIZATION", 2, OPTIONS_L2_NORM, OF_F32 | OF_I8 | AS_INT8, 1, NULL, l2_normalization,
      TFLITE_KEEPS_FIRST },
    { 19, "RELU", 3, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, relu, TFLITE_KEEPS_ALL },
    { 20, "RELU_N1_TO_1", 1, 0, OF_F32, 1, NULL, relu_n1_to_1, TFLITE_KEEPS_ALL },
    { 21, "RELU6", 3, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, relu6, TFLITE_KEEPS_ALL },
    { 42, "DIV", 2, OPTIONS_DIV, OF_F32 | OF_I32 | OF_I8 | AS_INT8, 2, NULL, divide, TFLITE_KEEPS_ALL },
    { 47, "EXP", 3, 0, OF_F32 | OF_I8 | OF_I16, 1, NULL, exp_, TFLITE_KEEPS_ALL },
    { 54, "PRELU", 1, 0, OF_F32 | OF_I8 | OF_I16 | AS_INT8 | HAS_STORED_WEIGHTS, 2, NULL, prelu, TFLITE_KEEPS_ALL },
    { 73, "LOG", 3, 0, OF_F32 | OF_I8 | OF_I16, 1, NULL, log_, TFLITE_KEEPS_ALL },
    { 75, "SQRT", 3, 0, OF_F32 | OF_I8, 1, NULL, sqrt_, TFLITE_KEEPS_ALL },
    { 76, "RSQRT", 3, 0, OF_F32 | OF_I8 | OF_I16, 1, NULL, rsqrt, TFLITE_KEEPS_ALL },
    { 98, "LEAKY_RELU", 2, OPTIONS_LEAKY, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, leaky_relu, TFLITE_KEEPS_ALL },
    { 152, "RELU_0_TO_1", 1, 0, OF_F32 | OF_I8, 1, NULL, relu_0_to_1, TFLITE_KEEPS_ALL },
    { 101, "ABS", 5, 0, OF_F32 | OF_I8 | OF_I16 | OF_I32, 1, NULL, abs_, TFLITE_KEEPS_ALL },
    { 111, "ELU", 2, 0, OF_F32 | OF_I8, 1, NULL, elu, TFLITE_KEEPS_ALL },
    { 117, "HARD_SWISH", 1, 0, OF_F32 | OF_I8 | AS_INT8, 1, NULL, hard_swish, TFLITE_KEEPS_ALL },
    { 150, "GELU", 2, OPTIONS_GELU, OF_F32 | OF_I8 | OF_I16, 1, NULL, gelu, TFLITE_KEEPS_ALL },
    { 0 }
};
