/* SPDX-License-Identifier: 0BSD */
/* Primitives of tiles.h for rows of products, and the other macros of rows.h, on RISC-V with vectors (V 1.0, any VLEN
 * of at least 128). Sums are groups of four registers, 16 32-bit lanes at VLEN 128; -DLW_RVV_LMUL=1 selects single
 * registers. VSMUL with the rounding mode `rnu` is the product of the reference. Since version 0.12, intrinsics take
 * that mode; earlier intrinsics read it from a register.
 *
 * The other macros have loops of their own, because the loops of tiles.h would execute more instructions here:
 *   - the last channels of a row are one shorter vector here; tiles.h computes them one by one
 *   - VNCLIP shifts and narrows at once; tiles.h shifts before it narrows
 *   - taps are added in pairs across the rows of a window, five times for 3x3; tiles.h pairs taps of one row, and adds
 *     six times */
#ifndef LW_SIMD_RVV_ROWS_H
#define LW_SIMD_RVV_ROWS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_rvv_types needs LW_SIMD_CHOICE */
#if LW_SIMD_RVV
/* Group sizes of elements of 8, 16 and 32 bits with equal numbers of lanes. */
#ifndef LW_RVV_LMUL
#define LW_RVV_LMUL 4
#endif
#if LW_RVV_LMUL == 4
#define LW_RVV_8(name) name##m1
#define LW_RVV_16(name) name##m2
#define LW_RVV_32(name) name##m4
#else
#define LW_RVV_8(name) name##mf4
#define LW_RVV_16(name) name##mf2
#define LW_RVV_32(name) name##m1
#endif
#define LW_RVV_INT8(op) LW_RVV_8(__riscv_##op##_i8)
#define LW_RVV_INT16(op) LW_RVV_16(__riscv_##op##_i16)
#define LW_RVV_INT32(op) LW_RVV_32(__riscv_##op##_i32)
#define LW_RVV_UINT32(op) LW_RVV_32(__riscv_##op##_u32)
#if LW_RVV_LMUL == 4
#define LW_RVV_SIGNED(v) __riscv_vreinterpret_v_u32m4_i32m4(v)
#define LW_RVV_TU(name) name##m4_tu
#define LW_RVV_TOTAL(v, from, lanes) __riscv_vredsum_vs_i32m4_i32m1(v, from, lanes)
typedef vint8m1_t lw_rvv_i8;
typedef vint16m2_t lw_rvv_i16;
typedef vint32m4_t lw_rvv_i32;
typedef vuint16m2_t lw_rvv_u16;
typedef vuint32m4_t lw_rvv_u32;
#else
#define LW_RVV_SIGNED(v) __riscv_vreinterpret_v_u32m1_i32m1(v)
#define LW_RVV_TU(name) name##m1_tu
#define LW_RVV_TOTAL(v, from, lanes) __riscv_vredsum_vs_i32m1_i32m1(v, from, lanes)
typedef vint8mf4_t lw_rvv_i8;
typedef vint16mf2_t lw_rvv_i16;
typedef vint32m1_t lw_rvv_i32;
typedef vuint16mf2_t lw_rvv_u16;
typedef vuint32m1_t lw_rvv_u32;
#endif
#define LW_RVV_LANES(n) LW_RVV_32(__riscv_vsetvl_e32)((size_t)(n))
/* Returns the number of lanes of the next part of a tile. The number is a constant, without VSETVL, if `left` is a
 * constant. */
#if LW_RVV_LMUL == 4
#define LW_RVV_PART 16
#else
#define LW_RVV_PART 4
#endif
/* numbers of a layer are constants in the layer's code */
#define LW_RVV_INLINE __attribute__((always_inline)) static inline
static inline size_t lw_rvv_part(int32_t left) { return (size_t)(left < LW_RVV_PART ? left : LW_RVV_PART); }
#endif
/* lw: end */

