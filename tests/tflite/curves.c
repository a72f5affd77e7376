/* SPDX-License-Identifier: MIT */
/* Functions of one element, and softmax and the norm, which are functions of a row. */
#include "case.h"

#include <math.h>

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* Of int8, one in five is all of it. */
static void make_one(Case *c, Random *r, ElementType t, double least, double greatest)
{
    bool has_all = t == TYPE_I8 && chance(r, 20);
    int dim[MOST_DIMS] = { 256 }, rank = has_all ? 1 : shape_any(r, 1, 4, 6, dim);
    Operand *x = add_input(c, t, rank, dim), *y = add_output(c, t, rank, dim);
    if (t == TYPE_F32) {
        fill_real(r, x, least, greatest);
        return;
    }
    fill_any(r, x);
    for (int i = 0; i < 256 && has_all; i++) x->v[i] = i - 128;
    quant_any(r, x);
    quant_any(r, y);
}

static void make_any(Case *c, Random *r, int number) { make_one(c, r, number % 4 == 3 ? TYPE_F32 : TYPE_I8, -8, 8); }
static void make_real(Case *c, Random *r, int number) { (void)number; make_one(c, r, TYPE_F32, -20, 20); }
static void make_positive_real(Case *c, Random *r, int number) { (void)number; make_one(c, r, TYPE_F32, 0.01, 60); }

static void make_same(Case *c, Random *r, int number)
{
    make_any(c, r, number);
    copy_quant(&c->out[0], &c->in[0]);
}

static void make_coarse(Case *c, Random *r, int number, float scale, int zero)
{
    make_any(c, r, number);
    if (c->in[0].type != TYPE_I8) return;
    c->in[0].scale[0] = scale_between(r, 0.005, 0.4);
    if (scale > 0) quant_set(&c->out[0], scale, zero);
}
static void make_logistic(Case *c, Random *r, int number) { make_coarse(c, r, number, 1.0f / 256, -128); }
static void make_tanh(Case *c, Random *r, int number) { make_coarse(c, r, number, 1.0f / 128, 0); }
static void make_elu(Case *c, Random *r, int number) { make_coarse(c, r, number, 0, 0); }
static void make_swish(Case *c, Random *r, int number)
{
    make_coarse(c, r, number, 0, 0);
    /* Finer ones the reference refuses */
    if (c->in[0].type == TYPE_I8 && c->out[0].scale[0] < c->in[0].scale[0] / 100)
        c->out[0].scale[0] = c->in[0].scale[0] / 100;
}
static void make_leaky(Case *c, Random *r, int number)
{
    make_any(c, r, number);
    c->field[0] = (double)(float)(between(r, 1, 90) / 100.0);
}

static void make_table(Case *c, Random *r, int number)
{
    (void)number;
    make_one(c, r, TYPE_I8, 0, 0);
    c->in[0].scale[0] = scale_between(r, 0.005, 0.05);
}
/* Without negative numbers, of which there is no root. */
static void make_root(Case *c, Random *r, int number)
{
    make_table(c, r, number);
    for (int i = 0; i < elements(&c->in[0]); i++) c->in[0].v[i] = between(r, c->in[0].zero, 127);
}
/* Far below 0, the form with 1 + erf loses digits. */
static void make_gelu(Case *c, Random *r, int number)
{
    make_one(c, r, number % 3 ? TYPE_I8 : TYPE_F32, -1, 8);
    c->field[0] = number % 2;
    if (c->in[0].type == TYPE_I8) c->in[0].scale[0] = scale_between(r, 0.005, 0.1);
}

/* No root of values below the zero point: the reference refuses it. */
static void make_rsqrt(Case *c, Random *r, int number)
{
    if (number % 4 == 3) {
        make_one(c, r, TYPE_F32, 0.01, 60);
        return;
    }
    make_one(c, r, TYPE_I8, 0, 0);
    Operand *x = &c->in[0];
    for (int i = 0; i < elements(x); i++) x->v[i] = between(r, x->zero, 127);
}

