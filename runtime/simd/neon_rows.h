/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h in NEON, for 32-bit and 64-bit cores; panels are in neon_panels.h. */
#ifndef LW_SIMD_NEON_ROWS_H
#define LW_SIMD_NEON_ROWS_H

#include "../lw_base.h"
#include "../lw_fixed.h"
#include "simd.h"

/* lw: lw_neon_dots needs lw_neon_bytes */
#if LW_SIMD_NEON_BYTES
/* One row by one, of any bytes. */
static inline int32x4_t lw_neon_dot(int32_t n, const int8_t *x, const int8_t *k)
{
    int32x4_t s = vdupq_n_s32(0);
    int32_t e = 0;
    for (; e + 8 <= n; e += 8) s = lw_neon_dot8(s, x + e, k + e);
    if (e < n) s = vpadalq_s16(s, vmull_s8(lw_neon_part(x + e, n - e), lw_neon_part(k + e, n - e)));
    return s;
}
static inline void lw_neon_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b,
                               int32_t bo)
{
    const int32x4_t s = lw_neon_across(lw_neon_dot(n, a, b), lw_neon_dot(n, a, b + bo), lw_neon_dot(n, a + aw, b),
                                       lw_neon_dot(n, a + aw, b + bo));
    vst1_s32(c, vadd_s32(vld1_s32(c), vget_low_s32(s)));
    vst1_s32(c + cw, vadd_s32(vld1_s32(c + cw), vget_high_s32(s)));
}
static inline void lw_neon_1x2(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    const int32x4_t s = lw_neon_pairwise(lw_neon_dot(n, a, b), lw_neon_dot(n, a, b + bo));
    vst1_s32(c, vadd_s32(vld1_s32(c), vpadd_s32(vget_low_s32(s), vget_high_s32(s))));
}
static inline void lw_neon_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    lw_neon_increase(c, lw_neon_across(lw_neon_dot(n, a, b), lw_neon_dot(n, a, b + bo), lw_neon_dot(n, a, b + 2 * bo),
                                       lw_neon_dot(n, a, b + 3 * bo)));
}
static inline int32_t lw_neon_1x1(int32_t n, int32_t c, const int8_t *a, const int8_t *b)
{
    const int32x4_t s = lw_neon_dot(n, a, b);
    const int32x2_t half = vadd_s32(vget_low_s32(s), vget_high_s32(s));
    return (int32_t)((uint32_t)c + (uint32_t)vget_lane_s32(vpadd_s32(half, half), 0));
}
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_neon_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo)
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_neon_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) lw_neon_1x2(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_NEON_DOT(n, c, ci, a, ai, b, bi) ((c)[ci] = lw_neon_1x1(n, (c)[ci], (a) + (ai), (b) + (bi)))
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) LW_NEON_DOT(n, c, ci, a, ai, b, bi)
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    (LW_NEON_DOT(n, c, ci, a, ai, b, bi), LW_NEON_DOT(n, c, (ci) + (cw), a, (ai) + (aw), b, bi))
#endif
/* lw: end */

/* lw: lw_row_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_NEON_BYTES
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n)))
#define LW_ROWS_FILL_I8(n, y, yi, fill) ((void)memset((y) + (yi), fill, (size_t)(n)))
#endif
/* lw: end */

/* lw: lw_neon_begin needs LW_SIMD_CHOICE */
#if LW_SIMD_NEON_BYTES
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n) * 4))
#endif
/* lw: end */

/* lw: lw_row_window needs lw_neon_bytes lw_window */
#if LW_SIMD_NEON_BYTES
/* Eight channels of `pixels` windows, 1 or 2. The least sum of two products is -32512, the largest 32768: less 256 they
 * fit 16 bits, and the sums are corrected once. */
#define LW_NEON_TAPS(r, at)                                                                                            \
    do {                                                                                                               \
        int16x8_t t = vmlal_s8(less, vld1_s8(at), w);                                                                  \
        t = vmlal_s8(t, vld1_s8((at) + aj), w1);                                                                       \
        s##r = vaddw_s16(s##r, vget_low_s16(t));                                                                       \
        t##r = vaddw_s16(t##r, vget_high_s16(t));                                                                      \
    } while (0)
#define LW_NEON_TAP(r, at)                                                                                             \
    do {                                                                                                               \
        const int16x8_t t = vmull_s8(vld1_s8(at), w);                                                                  \
        s##r = vaddw_s16(s##r, vget_low_s16(t));                                                                       \
        t##r = vaddw_s16(t##r, vget_high_s16(t));                                                                      \
    } while (0)