/* lw: lw_v_dots needs lw_rvv_types */
#if LW_SIMD_RVV
#define LW_TILES_DOT ((int32_t)LW_RVV_32(__riscv_vsetvlmax_e32)())
typedef lw_rvv_i32 lw_v_sums;
static inline lw_v_sums lw_v_no_sums(void) { return LW_RVV_INT32(vmv_v_x)(0, (size_t)LW_TILES_DOT); }
/* Lanes beyond n keep their sums. */
static inline lw_v_sums lw_v_dot_part(lw_v_sums s, const int8_t *x, const int8_t *k, int32_t n)
{
    const size_t lanes = (size_t)n;
    const lw_rvv_i8 a = LW_RVV_INT8(vle8_v)(x, lanes), b = LW_RVV_INT8(vle8_v)(k, lanes);
    return LW_RVV_TU(__riscv_vwadd_wv_i32)(s, s, LW_RVV_INT16(vwmul_vv)(a, b, lanes), lanes);
}
static inline lw_v_sums lw_v_dot(lw_v_sums s, const int8_t *x, const int8_t *k)
{
    return lw_v_dot_part(s, x, k, LW_TILES_DOT);
}
static inline int32_t lw_v_total(lw_v_sums s)
{
    const vint32m1_t zero = __riscv_vmv_v_x_i32m1(0, 1);
    return __riscv_vmv_x_s_i32m1_i32(LW_RVV_TOTAL(s, zero, (size_t)LW_TILES_DOT));
}
static inline void lw_v_add_totals(int32_t *c, lw_v_sums s, lw_v_sums t)
{
    c[0] = (int32_t)((uint32_t)c[0] + (uint32_t)lw_v_total(s));
    c[1] = (int32_t)((uint32_t)c[1] + (uint32_t)lw_v_total(t));
}
#endif
/* lw: end */

/* lw: lw_rvv_quads needs lw_rvv_types lw_panel_i8 */
#if LW_SIMD_RVV
/* Up to four pixels by four channels. Two products are added in 16 bits: the products of two blocks of d elements or,
 * in single registers, of the two halves of a block of 16. VWREDSUM adds their lanes to a 32-bit lane. Empty assembly
 * keeps the instructions of one element size together, because each change of the size costs a VSETVLI. */
#if LW_RVV_LMUL == 4
typedef vint8m1_t lw_rvv_row;
typedef vint16m2_t lw_rvv_products;
#define LW_RVV_ROW(p, d) __riscv_vle8_v_i8m1(p, (size_t)(d))
#define LW_RVV_TIMES(x, k, d) __riscv_vwmul_vv_i16m2(x, k, (size_t)(d))
#define LW_RVV_TIMES_ADD(p, x, k, d) __riscv_vwmacc_vv_i16m2(p, x, k, (size_t)(d))
#define LW_RVV_SUM(p, s, d) __riscv_vwredsum_vs_i16m2_i32m1(p, s, (size_t)(d))
#else
typedef vint8mf2_t lw_rvv_row;
typedef vint16m1_t lw_rvv_products;
#define LW_RVV_ROW(p, d) __riscv_vle8_v_i8mf2(p, (size_t)(d))
#define LW_RVV_TIMES(x, k, d) __riscv_vwmul_vv_i16m1(x, k, (size_t)(d))
#define LW_RVV_TIMES_ADD(p, x, k, d) __riscv_vwmacc_vv_i16m1(p, x, k, (size_t)(d))
#define LW_RVV_SUM(p, s, d) __riscv_vwredsum_vs_i16m1_i32m1(p, s, (size_t)(d))
#endif
/* Adds the products of x, and of y if `both`, with two channels. */
#define LW_RVV_ADD_TWO(both, s, t, x, y, k, l, m, n)                                                                   \
    do {                                                                                                               \
        lw_rvv_products p_ = LW_RVV_TIMES(x, k, d), q_ = LW_RVV_TIMES(x, l, d);                                        \
        if (both) p_ = LW_RVV_TIMES_ADD(p_, y, m, d), q_ = LW_RVV_TIMES_ADD(q_, y, n, d);                              \
        __asm__ volatile("" : "+vr"(p_), "+vr"(q_));                                                                   \
        s = LW_RVV_SUM(p_, s, d), t = LW_RVV_SUM(q_, t, d);                                                            \
        __asm__ volatile("" : "+vr"(s), "+vr"(t));                                                                     \
    } while (0)
