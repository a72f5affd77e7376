/* SPDX-License-Identifier: 0BSD */
/* The functions of lw_math.h on float: its words, coefficients and reductions. lw_powf computes in double. */
#ifndef LW_MATH_FLOAT_H
#define LW_MATH_FLOAT_H

#include "lw_math_common.h"

#define LW_REAL float
#define LW_BITS uint32_t
#define LW_TO_BITS lw_f32_bits
#define LW_FROM_BITS lw_f32_from_bits
#define LW_FN(name) lw_##name##f
#define LW_NUM(number) number##f
#define LW_PICK(of_float, of_double) of_float
#include "lw_math_basics.h"

/* lw: lw_fmaf needs lw_no_contract */
/* Returns a*b + c, rounded once. The product is exact in double. The sum is rounded to odd: an inexact sum has its last
 * bit set, so the final rounding to float has no tie (Boldo, Melquiond, "Emulation of FMA", 2008). RISC-V's F extension
 * has the instruction; clang 16 does not say so. */
/*@ assigns \nothing; */
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

/* ---- exponentials ---- */

/* lw: lw_exp_polyf needs lw_no_contract */
/* Returns p(r) in e^r = 1 + r + r^2 p(r), |r| <= log(2) / 2. */
/*@ assigns \nothing; */
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
/* Returns e^r, where x = n log 2 + r, with n in the low bits of *shifted; adding 1.5 * 2^23 rounds x / log 2 to n in
 * these bits. */
/*@ requires \valid(shifted);
    assigns *shifted;
*/
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

/* lw: lw_exp_scaledf needs lw_branches lw_is_insidef lw_clampf lw_f32_bits lw_f32_from_bits lw_exp_valuef lw_ldexpf */
/* Returns e^x * 2^k for k = 0 or -1. Below 86 the result is normal, so n + k can be added to the exponent. */
/*@ assigns \nothing; */
static inline float lw_exp_scaledf(float x, int32_t k)
{
    float shifted, value;
    if (LW_BRANCHES) {
        value = lw_exp_valuef(x, &shifted);
        if (lw_is_insidef(x, 86.0f))
            return lw_f32_from_bits(lw_f32_bits(value) + ((lw_f32_bits(shifted) + (uint32_t)k) << 23));
    }
    value = lw_exp_valuef(lw_clampf(x, 104.5f), &shifted);
    return lw_ldexpf(value, lw_f32_bits(shifted) - UINT32_C(0x4b400000) + (uint32_t)k);
}
/* lw: end */

/* lw: lw_exp2_polyf needs lw_no_contract */
/* Returns p(r) in 2^r = 1 + r p(r), |r| <= 1/2. */
/*@ assigns \nothing; */
static inline float lw_exp2_polyf(float r)
{
    float p = 1.5476414e-04f;
    p = p * r + 0.001340041f;
    p = p * r + 0.009618038f;
    p = p * r + 0.055503417f;
    p = p * r + 0.2402265f;
    p = p * r + 0.6931472f;
    return p;
}
/* lw: end */

/* lw: lw_tanh_polyf needs lw_no_contract */
/* Returns (tanh(x) - x) / x, z = x^2, |x| <= 0.55. */
/*@ assigns \nothing; */
static inline float lw_tanh_polyf(float z)
{
    float p = -0.006242842f;
    p = p * z + 0.021050712f;
    p = p * z - 0.053847548f;
    p = p * z + 0.13332544f;
    p = p * z - 0.33333316f;
    return z * p;
}
/* lw: end */

/* lw: lw_sinh_polyf needs lw_no_contract */
/* Returns (sinh(x) - x) / x, z = x^2 <= 1. */
/*@ assigns \nothing; */
static inline float lw_sinh_polyf(float z)
{
    float p = 2.7822125e-06f;
    p = p * z + 1.9842896e-04f;
    p = p * z + 0.0083333105f;
    p = p * z + 0.16666667f;
    return z * p;
}
/* lw: end */

/* ---- logarithms ---- */

/* lw: lw_log_tailf needs lw_no_contract */
/* Returns log(1 + f) - f = -f^2/2 + f^3 p(f). */
/*@ assigns \nothing; */
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

/* ---- circular functions ---- */

/* lw: lw_rem_pio2f needs lw_f32_bits lw_absf lw_no_contract */
/* Reduces a finite x to [-pi/4, pi/4]: x = (4 m + *quadrant) pi/2 + result + *tail (Payne, Hanek, "Radian reduction for
 * trigonometric functions", 1983). With |x| = mantissa * 2^e, the bits of 2/pi whose product with |x| is a multiple of
 * 4 are skipped. The product with the next 96 bits yields two bits of quadrant and 62 bits of fraction. */
