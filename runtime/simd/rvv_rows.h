/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on RISC-V with vectors (V 1.0, any VLEN of at least 128). Sums are groups of four registers, 16
 * lanes of 32 bits at VLEN 128; -DLW_RVV_LMUL=1 selects single registers. VSMUL with the rounding mode `rnu` is the
 * product of the reference. Intrinsics since 0.12 take that mode; those before read it from a register. */
#ifndef LW_SIMD_RVV_ROWS_H
#define LW_SIMD_RVV_ROWS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_rvv_types needs LW_SIMD_CHOICE */
#if LW_SIMD_RVV
/* The group sizes of elements of 8, 16 and 32 bits, which have the same number of lanes. */
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
typedef vint8m1_t lw_rvv_i8;
typedef vint16m2_t lw_rvv_i16;
typedef vint32m4_t lw_rvv_i32;
typedef vuint32m4_t lw_rvv_u32;
#else
#define LW_RVV_SIGNED(v) __riscv_vreinterpret_v_u32m1_i32m1(v)
typedef vint8mf4_t lw_rvv_i8;
typedef vint16mf2_t lw_rvv_i16;
typedef vint32m1_t lw_rvv_i32;
typedef vuint32m1_t lw_rvv_u32;
#endif
#define LW_RVV_LANES(n) LW_RVV_32(__riscv_vsetvl_e32)((size_t)(n))
#endif
/* lw: end */

/* lw: lw_rvv_dots needs lw_rvv_types */
#if LW_SIMD_RVV
static inline int32_t lw_rvv_sum(lw_rvv_i32 v, size_t lanes)
{
    const vint32m1_t zero = __riscv_vmv_v_x_i32m1(0, 1);
#if LW_RVV_LMUL == 4
    return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m4_i32m1(v, zero, lanes));
#else
    return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m1_i32m1(v, zero, lanes));
#endif
}
/* Lanes beyond the row's end keep their sums. */
static inline lw_rvv_i32 lw_rvv_add_product(lw_rvv_i32 sum, lw_rvv_i8 a, lw_rvv_i8 b, size_t lanes)
{
#if LW_RVV_LMUL == 4
    return __riscv_vwadd_wv_i32m4_tu(sum, sum, LW_RVV_INT16(vwmul_vv)(a, b, lanes), lanes);
#else
    return __riscv_vwadd_wv_i32m1_tu(sum, sum, LW_RVV_INT16(vwmul_vv)(a, b, lanes), lanes);
#endif
}
/* c[0] += x . k0, c[1] += x . k1, c[cw] += y . k0, c[cw + 1] += y . k1; one and two rows of weights, and of x. */
static inline void lw_rvv_2x2(int32_t xs, int32_t ks, int32_t n, int32_t *c, int32_t cw, const int8_t *x,
                              const int8_t *y, const int8_t *k0, const int8_t *k1)
{
    const size_t all = LW_RVV_LANES(n);
    lw_rvv_i32 s0 = LW_RVV_INT32(vmv_v_x)(0, all), s1 = s0, s2 = s0, s3 = s0;
    for (int32_t e = 0; e < n;) {
        const size_t lanes = LW_RVV_LANES(n - e);
        const lw_rvv_i8 a = LW_RVV_INT8(vle8_v)(x + e, lanes), b = LW_RVV_INT8(vle8_v)(k0 + e, lanes);
        s0 = lw_rvv_add_product(s0, a, b, lanes);
        if (xs == 2) {
            const lw_rvv_i8 a1 = LW_RVV_INT8(vle8_v)(y + e, lanes);
            s2 = lw_rvv_add_product(s2, a1, b, lanes);
            if (ks == 2) s3 = lw_rvv_add_product(s3, a1, LW_RVV_INT8(vle8_v)(k1 + e, lanes), lanes);
        }
        if (ks == 2) s1 = lw_rvv_add_product(s1, a, LW_RVV_INT8(vle8_v)(k1 + e, lanes), lanes);
        e += (int32_t)lanes;
    }
    c[0] = (int32_t)((uint32_t)c[0] + (uint32_t)lw_rvv_sum(s0, all));
    if (ks == 2) c[1] = (int32_t)((uint32_t)c[1] + (uint32_t)lw_rvv_sum(s1, all));
    if (xs == 2) c[cw] = (int32_t)((uint32_t)c[cw] + (uint32_t)lw_rvv_sum(s2, all));
    if (xs == 2 && ks == 2) c[cw + 1] = (int32_t)((uint32_t)c[cw + 1] + (uint32_t)lw_rvv_sum(s3, all));
}
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_rvv_2x2(2, 2, n, (c) + (ci), cw, (a) + (ai), (a) + (ai) + (aw), (b) + (bi), (b) + (bi) + (bo))
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) \
    lw_rvv_2x2(1, 2, n, (c) + (ci), 0, (a) + (ai), NULL, (b) + (bi), (b) + (bi) + (bo))
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo)                                                                 \
    (LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo), LW_ROWS_DOT_1X2_I8(n, c, (ci) + 2, a, ai, b, (bi) + 2 * (bo), bo))
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    lw_rvv_2x2(2, 1, n, (c) + (ci), cw, (a) + (ai), (a) + (ai) + (aw), (b) + (bi), NULL)
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) \
    lw_rvv_2x2(1, 1, n, (c) + (ci), 0, (a) + (ai), NULL, (b) + (bi), NULL)
