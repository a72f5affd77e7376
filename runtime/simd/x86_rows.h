/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on x86-64: products of bytes as 16-bit pairs, with PMADDWD of SSE2 and AVX2, or VPDPWSSD of
 * AVX-512 VNNI, which adds the sum of the pair as well. Sums of pairs are at most 2 * 2^14: nothing saturates. The tail
 * of a row is loaded with zeros in the other lanes; no load leaves the row. Panels are in x86_panels.h. */
#ifndef LW_SIMD_X86_ROWS_H
#define LW_SIMD_X86_ROWS_H

#include "../lw_base.h"
#include "../lw_fixed.h"
#include "simd.h"

/* lw: lw_x86_pairs needs LW_SIMD_CHOICE */
#if LW_SIMD_SSE4
static inline __m128i lw_x86_wide8(const int8_t *p)
{
    return _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
/* The first n bytes, fewer than 8, and zeros. */
static inline __m128i lw_x86_wide_part(const int8_t *p, int32_t n)
{
    int8_t all[8] = { 0 };
    memcpy(all, p, (size_t)n);
    return lw_x86_wide8(all);
}
static inline __m128i lw_x86_add_pairs(__m128i sum, __m128i a, __m128i b)
{
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm_dpwssd_epi32(sum, a, b);
#else
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
#endif
}
/* The sums of four vectors, in their order. */
static inline __m128i lw_x86_across(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return _mm_hadd_epi32(_mm_hadd_epi32(a, b), _mm_hadd_epi32(c, d));
}
#endif
#if LW_SIMD_AVX2
static inline __m256i lw_x86_wide16(const int8_t *p)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline __m256i lw_x86_add_pairs16(__m256i sum, __m256i a, __m256i b)
{
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_dpwssd_epi32(sum, a, b);
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}
/* A sum stays in its register: gcc would compute several rows of a tile at once, which it has no registers for. */
#if !defined(__GNUC__)
#define LW_X86_KEEP(sum) ((void)0)
#elif defined(__AVX512VL__)
#define LW_X86_KEEP(sum) __asm__("" : "+v"(sum))
#else
#define LW_X86_KEEP(sum) __asm__("" : "+x"(sum))
#endif
static inline __m128i lw_x86_halves(__m256i a)
{
    return _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
}
#endif
/* lw: end */

/* lw: lw_x86_dots needs lw_x86_pairs */
#if LW_SIMD_SSE4
/* Four sums: x by k0 and k1, y by k2 and k3. Variables, not arrays: compilers keep these in registers. */
#define LW_X86_STEP(add, wide, e, s0, s1, s2, s3)                                                                      \
    (s0 = add(s0, wide(x + (e)), wide(k0 + (e))), s1 = add(s1, wide(x + (e)), wide(k1 + (e))),                         \
     s2 = add(s2, wide(y + (e)), wide(k2 + (e))), s3 = add(s3, wide(y + (e)), wide(k3 + (e))))
static inline __m128i lw_x86_dot(int32_t n, const int8_t *x, const int8_t *y, const int8_t *k0, const int8_t *k1,
                                 const int8_t *k2, const int8_t *k3)
{
    __m128i s0 = _mm_setzero_si128(), s1 = s0, s2 = s0, s3 = s0;
    int32_t e = 0;
#if LW_SIMD_AVX2
    if (n >= 16) {
        __m256i w0 = _mm256_setzero_si256(), w1 = w0, w2 = w0, w3 = w0;
        for (; e + 16 <= n; e += 16) LW_X86_STEP(lw_x86_add_pairs16, lw_x86_wide16, e, w0, w1, w2, w3);
        s0 = lw_x86_halves(w0);
        s1 = lw_x86_halves(w1);
        s2 = lw_x86_halves(w2);
        s3 = lw_x86_halves(w3);
    }
#endif
    for (; e + 8 <= n; e += 8) LW_X86_STEP(lw_x86_add_pairs, lw_x86_wide8, e, s0, s1, s2, s3);
    if (e < n) {
#define LW_X86_PART(p) lw_x86_wide_part(p, n - e)
        LW_X86_STEP(lw_x86_add_pairs, LW_X86_PART, e, s0, s1, s2, s3);
#undef LW_X86_PART
    }
    return lw_x86_across(s0, s1, s2, s3);
}
static inline void lw_x86_2x2(int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw, const int8_t *b,
                              int32_t bo)
{
    const __m128i begin = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)c),
                                             _mm_loadl_epi64((const __m128i *)(const void *)(c + cw)));
    const __m128i end = _mm_add_epi32(begin, lw_x86_dot(n, a, a + aw, b, b + bo, b, b + bo));
    _mm_storel_epi64((__m128i *)(void *)c, end);
    _mm_storel_epi64((__m128i *)(void *)(c + cw), _mm_unpackhi_epi64(end, end));
}
static inline void lw_x86_1x4(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    __m128i *to = (__m128i *)(void *)c;
    _mm_storeu_si128(to, _mm_add_epi32(_mm_loadu_si128(to), lw_x86_dot(n, a, a, b, b + bo, b + 2 * bo, b + 3 * bo)));
}
static inline void lw_x86_1x2(int32_t n, int32_t *c, const int8_t *a, const int8_t *b, int32_t bo)
{
    __m128i *to = (__m128i *)(void *)c;
    _mm_storel_epi64(to, _mm_add_epi32(_mm_loadl_epi64(to), lw_x86_dot(n, a, a, b, b + bo, b, b + bo)));
}
static inline int32_t lw_x86_1x1(int32_t n, int32_t c, const int8_t *a, const int8_t *b)
{
    return (int32_t)((uint32_t)c + (uint32_t)_mm_cvtsi128_si32(lw_x86_dot(n, a, a, b, b, b, b)));
}
#define LW_ROWS_DOT_2X2_I8(n, c, ci, cw, a, ai, aw, b, bi, bo) \
    lw_x86_2x2(n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi), bo)
