/* SPDX-License-Identifier: 0BSD */
/* Vectors of 16 lanes in the registers of AVX-512F. A mask is a mask register. */
#ifndef LW_SIMD_AVX512_H
#define LW_SIMD_AVX512_H

#include <stdint.h>

#include "simd.h"

/* lw: lw_x16 needs LW_SIMD_CHOICE */
#if LW_SIMD_AVX512
typedef __m512 lw_f32x16;
typedef __m512i lw_i32x16;
typedef __mmask16 lw_m32x16;

static inline lw_f32x16 lw_f32x16_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void lw_f32x16_store(float *p, lw_f32x16 a) { _mm512_storeu_ps(p, a); }
static inline lw_f32x16 lw_f32x16_broadcast(float a) { return _mm512_set1_ps(a); }
static inline lw_f32x16 lw_f32x16_hold(lw_f32x16 a)
{
#if defined(__GNUC__)
    __asm__("" : "+v"(a));
#endif
    return a;
}
static inline lw_f32x16 lw_f32x16_neg(lw_f32x16 a)
{
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MIN)));
}
static inline lw_f32x16 lw_f32x16_abs(lw_f32x16 a)
{
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MAX)));
}
static inline lw_f32x16 lw_f32x16_sqrt(lw_f32x16 a) { return _mm512_sqrt_ps(a); }
static inline lw_f32x16 lw_f32x16_add(lw_f32x16 a, lw_f32x16 b) { return _mm512_add_ps(a, b); }
static inline lw_f32x16 lw_f32x16_sub(lw_f32x16 a, lw_f32x16 b) { return _mm512_sub_ps(a, b); }
static inline lw_f32x16 lw_f32x16_mul(lw_f32x16 a, lw_f32x16 b) { return _mm512_mul_ps(a, b); }
static inline lw_f32x16 lw_f32x16_div(lw_f32x16 a, lw_f32x16 b) { return _mm512_div_ps(a, b); }

/* The instructions return their second operand if either is NaN or both are zeros. A constant other than zero and NaN
 * can be their first operand instead, and the maximum with +0 is a if a is not at most +0. */
#if defined(__GNUC__)
#define LW_AVX512_FOUR(b, i, holds)                                                                                    \
    (__builtin_constant_p((b)[i]) && __builtin_constant_p((b)[(i) + 1]) && __builtin_constant_p((b)[(i) + 2])          \
     && __builtin_constant_p((b)[(i) + 3]) && holds((b)[i]) && holds((b)[(i) + 1]) && holds((b)[(i) + 2])              \
     && holds((b)[(i) + 3]))
#define LW_AVX512_ALL(b, holds)                                                                                        \
    (LW_AVX512_FOUR(b, 0, holds) && LW_AVX512_FOUR(b, 4, holds) && LW_AVX512_FOUR(b, 8, holds)                         \
     && LW_AVX512_FOUR(b, 12, holds))
#else
#define LW_AVX512_ALL(b, holds) 0
#endif
#define LW_AVX512_IS_NOT_ZERO(b) ((b) < 0.0f || (b) > 0.0f)
#define LW_AVX512_IS_ZERO(b) ((b) == 0.0f && !__builtin_signbit(b))
static inline lw_f32x16 lw_f32x16_min(lw_f32x16 a, lw_f32x16 b)
{
    if (LW_AVX512_ALL(b, LW_AVX512_IS_NOT_ZERO)) return _mm512_min_ps(b, a);
    return _mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}
static inline lw_f32x16 lw_f32x16_max(lw_f32x16 a, lw_f32x16 b)
{
    if (LW_AVX512_ALL(b, LW_AVX512_IS_NOT_ZERO)) return _mm512_max_ps(b, a);
    if (LW_AVX512_ALL(b, LW_AVX512_IS_ZERO)) return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ), a);
    return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