/*@ requires \valid(tail);
    requires \valid(quadrant);
    requires \separated(tail, quadrant);
    assigns *tail, *quadrant;
*/
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
    const uint32_t position = ((bits >> 23) & 255) - 120; /* e + 30, which is at least 6 */
    const uint32_t shift = 32 - (position & 31);
    const uint32_t *word = two_over_pi + (position >> 5);
    const uint32_t high = (uint32_t)((((uint64_t)word[0] << 32) | word[1]) >> shift);
    const uint32_t middle = (uint32_t)((((uint64_t)word[1] << 32) | word[2]) >> shift);
    const uint32_t low = (uint32_t)((((uint64_t)word[2] << 32) | word[3]) >> shift);
    const uint64_t turns = ((mantissa * high) << 32) + mantissa * middle + ((mantissa * low) >> 32);
    /* the fraction as sign and magnitude, then times pi/2 (as 0xc90fdaa22168c234 / 2^63) */
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
/* Returns sin(r + t) for |r| <= pi/4 and a tiny t; *low becomes the error of the result's last rounding. */
/*@ requires \valid(low);
    assigns *low;
*/
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

/* lw: lw_cos_polyf needs lw_no_contract */
/* Returns p(z) in cos(r) = 1 - z/2 + z^2 p(z), z = r^2. */
/*@ assigns \nothing; */
static inline float lw_cos_polyf(float z)
{
    float p = 2.4430661e-05f;
    p = p * z - 0.0013887301f;
    p = p * z + 0.041666646f;
    return p;
}
/* lw: end */

/* lw: lw_asin_polyf needs lw_no_contract */
/* Returns (asin(x) - x) / x, z = x^2 <= 1/4. */
/*@ assigns \nothing; */
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

/* lw: lw_atan_unitf needs lw_no_contract */
/* Returns x + x^3 p(x^2) for 0 <= x <= 1. */
/*@ assigns \nothing; */
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

/* ---- functions ---- */

#include "lw_math_functions.h"

/* lw: lw_sigmoidf needs lw_branches lw_absf lw_selectf lw_f32_bits lw_expf lw_no_contract */
/* Returns 1 / (1 + e^-x), computed with e^-|x|, which cannot overflow. For a negative x the result may be small. The
 * small result is then corrected by the rounding error of 1 + e times 1 / (1 + e), which is 1 minus the quotient. Error
 * 1.95 ulp. */
/*@ assigns \nothing; */
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

/* lw: lw_erff needs lw_absf lw_copysignf lw_selectf lw_is_insidef lw_clampf lw_expf lw_no_contract */
/* Returns x + x p(x^2) below 0.9375, then 1 - e^-q(x), q = -log erfc; 1 for x >= 4. Error 1.25 ulp. */
/*@ assigns \nothing; */
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

/* lw: lw_log2f needs lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* Returns k + log(1 + f) / log 2 with 1 / log 2 = 1 + 0.4427. Error 1.30 ulp. */
/*@ assigns \nothing; */
static inline float lw_log2f(float x)
{
    float k;
    const float f = lw_log_splitf(x, &k);
    const float tail = f * 0.44269505f + lw_log_tailf(f) * 1.442695f;
    return lw_log_specialf(x, k + (f + tail));
}
/* lw: end */

/* lw: lw_log10f needs lw_log_splitf lw_log_tailf lw_log_specialf lw_no_contract */
/* Returns k log10(2) + log(1 + f) / log 10 with 1 / log 10 = 1/2 - 0.0657. Error 1.10 ulp. */
/*@ assigns \nothing; */
static inline float lw_log10f(float x)
{
    float k;
    const float f = lw_log_splitf(x, &k);
    const float tail = (lw_log_tailf(f) * 0.4342945f - f * 0.065705515f) + k * 4.605039e-06f;
    return lw_log_specialf(x, k * 0.3010254f + (0.5f * f + tail));
}
/* lw: end */

/* lw: lw_atanf needs lw_absf lw_copysignf lw_atan_unitf lw_no_contract */
/* Returns pi/2 - atan(1/x) beyond 1. Error 1.45 ulp. */
/*@ assigns \nothing; */
static inline float lw_atanf(float x)
{
    const float a = lw_absf(x);
    const float unit = lw_atan_unitf(a > 1.0f ? 1.0f / a : a);
    const float beyond = 1.5707964f - (unit + 4.371139e-08f);
    return lw_copysignf(a > 1.0f ? beyond : unit, x);
}
/* lw: end */

#endif
