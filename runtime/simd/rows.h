/* SPDX-License-Identifier: 0BSD */
/* Products and copies of rows of 8 and 16 bits: the macros of emitted code, in portable C unless another header has
 * instructions. Sums wrap. Arguments are the numbers, then the result, then the operands. An operand is LW_AT(memory,
 * index, strides...): the index of its first element, and the strides of its dimensions of two or more elements except
 * the last. For each macro, LW_ROWS_... takes the operands as separate arguments. Headers with instructions, and
 * tiles.h over primitives, define it before this one.
 *
 * A row of schedules/arm/instructions.c states the formula of each macro. Beyond the formulas:
 *
 *   LW_DOT_2X2_I16         cores have it for strides 4 and 2 of a, and 4, 8 and 2 of b: the layout of packed weights
 *   LW_DOT_2X4_I16         multiplies two pixels, whose pairs alternate, by two rows of weights in each number,
 *                          even + 256 * odd. The elements of a fit 8 bits, the sums of products with odd weights 24
 *                          bits. LW_DOT_1X4_PAIRS_I8 does so for a row of bytes.
 *   LW_DOT_..._FOURS       multiply by four rows of 4 bits in each number. The sums of products with row h fit 32 - 4h
 *                          bits
 *   LW_DOT_EIGHTS_I8       multiplies by eight rows of 4 bits in each word; LW_DOT_SIXTEENS_I8 by sixteen of 2 bits
 *   LW_NIBBLES..._I8       multiplies panels of which two channels of 4 bits share bytes, even + 8 + 16 * odd
 *   LW_DOT_WORDS_I8        multiplies four pixels, two in each number. The weights are at least -127.
 *   LW_PANEL..._I8         the weights are at least -127, and with vectors of RISC-V also those of LW_WINDOW...: two
 *                          products are added in 16 bits
 *   LW_ADD_LINE_I8         y[e] = i8(min(max((a[e] * (32768*ka + la) + b[e] * (32768*kb + lb) >> 7) + c >> s, least),
 *                          most)); ka and kb are below 2^14, la and lb below 2^15, and no sum passes 32 bits
 *
 * Macros for 32-bit elements, LW_SCALE, LW_ADD and the panels of pairs are for vectors only: without them emitted code
 * has loops. */
#ifndef LW_SIMD_ROWS_H
#define LW_SIMD_ROWS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_dot_pairs needs */
/* Computes any tile with any strides. */
static inline void lw_dot_pairs(int32_t w, int32_t o, int32_t n, int32_t *c, int32_t cw, const int16_t *a, int32_t aw,
                                int32_t aq, int32_t as, const int8_t *b, int32_t bo, int32_t bq, int32_t bt)
{
    for (int32_t i = 0; i < w; i++)
        for (int32_t j = 0; j < o; j++) {
            uint32_t sum = (uint32_t)c[i * cw + j];
            for (int32_t q = 0; q < n; q++)
                for (int32_t s = 0; s < 2; s++)
                    for (int32_t t = 0; t < 2; t++)
                        sum += (uint32_t)((int32_t)a[i * aw + q * aq + s * as + t] * b[j * bo + q * bq + t * bt + s]);
            c[i * cw + j] = (int32_t)sum;
        }
}
/* lw: end */

/* lw: lw_dot_2x2 needs */
static inline void lw_dot_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b,
                              int32_t bo)
{
    uint32_t c00 = (uint32_t)c[0], c01 = (uint32_t)c[1], c10 = (uint32_t)c[cw], c11 = (uint32_t)c[cw + 1];
    const int8_t *a1 = a + aw, *b1 = b + bo;
    for (int32_t e = 0; e < n; e++) {
        c00 += (uint32_t)((int32_t)a[e] * b[e]);
        c01 += (uint32_t)((int32_t)a[e] * b1[e]);
        c10 += (uint32_t)((int32_t)a1[e] * b[e]);
        c11 += (uint32_t)((int32_t)a1[e] * b1[e]);
    }
    c[0] = (int32_t)c00;
    c[1] = (int32_t)c01;
    c[cw] = (int32_t)c10;
    c[cw + 1] = (int32_t)c11;
}
/* lw: end */

/* lw: lw_dot_1x4 needs */
static inline void lw_dot_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    uint32_t c0 = (uint32_t)c[0], c1 = (uint32_t)c[1], c2 = (uint32_t)c[2], c3 = (uint32_t)c[3];
    for (int32_t e = 0; e < n; e++) {
        const int32_t x = a[e];
        c0 += (uint32_t)(x * b[e]);
        c1 += (uint32_t)(x * b[bo + e]);
        c2 += (uint32_t)(x * b[2 * bo + e]);
        c3 += (uint32_t)(x * b[3 * bo + e]);
    }
    c[0] = (int32_t)c0;
    c[1] = (int32_t)c1;
    c[2] = (int32_t)c2;
    c[3] = (int32_t)c3;
}
/* lw: end */

/* lw: lw_dot_row needs */
/* Multiplies one row by o rows. */
static inline void lw_dot_row(int32_t o, int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    for (int32_t j = 0; j < o; j++) {
        uint32_t sum = (uint32_t)c[j];
        for (int32_t e = 0; e < n; e++) sum += (uint32_t)((int32_t)a[e] * b[j * bo + e]);
        c[j] = (int32_t)sum;
    }
}
/* lw: end */

/* lw: LW_DOT_2X2_I8 needs LW_SIMD_CHOICE lw_mve_dots lw_tile_dots lw_dot_2x2 */
#ifndef LW_ROWS_DOT_2X2_I8
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_dot_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo)
#endif
#define LW_DOT_2X2_I8(n, c, a, b) LW_ROWS_DOT_2X2_I8(n, c, a, b)
/* lw: end */
/* lw: LW_DOT_2XN_I8 needs LW_SIMD_CHOICE lw_mve_rows lw_dot_row */
#ifndef LW_ROWS_DOT_2XN_I8
#define LW_ROWS_DOT_2XN_I8(n, o, c, ci, cw, a, ai, aw, b, bi, bo)                                                      \
    (lw_dot_row(o, n, (c) + (ci), (a) + (ai), (b) + (bi), bo),                                                         \
     lw_dot_row(o, n, (c) + (ci) + (cw), (a) + (ai) + (aw), (b) + (bi), bo))
#endif
#define LW_DOT_2XN_I8(n, o, c, a, b) LW_ROWS_DOT_2XN_I8(n, o, c, a, b)
/* lw: end */
/* lw: LW_DOT_1XN_I8 needs LW_SIMD_CHOICE lw_mve_rows lw_dot_row */
#ifndef LW_ROWS_DOT_1XN_I8
#define LW_ROWS_DOT_1XN_I8(n, o, c, ci, a, ai, b, bi, bo) lw_dot_row(o, n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#endif
#define LW_DOT_1XN_I8(n, o, c, a, b) LW_ROWS_DOT_1XN_I8(n, o, c, a, b)
/* lw: end */
/* lw: LW_DOT_2X1_I8 needs LW_SIMD_CHOICE lw_mve_dots lw_tile_dots lw_dsp_bytes lw_dot_row */
#ifndef LW_ROWS_DOT_2X1_I8
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi)                                                             \
    (lw_dot_row(1, n, (c) + (ci), (a) + (ai), (b) + (bi), 0),                                                          \
     lw_dot_row(1, n, (c) + (ci) + (cw), (a) + (ai) + (aw), (b) + (bi), 0))
