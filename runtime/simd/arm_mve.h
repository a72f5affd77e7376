/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on Helium, the vectors of Cortex-M55 and M85: VMLADAVA multiplies 16 bytes by 16 and adds all products
 * to one register. What is left of a row at its end is loaded under a predicate, with zeros for the rest. */
#ifndef LW_SIMD_ARM_MVE_H
#define LW_SIMD_ARM_MVE_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_mve_dots needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE
static inline void lw_mve_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b, int32_t bo)
{
    int32_t c00 = c[0], c01 = c[1], c10 = c[cw], c11 = c[cw + 1];
    const int8_t *a1 = a + aw, *b1 = b + bo;
    for (int32_t e = n >> 4; e > 0; e--) {
        const int8x16_t x0 = vldrbq_s8(a), x1 = vldrbq_s8(a1), w0 = vldrbq_s8(b), w1 = vldrbq_s8(b1);
        c00 = vmladavaq_s8(c00, x0, w0);
        c01 = vmladavaq_s8(c01, x0, w1);
        c10 = vmladavaq_s8(c10, x1, w0);
        c11 = vmladavaq_s8(c11, x1, w1);
        a += 16;
        a1 += 16;
        b += 16;
        b1 += 16;
    }
    if (n & 15) {
        const mve_pred16_t p = vctp8q((uint32_t)n & 15);
        const int8x16_t x0 = vldrbq_z_s8(a, p), x1 = vldrbq_z_s8(a1, p), w0 = vldrbq_z_s8(b, p), w1 = vldrbq_z_s8(b1, p);
        c00 = vmladavaq_s8(c00, x0, w0);
        c01 = vmladavaq_s8(c01, x0, w1);
        c10 = vmladavaq_s8(c10, x1, w0);
        c11 = vmladavaq_s8(c11, x1, w1);
    }
    c[0] = c00;
    c[1] = c01;
    c[cw] = c10;
    c[cw + 1] = c11;
}
static inline void lw_mve_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    int32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const int8_t *b1 = b + bo, *b2 = b1 + bo, *b3 = b2 + bo;
    for (int32_t e = n >> 4; e > 0; e--) {
        const int8x16_t x = vldrbq_s8(a);
        c0 = vmladavaq_s8(c0, x, vldrbq_s8(b));
        c1 = vmladavaq_s8(c1, x, vldrbq_s8(b1));
        c2 = vmladavaq_s8(c2, x, vldrbq_s8(b2));
        c3 = vmladavaq_s8(c3, x, vldrbq_s8(b3));
        a += 16;
        b += 16;
        b1 += 16;
        b2 += 16;
        b3 += 16;
    }
    if (n & 15) {
        const mve_pred16_t p = vctp8q((uint32_t)n & 15);
        const int8x16_t x = vldrbq_z_s8(a, p);
        c0 = vmladavaq_s8(c0, x, vldrbq_z_s8(b, p));
        c1 = vmladavaq_s8(c1, x, vldrbq_z_s8(b1, p));
        c2 = vmladavaq_s8(c2, x, vldrbq_z_s8(b2, p));
        c3 = vmladavaq_s8(c3, x, vldrbq_z_s8(b3, p));
    }
    c[0] = c0;
    c[1] = c1;
    c[2] = c2;
    c[3] = c3;
}
static inline int32_t lw_mve_1x1(int32_t n, int32_t c, const int8_t *a, const int8_t *b)
{
    for (; n > 0; n -= 16) {
        const mve_pred16_t p = vctp8q((uint32_t)n);
        c = vmladavaq_s8(c, vldrbq_z_s8(a, p), vldrbq_z_s8(b, p));
        a += 16;
        b += 16;
    }
    return c;
}
#define LW_DOT_2X2_I8(n, c, cw, a, aw, b, bo) lw_mve_2x2(n, &(c), cw, &(a), aw, &(b), bo)
#define LW_DOT_1X4_I8(n, c, a, b, bo) lw_mve_1x4(n, &(c), &(a), &(b), bo)
#define LW_DOT_1X2_I8(n, c, a, b, bo)                                                                                  \
    ((&(c))[0] = lw_mve_1x1(n, (&(c))[0], &(a), &(b)), (&(c))[1] = lw_mve_1x1(n, (&(c))[1], &(a), &(b) + (bo)))
#define LW_DOT_1X1_I8(n, c, a, b) ((c) = lw_mve_1x1(n, c, &(a), &(b)))
#define LW_DOT_2X1_I8(n, c, cw, a, aw, b)                                                                              \
    ((&(c))[0] = lw_mve_1x1(n, (&(c))[0], &(a), &(b)), (&(c))[cw] = lw_mve_1x1(n, (&(c))[cw], &(a) + (aw), &(b)))
#endif
/* lw: end */

/* lw: lw_mve_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_ARM_MVE
static inline void lw_mve_copy(int32_t n, int8_t *y, const int8_t *a)
{
    for (; n > 0; n -= 16) {
        const mve_pred16_t p = vctp8q((uint32_t)n);
        vstrbq_p_s8(y, vldrbq_z_s8(a, p), p);
        a += 16;
        y += 16;
    }
}
static inline void lw_mve_fill(int32_t n, int8_t *y, int8_t fill)
{
    for (; n > 0; n -= 16) {
        vstrbq_p_s8(y, vdupq_n_s8(fill), vctp8q((uint32_t)n));
        y += 16;
    }
}
#define LW_COPY_I8(n, y, a) lw_mve_copy(n, &(y), &(a))
#define LW_FETCH_I8(n, fill, y, p, a)                                                                                  \
    do {                                                                                                               \
        if (p) lw_mve_copy(n, &(y), &(a));                                                                             \
        else lw_mve_fill(n, &(y), fill);                                                                               \
    } while (0)
#endif
/* lw: end */
#endif