#define LW_ROWS_DOT_1X4_I8(n, c, ci, a, ai, b, bi, bo) lw_x86_1x4(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_ROWS_DOT_1X2_I8(n, c, ci, a, ai, b, bi, bo) lw_x86_1x2(n, (c) + (ci), (a) + (ai), (b) + (bi), bo)
#define LW_X86_DOT(n, c, ci, a, ai, b, bi) ((c)[ci] = lw_x86_1x1(n, (c)[ci], (a) + (ai), (b) + (bi)))
#define LW_ROWS_DOT_1X1_I8(n, c, ci, a, ai, b, bi) LW_X86_DOT(n, c, ci, a, ai, b, bi)
#define LW_ROWS_DOT_2X1_I8(n, c, ci, cw, a, ai, aw, b, bi) \
    (LW_X86_DOT(n, c, ci, a, ai, b, bi), LW_X86_DOT(n, c, (ci) + (cw), a, (ai) + (aw), b, bi))
#endif
/* lw: end */

/* lw: lw_x86_widen needs lw_x86_pairs */
#if LW_SIMD_SSE4
static inline void lw_x86_widen(int32_t n, int16_t *y, const int8_t *a)
{
    int32_t e = 0;
    for (; e + 8 <= n; e += 8) _mm_storeu_si128((__m128i *)(void *)(y + e), lw_x86_wide8(a + e));
    for (; e < n; e++) y[e] = a[e];
}
#define LW_ROWS_COPY_I16(n, y, yi, a, ai) lw_x86_widen(n, (y) + (yi), (a) + (ai))
#endif
/* lw: end */

/* lw: lw_row_copies needs LW_SIMD_CHOICE */
#if LW_SIMD_SSE4
#define LW_ROWS_COPY_I8(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n)))
#define LW_ROWS_FILL_I8(n, y, yi, fill) ((void)memset((y) + (yi), fill, (size_t)(n)))
#endif
/* lw: end */

/* lw: lw_x86_begin needs LW_SIMD_CHOICE */
#if LW_SIMD_SSE4
#define LW_ROWS_COPY_I32(n, y, yi, a, ai) ((void)memcpy((y) + (yi), (a) + (ai), (size_t)(n) * 4))
#define LW_ROWS_COPY2_I32(n, y, yi, yw, a, ai) \
    (LW_ROWS_COPY_I32(n, y, yi, a, ai), LW_ROWS_COPY_I32(n, y, (yi) + (yw), a, ai))
#endif
/* lw: end */