static void make_rsqrt16(Case *c, Random *r, int number)
{
    (void)number;
    make_one(c, r, TYPE_I8, 0, 0);
    make_sixteen(c, r);
    Operand *x = &c->in[0];
    for (int i = 0; i < elements(x); i++) x->v[i] = chance(r, 20) ? between(r, 0, 4) : between(r, 0, 32767);
}

/* ---- One element ------------------------------------------------------------------------------------------------- */

typedef double OfReal(const Case *c, float x);
/* Of the stored value minus the zero point; to be limited to int8 */
typedef int64_t OfStored(const Case *c, int32_t difference);

static void each(Case *c, OfReal *real, OfStored *whole)
{
    const Operand *x = &c->in[0];
    for (int i = 0; i < elements(x); i++)
        c->out[0].v[i] = is_stored(x) ? stored_as(&c->out[0], whole(c, (int32_t)x->v[i] - x->zero))
                                      : (double)(float)real(c, (float)x->v[i]);
}

static int64_t rescaled(const Case *c, int32_t d, double factor)
{
    return (int64_t)scaled(d, reference_scaling(factor)) + c->out[0].zero;
}
static double ratio(const Case *c) { return (double)c->in[0].scale[0] / (double)c->out[0].scale[0]; }

static double abs_real(const Case *c, float x) { (void)c; return fabs((double)x); }
static int64_t abs_whole(const Case *c, int32_t d)
{
    int32_t size = d < 0 ? -d : d;
    return c->in[0].scale[0] == c->out[0].scale[0] ? (int64_t)size + c->out[0].zero : rescaled(c, size, ratio(c));
}

static double relu_real(const Case *c, float x) { (void)c; return (double)activate(x, 1); }
static int64_t relu_whole(const Case *c, int32_t d)
{
    int64_t v = rescaled(c, d, ratio(c));
    return v < c->out[0].zero ? c->out[0].zero : v;
}

static double relu6_real(const Case *c, float x) { (void)c; return (double)activate(x, 3); }
static int64_t relu6_whole(const Case *c, int32_t d)
{
    int64_t zero = c->in[0].zero, six = zero + (int64_t)roundf(6.0f / c->in[0].scale[0]), q = d + zero;
    return q > limit(six, INT8_MIN, INT8_MAX) ? limit(six, INT8_MIN, INT8_MAX) : q < zero ? zero : q;
}

static double leaky_real(const Case *c, float x) { return x > 0 ? (double)x : (double)(x * (float)c->field[0]); }
static int64_t leaky_whole(const Case *c, int32_t d)
{
    return rescaled(c, d, d >= 0 ? ratio(c) : ratio(c) * (double)(float)c->field[0]);
}

static double elu_real(const Case *c, float x) { (void)c; return x < 0 ? expm1((double)x) : (double)x; }
static int64_t elu_whole(const Case *c, int32_t d)
{
    float x = c->in[0].scale[0] * (float)d, v = x < 0 ? (float)exp((double)x) - 1.0f : x;
    return (int64_t)(roundf(v * (1 / c->out[0].scale[0])) + (float)c->out[0].zero);
}

static double rsqrt_real(const Case *c, float x) { (void)c; return (double)(1.0f / sqrtf(x)); }
static int64_t rsqrt_whole(const Case *c, int32_t d)
{
    enum { MORE = 20 };
    if (d == 0) return c->out[0].type == TYPE_I16 ? INT16_MAX : INT8_MAX;
    Scaling root = inverse_root(d),
            out = reference_scaling(1.0 / (sqrt((double)c->in[0].scale[0]) * (double)c->out[0].scale[0]));
    int32_t fine = scaled(1, (Scaling){ root.multiplier, root.exponent + MORE });
    return (int64_t)scaled(fine, (Scaling){ out.multiplier, out.exponent - MORE }) + c->out[0].zero;
}

static double swish_real(const Case *c, float x)
{
    float three = x + 3.0f;
    (void)c;
    return (double)(x * (three < 0 ? 0 : three > 6 ? 6 : three) / 6.0f);
}

