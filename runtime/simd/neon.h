/* SPDX-License-Identifier: 0BSD */
/* Vectors of 4 lanes in the registers of AArch64. A mask has all bits of a lane set, or none. The vectors of 32-bit Arm
 * flush subnormal floats to zero, so floats stay scalar there. The last part of the file is for rows.h on both. */
#ifndef LW_SIMD_NEON_H
#define LW_SIMD_NEON_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_x4 needs LW_SIMD_CHOICE */
#if LW_SIMD_NEON
typedef float32x4_t lw_f32x4;
typedef int32x4_t lw_i32x4;
typedef uint32x4_t lw_m32x4;

static inline lw_f32x4 lw_f32x4_load(const float *p) { return vld1q_f32(p); }
static inline void lw_f32x4_store(float *p, lw_f32x4 a) { vst1q_f32(p, a); }
static inline lw_f32x4 lw_f32x4_broadcast(float a) { return vdupq_n_f32(a); }
static inline lw_f32x4 lw_f32x4_hold(lw_f32x4 a) { return a; }
static inline lw_f32x4 lw_f32x4_neg(lw_f32x4 a) { return vnegq_f32(a); }
static inline lw_f32x4 lw_f32x4_abs(lw_f32x4 a) { return vabsq_f32(a); }
static inline lw_f32x4 lw_f32x4_sqrt(lw_f32x4 a) { return vsqrtq_f32(a); }
static inline lw_f32x4 lw_f32x4_add(lw_f32x4 a, lw_f32x4 b) { return vaddq_f32(a, b); }
static inline lw_f32x4 lw_f32x4_sub(lw_f32x4 a, lw_f32x4 b) { return vsubq_f32(a, b); }
static inline lw_f32x4 lw_f32x4_mul(lw_f32x4 a, lw_f32x4 b) { return vmulq_f32(a, b); }
static inline lw_f32x4 lw_f32x4_div(lw_f32x4 a, lw_f32x4 b) { return vdivq_f32(a, b); }

/* vminq_f32 returns -0 and vmaxq_f32 returns +0 for zeros of different sign. lw_f32x4_min and lw_f32x4_max must return
 * b if a == b, so they select b. No selection is required if b is a constant that is not zero, or that is the
 * instruction's result for zeros. */
#if defined(__GNUC__)
#define LW_NEON_ALL(b, holds)                                                                                          \
    (__builtin_constant_p(vgetq_lane_f32(b, 0)) && __builtin_constant_p(vgetq_lane_f32(b, 1))                          \
     && __builtin_constant_p(vgetq_lane_f32(b, 2)) && __builtin_constant_p(vgetq_lane_f32(b, 3))                       \
     && holds(vgetq_lane_f32(b, 0)) && holds(vgetq_lane_f32(b, 1)) && holds(vgetq_lane_f32(b, 2))                      \
     && holds(vgetq_lane_f32(b, 3)))
#else
#define LW_NEON_ALL(b, holds) 0
#endif
/* true for a second operand whose sign the instruction keeps if both are zero */
#define LW_NEON_IS_MOST(b) ((b) < 0.0f || (b) > 0.0f || ((b) == 0.0f && !__builtin_signbit(b)))
#define LW_NEON_IS_LEAST(b) ((b) < 0.0f || (b) > 0.0f || ((b) == 0.0f && __builtin_signbit(b)))
static inline lw_f32x4 lw_f32x4_min(lw_f32x4 a, lw_f32x4 b)
{
    if (LW_NEON_ALL(b, LW_NEON_IS_LEAST)) return vminq_f32(a, b);
    return vbslq_f32(vceqq_f32(a, b), b, vminq_f32(a, b));
}
static inline lw_f32x4 lw_f32x4_max(lw_f32x4 a, lw_f32x4 b)
{
    if (LW_NEON_ALL(b, LW_NEON_IS_MOST)) return vmaxq_f32(a, b);
    return vbslq_f32(vceqq_f32(a, b), b, vmaxq_f32(a, b));
}

static inline lw_f32x4 lw_f32x4_fma(lw_f32x4 a, lw_f32x4 b, lw_f32x4 c) { return vfmaq_f32(c, a, b); }
static inline lw_m32x4 lw_f32x4_lt(lw_f32x4 a, lw_f32x4 b) { return vcltq_f32(a, b); }
static inline lw_m32x4 lw_f32x4_le(lw_f32x4 a, lw_f32x4 b) { return vcleq_f32(a, b); }
static inline lw_m32x4 lw_f32x4_eq(lw_f32x4 a, lw_f32x4 b) { return vceqq_f32(a, b); }
static inline lw_f32x4 lw_f32x4_select(lw_m32x4 m, lw_f32x4 a, lw_f32x4 b) { return vbslq_f32(m, a, b); }
static inline lw_f32x4 lw_f32x4_from_i32(lw_i32x4 a) { return vcvtq_f32_s32(a); }

