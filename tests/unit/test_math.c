/* SPDX-License-Identifier: MIT */
/* runtime/lw_math.h against the host's libm in the next wider type: every function keeps the
 * error bound that its comment states, over samples of all bit patterns and the edge values, and
 * gives NaN, infinities and the signs of zeros where libm does. The exact functions (rounding,
 * fmod, conversions) must agree in every bit.
 *
 * usage: test_math [STRIDE]. STRIDE is the distance of the sampled bit patterns of a float (odd;
 * 1: all) and sets the number of samples for double too; with it errors are printed. */
#include "runtime/lw_math.h"

#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double double_inf = HUGE_VAL;

typedef struct Sampling {
    uint64_t stride;
    int is_verbose;
} Sampling;

/* ---- the functions, their oracles and bounds in units in the last place ---- */

typedef struct Case32 {
    const char *name;
    float (*ours)(float);
    double (*oracle)(double);
    double bound;
} Case32;

typedef struct Case64 {
    const char *name;
    double (*ours)(double);
    long double (*oracle)(long double);
    double bound;
} Case64;

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

static long double sigmoidl(long double x)
{
    return 1.0L / (1.0L + expl(-x));
}

static long double rsqrtl(long double x)
{
    return 1.0L / sqrtl(x);
}

static const Case32 cases32[] = {
    { "expf", lw_expf, exp, 0.95 },
    { "exp2f", lw_exp2f, exp2, 1.15 },
    { "expm1f", lw_expm1f, expm1, 1.15 },
    { "sigmoidf", lw_sigmoidf, sigmoid, 1.95 },
    { "tanhf", lw_tanhf, tanh, 1.45 },
    { "erff", lw_erff, erf, 1.25 },
    { "sinhf", lw_sinhf, sinh, 1.60 },
    { "coshf", lw_coshf, cosh, 1.40 },
    { "logf", lw_logf, log, 0.85 },
    { "log2f", lw_log2f, log2, 1.30 },
    { "log10f", lw_log10f, log10, 1.10 },
    { "log1pf", lw_log1pf, log1p, 0.85 },
    { "asinhf", lw_asinhf, asinh, 1.75 },
    { "acoshf", lw_acoshf, acosh, 2.00 },
    { "atanhf", lw_atanhf, atanh, 1.75 },
    { "sinf", lw_sinf, sin, 0.90 },
    { "cosf", lw_cosf, cos, 0.95 },
    { "tanf", lw_tanf, tan, 1.65 },
    { "asinf", lw_asinf, asin, 0.75 },
    { "acosf", lw_acosf, acos, 0.80 },
    { "atanf", lw_atanf, atan, 1.45 },
    { "rsqrtf", lw_rsqrtf, rsqrt, 1.55 },
    { "sqrtf", lw_sqrtf, sqrt, 0.5001 }, /* the oracle rounds too */
    { "floorf", lw_floorf, floor, 0 },
    { "ceilf", lw_ceilf, ceil, 0 },
    { "truncf", lw_truncf, trunc, 0 },
    { "roundf", lw_roundf, round, 0 },
    { "nearbyintf", lw_nearbyintf, nearbyint, 0 },
};

static const Case64 cases64[] = {
    { "exp", lw_exp, expl, 0.95 },
    { "exp2", lw_exp2, exp2l, 1.15 },
    { "expm1", lw_expm1, expm1l, 1.20 },
    { "sigmoid", lw_sigmoid, sigmoidl, 1.90 },
    { "tanh", lw_tanh, tanhl, 1.50 },
    { "erf", lw_erf, erfl, 1.00 },
    { "sinh", lw_sinh, sinhl, 1.65 },
    { "cosh", lw_cosh, coshl, 1.40 },
    { "log", lw_log, logl, 0.90 },
    { "log2", lw_log2, log2l, 0.52 },
    { "log10", lw_log10, log10l, 0.52 },
    { "log1p", lw_log1p, log1pl, 0.95 },
    { "asinh", lw_asinh, asinhl, 1.70 },
    { "acosh", lw_acosh, acoshl, 1.90 },
    { "atanh", lw_atanh, atanhl, 1.80 },
    { "sin", lw_sin, sinl, 0.85 },
    { "cos", lw_cos, cosl, 0.85 },
    { "tan", lw_tan, tanl, 1.45 },
    { "asin", lw_asin, asinl, 0.70 },
    { "acos", lw_acos, acosl, 0.85 },
    { "atan", lw_atan, atanl, 0.85 },
    { "rsqrt", lw_rsqrt, rsqrtl, 1.55 },
    { "sqrt", lw_sqrt, sqrtl, 0.501 },
    { "floor", lw_floor, floorl, 0 },
    { "ceil", lw_ceil, ceill, 0 },
    { "trunc", lw_trunc, truncl, 0 },
    { "round", lw_round, roundl, 0 },
    { "nearbyint", lw_nearbyint, nearbyintl, 0 },
};