#endif
/* lw: end */

/* lw: lw_rvv_widen needs LW_SIMD_CHOICE */
#if LW_SIMD_RVV
static inline void lw_rvv_widen(int32_t n, int16_t *y, const int8_t *a)
{
    for (int32_t e = 0; e < n;) {
        const size_t lanes = __riscv_vsetvl_e16m4((size_t)(n - e));
        __riscv_vse16_v_i16m4(y + e, __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(a + e, lanes), lanes), lanes);
        e += (int32_t)lanes;
    }
}
#define LW_ROWS_COPY_I16(n, y, yi, a, ai) lw_rvv_widen(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_rvv_panels needs lw_rvv_types */
#if LW_SIMD_RVV
/* The pairs of 8 bits of a row of panels: the first elements, and the second. */
static inline void lw_rvv_panel(int32_t w, int32_t n, int32_t o, int32_t *c, int32_t cw, const int16_t *x, int32_t aw,
                                int32_t aq, const int8_t *b, int32_t bq, int32_t bo)
{
    for (int32_t j = 0; j < o;) {
        const size_t lanes = LW_RVV_LANES(o - j);
        const int16_t *p = x;
        const int8_t *k = b + j * bo;
        lw_rvv_i32 s = LW_RVV_INT32(vle32_v)(c + j, lanes), t = s;
        if (w == 2) t = LW_RVV_INT32(vle32_v)(c + cw + j, lanes);
        for (int32_t q = n;;) {
            lw_rvv_i16 k0, k1;
            if (bo == 2) {
                const lw_rvv_i16 both = LW_RVV_INT16(vle16_v)((const int16_t *)(const void *)k, lanes);
                k1 = LW_RVV_INT16(vsra_vx)(both, 8, lanes);
                k0 = LW_RVV_INT16(vsra_vx)(LW_RVV_INT16(vsll_vx)(both, 8, lanes), 8, lanes);
            } else {
                k0 = LW_RVV_INT16(vsext_vf2)(LW_RVV_INT8(vlse8_v)(k, bo, lanes), lanes);
                k1 = LW_RVV_INT16(vsext_vf2)(LW_RVV_INT8(vlse8_v)(k + 1, bo, lanes), lanes);
            }
            s = LW_RVV_INT32(vwmacc_vx)(s, p[0], k0, lanes);
            s = LW_RVV_INT32(vwmacc_vx)(s, p[1], k1, lanes);
            if (w == 2) {
                t = LW_RVV_INT32(vwmacc_vx)(t, p[aw], k0, lanes);
                t = LW_RVV_INT32(vwmacc_vx)(t, p[aw + 1], k1, lanes);
            }
            if (--q == 0) break;
            p += aq;
            k += bq;
        }
        LW_RVV_INT32(vse32_v)(c + j, s, lanes);
        if (w == 2) LW_RVV_INT32(vse32_v)(c + cw + j, t, lanes);
        j += (int32_t)lanes;
    }
}
#define LW_ROWS_PANEL2_I16(n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo) \
    lw_rvv_panel(2, n, o, (c) + (ci), cw, (a) + (ai), aw, aq, (b) + (bi), bq, bo)