static inline lw_i32x4 lw_i32x4_load(const int32_t *p) { return vld1q_s32(p); }
static inline void lw_i32x4_store(int32_t *p, lw_i32x4 a) { vst1q_s32(p, a); }
static inline lw_i32x4 lw_i32x4_broadcast(int32_t a) { return vdupq_n_s32(a); }
static inline lw_i32x4 lw_i32x4_load_i8(const int8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))));
}
static inline lw_i32x4 lw_i32x4_load_u8(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))))));
}
static inline lw_i32x4 lw_i32x4_load_i16(const int16_t *p) { return vmovl_s16(vld1_s16(p)); }
static inline lw_i32x4 lw_i32x4_add(lw_i32x4 a, lw_i32x4 b) { return vaddq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_sub(lw_i32x4 a, lw_i32x4 b) { return vsubq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_min(lw_i32x4 a, lw_i32x4 b) { return vminq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_max(lw_i32x4 a, lw_i32x4 b) { return vmaxq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_mul(lw_i32x4 a, lw_i32x4 b) { return vmulq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_and(lw_i32x4 a, lw_i32x4 b) { return vandq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_or(lw_i32x4 a, lw_i32x4 b) { return vorrq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_xor(lw_i32x4 a, lw_i32x4 b) { return veorq_s32(a, b); }
static inline lw_m32x4 lw_i32x4_lt(lw_i32x4 a, lw_i32x4 b) { return vcltq_s32(a, b); }
static inline lw_m32x4 lw_i32x4_le(lw_i32x4 a, lw_i32x4 b) { return vcleq_s32(a, b); }
static inline lw_m32x4 lw_i32x4_eq(lw_i32x4 a, lw_i32x4 b) { return vceqq_s32(a, b); }
static inline lw_i32x4 lw_i32x4_select(lw_m32x4 m, lw_i32x4 a, lw_i32x4 b) { return vbslq_s32(m, a, b); }
static inline lw_i32x4 lw_i32x4_from_f32(lw_f32x4 a) { return vcvtq_s32_f32(a); }

static inline lw_m32x4 lw_m32x4_and(lw_m32x4 a, lw_m32x4 b) { return vandq_u32(a, b); }
static inline lw_m32x4 lw_m32x4_or(lw_m32x4 a, lw_m32x4 b) { return vorrq_u32(a, b); }
static inline lw_m32x4 lw_m32x4_not(lw_m32x4 a) { return vmvnq_u32(a); }
#endif
/* lw: end */

/* lw: lw_neon_bytes needs LW_SIMD_CHOICE LW_FIXED */
#if LW_SIMD_NEON_BYTES
#ifdef __aarch64__
#define LW_NEON_HIGH(op, s, a, b) op##_high_s8(s, a, b)
static inline int32x4_t lw_neon_pairwise(int32x4_t a, int32x4_t b) { return vpaddq_s32(a, b); }
#else
#define LW_NEON_HIGH(op, s, a, b) op##_s8(s, vget_high_s8(a), vget_high_s8(b))
static inline int32x4_t lw_neon_pairwise(int32x4_t a, int32x4_t b)
{
    return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)), vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}
#endif
/* gcc moves no instruction across this; otherwise it would load all operands of an unrolled loop first, more than the
 * registers hold */
#ifdef __clang__
#define LW_NEON_IN_ORDER ((void)0)
#else
#define LW_NEON_IN_ORDER __asm__ volatile("")
#endif
/* Returns the products of the low halves. gcc would keep the halves of a vector in separate registers, of which there
 * are too few. */
static inline int16x8_t lw_neon_lows(int8x16_t a, int8x16_t b)
{
#if defined(__aarch64__) && !defined(__clang__)
    int16x8_t r;
    __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(r) : "w"(a), "w"(b));
    return r;
#else
    return vmull_s8(vget_low_s8(a), vget_low_s8(b));
#endif
}
static inline int16x8_t lw_neon_add_lows(int16x8_t s, int8x16_t a, int8x16_t b)
{
#if defined(__aarch64__) && !defined(__clang__)
    __asm__("smlal %0.8h, %1.8b, %2.8b" : "+w"(s) : "w"(a), "w"(b));
    return s;
#else
    return vmlal_s8(s, vget_low_s8(a), vget_low_s8(b));
#endif
}
/* Returns the sum of each of four vectors, in their order. */
static inline int32x4_t lw_neon_across(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d)
{
    return lw_neon_pairwise(lw_neon_pairwise(a, b), lw_neon_pairwise(c, d));
}
static inline void lw_neon_increase(int32_t *c, int32x4_t by) { vst1q_s32(c, vaddq_s32(vld1q_s32(c), by)); }
/* Returns sums of two products in 16 bits, which fit because no weight is -128. */
static inline int16x8_t lw_neon_two16(int8x16_t x, int8x16_t k)
{
    return LW_NEON_HIGH(vmlal, lw_neon_lows(x, k), x, k);
}
static inline int32x4_t lw_neon_dot16(int32x4_t s, int8x16_t x, int8x16_t k)
{
    return vpadalq_s16(s, lw_neon_two16(x, k));
}
static inline int32x4_t lw_neon_dot8(int32x4_t s, const int8_t *x, const int8_t *k)
{
    return vpadalq_s16(s, vmull_s8(vld1_s8(x), vld1_s8(k)));
}
/* Returns the first n bytes, fewer than 8, followed by zeros. */
static inline int8x8_t lw_neon_part(const int8_t *p, int32_t n)
{
    int8_t all[8] = { 0 };
    memcpy(all, p, (size_t)n);
    return vld1_s8(all);
}
#endif
/* lw: end */
#endif