#endif
#define LW_DOT_2X1_I8(n, c, a, b) LW_ROWS_DOT_2X1_I8(n, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X4_I8 needs lw_mve_dots lw_tile_dots lw_dsp_bytes lw_arm_1x4 lw_dot_1x4 */
#ifndef LW_ROWS_DOT_1X4_I8
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_dot_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#endif
#define LW_DOT_1X4_I8(n, c, a, b) LW_ROWS_DOT_1X4_I8(n, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X2_I8 needs LW_SIMD_CHOICE lw_mve_dots lw_tile_dots lw_dsp_bytes lw_dot_row */
#ifndef LW_ROWS_DOT_1X2_I8
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) lw_dot_row(2, n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#endif
#define LW_DOT_1X2_I8(n, c, a, b) LW_ROWS_DOT_1X2_I8(n, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X1_I8 needs LW_SIMD_CHOICE lw_mve_dots lw_tile_dots lw_dsp_bytes lw_dot_row */
#ifndef LW_ROWS_DOT_1X1_I8
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) lw_dot_row(1, n, (c) + (ci), (a) + (ai), (b) + (bi), 0)
#endif
#define LW_DOT_1X1_I8(n, c, a, b) LW_ROWS_DOT_1X1_I8(n, c, a, b)
/* lw: end */

/* lw: LW_DOT_2X2_I16 needs LW_SIMD_CHOICE lw_dsp_2x2 lw_dot_pairs */
#ifndef LW_ROWS_DOT_2X2_I16
#define LW_ROWS_DOT_2X2_I16(n, c, ci, cw, a, ai, aw, aq, as, b, bi, bo, bq, bt)                                        \
    lw_dot_pairs(2, 2, n, (c) + (ci), cw, (a) + (ai), aw, aq, as, (b) + (bi), bo, bq, bt)
#endif
#define LW_DOT_2X2_I16(n, c, a, b) LW_ROWS_DOT_2X2_I16(n, c, a, b)
/* lw: end */

/* lw: lw_dot_2x4 needs */
static inline void lw_dot_2x4(int32_t n, int32_t *c, int32_t cw, int32_t cp, const int16_t *a, int32_t aq, int32_t aw,
                              const int16_t *b, int32_t bq, int32_t bp)
{
    for (int32_t i = 0; i < 8; i++) {
        const int32_t w = i >> 2, p = i >> 1 & 1, h = i & 1;
        uint32_t sum = (uint32_t)c[w * cw + p * cp + h];
        for (int32_t q = 0; q < n; q++)
            for (int32_t t = 0; t < 2; t++) {
                const int32_t both = b[q * bq + p * bp + t], even = (int8_t)both;
                sum += (uint32_t)(a[q * aq + w * aw + t] * (h ? (int8_t)((both - even) / 256) : even));
            }
        c[w * cw + p * cp + h] = (int32_t)sum;
    }
}
/* lw: end */
/* lw: LW_DOT_2X4_I16 needs LW_SIMD_CHOICE lw_dsp_2x4 lw_dot_2x4 */
#ifndef LW_ROWS_DOT_2X4_I16
#define LW_ROWS_DOT_2X4_I16(n, c, ci, cw, cp, a, ai, aq, aw, b, bi, bq, bp)                                            \
    lw_dot_2x4(n, (c) + (ci), cw, cp, (a) + (ai), aq, aw, (b) + (bi), bq, bp)
#endif
#define LW_DOT_2X4_I16(n, c, a, b) LW_ROWS_DOT_2X4_I16(n, c, a, b)
/* lw: end */

/* lw: lw_dot_words needs LW_SHARED */
/* A word x0 + 65536 * x1 times w is x0 * w + 65536 * (x1 * w). Two such products fit both halves, because weights are
 * at least -127. The sum of all products wraps, but the sum of the upper halves is exact, and the sum of the lower
 * halves follows from both. */
static LW_SHARED void lw_dot_words(int32_t n, int32_t *c, int32_t cp, int32_t ch, const int32_t *a, int32_t ae,
                                   const int8_t *b)
{
    for (int32_t p = 0; p < 2; p++) {
        uint32_t sum = 0, high = 0;
        for (int32_t e = 0; e < n; e += 2) {
            const int32_t both = a[e * ae + p] * b[e] + (e + 1 < n ? a[(e + 1) * ae + p] * b[e + 1] : 0);
            sum += (uint32_t)both;
            high += (uint32_t)((both + 0x8000) >> 16);
        }
        c[p * cp] = (int32_t)((uint32_t)c[p * cp] + sum - (high << 16));
        c[p * cp + ch] = (int32_t)((uint32_t)c[p * cp + ch] + high);
    }
}
/* lw: end */
/* lw: LW_DOT_WORDS_I8 needs LW_SIMD_CHOICE lw_arm_words lw_dot_words */
#ifndef LW_ROWS_DOT_WORDS_I8
#define LW_ROWS_DOT_WORDS_I8(n, c, ci, cp, ch, a, ai, ae, b, bi) \
    lw_dot_words(n, (c) + (ci), cp, ch, (a) + (ai), ae, (b) + (bi))
#endif
#define LW_DOT_WORDS_I8(n, c, a, b) LW_ROWS_DOT_WORDS_I8(n, c, a, b)
/* lw: end */
/* lw: lw_words needs */
static inline void lw_words(int32_t n, int32_t *y, int32_t ye, int32_t p, int32_t q, const int8_t *a, const int8_t *b)
{
#if defined(__GNUC__) && __GNUC__ >= 8
#pragma GCC unroll 8
#endif
    for (int32_t e = 0; e < n; e++) y[e * ye] = (p ? a[e] : 0) + (q ? b[e] : 0) * 65536;
}
/* lw: end */
/* lw: LW_WORDS_I8 needs lw_words */
#define LW_ROWS_WORDS_I8(n, y, yi, ye, a, ai, b, bi) lw_words(n, (y) + (yi), ye, 1, 1, (a) + (ai), (b) + (bi))
#define LW_WORDS_I8(n, y, a, b) LW_ROWS_WORDS_I8(n, y, a, b)
/* lw: end */
/* lw: LW_WORDS_IF_I8 needs lw_words */
#define LW_ROWS_WORDS_IF_I8(n, y, yi, ye, p, q, a, ai, b, bi) lw_words(n, (y) + (yi), ye, p, q, (a) + (ai), (b) + (bi))
#define LW_WORDS_IF_I8(n, y, p, q, a, b) LW_ROWS_WORDS_IF_I8(n, y, p, q, a, b)
/* lw: end */

/* lw: lw_dot_fours needs LW_SHARED */
/* Multiplies one pixel, of pairs a or of bytes, by 4 * m channels, whose weights share numbers in fours. */
static LW_SHARED void lw_dot_fours(int32_t n, int32_t m, int32_t *c, int32_t cu, const int16_t *a, const int8_t *bytes,
                                   int32_t aq, int32_t at, const uint16_t *b, int32_t bu, int32_t bq, int32_t bs)
{
    for (int32_t i = 0; i < 4 * m; i++) {
        const int32_t u = i >> 2, h = i & 3;
        uint32_t sum = (uint32_t)c[u * cu + h];
        for (int32_t e = 0; e < 4 * n; e++) {
            const int32_t q = e >> 2, s = e >> 1 & 1, t = e & 1;
            if (a && s) continue;
            const int32_t w = ((b[u * bu + q * bq + s * bs + t] ^ 32768) >> 4 * h & 15) - 8;
            sum += (uint32_t)((a ? a[q * aq + t] : bytes[q * aq + t * at + s]) * w);
        }
        c[u * cu + h] = (int32_t)sum;
    }
}
/* lw: end */
/* lw: LW_DOT_2XN_FOURS needs LW_SIMD_CHOICE lw_dsp_fours lw_dot_fours */
#ifndef LW_ROWS_DOT_2XN_FOURS
#define LW_ROWS_DOT_2XN_FOURS(n, m, c, ci, cw, cu, a, ai, aq, aw, b, bi, bu, bq)                                       \
    (lw_dot_fours(n, m, (c) + (ci), cu, (a) + (ai), NULL, aq, 0, (b) + (bi), bu, bq, 0),                               \
     lw_dot_fours(n, m, (c) + (ci) + (cw), cu, (a) + (ai) + (aw), NULL, aq, 0, (b) + (bi), bu, bq, 0))