#define LW_ROWS_PANEL_I16(n, o, c, ci, a, ai, aq, b, bi, bq, bo) \
    lw_rvv_panel(1, n, o, (c) + (ci), 0, (a) + (ai), 0, aq, (b) + (bi), bq, bo)
#endif
/* lw: end */

/* lw: lw_rvv_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_RVV
static inline void lw_rvv_copy(int32_t n, int8_t *y, const int8_t *a)
{
    for (int32_t e = 0; e < n;) {
        const size_t lanes = __riscv_vsetvl_e8m4((size_t)(n - e));
        __riscv_vse8_v_i8m4(y + e, __riscv_vle8_v_i8m4(a + e, lanes), lanes);
        e += (int32_t)lanes;
    }
}
static inline void lw_rvv_fill(int32_t n, int8_t *y, int8_t fill)
{
    for (int32_t e = 0; e < n;) {
        const size_t lanes = __riscv_vsetvl_e8m4((size_t)(n - e));
        __riscv_vse8_v_i8m4(y + e, __riscv_vmv_v_x_i8m4(fill, lanes), lanes);
        e += (int32_t)lanes;
    }
}
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) lw_rvv_copy(n, (y) + (yi), (a) + (ai))
#define LW_ROWS_FILL_I8(n, y, yi, fill) lw_rvv_fill(n, (y) + (yi), fill)
#endif
/* lw: end */

/* lw: lw_rvv_begin needs LW_SIMD_CHOICE */
#if LW_SIMD_RVV
static inline void lw_rvv_copy32(int32_t n, int32_t *y, const int32_t *a)
{
    for (int32_t e = 0; e < n;) {
        const size_t lanes = __riscv_vsetvl_e32m4((size_t)(n - e));
        __riscv_vse32_v_i32m4(y + e, __riscv_vle32_v_i32m4(a + e, lanes), lanes);
        e += (int32_t)lanes;
    }
}
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) lw_rvv_copy32(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_rvv_window needs lw_rvv_types */
#if LW_SIMD_RVV
/* Taps of `pixels` windows, 1 or 2. */
static inline void lw_rvv_window(int32_t pixels, int32_t kh, int32_t kw, int32_t n, int32_t *c, int32_t cw,
                                 const int8_t *a, int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi,
                                 int32_t bj)
{
    for (int32_t o = 0; o < n;) {
        const size_t lanes = LW_RVV_LANES(n - o);
        lw_rvv_i32 s = LW_RVV_INT32(vle32_v)(c + o, lanes), t = s;
        if (pixels == 2) t = LW_RVV_INT32(vle32_v)(c + cw + o, lanes);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) {
                const int8_t *x = a + i * ai + j * aj + o;
                const lw_rvv_i8 k = LW_RVV_INT8(vle8_v)(b + i * bi + j * bj + o, lanes);
                s = LW_RVV_INT32(vwadd_wv)(s, LW_RVV_INT16(vwmul_vv)(LW_RVV_INT8(vle8_v)(x, lanes), k, lanes), lanes);
                if (pixels == 2)
                    t = LW_RVV_INT32(vwadd_wv)(t, LW_RVV_INT16(vwmul_vv)(LW_RVV_INT8(vle8_v)(x + aw, lanes), k, lanes),
                                             lanes);
            }
        LW_RVV_INT32(vse32_v)(c + o, s, lanes);
        if (pixels == 2) LW_RVV_INT32(vse32_v)(c + cw + o, t, lanes);
        o += (int32_t)lanes;
    }
}
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj) \
    lw_rvv_window(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj) \
    lw_rvv_window(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj)
#endif
/* lw: end */

