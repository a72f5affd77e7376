/* SPDX-License-Identifier: MIT */
/* The fixed-point arithmetic of quantized operators, from its definitions: every step is the exact number in 64 bits,
 * divided with floor or rounded by the definition, and then truncated or saturated to 32. Names and formulas follow the
 * description of gemmlowp (SaturatingRoundingDoublingHighMul, RoundingDivideByPOT, FixedPoint) and of TensorFlow Lite
 * (QuantizeMultiplier). */
#include "case.h"

#include <math.h>

int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int32_t wrap(int64_t a)
{
    int64_t two32 = (int64_t)1 << 32, low = a - floor_divide(a, two32) * two32;
    return (int32_t)(low >= two32 / 2 ? low - two32 : low);
}

int64_t limit(int64_t a, int64_t least, int64_t greatest) { return a < least ? least : a > greatest ? greatest : a; }
static int32_t saturated(int64_t a) { return (int32_t)limit(a, INT32_MIN, INT32_MAX); }
double stored(int64_t a) { return (double)limit(a, INT8_MIN, INT8_MAX); }
static int64_t least_of(const Operand *y)
{
    return y->type == TYPE_I32 ? INT32_MIN : y->type == TYPE_I16 ? INT16_MIN : y->type == TYPE_U8 ? 0 : INT8_MIN;
}
static int64_t most_of(const Operand *y)
{
    return y->type == TYPE_I32 ? INT32_MAX : y->type == TYPE_I16 ? INT16_MAX : y->type == TYPE_U8 ? 255 : INT8_MAX;
}
double stored_as(const Operand *y, int64_t a) { return (double)limit(a, least_of(y), most_of(y)); }

int64_t scaled_wide(int64_t a, Scaling s)
{
    int64_t multiplier = s.multiplier < 0x7fff0000 ? (s.multiplier + (1 << 15)) / (1 << 16) : 0x7fff,
            unit = (int64_t)1 << (15 - s.exponent);
    return floor_divide(a * multiplier + unit / 2, unit);
}

int32_t high_product(int32_t a, int32_t b)
{
    return saturated(floor_divide((int64_t)a * b + ((int64_t)1 << 30), (int64_t)1 << 31));
}

int32_t halve_often(int32_t a, int times)
{
    int64_t whole = (int64_t)1 << times, twice = 2 * (a < 0 ? -(int64_t)a : a), nearest = (twice + whole) / (2 * whole);
    return (int32_t)(a < 0 ? -nearest : nearest);
}

int32_t double_often(int32_t a, int times) { return saturated((int64_t)a * ((int64_t)1 << times)); }

static bool once;
void round_once(bool is_once) { once = is_once; }

Scaling reference_scaling(double real)
{
    int exponent;
    double fraction = frexp(real, &exponent);
    int64_t multiplier = (int64_t)floor(fraction * 2147483648.0 + 0.5);
    if (real == 0 || exponent < -31 - (multiplier == (int64_t)1 << 31)) return (Scaling){ 0, 0 };
    if (multiplier == (int64_t)1 << 31) multiplier /= 2, exponent++;
    if (once && exponent > 30) return (Scaling){ INT32_MAX, 30 };
    return (Scaling){ (int32_t)multiplier, exponent };
}

int32_t scaled(int32_t a, Scaling s)
{
    if (once)
        return wrap(floor_divide((int64_t)a * s.multiplier + ((int64_t)1 << (30 - s.exponent)),
                                 (int64_t)1 << (31 - s.exponent)));
    int32_t left = s.exponent > 0 ? wrap((int64_t)a * ((int64_t)1 << s.exponent)) : a;
    return halve_often(high_product(left, s.multiplier), s.exponent < 0 ? -s.exponent : 0);
}

int leading_zeros(uint32_t a)
{
    int n = 0;
    while (n < 32 && !(a >> (31 - n))) n++;
    return n;
}

/* ---- Activations ------------------------------------------------------------------------------------------------- */

enum { RELU = 1, RELU_N1_TO_1, RELU6, TANH };

static int stored_bound(const Operand *y, float bound) { return y->zero + (int)roundf(bound / y->scale[0]); }

void activation_range(const Operand *y, int activation, int *least, int *greatest)
{
    *least = (int)least_of(y);
    *greatest = (int)most_of(y);
    if (activation == RELU || activation == RELU6) *least = (int)limit(stored_bound(y, 0), least_of(y), INT32_MAX);
    if (activation == RELU_N1_TO_1) *least = (int)limit(stored_bound(y, -1), least_of(y), INT32_MAX);
    if (activation == RELU6) *greatest = (int)limit(stored_bound(y, 6), INT32_MIN, most_of(y));
    if (activation == RELU_N1_TO_1) *greatest = (int)limit(stored_bound(y, 1), INT32_MIN, most_of(y));
}

