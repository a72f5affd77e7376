/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on Helium, the vectors of Cortex-M55 and M85. VMLADAVA multiplies 16 bytes by 16 and adds all
 * products to one register. The tail of a row is loaded under a predicate, with zeros in the other lanes.
 *
 * This header does not use tiles.h: predicates replace the remainders of rows, and most loops are instructions (WLSTP,
 * LETP) in the assembly of arm_asm.h. */
#ifndef LW_SIMD_ARM_MVE_H
#define LW_SIMD_ARM_MVE_H

#include "../lw_base.h"
#include "arm_asm.h"
#include "simd.h"

/* lw: lw_mve_dots needs lw_asm_mve_dots */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_mve_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo)
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_mve_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_MVE_DOT(n, c, ci, a, ai, b, bi) ((c)[ci] = lw_mve_1x1(n, (c)[ci], (a) + (ai), (b) + (bi)))
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) \
    (LW_MVE_DOT(n, c, ci, a, ai, b, bi), LW_MVE_DOT(n, c, (ci) + 1, a, ai, b, (bi) + (bo)))
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) LW_MVE_DOT(n, c, ci, a, ai, b, bi)
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    (LW_MVE_DOT(n, c, ci, a, ai, b, bi), LW_MVE_DOT(n, c, (ci) + (cw), a, (ai) + (aw), b, bi))
#endif
/* lw: end */

/* lw: lw_mve_rows needs lw_asm_mve_tiles lw_asm_mve_dots */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Computes the last channels, which do not fill a tile, one by one. */
static inline void lw_mve_rest(int32_t from, int32_t n, int32_t o, int32_t *c, const int8_t *a, const int8_t *b,
                               int32_t bo)
{
    for (; from < o; from++) c[from] = lw_mve_1x1(n, c[from], a, b + from * bo);
}
#define LW_ROWS_DOT_2XN_I8(n, o, c, ci, cw, a, ai, aw, b, bi, bo)                                                      \
    do {                                                                                                               \
        if ((o) > 1) lw_mve_2xn(n, (o) / 2 * 2, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo);                       \
        lw_mve_rest((o) / 2 * 2, n, o, (c) + (ci), (a) + (ai), (b) + (bi), bo);                                        \
        lw_mve_rest((o) / 2 * 2, n, o, (c) + (ci) + (cw), (a) + (ai) + (aw), (b) + (bi), bo);                          \
    } while (0)
#define LW_ROWS_DOT_1XN_I8(n, o, c, ci, a, ai, b, bi, bo)                                                              \
    do {                                                                                                               \
        if ((o) > 3) lw_mve_1xn(n, (o) / 4 * 4, (c) + (ci), (a) + (ai), (b) + (bi), bo);                               \
        lw_mve_rest((o) / 4 * 4, n, o, (c) + (ci), (a) + (ai), (b) + (bi), bo);                                        \
    } while (0)
#endif
/* lw: end */

/* lw: lw_mve_panel_pair needs lw_asm_mve_panels */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* vectors of 16 contiguous elements */
#define LW_ROWS_PANEL_PAIR_I8(n, m, d, c, ci, co, a, at, aw, aq, b, bt, bq, bo) \
    lw_mve_panel_pair(1, n, m, (c) + (ci), (a) + (at), aw, 0, (b) + (bt))
#define LW_ROWS_WINDOW_PANEL_PAIR_I8(kh, n, m, d, c, ci, co, a, at, aw, ai, aq, b, bt, bi, bq, bo) \
    lw_mve_panel_pair(kh, n, m, (c) + (ci), (a) + (at), aw, ai, (b) + (bt))
#endif
/* lw: end */

/* lw: lw_mve_nibbles_rows needs LW_SHARED lw_asm_mve_nibbles */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Like lw_mve_nibbles_pairs, for one pixel. */
static inline void lw_mve_nibbles_each(int32_t m, int32_t *c, int32_t times, int32_t less)
{
    for (; m > 3; m -= 4, c += 8) {
        const uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), 8);
        const int32x4_t even = vldrwq_gather_offset_s32(c, at), odd = vldrwq_gather_offset_s32(c + 1, at);
        vstrwq_scatter_offset_s32(c, at, vsubq_n_s32(vmlaq_n_s32(even, odd, times), less));
    }
    for (; m > 0; m--, c += 2)
        c[0] = (int32_t)((uint32_t)c[0] + (uint32_t)times * (uint32_t)c[1] - (uint32_t)less);
}
/* Computes m pairs of channels of one or two pixels, each kh rows of n vectors. The sums of bytes, even + 8 + 16 * odd,
 * begin with those of even rows and 16 times those of odd rows, less 8 times the sum of the elements. */
