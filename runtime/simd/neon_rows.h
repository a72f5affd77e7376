/* SPDX-License-Identifier: 0BSD */
/* Primitives of tiles.h in NEON, for 32-bit and 64-bit cores; panels are in neon_panels.h. */
#ifndef LW_SIMD_NEON_ROWS_H
#define LW_SIMD_NEON_ROWS_H

#include "../lw_base.h"
#include "../lw_fixed.h"
#include "simd.h"

/* lw: lw_v_dots needs lw_neon_bytes */
#if LW_SIMD_NEON_BYTES
#define LW_TILES_DOT 8
typedef int32x4_t lw_v_sums;
static inline lw_v_sums lw_v_no_sums(void) { return vdupq_n_s32(0); }
static inline lw_v_sums lw_v_dot(lw_v_sums s, const int8_t *x, const int8_t *k) { return lw_neon_dot8(s, x, k); }
static inline lw_v_sums lw_v_dot_part(lw_v_sums s, const int8_t *x, const int8_t *k, int32_t n)
{
    return vpadalq_s16(s, vmull_s8(lw_neon_part(x, n), lw_neon_part(k, n)));
}
static inline void lw_v_add_totals(int32_t *c, lw_v_sums s, lw_v_sums t)
{
    const int32x4_t half = lw_neon_pairwise(s, t);
    vst1_s32(c, vadd_s32(vld1_s32(c), vpadd_s32(vget_low_s32(half), vget_high_s32(half))));
}
static inline int32_t lw_v_total(lw_v_sums s)
{
    const int32x2_t half = vadd_s32(vget_low_s32(s), vget_high_s32(s));
    return vget_lane_s32(vpadd_s32(half, half), 0);
}
#endif
/* lw: end */

/* lw: lw_v_windows needs lw_neon_bytes */
#if LW_SIMD_NEON_BYTES
/* Sums of two products are -32512 to 32768. After subtracting 256 they fit 16 bits, and the final sums are corrected
 * once. */
#define LW_TILES_WINDOW 16
typedef int8x8_t lw_v8_bytes;
typedef int8x16_t lw_v16_bytes;
typedef struct lw_v8_sums { int32x4_t a, b; } lw_v8_sums;
typedef struct lw_v16_sums { lw_v8_sums low, high; } lw_v16_sums;
LW_FIXED lw_v8_bytes lw_v8_load(const int8_t *p) { return vld1_s8(p); }
LW_FIXED lw_v16_bytes lw_v16_load(const int8_t *p) { return vld1q_s8(p); }
LW_FIXED lw_v8_sums lw_v8_begin(const int32_t *c, int32_t pairs)
{
    const int32x4_t back = vdupq_n_s32(256 * pairs);
    return (lw_v8_sums){ vaddq_s32(vld1q_s32(c), back), vaddq_s32(vld1q_s32(c + 4), back) };
}
LW_FIXED lw_v16_sums lw_v16_begin(const int32_t *c, int32_t pairs)
{
    return (lw_v16_sums){ lw_v8_begin(c, pairs), lw_v8_begin(c + 8, pairs) };
}
LW_FIXED lw_v8_sums lw_neon_add(lw_v8_sums s, int16x8_t t)
{
    return (lw_v8_sums){ vaddw_s16(s.a, vget_low_s16(t)), vaddw_s16(s.b, vget_high_s16(t)) };
}
LW_FIXED lw_v8_sums lw_v8_add_one(lw_v8_sums s, lw_v8_bytes x, lw_v8_bytes k)
{
    return lw_neon_add(s, vmull_s8(x, k));
}
LW_FIXED lw_v8_sums lw_v8_add_two(lw_v8_sums s, lw_v8_bytes x, lw_v8_bytes x1, lw_v8_bytes k, lw_v8_bytes k1)
{
    return lw_neon_add(s, vmlal_s8(vmlal_s8(vdupq_n_s16(-256), x, k), x1, k1));
}
LW_FIXED lw_v16_sums lw_v16_add_one(lw_v16_sums s, lw_v16_bytes x, lw_v16_bytes k)
{
    return (lw_v16_sums){ lw_neon_add(s.low, lw_neon_lows(x, k)),
                          lw_neon_add(s.high, vmull_s8(vget_high_s8(x), vget_high_s8(k))) };
}
LW_FIXED lw_v16_sums lw_v16_add_two(lw_v16_sums s, lw_v16_bytes x, lw_v16_bytes x1, lw_v16_bytes k,
                                         lw_v16_bytes k1)
{
    const int16x8_t less = vdupq_n_s16(-256);
    return (lw_v16_sums){ lw_neon_add(s.low, lw_neon_add_lows(lw_neon_add_lows(less, x, k), x1, k1)),
                          lw_neon_add(s.high, LW_NEON_HIGH(vmlal, LW_NEON_HIGH(vmlal, less, x, k), x1, k1)) };
}
LW_FIXED void lw_v8_end(int32_t *c, lw_v8_sums s)
{
    vst1q_s32(c, s.a);
    vst1q_s32(c + 4, s.b);
}
LW_FIXED void lw_v16_end(int32_t *c, lw_v16_sums s)
{
    lw_v8_end(c, s.low);
    lw_v8_end(c + 8, s.high);
}
#endif
/* lw: end */

