/* SPDX-License-Identifier: 0BSD */
/* Products of panels of bytes (rows.h) in NEON, by three instructions:
 *
 *   SMULL, SMLAL, SADALP   two products in 16 bits, pairs of them in 32: weights of at least -127
 *   SDOT                   four products in 32 bits, of a lane's bytes
 *   SMMLA                  two rows by two rows of eight products */
#ifndef LW_SIMD_NEON_PANELS_H
#define LW_SIMD_NEON_PANELS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_neon_panels needs lw_neon_bytes lw_panel_i8 */
#if LW_SIMD_NEON_BYTES
/* Computes w pixels (1, 2 or 4) by four channels. The sums are variables instead of arrays, because compilers keep
 * variables in registers. */
#define LW_NEON_SUMS(r) int32x4_t s##r##0, s##r##1, s##r##2, s##r##3
#define LW_NEON_ADD(r, at) lw_neon_increase(at, lw_neon_across(s##r##0, s##r##1, s##r##2, s##r##3))
/* The first block of elements begins the sums. */
#define LW_NEON_ROW16(r, x)                                                                                            \
    do {                                                                                                               \
        const int8x16_t v = vld1q_s8((x) + e);                                                                         \
        s##r##0 = e ? lw_neon_dot16(s##r##0, v, k0) : vpaddlq_s16(lw_neon_two16(v, k0));                               \
        s##r##1 = e ? lw_neon_dot16(s##r##1, v, k1) : vpaddlq_s16(lw_neon_two16(v, k1));                               \
        s##r##2 = e ? lw_neon_dot16(s##r##2, v, k2) : vpaddlq_s16(lw_neon_two16(v, k2));                               \
        s##r##3 = e ? lw_neon_dot16(s##r##3, v, k3) : vpaddlq_s16(lw_neon_two16(v, k3));                               \
        if (w > 1) LW_NEON_IN_ORDER;                                                                                   \
    } while (0)
#define LW_NEON_BLOCK16                                                                                                \
    do {                                                                                                               \
        const int8_t *k = b + e * 4;                                                                                   \
        const int8x16_t k0 = vld1q_s8(k), k1 = vld1q_s8(k + 16), k2 = vld1q_s8(k + 32), k3 = vld1q_s8(k + 48);         \
        LW_NEON_ROW16(0, a);                                                                                           \
        if (w > 1) LW_NEON_ROW16(1, a + aw);                                                                           \
        if (w > 2) LW_NEON_ROW16(2, a + 2 * aw);                                                                       \
        if (w > 2) LW_NEON_ROW16(3, a + 3 * aw);                                                                       \
    } while (0)
LW_FIXED void lw_neon_panel16(int32_t w, int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw,
                                   const int8_t *b)
{
    LW_NEON_SUMS(0);
    LW_NEON_SUMS(1);
    LW_NEON_SUMS(2);
    LW_NEON_SUMS(3);
    {
        enum { e = 0 };
        LW_NEON_BLOCK16;
    }
    for (int32_t e = 16; e < n * 16; e += 16) LW_NEON_BLOCK16;
    LW_NEON_ADD(0, c);
    if (w > 1) LW_NEON_ADD(1, c + cw);
    if (w > 2) LW_NEON_ADD(2, c + 2 * cw);
    if (w > 2) LW_NEON_ADD(3, c + 3 * cw);
}
#define LW_NEON_ZERO(r) int32x4_t s##r##0 = vdupq_n_s32(0), s##r##1 = s##r##0, s##r##2 = s##r##0, s##r##3 = s##r##0
/* Eight elements of a channel at once: two blocks in 16 bits, then the last one alone. */
#define LW_NEON_TWO8(s, v, v1, at) vpadalq_s16(s, vmlal_s8(vmull_s8(v, vld1_s8(b + (at))), v1, vld1_s8(b + 32 + (at))))
#define LW_NEON_ROW8(r, x)                                                                                             \
    do {                                                                                                               \
        const int8x8_t v = vld1_s8((x) + e), v1 = vld1_s8((x) + e + 8);                                                \
        s##r##0 = LW_NEON_TWO8(s##r##0, v, v1, 0);                                                                     \
        s##r##1 = LW_NEON_TWO8(s##r##1, v, v1, 8);                                                                     \
        s##r##2 = LW_NEON_TWO8(s##r##2, v, v1, 16);                                                                    \
        s##r##3 = LW_NEON_TWO8(s##r##3, v, v1, 24);                                                                    \
    } while (0)
