/* SPDX-License-Identifier: MIT */
/* Translates arithmetic: elementwise operators, reductions, softmax, quantize and dequantize. int8 is computed in i32
 * and fixed point, in the reference kernels' order of operations. Functions of one int8 become tables of 256 values,
 * which the constant folder evaluates. */
#include <float.h>
#include <math.h>

#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_rows.h"
#include "ir/algebra/algebra.h"

enum { OPTIONS_ADD = 11, OPTIONS_SOFTMAX = 9, OPTIONS_MUL = 21, OPTIONS_REDUCER = 27, OPTIONS_SUB = 28,
       OPTIONS_FAKE_QUANT = 58, OPTIONS_ADD_N = 82, OPTIONS_BITCAST = 124 };

static int activation(const TfliteCall *c) { return (int)flat_int(&c->op->options, 0, 1, ACT_NONE); }
static Tensor *number(TfliteCall *c, DType t, double v) { return tensor_scalar(c->cx, c->name, t, v); }

/* ---- Elementwise ------------------------------------------------------------------------------------------------- */

/* Rescales both operands to units of twice the larger scale, with more bits. */
static bool in_one_unit(TfliteCall *c, int more_bits, Tensor **part, double *unit)
{
    if (!tflite_has_quants(c, 2)) return false;
    const TfliteTensor *a = tflite_in_info(c, 0), *b = tflite_in_info(c, 1);
    const TfliteTensor *const in[2] = { a, b };
    *unit = 2 * (double)(tflite_scale(a) > tflite_scale(b) ? tflite_scale(a) : tflite_scale(b));
    for (int i = 0; i < 2; i++) {
        Factor f = tflite_factor((double)tflite_scale(in[i]) / *unit);
        part[i] = tflite_call(c, "rescale", c->in[i], attr_int("zero_x", tflite_zero(in[i])),
                              attr_int("left", more_bits), attr_int("multiplier", f.multiplier),
                              attr_int("shift", -f.exponent), attr_flag("once", c->file->rounds_once),
                              attr_type("to", I32));
    }
    return !ctx_failed(c->cx);
}

static void add_quantized(TfliteCall *c, const char *op)
{
    const int more_bits = tflite_is_int16(c) ? 15 : 20;
    double unit;
    Tensor *part[2];
    if (!in_one_unit(c, more_bits, part, &unit)) return;
    const double back = unit / ((1 << more_bits) * (double)tflite_scale(tflite_out_info(c, 0)));
    c->out[0] = tflite_requantize(c, tflite_call2(c, op, part[0], part[1]), &back, 1, activation(c));
}

static void add_or_sub(TfliteCall *c, const char *op)
{
    if (!tflite_needs(c, 2)) return;
    if (tflite_is_quantized(c)) add_quantized(c, op);
    else c->out[0] = tflite_activate(c, tflite_call2(c, op, c->in[0], c->in[1]), activation(c));
}
static void add(TfliteCall *c) { add_or_sub(c, "add"); }
static void sub(TfliteCall *c) { add_or_sub(c, "sub"); }

/* Translates MUL. The UINT8 reference computes the factor in floats; the references of the other types compute it in
 * doubles. */
static void mul(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    if (!tflite_is_quantized(c)) {
        c->out[0] = tflite_activate(c, tflite_call2(c, "mul", c->in[0], c->in[1]), activation(c));
        return;
    }
    if (!tflite_has_factor(c, 0) || !tflite_has_factor(c, 1)) return;
    if (!tflite_has_quant(c, tflite_out_info(c, 0), false)) return;
    const float a = tflite_scale(tflite_in_info(c, 0)), b = tflite_scale(tflite_in_info(c, 1)),
                y = tflite_scale(tflite_out_info(c, 0));
    const double scale = c->is_unsigned ? (double)(a * b / y) : (double)a * (double)b / (double)y;
    Tensor *difference = tflite_difference(c, 1);
    c->out[0] = tflite_requantize(c, tflite_call2(c, "mul", tflite_difference(c, 0), difference), &scale, 1,
                                  activation(c));
}

/* Translates SQUARED_DIFFERENCE. Rescales both operands to units of twice the larger scale, 8-bit operands with 7 more
 * bits. */
static void squared_difference(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    const int more_bits = tflite_is_int16(c) ? 0 : 7;
    if (!tflite_is_quantized(c)) {
        c->out[0] = tflite_call(c, "square", tflite_call2(c, "sub", c->in[0], c->in[1]));
        return;
    }
    double unit;
    Tensor *part[2];
    if (!in_one_unit(c, more_bits, part, &unit)) return;
    Tensor *d = tflite_call2(c, "sub", part[0], part[1]);
    const float fine = (float)(1 << 2 * more_bits) * tflite_scale(tflite_out_info(c, 0));
    c->out[0] = tflite_requantize(c, tflite_call2(c, "mul", d, d), &(double){ unit * unit / (double)fine }, 1,
                                  ACT_NONE);
}

