/* SPDX-License-Identifier: 0BSD */
/* The functions of lw_math.h on float: square root, rounding, exponentials, logarithms, circular functions. lw_powf
 * computes in double. */
#ifndef LW_MATH_FLOAT_H
#define LW_MATH_FLOAT_H

#include "lw_math_common.h"

/* ---- square root ---- */

/* lw: lw_sqrtf needs */
/* Exactly rounded. */
static inline float lw_sqrtf(float x)
{
    return sqrtf(x);
}
/* lw: end */

/* lw: lw_fmaf needs lw_no_contract */
/* a*b + c rounded once. The product is exact in double. The sum is rounded to odd: an inexact sum has its last bit set,
 * so the final rounding to float has no tie (Boldo, Melquiond, "Emulation of FMA", 2008). RISC-V's F extension has the
 * instruction; clang 16 does not say so. */
static inline float lw_fmaf(float a, float b, float c)
{
#if defined(FP_FAST_FMAF) || (defined(__riscv_flen) && __riscv_flen >= 32)
    return fmaf(a, b, c);
#else
    const double product = (double)a * (double)b, addend = (double)c;
    double sum = product + addend;
    const double from_addend = sum - product;
    const double error = (product - (sum - from_addend)) + (addend - from_addend);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((error > 0 || error < 0) && (bits & 1) == 0) {
        bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
        memcpy(&sum, &bits, sizeof sum);
    }
    return (float)sum;
#endif
}
/* lw: end */

/* lw: lw_rsqrtf needs lw_sqrtf */
/* Error 1.55 ulp. */
static inline float lw_rsqrtf(float x)
{
    return 1.0f / lw_sqrtf(x);
}
/* lw: end */

/* ---- rounding to integers: exact, zeros keep their sign ---- */

/* lw: lw_nearbyintf needs lw_absf lw_copysignf lw_selectf lw_is_insidef lw_no_contract */
/* Ties to even. From 2^23 on every float is an integer; below, adding 2^23 leaves no fraction bits. */
static inline float lw_nearbyintf(float x)
{
    const float rounded = lw_copysignf((lw_absf(x) + 8388608.0f /* 2^23 */) - 8388608.0f /* 2^23 */, x);
    return lw_selectf(lw_is_insidef(x, 8388608.0f /* 2^23 */), rounded, x);
}
/* lw: end */

/* lw: lw_floorf needs lw_nearbyintf lw_copysignf lw_selectf */
static inline float lw_floorf(float x)
{
    const float nearest = lw_nearbyintf(x);
    const float excess = lw_selectf(nearest > x, 1.0f, 0.0f);
    return lw_copysignf(nearest - excess, x);
}
/* lw: end */

/* lw: lw_ceilf needs lw_nearbyintf lw_copysignf lw_selectf */
static inline float lw_ceilf(float x)
{
    const float nearest = lw_nearbyintf(x);
    const float lack = lw_selectf(nearest < x, 1.0f, 0.0f);
    return lw_copysignf(nearest + lack, x);
}
/* lw: end */

/* lw: lw_truncf needs lw_absf lw_copysignf lw_floorf */
/* Towards zero. */
static inline float lw_truncf(float x)
{
    return lw_copysignf(lw_floorf(lw_absf(x)), x);
}
/* lw: end */

/* lw: lw_roundf needs lw_absf lw_copysignf lw_floorf lw_selectf */
/* Ties away from zero. The difference of a float and its floor is exact. */
static inline float lw_roundf(float x)
{
    const float magnitude = lw_absf(x);
    const float below = lw_floorf(magnitude);
    const float lack = lw_selectf(magnitude - below >= 0.5f, 1.0f, 0.0f);
    return lw_copysignf(below + lack, x);
}
/* lw: end */