/* lw: lw_row_window needs lw_x86_pairs lw_window */
#if LW_SIMD_AVX2
/* Eight channels of `pixels` windows, 1 or 2, a literal. Two taps are the halves of a pair. */
static inline void lw_x86_window(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                 int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    __m256i sum[2];
    for (int32_t p = 0; p < pixels; p++) sum[p] = _mm256_loadu_si256((const __m256i *)(const void *)(c + p * cw));
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j += 2) {
            const int8_t *x = a + i * ai + j * aj, *k = b + i * bi + j * bj;
            const int32_t has_two = j + 1 < kw;
            const __m128i w = lw_x86_wide8(k), w1 = has_two ? lw_x86_wide8(k + bj) : _mm_setzero_si128();
            const __m256i weights = _mm256_set_m128i(_mm_unpackhi_epi16(w, w1), _mm_unpacklo_epi16(w, w1));
            for (int32_t p = 0; p < pixels; p++) {
                const __m128i v = lw_x86_wide8(x + p * aw), v1 = has_two ? lw_x86_wide8(x + aj + p * aw) : v;
                const __m256i values = _mm256_set_m128i(_mm_unpackhi_epi16(v, v1), _mm_unpacklo_epi16(v, v1));
                sum[p] = lw_x86_add_pairs16(sum[p], values, weights);
            }
        }
    for (int32_t p = 0; p < pixels; p++) _mm256_storeu_si256((__m256i *)(void *)(c + p * cw), sum[p]);
}
/* Two adjacent taps of a row for sixteen channels, interleaved: channels 0 to 7 in `low`, 8 to 15 in `high`. */
typedef struct lw_x86_taps { __m256i low, high; } lw_x86_taps;
static inline lw_x86_taps lw_x86_two_taps(const int8_t *p, int32_t aj, int32_t has_two)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i v1 = has_two ? _mm_loadu_si128((const __m128i *)(const void *)(p + aj)) : _mm_setzero_si128();
    return (lw_x86_taps){ _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(v, v1)),
                          _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(v, v1)) };
}
static inline void lw_x86_window16(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                   int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    __m256i *to = (__m256i *)(void *)c, *to1 = (__m256i *)(void *)(pixels > 1 ? c + cw : c);
    __m256i s0 = _mm256_loadu_si256(to), t0 = _mm256_loadu_si256(to + 1);
    __m256i s1 = _mm256_loadu_si256(to1), t1 = _mm256_loadu_si256(to1 + 1);
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j += 2) {
            const int8_t *x = a + i * ai + j * aj;
            const lw_x86_taps k = lw_x86_two_taps(b + i * bi + j * bj, bj, j + 1 < kw);
            const lw_x86_taps v = lw_x86_two_taps(x, aj, j + 1 < kw);
            s0 = lw_x86_add_pairs16(s0, v.low, k.low);
            t0 = lw_x86_add_pairs16(t0, v.high, k.high);
            if (pixels > 1) {
                const lw_x86_taps u = lw_x86_two_taps(x + aw, aj, j + 1 < kw);
                s1 = lw_x86_add_pairs16(s1, u.low, k.low);
                t1 = lw_x86_add_pairs16(t1, u.high, k.high);
            }
        }
    _mm256_storeu_si256(to, s0);
    _mm256_storeu_si256(to + 1, t0);
    if (pixels > 1) _mm256_storeu_si256(to1, s1);
    if (pixels > 1) _mm256_storeu_si256(to1 + 1, t1);
}
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
/* Sixteen channels, a lane each, of four taps of a row: byte t of a lane is tap t, or zero for t >= n. Loads under
 * masks fill the quarters of a register with the taps, before one permutation of bytes, or two. */
static inline __m512i lw_x86_four_taps(const int8_t *p, int32_t aj, int32_t n)
{
#define LW_X86_TAP(t) _mm_loadu_si128((const __m128i *)(const void *)(p + (t) * aj))
#define LW_X86_QUARTER(t) \
    if ((t) < n) v = _mm512_mask_broadcast_i32x4(v, (__mmask16)(15 << 4 * (t)), LW_X86_TAP(t))
    __m512i v = _mm512_zextsi128_si512(LW_X86_TAP(0));
    LW_X86_QUARTER(1);
    LW_X86_QUARTER(2);
    LW_X86_QUARTER(3);
#undef LW_X86_TAP
#undef LW_X86_QUARTER
#ifdef __AVX512VBMI__
    return _mm512_permutexvar_epi8(_mm512_set_epi32(0x3f2f1f0f, 0x3e2e1e0e, 0x3d2d1d0d, 0x3c2c1c0c,
                                                    0x3b2b1b0b, 0x3a2a1a0a, 0x39291909, 0x38281808,
                                                    0x37271707, 0x36261606, 0x35251505, 0x34241404,
                                                    0x33231303, 0x32221202, 0x31211101, 0x30201000), v);
#else
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i turn = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(order, v), turn);
#endif
}
/* One pixel, or two that are a row apart and share the taps of the rows between. VPDPBUSD takes the elements plus 128;
 * `more` is what that adds. */