#endif
#define LW_DOT_2XN_FOURS(n, m, c, a, b) LW_ROWS_DOT_2XN_FOURS(n, m, c, a, b)
/* lw: end */
/* lw: LW_DOT_2X4_FOURS needs LW_DOT_2XN_FOURS */
#define LW_ROWS_DOT_2X4_FOURS(n, c, ci, cw, a, ai, aq, aw, b, bi, bq) \
    LW_ROWS_DOT_2XN_FOURS(n, 1, c, ci, cw, 4, a, ai, aq, aw, b, bi, 0, bq)
#define LW_DOT_2X4_FOURS(n, c, a, b) LW_ROWS_DOT_2X4_FOURS(n, c, a, b)
/* lw: end */
/* lw: LW_DOT_1XN_FOURS_I8 needs LW_SIMD_CHOICE lw_dsp_four_bytes lw_dot_fours */
#ifndef LW_ROWS_DOT_1XN_FOURS_I8
#define LW_ROWS_DOT_1XN_FOURS_I8(n, m, c, ci, cu, a, ai, aq, at, b, bi, bu, bq, bs) \
    lw_dot_fours(n, m, (c) + (ci), cu, NULL, (a) + (ai), aq, at, (b) + (bi), bu, bq, bs)
#endif
#define LW_DOT_1XN_FOURS_I8(n, m, c, a, b) LW_ROWS_DOT_1XN_FOURS_I8(n, m, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X4_FOURS_I8 needs LW_DOT_1XN_FOURS_I8 */
#define LW_ROWS_DOT_1X4_FOURS_I8(n, c, ci, a, ai, aq, at, b, bi, bq, bs) \
    LW_ROWS_DOT_1XN_FOURS_I8(n, 1, c, ci, 4, a, ai, aq, at, b, bi, 0, bq, bs)
#define LW_DOT_1X4_FOURS_I8(n, c, a, b) LW_ROWS_DOT_1X4_FOURS_I8(n, c, a, b)
/* lw: end */

/* lw: lw_dot_shared needs LW_SIMD_CHOICE lw_arm_shared */
/* Multiplies elements by rows that share words: word e holds w + 8 or w + 2 of each row, in `bits` bits. One product of
 * an element and two rows that are 16 bits apart contains both products. The lower ones stay within 2^15: 16 * 128 * 15
 * for 4 bits, (64 + 16) * 128 * 3 for 2 bits. */
static inline void lw_shared_step(uint32_t *sum, int32_t bits, int32_t first, uint32_t x, uint32_t v)
{
    const uint32_t mask = 0x00010001 * ((1u << bits) - 1);
    for (int32_t i = 0; i < 4; i++) sum[i] += (v >> (first + i * bits) & mask) * x;
}
/* Adds the low halves of four sums to rows `row` to `row` + 3, and the high halves to the rows 16 / bits further. */
static inline void lw_shared_add(int32_t *restrict c, int32_t bits, int32_t row, const uint32_t *sum)
{
    for (int32_t i = 0; i < 4; i++) {
        int32_t *low = c + row + i, *high = low + 16 / bits;
        *low = (int32_t)((uint32_t)*low + (uint32_t)(int16_t)(sum[i] & 0xffff));
        *high = (int32_t)((uint32_t)*high + (uint32_t)(int16_t)((sum[i] + 0x8000) >> 16));
    }
}
/* n: a multiple of 16 */
static inline void lw_shared_part(int32_t bits, int32_t n, int32_t row, int32_t *restrict c, const int8_t *a,
                                  const uint32_t *b)
{
    uint32_t sum[4] = { 0, 0, 0, 0 };
    for (int32_t e = 0; e < n; e += 16)
#ifdef LW_SHARED_16
        LW_SHARED_16(bits, row, sum, a + e, b + e);
#else
        for (int32_t i = e; i < e + 16; i++) lw_shared_step(sum, bits, row * bits, (uint32_t)a[i], b[i]);
#endif
    lw_shared_add(c, bits, row, sum);
}
/* Multiplies a row by m groups of channels: 8 or 2 times the sum of the row is subtracted. */
static inline void lw_dot_shared(int32_t bits, int32_t n, int32_t m, int32_t *restrict c, int32_t cu, const int8_t *a,
                                 const uint32_t *b, int32_t bu)
{
    const int32_t whole = n & -16, rows = 32 / bits;
    int32_t all = 0, most = 64;
    if (bits == 4) most = 16;
#if defined(__GNUC__) && __GNUC__ >= 8
#pragma GCC unroll 4
#endif
    for (int32_t e = 0; e < n; e++) all += a[e];
    const uint32_t less = (uint32_t)all << (bits - 1);
    for (int32_t u = 0; u < m; u++, c += cu, b += bu) {
        for (int32_t h = 0; h < rows; h++) c[h] = (int32_t)((uint32_t)c[h] - less);
        for (int32_t row = 0; row < rows / 2; row += 4) {
            uint32_t sum[4] = { 0, 0, 0, 0 };
            for (int32_t e = 0; e < whole; e += most)
                lw_shared_part(bits, bits == 4 || whole - e > most ? most : whole - e, row, c, a + e, b + e);
            for (int32_t e = whole; e < n; e++) lw_shared_step(sum, bits, row * bits, (uint32_t)a[e], b[e]);
            if (whole < n) lw_shared_add(c, bits, row, sum);
        }
    }
}
/* lw: end */
/* lw: lw_dot_eights needs lw_dot_shared LW_SHARED */
static LW_SHARED void lw_dot_eights(int32_t n, int32_t m, int32_t *c, int32_t cu, const int8_t *a, const uint32_t *b,
                                    int32_t bu)
{
    lw_dot_shared(4, n, m, c, cu, a, b, bu);
}
/* lw: end */
/* lw: LW_DOT_EIGHTS_I8 needs lw_dot_eights */
#define LW_ROWS_DOT_EIGHTS_I8(n, m, c, ci, cu, a, ai, b, bi, bu) \
    lw_dot_eights(n, m, (c) + (ci), cu, (a) + (ai), (b) + (bi), bu)
#define LW_DOT_EIGHTS_I8(n, m, c, a, b) LW_ROWS_DOT_EIGHTS_I8(n, m, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X8_EIGHTS_I8 needs lw_dot_eights */
#define LW_ROWS_DOT_1X8_EIGHTS_I8(n, c, ci, a, ai, b, bi) lw_dot_eights(n, 1, (c) + (ci), 8, (a) + (ai), (b) + (bi), 0)
#define LW_DOT_1X8_EIGHTS_I8(n, c, a, b) LW_ROWS_DOT_1X8_EIGHTS_I8(n, c, a, b)
/* lw: end */
/* lw: lw_dot_sixteens needs lw_dot_shared LW_SHARED */
static LW_SHARED void lw_dot_sixteens(int32_t n, int32_t m, int32_t *c, int32_t cu, const int8_t *a, const int32_t *b,
                                      int32_t bu)
{
    lw_dot_shared(2, n, m, c, cu, a, (const uint32_t *)b, bu);
}
/* lw: end */
/* lw: LW_DOT_SIXTEENS_I8 needs lw_dot_sixteens */
#define LW_ROWS_DOT_SIXTEENS_I8(n, m, c, ci, cu, a, ai, b, bi, bu) \
    lw_dot_sixteens(n, m, (c) + (ci), cu, (a) + (ai), (b) + (bi), bu)