/* In 16 bits: x times relu6(x + 3) / 6, the latter in units of 3 / 2^15. */
static int64_t in_16(int64_t a) { return limit(a, INT16_MIN, INT16_MAX); }
static int64_t high_16(int64_t a, int64_t b) { return in_16(floor_divide(a * b + (1 << 14), 1 << 15)); }
static int64_t short_multiplier(Scaling s) { return in_16(floor_divide((int64_t)s.multiplier + (1 << 15), 1 << 16)); }
static int64_t swish_whole(const Case *c, int32_t d)
{
    const float fine = (1.0f / 128.0f) * c->in[0].scale[0];
    Scaling out = reference_scaling((double)(fine / c->out[0].scale[0])),
            bend = reference_scaling((double)(fine / (3.0f / 32768.0f)));
    int64_t x = (int64_t)d * 128, ready = high_16(x, short_multiplier(out)), b = x;
    if (bend.exponent > 0) b = in_16(b * ((int64_t)1 << (bend.exponent - 1)));
    b = high_16(b, short_multiplier(bend));
    if (bend.exponent > 0) b = in_16(b * 2);
    if (bend.exponent < 0) b = halve_often((int32_t)b, -bend.exponent);
    b = floor_divide(b + (1 << 15), 2);
    return halve_often((int32_t)(b * ready / (1 << 15)), -out.exponent) + c->out[0].zero;
}

/* How far from 0 an input may be to have at most `bits` bits before the point. */
static int64_t radius(int bits, int left)
{
    return floor_divide((((int64_t)1 << bits) - 1) * ((int64_t)1 << (31 - bits)), (int64_t)1 << (left < 0    ? 0
                                                                                                 : left > 62 ? 62
                                                                                                             : left));
}

enum { CURVE_BITS = 4 };
static double logistic_real(const Case *c, float x) { (void)c; return 1 / (1 + exp(-(double)x)); }
static int64_t logistic_whole(const Case *c, int32_t d)
{
    Scaling s = reference_scaling((double)c->in[0].scale[0] * (double)(1 << (31 - CURVE_BITS)));
    int64_t far = radius(CURVE_BITS, s.exponent);
    if (d <= -far) return INT8_MIN;
    if (d >= far) return INT8_MAX;
    int32_t x = scaled(d, s), up = one_over_one_plus(exp_of_negative(x < 0 ? x : -x, CURVE_BITS));
    return halve_often(x == 0 ? 1 << 30 : x > 0 ? up : INT32_MAX - up, 31 - 8) - 128;
}

static double tanh_real(const Case *c, float x) { (void)c; return tanh((double)x); }
static int64_t tanh_whole(const Case *c, int32_t d)
{
    Scaling s = reference_scaling((double)c->in[0].scale[0] * (double)(1 << (31 - CURVE_BITS)));
    int64_t far = radius(CURVE_BITS, s.exponent);
    if (d <= -far) return INT8_MIN;
    if (d >= far) return INT8_MAX;
    int32_t x = scaled(d, s), up = one_minus_over_one_plus(exp_of_negative(x < 0 ? x : -x, CURVE_BITS + 1));
    return halve_often(x == 0 ? 0 : x < 0 ? -up : up, 31 - 7);
}

static double neg_real(const Case *c, float x) { (void)c; return (double)-x; }
static double sqrt_real(const Case *c, float x) { (void)c; return (double)sqrtf(x); }
static double square_real(const Case *c, float x) { (void)c; return (double)(x * x); }
static double floor_real(const Case *c, float x) { (void)c; return (double)floorf(x); }
static double ceil_real(const Case *c, float x) { (void)c; return (double)ceilf(x); }
static double round_real(const Case *c, float x)      /* ties to even */
{
    float low = floorf(x), part = x - low;
    (void)c;
    return (double)(part < 0.5f ? low : part > 0.5f ? low + 1 : fmodf(low, 2) == 0 ? low : low + 1);
}
static double exp_real(const Case *c, float x) { (void)c; return exp((double)x); }
static double log_real(const Case *c, float x) { (void)c; return log((double)x); }
/* A table in floats. */
static int64_t table_of(const Case *c, float v)
{
    float whole = roundf(v * (1 / c->out[0].scale[0])) + (float)c->out[0].zero;
    return whole > INT8_MAX ? INT8_MAX : whole < INT8_MIN ? INT8_MIN : (int64_t)whole;
}
static float real_of(const Case *c, int32_t d) { return c->in[0].scale[0] * (float)d; }
static int64_t exp_whole(const Case *c, int32_t d) { return table_of(c, (float)exp((double)real_of(c, d))); }
static int64_t sqrt_whole(const Case *c, int32_t d)              /* truncated */
{
    return (int64_t)floorf(sqrtf(real_of(c, d)) / c->out[0].scale[0]) + c->out[0].zero;
}
static int64_t log_whole(const Case *c, int32_t d)
{
    return d > 0 ? table_of(c, (float)log((double)real_of(c, d))) : INT8_MIN;
}
static double gelu_real(const Case *c, float x)
{
    const double v = (double)x;
    return c->field[0] != 0 ? 0.5 * v * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
                            : 0.5 * v * erfc(-v * 0.7071067811865476);
}
static int64_t gelu_whole(const Case *c, int32_t d) { return table_of(c, (float)gelu_real(c, real_of(c, d))); }

