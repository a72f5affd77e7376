/* SPDX-License-Identifier: 0BSD */
/* The loops of the macros of rows.h over primitives. The header of an instruction set defines primitives, in groups,
 * and a macro LW_TILES_... for each group that it has. Types are its own; operations return their result. The
 * header of a core that is not in this folder is read by -DLW_SIMD_CORE='"mycore.h"', or by the row of its target.
 *
 * LW_TILES_DOT: bytes at once in rows of products
 *   lw_v_sums  lw_v_no_sums()            lanes of 32-bit sums; zeros
 *   lw_v_dot(sums, x, k)                 adds the products of these bytes at x and k to any lanes
 *   lw_v_dot_part(sums, x, k, n)         of fewer bytes
 *   lw_v_add_totals(c, s, t)             c[0] += total of s, c[1] += total of t
 *   lw_v_total(s)                        the total
 * LW_TILES_WINDOW: 8; or 16 if there are also primitives for 16 channels, whose names begin with lw_v16
 *   lw_v8_bytes  lw_v8_load(p)           eight bytes
 *   lw_v8_sums  lw_v8_begin(c, pairs)    the sums at c, prepared for `pairs` calls of lw_v8_add_two
 *   lw_v8_add_one(s, x, k)               adds x * k lane by lane
 *   lw_v8_add_two(s, x, x1, k, k1)       adds x * k + x1 * k1
 *   lw_v8_end(c, s)                      stores the sums
 * LW_TILES_SCALE: 8, or 16 if there are also lw_v16 of these
 *   lw_v8_words  lw_v8_load_words(p)  lw_v8_fill(x)
 *   lw_v8_load_shifts(p)  lw_v8_fill_shift(s)       in the form that lw_v8_scaled takes
 *   lw_v8_scaled(a, m, s, is_positive, may_wrap)    roundshift(mulhigh(a, m), s); is_positive: results below 0 do not
 *                                        matter; may_wrap: the product of the smallest integers may occur
 *   lw_v8_narrow(y, v, zero, least, most)           stores v + zero between least and most as bytes
 *   lw_v8_shifted(p, zero)               eight bytes + zero << 20
 *   lw_v8_plus(v, w)
 * LW_TILES_POOL: bytes at once in maxima
 *   lw_v8_halves  lw_v8_no_halves()  lw_v8_add_bytes(halves, p)  lw_v8_add_halves(c, halves)      16-bit sums
 *   lw_v_max(y, a)                       y = the greater of these bytes at y, in a register, and at a
 *   lw_v_most  lw_v_load_most(p)  lw_v_store_most(p, y)
 * LW_TILES_COPY: the C library's copies have the core's instructions */
#ifndef LW_SIMD_TILES_H
#define LW_SIMD_TILES_H

#include "../lw_base.h"
#include "../lw_fixed.h"
#include "simd.h"

/* lw: lw_tile_dots needs lw_v_dots */
#ifdef LW_TILES_DOT
/* multiplies x by k0 and k1, and y by k2 and k3; the sums are variables instead of arrays, because compilers keep
 * variables in registers */
#define LW_TILE_DOTS(n, x, y, k0, k1, k2, k3)                                                                          \
    lw_v_sums s0 = lw_v_no_sums(), s1 = s0, s2 = s0, s3 = s0;                                                          \
    int32_t e = 0;                                                                                                     \
    for (; e + LW_TILES_DOT <= n; e += LW_TILES_DOT)                                                                   \
        s0 = lw_v_dot(s0, x + e, k0 + e), s1 = lw_v_dot(s1, x + e, k1 + e), s2 = lw_v_dot(s2, y + e, k2 + e),          \
        s3 = lw_v_dot(s3, y + e, k3 + e);                                                                              \
    if (e < n)                                                                                                         \
        s0 = lw_v_dot_part(s0, x + e, k0 + e, n - e), s1 = lw_v_dot_part(s1, x + e, k1 + e, n - e),                    \
        s2 = lw_v_dot_part(s2, y + e, k2 + e, n - e), s3 = lw_v_dot_part(s3, y + e, k3 + e, n - e)