static const double bound_atan2f = 1.55, bound_powf = 0.51;
static const double bound_atan2 = 1.50, bound_pow = 1.10;

/* Zeros, one, halves, the ends of the ranges, the switching points of the methods. */
static const double edges[] = {
    0.0, 0x1p-1074, 0x1p-1022, 0x1p-149, 0x1p-127, 0x1p-126, 0x1p-60, 0x1p-25, 0x1p-24, 0x1p-12, 0.25, 0.35,
    0.4142135, 0.41421356237309503, 0.5, 0.55, 0.70710678, 0x1.6a09e667f3bccp-1, 0.785398163397448, 0.9, 0.9375,
    0x1.fffffep-1, 0x1.fffffffffffffp-1, 1.0, 0x1.000002p+0, 0x1.0000000000001p+0, 1.5, 1.570796326794897, 2.0, 2.25,
    2.414213562373095, 2.5, 3.0, 3.141592653589793, 3.5, 4.0, 6.0, 8.5, 10.0, 17.33, 88.72283, 88.72284, 88.8, 89.41,
    89.42, 103.97, 103.98, 128.0, 149.0, 149.5, 150.0, 709.78, 709.79, 710.47, 710.48, 744.44, 745.13, 745.14, 1022.0,
    1024.0, 1074.0, 1075.0, 8192.0, 0x1.fffffep+22, 0x1p+23, 0x1.000002p+23, 0x1p+24, 0x1p+28, 0x1p+31, 0x1p+32,
    0x1.fffffffffffffp+51, 0x1p+52, 0x1.0000000000001p+52, 0x1p+53, 0x1p+63, 0x1p+100, 0x1.fffffep+127,
    0x1.6ac5b262ca1ffp+849, 0x1.fffffffffffffp+1023, HUGE_VAL,
};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* ---- samples ---- */

/* Marsaglia's xorshift; the tests need variety, not randomness. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Every other sample has an exponent near zero, where most functions do their work. */
static double random_double(uint64_t *state)
{
    const uint64_t bits = next_random(state);
    if (bits >> 62 & 1)
        return lw_f64_from_bits(bits * UINT64_C(0x9e3779b97f4a7c15));
    const uint64_t exponent = 1023 - 24 + next_random(state) % 36;
    return lw_f64_from_bits((bits & UINT64_C(0x800fffffffffffff)) | exponent << 52);
}

static float random_float(uint64_t *state)
{
    const uint64_t bits = next_random(state);
    if (bits >> 62 & 1)
        return lw_f32_from_bits((uint32_t)bits);
    return (float)random_double(state);
}

/* ---- error ---- */

/* |got - expected| in units of the last of `digits` binary digits of the expected value; infinity if they differ in NaN
 * or in the sign of a zero. Infinity counts as the power of two after the largest number. */
static double error_in_ulps(long double got, long double want, int digits, int min_exponent, long double beyond)
{
    if (got != got || want != want)
        return got != got && want != want ? 0 : double_inf;
    if (!signbit(got) != !signbit(want))
        return double_inf;
    if (got == want)
        return 0;
    if (fabsl(got) > beyond)
        got = copysignl(beyond, got);
    if (fabsl(want) > beyond)
        want = copysignl(beyond, want);
    int exponent = min_exponent;
    if (want != 0)
        frexpl(want, &exponent);
    exponent = exponent < min_exponent ? min_exponent : exponent;
    return (double)(fabsl(got - want) / ldexpl(1, exponent - digits));
}

static double error32(float got, double want)
{
    return error_in_ulps(got, want, FLT_MANT_DIG, FLT_MIN_EXP, ldexpl(1, FLT_MAX_EXP));
}