static inline void lw_x86_window_quads(int32_t pixels, int32_t kh, int32_t kw, int32_t *c, int32_t cw, const int8_t *a,
                                       int32_t ai, int32_t aw, int32_t aj, const int8_t *b, int32_t bi, int32_t bj)
{
    const __m512i offset = _mm512_set1_epi32((int32_t)0x80808080u);
    const int32_t is_shared = pixels > 1 && aw == ai && kw <= 4;
    int32_t *c1 = pixels > 1 ? c + cw : c;
    __m512i s0 = _mm512_loadu_si512(c), s1 = _mm512_loadu_si512(c1), more = _mm512_setzero_si512(), before = more;
#define LW_X86_TAPS(i, j)                                                                                              \
    do {                                                                                                               \
        const int8_t *x = a + (i) * ai + (j) * aj;                                                                     \
        const __m512i v = _mm512_xor_si512(lw_x86_four_taps(x, aj, kw - (j)), offset);                                 \
        if (is_shared && (i) > 0) s1 = _mm512_dpbusd_epi32(s1, v, before);                                             \
        if ((i) == kh) break;                                                                                          \
        const __m512i k = before = lw_x86_four_taps(b + (i) * bi + (j) * bj, bj, kw - (j));                            \
        more = _mm512_dpbusd_epi32(more, offset, k);                                                                   \
        s0 = _mm512_dpbusd_epi32(s0, v, k);                                                                            \
        if (pixels > 1 && !is_shared)                                                                                  \
            s1 = _mm512_dpbusd_epi32(s1, _mm512_xor_si512(lw_x86_four_taps(x + aw, aj, kw - (j)), offset), k);         \
    } while (0)
    /* Without a loop, gcc moves what depends on weights alone out of the loop over tiles. */
    if (kh == 3 && kw <= 4) {
        LW_X86_TAPS(0, 0);
        LW_X86_TAPS(1, 0);
        LW_X86_TAPS(2, 0);
        if (is_shared) LW_X86_TAPS(3, 0);
    } else
        for (int32_t i = 0; i < kh + is_shared; i++)
            for (int32_t j = 0; j < kw; j += 4) LW_X86_TAPS(i, j);
#undef LW_X86_TAPS
    _mm512_storeu_si512(c, _mm512_sub_epi32(s0, more));
    if (pixels > 1) _mm512_storeu_si512(c1, _mm512_sub_epi32(s1, more));
}
#else
#define lw_x86_window_quads lw_x86_window16
#endif
/* One column of taps is a row of them. */
#define LW_X86_WINDOW(pixels, kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                  \
    do {                                                                                                               \
        if ((n) == 16 && (kw) == 1)                                                                                    \
            lw_x86_window_quads(pixels, 1, kh, (c) + (ci), cw, (a) + (at), 0, aw, ai, (b) + (bt), 0, bi);              \
        else if ((n) == 16)                                                                                            \
            lw_x86_window_quads(pixels, kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);           \
        else if ((n) == 8) lw_x86_window(pixels, kh, kw, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);  \
        else lw_window(pixels, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj);                 \
    } while (0)
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj) \
    LW_X86_WINDOW(2, kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj) \
    LW_X86_WINDOW(1, kh, kw, n, c, ci, 0, a, at, ai, 0, aj, b, bt, bi, bj)
#endif
/* lw: end */

/* lw: lw_x86_scale needs LW_SIMD_CHOICE lw_mulhigh_sat_i32 lw_roundshift_i32 */
#if LW_SIMD_AVX2
/* a*b / 2^31, rounded to nearest, ties up: the bits 31 to 62 of the 64-bit products. Only least * least has more. */
static inline __m256i lw_x86_high_bits(__m256i a, __m256i b)
{
    const __m256i half = _mm256_set1_epi64x(0x40000000);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, b), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), half);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xaa);
}
/* As above; least * least is 2^31 - 1, the complement of its bits. */
static inline __m256i lw_x86_mulhigh(__m256i a, __m256i b)
{
    const __m256i high = lw_x86_high_bits(a, b);
    return _mm256_xor_si256(high, _mm256_cmpeq_epi32(high, _mm256_set1_epi32(INT32_MIN)));
}
/* a / 2^s to nearest, ties away from zero; `mask` is 2^s - 1. */
static inline __m256i lw_x86_roundshift(__m256i a, __m256i s, __m256i mask)
{
    const __m256i tie = _mm256_sub_epi32(_mm256_srli_epi32(mask, 1), _mm256_srai_epi32(a, 31));
    const __m256i up = _mm256_cmpgt_epi32(_mm256_and_si256(a, mask), tie);
    return _mm256_sub_epi32(_mm256_srav_epi32(a, s), up);
}
static inline __m256i lw_x86_mask(__m256i s)
{
    return _mm256_sub_epi32(_mm256_sllv_epi32(_mm256_set1_epi32(1), s), _mm256_set1_epi32(1));
}
/* Stores eight values plus `zero` between least and most as bytes, which saturate at their own limits. */
static inline void lw_x86_store(int8_t *y, __m256i v, int32_t zero, int32_t least, int32_t most)
{
    v = _mm256_add_epi32(v, _mm256_set1_epi32(zero));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    __m128i bytes = _mm_packs_epi16(words, words);
    if (least > -128) bytes = _mm_max_epi8(bytes, _mm_set1_epi8((int8_t)least));
    if (most < 127) bytes = _mm_min_epi8(bytes, _mm_set1_epi8((int8_t)most));
    _mm_storel_epi64((__m128i *)(void *)y, bytes);
}
#if LW_SIMD_AVX512
/* The same steps in 16 lanes. */
static inline __m512i lw_x86_high_bits16(__m512i a, __m512i b)
{
    const __m512i half = _mm512_set1_epi64(0x40000000);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(a, b), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)), half);
    return _mm512_mask_mov_epi32(_mm512_srli_epi64(even, 31), 0xaaaa, _mm512_slli_epi64(odd, 1));
}
static inline __m512i lw_x86_mulhigh16(__m512i a, __m512i b)
{
    const __m512i high = lw_x86_high_bits16(a, b), least = _mm512_set1_epi32(INT32_MIN);
    return _mm512_mask_sub_epi32(high, _mm512_cmpeq_epi32_mask(high, least), high, _mm512_set1_epi32(1));
}
static inline __m512i lw_x86_roundshift16(__m512i a, __m512i s, __m512i mask)
{
    const __m512i tie = _mm512_sub_epi32(_mm512_srli_epi32(mask, 1), _mm512_srai_epi32(a, 31));
    const __m512i down = _mm512_srav_epi32(a, s);
    return _mm512_mask_add_epi32(down, _mm512_cmpgt_epi32_mask(_mm512_and_si512(a, mask), tie), down,
                                 _mm512_set1_epi32(1));
}
static inline __m512i lw_x86_mask16(__m512i s)
{
    return _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), s), _mm512_set1_epi32(1));
}
/* The roundings of products are one 64-bit shift, because floor(floor(x / 2^31 + h) / 2^s) is
 * floor((x + 2^31 h) / 2^(31+s)). Where values below 0 saturate (is_positive), their ties do not matter. */