#define LW_DOT_SIXTEENS_I8(n, m, c, a, b) LW_ROWS_DOT_SIXTEENS_I8(n, m, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X16_SIXTEENS_I8 needs lw_dot_sixteens */
#define LW_ROWS_DOT_1X16_SIXTEENS_I8(n, c, ci, a, ai, b, bi) \
    lw_dot_sixteens(n, 1, (c) + (ci), 16, (a) + (ai), (b) + (bi), 0)
#define LW_DOT_1X16_SIXTEENS_I8(n, c, a, b) LW_ROWS_DOT_1X16_SIXTEENS_I8(n, c, a, b)
/* lw: end */

/* lw: lw_dot_long needs LW_SHARED */
static LW_SHARED void lw_dot_long(int32_t n, int32_t m, int32_t *c, int32_t cu, int32_t cp, const int8_t *a,
                                  const uint8_t *b, int32_t bu, int32_t be, int32_t bp)
{
    for (int32_t i = 0; i < 4 * m; i++) {
        const int32_t u = i >> 2, p = i >> 1 & 1, h = i & 1;
        uint32_t sum = (uint32_t)c[u * cu + p * cp + h];
        for (int32_t e = 0; e < n; e++)
            sum += (uint32_t)(a[e] * (int8_t)(b[u * bu + e * be + p * bp + h] ^ (h ? 0 : 128)));
        c[u * cu + p * cp + h] = (int32_t)sum;
    }
}
/* lw: end */
/* lw: LW_DOT_LONG_I8 needs LW_SIMD_CHOICE lw_arm_long lw_dot_long */
#ifndef LW_ROWS_DOT_LONG_I8
#define LW_ROWS_DOT_LONG_I8(n, m, c, ci, cu, cp, a, ai, b, bi, bu, be, bp) \
    lw_dot_long(n, m, (c) + (ci), cu, cp, (a) + (ai), (b) + (bi), bu, be, bp)
#endif
#define LW_DOT_LONG_I8(n, m, c, a, b) LW_ROWS_DOT_LONG_I8(n, m, c, a, b)
/* lw: end */
/* lw: LW_DOT_1X4_LONG_I8 needs LW_DOT_LONG_I8 */
#define LW_ROWS_DOT_1X4_LONG_I8(n, c, ci, cp, a, ai, b, bi, be, bp) \
    LW_ROWS_DOT_LONG_I8(n, 1, c, ci, 0, cp, a, ai, b, bi, 0, be, bp)
#define LW_DOT_1X4_LONG_I8(n, c, a, b) LW_ROWS_DOT_1X4_LONG_I8(n, c, a, b)
/* lw: end */

/* lw: lw_dot_1x4_pairs needs LW_SHARED */
static LW_SHARED void lw_dot_1x4_pairs(int32_t n, int32_t *c, int32_t cp, const int8_t *a, int32_t aq, int32_t at,
                                       const int16_t *b, int32_t bq, int32_t bs, int32_t bp)
{
    for (int32_t i = 0; i < 4; i++) {
        const int32_t p = i >> 1, h = i & 1;
        uint32_t sum = (uint32_t)c[p * cp + h];
        for (int32_t j = 0; j < 4 * n; j++) {
            const int32_t q = j >> 2, s = j >> 1 & 1, t = j & 1;
            const int32_t both = b[q * bq + s * bs + p * bp + t], even = (int8_t)both;
            sum += (uint32_t)(a[q * aq + t * at + s] * (h ? (int8_t)((both - even) / 256) : even));
        }
        c[p * cp + h] = (int32_t)sum;
    }
}
/* lw: end */
/* lw: LW_DOT_1X4_PAIRS_I8 needs LW_SIMD_CHOICE lw_dsp_1x4_pairs lw_dot_1x4_pairs */
#ifndef LW_ROWS_DOT_1X4_PAIRS_I8
#define LW_ROWS_DOT_1X4_PAIRS_I8(n, c, ci, cp, a, ai, aq, at, b, bi, bq, bs, bp) \
    lw_dot_1x4_pairs(n, (c) + (ci), cp, (a) + (ai), aq, at, (b) + (bi), bq, bs, bp)
#endif
#define LW_DOT_1X4_PAIRS_I8(n, c, a, b) LW_ROWS_DOT_1X4_PAIRS_I8(n, c, a, b)
/* lw: end */

/* lw: lw_panel needs */
static inline void lw_panel(int32_t w, int32_t n, int32_t o, int32_t *c, int32_t cw, const int16_t *a, int32_t aw,
                            int32_t aq, const int8_t *b, int32_t bq, int32_t bo)
{
    for (int32_t i = 0; i < w; i++)
        for (int32_t j = 0; j < o; j++) {
            uint32_t sum = (uint32_t)c[i * cw + j];
            for (int32_t q = 0; q < n; q++)
                for (int32_t t = 0; t < 2; t++)
                    sum += (uint32_t)(a[i * aw + q * aq + t] * b[q * bq + j * bo + t]);
            c[i * cw + j] = (int32_t)sum;
        }
}
/* lw: end */
/* lw: LW_PANEL4_I16 needs LW_SIMD_CHOICE lw_x86_panels lw_panel */
#ifndef LW_ROWS_PANEL4_I16
#define LW_ROWS_PANEL4_I16(n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo) \
    lw_panel(4, n, o, (c) + (ci), cw, (a) + (ai), aw, aq, (b) + (bi), bq, bo)
#endif
#define LW_PANEL4_I16(n, o, c, a, b) LW_ROWS_PANEL4_I16(n, o, c, a, b)
/* lw: end */
/* lw: LW_PANEL2_I16 needs LW_SIMD_CHOICE lw_x86_panels lw_panel */
#ifndef LW_ROWS_PANEL2_I16
#define LW_ROWS_PANEL2_I16(n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo) \
    lw_panel(2, n, o, (c) + (ci), cw, (a) + (ai), aw, aq, (b) + (bi), bq, bo)
#endif
#define LW_PANEL2_I16(n, o, c, a, b) LW_ROWS_PANEL2_I16(n, o, c, a, b)
/* lw: end */
/* lw: LW_PANEL_I16 needs LW_SIMD_CHOICE lw_x86_panels lw_panel */
#ifndef LW_ROWS_PANEL_I16
#define LW_ROWS_PANEL_I16(n, o, c, ci, a, ai, aq, b, bi, bq, bo) \
    lw_panel(1, n, o, (c) + (ci), 0, (a) + (ai), 0, aq, (b) + (bi), bq, bo)
#endif
#define LW_PANEL_I16(n, o, c, a, b) LW_ROWS_PANEL_I16(n, o, c, a, b)
/* lw: end */

/* lw: lw_panel_i8 needs */
static inline void lw_panel_i8(int32_t w, int32_t kh, int32_t n, int32_t m, int32_t d, int32_t offset, int32_t *c,
                               int32_t cw, const int8_t *a, int32_t aw, int32_t ai, int32_t aq, const int8_t *b,
                               int32_t bi, int32_t bq, int32_t bo)
{
    for (int32_t p = 0; p < w; p++)
        for (int32_t o = 0; o < m; o++) {
            uint32_t sum = (uint32_t)c[p * cw + o];
            for (int32_t i = 0; i < kh; i++)
                for (int32_t q = 0; q < n; q++)
                    for (int32_t t = 0; t < d; t++)
                        sum += (uint32_t)((a[p * aw + i * ai + q * aq + t] + offset)
                                          * b[i * bi + q * bq + o * bo + t]);
            c[p * cw + o] = (int32_t)sum;
        }
}
/* lw: end */
/* lw: LW_PANELS_I8 needs LW_SIMD_CHOICE lw_neon_panels lw_rvv_quads lw_rv_panels lw_panel_i8 */
#ifndef LW_ROWS_PANELS_I8
#define LW_ROWS_PANELS_I8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo) \
    lw_panel_i8(w, kh, n, m, d, 0, c, cw, a, aw, ai, aq, b, bi, bq, bo)