/* lw: lw_rvv_scale needs lw_rvv_types */
#if LW_SIMD_RVV
#if __riscv_v_intrinsic >= 12000
#define LW_RVV_ROUND_UP() ((void)0)
#define LW_RVV_FIXED(op, a, b, lanes) LW_RVV_INT32(op)(a, b, __RISCV_VXRM_RNU, lanes)
#else
#define LW_RVV_ROUND_UP() __asm__ volatile("csrwi vxrm, 0")
#define LW_RVV_FIXED(op, a, b, lanes) LW_RVV_INT32(op)(a, b, lanes)
#endif
/* a / 2^s to nearest, ties away from zero, s > 0: the shift rounds ties up, so negative values are decreased first. */
static inline lw_rvv_i32 lw_rvv_roundshift(lw_rvv_i32 a, size_t s, size_t lanes)
{
    if (s == 0) return a;
    return LW_RVV_FIXED(vssra_vx, LW_RVV_INT32(vsadd_vv)(a, LW_RVV_INT32(vsra_vx)(a, 31, lanes), lanes), s, lanes);
}
static inline lw_rvv_i32 lw_rvv_times(lw_rvv_i32 a, int32_t m, int32_t s, size_t lanes)
{
    return lw_rvv_roundshift(LW_RVV_FIXED(vsmul_vx, a, m, lanes), (size_t)s, lanes);
}
/* Stores the values plus `zero` between least and most as bytes. */
static inline void lw_rvv_store(int8_t *y, lw_rvv_i32 v, int32_t zero, int32_t least, int32_t most, size_t lanes)
{
    v = LW_RVV_INT32(vadd_vx)(v, zero, lanes);
    v = LW_RVV_INT32(vmin_vx)(LW_RVV_INT32(vmax_vx)(v, least, lanes), most, lanes);
    LW_RVV_INT8(vse8_v)(y, LW_RVV_INT8(vnsra_wx)(LW_RVV_INT16(vnsra_wx)(v, 0, lanes), 0, lanes), lanes);
}
static inline void lw_rvv_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                const int32_t *m, const uint8_t *s)
{
    LW_RVV_ROUND_UP();
    for (int32_t e = 0; e < n;) {
        const size_t lanes = LW_RVV_LANES(n - e);
        const lw_rvv_i32 v = LW_RVV_FIXED(vsmul_vv, LW_RVV_INT32(vle32_v)(a + e, lanes),
                                          LW_RVV_INT32(vle32_v)(m + e, lanes), lanes);
        const lw_rvv_u32 shift = LW_RVV_UINT32(vzext_vf4)(LW_RVV_8(__riscv_vle8_v_u8)(s + e, lanes), lanes);
        /* -1 where the value is negative and the shift is not 0 */
        const lw_rvv_i32 back = LW_RVV_INT32(vneg_v)(LW_RVV_SIGNED(shift), lanes);
        const lw_rvv_i32 less = LW_RVV_INT32(vsra_vx)(LW_RVV_INT32(vand_vv)(v, back, lanes), 31, lanes);
        lw_rvv_store(y + e, LW_RVV_FIXED(vssra_vv, LW_RVV_INT32(vsadd_vv)(v, less, lanes), shift, lanes), zero, least,
                     most, lanes);
        e += (int32_t)lanes;
    }
}
static inline void lw_rvv_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                    int32_t m, int32_t s)
{
    LW_RVV_ROUND_UP();
    for (int32_t e = 0; e < n;) {
        const size_t lanes = LW_RVV_LANES(n - e);
        lw_rvv_store(y + e, lw_rvv_times(LW_RVV_INT32(vle32_v)(a + e, lanes), m, s, lanes), zero, least, most, lanes);
        e += (int32_t)lanes;
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
    for (int32_t e = 0; e < n;) {
        const size_t lanes = LW_RVV_LANES(n - e);
        const lw_rvv_i32 v = LW_RVV_INT32(vadd_vv)(lw_rvv_term(a + e, za, ma, sa, lanes),
                                                 lw_rvv_term(b + e, zb, mb, sb, lanes), lanes);
        lw_rvv_store(y + e, lw_rvv_times(v, m, s, lanes), zero, least, most, lanes);
        e += (int32_t)lanes;
    }
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_rvv_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_rvv_pool needs lw_rvv_types */
#if LW_SIMD_RVV
/* Sums of up to 256 bytes fit 16 bits. */
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
    for (int32_t o = 0; o < n;) {
        const size_t lanes = __riscv_vsetvl_e8m4((size_t)(n - o));
        vint8m4_t most = __riscv_vle8_v_i8m4(y + o, lanes);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++)
                most = __riscv_vmax_vv_i8m4(most, __riscv_vle8_v_i8m4(a + i * ai + j * aj + o, lanes), lanes);
        __riscv_vse8_v_i8m4(y + o, most, lanes);
        o += (int32_t)lanes;
    }
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) \
    lw_rvv_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_rvv_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
