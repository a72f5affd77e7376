/* SPDX-License-Identifier: 0BSD */
/* Vectors of 8 lanes in the registers of AVX2 and FMA. A mask has all bits of a lane set, or none. */
#ifndef LW_SIMD_AVX2_H
#define LW_SIMD_AVX2_H

#include "../lw_math.h"
#include "simd.h"

/* lw: lw_x8 needs LW_SIMD_CHOICE */
#if LW_SIMD_AVX2
typedef __m256 lw_f32x8;
typedef __m256i lw_i32x8, lw_m32x8;

static inline lw_f32x8 lw_f32x8_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void lw_f32x8_store(float *p, lw_f32x8 a) { _mm256_storeu_ps(p, a); }
static inline lw_f32x8 lw_f32x8_broadcast(float a) { return _mm256_set1_ps(a); }
static inline lw_f32x8 lw_f32x8_hold(lw_f32x8 a)
{
#if defined(__GNUC__)
    __asm__("" : "+x"(a));
#endif
    return a;
}
static inline lw_f32x8 lw_f32x8_neg(lw_f32x8 a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
static inline lw_f32x8 lw_f32x8_abs(lw_f32x8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline lw_f32x8 lw_f32x8_sqrt(lw_f32x8 a) { return _mm256_sqrt_ps(a); }
static inline lw_f32x8 lw_f32x8_add(lw_f32x8 a, lw_f32x8 b) { return _mm256_add_ps(a, b); }
static inline lw_f32x8 lw_f32x8_sub(lw_f32x8 a, lw_f32x8 b) { return _mm256_sub_ps(a, b); }
static inline lw_f32x8 lw_f32x8_mul(lw_f32x8 a, lw_f32x8 b) { return _mm256_mul_ps(a, b); }
static inline lw_f32x8 lw_f32x8_div(lw_f32x8 a, lw_f32x8 b) { return _mm256_div_ps(a, b); }

/* The instructions return their second operand if either is NaN or both are zeros. A constant other than zero and NaN
 * can be their first operand instead, and the maximum with +0 is a if a is not at most +0. */
#if defined(__GNUC__)
#define LW_AVX2_FOUR(b, i, holds)                                                                                      \
    (__builtin_constant_p((b)[i]) && __builtin_constant_p((b)[(i) + 1]) && __builtin_constant_p((b)[(i) + 2])          \
     && __builtin_constant_p((b)[(i) + 3]) && holds((b)[i]) && holds((b)[(i) + 1]) && holds((b)[(i) + 2])              \
     && holds((b)[(i) + 3]))
#define LW_AVX2_ALL(b, holds) (LW_AVX2_FOUR(b, 0, holds) && LW_AVX2_FOUR(b, 4, holds))
#else
#define LW_AVX2_ALL(b, holds) 0
#endif
#define LW_AVX2_IS_NOT_ZERO(b) ((b) < 0.0f || (b) > 0.0f)
#define LW_AVX2_IS_ZERO(b) ((b) == 0.0f && !__builtin_signbit(b))
static inline lw_f32x8 lw_f32x8_min(lw_f32x8 a, lw_f32x8 b)
{
    if (LW_AVX2_ALL(b, LW_AVX2_IS_NOT_ZERO)) return _mm256_min_ps(b, a);
    return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
static inline lw_f32x8 lw_f32x8_max(lw_f32x8 a, lw_f32x8 b)
{
    if (LW_AVX2_ALL(b, LW_AVX2_IS_NOT_ZERO)) return _mm256_max_ps(b, a);
    if (LW_AVX2_ALL(b, LW_AVX2_IS_ZERO)) return _mm256_and_ps(a, _mm256_cmp_ps(a, b, _CMP_NLE_UQ));
    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline lw_f32x8 lw_f32x8_fma(lw_f32x8 a, lw_f32x8 b, lw_f32x8 c) { return _mm256_fmadd_ps(a, b, c); }
static inline lw_m32x8 lw_f32x8_lt(lw_f32x8 a, lw_f32x8 b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline lw_m32x8 lw_f32x8_le(lw_f32x8 a, lw_f32x8 b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
static inline lw_m32x8 lw_f32x8_eq(lw_f32x8 a, lw_f32x8 b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
static inline lw_f32x8 lw_f32x8_select(lw_m32x8 m, lw_f32x8 a, lw_f32x8 b)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m));
}
static inline lw_f32x8 lw_f32x8_from_i32(lw_i32x8 a) { return _mm256_cvtepi32_ps(a); }

static inline lw_i32x8 lw_i32x8_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
static inline void lw_i32x8_store(int32_t *p, lw_i32x8 a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
static inline lw_i32x8 lw_i32x8_broadcast(int32_t a) { return _mm256_set1_epi32(a); }
static inline lw_i32x8 lw_i32x8_load_i8(const int8_t *p)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline lw_i32x8 lw_i32x8_load_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline lw_i32x8 lw_i32x8_load_i16(const int16_t *p)
{
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline lw_i32x8 lw_i32x8_add(lw_i32x8 a, lw_i32x8 b) { return _mm256_add_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_sub(lw_i32x8 a, lw_i32x8 b) { return _mm256_sub_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_min(lw_i32x8 a, lw_i32x8 b) { return _mm256_min_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_max(lw_i32x8 a, lw_i32x8 b) { return _mm256_max_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_mul(lw_i32x8 a, lw_i32x8 b) { return _mm256_mullo_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_and(lw_i32x8 a, lw_i32x8 b) { return _mm256_and_si256(a, b); }
static inline lw_i32x8 lw_i32x8_or(lw_i32x8 a, lw_i32x8 b) { return _mm256_or_si256(a, b); }
static inline lw_i32x8 lw_i32x8_xor(lw_i32x8 a, lw_i32x8 b) { return _mm256_xor_si256(a, b); }
static inline lw_m32x8 lw_i32x8_lt(lw_i32x8 a, lw_i32x8 b) { return _mm256_cmpgt_epi32(b, a); }
static inline lw_m32x8 lw_i32x8_le(lw_i32x8 a, lw_i32x8 b)
{
    return _mm256_xor_si256(_mm256_cmpgt_epi32(a, b), _mm256_set1_epi32(-1));
}
static inline lw_m32x8 lw_i32x8_eq(lw_i32x8 a, lw_i32x8 b) { return _mm256_cmpeq_epi32(a, b); }
static inline lw_i32x8 lw_i32x8_select(lw_m32x8 m, lw_i32x8 a, lw_i32x8 b) { return _mm256_blendv_epi8(b, a, m); }

/* The instruction returns the minimum integer if the value does not fit. The result is its complement for values of at
 * least 2^31, and 0 for NaN. */
static inline lw_i32x8 lw_i32x8_from_f32(lw_f32x8 a)
{
    const __m256i too_large = _mm256_castps_si256(_mm256_cmp_ps(a, _mm256_set1_ps(2147483648.0f), _CMP_GE_OQ));
    const __m256i is_number = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_ORD_Q));
    return _mm256_and_si256(_mm256_xor_si256(_mm256_cvttps_epi32(a), too_large), is_number);
}

static inline lw_m32x8 lw_m32x8_and(lw_m32x8 a, lw_m32x8 b) { return _mm256_and_si256(a, b); }
static inline lw_m32x8 lw_m32x8_or(lw_m32x8 a, lw_m32x8 b) { return _mm256_or_si256(a, b); }
static inline lw_m32x8 lw_m32x8_not(lw_m32x8 a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
#endif
/* lw: end */
#endif
