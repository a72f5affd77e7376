/* SPDX-License-Identifier: 0BSD */
/* Shared by the functions of lw_math.h: bits of floats and doubles, integer division, 16-bit floats. */
#ifndef LW_MATH_COMMON_H
#define LW_MATH_COMMON_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* lw: lw_no_contract needs */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
/* lw: end */

/* lw: lw_branches needs */
/* Selects the form of choices. Cores that compute several floats at once have no branches; scalar cores have branches,
 * and compute only one side. The bits are equal. */
#ifndef LW_BRANCHES
#if (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(__ARM_FEATURE_MVE)) || \
    (defined(__riscv) && !defined(__riscv_vector)) || defined(__XTENSA__) || defined(__AVR__)
#define LW_BRANCHES 1
#else
#define LW_BRANCHES 0
#endif
#endif
/* lw: end */

/* ---- bits ---- */

/* lw: lw_f32_bits needs */
/*@ assigns \nothing; */
static inline uint32_t lw_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* lw: end */

/* lw: lw_f32_from_bits needs */
/*@ assigns \nothing; */
static inline float lw_f32_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* lw: end */

/* lw: lw_f64_bits needs */
/*@ assigns \nothing; */
static inline uint64_t lw_f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* lw: end */

/* lw: lw_f64_from_bits needs */
/*@ assigns \nothing; */
static inline double lw_f64_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* lw: end */

/* ---- integer division ---- */

/* lw: lw_floordiv32 needs */
/* Returns floor(a / b), or 0 for division by zero; -2^31 / -1 wraps to -2^31. */
/*@ assigns \nothing; */
static inline int32_t lw_floordiv32(int32_t a, int32_t b)
{
    if (b == 0 || (b == -1 && a == INT32_MIN))
        return b == 0 ? 0 : INT32_MIN;
    const int32_t quotient = a / b;
    const int32_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}
/* lw: end */

/* lw: lw_floormod32 needs */
/* Returns a - b * floor(a / b), which has the sign of b or is zero, or 0 for division by zero. */
/*@ assigns \nothing; */
static inline int32_t lw_floormod32(int32_t a, int32_t b)
{
    if (b == 0 || b == -1)
        return 0;
    const int32_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* lw: end */

/* ---- 16-bit floats ---- */

/* lw: lw_half_to_float needs lw_f32_bits lw_f32_from_bits */
/* Converts IEEE binary16 exactly. A NaN keeps its payload and becomes quiet. */
/*@ assigns \nothing; */
static inline float lw_half_to_float(uint16_t half)
{
    const uint32_t sign = ((uint32_t)half & UINT32_C(0x8000)) << 16;
    const uint32_t magnitude = (uint32_t)half & UINT32_C(0x7fff);
    const uint32_t subnormal = lw_f32_bits((float)(int32_t)magnitude * 5.9604645e-08f /* 2^-24 */);
    const uint32_t normal = (magnitude << 13) + UINT32_C(0x38000000);
    const uint32_t special = (magnitude << 13) | (magnitude > 0x7c00 ? UINT32_C(0x7fc00000) : UINT32_C(0x7f800000));
    return lw_f32_from_bits(sign | (magnitude < 0x0400 ? subnormal : magnitude < 0x7c00 ? normal : special));
}
/* lw: end */

/* lw: lw_float_to_half needs lw_f32_bits lw_f32_from_bits */
/* Rounds to nearest, ties to even, and to infinity if |x| >= 65520. Adding 0.5 to a value below 2^-14 rounds it to a
 * multiple of 2^-24, the unit of subnormals. */
/*@ assigns \nothing; */
static inline uint16_t lw_float_to_half(float x)
{
    const uint32_t sign = (lw_f32_bits(x) & UINT32_C(0x80000000)) >> 16;
    const uint32_t magnitude = lw_f32_bits(x) & UINT32_C(0x7fffffff);
    const uint32_t subnormal = lw_f32_bits(lw_f32_from_bits(magnitude) + 0.5f) - UINT32_C(0x3f000000);
    const uint32_t normal = (magnitude - UINT32_C(0x38000000) + UINT32_C(0x0fff) + ((magnitude >> 13) & 1)) >> 13;
    const uint32_t nan = UINT32_C(0x7e00) | ((magnitude >> 13) & UINT32_C(0x3ff));
    const uint32_t special = magnitude > UINT32_C(0x7f800000) ? nan : UINT32_C(0x7c00);
    const uint32_t half = magnitude < UINT32_C(0x38800000)   ? subnormal
                          : magnitude < UINT32_C(0x477ff000) ? normal
                                                             : special;
    return (uint16_t)(sign | half);
}
/* lw: end */

/* lw: lw_bf16_to_float needs lw_f32_from_bits */
/* Returns the float whose upper half is bf16, which is exact. */
/*@ assigns \nothing; */
static inline float lw_bf16_to_float(uint16_t bf16)
{
    return lw_f32_from_bits((uint32_t)bf16 << 16);
}
/* lw: end */

/* lw: lw_float_to_bf16 needs lw_f32_bits */
/* Rounds to nearest, ties to even. */
/*@ assigns \nothing; */
static inline uint16_t lw_float_to_bf16(float x)
{
    const uint32_t bits = lw_f32_bits(x);
    const uint32_t rounded = (bits + UINT32_C(0x7fff) + ((bits >> 16) & 1)) >> 16;
    const uint32_t quiet = (bits >> 16) | UINT32_C(0x40);
    return (uint16_t)((bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) ? quiet : rounded);
}
/* lw: end */

#endif