static double sin_real(const Case *c, float x) { (void)c; return sin((double)x); }
static double cos_real(const Case *c, float x) { (void)c; return cos((double)x); }
static double unit_real(const Case *c, float x) { (void)c; return (double)activate(x, 2); }

#define REFERENCE(name, real, whole) static void name##_reference(Case *c) { each(c, real, whole); }
REFERENCE(abs, abs_real, abs_whole)
REFERENCE(relu, relu_real, relu_whole)
REFERENCE(relu6, relu6_real, relu6_whole)
REFERENCE(leaky, leaky_real, leaky_whole)
REFERENCE(elu, elu_real, elu_whole)
REFERENCE(rsqrt, rsqrt_real, rsqrt_whole)
REFERENCE(swish, swish_real, swish_whole)
REFERENCE(logistic, logistic_real, logistic_whole)
REFERENCE(tanh, tanh_real, tanh_whole)
REFERENCE(neg, neg_real, NULL)
REFERENCE(sqrt, sqrt_real, NULL)
REFERENCE(square, square_real, NULL)
REFERENCE(floor, floor_real, NULL)
REFERENCE(ceil, ceil_real, NULL)
REFERENCE(round, round_real, NULL)
REFERENCE(exp, exp_real, NULL)
REFERENCE(log, log_real, NULL)
REFERENCE(exp_int8, exp_real, exp_whole)
REFERENCE(sqrt_int8, sqrt_real, sqrt_whole)
REFERENCE(log_int8, log_real, log_whole)
REFERENCE(gelu, gelu_real, gelu_whole)
REFERENCE(sin, sin_real, NULL)
REFERENCE(cos, cos_real, NULL)
REFERENCE(unit, unit_real, NULL)

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void make_softmax(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    ElementType t = number % 4 == 3 ? TYPE_F32 : TYPE_I8;
    dim[rank - 1] = between(r, 1, 12);
    Operand *x = add_input(c, t, rank, dim), *y = add_output(c, t, rank, dim);
    c->field[0] = 1;
    if (t == TYPE_F32) {
        fill_real(r, x, -6, 6);
        return;
    }
    fill_any(r, x);
    quant_set(x, scale_between(r, 0.005, 0.6), between(r, -128, 127));
    quant_set(y, 1.0f / 256, -128);
}

static void softmax_of_reals(const double *x, double *y, int count)
{
    float most = (float)x[0], sum = 0;
    for (int i = 1; i < count; i++) most = (float)x[i] > most ? (float)x[i] : most;
    for (int i = 0; i < count; i++) {
        float power = (float)exp((double)((float)x[i] - most));
        y[i] = (double)power;
        sum += power;
    }
    for (int i = 0; i < count; i++) y[i] = (double)((float)y[i] / sum);
}