/* lw: lw_v_scales needs lw_neon_bytes */
#if LW_SIMD_NEON_BYTES
#define LW_TILES_SCALE 8
typedef struct lw_v8_words { int32x4_t a, b; } lw_v8_words;
LW_FIXED lw_v8_words lw_v8_load_words(const int32_t *p)
{
    return (lw_v8_words){ vld1q_s32(p), vld1q_s32(p + 4) };
}
LW_FIXED lw_v8_words lw_neon_wide(int16x8_t v)
{
    return (lw_v8_words){ vmovl_s16(vget_low_s16(v)), vmovl_s16(vget_high_s16(v)) };
}
LW_FIXED lw_v8_words lw_v8_load_shifts(const uint8_t *p)
{
    return lw_neon_wide(vmovl_s8(vneg_s8(vreinterpret_s8_u8(vld1_u8(p)))));
}
LW_FIXED lw_v8_words lw_v8_fill(int32_t x) { return (lw_v8_words){ vdupq_n_s32(x), vdupq_n_s32(x) }; }
LW_FIXED lw_v8_words lw_v8_fill_shift(int32_t s) { return lw_v8_fill(-s); }
/* Returns a*m / 2^31 / 2^-down, with two roundings to nearest. Ties of the shift are rounded away from zero, because
 * negative values are decreased first. No product is the smallest integer, so this does not wrap. */
LW_FIXED int32x4_t lw_neon_times(int32x4_t a, int32x4_t m, int32x4_t down)
{
    const int32x4_t v = vqrdmulhq_s32(a, m);
    return vrshlq_s32(vsraq_n_s32(v, vandq_s32(v, down), 31), down);
}
LW_FIXED lw_v8_words lw_v8_scaled(lw_v8_words a, lw_v8_words m, lw_v8_words s, int is_positive, int may_wrap)
{
    (void)is_positive, (void)may_wrap;
    return (lw_v8_words){ lw_neon_times(a.a, m.a, s.a), lw_neon_times(a.b, m.b, s.b) };
}
LW_FIXED lw_v8_words lw_v8_shifted(const int8_t *p, int32_t zero)
{
    const lw_v8_words v = lw_neon_wide(vmovl_s8(vld1_s8(p)));
    const int32x4_t z = vdupq_n_s32(zero);
    return (lw_v8_words){ vshlq_n_s32(vaddq_s32(v.a, z), 20), vshlq_n_s32(vaddq_s32(v.b, z), 20) };
}
LW_FIXED lw_v8_words lw_v8_plus(lw_v8_words v, lw_v8_words w)
{
    return (lw_v8_words){ vaddq_s32(v.a, w.a), vaddq_s32(v.b, w.b) };
}
/* Narrows to bytes, which saturate at their own limits. */
LW_FIXED void lw_v8_narrow(int8_t *to, lw_v8_words v, int32_t zero, int32_t least, int32_t most)
{
    const int32x4_t z = vdupq_n_s32(zero);
    int8x8_t y = vqmovn_s16(vcombine_s16(vqmovn_s32(vaddq_s32(v.a, z)), vqmovn_s32(vaddq_s32(v.b, z))));
    if (least > -128) y = vmax_s8(y, vdup_n_s8((int8_t)least));
    if (most < 127) y = vmin_s8(y, vdup_n_s8((int8_t)most));
    vst1_s8(to, y);
}
#endif
/* lw: end */

/* lw: lw_v_pools needs lw_neon_bytes */
#if LW_SIMD_NEON_BYTES
#define LW_TILES_POOL 16
typedef int16x8_t lw_v8_halves;
typedef int8x16_t lw_v_most;
static inline lw_v8_halves lw_v8_no_halves(void) { return vdupq_n_s16(0); }
static inline lw_v8_halves lw_v8_add_bytes(lw_v8_halves s, const int8_t *p) { return vaddw_s8(s, vld1_s8(p)); }
static inline void lw_v8_add_halves(int32_t *c, lw_v8_halves s)
{
    vst1q_s32(c, vaddw_s16(vld1q_s32(c), vget_low_s16(s)));
    vst1q_s32(c + 4, vaddw_s16(vld1q_s32(c + 4), vget_high_s16(s)));
}
static inline lw_v_most lw_v_load_most(const int8_t *p) { return vld1q_s8(p); }
static inline lw_v_most lw_v_max(lw_v_most y, const int8_t *p) { return vmaxq_s8(y, vld1q_s8(p)); }
static inline void lw_v_store_most(int8_t *p, lw_v_most y) { vst1q_s8(p, y); }
#endif
/* lw: end */
#endif