static inline __m512i lw_x86_scaled8(__m512i product, __m512i s, int is_positive)
{
    const __m512i half = _mm512_set1_epi64(0x40000000), places = _mm512_add_epi64(s, _mm512_set1_epi64(31));
    const __m512i halves = _mm512_or_si512(half, _mm512_sllv_epi64(half, s));      /* one, or both if s > 0 */
    __m512i sum = _mm512_add_epi64(product, halves);
    if (!is_positive) {
        const __mmask8 is_shifted = _mm512_test_epi64_mask(s, s);
        const __mmask8 is_tied = _mm512_mask_cmplt_epi64_mask(is_shifted, product, _mm512_set1_epi64(-0x40000000));
        sum = _mm512_mask_sub_epi64(sum, is_tied, sum, _mm512_set1_epi64(0x80000000));
    }
    return _mm512_srav_epi64(sum, places);
}
/* The least product, which saturates, is 2^31 and wraps: with a zero point below 0 it is positive again. */
static inline __m512i lw_x86_scaled16(__m512i a, __m512i m, __m512i s, int is_positive, int may_wrap)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff), least = _mm512_set1_epi32(INT32_MIN);
    const __m512i even = lw_x86_scaled8(_mm512_mul_epi32(a, m), _mm512_and_si512(s, low), is_positive);
    const __m512i odd = lw_x86_scaled8(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(m, 32)),
                                       _mm512_srli_epi64(s, 32), is_positive);
    const __m512i v = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, 0xa0);
    return may_wrap ? _mm512_mask_sub_epi32(v, _mm512_cmpeq_epi32_mask(v, least), v, _mm512_set1_epi32(1)) : v;
}
static inline void lw_x86_store16(int8_t *y, __m512i v, int32_t zero, int32_t least, int32_t most)
{
    v = _mm512_add_epi32(v, _mm512_set1_epi32(zero));
    if (least > -128) v = _mm512_max_epi32(v, _mm512_set1_epi32(least));
    if (most < 127) v = _mm512_min_epi32(v, _mm512_set1_epi32(most));
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtsepi32_epi8(v));
}
#endif
static inline int8_t lw_x86_scaled(int32_t a, int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most)
{
    const uint32_t sum = (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(a, m), s) + (uint32_t)zero;
    const int32_t v = (int32_t)sum;
    return (int8_t)(v < least ? least : v > most ? most : v);
}
static inline void lw_x86_scale(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
#if LW_SIMD_AVX512
    for (; e + 16 <= n; e += 16) {
        const __m512i shift = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(s + e)));
        const __m512i v = lw_x86_scaled16(_mm512_loadu_si512(a + e), _mm512_loadu_si512(m + e), shift,
                                          zero <= -128 && least <= -128, zero >= 0);
        lw_x86_store16(y + e, v, zero, least, most);
    }