/* Powers of differences to the greatest, those that have at most 5 bits before the point; their sum has 12. */
static void softmax_of_stored(const double *x, double *y, int count, double scale)
{
    enum { BITS = 5, SUM_BITS = 12 };
    double real = scale * (double)(1 << (31 - BITS)), most_real = 2147483647.0;
    Scaling s = reference_scaling(real < most_real ? real : most_real);
    int64_t far = radius(BITS, s.exponent);
    int32_t most = INT8_MIN, sum = 0, power[64];
    int over;
    for (int i = 0; i < count; i++) most = (int32_t)x[i] > most ? (int32_t)x[i] : most;
    for (int i = 0; i < count; i++) {
        int32_t d = (int32_t)x[i] - most;
        power[i] = d >= -far ? exp_of_negative(scaled(d, s), BITS) : -1;
        if (power[i] >= 0) sum += halve_often(power[i], SUM_BITS);
    }
    int32_t inverse = reciprocal(sum, SUM_BITS, &over);
    for (int i = 0; i < count; i++)
        y[i] = power[i] < 0 ? INT8_MIN
                            : stored((int64_t)halve_often(high_product(inverse, power[i]), over + 31 - 8) - 128);
}

static void softmax_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int count = x->dim[x->rank - 1];
    for (int i = 0; i < elements(x); i += count) {
        if (x->type == TYPE_F32) softmax_of_reals(x->v + i, c->out[0].v + i, count);
        else softmax_of_stored(x->v + i, c->out[0].v + i, count, c->field[0] * (double)x->scale[0]);
    }
}

static void make_log_softmax(Case *c, Random *r, int number)
{
    make_softmax(c, r, number);
    if (c->in[0].type == TYPE_F32) fill_real(r, &c->in[0], -1, 1);
    else quant_set(&c->out[0], 16.0f / 256, 127);
}

static void log_softmax_of_stored(const double *x, double *y, int count, double scale)
{
    enum { BITS = 5, SUM_BITS = 12 };
    double real = scale * (double)(1 << (31 - BITS)), most_real = 2147483647.0;
    Scaling s = reference_scaling(real < most_real ? real : most_real),
            back = reference_scaling((double)((int64_t)1 << (31 - s.exponent)) / (double)s.multiplier);
    int64_t far = radius(BITS, s.exponent);
    int32_t most = INT8_MIN, sum = 0;
    for (int i = 0; i < count; i++) most = (int32_t)x[i] > most ? (int32_t)x[i] : most;
    for (int i = 0; i < count; i++) {
        int32_t d = (int32_t)x[i] - most;
        if (d >= -far) sum += halve_often(exp_of_negative(scaled(d, s), BITS), SUM_BITS);
    }
    int32_t log = log_of_one_and_more(sum), least = scaled(wrap((int64_t)log + INT32_MIN), back);
    if (least < -far - 1) least = (int32_t)(-far - 1);
    for (int i = 0; i < count; i++) {
        int32_t d = (int32_t)x[i] - most;
        y[i] = d <= least ? INT8_MIN : stored((int64_t)halve_often(wrap((int64_t)scaled(d, s) - log), 22) + 127);
    }
}

static void log_softmax_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int count = x->dim[x->rank - 1];
    for (int i = 0; i < elements(x); i += count) {
        double most = x->v[i], sum = 0;
        if (x->type != TYPE_F32) {
            log_softmax_of_stored(x->v + i, c->out[0].v + i, count, (double)x->scale[0]);
            continue;
        }
        for (int k = 0; k < count; k++) most = x->v[i + k] > most ? x->v[i + k] : most;
        for (int k = 0; k < count; k++) sum += exp(x->v[i + k] - most);
        for (int k = 0; k < count; k++) c->out[0].v[i + k] = (double)(float)(x->v[i + k] - most - log(sum));
    }
}

/* ---- 16 bits ----------------------------------------------------------------------------------------------------- */

static void make_curve16(Case *c, Random *r, int number)
{
    make_any(c, r, number % 3);
    make_sixteen(c, r);
    const float any = scale_between(r, 1e-5, 0.01);
    quant_set(&c->in[0], number % 4 == 0 ? 1.0f / 4096 : number % 4 == 1 ? 1.0f / 2048 : any, 0);
    quant_set(&c->out[0], 1.0f / 32768, 0);
}

/* A point of the table: sigmoid(i/24) as a fraction of 2^16, and half of what a chord lacks in its middle. The last of
 * the 256 points is 65535 in the reference's table. */