#endif
/* lw: end */
/* lw: LW_PANEL5_I8 needs LW_PANELS_I8 */
#define LW_ROWS_PANEL5_I8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_I8(5, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL5_I8(n, m, d, c, a, b) LW_ROWS_PANEL5_I8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL4_I8 needs LW_PANELS_I8 */
#define LW_ROWS_PANEL4_I8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_I8(4, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL4_I8(n, m, d, c, a, b) LW_ROWS_PANEL4_I8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL3_I8 needs LW_PANELS_I8 */
#define LW_ROWS_PANEL3_I8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_I8(3, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL3_I8(n, m, d, c, a, b) LW_ROWS_PANEL3_I8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL2_I8 needs LW_PANELS_I8 */
#define LW_ROWS_PANEL2_I8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_I8(2, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL2_I8(n, m, d, c, a, b) LW_ROWS_PANEL2_I8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL_I8 needs LW_PANELS_I8 */
#define LW_ROWS_PANEL_I8(n, m, d, c, ci, a, at, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_I8(1, 1, n, m, d, (c) + (ci), 0, (a) + (at), 0, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL_I8(n, m, d, c, a, b) LW_ROWS_PANEL_I8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW4_PANEL_I8 needs LW_PANELS_I8 */
#define LW_ROWS_WINDOW4_PANEL_I8(kh, n, m, d, c, ci, cw, a, at, aw, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_I8(4, kh, n, m, d, (c) + (ci), cw, (a) + (at), aw, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW4_PANEL_I8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW4_PANEL_I8(kh, n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW2_PANEL_I8 needs LW_PANELS_I8 */
#define LW_ROWS_WINDOW2_PANEL_I8(kh, n, m, d, c, ci, cw, a, at, aw, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_I8(2, kh, n, m, d, (c) + (ci), cw, (a) + (at), aw, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW2_PANEL_I8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW2_PANEL_I8(kh, n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW_PANEL_I8 needs LW_PANELS_I8 */
#define LW_ROWS_WINDOW_PANEL_I8(kh, n, m, d, c, ci, a, at, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_I8(1, kh, n, m, d, (c) + (ci), 0, (a) + (at), 0, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW_PANEL_I8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW_PANEL_I8(kh, n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANELS_U8 needs LW_SIMD_CHOICE lw_x86_quads lw_panel_i8 */
#ifndef LW_ROWS_PANELS_U8
#define LW_ROWS_PANELS_U8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo) \
    lw_panel_i8(w, kh, n, m, d, 128, c, cw, a, aw, ai, aq, b, bi, bq, bo)
#endif
/* lw: end */
/* lw: LW_PANEL4_U8 needs LW_PANELS_U8 */
#define LW_ROWS_PANEL4_U8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_U8(4, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL4_U8(n, m, d, c, a, b) LW_ROWS_PANEL4_U8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL2_U8 needs LW_PANELS_U8 */
#define LW_ROWS_PANEL2_U8(n, m, d, c, ci, cw, a, at, aw, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_U8(2, 1, n, m, d, (c) + (ci), cw, (a) + (at), aw, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL2_U8(n, m, d, c, a, b) LW_ROWS_PANEL2_U8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_PANEL_U8 needs LW_PANELS_U8 */
#define LW_ROWS_PANEL_U8(n, m, d, c, ci, a, at, aq, b, bt, bq, bo) \
    LW_ROWS_PANELS_U8(1, 1, n, m, d, (c) + (ci), 0, (a) + (at), 0, 0, aq, (b) + (bt), 0, bq, bo)
#define LW_PANEL_U8(n, m, d, c, a, b) LW_ROWS_PANEL_U8(n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW4_PANEL_U8 needs LW_PANELS_U8 */
#define LW_ROWS_WINDOW4_PANEL_U8(kh, n, m, d, c, ci, cw, a, at, aw, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_U8(4, kh, n, m, d, (c) + (ci), cw, (a) + (at), aw, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW4_PANEL_U8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW4_PANEL_U8(kh, n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW2_PANEL_U8 needs LW_PANELS_U8 */
#define LW_ROWS_WINDOW2_PANEL_U8(kh, n, m, d, c, ci, cw, a, at, aw, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_U8(2, kh, n, m, d, (c) + (ci), cw, (a) + (at), aw, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW2_PANEL_U8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW2_PANEL_U8(kh, n, m, d, c, a, b)
/* lw: end */
/* lw: LW_WINDOW_PANEL_U8 needs LW_PANELS_U8 */
#define LW_ROWS_WINDOW_PANEL_U8(kh, n, m, d, c, ci, a, at, ai, aq, b, bt, bi, bq, bo) \
    LW_ROWS_PANELS_U8(1, kh, n, m, d, (c) + (ci), 0, (a) + (at), 0, ai, aq, (b) + (bt), bi, bq, bo)
#define LW_WINDOW_PANEL_U8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW_PANEL_U8(kh, n, m, d, c, a, b)
/* lw: end */

/* lw: lw_pairs needs */
static inline void lw_pairs(int32_t n, int16_t *y, int32_t yw, int32_t yq, const int8_t *a, int32_t aw, int32_t aq)
{
    for (int32_t w = 0; w < 2; w++)
        for (int32_t q = 0; q < n; q++)
            for (int32_t t = 0; t < 2; t++) y[w * yw + q * yq + t] = a[w * aw + q * aq + t];
}
/* lw: end */
/* lw: LW_PAIRS_I16 needs LW_SIMD_CHOICE lw_dsp_pairs lw_pairs */
#ifndef LW_ROWS_PAIRS_I16
#define LW_ROWS_PAIRS_I16(n, y, yi, yw, yq, a, ai, aw, aq) lw_pairs(n, (y) + (yi), yw, yq, (a) + (ai), aw, aq)
#endif
#define LW_PAIRS_I16(n, y, a) LW_ROWS_PAIRS_I16(n, y, a)
/* lw: end */

/* lw: lw_copy_i16 needs */
static inline void lw_copy_i16(int32_t n, int16_t *y, const int8_t *a)
{
    for (int32_t e = 0; e < n; e++) y[e] = a[e];
}
/* lw: end */
/* lw: lw_fill_i16 needs */
static inline void lw_fill_i16(int32_t n, int16_t *y, int16_t fill)
{
    for (int32_t e = 0; e < n; e++) y[e] = fill;
}
/* lw: end */
/* lw: lw_copy_i8 needs */
static inline void lw_copy_i8(int32_t n, int8_t *y, const int8_t *a)
{
    for (int32_t e = 0; e < n; e++) y[e] = a[e];
}
/* lw: end */
/* lw: lw_fill_i8 needs */
static inline void lw_fill_i8(int32_t n, int8_t *y, int8_t fill)
{
    for (int32_t e = 0; e < n; e++) y[e] = fill;
}
/* lw: end */

/* lw: LW_COPY_I16 needs LW_SIMD_CHOICE lw_dsp_widen lw_x86_widen lw_copy_i16 */
#ifndef LW_ROWS_COPY_I16
#define LW_ROWS_COPY_I16(n, y, yi, a, ai) lw_copy_i16(n, (y) + (yi), (a) + (ai))
#endif
#define LW_COPY_I16(n, y, a) LW_ROWS_COPY_I16(n, y, a)
/* lw: end */
/* lw: LW_COPY_I8 needs LW_SIMD_CHOICE lw_dsp_copy lw_mve_copies lw_tile_copies lw_rvv_copies lw_rv_copies lw_copy_i8 */
#ifndef LW_ROWS_COPY_I8
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) lw_copy_i8(n, (y) + (yi), (a) + (ai))
#endif
#define LW_COPY_I8(n, y, a) LW_ROWS_COPY_I8(n, y, a)
/* lw: end */
/* lw: lw_string needs */
#include <string.h>
/* lw: end */
/* lw: lw_unpack needs lw_string LW_SHARED */
#if defined(__GNUC__)
#define LW_WORD_AT(p) __builtin_assume_aligned(p, 4)
#else
#define LW_WORD_AT(p) (p)
#endif
/* Unpacks the elements of n groups of m bytes: m elements of the lowest bits, then of the next ones. The elements are
 * in [0, 15], so `least` is added to the four bytes of a word without a carry. */