#endif
    for (; e + 8 <= n; e += 8) {
        const __m256i shift = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(s + e)));
        const __m256i factor = _mm256_loadu_si256((const __m256i *)(const void *)(m + e));
        const __m256i v = lw_x86_mulhigh(_mm256_loadu_si256((const __m256i *)(const void *)(a + e)), factor);
        lw_x86_store(y + e, lw_x86_roundshift(v, shift, lw_x86_mask(shift)), zero, least, most);
    }
    for (e = n & -8; e < n; e++) y[e] = lw_x86_scaled(a[e], m[e], s[e], zero, least, most);
}
/* Two rows of sums by the same factors. */
static inline void lw_x86_scale_pair(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, int32_t yw,
                                     const int32_t *a, int32_t aw, const int32_t *m, const uint8_t *s)
{
    int32_t e = 0;
#if LW_SIMD_AVX512
    for (; e + 16 <= n; e += 16) {
        const __m512i shift = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(s + e)));
        const __m512i factor = _mm512_loadu_si512(m + e);
        const int is_positive = zero <= -128 && least <= -128, may_wrap = zero >= 0;
        const __m512i v = lw_x86_scaled16(_mm512_loadu_si512(a + e), factor, shift, is_positive, may_wrap),
                      w = lw_x86_scaled16(_mm512_loadu_si512(a + aw + e), factor, shift, is_positive, may_wrap);
        lw_x86_store16(y + e, v, zero, least, most);
        lw_x86_store16(y + yw + e, w, zero, least, most);
    }