LW_NEON_FIXED void lw_neon_window(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                  int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    const int16x8_t less = vdupq_n_s16(-256);
    const int32x4_t back = vdupq_n_s32(256 * kh * (kw / 2));
    int32_t *c1 = pixels > 1 ? c + cw : c;
    int32x4_t s0 = vaddq_s32(vld1q_s32(c), back), t0 = vaddq_s32(vld1q_s32(c + 4), back);
    int32x4_t s1 = vaddq_s32(vld1q_s32(c1), back), t1 = vaddq_s32(vld1q_s32(c1 + 4), back);
    for (int32_t i = 0; i < kh; i++) {
        const int8_t *x = a + i * ai, *k = b + i * bi;
        int32_t j = 0;
        for (; j + 2 <= kw; j += 2) {
            const int8x8_t w = vld1_s8(k + j * bj), w1 = vld1_s8(k + (j + 1) * bj);
            LW_NEON_TAPS(0, x + j * aj);
            if (pixels > 1) LW_NEON_TAPS(1, x + j * aj + aw);
        }
        if (j < kw) {
            const int8x8_t w = vld1_s8(k + j * bj);
            LW_NEON_TAP(0, x + j * aj);
            if (pixels > 1) LW_NEON_TAP(1, x + j * aj + aw);
        }
    }
    vst1q_s32(c, s0);
    vst1q_s32(c + 4, t0);
    if (pixels > 1) vst1q_s32(c1, s1);
    if (pixels > 1) vst1q_s32(c1 + 4, t1);
}
#undef LW_NEON_TAPS
#undef LW_NEON_TAP
/* As above, for sixteen channels. */
#define LW_NEON_ADD16(r)                                                                                               \
    do {                                                                                                               \
        s##r##0 = vaddw_s16(s##r##0, vget_low_s16(low));                                                               \
        s##r##1 = vaddw_s16(s##r##1, vget_high_s16(low));                                                              \
        s##r##2 = vaddw_s16(s##r##2, vget_low_s16(high));                                                              \
        s##r##3 = vaddw_s16(s##r##3, vget_high_s16(high));                                                             \
    } while (0)
#define LW_NEON_TAPS(r, at)                                                                                            \
    do {                                                                                                               \
        const int8x16_t v = vld1q_s8(at), v1 = vld1q_s8((at) + aj);                                                    \
        const int16x8_t low = lw_neon_add_lows(lw_neon_add_lows(less, v, w), v1, w1);                                  \
        const int16x8_t high = LW_NEON_HIGH(vmlal, LW_NEON_HIGH(vmlal, less, v, w), v1, w1);                           \
        LW_NEON_ADD16(r);                                                                                              \
    } while (0)
#define LW_NEON_TAP(r, at)                                                                                             \
    do {                                                                                                               \
        const int8x16_t v = vld1q_s8(at);                                                                              \
        const int16x8_t low = lw_neon_lows(v, w), high = vmull_s8(vget_high_s8(v), vget_high_s8(w));                   \
        LW_NEON_ADD16(r);                                                                                              \
    } while (0)
#define LW_NEON_BEGIN16(r, p)                                                                                          \
    int32x4_t s##r##0 = vaddq_s32(vld1q_s32(p), back), s##r##1 = vaddq_s32(vld1q_s32((p) + 4), back),                  \
              s##r##2 = vaddq_s32(vld1q_s32((p) + 8), back), s##r##3 = vaddq_s32(vld1q_s32((p) + 12), back)