static inline void lw_unpack(int32_t n, int32_t m, int32_t bits, int32_t least, int8_t *y, int32_t yg, int32_t yp,
                             const uint8_t *a, int32_t ag)
{
    const uint32_t ones = 0x01010101u, mask = ones * ((1u << bits) - 1), first = ones * (uint8_t)least,
                   low = first & 0x7f7f7f7fu, sign = first & 0x80808080u;
    const int32_t words = (((uintptr_t)a | (uintptr_t)y) & 3) == 0 && ((m | ag | yg | yp) & 3) == 0 ? m : 0;
    for (int32_t g = 0; g < n; g++) {
        const uint8_t *from = a + g * ag;
        int8_t *to = y + g * yg;
        for (int32_t t = 0; t < words; t += 4) {
            uint32_t w;
            memcpy(&w, LW_WORD_AT(from + t), 4);
            for (int32_t p = 0; p * bits < 8; p++) {
                const uint32_t four = ((w >> p * bits & mask) + low) ^ sign;
                memcpy(LW_WORD_AT(to + p * yp + t), &four, 4);
            }
        }
        for (int32_t p = 0; p * bits < 8; p++)
            for (int32_t t = words; t < m; t++)
                to[p * yp + t] = (int8_t)((from[t] >> p * bits & (int32_t)mask & 15) + least);
    }
}
static LW_SHARED void lw_unpack4(int32_t n, int32_t m, int32_t least, int8_t *y, int32_t yg, int32_t yp,
                                 const uint8_t *a, int32_t ag)
{
    lw_unpack(n, m, 4, least, y, yg, yp, a, ag);
}
static LW_SHARED void lw_unpack2(int32_t n, int32_t m, int32_t least, int8_t *y, int32_t yg, int32_t yp,
                                 const uint8_t *a, int32_t ag)
{
    lw_unpack(n, m, 2, least, y, yg, yp, a, ag);
}
/* lw: end */
/* lw: LW_UNPACK4_I8 needs LW_SIMD_CHOICE lw_unpack lw_mve_unpack */
#ifndef LW_ROWS_UNPACK4_I8
#define LW_ROWS_UNPACK4_I8(n, m, least, y, yi, yg, yp, a, ai, ag) \
    lw_unpack4(n, m, least, (y) + (yi), yg, yp, (a) + (ai), ag)
#endif
#define LW_UNPACK4_I8(n, m, least, y, a) LW_ROWS_UNPACK4_I8(n, m, least, y, a)
/* lw: end */
/* lw: LW_UNPACK2_I8 needs LW_SIMD_CHOICE lw_unpack lw_mve_unpack */
#ifndef LW_ROWS_UNPACK2_I8
#define LW_ROWS_UNPACK2_I8(n, m, least, y, yi, yg, yp, a, ai, ag) \
    lw_unpack2(n, m, least, (y) + (yi), yg, yp, (a) + (ai), ag)
#endif
#define LW_UNPACK2_I8(n, m, least, y, a) LW_ROWS_UNPACK2_I8(n, m, least, y, a)
/* lw: end */
/* lw: LW_FETCH_I16 needs LW_COPY_I16 lw_fill_i16 */
/* If p is false, the index of a may be outside its memory: no pointer is formed. */
#define LW_ROWS_FETCH_I16(n, fill, y, yi, p, a, ai)                                                                    \
    do {                                                                                                               \
        if (p) LW_ROWS_COPY_I16(n, y, yi, a, ai);                                                                      \
        else lw_fill_i16(n, (y) + (yi), fill);                                                                         \
    } while (0)
#define LW_FETCH_I16(n, fill, y, p, a) LW_ROWS_FETCH_I16(n, fill, y, p, a)
/* lw: end */
/* lw: LW_FILL_I8 needs LW_SIMD_CHOICE lw_mve_copies lw_tile_copies lw_rvv_copies lw_rv_copies lw_fill_i8 */
#ifndef LW_ROWS_FILL_I8
#define LW_ROWS_FILL_I8(n, y, yi, fill) lw_fill_i8(n, (y) + (yi), fill)
#endif
/* lw: end */
/* lw: LW_FETCH_I8 needs LW_COPY_I8 LW_FILL_I8 */
#define LW_ROWS_FETCH_I8(n, fill, y, yi, p, a, ai)                                                                     \
    do {                                                                                                               \
        if (p) LW_ROWS_COPY_I8(n, y, yi, a, ai);                                                                       \
        else LW_ROWS_FILL_I8(n, y, yi, fill);                                                                          \
    } while (0)
#define LW_FETCH_I8(n, fill, y, p, a) LW_ROWS_FETCH_I8(n, fill, y, p, a)
/* lw: end */

/* lw: lw_window needs */
/* Computes the taps of one or two windows (`pixels`) over n channels. */
static inline void lw_window(int32_t pixels, int32_t kh, int32_t kw, int32_t n, int32_t *c, int32_t cw, const int8_t *a,
                             int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    for (int32_t o = 0; o < n; o++) {
        uint32_t sum = (uint32_t)c[o], sum1 = pixels == 2 ? (uint32_t)c[cw + o] : 0;
        /* advanced only if another row follows, because after the last row they would leave the memory */
        const int8_t *x = a + o, *k = b + o;
        for (int32_t i = 0;;) {
            for (int32_t j = 0; j < kw; j++) {
                sum += (uint32_t)((int32_t)x[j * aj] * k[j * bj]);
                if (pixels == 2) sum1 += (uint32_t)((int32_t)x[j * aj + aw] * k[j * bj]);
            }
            if (++i == kh) break;
            x += ai;
            k += bi;
        }
        c[o] = (int32_t)sum;
        if (pixels == 2) c[cw + o] = (int32_t)sum1;
    }
}
/* lw: end */
/* lw: LW_WINDOW2_I8 needs LW_SIMD_CHOICE lw_mve_window lw_tile_window lw_rvv_window lw_rv_window lw_dsp_window */
#ifndef LW_ROWS_WINDOW2_I8
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                     \
    lw_window(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj)
#endif
#define LW_WINDOW2_I8(kh, kw, n, c, a, b) LW_ROWS_WINDOW2_I8(kh, kw, n, c, a, b)
/* lw: end */
/* lw: LW_WINDOW_I8 needs LW_SIMD_CHOICE lw_mve_window lw_tile_window lw_rvv_window lw_rv_window lw_window */
#ifndef LW_ROWS_WINDOW_I8
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj)                                              \
    lw_window(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj)
#endif
#define LW_WINDOW_I8(kh, kw, n, c, a, b) LW_ROWS_WINDOW_I8(kh, kw, n, c, a, b)
/* lw: end */

/* lw: lw_columns needs */
static inline void lw_columns(int32_t r, int32_t m, int32_t n, int16_t *y, int32_t yc, int32_t yw, const int8_t *a,
                              int32_t ar, int32_t aw)
{
    for (int32_t c = 0; c < n; c++)
        for (int32_t w = 0; w < m; w++)
            for (int32_t i = 0; i < r; i++) y[c * yc + w * yw + i] = a[i * ar + w * aw + c];
}
/* lw: end */
/* lw: LW_COLUMNS_I16 needs LW_SIMD_CHOICE lw_dsp_columns lw_columns */
#ifndef LW_ROWS_COLUMNS_I16
#define LW_ROWS_COLUMNS_I16(r, m, n, y, yi, yc, yw, a, ai, ar, aw) \
    lw_columns(r, m, n, (y) + (yi), yc, yw, (a) + (ai), ar, aw)