/* Returns an int8 value minus its zero point, in units of twice its scale, with 20 more bits. */
enum { ADDEND_BITS = 20 };
static Tensor *addend(TfliteCall *c, Tensor *x)
{
    return tflite_call(c, "rescale", x, attr_int("zero_x", tflite_zero(tflite_in_info(c, 0))),
                       attr_int("left", ADDEND_BITS), attr_int("multiplier", tflite_factor(0.5).multiplier),
                       attr_int("shift", -tflite_factor(0.5).exponent), attr_flag("once", c->file->rounds_once),
                       attr_type("to", I32));
}

static bool has_scales_of_first(TfliteCall *c)
{
    const TfliteTensor *x = tflite_in_info(c, 0);
    for (int i = 1; i < c->in_count; i++) {
        const TfliteTensor *t = tflite_in_info(c, i);
        if (tflite_scale(t) != tflite_scale(x) || tflite_zero(t) != tflite_zero(x))
            tflite_unsupported(c, "the scales or zero points of \"%s\" and \"%s\" differ; use equal scales and zero "
                                  "points",
                               x->name, t->name);
    }
    return !ctx_failed(c->cx);
}

/* Translates ADD_N. Inputs of int8 have one scale, and the reference begins its sum with a stored 0. */
static void add_n(TfliteCall *c)
{
    if (!tflite_needs(c, c->in_count)) return;
    const bool is_int8 = tflite_is_int8(c);
    if (is_int8 && (!tflite_has_quants(c, c->in_count) || !has_scales_of_first(c))) return;
    Tensor *sum = is_int8 ? addend(c, number(c, I8, 0)) : NULL;
    for (int i = 0; i < c->in_count && !ctx_failed(c->cx); i++) {
        Tensor *part = is_int8 ? addend(c, c->in[i]) : c->in[i];
        sum = sum ? tflite_call2(c, "add", sum, part) : part;
    }
    if (!is_int8 || ctx_failed(c->cx)) {
        c->out[0] = sum;
        return;
    }
    const double back = 2 * (double)tflite_scale(tflite_in_info(c, 0))
                        / ((1 << ADDEND_BITS) * (double)tflite_scale(tflite_out_info(c, 0)));
    c->out[0] = tflite_requantize(c, sum, &back, 1, ACT_NONE);
}

/* Reinterprets the bytes as a different type of the same size; a boolean's bytes are 0 or 1. */
static void bitcast(TfliteCall *c)
{
    DType to;
    if (!tflite_needs(c, 1)) return;
    const TfliteTensor *y = tflite_out_info(c, 0);
    if (!tflite_dtype(y->type, &to) || dtype_info(to)->bytes != dtype_info(c->in[0]->type)->bytes)
        tflite_unsupported(c, "its output has elements of type %s; use a type with as many bytes as the input's",
                           tflite_type_text(c->cx, y->type));
    else c->out[0] = tflite_call(c, c->in[0]->type == BOOL ? "cast" : "bitcast", c->in[0], attr_type("to", to));
}

/* Translates RIGHT_SHIFT. Shifts are clamped to the range from 0 to the type's width minus one. */
static void right_shift(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    const double most = 8 * (double)dtype_info(c->in[1]->type)->bytes - 1;
    Tensor *by = tflite_call(c, "clip", c->in[1], attr_real("min", 0), attr_real("max", most));
    c->out[0] = tflite_call2(c, "shr", c->in[0], by);
}

/* Rounds to a grid of 2^bits - 1 steps between the bounds, which is shifted so that it contains 0. */
static void fake_quant(TfliteCall *c)
{
    enum { MIN, MAX, BITS, NARROW };
    const float low = flat_float(&c->op->options, MIN, 0), high = flat_float(&c->op->options, MAX, 0);
    const int64_t bits = flat_int(&c->op->options, BITS, 4, 0);
    if (!tflite_needs(c, 1)) return;
    if (!tflite_holds(c, bits >= 2 && bits <= 16, "it has %lld bits; use 2 to 16 bits", (long long)bits)
        || !tflite_holds(c, low < high, "the range is from %g to %g; use a minimum below the maximum", (double)low,
                         (double)high))
        return;
    const float least = flat_int(&c->op->options, NARROW, 1, 0) ? 1 : 0, greatest = (float)((1 << bits) - 1),
                scale = (high - low) / (greatest - least), at = least - low / scale,
                zero = at < least ? least : at > greatest ? greatest : roundf(at),
                bottom = (least - zero) * scale, top = (greatest - zero) * scale;
    Tensor *x = tflite_call(c, "clip", c->in[0], attr_real("min", (double)bottom), attr_real("max", (double)top));
    Tensor *factor = number(c, F32, (double)(1 / scale));
    x = tflite_call2(c, "mul", tflite_call2(c, "sub", x, number(c, F32, (double)bottom)), factor);
    Tensor *number3 = number(c, F32, (double)scale);
    x = tflite_call2(c, "mul", tflite_call(c, "round", x), number3);
    c->out[0] = tflite_call2(c, "add", x, number(c, F32, (double)bottom));
}