/* lw: lw_fmodf needs lw_f32_bits lw_f32_from_bits lw_nanf */
/* The exact remainder of x / y with the sign of x: long division of the mantissas, 32 bits a step. */
static inline float lw_fmodf(float x, float y)
{
    const uint32_t x_bits = lw_f32_bits(x) & UINT32_C(0x7fffffff);
    const uint32_t y_bits = lw_f32_bits(y) & UINT32_C(0x7fffffff);
    if (x_bits >= UINT32_C(0x7f800000) || y_bits > UINT32_C(0x7f800000) || y_bits == 0)
        return lw_nanf();
    if (x_bits < y_bits)
        return x;
    /* The magnitudes are mantissa * 2^(exponent - 150). */
    const uint32_t x_exponent = x_bits >> 23 ? x_bits >> 23 : 1;
    uint32_t y_exponent = y_bits >> 23 ? y_bits >> 23 : 1;
    const uint32_t hidden = UINT32_C(0x00800000);
    const uint32_t x_mantissa = x_bits >> 23 ? (x_bits & (hidden - 1)) | hidden : x_bits;
    const uint32_t y_mantissa = y_bits >> 23 ? (y_bits & (hidden - 1)) | hidden : y_bits;
    uint32_t rest = x_mantissa % y_mantissa;
    for (uint32_t left = x_exponent - y_exponent; left != 0;) {
        const uint32_t step = left < 32 ? left : 32;
        rest = (uint32_t)(((uint64_t)rest << step) % y_mantissa);
        left -= step;
    }
    while (rest < hidden && y_exponent > 1) {
        y_exponent = rest == 0 ? 1 : y_exponent - 1;
        rest <<= 1;
    }
    const uint32_t sign = lw_f32_bits(x) & UINT32_C(0x80000000);
    return lw_f32_from_bits(sign | (rest + ((y_exponent - 1) << 23)));
}
/* lw: end */

/* ---- float: exponentials ---- */

/* lw: lw_exp_polyf needs lw_no_contract */
/* p(r) in e^r = 1 + r + r^2 p(r), |r| <= log(2) / 2. */
static inline float lw_exp_polyf(float r)
{
    float p = 0.0013923035f;
    p = p * r + 0.008369289f;
    p = p * r + 0.04166658f;
    p = p * r + 0.16666515f;
    p = p * r + 0.5f;
    return p;
}
/* lw: end */

/* lw: lw_exp_valuef needs lw_exp_polyf lw_no_contract */
/* e^x = 2^n e^r, x = n log 2 + r: returns e^r, and n in the low bits of *shifted, where adding 1.5 * 2^23 rounded
 * it. */
static inline float lw_exp_valuef(float x, float *shifted)
{
    *shifted = x * 1.442695f + 12582912.0f /* 1.5 * 2^23 */;
    const float n = *shifted - 12582912.0f /* 1.5 * 2^23 */;
    const float high = x - n * 0.69314575f; /* exact: 15 bits of log 2 times 8 bits of n */
    const float low = n * 1.4286068e-06f;
    const float r = high - low;
    return 1.0f + (high + (r * r * lw_exp_polyf(r) - low));
}
/* lw: end */

/* lw: lw_exp_scaledf needs lw_branches lw_is_insidef lw_clampf lw_f32_bits lw_f32_from_bits lw_exp_valuef */
/* e^x * 2^k for k = 0 or -1. The scale is applied in two factors, 2^half and 2^(n+k-half), because 2^-149 and 2^128 are
 * not normal floats; only the second product rounds. Below 86 the result is normal, so n + k can be added to the
 * exponent. */
static inline float lw_exp_scaledf(float x, int32_t k)
{
    float shifted, value;
    if (LW_BRANCHES) {
        value = lw_exp_valuef(x, &shifted);
        if (lw_is_insidef(x, 86.0f))
            return lw_f32_from_bits(lw_f32_bits(value) + ((lw_f32_bits(shifted) + (uint32_t)k) << 23));
    }
    value = lw_exp_valuef(lw_clampf(x, 104.5f), &shifted);
    const uint32_t exponent = lw_f32_bits(shifted) - UINT32_C(0x4b400000) + (uint32_t)k + UINT32_C(512);
    const uint32_t half = exponent >> 1;
    const float scale = lw_f32_from_bits((half - UINT32_C(129)) << 23);
    const float rest_of_scale = lw_f32_from_bits((exponent - half - UINT32_C(129)) << 23);
    return value * scale * rest_of_scale;
}
/* lw: end */

/* lw: lw_expf needs lw_exp_scaledf */
/* Error 0.95 ulp. */
static inline float lw_expf(float x)
{
    return lw_exp_scaledf(x, 0);
}
/* lw: end */

