/* SPDX-License-Identifier: 0BSD */
/* Vectors of 4 lanes in the registers of SSE 4.1; with FMA if the target has it. A mask has all bits of a lane set, or
 * none. */
#ifndef LW_SIMD_SSE4_H
#define LW_SIMD_SSE4_H

#include "../lw_math.h"
#include "simd.h"

/* lw: lw_x4 needs LW_SIMD_CHOICE lw_fmaf */
#if LW_SIMD_SSE4
typedef __m128 lw_f32x4;
typedef __m128i lw_i32x4, lw_m32x4;

static inline lw_f32x4 lw_f32x4_load(const float *p) { return _mm_loadu_ps(p); }
static inline void lw_f32x4_store(float *p, lw_f32x4 a) { _mm_storeu_ps(p, a); }
static inline lw_f32x4 lw_f32x4_broadcast(float a) { return _mm_set1_ps(a); }
static inline lw_f32x4 lw_f32x4_hold(lw_f32x4 a)
{
#if defined(__GNUC__)
    __asm__("" : "+x"(a));
#endif
    return a;
}
static inline lw_f32x4 lw_f32x4_neg(lw_f32x4 a) { return _mm_xor_ps(a, _mm_set1_ps(-0.0f)); }
static inline lw_f32x4 lw_f32x4_abs(lw_f32x4 a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
static inline lw_f32x4 lw_f32x4_sqrt(lw_f32x4 a) { return _mm_sqrt_ps(a); }
static inline lw_f32x4 lw_f32x4_add(lw_f32x4 a, lw_f32x4 b) { return _mm_add_ps(a, b); }
static inline lw_f32x4 lw_f32x4_sub(lw_f32x4 a, lw_f32x4 b) { return _mm_sub_ps(a, b); }
static inline lw_f32x4 lw_f32x4_mul(lw_f32x4 a, lw_f32x4 b) { return _mm_mul_ps(a, b); }
static inline lw_f32x4 lw_f32x4_div(lw_f32x4 a, lw_f32x4 b) { return _mm_div_ps(a, b); }

/* The instructions return their second operand if either is NaN or both are zeros. If b is a constant
 * that is neither zero nor NaN, b is the first operand, so a NaN in a is returned. If b is the constant +0, the maximum
 * is a where a > 0 or a is NaN, and +0 elsewhere. */
#if defined(__GNUC__)
#define LW_SSE4_ALL(b, holds)                                                                                          \
    (__builtin_constant_p((b)[0]) && __builtin_constant_p((b)[1]) && __builtin_constant_p((b)[2])                      \
     && __builtin_constant_p((b)[3]) && holds((b)[0]) && holds((b)[1]) && holds((b)[2]) && holds((b)[3]))
#else
#define LW_SSE4_ALL(b, holds) 0
#endif
#define LW_SSE4_IS_NOT_ZERO(b) ((b) < 0.0f || (b) > 0.0f)
#define LW_SSE4_IS_ZERO(b) ((b) == 0.0f && !__builtin_signbit(b))
static inline lw_f32x4 lw_f32x4_min(lw_f32x4 a, lw_f32x4 b)
{
    if (LW_SSE4_ALL(b, LW_SSE4_IS_NOT_ZERO)) return _mm_min_ps(b, a);
    return _mm_blendv_ps(_mm_min_ps(a, b), a, _mm_cmpunord_ps(a, a));
}
static inline lw_f32x4 lw_f32x4_max(lw_f32x4 a, lw_f32x4 b)
{
    if (LW_SSE4_ALL(b, LW_SSE4_IS_NOT_ZERO)) return _mm_max_ps(b, a);
    if (LW_SSE4_ALL(b, LW_SSE4_IS_ZERO)) return _mm_and_ps(a, _mm_cmpnle_ps(a, b));
    return _mm_blendv_ps(_mm_max_ps(a, b), a, _mm_cmpunord_ps(a, a));
}

static inline lw_f32x4 lw_f32x4_fma(lw_f32x4 a, lw_f32x4 b, lw_f32x4 c)
{
#ifdef __FMA__
    return _mm_fmadd_ps(a, b, c);
#else
    float x[4], y[4], z[4];
    _mm_storeu_ps(x, a);
    _mm_storeu_ps(y, b);
    _mm_storeu_ps(z, c);
    for (int i = 0; i < 4; i++) z[i] = lw_fmaf(x[i], y[i], z[i]);
    return _mm_loadu_ps(z);
#endif
}

static inline lw_m32x4 lw_f32x4_lt(lw_f32x4 a, lw_f32x4 b) { return _mm_castps_si128(_mm_cmplt_ps(a, b)); }
static inline lw_m32x4 lw_f32x4_le(lw_f32x4 a, lw_f32x4 b) { return _mm_castps_si128(_mm_cmple_ps(a, b)); }
static inline lw_m32x4 lw_f32x4_eq(lw_f32x4 a, lw_f32x4 b) { return _mm_castps_si128(_mm_cmpeq_ps(a, b)); }
static inline lw_f32x4 lw_f32x4_select(lw_m32x4 m, lw_f32x4 a, lw_f32x4 b)
{
    return _mm_blendv_ps(b, a, _mm_castsi128_ps(m));
}
static inline lw_f32x4 lw_f32x4_from_i32(lw_i32x4 a) { return _mm_cvtepi32_ps(a); }

static inline lw_i32x4 lw_i32x4_load(const int32_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline void lw_i32x4_store(int32_t *p, lw_i32x4 a) { _mm_storeu_si128((__m128i *)(void *)p, a); }
static inline lw_i32x4 lw_i32x4_broadcast(int32_t a) { return _mm_set1_epi32(a); }
static inline lw_i32x4 lw_i32x4_load_i8(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm_cvtepi8_epi32(_mm_cvtsi32_si128(four));
}
static inline lw_i32x4 lw_i32x4_load_u8(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(four));
}
static inline lw_i32x4 lw_i32x4_load_i16(const int16_t *p)
{
    return _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline lw_i32x4 lw_i32x4_add(lw_i32x4 a, lw_i32x4 b) { return _mm_add_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_sub(lw_i32x4 a, lw_i32x4 b) { return _mm_sub_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_min(lw_i32x4 a, lw_i32x4 b) { return _mm_min_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_max(lw_i32x4 a, lw_i32x4 b) { return _mm_max_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_mul(lw_i32x4 a, lw_i32x4 b) { return _mm_mullo_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_and(lw_i32x4 a, lw_i32x4 b) { return _mm_and_si128(a, b); }
static inline lw_i32x4 lw_i32x4_or(lw_i32x4 a, lw_i32x4 b) { return _mm_or_si128(a, b); }
static inline lw_i32x4 lw_i32x4_xor(lw_i32x4 a, lw_i32x4 b) { return _mm_xor_si128(a, b); }
static inline lw_m32x4 lw_i32x4_lt(lw_i32x4 a, lw_i32x4 b) { return _mm_cmpgt_epi32(b, a); }
static inline lw_m32x4 lw_i32x4_le(lw_i32x4 a, lw_i32x4 b)
{
    return _mm_xor_si128(_mm_cmpgt_epi32(a, b), _mm_set1_epi32(-1));
}
static inline lw_m32x4 lw_i32x4_eq(lw_i32x4 a, lw_i32x4 b) { return _mm_cmpeq_epi32(a, b); }
static inline lw_i32x4 lw_i32x4_select(lw_m32x4 m, lw_i32x4 a, lw_i32x4 b) { return _mm_blendv_epi8(b, a, m); }

/* The instruction returns the minimum integer if the value does not fit. The result is its complement for values of at
 * least 2^31, and 0 for NaN. */
static inline lw_i32x4 lw_i32x4_from_f32(lw_f32x4 a)
{
    const __m128i too_large = _mm_castps_si128(_mm_cmpge_ps(a, _mm_set1_ps(2147483648.0f)));
    const __m128i is_number = _mm_castps_si128(_mm_cmpord_ps(a, a));
    return _mm_and_si128(_mm_xor_si128(_mm_cvttps_epi32(a), too_large), is_number);
}

static inline lw_m32x4 lw_m32x4_and(lw_m32x4 a, lw_m32x4 b) { return _mm_and_si128(a, b); }
static inline lw_m32x4 lw_m32x4_or(lw_m32x4 a, lw_m32x4 b) { return _mm_or_si128(a, b); }
static inline lw_m32x4 lw_m32x4_not(lw_m32x4 a) { return _mm_xor_si128(a, _mm_set1_epi32(-1)); }
#endif
/* lw: end */
#endif