#define LW_RVV_ADD_FOUR(both, s, x, y)                                                                                 \
    do {                                                                                                               \
        lw_rvv_products p_ = LW_RVV_TIMES(x, k0, d), q_ = LW_RVV_TIMES(x, k1, d), r_ = LW_RVV_TIMES(x, k2, d),         \
                        t_ = LW_RVV_TIMES(x, k3, d);                                                                   \
        if (both) {                                                                                                    \
            p_ = LW_RVV_TIMES_ADD(p_, y, l0, d), q_ = LW_RVV_TIMES_ADD(q_, y, l1, d);                                  \
            r_ = LW_RVV_TIMES_ADD(r_, y, l2, d), t_ = LW_RVV_TIMES_ADD(t_, y, l3, d);                                  \
        }                                                                                                              \
        __asm__ volatile("" : "+vr"(p_), "+vr"(q_), "+vr"(r_), "+vr"(t_));                                             \
        s##0 = LW_RVV_SUM(p_, s##0, d), s##1 = LW_RVV_SUM(q_, s##1, d);                                                \
        s##2 = LW_RVV_SUM(r_, s##2, d), s##3 = LW_RVV_SUM(t_, s##3, d);                                                \
        __asm__ volatile("" : "+vr"(s##0), "+vr"(s##1), "+vr"(s##2), "+vr"(s##3));                                     \
    } while (0)
#if LW_RVV_LMUL == 4
#define LW_RVV_PIXEL(both, s, at)                                                                                      \
    do {                                                                                                               \
        const lw_rvv_row x_ = LW_RVV_ROW(at, d), y_ = (both) ? LW_RVV_ROW((at) + xs, d) : x_;                          \
        LW_RVV_ADD_TWO(both, s##0, s##1, x_, y_, k0, k1, l0, l1);                                                      \
        LW_RVV_ADD_TWO(both, s##2, s##3, x_, y_, k2, k3, l2, l3);                                                      \
    } while (0)
#else
#define LW_RVV_PIXEL(both, s, at)                                                                                      \
    do {                                                                                                               \
        const lw_rvv_row x_ = LW_RVV_ROW(at, d), y_ = (both) ? LW_RVV_ROW((at) + xs, d) : x_;                          \
        LW_RVV_ADD_FOUR(both, s, x_, y_);                                                                              \
    } while (0)
#endif
#define LW_RVV_LANE(v, i) __riscv_vslidedown_vx_i32m1(v, i, 4)
#define LW_RVV_BEGIN(s, p)                                                                                             \
    vint32m1_t s##0 = __riscv_vle32_v_i32m1(p, 4), s##1 = LW_RVV_LANE(s##0, 1), s##2 = LW_RVV_LANE(s##0, 2),           \
               s##3 = LW_RVV_LANE(s##0, 3)
#define LW_RVV_JOIN(s, t, i) __riscv_vslideup_vx_i32m1(s, t, i, 4)
#define LW_RVV_END(s, p) \
    __riscv_vse32_v_i32m1(p, LW_RVV_JOIN(LW_RVV_JOIN(LW_RVV_JOIN(s##0, s##1, 1), s##2, 2), s##3, 3), 4)
/* One iteration: both parts, or the first one. */
#define LW_RVV_BLOCK(both)                                                                                             \
    do {                                                                                                               \
        const lw_rvv_row k0 = LW_RVV_ROW(b, d), k1 = LW_RVV_ROW(b + ko, d), k2 = LW_RVV_ROW(b + 2 * ko, d),            \
                         k3 = LW_RVV_ROW(b + 3 * ko, d);                                                               \
        const lw_rvv_row l0 = (both) ? LW_RVV_ROW(b + ks, d) : k0, l1 = (both) ? LW_RVV_ROW(b + ks + ko, d) : k1,      \
                         l2 = (both) ? LW_RVV_ROW(b + ks + 2 * ko, d) : k2,                                            \
                         l3 = (both) ? LW_RVV_ROW(b + ks + 3 * ko, d) : k3;                                            \
        LW_RVV_PIXEL(both, s, a);                                                                                      \
        if (w > 1) LW_RVV_PIXEL(both, t, a + aw);                                                                      \
        if (w > 2) LW_RVV_PIXEL(both, u, a + 2 * aw);                                                                  \
        if (w > 3) LW_RVV_PIXEL(both, v, a + 3 * aw);                                                                  \
    } while (0)
/* Blocks of d elements of a channel are ko elements apart; the second part of a block is ks elements after the first
 * part. Computes n blocks, and one more first part if `single`. */
LW_RVV_INLINE void lw_rvv_quads(int32_t w, int32_t n, int32_t single, int32_t d, int32_t *c, int32_t cw,
                                const int8_t *a, int32_t aw, int32_t xs, const int8_t *b, int32_t ko, int32_t ks)
{
    int32_t *const c1 = w > 1 ? c + cw : c, *const c2 = w > 2 ? c + 2 * cw : c, *const c3 = w > 3 ? c + 3 * cw : c;
    LW_RVV_BEGIN(s, c);
    LW_RVV_BEGIN(t, c1);
    LW_RVV_BEGIN(u, c2);
    LW_RVV_BEGIN(v, c3);
    for (int32_t q = 0; q < n; q++) {
        LW_RVV_BLOCK(1);
        a += 2 * xs;
        b += ks == ko / 2 ? 4 * ko : 2 * ks;
    }
    if (single) LW_RVV_BLOCK(0);
    LW_RVV_END(s, c);
    if (w > 1) LW_RVV_END(t, c1);
    if (w > 2) LW_RVV_END(u, c2);
    if (w > 3) LW_RVV_END(v, c3);
}
#if LW_RVV_LMUL == 4
#define LW_RVV_QUADS(w, n, d, c, cw, a, aw, b) lw_rvv_quads(w, (n) / 2, (n) % 2, d, c, cw, a, aw, d, b, d, 4 * (d))
#else
#define LW_RVV_QUADS(w, n, d, c, cw, a, aw, b)                                                                         \
    ((d) == 16 ? lw_rvv_quads(w, n, 0, 8, c, cw, a, aw, 8, b, 16, 8)                                                   \
               : lw_rvv_quads(w, (n) / 2, (n) % 2, 8, c, cw, a, aw, 8, b, 8, 32))
#endif
#define LW_ROWS_PANELS_I8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo)                                         \
    do {                                                                                                               \
        if ((w) <= 4 && (kh) == 1 && (m) == 4 && ((d) == 8 || (d) == 16) && (aq) == (d) && (bq) == 4 * (d)             \
            && (bo) == (d))                                                                                            \
            LW_RVV_QUADS(w, n, d, c, cw, a, aw, b);                                                                    \
        else lw_panel_i8(w, kh, n, m, d, 0, c, cw, a, aw, ai, aq, b, bi, bq, bo);                                      \
    } while (0)
#endif
/* lw: end */

/* lw: lw_rvv_copies needs lw_rvv_types */
#if LW_SIMD_RVV
#if LW_RVV_LMUL == 4
#define LW_RVV_BYTE_OP(op) __riscv_##op##_i8m4
typedef vint8m4_t lw_rvv_bytes;
#else
#define LW_RVV_BYTE_OP(op) __riscv_##op##_i8m1
typedef vint8m1_t lw_rvv_bytes;
#endif
enum { LW_RVV_BYTES_AT_ONCE = LW_RVV_LMUL == 4 ? 64 : 16 };
static inline size_t lw_rvv_bytes_of(int32_t left)
{
    return (size_t)(left < LW_RVV_BYTES_AT_ONCE ? left : LW_RVV_BYTES_AT_ONCE);
}
static inline void lw_rvv_copy(int32_t n, int8_t *y, const int8_t *a)
{
    for (int32_t e = 0; e < n; e += LW_RVV_BYTES_AT_ONCE) {
        const size_t lanes = lw_rvv_bytes_of(n - e);
        LW_RVV_BYTE_OP(vse8_v)(y + e, LW_RVV_BYTE_OP(vle8_v)(a + e, lanes), lanes);
    }
}
static inline void lw_rvv_fill(int32_t n, int8_t *y, int8_t fill)
{
    for (int32_t e = 0; e < n; e += LW_RVV_BYTES_AT_ONCE) {
        const size_t lanes = lw_rvv_bytes_of(n - e);
        LW_RVV_BYTE_OP(vse8_v)(y + e, LW_RVV_BYTE_OP(vmv_v_x)(fill, lanes), lanes);
    }
}
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) lw_rvv_copy(n, (y) + (yi), (a) + (ai))
#define LW_ROWS_FILL_I8(n, y, yi, fill) lw_rvv_fill(n, (y) + (yi), fill)
#endif
/* lw: end */

/* lw: lw_rvv_begin needs lw_rvv_types */
#if LW_SIMD_RVV
static inline void lw_rvv_copy32(int32_t n, int32_t *y, const int32_t *a)
{
#pragma GCC unroll 4
    for (int32_t e = 0; e < n; e += LW_RVV_PART) {
        const size_t lanes = lw_rvv_part(n - e);
        LW_RVV_INT32(vse32_v)(y + e, LW_RVV_INT32(vle32_v)(a + e, lanes), lanes);
    }
}
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) lw_rvv_copy32(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_rvv_window needs lw_rvv_types lw_window */
#if LW_SIMD_RVV
/* The macros add two taps in 16 bits: of 16 channels if LW_RVV_LMUL is 4, otherwise of eight. */
#if LW_RVV_LMUL == 4
enum { LW_RVV_WIDTH = 16 };
#define LW_RVV_TAP_ROW(p) __riscv_vle8_v_i8m1(p, LW_RVV_WIDTH)
#define LW_RVV_TAP(x, k) __riscv_vwmul_vv_i16m2(x, k, LW_RVV_WIDTH)
#define LW_RVV_TAP_ADD(p, x, k) __riscv_vwmacc_vv_i16m2(p, x, k, LW_RVV_WIDTH)
#define LW_RVV_TAP_SUMS(s, c) vint32m4_t s = __riscv_vle32_v_i32m4(c, LW_RVV_WIDTH)
#define LW_RVV_TAP_WIDEN(s, p) s = __riscv_vwadd_wv_i32m4(s, p, LW_RVV_WIDTH)
#define LW_RVV_TAP_HALF(p) p
#define LW_RVV_TAP_STORE(s, c) __riscv_vse32_v_i32m4(c, s, LW_RVV_WIDTH)
#define LW_RVV_TAP_TYPE vint16m2_t
#else
enum { LW_RVV_WIDTH = 8 };
#define LW_RVV_TAP_ROW(p) __riscv_vle8_v_i8mf2(p, LW_RVV_WIDTH)
#define LW_RVV_TAP(x, k) __riscv_vwmul_vv_i16m1(x, k, LW_RVV_WIDTH)
#define LW_RVV_TAP_ADD(p, x, k) __riscv_vwmacc_vv_i16m1(p, x, k, LW_RVV_WIDTH)
#define LW_RVV_TAP_SUMS(s, c) vint32m1_t s = __riscv_vle32_v_i32m1(c, 4), s##_ = __riscv_vle32_v_i32m1((c) + 4, 4)
#define LW_RVV_TAP_WIDEN(s, p)                                                                                         \
    s = __riscv_vwadd_wv_i32m1(s, __riscv_vlmul_trunc_v_i16m1_i16mf2(p), 4),                                           \
    s##_ = __riscv_vwadd_wv_i32m1(s##_, __riscv_vlmul_trunc_v_i16m1_i16mf2(p##_), 4)
#define LW_RVV_TAP_HALF(p) __riscv_vslidedown_vx_i16m1(p, 4, 4)
#define LW_RVV_TAP_STORE(s, c) (__riscv_vse32_v_i32m1(c, s, 4), __riscv_vse32_v_i32m1((c) + 4, s##_, 4))
#define LW_RVV_TAP_TYPE vint16m1_t
#endif
/* Computes the taps of one or two windows (`pixels`) over a multiple of LW_RVV_WIDTH channels. */
LW_RVV_INLINE void lw_rvv_window(int32_t pixels, int32_t kh, int32_t kw, int32_t n, int32_t *c, int32_t cw,
                                 const int8_t *a, int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi,
                                 int32_t bj)
{
    int32_t *const c1 = pixels == 2 ? c + cw : c;
    const int32_t taps = kh * kw, w = pixels == 2 ? aw : 0;
    for (int32_t o = 0; o < n; o += LW_RVV_WIDTH, a += LW_RVV_WIDTH, b += LW_RVV_WIDTH) {
        LW_RVV_TAP_SUMS(s, c + o);
        LW_RVV_TAP_SUMS(t, c1 + o);
#pragma GCC unroll 16
        for (int32_t e = 0; e < taps; e += 2) {
            const int32_t i = e / kw, j = e % kw, i2 = (e + 1) / kw, j2 = (e + 1) % kw;
            const int8_t *const k = b + (i * bi + j * bj);
            LW_RVV_TAP_TYPE p = LW_RVV_TAP(LW_RVV_TAP_ROW(a + (i * ai + j * aj)), LW_RVV_TAP_ROW(k)), q = p;
            if (pixels == 2)
                q = LW_RVV_TAP(LW_RVV_TAP_ROW(a + (i * ai + j * aj + w)), LW_RVV_TAP_ROW(k));
            if (e + 1 < taps) {
                p = LW_RVV_TAP_ADD(p, LW_RVV_TAP_ROW(a + (i2 * ai + j2 * aj)),
                                   LW_RVV_TAP_ROW(b + (i2 * bi + j2 * bj)));
                if (pixels == 2)
                    q = LW_RVV_TAP_ADD(q, LW_RVV_TAP_ROW(a + (i2 * ai + j2 * aj + w)),
                                       LW_RVV_TAP_ROW(b + (i2 * bi + j2 * bj)));
            }
            __asm__ volatile("" : "+vr"(p), "+vr"(q));
            LW_RVV_TAP_TYPE p_ = LW_RVV_TAP_HALF(p), q_ = LW_RVV_TAP_HALF(q);
            __asm__ volatile("" : "+vr"(p_), "+vr"(q_));
            LW_RVV_TAP_WIDEN(s, p);
            if (pixels == 2) LW_RVV_TAP_WIDEN(t, q);
            __asm__ volatile("" : "+vr"(s), "+vr"(t));
        }
        LW_RVV_TAP_STORE(s, c + o);
        if (pixels == 2) LW_RVV_TAP_STORE(t, c1 + o);
    }
}
#define LW_RVV_WINDOW(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj)                                              \
    do {                                                                                                               \
        if ((n) % LW_RVV_WIDTH == 0) lw_rvv_window(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj);                \
        else lw_window(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj);                                            \
    } while (0)
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj) \
    LW_RVV_WINDOW(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj) \
    LW_RVV_WINDOW(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj)
#endif
/* lw: end */

/* lw: lw_rvv_scale needs lw_rvv_types */
#if LW_SIMD_RVV
#if __riscv_v_intrinsic >= 12000
#define LW_RVV_ROUND_UP() ((void)0)
#define LW_RVV_FIXED(op, a, b, lanes) LW_RVV_INT32(op)(a, b, __RISCV_VXRM_RNU, lanes)
#define LW_RVV_CLIP16(op, a, b, lanes) LW_RVV_INT16(op)(a, b, __RISCV_VXRM_RNU, lanes)
#define LW_RVV_CLIP8(op, a, b, lanes) LW_RVV_INT8(op)(a, b, __RISCV_VXRM_RNU, lanes)
#else
#define LW_RVV_ROUND_UP() __asm__ volatile("csrwi vxrm, 0")
#define LW_RVV_FIXED(op, a, b, lanes) LW_RVV_INT32(op)(a, b, lanes)
#define LW_RVV_CLIP16(op, a, b, lanes) LW_RVV_INT16(op)(a, b, lanes)
#define LW_RVV_CLIP8(op, a, b, lanes) LW_RVV_INT8(op)(a, b, lanes)
#endif
/* Returns a / 2^s, rounded to nearest, ties away from zero, for s > 0. The shift rounds ties up, so negative values are
 * decreased first. */
static inline lw_rvv_i32 lw_rvv_roundshift(lw_rvv_i32 a, size_t s, size_t lanes)
{
    if (s == 0) return a;
    return LW_RVV_FIXED(vssra_vx, LW_RVV_INT32(vsadd_vv)(a, LW_RVV_INT32(vsra_vx)(a, 31, lanes), lanes), s, lanes);
}
static inline lw_rvv_i32 lw_rvv_times(lw_rvv_i32 a, int32_t m, int32_t s, size_t lanes)
{
    return lw_rvv_roundshift(LW_RVV_FIXED(vsmul_vx, a, m, lanes), (size_t)s, lanes);
}
/* Stores the values plus `zero`, clamped to least and most, as bytes. */
static inline void lw_rvv_store(int8_t *y, lw_rvv_i16 v, int32_t zero, int32_t least, int32_t most, size_t lanes)
{
    if (zero) v = LW_RVV_INT16(vsadd_vx)(v, (int16_t)zero, lanes);
    if (least > -128) v = LW_RVV_INT16(vmax_vx)(v, (int16_t)least, lanes);
    if (most < 127) v = LW_RVV_INT16(vmin_vx)(v, (int16_t)most, lanes);
    LW_RVV_INT8(vse8_v)(y, LW_RVV_CLIP8(vnclip_wx, v, 0, lanes), lanes);
}
/* Adds -1 to a negative value whose shift is not 0, so that ties are rounded away from zero. If no result is below the
 * zero point, ties do not matter. */
static inline lw_rvv_i32 lw_rvv_scaled(const int32_t *a, const int32_t *m, const uint8_t *s, int has_negative,
                                       size_t lanes)
{
    const lw_rvv_i32 v = LW_RVV_FIXED(vsmul_vv, LW_RVV_INT32(vle32_v)(a, lanes), LW_RVV_INT32(vle32_v)(m, lanes),
                                      lanes);
    if (!has_negative) return v;
    const lw_rvv_u32 shift = LW_RVV_UINT32(vzext_vf4)(LW_RVV_8(__riscv_vle8_v_u8)(s, lanes), lanes);
    const lw_rvv_i32 back = LW_RVV_INT32(vneg_v)(LW_RVV_SIGNED(shift), lanes);
    return LW_RVV_INT32(vsadd_vv)(v, LW_RVV_INT32(vsra_vx)(LW_RVV_INT32(vand_vv)(v, back, lanes), 31, lanes), lanes);
}
#if LW_RVV_LMUL != 4
/* Sixteen at once: the instructions of one element size are together. */
#define LW_RVV_CLIP(v, s) \
    LW_RVV_CLIP16(vnclip_wv, v, LW_RVV_16(__riscv_vzext_vf2_u16)(LW_RVV_8(__riscv_vle8_v_u8)(s, 4), 4), 4)
#define LW_RVV_PAIR(a, b)                                                                                              \
    __riscv_vslideup_vx_i16m1(__riscv_vlmul_ext_v_i16mf2_i16m1(a), __riscv_vlmul_ext_v_i16mf2_i16m1(b), 4, 8)
static inline vint16m1_t lw_rvv_bounded(vint16m1_t v, int32_t zero, int32_t least, int32_t most)
{
    if (zero) v = __riscv_vsadd_vx_i16m1(v, (int16_t)zero, 8);
    if (least > -128) v = __riscv_vmax_vx_i16m1(v, (int16_t)least, 8);
    if (most < 127) v = __riscv_vmin_vx_i16m1(v, (int16_t)most, 8);
    return v;
}
#if __riscv_v_intrinsic >= 12000
#define LW_RVV_BYTES(v) __riscv_vnclip_wx_i8mf2(v, 0, __RISCV_VXRM_RNU, 8)
#else
#define LW_RVV_BYTES(v) __riscv_vnclip_wx_i8mf2(v, 0, 8)
#endif
static inline void lw_rvv_scale16(int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                  const int32_t *m, const uint8_t *s)
{
    const int has_negative = least < zero;
    lw_rvv_i32 v0 = lw_rvv_scaled(a, m, s, has_negative, 4), v1 = lw_rvv_scaled(a + 4, m + 4, s + 4, has_negative, 4),
               v2 = lw_rvv_scaled(a + 8, m + 8, s + 8, has_negative, 4),
               v3 = lw_rvv_scaled(a + 12, m + 12, s + 12, has_negative, 4);
    __asm__ volatile("" : "+vr"(v0), "+vr"(v1), "+vr"(v2), "+vr"(v3));
    lw_rvv_i16 h0 = LW_RVV_CLIP(v0, s), h1 = LW_RVV_CLIP(v1, s + 4), h2 = LW_RVV_CLIP(v2, s + 8),
               h3 = LW_RVV_CLIP(v3, s + 12);
    __asm__ volatile("" : "+vr"(h0), "+vr"(h1), "+vr"(h2), "+vr"(h3));
    vint16m1_t g0 = lw_rvv_bounded(LW_RVV_PAIR(h0, h1), zero, least, most),
               g1 = lw_rvv_bounded(LW_RVV_PAIR(h2, h3), zero, least, most);
    __asm__ volatile("" : "+vr"(g0), "+vr"(g1));
    const vint8m1_t low = __riscv_vlmul_ext_v_i8mf2_i8m1(LW_RVV_BYTES(g0)),
                    high = __riscv_vlmul_ext_v_i8mf2_i8m1(LW_RVV_BYTES(g1));
    __riscv_vse8_v_i8m1(y, __riscv_vslideup_vx_i8m1(low, high, 8, 16), 16);
}
#endif
static inline void lw_rvv_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                const int32_t *m, const uint8_t *s)
{
    LW_RVV_ROUND_UP();
#if LW_RVV_LMUL != 4
    for (; n >= 16; n -= 16, y += 16, a += 16, m += 16, s += 16) lw_rvv_scale16(zero, least, most, y, a, m, s);
#endif
#pragma GCC unroll 4
    for (int32_t e = 0; e < n; e += LW_RVV_PART) {
        const size_t lanes = lw_rvv_part(n - e);
        const lw_rvv_i32 v = lw_rvv_scaled(a + e, m + e, s + e, least < zero, lanes);
        const lw_rvv_u16 shift = LW_RVV_16(__riscv_vzext_vf2_u16)(LW_RVV_8(__riscv_vle8_v_u8)(s + e, lanes), lanes);
        lw_rvv_store(y + e, LW_RVV_CLIP16(vnclip_wv, v, shift, lanes), zero, least, most, lanes);
    }
}
static inline void lw_rvv_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                    int32_t m, int32_t s)
{
    LW_RVV_ROUND_UP();
#pragma GCC unroll 4
    for (int32_t e = 0; e < n; e += LW_RVV_PART) {
        const size_t lanes = lw_rvv_part(n - e);
        lw_rvv_i32 v = LW_RVV_FIXED(vsmul_vx, LW_RVV_INT32(vle32_v)(a + e, lanes), m, lanes);
        if (s && least < zero) v = LW_RVV_INT32(vsadd_vv)(v, LW_RVV_INT32(vsra_vx)(v, 31, lanes), lanes);
        lw_rvv_store(y + e, LW_RVV_CLIP16(vnclip_wx, v, (size_t)s, lanes), zero, least, most, lanes);
    }
}
#define LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, yi, a, ai, m, mi, s, si) \
    lw_rvv_scale(n, zero, least, most, (y) + (yi), (a) + (ai), (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE_I8(n, zero, least, most, y, yi, a, ai, m, s) \
    lw_rvv_scale_all(n, zero, least, most, (y) + (yi), (a) + (ai), m, s)
#endif
/* lw: end */

/* lw: lw_rvv_add needs lw_rvv_scale */
#if LW_SIMD_RVV
static inline lw_rvv_i32 lw_rvv_term(const int8_t *a, int32_t zero, int32_t m, int32_t s, size_t lanes)
{
    const lw_rvv_i32 v = LW_RVV_INT32(vsext_vf4)(LW_RVV_INT8(vle8_v)(a, lanes), lanes);
    return lw_rvv_times(LW_RVV_INT32(vsll_vx)(LW_RVV_INT32(vadd_vx)(v, zero, lanes), 20, lanes), m, s, lanes);
}
static inline void lw_rvv_add(int32_t n, int32_t za, int32_t ma, int32_t sa, int32_t zb, int32_t mb, int32_t sb,
                              int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most, int8_t *y,
                              const int8_t *a, const int8_t *b)
{
    LW_RVV_ROUND_UP();
#pragma GCC unroll 4
    for (int32_t e = 0; e < n; e += LW_RVV_PART) {
        const size_t lanes = lw_rvv_part(n - e);
        const lw_rvv_i32 sum = LW_RVV_INT32(vadd_vv)(lw_rvv_term(a + e, za, ma, sa, lanes),
                                                   lw_rvv_term(b + e, zb, mb, sb, lanes), lanes);
        const lw_rvv_i32 v = lw_rvv_times(sum, m, s, lanes);
        lw_rvv_store(y + e, LW_RVV_CLIP16(vnclip_wx, v, 0, lanes), zero, least, most, lanes);
    }
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_rvv_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_rvv_pool needs lw_rvv_types lw_rvv_copies */
#if LW_SIMD_RVV
/* Sums up to 256 bytes, which fit 16 bits. */
static inline void lw_rvv_sum_window(int32_t kh, int32_t kw, int32_t n, int32_t *y, const int8_t *a, int32_t ai,
                                     int32_t aj)
{
    for (int32_t o = 0; o < n;) {
        const size_t lanes = LW_RVV_LANES(n - o);
        lw_rvv_i32 s = LW_RVV_INT32(vle32_v)(y + o, lanes);
        lw_rvv_i16 part = LW_RVV_INT16(vmv_v_x)(0, lanes);
        int32_t held = 0;
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) {
                part = LW_RVV_INT16(vwadd_wv)(part, LW_RVV_INT8(vle8_v)(a + i * ai + j * aj + o, lanes), lanes);
                if (kh * kw <= 256 || ++held < 256) continue;
                s = LW_RVV_INT32(vwadd_wv)(s, part, lanes);
                part = LW_RVV_INT16(vmv_v_x)(0, lanes);
                held = 0;
            }
        LW_RVV_INT32(vse32_v)(y + o, LW_RVV_INT32(vwadd_wv)(s, part, lanes), lanes);
        o += (int32_t)lanes;
    }
}
static inline void lw_rvv_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    for (int32_t o = 0; o < n; o += LW_RVV_BYTES_AT_ONCE) {
        const size_t lanes = lw_rvv_bytes_of(n - o);
        lw_rvv_bytes most = LW_RVV_BYTE_OP(vle8_v)(y + o, lanes);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++)
                most = LW_RVV_BYTE_OP(vmax_vv)(most, LW_RVV_BYTE_OP(vle8_v)(a + i * ai + j * aj + o, lanes), lanes);
        LW_RVV_BYTE_OP(vse8_v)(y + o, most, lanes);
    }
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) \
    lw_rvv_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_rvv_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