/* lw: lw_exp2f needs lw_clampf lw_f32_bits lw_f32_from_bits lw_no_contract */
/* 2^x = 2^n 2^r, n = the integer next to x. Error 1.15 ulp. */
static inline float lw_exp2f(float x)
{
    x = lw_clampf(x, 151.0f);
    const float shifted = x + 12582912.0f /* 1.5 * 2^23 */;
    const float r = x - (shifted - 12582912.0f /* 1.5 * 2^23 */);
    float p = 1.5476414e-04f;
    p = p * r + 0.001340041f;
    p = p * r + 0.009618038f;
    p = p * r + 0.055503417f;
    p = p * r + 0.2402265f;
    p = p * r + 0.6931472f;
    const float value = 1.0f + r * p;
    const uint32_t exponent = lw_f32_bits(shifted) - UINT32_C(0x4b400000) + UINT32_C(512);
    const uint32_t half = exponent >> 1;
    const float scale = lw_f32_from_bits((half - UINT32_C(129)) << 23);
    const float rest_of_scale = lw_f32_from_bits((exponent - half - UINT32_C(129)) << 23);
    return value * scale * rest_of_scale;
}
/* lw: end */

/* lw: lw_expm1f needs lw_clampf lw_selectf lw_f32_bits lw_f32_from_bits lw_exp_polyf lw_no_contract */
/* e^x - 1 = (2^n - 1) + 2^n (r + r^2 p(r)). Dekker's subtraction computes the rounding error of (2^n - 1) + 2^n r,
 * which is added last. Error 1.15 ulp. */
static inline float lw_expm1f(float x)
{
    const float a = lw_clampf(x, 89.0f);
    const float shifted = a * 1.442695f + 12582912.0f /* 1.5 * 2^23 */;
    const float n = shifted - 12582912.0f /* 1.5 * 2^23 */;
    const float high = a - n * 0.69314575f;
    const float low = n * 1.4286068e-06f;
    const float r = high - low;
    const float tail = r * r * lw_exp_polyf(r) - low;
    /* 2^128 is not a float: it is computed as 2^127 doubled. 2^-128 becomes 2^-127, which is negligible. */
    const uint32_t n_bits = lw_f32_bits(shifted) - UINT32_C(0x4b400000);
    const uint32_t is_top = n_bits == UINT32_C(128);
    const uint32_t is_bottom = n_bits == UINT32_C(0) - UINT32_C(128);
    const float scale = lw_f32_from_bits((n_bits + UINT32_C(127) - is_top + is_bottom) << 23);
    const float base = scale - 1.0f;
    const float sum = base + scale * high;
    const float error = scale * high - (sum - base);
    const float value = (sum + (error + scale * tail)) * lw_selectf(is_top, 2.0f, 1.0f);
    return lw_selectf(x == 0.0f, x, value);
}
/* lw: end */

/* lw: lw_sigmoidf needs lw_branches lw_absf lw_selectf lw_f32_bits lw_expf lw_no_contract */
/* 1 / (1 + e^-x), computed with e^-|x|, which cannot overflow. For a negative x the result may be small; the rounding
 * error of 1 + e is then subtracted from the quotient, times 1 / (1 + e), which is 1 less the quotient. Error 1.95
 * ulp. */
static inline float lw_sigmoidf(float x)
{
    const float e = lw_expf(-lw_absf(x));
    const uint32_t is_negative = lw_f32_bits(x) >> 31;
    const float denominator = 1.0f + e;
    if (LW_BRANCHES && !is_negative)
        return 1.0f / denominator;
    const float quotient = lw_selectf(is_negative, e, 1.0f) / denominator;
    const float lost = quotient * ((1.0f - quotient) * (e - (denominator - 1.0f)));
    return quotient - lw_selectf(is_negative, lost, 0.0f);
}
/* lw: end */

/* lw: lw_with_signf needs lw_branches lw_f32_bits lw_copysignf */
/* A magnitude with the sign of x. */
static inline float lw_with_signf(float magnitude, float x)
{
    if (LW_BRANCHES)
        return lw_f32_bits(x) >> 31 ? -magnitude : magnitude;
    return lw_copysignf(magnitude, x);
}
/* lw: end */