static LW_SHARED void lw_mve_nibbles_rows(int32_t pixels, int32_t kh, int32_t n, int32_t m, int32_t *c, const int8_t *a,
                                          int32_t aw, int32_t ai, const int8_t *b)
{
    int32_t all = 0, all1 = 0;
    for (int32_t i = 0; i < kh; i++)
        for (int32_t e = 0; e < 16 * n; e += 16) {
            all = vaddvaq_s8(all, vldrbq_s8(a + i * ai + e));
            if (pixels == 2) all1 = vaddvaq_s8(all1, vldrbq_s8(a + aw + i * ai + e));
        }
    if (pixels == 2) lw_mve_nibbles_pairs(m, c, 16, 8 * all, 8 * all1);
    else lw_mve_nibbles_each(m, c, 16, 8 * all);
    for (int32_t i = 0; i < kh; i++, a += ai)
        for (int32_t q = 0; q < n; q += 3)
            lw_mve_nibbles(pixels, n - q < 3 ? n - q : 3, m, c, a + 16 * q, a + aw + 16 * q,
                           b + 16 * m * (i * n + q));
    if (pixels == 2) lw_mve_nibbles_pairs(m, c, -16, 0, 0);
    else lw_mve_nibbles_each(m, c, -16, 0);
}
#define LW_ROWS_NIBBLES_I8(n, m, c, ci, cu, a, ai, aq, b, bi, bq, bu) \
    lw_mve_nibbles_rows(1, 1, n, m, (c) + (ci), (a) + (ai), 0, 0, (b) + (bi))
#define LW_ROWS_NIBBLES_PAIR_I8(n, m, c, ci, cu, ch, a, ai, aw, aq, b, bi, bq, bu) \
    lw_mve_nibbles_rows(2, 1, n, m, (c) + (ci), (a) + (ai), aw, 0, (b) + (bi))
#define LW_ROWS_WINDOW_NIBBLES_I8(kh, n, m, c, ci, cu, a, at, ai, aq, b, bt, bi, bq, bu) \
    lw_mve_nibbles_rows(1, kh, n, m, (c) + (ci), (a) + (at), 0, ai, (b) + (bt))
#define LW_ROWS_WINDOW_NIBBLES_PAIR_I8(kh, n, m, c, ci, cu, ch, a, at, aw, ai, aq, b, bt, bi, bq, bu) \
    lw_mve_nibbles_rows(2, kh, n, m, (c) + (ci), (a) + (at), aw, ai, (b) + (bt))
#endif
/* lw: end */

/* lw: lw_mve_copies needs lw_asm_mve_copies */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Copies a row; a few whole vectors need no loop. The compiler decides by a constant n. */
static inline void lw_mve_copy_row(int32_t n, int8_t *y, const int8_t *a)
{
    if (__builtin_constant_p(n) && n % 16 == 0 && n <= 96) {
        for (int32_t e = 0; e < n; e += 16) vstrbq_s8(y + e, vldrbq_s8(a + e));
        return;
    }
    lw_mve_copy(n, y, a);
}
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) lw_mve_copy_row(n, (y) + (yi), (a) + (ai))
#define LW_ROWS_FILL_I8(n, y, yi, fill) lw_mve_fill(n, (y) + (yi), fill)
#endif
/* lw: end */