#endif
    lw_x86_scale(n - e, zero, least, most, y + e, a + e, m + e, s + e);
    lw_x86_scale(n - e, zero, least, most, y + yw + e, a + aw + e, m + e, s + e);
}
static inline void lw_x86_scale_all(int32_t n, int32_t zero, int32_t least, int32_t most, int8_t *y, const int32_t *a,
                                    int32_t m, int32_t s)
{
    const __m256i factor = _mm256_set1_epi32(m), shift = _mm256_set1_epi32(s), mask = lw_x86_mask(shift);
    int32_t e = 0;
#if LW_SIMD_AVX512
    for (; e + 16 <= n; e += 16) {
        const __m512i v = lw_x86_scaled16(_mm512_loadu_si512(a + e), _mm512_set1_epi32(m), _mm512_set1_epi32(s),
                                          zero <= -128 && least <= -128, m < 0 && zero >= 0);
        lw_x86_store16(y + e, v, zero, least, most);
    }
#endif
    for (; e + 8 <= n; e += 8) {
        const __m256i v = lw_x86_mulhigh(_mm256_loadu_si256((const __m256i *)(const void *)(a + e)), factor);
        lw_x86_store(y + e, lw_x86_roundshift(v, shift, mask), zero, least, most);
    }
    for (e = n & -8; e < n; e++) y[e] = lw_x86_scaled(a[e], m, s, zero, least, most);
}
#define LW_ROWS_SCALE_EACH_I8(n, zero, least, most, y, yi, a, ai, m, mi, s, si)                                        \
    lw_x86_scale(n, zero, least, most, (y) + (yi), (a) + (ai), (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE2_EACH_I8(n, zero, least, most, y, yi, yw, a, ai, aw, m, mi, s, si)                               \
    lw_x86_scale_pair(n, zero, least, most, (y) + (yi), yw, (a) + (ai), aw, (m) + (mi), (s) + (si))
#define LW_ROWS_SCALE_I8(n, zero, least, most, y, yi, a, ai, m, s) \
    lw_x86_scale_all(n, zero, least, most, (y) + (yi), (a) + (ai), m, s)
#endif
/* lw: end */

/* lw: lw_x86_add needs lw_x86_scale */
#if LW_SIMD_AVX2
/* The numbers are literals, so one form is compiled. The usual numbers are small: no sum passes 32 bits, and mulhigh of
 * t << 20 with |t| < 512 and m = h*2^11 + l is t*h + ((t*l + 2^10) >> 11), exactly. */
#define LW_X86_IS_SMALL(zero, m, s) ((zero) > -256 && (zero) < 256 && (m) >= 0 && (s) <= 30)
/* a / 2^s as lw_x86_roundshift, where a + 2^(s-1) does not pass 32 bits. */
static inline __m256i lw_x86_shift(__m256i a, int32_t s)
{
    const __m256i half = _mm256_set1_epi32((1 << s) >> 1);
    return s ? _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(a, _mm256_srai_epi32(a, 31)), half), s) : a;
}
static inline __m256i lw_x86_term(const int8_t *a, int32_t zero, int32_t m, int32_t s)
{
    const __m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)a));
    const __m256i t = _mm256_add_epi32(v, _mm256_set1_epi32(zero));
    if (!LW_X86_IS_SMALL(zero, m, s)) {
        const __m256i shift = _mm256_set1_epi32(s);
        const __m256i high = lw_x86_mulhigh(_mm256_slli_epi32(t, 20), _mm256_set1_epi32(m));
        return lw_x86_roundshift(high, shift, lw_x86_mask(shift));
    }
    if (m == 1 << 30) return lw_x86_shift(_mm256_slli_epi32(t, 19), s);
    const __m256i low = _mm256_mullo_epi32(t, _mm256_set1_epi32(m & 2047));
    const __m256i rest = _mm256_srai_epi32(_mm256_add_epi32(low, _mm256_set1_epi32(1 << 10)), 11);
    return lw_x86_shift(_mm256_add_epi32(_mm256_mullo_epi32(t, _mm256_set1_epi32(m >> 11)), rest), s);
}
/* The sum of two terms, scaled; are_small: of the small form, so below 2^30. */
static inline __m256i lw_x86_sum(__m256i sum, int are_small, int32_t m, int32_t s)
{
    const __m256i shift = _mm256_set1_epi32(s), factor = _mm256_set1_epi32(m);
    if (are_small && m >= 0 && s <= 30) return lw_x86_shift(lw_x86_high_bits(sum, factor), s);
    return lw_x86_roundshift(lw_x86_mulhigh(sum, factor), shift, lw_x86_mask(shift));
}
#if LW_SIMD_AVX512
/* As above, in 16 lanes. */
static inline __m512i lw_x86_shift16(__m512i a, int32_t s)
{
    const __m512i half = _mm512_set1_epi32((1 << s) >> 1), below = _mm512_srai_epi32(a, 31);
    return s ? _mm512_srai_epi32(_mm512_add_epi32(_mm512_add_epi32(a, below), half), (unsigned)s) : a;
}
static inline __m512i lw_x86_term16(const int8_t *a, int32_t zero, int32_t m, int32_t s)
{
    const __m512i v = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)a));
    const __m512i t = _mm512_add_epi32(v, _mm512_set1_epi32(zero));
    if (!LW_X86_IS_SMALL(zero, m, s)) {
        const __m512i shift = _mm512_set1_epi32(s);
        const __m512i high = lw_x86_mulhigh16(_mm512_slli_epi32(t, 20), _mm512_set1_epi32(m));
        return lw_x86_roundshift16(high, shift, lw_x86_mask16(shift));
    }
    if (m == 1 << 30) return lw_x86_shift16(_mm512_slli_epi32(t, 19), s);
    const __m512i low = _mm512_mullo_epi32(t, _mm512_set1_epi32(m & 2047));
    const __m512i rest = _mm512_srai_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(1 << 10)), 11);
    return lw_x86_shift16(_mm512_add_epi32(_mm512_mullo_epi32(t, _mm512_set1_epi32(m >> 11)), rest), s);
}
#endif
static inline void lw_x86_add(int32_t n, int32_t za, int32_t ma, int32_t sa, int32_t zb, int32_t mb, int32_t sb,
                              int32_t m, int32_t s, int32_t zero, int32_t least, int32_t most, int8_t *y,
                              const int8_t *a, const int8_t *b)
{
    const int are_small = LW_X86_IS_SMALL(za, ma, sa) && LW_X86_IS_SMALL(zb, mb, sb);
    int32_t e = 0;
#if LW_SIMD_AVX512
    for (; e + 16 <= n; e += 16) {
        const __m512i sum = _mm512_add_epi32(lw_x86_term16(a + e, za, ma, sa), lw_x86_term16(b + e, zb, mb, sb));
        const __m512i v = lw_x86_scaled16(sum, _mm512_set1_epi32(m), _mm512_set1_epi32(s),
                                          zero <= -128 && least <= -128, m < 0 && zero >= 0);
        lw_x86_store16(y + e, v, zero, least, most);
    }
#endif
    for (; e + 8 <= n; e += 8) {
        const __m256i sum = _mm256_add_epi32(lw_x86_term(a + e, za, ma, sa), lw_x86_term(b + e, zb, mb, sb));
        lw_x86_store(y + e, lw_x86_sum(sum, are_small, m, s), zero, least, most);
    }
    for (e = n & -8; e < n; e++) {
        const int32_t v = (int32_t)(((uint32_t)a[e] + (uint32_t)za) << 20);
        const int32_t w = (int32_t)(((uint32_t)b[e] + (uint32_t)zb) << 20);
        const uint32_t sum = (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(v, ma), sa)
                             + (uint32_t)lw_roundshift_i32(lw_mulhigh_sat_i32(w, mb), sb);
        y[e] = lw_x86_scaled((int32_t)sum, m, s, zero, least, most);
    }
}
#define LW_ROWS_ADD_I8(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, y, yi, a, ai, b, bi)                        \
    lw_x86_add(n, za, ma, sa, zb, mb, sb, m, s, zero, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_x86_add_line needs lw_x86_scale */
#if LW_SIMD_AVX2
/* Pairs of a and b by the upper and by the lower parts of the slopes; the sum of both is exact above its 7 lowest bits.
 */
static inline void lw_x86_add_line(int32_t n, int32_t ka, int32_t la, int32_t kb, int32_t lb, int32_t c, int32_t s,
                                   int32_t least, int32_t most, int8_t *y, const int8_t *a, const int8_t *b)
{
    const int32_t k = ka | kb << 16, l = la | lb << 16;
    int32_t e = 0;
#if LW_SIMD_AVX512 && defined(__AVX512BW__)
    for (; e + 16 <= n; e += 16) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(a + e)),
                      w = _mm_loadu_si128((const __m128i *)(const void *)(b + e));
        const __m512i pairs = _mm512_cvtepi8_epi16(_mm256_set_m128i(_mm_unpackhi_epi8(v, w), _mm_unpacklo_epi8(v, w)));
        const __m512i upper = _mm512_slli_epi32(_mm512_madd_epi16(pairs, _mm512_set1_epi32(k)), 8);
        const __m512i lower = _mm512_srai_epi32(_mm512_madd_epi16(pairs, _mm512_set1_epi32(l)), 7);
        const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(upper, lower), _mm512_set1_epi32(c));
        lw_x86_store16(y + e, _mm512_srai_epi32(sum, (unsigned)s), 0, least, most);
    }