#define LW_NEON_LAST8(r, x)                                                                                            \
    do {                                                                                                               \
        s##r##0 = lw_neon_dot8(s##r##0, (x) + e, b);                                                                   \
        s##r##1 = lw_neon_dot8(s##r##1, (x) + e, b + 8);                                                               \
        s##r##2 = lw_neon_dot8(s##r##2, (x) + e, b + 16);                                                              \
        s##r##3 = lw_neon_dot8(s##r##3, (x) + e, b + 24);                                                              \
    } while (0)
LW_FIXED void lw_neon_panel8(int32_t w, int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw,
                                  const int8_t *b)
{
    int32_t e = 0;
    LW_NEON_ZERO(0);
    LW_NEON_ZERO(1);
    LW_NEON_ZERO(2);
    LW_NEON_ZERO(3);
    for (; e + 16 <= n * 8; e += 16, b += 64) {
        LW_NEON_ROW8(0, a);
        if (w > 1) LW_NEON_ROW8(1, a + aw);
        if (w > 2) LW_NEON_ROW8(2, a + 2 * aw);
        if (w > 2) LW_NEON_ROW8(3, a + 3 * aw);
    }
    if (n % 2) {
        LW_NEON_LAST8(0, a);
        if (w > 1) LW_NEON_LAST8(1, a + aw);
        if (w > 2) LW_NEON_LAST8(2, a + 2 * aw);
        if (w > 2) LW_NEON_LAST8(3, a + 3 * aw);
    }
    LW_NEON_ADD(0, c);
    if (w > 1) LW_NEON_ADD(1, c + cw);
    if (w > 2) LW_NEON_ADD(2, c + 2 * cw);
    if (w > 2) LW_NEON_ADD(3, c + 3 * cw);
}
#undef LW_NEON_SUMS
#undef LW_NEON_BLOCK16
#undef LW_NEON_ZERO
#undef LW_NEON_ADD
#define LW_NEON_PANEL_BYTES(w, kh, n, m, d, c, cw, a, aw, b)                                                           \
    if ((kh) == 1 && (m) == 4 && (d) == 16) lw_neon_panel16(w, n, c, cw, a, aw, b);                                    \
    else if ((kh) == 1 && (m) == 4 && (d) == 8) lw_neon_panel8(w, n, c, cw, a, aw, b);
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
/* Computes w pixels by m channels (4, 8 or 16) of four elements; an instruction takes a pixel's elements from a
 * lane. */
#define LW_NEON_AT(p, i) vld1q_s32((p) + 4 * ((i) < m / 4 ? (i) : 0))
#define LW_NEON_BEGIN(r, p)                                                                                            \
    int32x4_t s##r##0 = LW_NEON_AT(p, 0), s##r##1 = LW_NEON_AT(p, 1), s##r##2 = LW_NEON_AT(p, 2),                      \
              s##r##3 = LW_NEON_AT(p, 3)