static void extreme(TfliteCall *c, const char *op)
{
    if (tflite_needs(c, 2) && tflite_has_one_scale(c, 2)) c->out[0] = tflite_call2(c, op, c->in[0], c->in[1]);
}
static void maximum(TfliteCall *c) { extreme(c, "max"); }
static void minimum(TfliteCall *c) { extreme(c, "min"); }

/* ---- Functions of one int8 --------------------------------------------------------------------------------------- */

/* Computes the operator as a lookup in the table of its results for all int8 values. */
static Tensor *by_table(TfliteCall *c, const char *op, const Attr *attrs)
{
    int8_t every[256];
    const int64_t count = 256;
    for (int i = 0; i < 256; i++) every[i] = (int8_t)(i - 128);
    Tensor *table = call_on(c->cx, op, c->name, tensor_constant(c->cx, "all", I8, 1, &count, every), attrs);
    return tflite_call2(c, "lookup", c->in[0], table);
}

/* Returns the largest magnitude that, shifted left by `left` bits, fits m integer bits. */
static int64_t radius(int m, int left)
{
    return (int64_t)floor((double)((1 << m) - 1) * (double)((int64_t)1 << (31 - m)) / (double)((int64_t)1 << left));
}

static void curve(TfliteCall *c, const char *real, const char *fixed, int zero, float scale)
{
    enum { BITS = 4 };
    if (!tflite_needs(c, 1)) return;
    if (!tflite_is_int8(c)) {
        c->out[0] = tflite_call(c, real, c->in[0]);
        return;
    }
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    if (tflite_zero(y) != zero || tflite_scale(y) != scale)
        tflite_refuse(c, "the output's zero point is %d; use zero point %d and scale 1/%d", tflite_zero(y), zero,
                      (int)(1 / scale));
    Factor f = tflite_factor((double)tflite_scale(x) * (double)(1 << (31 - BITS)));
    int left = f.exponent > 0 ? f.exponent : 0;
    if (left > 31)
        tflite_unsupported(c, "\"%s\" has a scale of %g; use a scale below %lld", x->name, (double)tflite_scale(x),
                           1LL << BITS);
    if (ctx_failed(c->cx)) return;
    int64_t reach = radius(BITS, left);
    c->out[0] = by_table(c, fixed,
                         ATTRS(attr_int("multiplier", f.multiplier), attr_int("left", left),
                               attr_int("shift", f.exponent < 0 ? -f.exponent : 0), attr_int("zero", tflite_zero(x)),
                               attr_int("radius", reach < 256 ? reach : 256)));
}

static double sigmoid_at(double i)
{
    return scalar_apply(EXPR_SIGMOID, F64, F64, &(Scalar){ .f = i / 24 }).f * 65536;
}

/* Returns the points of sigmoid, 1/24 apart, in units of 2^-16. Each point is raised by half of the interpolation error
 * in the middle of its step. The last value is the point after the table's range, as in the reference. */
Tensor *tflite_sigmoid_points(TfliteCall *c)
{
    uint16_t point[256];
    for (int i = 0; i < 256; i++) {
        const double here = sigmoid_at(i), error = sigmoid_at(i + 0.5) - (here + sigmoid_at(i + 1)) / 2;
        point[i] = i == 255 ? UINT16_MAX : (uint16_t)(here + error / 2 + 0.5);
    }
    return tensor_constant(c->cx, "points", U16, 1, &(int64_t){ 256 }, point);
}

/* Computes a 16-bit function by its table. An input scale that is a power of two from 2^-12 to 2^(more - 12) has the
 * factor 3; other scales are converted to 1/12288. */