static double sigmoid_of(double i) { return 65536 / (1 + exp(-i / 24)); }
static int64_t point_of(int64_t i)
{
    double v = sigmoid_of((double)i), lack = sigmoid_of((double)i + 0.5) - (v + sigmoid_of((double)i + 1)) / 2;
    return i == 255 ? 65535 : (int64_t)floor(v + lack / 2 + 0.5);
}

/* The input in units of 1/12288, where `more` is how many more bits the exact powers of two have. */
static int64_t fine_input(const Case *c, double q, int more)
{
    double real = (double)c->in[0].scale[0] * 4096 * 3;
    int shift = 0, power = 0;
    for (; power <= more; power++)
        if (c->in[0].scale[0] == ldexpf(1, power - 12)) return (int64_t)q * (3 * ((int64_t)1 << power));
    for (; real <= 32767.0 / 2; shift++) real *= 2;
    return floor_divide((int64_t)q * (int64_t)real + (shift ? (int64_t)1 << (shift - 1) : 0), (int64_t)1 << shift);
}

/* Sigmoid, in units of 2^-(16 + bits), of |d| / (24 * 2^bits). */
static int64_t between_points(int64_t d, int bits, int64_t saturated)
{
    int64_t unit = (int64_t)1 << bits, size = d < 0 ? -d : d, i = size / unit, part = size % unit;
    return i >= 255 ? saturated : point_of(i) * unit + part * (point_of(i + 1) - point_of(i));
}

static void logistic16_reference(Case *c)
{
    for (int i = 0; i < elements(&c->in[0]); i++) {
        int64_t d = fine_input(c, c->in[0].v[i], 0), v = between_points(d, 9, (int64_t)0x7fff << 10);
        c->out[0].v[i] = (double)floor_divide(d >= 0 ? v + 512 : ((int64_t)1 << 25) - v + 511, 1 << 10);
    }
}

static void tanh16_reference(Case *c)
{
    for (int i = 0; i < elements(&c->in[0]); i++) {
        int64_t d = fine_input(c, c->in[0].v[i], 1), v = between_points(d, 8, (int64_t)0xffff << 8), one = 1 << 23;
        c->out[0].v[i] = (double)floor_divide(d >= 0 ? v - one + 128 : one - v + 127, 1 << 8);
    }
}

static void make_softmax16(Case *c, Random *r, int number)
{
    make_softmax(c, r, number % 3);
    make_sixteen(c, r);
    quant_set(&c->in[0], scale_between(r, 1e-5, 0.01), 0);
    quant_set(&c->out[0], 1.0f / 32768, 0);
}

/* A table of 513 16-bit points: `of` on [least, most], in `unit`. */
typedef struct Points {
    const Case *c;
    float (*of)(const Case *c, float x);
    float least, most, unit;
} Points;

/* Point i, biased by half of the error in the middle of the step behind it. */
static int64_t biased_point(const Points *p, int i)
{
    const float step = (p->most - p->least) / 512, at = i < 512 ? p->least + (float)i * step : p->most,
                v = roundf(p->of(p->c, at) * p->unit),
                middle = roundf((p->of(p->c, p->least + (float)(i + 1) * step) * p->unit + v) / 2),
                bias = i < 512 ? roundf((middle - roundf(p->of(p->c, at + step / 2) * p->unit)) / 2) : 0;
    return (int64_t)fmaxf(fminf(v - bias, INT16_MAX), INT16_MIN);
}

static int64_t wrapped(int64_t v) { return (v + 32768 - floor_divide(v + 32768, 65536) * 65536) - 32768; }

/* Slopes and results have 16 bits and wrap. */
static int64_t of_points(const Points *p, int64_t q)
{
    const int64_t at = limit(q, INT16_MIN, INT16_MAX) + 32768, low = biased_point(p, (int)(at / 128)),
                  slope = wrapped(biased_point(p, (int)(at / 128) + 1) - low);
    return wrapped(low + floor_divide(slope * (at % 128) + 64, 128));
}

