/* SPDX-License-Identifier: 0BSD */
/* The vectors of simd.h in plain C99: defines every name as a loop over lanes around a formula. This header provides
 * only the widths for which no other header has registers. */
#ifndef LW_SIMD_SCALAR_H
#define LW_SIMD_SCALAR_H

#include "../lw_base.h"
#include "../lw_math.h"
#include "simd.h"

/* lw: LW_SIMD_SCALAR needs lw_fmaf lw_sqrtf lw_minf lw_maxf lw_absf lw_min_i32 lw_max_i32 lw_i32_from_f32 */
#define LW_LANES(lanes, result, name, operands, formula)                                                               \
    static inline result name operands                                                                                 \
    {                                                                                                                  \
        result r;                                                                                                      \
        for (int i = 0; i < lanes; i++) r.lane[i] = formula;                                                           \
        return r;                                                                                                      \
    }

/* V, I and M are the types of `lanes` floats, integers and truth values. */
#define LW_SIMD_SCALAR(lanes, V, I, M)                                                                                 \
    typedef struct V { float lane[lanes]; } V;                                                                         \
    typedef struct I { int32_t lane[lanes]; } I;                                                                       \
    typedef struct M { unsigned char lane[lanes]; } M;                                                                 \
    LW_LANES(lanes, V, V##_load, (const float *p), p[i])                                                               \
    LW_LANES(lanes, V, V##_broadcast, (float a), a)                                                                    \
    LW_LANES(lanes, V, V##_hold, (V a), a.lane[i])                                                                     \
    LW_LANES(lanes, V, V##_neg, (V a), -a.lane[i])                                                                     \
    LW_LANES(lanes, V, V##_abs, (V a), lw_absf(a.lane[i]))                                                             \
    LW_LANES(lanes, V, V##_sqrt, (V a), lw_sqrtf(a.lane[i]))                                                           \
    LW_LANES(lanes, V, V##_add, (V a, V b), a.lane[i] + b.lane[i])                                                     \
    LW_LANES(lanes, V, V##_sub, (V a, V b), a.lane[i] - b.lane[i])                                                     \
    LW_LANES(lanes, V, V##_mul, (V a, V b), a.lane[i] * b.lane[i])                                                     \
    LW_LANES(lanes, V, V##_div, (V a, V b), a.lane[i] / b.lane[i])                                                     \
    LW_LANES(lanes, V, V##_min, (V a, V b), lw_minf(a.lane[i], b.lane[i]))                                             \
    LW_LANES(lanes, V, V##_max, (V a, V b), lw_maxf(a.lane[i], b.lane[i]))                                             \
    LW_LANES(lanes, V, V##_fma, (V a, V b, V c), lw_fmaf(a.lane[i], b.lane[i], c.lane[i]))                             \
    LW_LANES(lanes, M, V##_lt, (V a, V b), a.lane[i] < b.lane[i])                                                      \
    LW_LANES(lanes, M, V##_le, (V a, V b), a.lane[i] <= b.lane[i])                                                     \
    LW_LANES(lanes, M, V##_eq, (V a, V b), a.lane[i] == b.lane[i])                                                     \
    LW_LANES(lanes, V, V##_select, (M m, V a, V b), m.lane[i] ? a.lane[i] : b.lane[i])                                 \
    LW_LANES(lanes, V, V##_from_i32, (I a), (float)a.lane[i])                                                          \
    LW_LANES(lanes, I, I##_load, (const int32_t *p), p[i])                                                             \
    LW_LANES(lanes, I, I##_load_i8, (const int8_t *p), p[i])                                                           \
    LW_LANES(lanes, I, I##_load_u8, (const uint8_t *p), p[i])                                                          \
    LW_LANES(lanes, I, I##_load_i16, (const int16_t *p), p[i])                                                         \
    LW_LANES(lanes, I, I##_broadcast, (int32_t a), a)                                                                  \
    LW_LANES(lanes, I, I##_add, (I a, I b), (int32_t)((uint32_t)a.lane[i] + (uint32_t)b.lane[i]))                      \
    LW_LANES(lanes, I, I##_sub, (I a, I b), (int32_t)((uint32_t)a.lane[i] - (uint32_t)b.lane[i]))                      \
    LW_LANES(lanes, I, I##_mul, (I a, I b), (int32_t)((uint32_t)a.lane[i] * (uint32_t)b.lane[i]))                      \
    LW_LANES(lanes, I, I##_min, (I a, I b), lw_min_i32(a.lane[i], b.lane[i]))                                          \
    LW_LANES(lanes, I, I##_max, (I a, I b), lw_max_i32(a.lane[i], b.lane[i]))                                          \
    LW_LANES(lanes, I, I##_and, (I a, I b), a.lane[i] & b.lane[i])                                                     \
    LW_LANES(lanes, I, I##_or, (I a, I b), a.lane[i] | b.lane[i])                                                      \
    LW_LANES(lanes, I, I##_xor, (I a, I b), a.lane[i] ^ b.lane[i])                                                     \
    LW_LANES(lanes, M, I##_lt, (I a, I b), a.lane[i] < b.lane[i])                                                      \
    LW_LANES(lanes, M, I##_le, (I a, I b), a.lane[i] <= b.lane[i])                                                     \
    LW_LANES(lanes, M, I##_eq, (I a, I b), a.lane[i] == b.lane[i])                                                     \
    LW_LANES(lanes, I, I##_select, (M m, I a, I b), m.lane[i] ? a.lane[i] : b.lane[i])                                 \
    LW_LANES(lanes, I, I##_from_f32, (V a), lw_i32_from_f32(a.lane[i]))                                                \
    LW_LANES(lanes, M, M##_and, (M a, M b), a.lane[i] & b.lane[i])                                                     \
    LW_LANES(lanes, M, M##_or, (M a, M b), a.lane[i] | b.lane[i])                                                      \
    LW_LANES(lanes, M, M##_not, (M a), !a.lane[i])                                                                     \
    static inline void V##_store(float *p, V a)                                                                        \
    {                                                                                                                  \
        for (int i = 0; i < lanes; i++) p[i] = a.lane[i];                                                              \
    }                                                                                                                  \
    static inline void I##_store(int32_t *p, I a)                                                                      \
    {                                                                                                                  \
        for (int i = 0; i < lanes; i++) p[i] = a.lane[i];                                                              \
    }
/* lw: end */

/* lw: lw_x4 needs LW_SIMD_CHOICE LW_SIMD_SCALAR */
#if !LW_SIMD_SSE4 && !LW_SIMD_NEON
LW_SIMD_SCALAR(4, lw_f32x4, lw_i32x4, lw_m32x4)
#endif
/* lw: end */

/* lw: lw_x8 needs LW_SIMD_CHOICE LW_SIMD_SCALAR */
#if !LW_SIMD_AVX2
LW_SIMD_SCALAR(8, lw_f32x8, lw_i32x8, lw_m32x8)
#endif
/* lw: end */

/* lw: lw_x16 needs LW_SIMD_CHOICE LW_SIMD_SCALAR */
#if !LW_SIMD_AVX512
LW_SIMD_SCALAR(16, lw_f32x16, lw_i32x16, lw_m32x16)
#endif
/* lw: end */
#endif
