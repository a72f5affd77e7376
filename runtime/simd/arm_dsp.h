/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on the DSP extension of Cortex-M4, M7 and M33: SMLAD multiplies two pairs of 16 bits and adds both
 * products. SXTB16 makes pairs of a word's even bytes, and, rotated by 8 within the same instruction, of the odd ones. */
#ifndef LW_SIMD_ARM_DSP_H
#define LW_SIMD_ARM_DSP_H

#include <string.h>

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_dsp_word needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_DSP
static inline int32_t lw_dsp_word(const void *p)
{
    int32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}
static inline int32_t lw_dsp_even(int32_t w) { return __sxtb16(w); }
static inline int32_t lw_dsp_odd(int32_t w)
{
    int32_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(w));
    return r;
}
#endif
/* lw: end */

/* lw: lw_dsp_2x2 needs lw_dsp_word lw_dot_pairs */
#if LW_SIMD_ARM_DSP
static inline void lw_dsp_2x2(int32_t n, int32_t *c, int32_t cw, const int16_t *a, int32_t aw, const int8_t *b, int32_t bo)
{
    int32_t c00 = c[0], c01 = c[1], c10 = c[cw], c11 = c[cw + 1];
    const int16_t *a1 = a + aw;
    const int8_t *b1 = b + bo;
    for (; n > 0; n--) {
        const int32_t w0 = lw_dsp_word(b), w1 = lw_dsp_word(b1);
        const int32_t x0 = lw_dsp_word(a), y0 = lw_dsp_word(a + 2), x1 = lw_dsp_word(a1), y1 = lw_dsp_word(a1 + 2);
        const int32_t e0 = lw_dsp_even(w0), e1 = lw_dsp_even(w1), d0 = lw_dsp_odd(w0), d1 = lw_dsp_odd(w1);
        c00 = __smlad(x0, e0, c00);
        c01 = __smlad(x0, e1, c01);
        c10 = __smlad(x1, e0, c10);
        c11 = __smlad(x1, e1, c11);
        c00 = __smlad(y0, d0, c00);
        c01 = __smlad(y0, d1, c01);
        c10 = __smlad(y1, d0, c10);
        c11 = __smlad(y1, d1, c11);
        a += 4;
        a1 += 4;
        b += 4;
        b1 += 4;
    }
    c[0] = c00;
    c[1] = c01;
    c[cw] = c10;
    c[cw + 1] = c11;
}
#define LW_DOT_2X2_I16(n, c, cw, a, aw, aq, as, b, bo, bq, bt)                                                         \
    do {                                                                                                               \
        if ((aq) == 4 && (as) == 2 && (bq) == 4 && (bt) == 2) lw_dsp_2x2(n, &(c), cw, &(a), aw, &(b), bo);             \
        else lw_dot_pairs(2, 2, n, &(c), cw, &(a), aw, aq, as, &(b), bo, bq, bt);                                      \
    } while (0)
#endif
/* lw: end */

/* lw: lw_dsp_1xn needs lw_dsp_word lw_dot_pairs */
#if LW_SIMD_ARM_DSP
static inline void lw_dsp_1x4(int32_t n, int32_t *c, const int16_t *a, const int8_t *b, int32_t bo)
{
    int32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const int8_t *b1 = b + bo, *b2 = b1 + bo, *b3 = b2 + bo;
    for (; n > 0; n--) {
        const int32_t x = lw_dsp_word(a), y = lw_dsp_word(a + 2);
        int32_t w = lw_dsp_word(b);
        c0 = __smlad(y, lw_dsp_odd(w), __smlad(x, lw_dsp_even(w), c0));
        w = lw_dsp_word(b1);
        c1 = __smlad(y, lw_dsp_odd(w), __smlad(x, lw_dsp_even(w), c1));
        w = lw_dsp_word(b2);
        c2 = __smlad(y, lw_dsp_odd(w), __smlad(x, lw_dsp_even(w), c2));
        w = lw_dsp_word(b3);
        c3 = __smlad(y, lw_dsp_odd(w), __smlad(x, lw_dsp_even(w), c3));
        a += 4;
        b += 4;
        b1 += 4;
        b2 += 4;
        b3 += 4;
    }
    c[0] = c0;
    c[1] = c1;
    c[2] = c2;
    c[3] = c3;
}
static inline int32_t lw_dsp_1x1(int32_t n, int32_t c, const int16_t *a, const int8_t *b)
{
    for (; n > 0; n--) {
        const int32_t w = lw_dsp_word(b);
        c = __smlad(lw_dsp_word(a + 2), lw_dsp_odd(w), __smlad(lw_dsp_word(a), lw_dsp_even(w), c));
        a += 4;
        b += 4;
    }
    return c;
}
#define LW_DSP_ROWS(plain, other, aq, as, bq, bt)                                                                      \
    do {                                                                                                               \
        if ((aq) == 4 && (as) == 2 && (bq) == 4 && (bt) == 2) { plain; }                                               \
        else { other; }                                                                                                \
    } while (0)
#define LW_DOT_1X4_I16(n, c, a, aq, as, b, bo, bq, bt)                                                                 \
    LW_DSP_ROWS(lw_dsp_1x4(n, &(c), &(a), &(b), bo), lw_dot_pairs(1, 4, n, &(c), 0, &(a), 0, aq, as, &(b), bo, bq, bt), aq, as, bq, bt)
#define LW_DOT_1X2_I16(n, c, a, aq, as, b, bo, bq, bt)                                                                 \
    LW_DSP_ROWS((&(c))[0] = lw_dsp_1x1(n, (&(c))[0], &(a), &(b)); (&(c))[1] = lw_dsp_1x1(n, (&(c))[1], &(a), &(b) + (bo)), \
                lw_dot_pairs(1, 2, n, &(c), 0, &(a), 0, aq, as, &(b), bo, bq, bt), aq, as, bq, bt)
#define LW_DOT_1X1_I16(n, c, a, aq, as, b, bq, bt)                                                                     \
    LW_DSP_ROWS((c) = lw_dsp_1x1(n, c, &(a), &(b)), lw_dot_pairs(1, 1, n, &(c), 0, &(a), 0, aq, as, &(b), 0, bq, bt), aq, as, bq, bt)
#define LW_DOT_2X1_I16(n, c, cw, a, aw, aq, as, b, bq, bt)                                                             \
    LW_DSP_ROWS((&(c))[0] = lw_dsp_1x1(n, (&(c))[0], &(a), &(b)); (&(c))[cw] = lw_dsp_1x1(n, (&(c))[cw], &(a) + (aw), &(b)), \
                lw_dot_pairs(2, 1, n, &(c), cw, &(a), aw, aq, as, &(b), 0, bq, bt), aq, as, bq, bt)
#endif
/* lw: end */

/* lw: lw_dsp_widen needs lw_dsp_word */
#if LW_SIMD_ARM_DSP
static inline void lw_dsp_widen(int32_t n, int16_t *y, const int8_t *a)
{
    for (; n >= 4; n -= 4) {
        const int32_t w = lw_dsp_word(a), even = lw_dsp_even(w), odd = lw_dsp_odd(w);
        int32_t low, high;
        __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(low) : "r"(even), "r"(odd));
        __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(high) : "r"(odd), "r"(even));
        memcpy(y, &low, 4);
        memcpy(y + 2, &high, 4);
        a += 4;
        y += 4;
    }
    for (; n > 0; n--) *y++ = *a++;
}
#define LW_COPY_I16(n, y, a) lw_dsp_widen(n, &(y), &(a))
#endif
/* lw: end */
#endif