/* lw: lw_mve_unpack needs lw_unpack LW_SHARED */
#if LW_SIMD_ARM_MVE
/* Unpacks groups of 16 bytes of 4 or 2 bits to adjacent vectors. */
static LW_SHARED void lw_mve_unpack4(int32_t n, int32_t least, int8_t *y, const uint8_t *a)
{
    const uint8x16_t first = vdupq_n_u8((uint8_t)least), mask = vdupq_n_u8(15);
    for (; n > 0; n--, a += 16, y += 32) {
        const uint8x16_t w = vldrbq_u8(a);
        vstrbq_s8(y, vreinterpretq_s8_u8(vaddq_u8(vandq_u8(w, mask), first)));
        vstrbq_s8(y + 16, vreinterpretq_s8_u8(vaddq_u8(vshrq_n_u8(w, 4), first)));
    }
}
static LW_SHARED void lw_mve_unpack2(int32_t n, int32_t least, int8_t *y, const uint8_t *a)
{
    const uint8x16_t first = vdupq_n_u8((uint8_t)least), mask = vdupq_n_u8(3);
    for (; n > 0; n--, a += 16, y += 64) {
        const uint8x16_t w = vldrbq_u8(a);
        vstrbq_s8(y, vreinterpretq_s8_u8(vaddq_u8(vandq_u8(w, mask), first)));
        vstrbq_s8(y + 16, vreinterpretq_s8_u8(vaddq_u8(vandq_u8(vshrq_n_u8(w, 2), mask), first)));
        vstrbq_s8(y + 32, vreinterpretq_s8_u8(vaddq_u8(vandq_u8(vshrq_n_u8(w, 4), mask), first)));
        vstrbq_s8(y + 48, vreinterpretq_s8_u8(vaddq_u8(vshrq_n_u8(w, 6), first)));
    }
}
#define LW_ROWS_UNPACK4_I8(n, m, least, y, yi, yg, yp, a, ai, ag)                                                      \
    ((m) == 16 && (yg) == 32 && (yp) == 16 && (ag) == 16                                                               \
         ? lw_mve_unpack4(n, least, (y) + (yi), (a) + (ai))                                                            \
         : lw_unpack4(n, m, least, (y) + (yi), yg, yp, (a) + (ai), ag))
#define LW_ROWS_UNPACK2_I8(n, m, least, y, yi, yg, yp, a, ai, ag)                                                      \
    ((m) == 16 && (yg) == 64 && (yp) == 16 && (ag) == 16                                                               \
         ? lw_mve_unpack2(n, least, (y) + (yi), (a) + (ai))                                                            \
         : lw_unpack2(n, m, least, (y) + (yi), yg, yp, (a) + (ai), ag))
#endif
/* lw: end */

/* lw: lw_mve_window needs lw_asm_mve_now lw_window */
#if LW_SIMD_ARM_MVE
/* Computes eight channels of one or two windows (`pixels`). Products of the even and of the odd channels are 32 bits
 * wide; structured loads and stores keep the sums of both separate. */
static inline void lw_mve_window(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                 int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    const int32x4x2_t first = vld2q_s32(c), second = pixels == 2 ? vld2q_s32(c + cw) : first;
    int32x4_t even = first.val[0], odd = first.val[1], even1 = second.val[0], odd1 = second.val[1];
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) {
            const int16x8_t w = vldrbq_s16(b + i * bi + j * bj), x = vldrbq_s16(a + i * ai + j * aj);
            even = vaddq_s32(even, vmullbq_int_s16(x, w));
            odd = vaddq_s32(odd, vmulltq_int_s16(x, w));
            if (pixels == 2) {
                const int16x8_t y = vldrbq_s16(a + i * ai + j * aj + aw);
                even1 = vaddq_s32(even1, vmullbq_int_s16(y, w));
                odd1 = vaddq_s32(odd1, vmulltq_int_s16(y, w));
            }
            LW_MVE_NOW(even, odd, even1, odd1);
        }
    const int32x4x2_t sum = { { even, odd } }, sum1 = { { even1, odd1 } };
    vst2q_s32(c, sum);
    if (pixels == 2) vst2q_s32(c + cw, sum1);
}
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                     \
    do {                                                                                                               \
        if ((n) == 8) lw_mve_window(2, kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);            \
        else lw_window(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);                      \
    } while (0)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj)                                              \
    do {                                                                                                               \
        if ((n) == 8) lw_mve_window(1, kh, kw, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj);              \
        else lw_window(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj);                        \
    } while (0)
#endif
/* lw: end */

/* lw: lw_mve_windows needs lw_asm_mve_windows lw_asm_mve_taps lw_mve_window */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
#define LW_ROWS_WINDOW2_TILES_I8(kh, kw, t, n, c, ci, cw, cu, a, at, ai, aw, aj, au, b, bt, bu, bi, bj)                \
    do {                                                                                                               \
        const int is_packed = (n) == 8 && (cu) == 8 && (au) == 8 && (bu) == (kh) * (kw) * 8;                           \
        if (is_packed && (kh) == 3 && (kw) == 3 && (bi) == 24 && (bj) == 8 && (aw) == (ai))                            \
            lw_mve_windows(t, (c) + (ci), cw, (a) + (at), ai, aj, (b) + (bt));                                         \
        else if (is_packed && (kh) == 3 && (kw) == 3 && (bi) == 24 && (bj) == 8)                                       \
            lw_mve_windows_apart(t, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt));                               \
        else if (is_packed && (kw) == 1 && (bi) == 8)                                                                  \
            lw_mve_taps(kh, t, (c) + (ci), cw, (a) + (at), ai, aw, (b) + (bt));                                        \
        else                                                                                                           \
            for (int32_t u = 0; u < (t); u++)                                                                          \
                LW_ROWS_WINDOW2_I8(kh, kw, n, c, (ci) + u * (cu), cw, a, (at) + u * (au), ai, aw, aj, b,               \
                                   (bt) + u * (bu), bi, bj);                                                           \
    } while (0)