#endif
#define LW_COLUMNS_I16(r, m, n, y, a) LW_ROWS_COLUMNS_I16(r, m, n, y, a)
/* lw: end */
/* lw: lw_dot_columns needs LW_SHARED */
static LW_SHARED void lw_dot_columns(int32_t kh, int32_t kw, int32_t n, int32_t m, int32_t r, int32_t *c, int32_t co,
                                     int32_t cw, const int16_t *a, int32_t ao, int32_t aw, int32_t aj, int32_t ah,
                                     const int8_t *b, int32_t bo, int32_t bj)
{
    for (int32_t o = 0; o < n; o++)
        for (int32_t w = 0; w < m; w++)
            for (int32_t h = 0; h < r; h++) {
                uint32_t sum = (uint32_t)c[o * co + w * cw + h];
                for (int32_t j = 0; j < kw; j++)
                    for (int32_t i = 0; i < kh; i++)
                        sum += (uint32_t)(a[o * ao + w * aw + j * aj + h * ah + i] * b[o * bo + j * bj + i]);
                c[o * co + w * cw + h] = (int32_t)sum;
            }
}
/* lw: end */
/* lw: LW_DOT_COLUMNS_I16 needs LW_SIMD_CHOICE lw_dsp_dot_columns lw_dot_columns */
#ifndef LW_ROWS_DOT_COLUMNS_I16
#define LW_ROWS_DOT_COLUMNS_I16(kh, kw, n, m, r, c, ci, co, cw, a, ai, ao, aw, aj, ah, b, bi, bo, bj) \
    lw_dot_columns(kh, kw, n, m, r, (c) + (ci), co, cw, (a) + (ai), ao, aw, aj, ah, (b) + (bi), bo, bj)
#endif
#define LW_DOT_COLUMNS_I16(kh, kw, n, m, r, c, a, b) LW_ROWS_DOT_COLUMNS_I16(kh, kw, n, m, r, c, a, b)
/* lw: end */

/* lw: LW_TAPS2_I8 needs LW_WINDOW2_I8 */
#define LW_ROWS_TAPS2_I8(k, n, c, ci, cw, a, at, ai, aw, b, bt, bi) \
    LW_ROWS_WINDOW2_I8(k, 1, n, c, ci, cw, a, at, ai, aw, 0, b, bt, bi, 0)
#define LW_TAPS2_I8(k, n, c, a, b) LW_ROWS_TAPS2_I8(k, n, c, a, b)
/* lw: end */
/* lw: LW_WINDOW2_TILES_I8 needs LW_WINDOW2_I8 lw_mve_windows */
#ifndef LW_ROWS_WINDOW2_TILES_I8
#define LW_ROWS_WINDOW2_TILES_I8(kh, kw, t, n, c, ci, cw, cu, a, at, ai, aw, aj, au, b, bt, bu, bi, bj)                \
    do {                                                                                                               \
        for (int32_t u = 0; u < (t); u++)                                                                              \
            LW_ROWS_WINDOW2_I8(kh, kw, n, c, (ci) + u * (cu), cw, a, (at) + u * (au), ai, aw, aj, b, (bt) + u * (bu),  \
                               bi, bj);                                                                                \
    } while (0)
#endif
#define LW_WINDOW2_TILES_I8(kh, kw, t, n, c, a, b) LW_ROWS_WINDOW2_TILES_I8(kh, kw, t, n, c, a, b)
/* lw: end */
/* lw: LW_TAPS2_TILES_I8 needs LW_WINDOW2_TILES_I8 */
#define LW_ROWS_TAPS2_TILES_I8(k, t, n, c, ci, cw, cu, a, at, ai, aw, au, b, bt, bu, bi) \
    LW_ROWS_WINDOW2_TILES_I8(k, 1, t, n, c, ci, cw, cu, a, at, ai, aw, 0, au, b, bt, bu, bi, 0)
#define LW_TAPS2_TILES_I8(k, t, n, c, a, b) LW_ROWS_TAPS2_TILES_I8(k, t, n, c, a, b)
/* lw: end */
/* lw: LW_TAPS_I8 needs LW_WINDOW_I8 */
#define LW_ROWS_TAPS_I8(k, n, c, ci, a, at, ai, b, bt, bi) LW_ROWS_WINDOW_I8(k, 1, n, c, ci, a, at, ai, 0, b, bt, bi, 0)
#define LW_TAPS_I8(k, n, c, a, b) LW_ROWS_TAPS_I8(k, n, c, a, b)
/* lw: end */

/* lw: lw_sum_window needs */
static inline void lw_sum_window(int32_t kh, int32_t kw, int32_t n, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++)
            for (int32_t o = 0; o < n; o++) y[o] = (int32_t)((uint32_t)y[o] + (uint32_t)a[i * ai + j * aj + o]);
}
/* lw: end */
/* lw: LW_SUM_WINDOW_I8 needs LW_SIMD_CHOICE lw_mve_pool lw_tile_pool lw_rvv_pool lw_dsp_pool lw_sum_window */
#ifndef LW_ROWS_SUM_WINDOW_I8
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
#define LW_SUM_WINDOW_I8(kh, kw, n, y, a) LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, a)
/* lw: end */
/* lw: LW_SUM_TAPS_I8 needs LW_SUM_WINDOW_I8 */
#define LW_ROWS_SUM_TAPS_I8(k, n, y, yi, a, at, ai) LW_ROWS_SUM_WINDOW_I8(k, 1, n, y, yi, a, at, ai, 0)
#define LW_SUM_TAPS_I8(k, n, y, a) LW_ROWS_SUM_TAPS_I8(k, n, y, a)
/* lw: end */

/* lw: lw_max_window needs */
static inline void lw_max_window(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++)
            for (int32_t o = 0; o < n; o++) y[o] = a[i * ai + j * aj + o] > y[o] ? a[i * ai + j * aj + o] : y[o];
}
/* lw: end */
/* lw: LW_MAX_WINDOW_I8 needs LW_SIMD_CHOICE lw_mve_pool lw_tile_pool lw_rvv_pool lw_dsp_pool lw_max_window */
#ifndef LW_ROWS_MAX_WINDOW_I8
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_max_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
#define LW_MAX_WINDOW_I8(kh, kw, n, y, a) LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, a)
/* lw: end */
/* lw: LW_MAX_TAPS_I8 needs LW_MAX_WINDOW_I8 */
#define LW_ROWS_MAX_TAPS_I8(k, n, y, yi, a, at, ai) LW_ROWS_MAX_WINDOW_I8(k, 1, n, y, yi, a, at, ai, 0)
#define LW_MAX_TAPS_I8(k, n, y, a) LW_ROWS_MAX_TAPS_I8(k, n, y, a)
/* lw: end */
/* lw: LW_MAX_IF_I8 needs LW_MAX_WINDOW_I8 */
/* If p is false, the index of a may be outside its memory: no pointer is formed. */
#define LW_ROWS_MAX_IF_I8(n, y, yi, p, a, ai)                                                                          \
    do {                                                                                                               \
        if (p) LW_ROWS_MAX_WINDOW_I8(1, 1, n, y, yi, a, ai, 0, 0);                                                     \
    } while (0)
#define LW_MAX_IF_I8(n, y, p, a) LW_ROWS_MAX_IF_I8(n, y, p, a)
/* lw: end */

/* lw: LW_FETCH_ROW_I8 needs LW_COPY_I8 LW_FILL_I8 */
/* Stores `left` pixels of fill, `inner` pixels of a, and fill to the end. Each pixel has n channels in memory, of which
 * `own` are copied. `a` is the first inner pixel, or NULL if the row has none. */