/* lw: lw_tanhf needs lw_branches lw_absf lw_with_signf lw_selectf lw_is_insidef lw_expf lw_no_contract */
/* x + x^3 p(x^2) below 0.55, then 1 - 2 / (e^2x + 1). Error 1.45 ulp. */
static inline float lw_tanhf(float x)
{
    const float magnitude = lw_absf(x);
    const float z = x * x;
    float p = -0.006242842f;
    p = p * z + 0.021050712f;
    p = p * z - 0.053847548f;
    p = p * z + 0.13332544f;
    p = p * z - 0.33333316f;
    const float inner = magnitude + magnitude * (z * p);
    if (LW_BRANCHES && lw_is_insidef(x, 0.55f))
        return lw_with_signf(inner, x);
    const float outer = 1.0f - 2.0f / (lw_expf(magnitude + magnitude) + 1.0f);
    return lw_with_signf(lw_selectf(lw_is_insidef(x, 0.55f), inner, outer), x);
}
/* lw: end */

/* lw: lw_erff needs lw_absf lw_copysignf lw_selectf lw_is_insidef lw_clampf lw_expf lw_no_contract */
/* x + x p(x^2) below 0.9375, then 1 - e^-q(x), q = -log erfc; 1 for x >= 4. Error 1.25 ulp. */
static inline float lw_erff(float x)
{
    const float magnitude = lw_absf(x);
    const float z = x * x;
    float p = 8.002615e-05f;
    p = p * z - 8.050773e-04f;
    p = p * z + 0.005192459f;
    p = p * z - 0.02685574f;
    p = p * z + 0.11283626f;
    p = p * z - 0.3761263f;
    p = p * z + 0.12837917f;
    const float inner = magnitude + magnitude * p;
    const float a = lw_clampf(magnitude, 4.0f);
    float q = 2.1171643e-05f;
    q = q * a - 4.352979e-04f;
    q = q * a + 0.004174906f;
    q = q * a - 0.025129085f;
    q = q * a + 0.108294405f;
    q = q * a + 0.6333344f;
    q = q * a + 1.1295209f;
    q = q * a - 1.7588097e-04f;
    const float outer = 1.0f - lw_expf(-q);
    return lw_copysignf(lw_selectf(lw_is_insidef(x, 0.9375f), inner, outer), x);
}
/* lw: end */

/* lw: lw_sinhf needs lw_absf lw_copysignf lw_selectf lw_is_insidef lw_exp_scaledf lw_no_contract */
/* x + x^3 p(x^2) below 1, then e^x/2 - e^-x/2. Error 1.60 ulp. */
static inline float lw_sinhf(float x)
{
    const float magnitude = lw_absf(x);
    const float z = x * x;
    float p = 2.7822125e-06f;
    p = p * z + 1.9842896e-04f;
    p = p * z + 0.0083333105f;
    p = p * z + 0.16666667f;
    const float inner = magnitude + magnitude * (z * p);
    const float half = lw_exp_scaledf(magnitude, -1);
    const float outer = half - 0.25f / half;
    return lw_copysignf(lw_selectf(lw_is_insidef(x, 1.0f), inner, outer), x);
}
/* lw: end */

/* lw: lw_coshf needs lw_absf lw_exp_scaledf lw_no_contract */
/* Error 1.40 ulp. */
static inline float lw_coshf(float x)
{
    const float half = lw_exp_scaledf(lw_absf(x), -1);
    return half + 0.25f / half;
}
/* lw: end */

/* ---- float: logarithms. x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) ---- */

/* lw: lw_log_tailf needs lw_no_contract */
/* log(1 + f) - f = -f^2/2 + f^3 p(f). */
static inline float lw_log_tailf(float f)
{
    const float z = f * f;
    float p = 0.06637207f;
    p = p * f - 0.115891926f;
    p = p * f + 0.118960895f;
    p = p * f - 0.12422726f;
    p = p * f + 0.1422036f;
    p = p * f - 0.1666688f;
    p = p * f + 0.20002052f;
    p = p * f - 0.25000033f;
    p = p * f + 0.33333313f;
    return f * z * p - 0.5f * z;
}
/* lw: end */