#endif
/* lw: end */

/* lw: lw_mve_begin needs LW_SIMD_CHOICE lw_asm_mve_begin */
#if LW_SIMD_ARM_MVE
static inline void lw_mve_begin(int32_t n, int32_t *y, const int32_t *a)
{
    for (; n >= 4; n -= 4) {
        vstrwq_s32(y, vldrwq_s32(a));
        a += 4;
        y += 4;
    }
    for (; n > 0; n--) *y++ = *a++;
}
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) lw_mve_begin(n, (y) + (yi), (a) + (ai))
#if defined(__GNUC__)
#define LW_ROWS_COPY2_I32(n, y, yi, yw, a, ai) lw_mve_begin_two(n, (y) + (yi), (y) + (yi) + (yw), (a) + (ai))
#else
#define LW_ROWS_COPY2_I32(n, y, yi, yw, a, ai) \
    (lw_mve_begin(n, (y) + (yi), (a) + (ai)), lw_mve_begin(n, (y) + (yi) + (yw), (a) + (ai)))
#endif
#endif
/* lw: end */

/* lw: lw_mve_scale needs LW_SIMD_CHOICE lw_asm_mve_scale */
#if LW_SIMD_ARM_MVE
/* VQRDMULH is mulhigh. VRSHL rounds ties up; subtracting 1 from a negative value makes its ties round away from zero.
 * If the shift is 0, nothing may be subtracted, so the code tests value & -shift, which is negative only if both value
 * and -shift are negative. */
static inline int32x4_t lw_mve_scaled(int32x4_t v, int32x4_t m, int32x4_t minus_n)
{
    v = vqrdmulhq_s32(v, m);
    return vrshlq_s32(vqaddq_s32(v, vshrq_n_s32(vandq_s32(v, minus_n), 31)), minus_n);
}
static inline int32x4_t lw_mve_clamped(int32x4_t v, int32_t zero, int32_t least, int32_t most)
{
    return vminq_s32(vmaxq_s32(vaddq_n_s32(v, zero), vdupq_n_s32(least)), vdupq_n_s32(most));
}
static inline void lw_mve_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                const int32_t *m, const uint8_t *s)
{
#if defined(__GNUC__)
    lw_mve_scale_each(n, zero, vdupq_n_s32(least), vdupq_n_s32(most), y, a, m, s);
    n = 0;
#endif
    for (; n >= 4; n -= 4) {
        const int32x4_t minus_n = vnegq_s32(vreinterpretq_s32_u32(vldrbq_u32(s)));
        vstrbq_s32(y, lw_mve_clamped(lw_mve_scaled(vldrwq_s32(a), vldrwq_s32(m), minus_n), zero, least, most));
        a += 4;
        m += 4;
        s += 4;
        y += 4;
    }
    if (n > 0) {
        const mve_pred16_t p = vctp32q((uint32_t)n);
        const int32x4_t minus_n = vnegq_s32(vreinterpretq_s32_u32(vldrbq_z_u32(s, p)));
        vstrbq_p_s32(
            y, lw_mve_clamped(lw_mve_scaled(vldrwq_z_s32(a, p), vldrwq_z_s32(m, p), minus_n), zero, least, most), p);
    }
}
static inline void lw_mve_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                    int32_t m, int32_t s)
{
#if defined(__GNUC__)
    lw_mve_scale_row(n, zero, vdupq_n_s32(least), vdupq_n_s32(most), y, a, m, -s);
    n = 0;
#endif
    const int32x4_t all_m = vdupq_n_s32(m), minus_n = vdupq_n_s32(-s);
    for (; n >= 4; n -= 4) {
        vstrbq_s32(y, lw_mve_clamped(lw_mve_scaled(vldrwq_s32(a), all_m, minus_n), zero, least, most));
        a += 4;
        y += 4;
    }
    if (n > 0) {
        const mve_pred16_t p = vctp32q((uint32_t)n);
        vstrbq_p_s32(y, lw_mve_clamped(lw_mve_scaled(vldrwq_z_s32(a, p), all_m, minus_n), zero, least, most), p);
    }
}
#define LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, yi, a, ai, m, mi, s, si)                                        \
    lw_mve_scale(n, zero, least, most, (y) + (yi), (a) + (ai), (m) + (mi), (s) + (si))