static inline lw_f32x16 lw_f32x16_fma(lw_f32x16 a, lw_f32x16 b, lw_f32x16 c) { return _mm512_fmadd_ps(a, b, c); }
static inline lw_m32x16 lw_f32x16_lt(lw_f32x16 a, lw_f32x16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline lw_m32x16 lw_f32x16_le(lw_f32x16 a, lw_f32x16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline lw_m32x16 lw_f32x16_eq(lw_f32x16 a, lw_f32x16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline lw_f32x16 lw_f32x16_select(lw_m32x16 m, lw_f32x16 a, lw_f32x16 b) { return _mm512_mask_mov_ps(b, m, a); }
static inline lw_f32x16 lw_f32x16_from_i32(lw_i32x16 a) { return _mm512_cvtepi32_ps(a); }

static inline lw_i32x16 lw_i32x16_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline void lw_i32x16_store(int32_t *p, lw_i32x16 a) { _mm512_storeu_si512(p, a); }
static inline lw_i32x16 lw_i32x16_broadcast(int32_t a) { return _mm512_set1_epi32(a); }
static inline lw_i32x16 lw_i32x16_load_i8(const int8_t *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline lw_i32x16 lw_i32x16_load_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline lw_i32x16 lw_i32x16_load_i16(const int16_t *p)
{
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline lw_i32x16 lw_i32x16_add(lw_i32x16 a, lw_i32x16 b) { return _mm512_add_epi32(a, b); }
static inline lw_i32x16 lw_i32x16_sub(lw_i32x16 a, lw_i32x16 b) { return _mm512_sub_epi32(a, b); }
static inline lw_i32x16 lw_i32x16_min(lw_i32x16 a, lw_i32x16 b) { return _mm512_min_epi32(a, b); }
static inline lw_i32x16 lw_i32x16_max(lw_i32x16 a, lw_i32x16 b) { return _mm512_max_epi32(a, b); }
static inline lw_i32x16 lw_i32x16_mul(lw_i32x16 a, lw_i32x16 b) { return _mm512_mullo_epi32(a, b); }
static inline lw_i32x16 lw_i32x16_and(lw_i32x16 a, lw_i32x16 b) { return _mm512_and_si512(a, b); }
static inline lw_i32x16 lw_i32x16_or(lw_i32x16 a, lw_i32x16 b) { return _mm512_or_si512(a, b); }
static inline lw_i32x16 lw_i32x16_xor(lw_i32x16 a, lw_i32x16 b) { return _mm512_xor_si512(a, b); }
static inline lw_m32x16 lw_i32x16_lt(lw_i32x16 a, lw_i32x16 b) { return _mm512_cmplt_epi32_mask(a, b); }
static inline lw_m32x16 lw_i32x16_le(lw_i32x16 a, lw_i32x16 b) { return _mm512_cmple_epi32_mask(a, b); }
static inline lw_m32x16 lw_i32x16_eq(lw_i32x16 a, lw_i32x16 b) { return _mm512_cmpeq_epi32_mask(a, b); }
static inline lw_i32x16 lw_i32x16_select(lw_m32x16 m, lw_i32x16 a, lw_i32x16 b)
{
    return _mm512_mask_mov_epi32(b, m, a);
}

/* The instruction returns the minimum integer if the value does not fit. The result is the maximum for values of at
 * least 2^31, and 0 for NaN. */
static inline lw_i32x16 lw_i32x16_from_f32(lw_f32x16 a)
{
    const lw_m32x16 too_large = _mm512_cmp_ps_mask(a, _mm512_set1_ps(2147483648.0f), _CMP_GE_OQ);
    const lw_i32x16 whole = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a);
    return _mm512_mask_mov_epi32(whole, too_large, _mm512_set1_epi32(INT32_MAX));
}

static inline lw_m32x16 lw_m32x16_and(lw_m32x16 a, lw_m32x16 b) { return _mm512_kand(a, b); }
static inline lw_m32x16 lw_m32x16_or(lw_m32x16 a, lw_m32x16 b) { return _mm512_kor(a, b); }
static inline lw_m32x16 lw_m32x16_not(lw_m32x16 a) { return _mm512_knot(a); }
#endif
/* lw: end */
#endif