float activate(float v, int activation)
{
    switch (activation) {
    case RELU:         return v < 0 ? 0 : v;
    case RELU6:        return v < 0 ? 0 : v > 6 ? 6 : v;
    case RELU_N1_TO_1: return v < -1 ? -1 : v > 1 ? 1 : v;
    default:           return v;
    }
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static int32_t sum(int64_t a, int64_t b) { return wrap(a + b); }

/* exp on [-1/4, 0) in Q.31: the series around -1/8. */
static int32_t exp_of_quarter(int32_t a)
{
    enum { EXP_OF_MINUS_EIGHTH = 1895147668, THIRD = 715827883, EIGHTH = 1 << 28 };
    int32_t x = sum(a, EIGHTH), x2 = high_product(x, x), x3 = high_product(x2, x), x4 = high_product(x2, x2);
    int32_t rest = halve_often(sum(high_product(sum(halve_often(x4, 2), x3), THIRD), x2), 1);
    return sum(EXP_OF_MINUS_EIGHTH, high_product(EXP_OF_MINUS_EIGHTH, sum(x, rest)));
}

/* The quarters in a become factors exp(-1/4), exp(-1/2), ..., one for each bit. */
int32_t exp_of_negative(int32_t a, int integer_bits)
{
    static const int32_t factor[] = { 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242 };
    int64_t quarter = (int64_t)1 << (29 - integer_bits), part = a - floor_divide(a, quarter) * quarter - quarter,
            quarters = (part - a) / quarter;
    if (a == 0) return INT32_MAX;
    int32_t result = exp_of_quarter(double_often((int32_t)part, integer_bits));
    for (int bit = 0; bit < 7 && bit - 2 < integer_bits; bit++)
        if (quarters / ((int64_t)1 << bit) % 2) result = high_product(result, factor[bit]);
    return result;
}

/* 1/(1+a) for a in [0, 1): Newton's method for the inverse of h = (1+a)/2, in Q2.29. */
static int32_t inverse_of_half(int32_t a)
{
    enum { OF_48_17 = 1515870810, OF_MINUS_32_17 = -1010580540, ONE = 1 << 29 };
    int32_t h = (int32_t)floor_divide((int64_t)a + INT32_MAX + 1, 2),
            x = sum(OF_48_17, high_product(h, OF_MINUS_32_17));
    for (int i = 0; i < 3; i++) x = sum(x, double_often(high_product(x, sum(ONE, -(int64_t)high_product(h, x))), 2));
    return x;
}
int32_t one_over_one_plus(int32_t a) { return double_often(inverse_of_half(a), 1); }
int32_t one_minus_over_one_plus(int32_t a) { return double_often(sum(inverse_of_half(a), -(1 << 29)), 2); }

int32_t reciprocal(int32_t a, int integer_bits, int *bits_over_one)
{
    int zeros = leading_zeros((uint32_t)a);
    *bits_over_one = integer_bits - zeros;
    return one_over_one_plus(wrap((int64_t)a * ((int64_t)1 << zeros) - ((int64_t)1 << 31)));
}

/* Newton's method in Q3.28, as x := (3/2 x - a/2 x^3), then times sqrt(1/2). */
Scaling inverse_root(int32_t a)
{
    enum { THREE_HALVES = 3 << 27, HALF_ROOT = 1518500250 };
    int shift = 11;
    if (a <= 1) return (Scaling){ INT32_MAX, 0 };
    for (; a >= 1 << 29; a /= 4) shift++;
    int pairs = (leading_zeros((uint32_t)a) - 1) / 2 - 1;
    shift -= pairs;
    int32_t half = halve_often((int32_t)((int64_t)a * ((int64_t)1 << (2 * pairs)) / 2), 1), x = 1 << 28;
    for (int i = 0; i < 5; i++) {
        int32_t cube = double_often(high_product(high_product(x, x), x), 6);
        x = double_often(sum(high_product(THREE_HALVES, x), -(int64_t)high_product(half, cube)), 3);
    }
    x = high_product(x, HALF_ROOT);
    return shift < 0 ? (Scaling){ wrap((int64_t)x * ((int64_t)1 << -shift)), 0 } : (Scaling){ x, -shift };
}

/* The logarithm of the power of two, plus that of the mantissa m in sqrt(1/2) to 1 as a quotient of polynomials in
 * 2 (m - 2^(-1/4)). All of it is in Q.31 but the power, which is in Q.25, a quarter above or below an integer. Both a
 * and a times sqrt(1/2) give a power and a mantissa: the smaller mantissa is that of the greater power. */
int32_t log_of_one_and_more(int32_t a)
{
    enum { HALF_ROOT = 1518500250, FOURTH_ROOT = 1805811301, LOG_2 = 1488522236, QUARTER = 1 << 23, BITS = 12 };
    enum { NUMERATOR = 117049297, DENOMINATOR = 127690142, CONSTANT = 1057819769, LINEAR = 638450708 };
    int zeros = leading_zeros((uint32_t)a);
    int32_t lower = high_product(a, HALF_ROOT);
    int lower_zeros = leading_zeros((uint32_t)lower) - 1;
    int32_t first = double_often(high_product(double_often(a, zeros - 1), HALF_ROOT), 1),
            second = double_often(a, lower_zeros), m = first < second ? first : second;
    int32_t first_power = sum(double_often(BITS - zeros, 25), QUARTER),
            second_power = sum(double_often(BITS - lower_zeros, 25), -QUARTER),
            power = first_power > second_power ? first_power : second_power;
    int32_t p = (int32_t)(((int64_t)m + FOURTH_ROOT + 1) / 2), q = 2 * (m - FOURTH_ROOT), square = high_product(q, q);
    int32_t above = sum(high_product(q, m), high_product(high_product(q, square), NUMERATOR)),
            below = sum(high_product(p, sum(sum(CONSTANT, q), high_product(DENOMINATOR, square))),
                        high_product(LINEAR, q));
    int32_t fraction = high_product(halve_often(above, 6), one_over_one_plus(below));
    return double_often(sum(high_product(power, LOG_2), fraction), 1);
}