static inline void lw_mve_scale_pair(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, int32_t yw,
                                     const int32_t *a, int32_t aw, const int32_t *m, const uint8_t *s)
{
#if defined(__GNUC__) && defined(__OPTIMIZE__)
    if (least == INT8_MIN && most == INT8_MAX && n >= 8) {
        const int32_t eights = n / 8 * 8;
        lw_mve_scale_eights(eights, zero, y, y + yw, a, a + aw, m, s);
        n -= eights;
        y += eights;
        a += eights;
        m += eights;
        s += eights;
        if (n == 0) return;
    }
#endif
#if defined(__GNUC__)
    lw_mve_scale_two(n, vdupq_n_s32(zero), vdupq_n_s32(least), vdupq_n_s32(most), y, y + yw, a, a + aw, m, s);
#else
    lw_mve_scale(n, zero, least, most, y, a, m, s);
    lw_mve_scale(n, zero, least, most, y + yw, a + aw, m, s);
#endif
}
#define LW_ROWS_SCALE2_EACH_I8(n, zero, least, most, y, yi, yw, a, ai, aw, m, mi, s, si)                               \
    lw_mve_scale_pair(n, zero, least, most, (y) + (yi), yw, (a) + (ai), aw, (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE_I8(n, zero, least, most, y, yi, a, ai, m, s) \
    lw_mve_scale_all(n, zero, least, most, (y) + (yi), (a) + (ai), m, s)
#endif
/* lw: end */

/* lw: lw_mve_pairs needs lw_mve_scale lw_asm_mve_begin_pair */
#if LW_SIMD_ARM_MVE && defined(__GNUC__)
/* Stores the first values of two pixels whose sums alternate. The last sums are separated in memory. */
static inline void lw_mve_begin_pair(int32_t n, int32_t *y, const int32_t *a)
{
    lw_mve_begin_fours(n & -4, y, a);
    for (int32_t e = n & -4; e < n; e++) y[2 * e] = y[2 * e + 1] = a[e];
}
static inline void lw_mve_scale_alternate(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, int32_t yw,
                                          const int32_t *a, const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
#if defined(__OPTIMIZE__)
    if (least == INT8_MIN && most == INT8_MAX && n >= 8) {
        e = n & -8;
        lw_mve_scale_pairs(e, zero, y, y + yw, a, m, s);
    }
#endif
    for (; e < n; e += 4) {
        int32_t of[2][4] = { { 0 } };
        const int32_t count = n - e < 4 ? n - e : 4;
        for (int32_t i = 0; i < count; i++) {
            of[0][i] = a[2 * (e + i)];
            of[1][i] = a[2 * (e + i) + 1];
        }
        lw_mve_scale_two(count, vdupq_n_s32(zero), vdupq_n_s32(least), vdupq_n_s32(most), y + e, y + yw + e, of[0],
                         of[1], m + e, s + e);
    }
}
/* Scales sums of two pixels that alternate, by one factor and shift. */
static inline void lw_mve_scale_alternate_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y,
                                              int32_t yw, const int32_t *a, int32_t m, int32_t s)
{
    const int32x4_t all_m = vdupq_n_s32(m), minus_n = vdupq_n_s32(-s);
    int32_t e = 0;
    for (; e + 4 <= n; e += 4) {
        const int32x4x2_t of = vld2q_s32(a + 2 * e);
        vstrbq_s32(y + e, lw_mve_clamped(lw_mve_scaled(of.val[0], all_m, minus_n), zero, least, most));
        vstrbq_s32(y + yw + e, lw_mve_clamped(lw_mve_scaled(of.val[1], all_m, minus_n), zero, least, most));
    }
    for (e = n & -4; e < n; e++)
        for (int32_t w = 0; w < 2; w++) lw_mve_scale_row(1, zero, vdupq_n_s32(least), vdupq_n_s32(most), y + w * yw + e,
                                                         a + 2 * e + w, m, -s);
}
#define LW_ROWS_SCALE_PAIR_ALL_I8(n, zero, least, most, y, yi, yw, a, ai, ae, m, s) \
    lw_mve_scale_alternate_all(n, zero, least, most, (y) + (yi), yw, (a) + (ai), m, s)
#define LW_ROWS_COPY_PAIR_I32(n, y, yi, ye, a, ai) lw_mve_begin_pair(n, (y) + (yi), (a) + (ai))
#define LW_ROWS_SCALE_PAIR_I8(n, zero, least, most, y, yi, yw, a, ai, ae, m, mi, s, si) \
    lw_mve_scale_alternate(n, zero, least, most, (y) + (yi), yw, (a) + (ai), (m) + (mi), (s) + (si))
#endif
/* lw: end */

/* lw: lw_mve_add needs lw_mve_scale lw_asm_mve_now */
#if LW_SIMD_ARM_MVE
/* The numbers of an addition are compile-time constants, so that steps without effect vanish and a factor of one half
 * is a shift. VQDMLAH by 1 adds the sign to a value, and VMLAS multiplies by a power of two and adds. */
static inline int32x4_t lw_mve_rounded(int32x4_t v, int32_t s)
{
    return s ? vrshlq_n_s32(vqdmlahq_n_s32(v, v, 1), -s) : v;
}
static inline int32x4_t lw_mve_term(int32x4_t v, int32_t zero, int32_t m, int32_t s)
{
    const int32_t one = m == 1 << 30 ? 1 << 19 : 1 << 20;
    v = vmlasq_n_s32(v, vdupq_n_s32(one), (int32_t)((uint32_t)zero * (uint32_t)one));
    return lw_mve_rounded(m == 1 << 30 ? v : vqrdmulhq_n_s32(v, m), s);
}
static inline void lw_mve_add(int32_t n, int32_t za, int32_t ma, int32_t sa, int32_t zb, int32_t mb, int32_t sb,
                              int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most, int8_t *y,
                              const int8_t *a, const int8_t *b)
{
#define LW_MVE_SUM(x, z) \
    lw_mve_clamped(lw_mve_rounded(vqrdmulhq_n_s32(vaddq_s32(lw_mve_term(x, za, ma, sa), lw_mve_term(z, zb, mb, \
        sb)), m), s), zero, least, most)
    for (; n >= 4; n -= 4) {
        vstrbq_s32(y, LW_MVE_SUM(vldrbq_s32(a), vldrbq_s32(b)));
        LW_MVE_STORED();
        a += 4;
        b += 4;
        y += 4;
    }
    if (n > 0) {
        const mve_pred16_t p = vctp32q((uint32_t)n);
        vstrbq_p_s32(y, LW_MVE_SUM(vldrbq_z_s32(a, p), vldrbq_z_s32(b, p)), p);
    }
#undef LW_MVE_SUM
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_mve_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_mve_pool needs LW_SIMD_CHOICE lw_sum_window */
#if LW_SIMD_ARM_MVE
/* Sums up to 256 bytes for each of eight channels, in 16-bit lanes. */
static inline void lw_mve_sum8(int32_t kh, int32_t kw, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int16x8_t sum = vdupq_n_s16(0);
    int32x4x2_t all = vld2q_s32(y);
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) sum = vaddq_s16(sum, vldrbq_s16(a + i * ai + j * aj));
    all.val[0] = vaddq_s32(all.val[0], vmovlbq_s16(sum));
    all.val[1] = vaddq_s32(all.val[1], vmovltq_s16(sum));
    vst2q_s32(y, all);
}
static inline void lw_mve_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    for (; n >= 16; n -= 16) {
        int8x16_t most = vldrbq_s8(y);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) most = vmaxq_s8(most, vldrbq_s8(a + i * ai + j * aj));
        vstrbq_s8(y, most);
        a += 16;
        y += 16;
    }
    if (n > 0) {
        const mve_pred16_t p = vctp8q((uint32_t)n);
        int8x16_t most = vldrbq_z_s8(y, p);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) most = vmaxq_s8(most, vldrbq_z_s8(a + i * ai + j * aj, p));
        vstrbq_p_s8(y, most, p);
    }
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj)                                                         \
    do {                                                                                                               \
        if ((n) == 8 && (kh) * (kw) <= 256) lw_mve_sum8(kh, kw, (y) + (yi), (a) + (at), ai, aj);                       \
        else lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj);                                                 \
    } while (0)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_mve_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