static float minus_exp(const Case *c, float x) { (void)c; return (float)exp((double)x); }
static float one_over(const Case *c, float x) { (void)c; return 1.0f / (1.0f + x); }
static float least_of(const Operand *y) { return y->scale[0] * (float)(INT16_MIN - y->zero); }
static float most_of(const Operand *y) { return y->scale[0] * (float)(INT16_MAX - y->zero); }
static float log_or_least(const Case *c, float x) { return x > 0 ? (float)log((double)x) : least_of(&c->out[0]); }
/* In floats, as the reference, but for tanh and erfc, which are rounded once here. */
static float gelu_float(const Case *c, float x)
{
    return c->field[0] != 0 ? 0.5f * x * (1 + (float)tanh((double)(0.79788456f * (x + 0.044715f * x * x * x))))
                            : 0.5f * x * (float)erfc((double)(x * -0.70710678f));
}

static void by_points(Case *c, float (*of)(const Case *c, float x))
{
    const Operand *x = &c->in[0], *y = &c->out[0];
    const Points p = { c, of, least_of(x), most_of(x), 65536 / (most_of(y) - least_of(y)) };
    for (int i = 0; i < elements(x); i++) c->out[0].v[i] = (double)of_points(&p, (int64_t)x->v[i]);
}
static void exp16_reference(Case *c) { by_points(c, minus_exp); }
static void log16_reference(Case *c) { by_points(c, log_or_least); }
static void gelu16_reference(Case *c) { by_points(c, gelu_float); }

/* Two of eight are so steep that slopes wrap. */
static void make_points(Case *c, Random *r, int number)
{
    make_one(c, r, TYPE_I8, 0, 0);
    make_sixteen(c, r);
    quant_set(&c->in[0], scale_between(r, 1e-5, 0.002), 0);
    quant_set(&c->out[0], scale_between(r, 1e-5, 0.01), 0);
    c->field[0] = number % 2;
    if (number % 8 < 6) return;
    quant_set(&c->in[0], scale_between(r, 0.02, 0.1), 0);
    quant_set(&c->out[0], scale_between(r, 1e-7, 1e-6), 0);
    for (int i = 0; i < elements(&c->in[0]); i++) c->in[0].v[i] = between(r, -256, 255);
}
/* Steep ones would be infinite. */
static void make_points_of_exp(Case *c, Random *r, int number) { make_points(c, r, number % 6); }

static void softmax16_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int count = x->dim[x->rank - 1];
    Scaling s = reference_scaling((double)x->scale[0] * c->field[0] / (10.0 / 65535.0));
    const Points powers = { c, minus_exp, -10, 0, 32768 }, quotients = { c, one_over, 0, 1, 32768 };
    for (int row = 0; row < elements(x); row += count) {
        double most = x->v[row];
        int64_t power[64], sum = 0;
        for (int i = 0; i < count; i++) most = x->v[row + i] > most ? x->v[row + i] : most;
        for (int i = 0; i < count; i++) {
            power[i] = of_points(&powers, (int64_t)scaled((int32_t)(x->v[row + i] - most), s) + 32767);
            sum += power[i];
        }
        int head = leading_zeros((uint32_t)sum);
        int64_t mantissa = floor_divide(sum * ((int64_t)1 << (head - 1)) + (1 << 13), 1 << 14) - (3 << 15),
                inverse = of_points(&quotients, mantissa), unit = (int64_t)1 << (31 - head);
        for (int i = 0; i < count; i++)
            c->out[0].v[row + i] = (double)limit(floor_divide(power[i] * inverse + unit / 2, unit), 0, 32767);
    }
}

static void make_relu16(Case *c, Random *r, int number)
{
    make_any(c, r, number % 3);
    make_sixteen(c, r);
}
static void relu16_reference(Case *c)
{
    for (int i = 0; i < elements(&c->in[0]); i++) {
        int64_t v = rescaled(c, (int32_t)c->in[0].v[i], ratio(c));
        c->out[0].v[i] = stored_as(&c->out[0], v < 0 ? 0 : v);
    }
}

static void make_norm(Case *c, Random *r, int number)
{
    int dim[2] = { between(r, 1, 3), between(r, 1, 20) };
    ElementType t = number % 4 == 3 ? TYPE_F32 : TYPE_I8;
    fill_any(r, add_input(c, t, 2, dim));
    add_output(c, t, 2, dim);
    if (t == TYPE_F32) return;
    quant_any(r, &c->in[0]);
    quant_set(&c->out[0], 1.0f / 128, 0);
}