/* lw: lw_log_splitf needs lw_f32_bits lw_f32_from_bits lw_selectf lw_no_contract */
/* Returns f, and k in *k, for finite x > 0; any value for others. A subnormal is normalized first. The offset moves the
 * carry into the exponent from 1 to sqrt(1/2), whose bits are 0x3f3504f3. */
static inline float lw_log_splitf(float x, float *k)
{
    const uint32_t is_subnormal = lw_f32_bits(x) < UINT32_C(0x00800000);
    const float scaled = x * lw_selectf(is_subnormal, 8388608.0f /* 2^23 */, 1.0f);
    const uint32_t offset = lw_f32_bits(scaled) + UINT32_C(0x3f800000) - UINT32_C(0x3f3504f3);
    *k = (float)(int32_t)(offset >> 23) - lw_selectf(is_subnormal, 150.0f, 127.0f);
    return lw_f32_from_bits((offset & UINT32_C(0x007fffff)) + UINT32_C(0x3f3504f3)) - 1.0f;
}
/* lw: end */

/* lw: lw_log_specialf needs lw_f32_bits lw_f32_from_bits lw_selectf */
/* Returns `value` for a finite positive x, and the logarithm of the others: -inf of zeros, inf of inf, else NaN. */
static inline float lw_log_specialf(float x, float value)
{
    const uint32_t bits = lw_f32_bits(x);
    const uint32_t is_ordinary = bits - 1 < UINT32_C(0x7f7fffff);
    const uint32_t unlike_inf = bits << 1 == 0 ? UINT32_C(0xff800000) : UINT32_C(0x7fc00000);
    const float special = lw_f32_from_bits(bits == UINT32_C(0x7f800000) ? bits : unlike_inf);
    return lw_selectf(is_ordinary, value, special);
}
/* lw: end */

/* lw: lw_logf needs lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* k log 2 + log(1 + f). Error 0.85 ulp. */
static inline float lw_logf(float x)
{
    float k;
    const float f = lw_log_splitf(x, &k);
    const float tail = lw_log_tailf(f) + k * 1.4286068e-06f;
    return lw_log_specialf(x, k * 0.69314575f + (f + tail));
}
/* lw: end */

/* lw: lw_log2f needs lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* k + log(1 + f) / log 2 with 1 / log 2 = 1 + 0.4427. Error 1.30 ulp. */
static inline float lw_log2f(float x)
{
    float k;
    const float f = lw_log_splitf(x, &k);
    const float tail = f * 0.44269505f + lw_log_tailf(f) * 1.442695f;
    return lw_log_specialf(x, k + (f + tail));
}
/* lw: end */

/* lw: lw_log10f needs lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* k log10(2) + log(1 + f) / log 10 with 1 / log 10 = 1/2 - 0.0657. Error 1.10 ulp. */
static inline float lw_log10f(float x)
{
    float k;
    const float f = lw_log_splitf(x, &k);
    const float tail = (lw_log_tailf(f) * 0.4342945f - f * 0.065705515f) + k * 4.605039e-06f;
    return lw_log_specialf(x, k * 0.3010254f + (0.5f * f + tail));
}
/* lw: end */

/* lw: lw_log1pf needs lw_selectf lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* log(1 + x) = log(u) + c / u, where u = 1 + x rounded and c is the rounding error. Error 0.85 ulp. */
static inline float lw_log1pf(float x)
{
    const float u = 1.0f + x;
    const float c = lw_selectf(x < 1.0f, x - (u - 1.0f), 1.0f - (u - x));
    float k;
    const float f = lw_log_splitf(u, &k);
    const float tail = lw_log_tailf(f) + (c / u + k * 1.4286068e-06f);
    const float value = lw_log_specialf(u, k * 0.69314575f + (f + tail));
    return lw_selectf(x == 0.0f, x, value);
}
/* lw: end */

/* lw: lw_asinhf needs lw_absf lw_copysignf lw_sqrtf lw_logf lw_log1pf lw_no_contract */
/* log(x + sqrt(x^2 + 1)), for large x log(2x). Error 1.75 ulp. */
static inline float lw_asinhf(float x)
{
    const float a = lw_absf(x);
    if (!(a < 8192.0f /* 2^13 */))
        return lw_copysignf(lw_logf(a) + 0.6931472f, x);
    const float z = a * a;
    return lw_copysignf(lw_log1pf(a + z / (1.0f + lw_sqrtf(1.0f + z))), x);
}
/* lw: end */

