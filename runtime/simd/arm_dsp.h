/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on the DSP extension of Cortex-M4, M7 and M33. SMLAD multiplies two pairs of 16-bit values and
 * adds both products. SXTB16 widens a word's even bytes to a pair, or the odd bytes with a rotation by 8. */
#ifndef LW_SIMD_ARM_DSP_H
#define LW_SIMD_ARM_DSP_H

#include "../lw_base.h"
#include "arm_asm.h"
#include "simd.h"

/* lw: lw_dsp_word needs LW_SIMD_CHOICE lw_asm_rotated */
#if LW_SIMD_ARM_DSP
static inline int32_t lw_dsp_word(const void *p)
{
    int32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}
static inline int32_t lw_dsp_even(int32_t w) { return __sxtb16(w); }
#endif
/* lw: end */

/* lw: lw_dsp_2x2 needs lw_asm_2x2 lw_dot_pairs */
#if LW_SIMD_ARM_DSP && defined(__OPTIMIZE__)
#define LW_ROWS_DOT_2X2_I16(n, c, ci, cw, a, ai, aw, aq, as, b, bi, bo, bq, bt)                                        \
    do {                                                                                                               \
        if ((aq) == 4 && (as) == 2 && (bo) == 4 && (bq) == 8 && (bt) == 2)                                             \
            lw_dsp_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi));                                                 \
        else lw_dot_pairs(2, 2, n, (c) + (ci), cw, (a) + (ai), aw, aq, as, (b) + (bi), bo, bq, bt);                    \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_2x4 needs lw_asm_2x4 lw_dot_2x4 */