static void norm_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int count = x->dim[x->rank - 1];
    for (int i = 0; i < elements(x); i += count) {
        double squares = 0;
        for (int k = 0; k < count; k++) squares += (x->v[i + k] - x->zero) * (x->v[i + k] - x->zero);
        Scaling s = inverse_root(x->type == TYPE_I8 ? (int32_t)squares : 0);
        float length = sqrtf((float)squares) > 1e-6f ? sqrtf((float)squares) : 1e-6f;
        for (int k = 0; k < count; k++) {
            if (x->type == TYPE_F32) c->out[0].v[i + k] = (double)((float)x->v[i + k] / length);
            else
                c->out[0].v[i + k] = stored(
                    scaled((int32_t)x->v[i + k] - x->zero, (Scaling){ s.multiplier, s.exponent + 7 }));
        }
    }
}

const Operator curve_operators[] = {
    { "abs", 101, 2, 78, "", make_any, abs_reference, 0 },
    { "relu", 19, 2, 0, "", make_any, relu_reference, 0 },
    { "relu6", 21, 2, 0, "", make_same, relu6_reference, 0 },
    { "relu_n1_to_1", 20, 1, 0, "", make_real, unit_reference, 0 },
    { "leaky_relu", 98, 2, 75, "f", make_leaky, leaky_reference, 0 },
    { "elu", 111, 1, 0, "", make_elu, elu_reference, 1 },
    { "hard_swish", 117, 1, 91, "", make_swish, swish_reference, 0 },
    { "logistic", 14, 2, 0, "", make_logistic, logistic_reference, 2 },
    { "tanh", 28, 2, 0, "", make_tanh, tanh_reference, 1 },
    { "rsqrt", 76, 2, 0, "", make_rsqrt, rsqrt_reference, 0 },
    { "rsqrt_int16", 76, 3, 0, "", make_rsqrt16, rsqrt_reference, 0 },
    { "neg", 59, 1, 42, "", make_real, neg_reference, 0 },
    { "sqrt", 75, 1, 0, "", make_positive_real, sqrt_reference, 0 },
    { "square", 92, 1, 66, "", make_real, square_reference, 0 },
    { "floor", 8, 1, 0, "", make_real, floor_reference, 0 },
    { "ceil", 104, 1, 0, "", make_real, ceil_reference, 0 },
    { "round", 116, 1, 0, "", make_real, round_reference, 0 },
    { "exp", 47, 1, 33, "", make_real, exp_reference, 1 },
    { "log", 73, 1, 0, "", make_positive_real, log_reference, 1 },
    { "exp_int8", 47, 2, 33, "", make_table, exp_int8_reference, 0 },
    { "log_int8", 73, 2, 0, "", make_table, log_int8_reference, 0 },
    { "sqrt_int8", 75, 2, 0, "", make_root, sqrt_int8_reference, 0 },
    { "gelu", 150, 1, 116, "b", make_gelu, gelu_reference, 24 },
    { "exp_int16", 47, 2, 33, "", make_points_of_exp, exp16_reference, 0 },
    { "log_int16", 73, 2, 0, "", make_points, log16_reference, 0 },
    { "gelu_int16", 150, 2, 116, "b", make_points, gelu16_reference, 0 },
    { "sin", 66, 1, 0, "", make_real, sin_reference, 1 },
    { "cos", 108, 1, 0, "", make_real, cos_reference, 1 },
    { "softmax", 25, 2, 9, "f", make_softmax, softmax_reference, 8 },
    { "log_softmax", 50, 2, 36, "", make_log_softmax, log_softmax_reference, 16 },
    { "logistic_int16", 14, 2, 0, "", make_curve16, logistic16_reference, 0 },
    { "tanh_int16", 28, 2, 0, "", make_curve16, tanh16_reference, 0 },
    { "softmax_int16", 25, 2, 9, "f", make_softmax16, softmax16_reference, 0 },
    { "relu_int16", 19, 2, 0, "", make_relu16, relu16_reference, 0 },
    { "l2_normalization", 11, 2, 12, "b", make_norm, norm_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