/* lw: lw_acoshf needs lw_nanf lw_sqrtf lw_logf lw_log1pf lw_no_contract */
/* log(x + sqrt(x^2 - 1)), for large x log(2x); NaN below 1. Error 2.00 ulp. */
static inline float lw_acoshf(float x)
{
    if (!(x >= 1.0f))
        return lw_nanf();
    if (x >= 8192.0f /* 2^13 */)
        return lw_logf(x) + 0.6931472f;
    const float t = x - 1.0f;
    return lw_log1pf(t + lw_sqrtf(t + t + t * t));
}
/* lw: end */

/* lw: lw_atanhf needs lw_absf lw_copysignf lw_log1pf lw_no_contract */
/* log((1 + x) / (1 - x)) / 2; infinite at 1, NaN beyond. Error 1.75 ulp. */
static inline float lw_atanhf(float x)
{
    const float a = lw_absf(x);
    const float twice = a + a;
    const float ratio = a < 0.5f ? twice + twice * a / (1.0f - a) : twice / (1.0f - a);
    return lw_copysignf(0.5f * lw_log1pf(ratio), x);
}
/* lw: end */

/* ---- float: circular functions ---- */

/* lw: lw_rem_pio2f needs lw_f32_bits lw_absf lw_no_contract */
/* Reduces a finite x to [-pi/4, pi/4]: x = (4 m + *quadrant) pi/2 + result + *tail (Payne, Hanek, "Radian reduction for
 * trigonometric functions", 1983). With |x| = mantissa * 2^e, the bits of 2/pi whose product with |x| is a multiple of
 * 4 are skipped. The next 96 bits yield, after the product, two bits of quadrant and 62 of fraction. */
static inline float lw_rem_pio2f(float x, float *tail, uint32_t *quadrant)
{
    /* 2/pi * 2^256 from the top, after 32 zeros. */
    static const uint32_t two_over_pi[8] = {
        UINT32_C(0x00000000), UINT32_C(0xa2f9836e), UINT32_C(0x4e441529), UINT32_C(0xfc2757d1),
        UINT32_C(0xf534ddc0), UINT32_C(0xdb629599), UINT32_C(0x3c439041), UINT32_C(0xfe5163ab),
    };
    *tail = 0.0f;
    *quadrant = 0;
    if (lw_absf(x) <= 0.7853982f)
        return x;
    const uint32_t bits = lw_f32_bits(x);
    const uint64_t mantissa = (bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000);
    const uint32_t position = ((bits >> 23) & 255) - 120; /* e + 30, at least 6 */
    const uint32_t shift = 32 - (position & 31);
    const uint32_t *word = two_over_pi + (position >> 5);
    const uint32_t high = (uint32_t)((((uint64_t)word[0] << 32) | word[1]) >> shift);
    const uint32_t middle = (uint32_t)((((uint64_t)word[1] << 32) | word[2]) >> shift);
    const uint32_t low = (uint32_t)((((uint64_t)word[2] << 32) | word[3]) >> shift);
    const uint64_t turns = ((mantissa * high) << 32) + mantissa * middle + ((mantissa * low) >> 32);
    /* The fraction as sign and magnitude, then times pi/2 (as 0xc90fdaa22168c234 / 2^63). */
    const uint64_t fraction = turns << 2;
    const uint32_t is_upper = (uint32_t)(fraction >> 63);
    const uint64_t part = is_upper ? 0 - fraction : fraction;
    const uint64_t angle = (part >> 32) * UINT32_C(0xc90fdaa2) + (((part >> 32) * UINT32_C(0x2168c234)) >> 32) +
                           (((part & UINT32_C(0xffffffff)) * UINT32_C(0xc90fdaa2)) >> 32);
    const uint64_t top = angle & UINT64_C(0xffffff0000000000);
    const float a = (float)(uint32_t)(top >> 32) * 4.656613e-10f /* 2^-31 */;
    const float b = (float)(angle - top) * 1.0842022e-19f /* 2^-63 */;
    const float r = a + b;
    const uint32_t is_negative = is_upper ^ (bits >> 31);
    *tail = is_negative ? -(b - (r - a)) : b - (r - a);
    const uint32_t count = (uint32_t)(turns >> 62) + is_upper;
    *quadrant = (bits >> 31 ? 0 - count : count) & 3;
    return is_negative ? -r : r;
}
/* lw: end */