static inline void lw_tile_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b,
                               int32_t bo)
{
    const int8_t *y = a + aw, *k = b + bo;
    LW_TILE_DOTS(n, a, y, b, k, b, k);
    lw_v_add_totals(c, s0, s1);
    lw_v_add_totals(c + cw, s2, s3);
}
static inline void lw_tile_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    const int8_t *k1 = b + bo, *k2 = k1 + bo, *k3 = k2 + bo;
    LW_TILE_DOTS(n, a, a, b, k1, k2, k3);
    lw_v_add_totals(c, s0, s1);
    lw_v_add_totals(c + 2, s2, s3);
}
/* Compilers compute equal operands once, and remove sums without a use. */
static inline void lw_tile_1x2(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    const int8_t *k = b + bo;
    LW_TILE_DOTS(n, a, a, b, k, b, k);
    lw_v_add_totals(c, s0, s1);
}
static inline void lw_tile_1x1(int32_t n, int32_t *c, const int8_t *a, const int8_t *b)
{
    LW_TILE_DOTS(n, a, a, b, b, b, b);
    *c = (int32_t)((uint32_t)*c + (uint32_t)lw_v_total(s0));
}
#undef LW_TILE_DOTS
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_tile_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo)
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_tile_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) lw_tile_1x2(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) lw_tile_1x1(n, (c) + (ci), (a) + (ai), (b) + (bi))
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    (lw_tile_1x1(n, (c) + (ci), (a) + (ai), (b) + (bi)), \
     lw_tile_1x1(n, (c) + (ci) + (cw), (a) + (ai) + (aw), (b) + (bi)))
#endif
/* lw: end */

/* lw: lw_tile_window needs lw_v_windows lw_window LW_FIXED */
#ifdef LW_TILES_WINDOW
/* `lanes` channels of `pixels` windows, 1 or 2, a literal. */
#define LW_TILE_STEP(lanes, add, ...)                                                                                  \
    do {                                                                                                               \
        s = lw_v##lanes##_##add(s, LW_TILE_TAPS_##add(lanes, x, aj), __VA_ARGS__);                                     \
        if (pixels > 1) t = lw_v##lanes##_##add(t, LW_TILE_TAPS_##add(lanes, x + aw, aj), __VA_ARGS__);                \
    } while (0)
#define LW_TILE_TAPS_add_one(lanes, p, next) lw_v##lanes##_load(p)
#define LW_TILE_TAPS_add_two(lanes, p, next) lw_v##lanes##_load(p), lw_v##lanes##_load((p) + (next))
#define LW_TILE_WINDOW(lanes)                                                                                          \
    LW_FIXED void lw_tile_window##lanes(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw,               \
                                         const int8_t *a, int32_t ai, int32_t aw, int32_t aj, const int8_t *b,         \
                                         int32_t bi, int32_t bj)                                                       \
    {                                                                                                                  \
        int32_t *c1 = pixels > 1 ? c + cw : c;                                                                         \
        lw_v##lanes##_sums s = lw_v##lanes##_begin(c, kh * (kw / 2)), t = lw_v##lanes##_begin(c1, kh * (kw / 2));      \
        for (int32_t i = 0; i < kh; i++) {                                                                             \
            int32_t j = 0;                                                                                             \
            for (; j + 2 <= kw; j += 2) {                                                                              \
                const int8_t *x = a + i * ai + j * aj, *k = b + i * bi + j * bj;                                       \
                const lw_v##lanes##_bytes w = lw_v##lanes##_load(k), w1 = lw_v##lanes##_load(k + bj);                  \
                LW_TILE_STEP(lanes, add_two, w, w1);                                                                   \
            }                                                                                                          \
            if (j < kw) {                                                                                              \
                const int8_t *x = a + i * ai + j * aj;                                                                 \
                const lw_v##lanes##_bytes w = lw_v##lanes##_load(b + i * bi + j * bj);                                 \
                LW_TILE_STEP(lanes, add_one, w);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        lw_v##lanes##_end(c, s);                                                                                       \
        if (pixels > 1) lw_v##lanes##_end(c1, t);                                                                      \
    }
LW_TILE_WINDOW(8)
#if LW_TILES_WINDOW == 16 && !defined(lw_tile_window16)
LW_TILE_WINDOW(16)
#elif LW_TILES_WINDOW < 16
#define lw_tile_window16(pixels, kh, kw, c, cw, a, ai, aw, aj, b, bi, bj)                                              \
    (lw_tile_window8(pixels, kh, kw, c, cw, a, ai, aw, aj, b, bi, bj),                                                 \
     lw_tile_window8(pixels, kh, kw, (c) + 8, cw, (a) + 8, ai, aw, aj, (b) + 8, bi, bj))
#endif
/* One column of taps is a row of them. */
#define LW_TILE_WINDOWS(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj)                                            \
    do {                                                                                                               \
        if ((n) == 16 && (kw) == 1) lw_tile_window16(pixels, 1, kh, c, cw, a, 0, aw, ai, b, 0, bi);                    \
        else if ((n) == 16) lw_tile_window16(pixels, kh, kw, c, cw, a, ai, aw, aj, b, bi, bj);                         \
        else if ((n) == 8 && (kw) == 1) lw_tile_window8(pixels, 1, kh, c, cw, a, 0, aw, ai, b, 0, bi);                 \
        else if ((n) == 8) lw_tile_window8(pixels, kh, kw, c, cw, a, ai, aw, aj, b, bi, bj);                           \
        else lw_window(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj);                                            \
    } while (0)
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj) \
    LW_TILE_WINDOWS(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj) \
    LW_TILE_WINDOWS(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj)
#endif
/* lw: end */

/* lw: lw_tile_scale needs lw_v_scales LW_FIXED lw_mulhigh_sat_i32 lw_roundshift_i32 */
#ifdef LW_TILES_SCALE
static inline int8_t lw_tile_scaled(int32_t a, int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most)
{
    const int32_t v = (int32_t)((uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(a, m), s) + (uint32_t)zero);
    return (int8_t)(v < least ? least : v > most ? most : v);
}
/* scales the remaining values, `lanes` at once, and the last ones, fewer than eight, one by one */
#define LW_TILE_ROW(lanes, step) \
    for (; e + lanes <= n; e += lanes) step(lanes)
#if LW_TILES_SCALE == 16
#define LW_TILE_ROWS(step) LW_TILE_ROW(16, step); LW_TILE_ROW(8, step)
#else
#define LW_TILE_ROWS(step) LW_TILE_ROW(8, step)
#endif
#define LW_TILE_POSITIVE (zero <= -128 && least <= -128)
LW_FIXED void lw_tile_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                             const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
#define LW_TILE_SCALE_EACH(lanes, y, a)                                                                                \
    lw_v##lanes##_narrow(y, lw_v##lanes##_scaled(lw_v##lanes##_load_words(a), lw_v##lanes##_load_words(m + e),         \
                                                 lw_v##lanes##_load_shifts(s + e), LW_TILE_POSITIVE, zero >= 0),       \
                         zero, least, most)