#if LW_SIMD_ARM_DSP
#define LW_ROWS_DOT_2X4_I16(n, c, ci, cw, cp, a, ai, aq, aw, b, bi, bq, bp)                                            \
    do {                                                                                                               \
        if ((cw) == 4 && (cp) == 2 && (aq) == 4 && (aw) == 2 && (bq) == 4 && (bp) == 2)                                \
            lw_dsp_2x4(n, (c) + (ci), (a) + (ai), (b) + (bi));                                                         \
        else lw_dot_2x4(n, (c) + (ci), cw, cp, (a) + (ai), aq, aw, (b) + (bi), bq, bp);                                \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_1x4_pairs needs lw_asm_1x4 lw_dot_1x4_pairs */
#if LW_SIMD_ARM_DSP
#define LW_ROWS_DOT_1X4_PAIRS_I8(n, c, ci, cp, a, ai, aq, at, b, bi, bq, bs, bp)                                       \
    do {                                                                                                               \
        if ((cp) == 2 && (aq) == 4 && (at) == 2 && (bq) == 8 && (bs) == 4 && (bp) == 2                                 \
            && ((uintptr_t)((b) + (bi)) & 3) == 0)                                                                     \
            lw_dsp_1x4_pairs(n, (c) + (ci), (a) + (ai), (b) + (bi));                                                   \
        else lw_dot_1x4_pairs(n, (c) + (ci), cp, (a) + (ai), aq, at, (b) + (bi), bq, bs, bp);                          \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_fours needs lw_asm_fours lw_dsp_word lw_dot_fours LW_SHARED LW_ROLLED */
#if LW_SIMD_ARM_DSP
/* Multiplies two pixels by 4 * m channels of 4 bits; the elements of both are added up once. */
static LW_SHARED void lw_dsp_fours(int32_t n, int32_t m, int32_t *c, int32_t cw, const int16_t *a, const uint16_t *b)
{
    enum { ONES = 0x10001, EIGHT = 8, TWO_ROWS = 17, THREE_ROWS = 273 };
    int32_t sum[2] = { 0, 0 };
    LwDspFours begin = { { 0 }, a, 0, a + 4 * n, 4 * cw, b + 2 * n * m };
    if (n >= 4) lw_dsp_sum_pairs(n / 4, a, sum);
    for (int32_t q = n & ~3; q < n; q++) {
        int32_t pixel[2];
        memcpy(pixel, __builtin_assume_aligned(a + q * 4, 4), sizeof pixel);
        sum[0] = __smlad(pixel[0], ONES, sum[0]);
        sum[1] = __smlad(pixel[1], ONES, sum[1]);
    }
    for (int32_t i = 0; i < 2; i++) {
        const uint32_t first = (uint32_t)(-EIGHT * sum[i]);
        begin.first[4 * i] = (int32_t)first;
        begin.first[4 * i + 1] = (int32_t)(TWO_ROWS * first);
        begin.first[4 * i + 2] = begin.first[4 * i + 3] = (int32_t)(THREE_ROWS * first);
    }
    lw_dsp_2xn_fours(n, c, b, &begin);
}
#define LW_ROWS_DOT_2XN_FOURS(n, m, c, ci, cw, cu, a, ai, aq, aw, b, bi, bu, bq)                                       \
    do {                                                                                                               \
        if ((cu) == 4 && (aq) == 4 && (aw) == 2 && (bq) == 2 && ((bu) == 2 * (n) || (m) == 1)                          \
            && ((uintptr_t)((a) + (ai)) & 3) == 0)                                                                     \
            lw_dsp_fours(n, m, (c) + (ci), cw, (a) + (ai), (b) + (bi));                                                \
        else {                                                                                                         \
            lw_dot_fours(n, m, (c) + (ci), cu, (a) + (ai), NULL, aq, 0, (b) + (bi), bu, bq, 0);                        \
            lw_dot_fours(n, m, (c) + (ci) + (cw), cu, (a) + (ai) + (aw), NULL, aq, 0, (b) + (bi), bu, bq, 0);          \
        }                                                                                                              \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_four_bytes needs lw_asm_fours lw_dsp_word lw_dsp_even lw_dot_fours LW_SHARED LW_ROLLED */
#if LW_SIMD_ARM_DSP
/* Multiplies a row of bytes by 4 * m channels of 4 bits. */
static LW_SHARED void lw_dsp_four_bytes(int32_t n, int32_t m, int32_t *c, int32_t cu, const int8_t *a,
                                        const uint16_t *b, int32_t bu)
{
    enum { ONES = 0x10001, EIGHT = 8 };
    int32_t sum = 0;
    LW_ROLLED
    for (int32_t q = 0; q < n; q++) {
        const int32_t x = lw_dsp_word(a + q * 4);
        sum = __smlad(lw_asm_odd(x), ONES, __smlad(lw_dsp_even(x), ONES, sum));
    }
    for (int32_t u = 0; u < m; u++) lw_dsp_1x4_fours(n, c + u * cu, a, b + u * bu, -EIGHT * sum);
}
#define LW_ROWS_DOT_1XN_FOURS_I8(n, m, c, ci, cu, a, ai, aq, at, b, bi, bu, bq, bs)                                    \
    do {                                                                                                               \
        if ((aq) == 4 && (at) == 2 && (bq) == 4 && (bs) == 2 && ((uintptr_t)((b) + (bi)) & 3) == 0 && (bu) % 2 == 0)   \
            lw_dsp_four_bytes(n, m, (c) + (ci), cu, (a) + (ai), (b) + (bi), bu);                                       \
        else lw_dot_fours(n, m, (c) + (ci), cu, NULL, (a) + (ai), aq, at, (b) + (bi), bu, bq, bs);                     \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_begin needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n) * 4))
#endif
/* lw: end */

/* lw: lw_dsp_pairs needs lw_dsp_word lw_pairs LW_SHARED LW_ROLLED */
#if LW_SIMD_ARM_DSP
static inline const int8_t *lw_dsp_pairs4(int16_t *y, const int8_t *a)
{
    const int32_t w = lw_dsp_word(a), even = lw_dsp_even(w), odd = lw_asm_odd(w);
    const int32_t low = lw_asm_low(even, odd), high = lw_asm_high(even, odd);
    memcpy(y, &low, 4);
    memcpy(y + 4, &high, 4);
    return a + 4;
}
/* Widens the bytes of two pixels to pairs, which alternate. */
static LW_SHARED void lw_dsp_pairs(int32_t n, int16_t *y, const int8_t *a, const int8_t *b)
{
    LW_ROLLED
    for (; n >= 2; n -= 2) {
        a = lw_dsp_pairs4(y, a);
        b = lw_dsp_pairs4(y + 2, b);
        y += 8;
    }
    if (n > 0) {
        y[0] = a[0];
        y[1] = a[1];
        y[2] = b[0];
        y[3] = b[1];
    }
}
#define LW_ROWS_PAIRS_I16(n, y, yi, yw, yq, a, ai, aw, aq)                                                             \
    do {                                                                                                               \
        if ((yw) == 2 && (yq) == 4 && (aq) == 2) lw_dsp_pairs(n, (y) + (yi), (a) + (ai), (a) + (ai) + (aw));           \
        else lw_pairs(n, (y) + (yi), yw, yq, (a) + (ai), aw, aq);                                                      \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_bytes needs lw_dsp_word */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
/* Multiplies four bytes of a and of b, as a pair of the even bytes and a pair of the odd bytes. Rows of a single
 * product are not widened in advance. */
static inline int32_t lw_dsp_bytes(int32_t w, int32_t even, int32_t odd, int32_t c)
{
    return __smlad(odd, lw_asm_odd(w), __smlad(even, lw_dsp_even(w), c));
}
static inline void lw_dsp_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    int32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const int8_t *b1 = b + bo, *b2 = b1 + bo, *b3 = b2 + bo;
    for (; n >= 4; n -= 4) {
        const int32_t x = lw_dsp_word(a), even = lw_dsp_even(x), odd = lw_asm_odd(x);
        c0 = lw_dsp_bytes(lw_dsp_word(b), even, odd, c0);
        c1 = lw_dsp_bytes(lw_dsp_word(b1), even, odd, c1);
        c2 = lw_dsp_bytes(lw_dsp_word(b2), even, odd, c2);
        c3 = lw_dsp_bytes(lw_dsp_word(b3), even, odd, c3);
        a += 4;
        b += 4;
        b1 += 4;
        b2 += 4;
        b3 += 4;
    }
    for (; n > 0; n--) {
        const int32_t x = *a++;
        c0 += x * *b++;
        c1 += x * *b1++;
        c2 += x * *b2++;
        c3 += x * *b3++;
    }
    c[0] = c0;
    c[1] = c1;
    c[2] = c2;
    c[3] = c3;
}
static inline int32_t lw_dsp_1x1(int32_t n, int32_t c, const int8_t *a, const int8_t *b)
{
    for (; n >= 4; n -= 4) {
        const int32_t x = lw_dsp_word(a);
        c = lw_dsp_bytes(lw_dsp_word(b), lw_dsp_even(x), lw_asm_odd(x), c);
        a += 4;
        b += 4;
    }
    for (; n > 0; n--) c += *a++ * *b++;
    return c;
}
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_dsp_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_DSP_DOT(n, c, ci, a, ai, b, bi) ((c)[ci] = lw_dsp_1x1(n, (c)[ci], (a) + (ai), (b) + (bi)))
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) \
    (LW_DSP_DOT(n, c, ci, a, ai, b, bi), LW_DSP_DOT(n, c, (ci) + 1, a, ai, b, (bi) + (bo)))
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) LW_DSP_DOT(n, c, ci, a, ai, b, bi)
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    (LW_DSP_DOT(n, c, ci, a, ai, b, bi), LW_DSP_DOT(n, c, (ci) + (cw), a, (ai) + (aw), b, bi))
#endif
/* lw: end */