#define LW_NEON_END(r, p)                                                                                              \
    do {                                                                                                               \
        vst1q_s32(p, s##r##0);                                                                                         \
        if (m > 4) vst1q_s32((p) + 4, s##r##1);                                                                        \
        if (m > 8) vst1q_s32((p) + 8, s##r##2);                                                                        \
        if (m > 8) vst1q_s32((p) + 12, s##r##3);                                                                       \
    } while (0)
#define LW_NEON_LANE(r, lane)                                                                                          \
    do {                                                                                                               \
        s##r##0 = vdotq_laneq_s32(s##r##0, k0, x##r, lane);                                                            \
        if (m > 4) s##r##1 = vdotq_laneq_s32(s##r##1, k1, x##r, lane);                                                 \
        if (m > 8) s##r##2 = vdotq_laneq_s32(s##r##2, k2, x##r, lane);                                                 \
        if (m > 8) s##r##3 = vdotq_laneq_s32(s##r##3, k3, x##r, lane);                                                 \
    } while (0)
#define LW_NEON_QUAD(lane)                                                                                             \
    do {                                                                                                               \
        const int8x16_t k0 = vld1q_s8(b), k1 = m > 4 ? vld1q_s8(b + 16) : k0, k2 = m > 8 ? vld1q_s8(b + 32) : k0,      \
                        k3 = m > 8 ? vld1q_s8(b + 48) : k0;                                                            \
        (void)k1, (void)k2, (void)k3;                                                                                  \
        b += 4 * m;                                                                                                    \
        LW_NEON_LANE(0, lane);                                                                                         \
        if (w > 1) LW_NEON_LANE(1, lane);                                                                              \
        if (w > 2) LW_NEON_LANE(2, lane);                                                                              \
        if (w > 2) LW_NEON_LANE(3, lane);                                                                              \
        if (w > 1) LW_NEON_IN_ORDER;                                                                                   \
    } while (0)
LW_FIXED int8x16_t lw_neon_quad(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
LW_FIXED void lw_neon_quads(int32_t w, int32_t m, int32_t kh, int32_t n, int32_t *c, int32_t cw, const int8_t *a,
                                 int32_t aw, int32_t ai, const int8_t *b)
{
    const int8_t *a1 = w > 1 ? a + aw : a, *a2 = w > 2 ? a + 2 * aw : a, *a3 = w > 2 ? a + 3 * aw : a;
    int32_t *c1 = w > 1 ? c + cw : c, *c2 = w > 2 ? c + 2 * cw : c, *c3 = w > 2 ? c + 3 * cw : c;
    LW_NEON_BEGIN(0, c);
    LW_NEON_BEGIN(1, c1);
    LW_NEON_BEGIN(2, c2);
    LW_NEON_BEGIN(3, c3);
    for (int32_t i = 0; i < kh; i++) {
        int32_t e = i * ai;
        for (; e + 16 <= i * ai + n * 4; e += 16) {
            const int8x16_t x0 = vld1q_s8(a + e), x1 = vld1q_s8(a1 + e), x2 = vld1q_s8(a2 + e), x3 = vld1q_s8(a3 + e);
            LW_NEON_QUAD(0);
            LW_NEON_QUAD(1);
            LW_NEON_QUAD(2);
            LW_NEON_QUAD(3);
        }
        for (; e < i * ai + n * 4; e += 4) {
            const int8x16_t x0 = lw_neon_quad(a + e), x1 = lw_neon_quad(a1 + e), x2 = lw_neon_quad(a2 + e),
                            x3 = lw_neon_quad(a3 + e);
            LW_NEON_QUAD(0);
        }
    }
    LW_NEON_END(0, c);
    if (w > 1) LW_NEON_END(1, c1);
    if (w > 2) LW_NEON_END(2, c2);
    if (w > 2) LW_NEON_END(3, c3);
}
#undef LW_NEON_BEGIN
#undef LW_NEON_END
#define LW_NEON_PANEL_QUADS(w, kh, n, m, d, c, cw, a, aw, ai, b)                                                       \
    if (((m) == 4 || (m) == 8 || (m) == 16) && (d) == 4) lw_neon_quads(w, m, kh, n, c, cw, a, aw, ai, b);              \
    else
#else
#define LW_NEON_PANEL_QUADS(w, kh, n, m, d, c, cw, a, aw, ai, b)
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_DOTPROD)
/* Return pixels a and b as the two rows of a factor, with eight elements each. */
LW_FIXED int8x16_t lw_neon_low(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
LW_FIXED int8x16_t lw_neon_high(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
LW_FIXED int32x4_t lw_neon_rows0(int32x4_t a, int32x4_t b)
{
    return vcombine_s32(vget_low_s32(a), vget_low_s32(b));
}
LW_FIXED int32x4_t lw_neon_rows1(int32x4_t a, int32x4_t b)
{
    return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
/* Computes two or four pixels by eight channels; each sum is a square of two pixels by two channels. */
#define LW_NEON_SQUARES(x, y)                                                                                          \
    do {                                                                                                               \
        const int8x16_t k0 = vld1q_s8(b), k1 = vld1q_s8(b + 16), k2 = vld1q_s8(b + 32), k3 = vld1q_s8(b + 48);         \
        b += 64;                                                                                                       \
        s0 = vmmlaq_s32(s0, x, k0);                                                                                    \
        s1 = vmmlaq_s32(s1, x, k1);                                                                                    \
        s2 = vmmlaq_s32(s2, x, k2);                                                                                    \
        s3 = vmmlaq_s32(s3, x, k3);                                                                                    \
        if (w > 2) {                                                                                                   \
            t0 = vmmlaq_s32(t0, y, k0);                                                                                \
            t1 = vmmlaq_s32(t1, y, k1);                                                                                \
            t2 = vmmlaq_s32(t2, y, k2);                                                                                \
            t3 = vmmlaq_s32(t3, y, k3);                                                                                \
        }                                                                                                              \
    } while (0)
LW_FIXED void lw_neon_squares(int32_t w, int32_t kh, int32_t n, int32_t *c, int32_t cw, const int8_t *a,
                                   int32_t aw, int32_t ai, const int8_t *b)
{
    const int8_t *a1 = a + aw, *a2 = w > 2 ? a + 2 * aw : a, *a3 = w > 2 ? a + 3 * aw : a;
    int32x4_t s0 = vdupq_n_s32(0), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
    for (int32_t i = 0; i < kh; i++) {
        int32_t e = i * ai;
        for (; e + 16 <= i * ai + n * 8; e += 16) {
            const int8x16_t x0 = vld1q_s8(a + e), x1 = vld1q_s8(a1 + e), x2 = vld1q_s8(a2 + e), x3 = vld1q_s8(a3 + e);
            LW_NEON_SQUARES(lw_neon_low(x0, x1), lw_neon_low(x2, x3));
            LW_NEON_SQUARES(lw_neon_high(x0, x1), lw_neon_high(x2, x3));
        }
        if (n % 2)
            LW_NEON_SQUARES(vcombine_s8(vld1_s8(a + e), vld1_s8(a1 + e)),
                            vcombine_s8(vld1_s8(a2 + e), vld1_s8(a3 + e)));
    }
    lw_neon_increase(c, lw_neon_rows0(s0, s1));
    lw_neon_increase(c + 4, lw_neon_rows0(s2, s3));
    lw_neon_increase(c + cw, lw_neon_rows1(s0, s1));
    lw_neon_increase(c + cw + 4, lw_neon_rows1(s2, s3));
    if (w > 2) {
        lw_neon_increase(c + 2 * cw, lw_neon_rows0(t0, t1));
        lw_neon_increase(c + 2 * cw + 4, lw_neon_rows0(t2, t3));
        lw_neon_increase(c + 3 * cw, lw_neon_rows1(t0, t1));
        lw_neon_increase(c + 3 * cw + 4, lw_neon_rows1(t2, t3));
    }
}
/* Computes one pixel, with its elements twice and two sums per channel. */
LW_FIXED void lw_neon_octets(int32_t kh, int32_t n, int32_t *c, const int8_t *a, int32_t ai, const int8_t *b)
{
    int32x4_t s0 = vdupq_n_s32(0), s1 = s0, s2 = s0, s3 = s0;
    for (int32_t q = 0; q < kh * n; q++, b += 64) {
        const int8x8_t half = vld1_s8(a + q / n * ai + q % n * 8);
        const int8x16_t x = vcombine_s8(half, half);
        s0 = vdotq_s32(s0, x, vld1q_s8(b));
        s1 = vdotq_s32(s1, x, vld1q_s8(b + 16));
        s2 = vdotq_s32(s2, x, vld1q_s8(b + 32));
        s3 = vdotq_s32(s3, x, vld1q_s8(b + 48));
    }
    lw_neon_increase(c, vpaddq_s32(s0, s1));
    lw_neon_increase(c + 4, vpaddq_s32(s2, s3));
}
#define LW_NEON_PANEL_SQUARES(w, kh, n, m, d, c, cw, a, aw, ai, b)                                                     \
    if ((m) == 8 && (d) == 8 && (w) == 1) lw_neon_octets(kh, n, c, a, ai, b);                                          \
    else if ((m) == 8 && (d) == 8) lw_neon_squares(w, kh, n, c, cw, a, aw, ai, b);                                     \
    else
#else
#define LW_NEON_PANEL_SQUARES(w, kh, n, m, d, c, cw, a, aw, ai, b)
#endif
/* One, two or four pixels, and panels without gaps; other calls are computed in portable C. */
#define LW_NEON_PANELS(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo)                                            \
    do {                                                                                                               \
        if ((w) > 4 || (w) == 3 || (aq) != (d) || (bo) != (d) || (bq) != (m) * (d)                                     \
            || ((kh) > 1 && (bi) != (n) * (m) * (d)))                                                                  \
            lw_panel_i8(w, kh, n, m, d, 0, c, cw, a, aw, ai, aq, b, bi, bq, bo);                                       \
        else                                                                                                           \
            LW_NEON_PANEL_QUADS(w, kh, n, m, d, c, cw, a, aw, ai, b)                                                   \
            LW_NEON_PANEL_SQUARES(w, kh, n, m, d, c, cw, a, aw, ai, b)                                                 \
            LW_NEON_PANEL_BYTES(w, kh, n, m, d, c, cw, a, aw, b)                                                       \
            else lw_panel_i8(w, kh, n, m, d, 0, c, cw, a, aw, ai, aq, b, bi, bq, bo);                                  \
    } while (0)
#define LW_ROWS_PANELS_I8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo) \
    LW_NEON_PANELS(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo)
#endif
/* lw: end */
#endif