/* lw: lw_sin_kernelf needs lw_no_contract */
/* sin(r + t), |r| <= pi/4, t tiny; *low receives the error of the result's last rounding. */
static inline float lw_sin_kernelf(float r, float t, float *low)
{
    const float z = r * r;
    float p = -1.9518286e-04f;
    p = p * z + 0.008332189f;
    p = p * z - 0.16666655f;
    const float rest = r * (z * p) + t;
    const float sine = r + rest;
    *low = rest - (sine - r);
    return sine;
}
/* lw: end */

/* lw: lw_cos_kernelf needs lw_no_contract */
/* cos(r + t) = 1 - r^2/2 + r^4 p(r^2) - r t, plus the rounding error of 1 - r^2/2. */
static inline float lw_cos_kernelf(float r, float t, float *low)
{
    const float z = r * r;
    float p = 2.4430661e-05f;
    p = p * z - 0.0013887301f;
    p = p * z + 0.041666646f;
    const float half = 0.5f * z;
    const float top = 1.0f - half;
    const float rest = ((1.0f - top) - half) + (z * z * p - r * t);
    const float cosine = top + rest;
    *low = rest - (cosine - top);
    return cosine;
}
/* lw: end */

/* lw: lw_sin_shiftedf needs lw_absf lw_inff lw_nanf lw_rem_pio2f lw_sin_kernelf lw_cos_kernelf */
/* sin(x + quarters pi/2). */
static inline float lw_sin_shiftedf(float x, uint32_t quarters)
{
    if (!(lw_absf(x) < lw_inff()))
        return lw_nanf();
    float tail, low;
    uint32_t quadrant;
    const float r = lw_rem_pio2f(x, &tail, &quadrant);
    quadrant += quarters;
    const float value = quadrant & 1 ? lw_cos_kernelf(r, tail, &low) : lw_sin_kernelf(r, tail, &low);
    return quadrant & 2 ? -value : value;
}
/* lw: end */

/* lw: lw_sinf needs lw_sin_shiftedf */
/* Error 0.90 ulp. */
static inline float lw_sinf(float x)
{
    return x == 0.0f ? x : lw_sin_shiftedf(x, 0);
}
/* lw: end */

/* lw: lw_cosf needs lw_sin_shiftedf */
/* Error 0.95 ulp. */
static inline float lw_cosf(float x)
{
    return lw_sin_shiftedf(x, 1);
}
/* lw: end */

/* lw: lw_tanf needs lw_absf lw_inff lw_nanf lw_rem_pio2f lw_sin_kernelf lw_cos_kernelf */
/* sine / cosine or -cosine / sine. The error of the quotient q of two rounded values is (numerator_low - q
 * denominator_low) / denominator. Error 1.65 ulp. */
static inline float lw_tanf(float x)
{
    if (x == 0.0f)
        return x;
    if (!(lw_absf(x) < lw_inff()))
        return lw_nanf();
    float tail, sine_low, cosine_low;
    uint32_t quadrant;
    const float r = lw_rem_pio2f(x, &tail, &quadrant);
    const float sine = lw_sin_kernelf(r, tail, &sine_low);
    const float cosine = lw_cos_kernelf(r, tail, &cosine_low);
    if (quadrant & 1) {
        const float quotient = -cosine / sine;
        return quotient - (cosine_low + quotient * sine_low) / sine;
    }
    const float quotient = sine / cosine;
    return quotient + (sine_low - quotient * cosine_low) / cosine;
}
/* lw: end */

/* lw: lw_asin_polyf needs lw_no_contract */
/* (asin(x) - x) / x, z = x^2 <= 1/4. */
static inline float lw_asin_polyf(float z)
{
    float p = 0.04215872f;
    p = p * z + 0.02418462f;
    p = p * z + 0.045469165f;
    p = p * z + 0.074953094f;
    p = p * z + 0.16666752f;
    return z * p;
}
/* lw: end */