#define LW_TILE_EACH(lanes) LW_TILE_SCALE_EACH(lanes, y + e, a + e)
    LW_TILE_ROWS(LW_TILE_EACH);
    for (e = n & -8; e < n; e++) y[e] = lw_tile_scaled(a[e], m[e], s[e], zero, least, most);
}
/* Scales two rows of sums by equal factors. */
static inline void lw_tile_scale2(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, int32_t yw,
                              const int32_t *a, int32_t aw, const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
#define LW_TILE_EACH2(lanes) \
    (LW_TILE_SCALE_EACH(lanes, y + e, a + e), LW_TILE_SCALE_EACH(lanes, y + yw + e, a + aw + e))
    LW_TILE_ROWS(LW_TILE_EACH2);
    for (e = n & -8; e < n; e++) {
        y[e] = lw_tile_scaled(a[e], m[e], s[e], zero, least, most);
        y[yw + e] = lw_tile_scaled(a[aw + e], m[e], s[e], zero, least, most);
    }
}
LW_FIXED void lw_tile_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                 int32_t m, int32_t s)
{
    int32_t e = 0;
#define LW_TILE_ALL(lanes)                                                                                             \
    lw_v##lanes##_narrow(y + e, lw_v##lanes##_scaled(lw_v##lanes##_load_words(a + e), lw_v##lanes##_fill(m),           \
                                                     lw_v##lanes##_fill_shift(s), LW_TILE_POSITIVE,                    \
                                                     m < 0 && zero >= 0),                                              \
                         zero, least, most)
    LW_TILE_ROWS(LW_TILE_ALL);
    for (e = n & -8; e < n; e++) y[e] = lw_tile_scaled(a[e], m, s, zero, least, most);
}
#define LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, yi, a, ai, m, mi, s, si)                                        \
    lw_tile_scale(n, zero, least, most, (y) + (yi), (a) + (ai), (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE2_EACH_I8(n, zero, least, most, y, yi, yw, a, ai, aw, m, mi, s, si)                               \
    lw_tile_scale2(n, zero, least, most, (y) + (yi), yw, (a) + (ai), aw, (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE_I8(n, zero, least, most, y, yi, a, ai, m, s) \
    lw_tile_scale_all(n, zero, least, most, (y) + (yi), (a) + (ai), m, s)
#endif
/* lw: end */

/* lw: lw_tile_add needs lw_tile_scale lw_v_adds */
#ifdef LW_TILES_SCALE
/* A header may have shorter forms of these two for numbers that it calls small. */
#ifndef LW_TILES_IS_SMALL
#define LW_TILES_IS_SMALL(zero, m, s) 0
LW_FIXED lw_v8_words lw_v8_term(const int8_t *p, int32_t zero, int32_t m, int32_t s)
{
    return lw_v8_scaled(lw_v8_shifted(p, zero), lw_v8_fill(m), lw_v8_fill_shift(s), 0, m < 0);
}
LW_FIXED lw_v8_words lw_v8_sum(lw_v8_words v, lw_v8_words w, int are_small, int32_t m, int32_t s, int is_positive,
                               int may_wrap)
{
    (void)are_small;
    return lw_v8_scaled(lw_v8_plus(v, w), lw_v8_fill(m), lw_v8_fill_shift(s), is_positive, may_wrap);
}
#endif
LW_FIXED void lw_tile_add(int32_t n, int32_t za, int32_t ma, int32_t sa, int32_t zb, int32_t mb, int32_t sb,
                           int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most, int8_t *y,
                           const int8_t *a, const int8_t *b)
{
    const int are_small = LW_TILES_IS_SMALL(za, ma, sa) && LW_TILES_IS_SMALL(zb, mb, sb);
    int32_t e = 0;
#define LW_TILE_SUM(lanes)                                                                                            \
    lw_v##lanes##_narrow(y + e, lw_v##lanes##_sum(lw_v##lanes##_term(a + e, za, ma, sa),                               \
                                                  lw_v##lanes##_term(b + e, zb, mb, sb), are_small, m, s,              \
                                                  LW_TILE_POSITIVE, m < 0 && zero >= 0),                               \
                         zero, least, most)
    LW_TILE_ROWS(LW_TILE_SUM);
    for (e = n & -8; e < n; e++) {
        const int32_t v = (int32_t)(((uint32_t)a[e] + (uint32_t)za) << 20);
        const int32_t w = (int32_t)(((uint32_t)b[e] + (uint32_t)zb) << 20);
        const uint32_t sum = (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(v, ma), sa)
                             + (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(w, mb), sb);
        y[e] = lw_tile_scaled((int32_t)sum, m, s, zero, least, most);
    }
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_tile_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_tile_pool needs lw_v_pools lw_sum_window */
#ifdef LW_TILES_POOL
/* Sums up to 256 bytes for each of eight channels, in 16-bit lanes. */
static inline void lw_tile_sum8(int32_t kh, int32_t kw, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    lw_v8_halves sum = lw_v8_no_halves();
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) sum = lw_v8_add_bytes(sum, a + i * ai + j * aj);
    lw_v8_add_halves(y, sum);
}
static inline void lw_tile_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int32_t e = 0;
    for (; e + LW_TILES_POOL <= n; e += LW_TILES_POOL) {
        lw_v_most most = lw_v_load_most(y + e);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) most = lw_v_max(most, a + i * ai + j * aj + e);
        lw_v_store_most(y + e, most);
    }
    for (; e < n; e++)
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) y[e] = a[i * ai + j * aj + e] > y[e] ? a[i * ai + j * aj + e] : y[e];
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj)                                                         \
    do {                                                                                                               \
        if (((n) == 8 || (n) == 16) && (kh) * (kw) <= 256) {                                                           \
            lw_tile_sum8(kh, kw, (y) + (yi), (a) + (at), ai, aj);                                                      \
            if ((n) == 16) lw_tile_sum8(kh, kw, (y) + (yi) + 8, (a) + (at) + 8, ai, aj);                               \
        } else lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj);                                               \
    } while (0)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_tile_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */

/* lw: lw_tile_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_SSE4 || LW_SIMD_NEON_BYTES || defined(LW_TILES_COPY)
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n)))
#define LW_ROWS_FILL_I8(n, y, yi, fill) ((void)memset((y) + (yi), fill, (size_t)(n)))
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n) * 4))
#define LW_ROWS_COPY2_I32(n, y, yi, yw, a, ai) \
    (LW_ROWS_COPY_I32(n, y, yi, a, ai), LW_ROWS_COPY_I32(n, y, (yi) + (yw), a, ai))
#endif
/* lw: end */
#endif