static double error64(double got, long double want)
{
    return error_in_ulps(got, want, DBL_MANT_DIG, DBL_MIN_EXP, ldexpl(1, DBL_MAX_EXP));
}

typedef struct Worst {
    double error, x, y;
} Worst;

static void note_worst(Worst *worst, double error, double x, double y)
{
    if (error > worst->error)
        *worst = (Worst){ error, x, y };
}

static void report(const char *name, Worst worst, double bound, Sampling sampling)
{
    if (sampling.is_verbose)
        printf("# %s %.4f at %a %a\n", name, worst.error, worst.x, worst.y);
    check_that(worst.error <= bound, check_label(name, "within-its-bound"), "error %.4f ulp at %a %a, stated %.2f",
               worst.error, worst.x, worst.y, bound);
}

/* (float)x, through memory: gcc 12 at -O2 drops the rounding where two neighbours are narrowed
 * and widened together. */
static float narrowed(double x)
{
    volatile const float f = (float)x;
    return f;
}

/* glibc's powl takes -2^63 for an odd number and (-inf)^-2^63 for infinite. */
static long double pow_oracle(double x, double y)
{
    return isinf(x) ? pow(x, y) : powl(x, y);
}

/* ---- the tests ---- */

static void test_case32(const Case32 *c, Sampling sampling)
{
    Worst worst = { 0, 0, 0 };
    for (uint64_t bits = 0; bits <= UINT32_C(0xffffffff); bits += sampling.stride) {
        const float x = lw_f32_from_bits((uint32_t)bits);
        note_worst(&worst, error32(c->ours(x), c->oracle(x)), x, 0);
    }
    for (int i = 0; i < 2 * EDGES; i++) {
        const float x = (float)(i % 2 ? -edges[i / 2] : edges[i / 2]);
        note_worst(&worst, error32(c->ours(x), c->oracle(x)), x, 0);
    }
    report(c->name, worst, c->bound, sampling);
}

static void test_case64(const Case64 *c, Sampling sampling)
{
    Worst worst = { 0, 0, 0 };
    uint64_t state = UINT64_C(88172645463325252);
    for (uint64_t i = 0; i < UINT64_C(0x70000000) / sampling.stride; i++) {
        const double x = random_double(&state);
        note_worst(&worst, error64(c->ours(x), c->oracle(x)), x, 0);
    }
    for (int i = 0; i < 2 * EDGES; i++) {
        const double x = i % 2 ? -edges[i / 2] : edges[i / 2];
        note_worst(&worst, error64(c->ours(x), c->oracle(x)), x, 0);
    }
    report(c->name, worst, c->bound, sampling);
}

/* The i-th pair: all pairs of edges first, then random ones, often such that x^y stays in range. */
static void sample_pair(uint64_t i, uint64_t *state, double *x, double *y)
{
    const uint64_t n = 2 * EDGES;
    if (i < n * n) {
        *x = i / n % 2 ? -edges[i / n / 2] : edges[i / n / 2];
        *y = i % n % 2 ? -edges[i % n / 2] : edges[i % n / 2];
        return;
    }
    *x = random_double(state);
    *y = random_double(state);
    if (i % 2 == 0) {
        const double reach = fabs(log2(fabs(*x)));
        *y = fmod(*y, reach > 0 ? 1100 / reach : 1);
        *y = i % 8 == 0 ? floor(*y) : *y;
    }
}

static void test_pairs32(Sampling sampling)
{
    Worst pow_worst = { 0, 0, 0 }, atan2_worst = { 0, 0, 0 }, fmod_worst = { 0, 0, 0 };
    uint64_t state = UINT64_C(362436069362436069);
    for (uint64_t i = 0; i < UINT64_C(0x70000000) / sampling.stride; i++) {
        double a, b;
        sample_pair(i, &state, &a, &b);
        const float x = narrowed(a), y = narrowed(b);
        note_worst(&pow_worst, error32(lw_powf(x, y), pow(x, y)), x, y);
        note_worst(&atan2_worst, error32(lw_atan2f(x, y), atan2(x, y)), x, y);
        const float p = random_float(&state), q = random_float(&state);
        note_worst(&fmod_worst, error32(lw_fmodf(p, q), fmodf(p, q)), p, q);
        note_worst(&fmod_worst, error32(lw_fmodf(x, y), fmodf(x, y)), x, y);
    }
    report("powf", pow_worst, bound_powf, sampling);
    report("atan2f", atan2_worst, bound_atan2f, sampling);
    report("fmodf", fmod_worst, 0, sampling);
}