/* lw: lw_dsp_widen needs lw_dsp_word LW_ROLLED */
#if LW_SIMD_ARM_DSP
static inline void lw_dsp_widen(int32_t n, int16_t *y, const int8_t *a)
{
    LW_ROLLED
    for (; n >= 4; n -= 4) {
        const int32_t w = lw_dsp_word(a), even = lw_dsp_even(w), odd = lw_asm_odd(w);
        const int32_t low = lw_asm_low(even, odd), high = lw_asm_high(even, odd);
        memcpy(y, &low, 4);
        memcpy(y + 2, &high, 4);
        a += 4;
        y += 4;
        LW_ASM_NOW;      /* prevents an unrolling compiler from loading all words at once and spilling them */
    }
    for (; n > 0; n--) *y++ = *a++;
}
#define LW_ROWS_COPY_I16(n, y, yi, a, ai) lw_dsp_widen(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_dsp_window needs lw_dsp_word lw_window */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
/* A word holds four channels as two pairs, the even and the odd channels; each half is multiplied separately. */
static inline void lw_dsp_window2(int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a, int32_t ai,
                                  int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    int32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], d0 = c[cw], d1 = c[cw + 1], d2 = c[cw + 2], d3 = c[cw + 3];
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) {
            const int32_t w = lw_dsp_word(b + i * bi + j * bj), even = lw_dsp_even(w), odd = lw_asm_odd(w);
            const int32_t x = lw_dsp_word(a + i * ai + j * aj), y = lw_dsp_word(a + i * ai + j * aj + aw);
            const int32_t xe = lw_dsp_even(x), xo = lw_asm_odd(x), ye = lw_dsp_even(y), yo = lw_asm_odd(y);
            LW_ASM_SMLA("bb", c0, xe, even);
            LW_ASM_SMLA("tt", c2, xe, even);
            LW_ASM_SMLA("bb", c1, xo, odd);
            LW_ASM_SMLA("tt", c3, xo, odd);
            LW_ASM_SMLA("bb", d0, ye, even);
            LW_ASM_SMLA("tt", d2, ye, even);
            LW_ASM_SMLA("bb", d1, yo, odd);
            LW_ASM_SMLA("tt", d3, yo, odd);
            LW_ASM_NOW;      /* prevents an unrolling compiler from loading all taps at once and spilling them */
        }
    c[0] = c0;
    c[1] = c1;
    c[2] = c2;
    c[3] = c3;
    c[cw] = d0;
    c[cw + 1] = d1;
    c[cw + 2] = d2;
    c[cw + 3] = d3;
}
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                     \
    do {                                                                                                               \
        if ((n) == 4) lw_dsp_window2(kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);              \
        else lw_window(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);                      \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_columns needs lw_dsp_word lw_columns LW_SHARED LW_ROLLED */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
/* Stores four channels of four rows, with two words for each channel of a column. */
static inline void lw_dsp_column(int16_t *y, int32_t r01, int32_t r23)
{
    memcpy(y, &r01, 4);
    memcpy(y + 2, &r23, 4);
}
static LW_SHARED void lw_dsp_columns(int32_t m, int16_t *y, int32_t yc, const int8_t *a, int32_t ar, int32_t aw)
{
    const int8_t *b = a + ar, *c = b + ar, *d = c + ar;
    int16_t *y1 = y + yc, *y2 = y1 + yc, *y3 = y2 + yc;
    LW_ROLLED
    for (; m > 0; m--) {
        const int32_t w0 = lw_dsp_word(a), w1 = lw_dsp_word(b), w2 = lw_dsp_word(c), w3 = lw_dsp_word(d);
        const int32_t e0 = lw_dsp_even(w0), e1 = lw_dsp_even(w1), e2 = lw_dsp_even(w2), e3 = lw_dsp_even(w3);
        const int32_t o0 = lw_asm_odd(w0), o1 = lw_asm_odd(w1), o2 = lw_asm_odd(w2), o3 = lw_asm_odd(w3);
        lw_dsp_column(y, lw_asm_low(e0, e1), lw_asm_low(e2, e3));
        lw_dsp_column(y1, lw_asm_low(o0, o1), lw_asm_low(o2, o3));
        lw_dsp_column(y2, lw_asm_high(e0, e1), lw_asm_high(e2, e3));
        lw_dsp_column(y3, lw_asm_high(o0, o1), lw_asm_high(o2, o3));
        a += aw, b += aw, c += aw, d += aw;
        y += 4, y1 += 4, y2 += 4, y3 += 4;
    }
}
#define LW_ROWS_COLUMNS_I16(r, m, n, y, yi, yc, yw, a, ai, ar, aw)                                                     \
    do {                                                                                                               \
        if ((r) == 4 && (n) == 4 && (yw) == 4) lw_dsp_columns(m, (y) + (yi), yc, (a) + (ai), ar, aw);                  \
        else lw_columns(r, m, n, (y) + (yi), yc, yw, (a) + (ai), ar, aw);                                              \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_dot_columns needs lw_asm_columns lw_dot_columns */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
#define LW_ROWS_DOT_COLUMNS_I16(kh, kw, n, m, r, c, ci, co, cw, a, ai, ao, aw, aj, ah, b, bi, bo, bj)                  \
    do {                                                                                                               \
        if ((kh) == 3 && (kw) == 3 && (n) == 4 && (r) == 2 && (co) == 2 * (m) && (cw) == 2 && (aw) == 4 && (aj) == 4   \
            && (ah) == 1 && (bo) == 9 && (bj) == 3 && ((uintptr_t)((a) + (ai)) & 3) == 0 && (ao) % 2 == 0)             \
            lw_dsp_dot_columns(m, (c) + (ci), (a) + (ai), (b) + (bi), 2 * (ao) - 8 * (m));                             \
        else                                                                                                           \
            lw_dot_columns(kh, kw, n, m, r, (c) + (ci), co, cw, (a) + (ai), ao, aw, aj, ah, (b) + (bi), bo, bj);       \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_copy needs lw_dsp_word */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
static inline void lw_dsp_copy(int32_t n, int8_t *y, const int8_t *a)
{
    for (; n >= 16; n -= 16) {
        const int32_t w0 = lw_dsp_word(a), w1 = lw_dsp_word(a + 4), w2 = lw_dsp_word(a + 8), w3 = lw_dsp_word(a + 12);
        memcpy(y, &w0, 4);
        memcpy(y + 4, &w1, 4);
        memcpy(y + 8, &w2, 4);
        memcpy(y + 12, &w3, 4);
        a += 16;
        y += 16;
    }
    for (; n > 0; n--) *y++ = *a++;
}
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) lw_dsp_copy(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_dsp_pool needs lw_dsp_word lw_sum_window */
#if LW_SIMD_ARM_DSP && !LW_SIMD_ARM_MVE
/* Sums up to 256 bytes for each of four channels, in two pairs of 16-bit values. */
static inline void lw_dsp_sum4(int32_t kh, int32_t kw, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int32_t even = 0, odd = 0;
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) {
            const int32_t w = lw_dsp_word(a + i * ai + j * aj);
            even = __sxtab16(even, w);
            odd = lw_asm_add_odd(odd, w);
        }
    y[0] += (int16_t)even;
    y[1] += (int16_t)odd;
    y[2] += even >> 16;
    y[3] += odd >> 16;
}
/* SSUB8 compares two words byte by byte, and SEL selects the greater bytes. */
static inline void lw_dsp_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    for (; n >= 4; n -= 4) {
        int32_t most = lw_dsp_word(y);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) {
                const int32_t x = lw_dsp_word(a + i * ai + j * aj);
                (void)__ssub8(most, x);
                most = (int32_t)__sel((uint32_t)most, (uint32_t)x);
            }
        memcpy(y, &most, 4);
        a += 4;
        y += 4;
    }
    for (; n > 0; n--, y++, a++)
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) *y = a[i * ai + j * aj] > *y ? a[i * ai + j * aj] : *y;
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj)                                                         \
    do {                                                                                                               \
        if ((n) == 4 && (kh) * (kw) <= 256) lw_dsp_sum4(kh, kw, (y) + (yi), (a) + (at), ai, aj);                       \
        else lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj);                                                 \
    } while (0)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_dsp_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