static void curve_int16(TfliteCall *c, const char *op, int more)
{
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    if (!tflite_has_quants(c, 1)) return;
    if (tflite_scale(y) != 1.0f / 32768)
        tflite_refuse(c, "the output's scale is %g; use a scale of 1/32768", (double)tflite_scale(y));
    double real = (double)tflite_scale(x) * 4096.0 * 3.0;
    int shift = 0;
    for (; real <= 32767.0 / 2.0 && shift <= 30; shift++) real *= 2;
    if (real > 32767)
        tflite_unsupported(c, "\"%s\" has a scale of %g; use a scale below 2.6", x->name, (double)tflite_scale(x));
    if (ctx_failed(c->cx)) return;
    int multiplier = (int)real;
    for (int left = 0; left <= more; left++)
        if (tflite_scale(x) == ldexpf(1, left - 12)) multiplier = 3 << left, shift = 0;
    c->out[0] = tflite_call2(c, op, c->in[0], tflite_sigmoid_points(c), attr_int("multiplier", multiplier),
                             attr_int("shift", shift));
}

static void logistic(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_int16(c)) curve_int16(c, "sigmoid_table", 0);
    else if (c->is_unsigned) tflite_sigmoid_uint8(c);
    else curve(c, "sigmoid", "sigmoid_fixed", -128, 1.0f / 256);
}
static void tanh_(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (tflite_is_int16(c)) curve_int16(c, "tanh_table", 1);
    else if (c->is_unsigned) tflite_tanh_uint8(c);
    else curve(c, "tanh", "tanh_fixed", 0, 1.0f / 128);
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

static void softmax_int8(TfliteCall *c, double beta)
{
    enum { BITS = 5 };
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    if (!tflite_has_quant(c, x, false) || !tflite_has_any_zero(c, y)) return;
    const bool is_wide = y->type == TFLITE_INT16;
    if (is_wide ? tflite_zero(y) != INT16_MIN || fabsf(tflite_scale(y) * 65536 - 1) > 1e-3f
                : tflite_zero(y) != -128 || tflite_scale(y) != 1.0f / 256)
        tflite_refuse(c, "the output's zero point is %d and its scale %g; use -128 and 1/256, or for INT16 -32768 and "
                      "1/65536", tflite_zero(y), (double)tflite_scale(y));
    double scale = beta * (double)tflite_scale(x) * (double)(1 << (31 - BITS)), most = 2147483647.0;
    Factor f = tflite_factor(scale < most ? scale : most);
    if (f.exponent < 0)
        tflite_refuse(c, "beta times the scale of \"%s\" is %g; use a product of at least %g", x->name,
                      beta * (double)tflite_scale(x),
                      0.5 / (double)(1 << (31 - BITS)));
    if (ctx_failed(c->cx)) return;
    int64_t reach = radius(BITS, f.exponent);
    c->out[0] = tflite_call(c, "softmax_fixed", c->in[0], attr_int("multiplier", f.multiplier),
                            attr_int("left", f.exponent), attr_int("least", reach < 256 ? -reach : -256),
                            attr_type("to", is_wide ? I16 : I8));
}

typedef float OfFloat(float x);
static float exp_of(float x) { return (float)scalar_apply(EXPR_EXP, F32, F32, &(Scalar){ .f = (double)x }).f; }
static float inverse_of(float x) { return 1.0f / (1.0f + x); }

/* Returns 513 points of a function in Q0.15; each is biased by half of the error of interpolation in the middle of its
 * step. */
static Tensor *points_of(TfliteCall *c, OfFloat *of, float least, float greatest)
{
    enum { STEPS = 512 };
    int16_t point[STEPS + 1];
    const float step = (greatest - least) / STEPS, unit = 32768;
    for (int i = 0; i <= STEPS; i++) {
        const float at = least + (float)i * step, here = roundf(of(at) * unit),
                    middle = roundf((of(least + (float)(i + 1) * step) * unit + here) / 2),
                    bias = i < STEPS ? roundf((middle - roundf(of(at + step / 2) * unit)) / 2) : 0;
        point[i] = (int16_t)fmaxf(fminf(here - bias, INT16_MAX), INT16_MIN);
    }
    return tensor_constant(c->cx, "points", I16, 1, &(int64_t){ STEPS + 1 }, point);
}

static void softmax_int16(TfliteCall *c, double beta)
{
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    if (tflite_scale(y) != 1.0f / 32768)
        tflite_refuse(c, "the output's scale is %g; use a scale of 1/32768", (double)tflite_scale(y));
    const Factor f = tflite_factor((double)tflite_scale(x) * beta / (10.0 / 65535.0));
    if (f.exponent > 14)
        tflite_unsupported(c, "beta times the scale of \"%s\" is %g; use a product below 2.5", x->name,
                           (double)tflite_scale(x) * beta);
    if (ctx_failed(c->cx)) return;
    Tensor *points = points_of(c, exp_of, -10, 0);
    Tensor *in[] = { c->in[0], points, points_of(c, inverse_of, 0, 1) };
    c->out[0] = call(c->cx, "softmax_table", c->name, in, 3,
                     ATTRS(attr_int("multiplier", f.multiplier), attr_int("left", f.exponent > 0 ? f.exponent : 0),
                           attr_int("shift", f.exponent < 0 ? -f.exponent : 0),
                           attr_flag("once", c->file->rounds_once)));
}

static void softmax(TfliteCall *c)
{
    float beta = flat_float(&c->op->options, 0, 0);
    if (!tflite_needs(c, 1)) return;
    if (c->in[0]->rank < 1) tflite_refuse(c, "the input is a scalar; use at least one dimension");
    else if (tflite_is_int8(c)) softmax_int8(c, (double)beta);
    else if (tflite_is_int16(c)) softmax_int16(c, (double)beta);
    else {
        Tensor *x = beta == 1 ? c->in[0] : tflite_call2(c, "mul", c->in[0], number(c, F32, (double)beta));
        c->out[0] = tflite_call(c, "softmax", x, attr_int("axis", -1));
    }
}

/* Translates LOG_SOFTMAX. `back` converts the logarithm of the sum to a distance from the peak: elements at this
 * distance or further give -128. */
static void log_softmax_int8(TfliteCall *c)
{
    enum { BITS = 5 };
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    if (tflite_zero(y) != 127 || tflite_scale(y) != 16.0f / 256)
        tflite_refuse(c, "the output's zero point is %d and its scale %g; use zero point 127 and scale 1/16",
                         tflite_zero(y),
                      (double)tflite_scale(y));
    double scale = (double)tflite_scale(x) * (double)(1 << (31 - BITS)), most = 2147483647.0;
    Factor f = tflite_factor(scale < most ? scale : most);
    if (f.exponent < 1 || f.exponent > 31)
        tflite_refuse(c, "the scale of \"%s\" is %g; use a scale of at least %g", x->name, (double)tflite_scale(x),
                      1 / (double)(1 << (31 - BITS)));
    if (ctx_failed(c->cx)) return;
    Factor back = tflite_factor((double)((int64_t)1 << (31 - f.exponent)) / (double)f.multiplier);
    int64_t reach = radius(BITS, f.exponent);
    c->out[0] = tflite_call(c, "log_softmax_fixed", c->in[0], attr_int("multiplier", f.multiplier),
                            attr_int("left", f.exponent), attr_int("least", reach < 256 ? -reach : -256),
                            attr_int("back", back.multiplier), attr_int("shift", -back.exponent),
                            attr_flag("once", c->file->rounds_once));
}

static void log_softmax(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (c->in[0]->rank < 1) tflite_refuse(c, "the input is a scalar; use at least one dimension");
    else if (tflite_is_int8(c)) log_softmax_int8(c);
    else c->out[0] = tflite_call(c, "log_softmax", c->in[0], attr_int("axis", -1));
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

typedef struct Axes { int64_t at[MAX_RANK]; int count; } Axes;

static bool read_axes(TfliteCall *c, Axes *axes)
{
    axes->count = tflite_needs(c, 2) ? tflite_ints(c, 1, axes->at, MAX_RANK) : -1;
    for (int i = 0; i < axes->count; i++) axes->at[i] = tflite_axis(c, axes->at[i], c->in[0]->rank);
    return axes->count >= 0 && !ctx_failed(c->cx);
}

static Tensor *reduced(TfliteCall *c, const char *op, Tensor *x, const Axes *axes)
{
    return tflite_call(c, op, x, attr_ints("axes", axes->at, axes->count),
                       attr_flag("keepdims", flat_int(&c->op->options, 0, 1, 0)));
}

/* Translates MEAN of integers. Folds the division by the count into the multiplier. */
static void mean_quantized(TfliteCall *c, const Axes *axes, int64_t count)
{
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    Factor f = tflite_factor((double)tflite_scale(x) / (double)tflite_scale(y));
    int log = 0;
    while (log < 32 && count >> (log + 1)) log++;
    if (log > 31 + f.exponent) log = 31 + f.exponent;
    f = (Factor){ (int32_t)(((int64_t)f.multiplier << log) / count), f.exponent - log };
    Tensor *sum = reduced(c, "reduce_sum", tflite_call(c, "cast", c->in[0], attr_type("to", I32)), axes);
    int64_t zeros = tflite_zero(x) * count;
    if (zeros) sum = tflite_call2(c, "sub", sum, number(c, I32, (double)zeros));
    c->out[0] = tflite_rescale(c, sum, f, (Rescaling){ .zero = tflite_zero(y), .to = c->in[0]->type });
}

/* Counts the elements of a reduction; for int8 the count is a constant of the formula. */
static bool count_elements(TfliteCall *c, const Axes *axes, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < axes->count; i++) {
        const int64_t size = tensor_dim(c->in[0], (int)axes->at[i]);
        if (size < 0 && tflite_is_quantized(c))
            tflite_unsupported(c, "integers are reduced over axis %lld of %s, which is open; use an axis of fixed size",
                               (long long)axes->at[i], tensor_shape_text(c->cx, c->in[0]));
        *count *= size;
    }
    return !ctx_failed(c->cx);
}

/* Returns the number of elements of a reduction that the run decides, or NULL if the run decides none. */
static Tensor *decided_count(TfliteCall *c, const Axes *axes, DType type)
{
    const Expr *count = expr_index(c->cx, 1);
    for (int i = 0; i < axes->count; i++)
        count = simplify(c->cx, expr_mul(c->cx, count, c->in[0]->shape[axes->at[i]]), NULL);
    return size_is_decided(c->cx, count) ? tflite_dim_value(c, count, type) : NULL;
}

/* Replaces the infinite result of reduce_max and reduce_min over no elements by the reference's largest or smallest
 * finite number. */
static Tensor *finite_over_none(TfliteCall *c, Tensor *y, const Axes *axes, double over_none)
{
    Tensor *count = y && dtype_is_float(y->type) ? decided_count(c, axes, I64) : NULL;
    if (!count) return y;
    Tensor *is_none = tflite_call2(c, "equal", count, number(c, I64, 0));
    return tflite_select(c, is_none, number(c, y->type, over_none), y);
}

static void mean(TfliteCall *c)
{
    Axes axes;
    int64_t count;
    if (!read_axes(c, &axes)) return;
    if (!axes.count) {
        c->out[0] = c->in[0];
        return;
    }
    if (!count_elements(c, &axes, &count)) return;
    Tensor *elements = decided_count(c, &axes, c->in[0]->type);
    if (tflite_is_quantized(c) && count > 0) mean_quantized(c, &axes, count);
    else if (elements) c->out[0] = tflite_call2(c, "div", reduced(c, "reduce_sum", c->in[0], &axes), elements);
    else c->out[0] = reduced(c, "reduce_mean", c->in[0], &axes);
}

static void sum(TfliteCall *c)
{
    Axes axes;
    int64_t count;
    if (!read_axes(c, &axes)) return;
    if (!axes.count) c->out[0] = c->in[0];
    if (!count_elements(c, &axes, &count)) return;
    if (!tflite_is_quantized(c)) {
        if (axes.count) c->out[0] = reduced(c, "reduce_sum", c->in[0], &axes);
        return;
    }
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    Tensor *s = tflite_call(c, "cast", c->in[0], attr_type("to", I32));
    if (axes.count) s = reduced(c, "reduce_sum", s, &axes);
    if (tflite_zero(x)) s = tflite_call2(c, "sub", s, number(c, I32, (double)(tflite_zero(x) * count)));
    c->out[0] = tflite_rescale(c, s, tflite_factor((double)tflite_scale(x) / (double)tflite_scale(y)),
                               (Rescaling){ .zero = tflite_zero(y), .to = c->in[0]->type });
}

static void reduce(TfliteCall *c, const char *op, double over_none)
{
    Axes axes;
    if (!read_axes(c, &axes) || !tflite_has_one_scale(c, 1)) return;
    c->out[0] = axes.count ? reduced(c, op, c->in[0], &axes) : c->in[0];
    if (over_none != 0) c->out[0] = finite_over_none(c, c->out[0], &axes, over_none);
}
static void reduce_max(TfliteCall *c) { reduce(c, "reduce_max", -FLT_MAX); }
static void reduce_min(TfliteCall *c) { reduce(c, "reduce_min", FLT_MAX); }
/* Translates REDUCE_PROD of integers. The reference scales each of the `count` products by scale_x / scale_y^(1/count),
 * with the factors of 64-bit sums. */
static void prod_quantized(TfliteCall *c, const Axes *axes, int64_t count)
{
    WideFactor f;
    if (!tflite_has_quants(c, 1)) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    const Scalar root = scalar_apply(EXPR_POW, F64, F64, (const Scalar[]){ { .f = (double)tflite_scale(y) },
                                                                           { .f = 1.0 / (double)count } });
    if (!tflite_wide_factor(c, (double)tflite_scale(x) / root.f, &f)) return;
    const Attr multiplier = attr_int("multiplier", f.multiplier), shift = attr_int("shift", f.shift),
               zero = attr_int("zero", tflite_zero(y));
    c->out[0] = axes->count
        ? tflite_call(c, "prod_fixed", c->in[0], attr_ints("axes", axes->at, axes->count),
                      attr_flag("keepdims", flat_int(&c->op->options, 0, 1, 0)), multiplier, shift,
                      attr_int("zero_x", tflite_zero(x)), zero)
        : tflite_call(c, "rescale_wide", tflite_difference(c, 0), multiplier, shift, zero,
                      attr_type("to", c->in[0]->type));
}

static void reduce_prod(TfliteCall *c)
{
    Axes axes;
    int64_t count;
    if (!tflite_is_quantized(c)) reduce(c, "reduce_prod", 0);
    else if (read_axes(c, &axes) && count_elements(c, &axes, &count)) prod_quantized(c, &axes, count);
}
static void reduce_any(TfliteCall *c) { reduce(c, "reduce_any", 0); }
static void reduce_all(TfliteCall *c) { reduce(c, "reduce_all", 0); }

static void arg(TfliteCall *c, const char *op)
{
    int64_t axis;
    if (!tflite_needs(c, 2) || tflite_ints(c, 1, &axis, 1) != 1) return;
    int d = tflite_axis(c, axis, c->in[0]->rank);
    DType to = I32;
    if (d < 0 || !tflite_dtype(tflite_out_info(c, 0)->type, &to) || !tflite_has_elements(c, 0, d)) return;
    c->out[0] = tflite_call(c, "cast", tflite_call(c, op, c->in[0], attr_int("axis", d)), attr_type("to", to));
}
static void arg_max(TfliteCall *c) { arg(c, "argmax"); }
static void arg_min(TfliteCall *c) { arg(c, "argmin"); }

/* Rounds to nearest, ties to even. Values that round up to 0 give +0, as in the reference, which uses floor. */
static void round_(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    Tensor *x = c->in[0], *zero = number(c, F32, 0),
           *y = tflite_call2(c, "add", tflite_call(c, "nearbyint", x), zero),
           *is_zero = tflite_call2(c, "equal", x, zero);
    if (y && is_zero) c->out[0] = tflite_select(c, is_zero, x, y);
}

/* ---- Quantize and dequantize ------------------------------------------------------------------------------------- */

static void quantize(TfliteCall *c)
{
    if (!tflite_needs(c, 1) || !tflite_has_any_zero(c, tflite_out_info(c, 0))) return;
    const TfliteTensor *x = tflite_in_info(c, 0), *y = tflite_out_info(c, 0);
    DType to;
    if (!tflite_dtype(y->type, &to) || (to != I8 && to != U8 && to != I16 && (to != I32 || c->in[0]->type == F32)))
        tflite_unsupported(c, "it has an output of type %s; use INT8, UINT8, INT16, or INT32 from integers",
                           tflite_type_text(c->cx, y->type));
    if (ctx_failed(c->cx)) return;
    if (c->in[0]->type != F32) {
        if (!tflite_has_any_zero(c, x)) return;
        Factor f = tflite_factor((double)tflite_scale(x) / (double)tflite_scale(y));
        c->out[0] = tflite_rescale(c, c->in[0], f,
                                   (Rescaling){ .zero_x = tflite_zero(x), .zero = tflite_zero(y), .to = to });
        return;
    }
    Tensor *q = tflite_call(c, "round", tflite_call2(c, "div", c->in[0], number(c, F32, (double)tflite_scale(y))));
    Tensor *factor = number(c, I32, tflite_zero(y));
    q = tflite_call2(c, "add", tflite_call(c, "cast", q, attr_type("to", I32)), factor);
    q = tflite_call(c, "clip", q, attr_real("min", (double)dtype_info(to)->least),
                    attr_real("max", (double)dtype_info(to)->greatest));
    c->out[0] = tflite_call(c, "cast", q, attr_type("to", to));
}

static void dequantize(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    c->out[0] = c->in[0]->type == F16 ? tflite_call(c, "cast", c->in[0], attr_type("to", F32)) : tflite_real(c, 0);
}

#define UNARY(code, name, newest, op) { code, name, newest, 0, OF_F32, 1, op, NULL, TFLITE_KEEPS_NONE }

const TfliteRow tflite_rows_math[] = {
    { 0, "ADD", 5, OPTIONS_ADD, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 2, NULL, add, TFLITE_KEEPS_ALL },
    { 18, "MUL", 7, OPTIONS_MUL, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 2, NULL, mul, TFLITE_KEEPS_ALL },
    { 41, "SUB", 5, OPTIONS_SUB, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 2, NULL, sub, TFLITE_KEEPS_ALL },
    { 55, "MAXIMUM", 4, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 2, NULL, maximum, TFLITE_KEEPS_ALL },
    { 57, "MINIMUM", 4, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 2, NULL, minimum, TFLITE_KEEPS_ALL },
    { 80, "FAKE_QUANT", 2, OPTIONS_FAKE_QUANT, OF_F32, 1, NULL, fake_quant, TFLITE_KEEPS_ALL },
    { 106, "ADD_N", 2, OPTIONS_ADD_N, OF_F32 | OF_I8 | OF_WHOLE, 64, NULL, add_n, TFLITE_KEEPS_ALL },
    { 156, "ATAN2", 1, 0, OF_F32, 2, "atan2", NULL, TFLITE_KEEPS_NONE },
    { 158, "SIGN", 2, 0, OF_F32 | OF_WHOLE, 1, "sign", NULL, TFLITE_KEEPS_NONE },
    { 159, "BITCAST", 1, OPTIONS_BITCAST, OF_ALL | OF_U32 | OF_U64, 1, NULL, bitcast, TFLITE_KEEPS_ALL },
    { 160, "BITWISE_XOR", 1, 0, OF_BYTES | OF_I16 | OF_I32 | OF_U32, 2, "bitxor", NULL, TFLITE_KEEPS_NONE },
    { 161, "RIGHT_SHIFT", 1, 0, OF_BYTES | OF_I16 | OF_I32 | OF_U32, 2, NULL, right_shift, TFLITE_KEEPS_NONE },
    { 90, "FLOOR_DIV", 2, 0, OF_F32 | OF_WHOLE | OF_I8 | OF_I16, 2, "floor_div", NULL, TFLITE_KEEPS_NONE },
    { 99, "SQUARED_DIFFERENCE", 3, 0, OF_F32 | OF_I8 | OF_I16 | OF_WHOLE, 2, NULL, squared_difference,
      TFLITE_KEEPS_ALL },
    { 14, "LOGISTIC", 4, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, logistic, TFLITE_KEEPS_ALL },
    { 28, "TANH", 4, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, tanh_, TFLITE_KEEPS_ALL },
    { 25, "SOFTMAX", 3, OPTIONS_SOFTMAX, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, softmax, TFLITE_KEEPS_ALL },
    { 40, "MEAN", 3, OPTIONS_REDUCER, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, mean, TFLITE_KEEPS_FIRST },
    { 50, "LOG_SOFTMAX", 2, 0, OF_F32 | OF_I8 | AS_INT8, 1, NULL, log_softmax, TFLITE_KEEPS_ALL },
    { 56, "ARG_MAX", 3, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_I32 | OF_BOOL, 1, NULL, arg_max, TFLITE_KEEPS_FIRST },
    { 79, "ARG_MIN", 3, 0, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_I32 | OF_BOOL, 1, NULL, arg_min, TFLITE_KEEPS_FIRST },
    { 74, "SUM", 3, OPTIONS_REDUCER, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 1, NULL, sum, TFLITE_KEEPS_FIRST },
    { 81, "REDUCE_PROD", 2, OPTIONS_REDUCER, OF_F32 | OF_I8 | OF_I16 | OF_WHOLE, 1, NULL, reduce_prod,
      TFLITE_KEEPS_FIRST },
    { 91, "REDUCE_ANY", 2, OPTIONS_REDUCER, OF_BOOL, 1, NULL, reduce_any, TFLITE_KEEPS_FIRST },
    { 140, "REDUCE_ALL", 1, OPTIONS_REDUCER, OF_BOOL, 1, NULL, reduce_all, TFLITE_KEEPS_FIRST },
    { 82, "REDUCE_MAX", 3, OPTIONS_REDUCER, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 1, NULL, reduce_max,
      TFLITE_KEEPS_FIRST },
    { 89, "REDUCE_MIN", 3, OPTIONS_REDUCER, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | OF_WHOLE, 1, NULL, reduce_min,
      TFLITE_KEEPS_FIRST },
    { 114, "QUANTIZE", 3, 0, OF_F32 | OF_BYTES | OF_I16 | OF_I32, 1, NULL, quantize, TFLITE_KEEPS_ALL },
    { 116, "ROUND", 1, 0, OF_F32, 1, NULL, round_, TFLITE_KEEPS_ALL },
    { 6, "DEQUANTIZE", 6, 0, OF_BYTES | OF_I16 | OF_F16, 1, NULL, dequantize, TFLITE_KEEPS_ALL },
    UNARY(8, "FLOOR", 1, "floor"),
    { 59, "NEG", 2, 0, OF_F32 | OF_WHOLE, 1, "neg", NULL, TFLITE_KEEPS_NONE },
    UNARY(66, "SIN", 1, "sin"),
    UNARY(92, "SQUARE", 1, "square"),
    UNARY(104, "CEIL", 1, "ceil"),
    UNARY(108, "COS", 1, "cos"),
    { 0 }
};