static void test_pairs64(Sampling sampling)
{
    Worst pow_worst = { 0, 0, 0 }, atan2_worst = { 0, 0, 0 }, fmod_worst = { 0, 0, 0 };
    uint64_t state = UINT64_C(521288629521288629);
    for (uint64_t i = 0; i < UINT64_C(0x38000000) / sampling.stride; i++) {
        double x, y;
        sample_pair(i, &state, &x, &y);
        note_worst(&pow_worst, error64(lw_pow(x, y), pow_oracle(x, y)), x, y);
        note_worst(&atan2_worst, error64(lw_atan2(x, y), atan2l(x, y)), x, y);
        note_worst(&fmod_worst, error64(lw_fmod(x, y), fmod(x, y)), x, y);
    }
    report("pow", pow_worst, bound_pow, sampling);
    report("atan2", atan2_worst, bound_atan2, sampling);
    report("fmod", fmod_worst, 0, sampling);
}

static void test_min_max(void)
{
    const float nan = lw_nanf();
    CHECK("min-max-order", lw_minf(1, 2) == 1 && lw_minf(2, 1) == 1 && lw_maxf(1, 2) == 2 && lw_maxf(2, 1) == 2 &&
                               lw_min(-1, 2) == -1 && lw_max(-1, 2) == 2);
    CHECK("min-max-nan", isnan(lw_minf(nan, 1)) && isnan(lw_minf(1, nan)) && isnan(lw_maxf(nan, 1)) &&
                             isnan(lw_maxf(1, nan)) && isnan(lw_min(1, nan)) && isnan(lw_min(nan, 1)) &&
                             isnan(lw_max(1, nan)) && isnan(lw_max(nan, 1)));
}

static void test_floor_division(void)
{
    static const int32_t values[] = {
        INT32_MIN, INT32_MIN + 1, -65537, -7, -3, -2, -1, 0, 1, 2, 3, 8, 65536, INT32_MAX,
    };
    const int n = sizeof values / sizeof values[0];
    int wrong = 0;
    for (int i = 0; i < n * n; i++) {
        const int32_t a = values[i / n], b = values[i % n];
        if (b == 0) {
            wrong += lw_floordiv32(a, b) != 0 || lw_floormod32(a, b) != 0;
            continue;
        }
        const double quotient = floor((double)a / b);
        const int wraps = quotient > INT32_MAX;
        wrong += lw_floordiv32(a, b) != (wraps ? INT32_MIN : quotient) || lw_floormod32(a, b) != a - b * quotient;
    }
    CHECK("floordiv-floormod", wrong == 0);
}

/* The 16-bit value with `fraction_bits` of mantissa, from the definition of the format. */
static double value_of_small_float(unsigned bits, int fraction_bits, int bias)
{
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const int exponent = (int)(bits & 0x7fffu) >> fraction_bits;
    const int all_ones = 0x7fff >> fraction_bits;
    const double mantissa = fraction + (exponent ? ldexp(1, fraction_bits) : 0);
    double value = ldexp(mantissa, (exponent ? exponent : 1) - bias - fraction_bits);
    if (exponent == all_ones)
        value = fraction ? (double)NAN : double_inf;
    return bits & 0x8000u ? -value : value;
}

typedef struct SmallFloat {
    const char *widen_name, *narrow_name;
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
    int fraction_bits, bias;
} SmallFloat;

/* A float is between two neighbours of the narrow format: the nearer one is right, and of two equally near ones the
 * even one. Infinity takes the position of the next number. */