#define LW_NEON_END16(r, p)                                                                                            \
    do {                                                                                                               \
        vst1q_s32(p, s##r##0);                                                                                         \
        vst1q_s32((p) + 4, s##r##1);                                                                                   \
        vst1q_s32((p) + 8, s##r##2);                                                                                   \
        vst1q_s32((p) + 12, s##r##3);                                                                                  \
    } while (0)
LW_NEON_FIXED void lw_neon_window16(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                    int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    const int16x8_t less = vdupq_n_s16(-256);
    const int32x4_t back = vdupq_n_s32(256 * kh * (kw / 2));
    int32_t *c1 = pixels > 1 ? c + cw : c;
    LW_NEON_BEGIN16(0, c);
    LW_NEON_BEGIN16(1, c1);
    for (int32_t i = 0; i < kh; i++) {
        const int8_t *x = a + i * ai, *k = b + i * bi;
        int32_t j = 0;
        for (; j + 2 <= kw; j += 2) {
            const int8x16_t w = vld1q_s8(k + j * bj), w1 = vld1q_s8(k + (j + 1) * bj);
            LW_NEON_TAPS(0, x + j * aj);
            if (pixels > 1) LW_NEON_TAPS(1, x + j * aj + aw);
        }
        if (j < kw) {
            const int8x16_t w = vld1q_s8(k + j * bj);
            LW_NEON_TAP(0, x + j * aj);
            if (pixels > 1) LW_NEON_TAP(1, x + j * aj + aw);
        }
    }
    LW_NEON_END16(0, c);
    if (pixels > 1) LW_NEON_END16(1, c1);
}
#undef LW_NEON_TAPS
#undef LW_NEON_TAP
#undef LW_NEON_BEGIN16
#undef LW_NEON_END16
/* One column of taps is a row of them. */
#define LW_NEON_WINDOW(pixels, kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                 \
    do {                                                                                                               \
        if ((n) == 8 && (kw) == 1)                                                                                     \
            lw_neon_window(pixels, 1, kh, (c) + (ci), cw, (a) + (at), 0, aw, ai, (b) + (bt), 0, bi);                   \
        else if ((n) == 16 && (kw) == 1)                                                                               \
            lw_neon_window16(pixels, 1, kh, (c) + (ci), cw, (a) + (at), 0, aw, ai, (b) + (bt), 0, bi);                 \
        else if ((n) == 16)                                                                                            \
            lw_neon_window16(pixels, kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);              \
        else if ((n) == 8)                                                                                             \
            lw_neon_window(pixels, kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);                \
        else lw_window(pixels, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);                 \
    } while (0)
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj) \
    LW_NEON_WINDOW(2, kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj) \
    LW_NEON_WINDOW(1, kh, kw, n, c, ci, 0, a, at, ai, 0, aj, b, bt, bi, bj)
#endif
/* lw: end */

/* lw: lw_neon_scale needs lw_neon_bytes lw_mulhigh_sat_i32 lw_roundshift_i32 */
#if LW_SIMD_NEON_BYTES
/* a*m / 2^31 / 2^-down, each to nearest; ties of the shift away from zero: negative values are decreased first. No
 * product is the smallest integer, so that does not wrap. */
static inline int32x4_t lw_neon_times(int32x4_t a, int32x4_t m, int32x4_t down)
{
    const int32x4_t v = vqrdmulhq_s32(a, m);
    return vrshlq_s32(vsraq_n_s32(v, vandq_s32(v, down), 31), down);
}
/* Eight values plus `zero` between least and most. Bytes saturate at their own limits. */
static inline int8x8_t lw_neon_narrow(int32x4_t v, int32x4_t w, int32_t zero, int32_t least, int32_t most)
{
    const int32x4_t z = vdupq_n_s32(zero);
    const int16x8_t both = vcombine_s16(vqmovn_s32(vaddq_s32(v, z)), vqmovn_s32(vaddq_s32(w, z)));
    int8x8_t y = vqmovn_s16(both);
    if (least > -128) y = vmax_s8(y, vdup_n_s8((int8_t)least));
    return most < 127 ? vmin_s8(y, vdup_n_s8((int8_t)most)) : y;
}
static inline int8_t lw_neon_scaled(int32_t a, int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most)
{
    const int32_t v = (int32_t)((uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(a, m), s) + (uint32_t)zero);
    return (int8_t)(v < least ? least : v > most ? most : v);
}
LW_NEON_FIXED void lw_neon_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                 const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
    for (; e + 8 <= n; e += 8) {
        const int16x8_t down = vmovl_s8(vneg_s8(vreinterpret_s8_u8(vld1_u8(s + e))));
        const int32x4_t v = lw_neon_times(vld1q_s32(a + e), vld1q_s32(m + e), vmovl_s16(vget_low_s16(down)));
        const int32x4_t w = lw_neon_times(vld1q_s32(a + e + 4), vld1q_s32(m + e + 4), vmovl_s16(vget_high_s16(down)));
        vst1_s8(y + e, lw_neon_narrow(v, w, zero, least, most));
    }
    for (e = n & -8; e < n; e++) y[e] = lw_neon_scaled(a[e], m[e], s[e], zero, least, most);
}
LW_NEON_FIXED void lw_neon_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                     int32_t m, int32_t s)
{
    const int32x4_t factor = vdupq_n_s32(m), down = vdupq_n_s32(-s);
    int32_t e = 0;
    for (; e + 8 <= n; e += 8)
        vst1_s8(y + e, lw_neon_narrow(lw_neon_times(vld1q_s32(a + e), factor, down),
                                      lw_neon_times(vld1q_s32(a + e + 4), factor, down), zero, least, most));
    for (e = n & -8; e < n; e++) y[e] = lw_neon_scaled(a[e], m, s, zero, least, most);
}
#define LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, yi, a, ai, m, mi, s, si)                                        \
    lw_neon_scale(n, zero, least, most, (y) + (yi), (a) + (ai), (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE_I8(n, zero, least, most, y, yi, a, ai, m, s) \
    lw_neon_scale_all(n, zero, least, most, (y) + (yi), (a) + (ai), m, s)
#endif
/* lw: end */

/* lw: lw_neon_add needs lw_neon_scale */
#if LW_SIMD_NEON_BYTES
static inline int32x4_t lw_neon_term(int16x4_t a, int32_t zero, int32_t m, int32_t s)
{
    const int32x4_t v = vshlq_n_s32(vaddq_s32(vmovl_s16(a), vdupq_n_s32(zero)), 20);
    return lw_neon_times(v, vdupq_n_s32(m), vdupq_n_s32(-s));
}
LW_NEON_FIXED void lw_neon_add(int32_t n, int32_t za, int32_t ma, int32_t sa, int32_t zb, int32_t mb, int32_t sb,
                               int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most, int8_t *y,
                               const int8_t *a, const int8_t *b)
{
    const int32x4_t factor = vdupq_n_s32(m), down = vdupq_n_s32(-s);
    int32_t e = 0;
    for (; e + 8 <= n; e += 8) {
        const int16x8_t p = vmovl_s8(vld1_s8(a + e)), q = vmovl_s8(vld1_s8(b + e));
        const int32x4_t v = vaddq_s32(lw_neon_term(vget_low_s16(p), za, ma, sa),
                                      lw_neon_term(vget_low_s16(q), zb, mb, sb));
        const int32x4_t w = vaddq_s32(lw_neon_term(vget_high_s16(p), za, ma, sa),
                                      lw_neon_term(vget_high_s16(q), zb, mb, sb));
        vst1_s8(y + e,
                lw_neon_narrow(lw_neon_times(v, factor, down), lw_neon_times(w, factor, down), zero, least, most));
    }
    for (e = n & -8; e < n; e++) {
        const int32_t v = (int32_t)(((uint32_t)a[e] + (uint32_t)za) << 20);
        const int32_t w = (int32_t)(((uint32_t)b[e] + (uint32_t)zb) << 20);
        const uint32_t sum = (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(v, ma), sa)
                             + (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(w, mb), sb);
        y[e] = lw_neon_scaled((int32_t)sum, m, s, zero, least, most);
    }
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_neon_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_row_pool needs lw_neon_bytes lw_sum_window */
#if LW_SIMD_NEON_BYTES
/* Sums of eight channels in 16-bit lanes, of up to 256 bytes each. */
static inline void lw_neon_sum8(int32_t kh, int32_t kw, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int16x8_t sum = vdupq_n_s16(0);
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) sum = vaddw_s8(sum, vld1_s8(a + i * ai + j * aj));
    vst1q_s32(y, vaddw_s16(vld1q_s32(y), vget_low_s16(sum)));
    vst1q_s32(y + 4, vaddw_s16(vld1q_s32(y + 4), vget_high_s16(sum)));
}
static inline void lw_neon_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int32_t e = 0;
    for (; e + 16 <= n; e += 16) {
        int8x16_t most = vld1q_s8(y + e);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) most = vmaxq_s8(most, vld1q_s8(a + i * ai + j * aj + e));
        vst1q_s8(y + e, most);
    }
    for (; e < n; e++)
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) y[e] = a[i * ai + j * aj + e] > y[e] ? a[i * ai + j * aj + e] : y[e];
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj)                                                         \
    do {                                                                                                               \
        if ((n) == 8 && (kh) * (kw) <= 256) lw_neon_sum8(kh, kw, (y) + (yi), (a) + (at), ai, aj);                      \
        else if ((n) == 16 && (kh) * (kw) <= 256) {                                                                    \
            lw_neon_sum8(kh, kw, (y) + (yi), (a) + (at), ai, aj);                                                      \
            lw_neon_sum8(kh, kw, (y) + (yi) + 8, (a) + (at) + 8, ai, aj);                                              \
        } else lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj);                                               \
    } while (0)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_neon_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