static inline void lw_fetch_row(int32_t m, int32_t left, int32_t inner, int32_t n, int32_t own, int8_t fill, int8_t *y,
                                int32_t yw, const int8_t *a, int32_t aw)
{
    const int32_t begin = left < m ? left : m, end = begin + inner < m ? begin + inner : m;
    if (a && own >= n && yw == n && aw == n) {
        LW_ROWS_FILL_I8(begin * n, y, 0, fill);
        if (begin < end) LW_ROWS_COPY_I8((end - begin) * n, y, begin * n, a, 0);
        LW_ROWS_FILL_I8((m - end) * n, y, end * n, fill);
        return;
    }
    for (int32_t w = 0; w < m; w++) {
        const int32_t full = a && w >= begin && w < end ? own < n ? own : n : 0;
        if (full) LW_ROWS_COPY_I8(full, y, w * yw, a, (w - begin) * aw);
        LW_ROWS_FILL_I8(n - full, y, w * yw + full, fill);
    }
}
/* The row of a begins at index `ai`: outside its memory if p is false, and by `left` pixels if p is true. */
#define LW_ROWS_FETCH_ROW_I8(m, left, inner, n, own, fill, y, yi, yw, p, a, ai, aw)                                    \
    lw_fetch_row(m, left, inner, n, own, fill, (y) + (yi), yw,                                                         \
                 (p) && (left) < (m) ? (a) + ((ai) + (left) * (aw)) : NULL, aw)
#define LW_FETCH_ROW_I8(m, left, inner, n, own, fill, y, p, a) \
    LW_ROWS_FETCH_ROW_I8(m, left, inner, n, own, fill, y, p, a)
/* lw: end */

/* Macros that only vectors have, under the names in emitted code. */
/* lw: LW_COPY_I32 needs LW_SIMD_CHOICE lw_dsp_begin lw_mve_begin lw_tile_copies lw_rvv_begin */
#ifdef LW_ROWS_COPY_I32
#define LW_COPY_I32(n, y, a) LW_ROWS_COPY_I32(n, y, a)
#endif
/* lw: end */
/* lw: LW_SCALE_I8 needs LW_SIMD_CHOICE lw_mve_scale lw_tile_scale lw_rvv_scale */
#ifdef LW_ROWS_SCALE_I8
#define LW_SCALE_I8(n, zero, least, most, y, a, m, s) LW_ROWS_SCALE_I8(n, zero, least, most, y, a, m, s)
#endif
/* lw: end */
/* lw: LW_SCALE_EACH_I8 needs LW_SIMD_CHOICE lw_mve_scale lw_tile_scale lw_rvv_scale */
#ifdef LW_ROWS_SCALE_EACH_I8
#define LW_SCALE_EACH_I8(n, zero, least, most, y, a, m, s) LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, a, m, s)
#endif
/* lw: end */
/* lw: LW_COPY2_I32 needs LW_SIMD_CHOICE lw_mve_begin lw_tile_copies */
#ifdef LW_ROWS_COPY2_I32
#define LW_COPY2_I32(n, y, a) LW_ROWS_COPY2_I32(n, y, a)
#endif
/* lw: end */
/* lw: LW_SCALE2_EACH_I8 needs LW_SIMD_CHOICE lw_mve_scale lw_tile_scale */
#ifdef LW_ROWS_SCALE2_EACH_I8
#define LW_SCALE2_EACH_I8(n, zero, least, most, y, a, m, s) LW_ROWS_SCALE2_EACH_I8(n, zero, least, most, y, a, m, s)
#endif
/* lw: end */
/* lw: LW_COPY_PAIR_I32 needs LW_SIMD_CHOICE lw_mve_pairs */
#ifdef LW_ROWS_COPY_PAIR_I32
#define LW_COPY_PAIR_I32(n, y, a) LW_ROWS_COPY_PAIR_I32(n, y, a)
#endif
/* lw: end */
/* lw: LW_SCALE_PAIR_I8 needs LW_SIMD_CHOICE lw_mve_pairs */
#ifdef LW_ROWS_SCALE_PAIR_I8
#define LW_SCALE_PAIR_I8(n, zero, least, most, y, a, m, s) LW_ROWS_SCALE_PAIR_I8(n, zero, least, most, y, a, m, s)
#endif
/* lw: end */
/* lw: LW_SCALE_PAIR_ALL_I8 needs LW_SIMD_CHOICE lw_mve_pairs */
#ifdef LW_ROWS_SCALE_PAIR_ALL_I8
#define LW_SCALE_PAIR_ALL_I8(n, zero, least, most, y, a, m, s) \
    LW_ROWS_SCALE_PAIR_ALL_I8(n, zero, least, most, y, a, m, s)
#endif
/* lw: end */
/* lw: LW_PANEL_PAIR_I8 needs LW_SIMD_CHOICE lw_mve_panel_pair */
#ifdef LW_ROWS_PANEL_PAIR_I8
#define LW_PANEL_PAIR_I8(n, m, d, c, a, b) LW_ROWS_PANEL_PAIR_I8(n, m, d, c, a, b)
#endif
/* lw: end */
/* lw: LW_NIBBLES_I8 needs LW_SIMD_CHOICE lw_mve_nibbles_rows */
#ifdef LW_ROWS_NIBBLES_I8
#define LW_NIBBLES_I8(n, m, c, a, b) LW_ROWS_NIBBLES_I8(n, m, c, a, b)
#endif
/* lw: end */
/* lw: LW_NIBBLES_PAIR_I8 needs LW_SIMD_CHOICE lw_mve_nibbles_rows */
#ifdef LW_ROWS_NIBBLES_PAIR_I8
#define LW_NIBBLES_PAIR_I8(n, m, c, a, b) LW_ROWS_NIBBLES_PAIR_I8(n, m, c, a, b)
#endif
/* lw: end */
/* lw: LW_WINDOW_NIBBLES_I8 needs LW_SIMD_CHOICE lw_mve_nibbles_rows */
#ifdef LW_ROWS_WINDOW_NIBBLES_I8
#define LW_WINDOW_NIBBLES_I8(kh, n, m, c, a, b) LW_ROWS_WINDOW_NIBBLES_I8(kh, n, m, c, a, b)
#endif
/* lw: end */
/* lw: LW_WINDOW_NIBBLES_PAIR_I8 needs LW_SIMD_CHOICE lw_mve_nibbles_rows */
#ifdef LW_ROWS_WINDOW_NIBBLES_PAIR_I8
#define LW_WINDOW_NIBBLES_PAIR_I8(kh, n, m, c, a, b) LW_ROWS_WINDOW_NIBBLES_PAIR_I8(kh, n, m, c, a, b)
#endif
/* lw: end */
/* lw: LW_WINDOW_PANEL_PAIR_I8 needs LW_SIMD_CHOICE lw_mve_panel_pair */
#ifdef LW_ROWS_WINDOW_PANEL_PAIR_I8
#define LW_WINDOW_PANEL_PAIR_I8(kh, n, m, d, c, a, b) LW_ROWS_WINDOW_PANEL_PAIR_I8(kh, n, m, d, c, a, b)
#endif
/* lw: end */
/* lw: LW_ADD_I8 needs LW_SIMD_CHOICE lw_mve_add lw_tile_add lw_rvv_add */
#ifdef LW_ROWS_ADD_I8
#define LW_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, a, b)                                         \
    LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, a, b)
#endif
/* lw: end */
/* lw: LW_ADD_LINE_I8 needs LW_SIMD_CHOICE lw_x86_add_line */
#ifdef LW_ROWS_ADD_LINE_I8
#define LW_ADD_LINE_I8(n, ka, la, kb, lb, c, s, least, most, y, a, b) \
    LW_ROWS_ADD_LINE_I8(n, ka, la, kb, lb, c, s, least, most, y, a, b)
#endif
/* lw: end */
#endif