static int is_nearest(uint16_t got, float x, const SmallFloat *s)
{
    const double magnitude = fabs((double)x);
    const unsigned inf = 0x7fffu >> s->fraction_bits << s->fraction_bits;
    unsigned low = 0, high = inf;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (value_of_small_float(middle, s->fraction_bits, s->bias) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double below = value_of_small_float(low, s->fraction_bits, s->bias);
    const double step = below - value_of_small_float(low - (low > 0), s->fraction_bits, s->bias);
    const double above = high == inf ? value_of_small_float(inf - 1, s->fraction_bits, s->bias) + step
                                     : value_of_small_float(high, s->fraction_bits, s->bias);
    const double down = magnitude - below, up = above - magnitude;
    const unsigned want = down < up || (down == up && low % 2 == 0) ? low : high;
    return got == (want | (signbit(x) ? 0x8000u : 0u));
}

static void test_small_float(const SmallFloat *s, Sampling sampling)
{
    int widen_wrong = 0, narrow_wrong = 0;
    for (unsigned bits = 0; bits <= 0xffffu; bits++) {
        const double want = value_of_small_float(bits, s->fraction_bits, s->bias);
        const float got = s->widen((uint16_t)bits);
        widen_wrong += want != want ? got == got : got != want || !signbit(got) != !signbit(want);
        narrow_wrong += want != want ? !isnan(s->widen(s->narrow(got))) : s->narrow(got) != bits;
    }
    for (uint64_t bits = 0; bits <= UINT32_C(0xffffffff); bits += 4 * sampling.stride) {
        for (uint32_t low = 0; low < 3; low++) { /* near and on the ties of both formats */
            const float x = lw_f32_from_bits(((uint32_t)bits & UINT32_C(0xffffe000)) + UINT32_C(0x0fff) + low);
            const float y = lw_f32_from_bits(((uint32_t)bits & UINT32_C(0xffff0000)) + UINT32_C(0x7fff) + low);
            narrow_wrong += x != x ? !isnan(s->widen(s->narrow(x))) : !is_nearest(s->narrow(x), x, s);
            narrow_wrong += y != y ? !isnan(s->widen(s->narrow(y))) : !is_nearest(s->narrow(y), y, s);
        }
    }
    check_that(widen_wrong == 0, check_label(s->widen_name, "is-exact"), "%d wrong", widen_wrong);
    check_that(narrow_wrong == 0, check_label(s->narrow_name, "rounds-to-nearest"), "%d wrong", narrow_wrong);
}

/* These hold exactly, whatever the bounds. */
static void test_exact_values(void)
{
    CHECK("exp-of-zero", lw_expf(0) == 1 && lw_exp(0) == 1 && lw_exp2f(0) == 1 && lw_powf(0, 0) == 1);
    int wrong = 0;
    for (int k = -149; k < 128; k++) {
        wrong += lw_exp2f((float)k) != ldexpf(1, k) || lw_log2f(ldexpf(1, k)) != (float)k;
        wrong += lw_exp2(k) != ldexp(1, k) || lw_log2(ldexp(1, k)) != k || lw_pow(2, k) != ldexp(1, k);
    }
    CHECK("powers-of-two", wrong == 0);
    CHECK("sigmoid-limits", lw_sigmoidf(0) == 0.5f && lw_sigmoidf(-HUGE_VALF) == 0 && lw_sigmoidf(HUGE_VALF) == 1);
}

int main(int argc, char **argv)
{
    static const SmallFloat half = { "half_to_float", "float_to_half", lw_half_to_float, lw_float_to_half, 10, 15 };
    static const SmallFloat bf16 = { "bf16_to_float", "float_to_bf16", lw_bf16_to_float, lw_float_to_bf16, 7, 127 };
    const Sampling sampling = { argc > 1 ? strtoull(argv[1], NULL, 10) : 19993, argc > 1 };
    CHECK_RUN(test_min_max, test_floor_division);
    test_small_float(&half, sampling);
    test_small_float(&bf16, sampling);
    test_exact_values();
    for (size_t i = 0; i < sizeof cases32 / sizeof cases32[0]; i++)
        test_case32(&cases32[i], sampling);
    test_pairs32(sampling);
    if (LDBL_MANT_DIG < 64) {
        check_skip("double", "long double is not wider than double here, so there is no oracle");
        return check_done();
    }
    for (size_t i = 0; i < sizeof cases64 / sizeof cases64[0]; i++)
        test_case64(&cases64[i], sampling);
    volatile const long double one = 1; /* some compilers pass a second long double wrongly */
    if (fabsl(atan2l(one, one) * 4 - acosl(-one)) < LDBL_EPSILON * 8)
        test_pairs64(sampling);
    else
        check_skip("pow atan2 fmod", "atan2l is broken here, so there is no oracle");
    return check_done();
}