#endif
    for (; e + 8 <= n; e += 8) {
        const __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(a + e)),
                      w = _mm_loadl_epi64((const __m128i *)(const void *)(b + e));
        const __m256i pairs = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(v, w));
        const __m256i upper = _mm256_slli_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi32(k)), 8);
        const __m256i lower = _mm256_srai_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi32(l)), 7);
        const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(upper, lower), _mm256_set1_epi32(c));
        lw_x86_store(y + e, _mm256_srai_epi32(sum, s), 0, least, most);
    }
    for (e = n & -8; e < n; e++) {
        const int32_t upper = a[e] * ka + b[e] * kb, lower = a[e] * la + b[e] * lb;
        const int32_t v = lw_asr_i32((int32_t)((uint32_t)upper << 8) + lw_asr_i32(lower, 7) + c, s);
        y[e] = (int8_t)(v < least ? least : v > most ? most : v);
    }
}
#define LW_ROWS_ADD_LINE_I8(n, ka, la, kb, lb, c, s, least, most, y, yi, a, ai, b, bi) \
    lw_x86_add_line(n, ka, la, kb, lb, c, s, least, most, (y) + (yi), (a) + (ai), (b) + (bi))
#endif
/* lw: end */

/* lw: lw_row_pool needs lw_x86_pairs lw_sum_window */
#if LW_SIMD_AVX2
/* Sums of eight channels in 16-bit lanes, of up to 256 bytes each. */
static inline void lw_x86_sum8(int32_t kh, int32_t kw, int32_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    __m256i *to = (__m256i *)(void *)y;
    __m128i sum = _mm_setzero_si128();
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++) sum = _mm_add_epi16(sum, lw_x86_wide8(a + i * ai + j * aj));
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), _mm256_cvtepi16_epi32(sum)));
}
static inline void lw_x86_max(int32_t kh, int32_t kw, int32_t n, int8_t *y, const int8_t *a, int32_t ai, int32_t aj)
{
    int32_t e = 0;
    for (; e + 16 <= n; e += 16) {
        __m128i *to = (__m128i *)(void *)(y + e), most = _mm_loadu_si128(to);
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++)
                most = _mm_max_epi8(most, _mm_loadu_si128((const __m128i *)(const void *)(a + i * ai + j * aj + e)));
        _mm_storeu_si128(to, most);
    }
    for (; e < n; e++)
        for (int32_t i = 0; i < kh; i++)
            for (int32_t j = 0; j < kw; j++) y[e] = a[i * ai + j * aj + e] > y[e] ? a[i * ai + j * aj + e] : y[e];
}
#define LW_ROWS_SUM_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj)                                                         \
    do {                                                                                                               \
        if ((n) == 8 && (kh) * (kw) <= 256) lw_x86_sum8(kh, kw, (y) + (yi), (a) + (at), ai, aj);                       \
        else lw_sum_window(kh, kw, n, (y) + (yi), (a) + (at), ai, aj);                                                 \
    } while (0)
#define LW_ROWS_MAX_WINDOW_I8(kh, kw, n, y, yi, a, at, ai, aj) lw_x86_max(kh, kw, n, (y) + (yi), (a) + (at), ai, aj)
#endif
/* lw: end */
#endif