/* lw: lw_acos_pairf needs lw_f32_bits lw_f32_from_bits lw_sqrtf lw_asin_polyf lw_no_contract */
/* acos(a) = 2 asin(sqrt((1 - a) / 2)) for a >= 1/2, as the result, which has few bits, and *tail: the root s is
 * truncated to `high`, and (z - high^2) / (s + high) restores the truncated and rounded part. */
static inline float lw_acos_pairf(float a, float *tail)
{
    const float z = 0.5f * (1.0f - a);
    const float s = lw_sqrtf(z);
    const float high = lw_f32_from_bits(lw_f32_bits(s) & UINT32_C(0xfffff000));
    const float low = s == 0.0f ? 0.0f : (z - high * high) / (s + high);
    *tail = 2.0f * (low + s * lw_asin_polyf(z));
    return 2.0f * high;
}
/* lw: end */

/* lw: lw_asinf needs lw_absf lw_copysignf lw_asin_polyf lw_acos_pairf lw_no_contract */
/* NaN beyond 1. Error 0.75 ulp. */
static inline float lw_asinf(float x)
{
    const float a = lw_absf(x);
    if (a < 0.5f)
        return x + x * lw_asin_polyf(x * x);
    float tail;
    const float high = lw_acos_pairf(a, &tail);
    return lw_copysignf((1.5707964f - high) - (tail + 4.371139e-08f), x);
}
/* lw: end */

/* lw: lw_acosf needs lw_absf lw_asin_polyf lw_acos_pairf lw_no_contract */
/* NaN beyond 1. Error 0.80 ulp. */
static inline float lw_acosf(float x)
{
    if (lw_absf(x) < 0.5f)
        return 1.5707964f - (x + (x * lw_asin_polyf(x * x) + 4.371139e-08f));
    float tail;
    const float high = lw_acos_pairf(lw_absf(x), &tail);
    return x > 0.0f ? high + tail : (3.1415927f - high) - (tail + 8.742278e-08f);
}
/* lw: end */

/* lw: lw_atan_unitf needs lw_no_contract */
/* x + x^3 p(x^2) for 0 <= x <= 1. */
static inline float lw_atan_unitf(float x)
{
    const float z = x * x;
    float p = -0.0017820876f;
    p = p * z + 0.0108660115f;
    p = p * z - 0.031093037f;
    p = p * z + 0.05787836f;
    p = p * z - 0.08399178f;
    p = p * z + 0.109508514f;
    p = p * z - 0.14264013f;
    p = p * z + 0.1999853f;
    p = p * z - 0.333333f;
    return x + x * (z * p);
}
/* lw: end */

/* lw: lw_atanf needs lw_absf lw_copysignf lw_atan_unitf lw_no_contract */
/* Beyond 1: pi/2 - atan(1/x). Error 1.45 ulp. */
static inline float lw_atanf(float x)
{
    const float a = lw_absf(x);
    const float unit = lw_atan_unitf(a > 1.0f ? 1.0f / a : a);
    const float beyond = 1.5707964f - (unit + 4.371139e-08f);
    return lw_copysignf(a > 1.0f ? beyond : unit, x);
}
/* lw: end */

/* lw: lw_atan2f needs lw_f32_bits lw_absf lw_copysignf lw_atan_unitf lw_no_contract */
/* The angle of the point (x, y): atan of the smaller coordinate over the larger, moved to its octant. Error 1.55
 * ulp. */
static inline float lw_atan2f(float y, float x)
{
    if (x != x || y != y)
        return x + y;
    const float ax = lw_absf(x), ay = lw_absf(y);
    const float larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
    const float ratio = larger == 0.0f ? 0.0f : ax == ay ? 1.0f : smaller / larger;
    const float unit = lw_atan_unitf(ratio);
    const uint32_t is_left = lw_f32_bits(x) >> 31;
    float angle = unit;
    if (ay > ax)
        angle = 1.5707964f + ((is_left ? unit : -unit) - 4.371139e-08f);
    else if (is_left)
        angle = 3.1415927f + (-unit - 8.742278e-08f);
    return lw_copysignf(angle, y);
}
/* lw: end */

#endif
