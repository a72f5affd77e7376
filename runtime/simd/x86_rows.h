/* SPDX-License-Identifier: 0BSD */
/* Primitives of tiles.h, and macros of rows.h, on x86-64. Bytes are multiplied as 16-bit pairs, with PMADDWD of SSE2
 * and AVX2, or VPDPWSSD of AVX-512 VNNI, which adds the sum of the pair as well. Sums of pairs are at most 2 * 2^14, so
 * nothing saturates. Panels are in x86_panels.h. */
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
static inline __m128i lw_x86_add_pairs(__m128i sum, __m128i a, __m128i b)
{
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm_dpwssd_epi32(sum, a, b);
#else
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
#endif
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
/* keeps a sum in its register; gcc would compute several rows of a tile at once, for which there are not enough
 * registers */
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

/* lw: lw_v_dots needs lw_x86_pairs */
#if LW_SIMD_AVX2
#define LW_TILES_DOT 16
typedef __m256i lw_v_sums;
static inline lw_v_sums lw_v_no_sums(void) { return _mm256_setzero_si256(); }
static inline lw_v_sums lw_v_dot(lw_v_sums s, const int8_t *x, const int8_t *k)
{
    return lw_x86_add_pairs16(s, lw_x86_wide16(x), lw_x86_wide16(k));
}
#define LW_X86_QUARTERS(s) lw_x86_halves(s)
#elif LW_SIMD_SSE4
#define LW_TILES_DOT 8
typedef __m128i lw_v_sums;
static inline lw_v_sums lw_v_no_sums(void) { return _mm_setzero_si128(); }
static inline lw_v_sums lw_v_dot(lw_v_sums s, const int8_t *x, const int8_t *k)
{
    return lw_x86_add_pairs(s, lw_x86_wide8(x), lw_x86_wide8(k));
}
#define LW_X86_QUARTERS(s) s
#endif
#if LW_SIMD_SSE4
static inline lw_v_sums lw_v_dot_part(lw_v_sums s, const int8_t *x, const int8_t *k, int32_t n)
{
    int8_t all[2][LW_TILES_DOT] = { { 0 } };
    memcpy(all[0], x, (size_t)n);
    memcpy(all[1], k, (size_t)n);
    return lw_v_dot(s, all[0], all[1]);
}
static inline void lw_v_add_totals(int32_t *c, lw_v_sums s, lw_v_sums t)
{
    const __m128i half = _mm_hadd_epi32(LW_X86_QUARTERS(s), LW_X86_QUARTERS(t)), sum = _mm_hadd_epi32(half, half);
    _mm_storel_epi64((__m128i *)(void *)c, _mm_add_epi32(_mm_loadl_epi64((const __m128i *)(const void *)c), sum));
}
static inline int32_t lw_v_total(lw_v_sums s)
{
    const __m128i half = _mm_hadd_epi32(LW_X86_QUARTERS(s), LW_X86_QUARTERS(s));
    return _mm_cvtsi128_si32(_mm_hadd_epi32(half, half));
}
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

/* lw: lw_v_windows needs lw_x86_pairs lw_window */
#if LW_SIMD_AVX2
/* Two taps are the halves of a pair. */
#define LW_TILES_WINDOW 16
typedef __m128i lw_v8_bytes, lw_v16_bytes;
typedef __m256i lw_v8_sums;
typedef struct lw_v16_sums { __m256i low, high; } lw_v16_sums;
static inline lw_v8_bytes lw_v8_load(const int8_t *p) { return lw_x86_wide8(p); }
static inline lw_v16_bytes lw_v16_load(const int8_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline lw_v8_sums lw_v8_begin(const int32_t *c, int32_t pairs)
{
    (void)pairs;
    return _mm256_loadu_si256((const __m256i *)(const void *)c);
}
static inline lw_v16_sums lw_v16_begin(const int32_t *c, int32_t pairs)
{
    return (lw_v16_sums){ lw_v8_begin(c, pairs), lw_v8_begin(c + 8, pairs) };
}
static inline __m256i lw_x86_two8(__m128i v, __m128i v1)
{
    return _mm256_set_m128i(_mm_unpackhi_epi16(v, v1), _mm_unpacklo_epi16(v, v1));
}
static inline lw_v8_sums lw_v8_add_two(lw_v8_sums s, lw_v8_bytes x, lw_v8_bytes x1, lw_v8_bytes k, lw_v8_bytes k1)
{
    return lw_x86_add_pairs16(s, lw_x86_two8(x, x1), lw_x86_two8(k, k1));
}
static inline lw_v8_sums lw_v8_add_one(lw_v8_sums s, lw_v8_bytes x, lw_v8_bytes k)
{
    return lw_v8_add_two(s, x, x, k, _mm_setzero_si128());
}
#define LW_X86_LOWS(v, v1) _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(v, v1))
#define LW_X86_HIGHS(v, v1) _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(v, v1))
static inline lw_v16_sums lw_v16_add_two(lw_v16_sums s, lw_v16_bytes x, lw_v16_bytes x1, lw_v16_bytes k,
                                         lw_v16_bytes k1)
{
    return (lw_v16_sums){ lw_x86_add_pairs16(s.low, LW_X86_LOWS(x, x1), LW_X86_LOWS(k, k1)),
                          lw_x86_add_pairs16(s.high, LW_X86_HIGHS(x, x1), LW_X86_HIGHS(k, k1)) };
}
static inline lw_v16_sums lw_v16_add_one(lw_v16_sums s, lw_v16_bytes x, lw_v16_bytes k)
{
    return lw_v16_add_two(s, x, x, k, _mm_setzero_si128());
}
static inline void lw_v8_end(int32_t *c, lw_v8_sums s) { _mm256_storeu_si256((__m256i *)(void *)c, s); }
static inline void lw_v16_end(int32_t *c, lw_v16_sums s)
{
    lw_v8_end(c, s.low);
    lw_v8_end(c + 8, s.high);
}
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
/* Returns four taps of a row for sixteen channels, one lane each: byte t of a lane is tap t, or zero for t >= n. Masked
 * loads fill the quarters of a register with the taps, before one or two permutations of bytes. */
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
/* Computes one pixel, or two pixels that are one row apart and share the taps of the rows between them. VPDPBUSD takes
 * the elements plus 128; `more` is the sum that this adds. */
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
    /* without a loop, gcc moves code that depends only on weights out of the loop over tiles */
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
#define lw_tile_window16 lw_x86_window_quads
#endif
#endif
/* lw: end */

/* lw: lw_v_scales needs LW_SIMD_CHOICE */
#if LW_SIMD_AVX2
/* Returns a*b / 2^31, rounded to nearest, ties up: bits 31 to 62 of the 64-bit products. Only minimum * minimum has
 * more bits. */
static inline __m256i lw_x86_high_bits(__m256i a, __m256i b)
{
    const __m256i half = _mm256_set1_epi64x(0x40000000);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, b), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), half);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xaa);
}
/* Like lw_x86_high_bits, but minimum * minimum is 2^31 - 1, the complement of its bits. */
static inline __m256i lw_x86_mulhigh(__m256i a, __m256i b)
{
    const __m256i high = lw_x86_high_bits(a, b);
    return _mm256_xor_si256(high, _mm256_cmpeq_epi32(high, _mm256_set1_epi32(INT32_MIN)));
}
/* Returns a / 2^s, rounded to nearest, ties away from zero; `mask` is 2^s - 1. */
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
typedef __m256i lw_v8_words;
static inline lw_v8_words lw_v8_load_words(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline lw_v8_words lw_v8_load_shifts(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline lw_v8_words lw_v8_fill(int32_t x) { return _mm256_set1_epi32(x); }
static inline lw_v8_words lw_v8_fill_shift(int32_t s) { return _mm256_set1_epi32(s); }
static inline lw_v8_words lw_v8_scaled(lw_v8_words a, lw_v8_words m, lw_v8_words s, int is_positive, int may_wrap)
{
    (void)is_positive, (void)may_wrap;
    return lw_x86_roundshift(lw_x86_mulhigh(a, m), s, lw_x86_mask(s));
}
/* Narrows to bytes, which saturate at their own limits. */
static inline void lw_v8_narrow(int8_t *y, lw_v8_words v, int32_t zero, int32_t least, int32_t most)
{
    v = _mm256_add_epi32(v, _mm256_set1_epi32(zero));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    __m128i bytes = _mm_packs_epi16(words, words);
    if (least > -128) bytes = _mm_max_epi8(bytes, _mm_set1_epi8((int8_t)least));
    if (most < 127) bytes = _mm_min_epi8(bytes, _mm_set1_epi8((int8_t)most));
    _mm_storel_epi64((__m128i *)(void *)y, bytes);
}
#define LW_TILES_SCALE (LW_SIMD_AVX512 ? 16 : 8)
#if LW_SIMD_AVX512
/* Like lw_x86_high_bits, in 16 lanes. */
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
/* The two roundings of a product are one 64-bit shift, because floor(floor(x / 2^31 + h) / 2^s) is floor((x + 2^31 h) /
 * 2^(31+s)). If values below 0 saturate (is_positive), their ties do not matter. */
static inline __m512i lw_x86_scaled8(__m512i product, __m512i s, int is_positive)
{
    const __m512i half = _mm512_set1_epi64(0x40000000), places = _mm512_add_epi64(s, _mm512_set1_epi64(31));
    /* one half, or both halves if s > 0 */
    const __m512i halves = _mm512_or_si512(half, _mm512_sllv_epi64(half, s));
    __m512i sum = _mm512_add_epi64(product, halves);
    if (!is_positive) {
        const __mmask8 is_shifted = _mm512_test_epi64_mask(s, s);
        const __mmask8 is_tied = _mm512_mask_cmplt_epi64_mask(is_shifted, product, _mm512_set1_epi64(-0x40000000));
        sum = _mm512_mask_sub_epi64(sum, is_tied, sum, _mm512_set1_epi64(0x80000000));
    }
    return _mm512_srav_epi64(sum, places);
}
typedef __m512i lw_v16_words;
static inline lw_v16_words lw_v16_load_words(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline lw_v16_words lw_v16_load_shifts(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline lw_v16_words lw_v16_fill(int32_t x) { return _mm512_set1_epi32(x); }
static inline lw_v16_words lw_v16_fill_shift(int32_t s) { return _mm512_set1_epi32(s); }
/* The product minimum * minimum, which saturates, is 2^31 and wraps; with a zero point below 0 it is positive again. */
static inline lw_v16_words lw_v16_scaled(lw_v16_words a, lw_v16_words m, lw_v16_words s, int is_positive, int may_wrap)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff), least = _mm512_set1_epi32(INT32_MIN);
    const __m512i even = lw_x86_scaled8(_mm512_mul_epi32(a, m), _mm512_and_si512(s, low), is_positive);
    const __m512i odd = lw_x86_scaled8(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(m, 32)),
                                       _mm512_srli_epi64(s, 32), is_positive);
    const __m512i v = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, 0xa0);
    return may_wrap ? _mm512_mask_sub_epi32(v, _mm512_cmpeq_epi32_mask(v, least), v, _mm512_set1_epi32(1)) : v;
}
static inline void lw_v16_narrow(int8_t *y, __m512i v, int32_t zero, int32_t least, int32_t most)
{
    v = _mm512_add_epi32(v, _mm512_set1_epi32(zero));
    if (least > -128) v = _mm512_max_epi32(v, _mm512_set1_epi32(least));
    if (most < 127) v = _mm512_min_epi32(v, _mm512_set1_epi32(most));
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtsepi32_epi8(v));
}
#endif
#endif
/* lw: end */

/* lw: lw_v_adds needs lw_v_scales */
#if LW_SIMD_AVX2
/* The numbers are literals, so only one form is compiled. The usual numbers are small: no sum passes 32 bits, and
 * mulhigh of t << 20 with |t| < 512 and m = h*2^11 + l is t*h + ((t*l + 2^10) >> 11), exactly. */
#define LW_TILES_IS_SMALL(zero, m, s) ((zero) > -256 && (zero) < 256 && (m) >= 0 && (s) <= 30)
/* Returns a / 2^s like lw_x86_roundshift, if a + 2^(s-1) does not overflow 32 bits. */
static inline __m256i lw_x86_shift(__m256i a, int32_t s)
{
    const __m256i half = _mm256_set1_epi32((1 << s) >> 1);
    return s ? _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(a, _mm256_srai_epi32(a, 31)), half), s) : a;
}
static inline lw_v8_words lw_v8_term(const int8_t *a, int32_t zero, int32_t m, int32_t s)
{
    const __m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)a));
    const __m256i t = _mm256_add_epi32(v, _mm256_set1_epi32(zero));
    if (!LW_TILES_IS_SMALL(zero, m, s)) {
        const __m256i shift = _mm256_set1_epi32(s);
        const __m256i high = lw_x86_mulhigh(_mm256_slli_epi32(t, 20), _mm256_set1_epi32(m));
        return lw_x86_roundshift(high, shift, lw_x86_mask(shift));
    }
    if (m == 1 << 30) return lw_x86_shift(_mm256_slli_epi32(t, 19), s);
    const __m256i low = _mm256_mullo_epi32(t, _mm256_set1_epi32(m & 2047));
    const __m256i rest = _mm256_srai_epi32(_mm256_add_epi32(low, _mm256_set1_epi32(1 << 10)), 11);
    return lw_x86_shift(_mm256_add_epi32(_mm256_mullo_epi32(t, _mm256_set1_epi32(m >> 11)), rest), s);
}
/* Sums of terms of the small form are below 2^30. */
static inline lw_v8_words lw_v8_sum(lw_v8_words v, lw_v8_words w, int are_small, int32_t m, int32_t s, int is_positive,
                                    int may_wrap)
{
    const __m256i sum = _mm256_add_epi32(v, w), factor = _mm256_set1_epi32(m);
    if (are_small && m >= 0 && s <= 30) return lw_x86_shift(lw_x86_high_bits(sum, factor), s);
    return lw_v8_scaled(sum, factor, _mm256_set1_epi32(s), is_positive, may_wrap);
}
#if LW_SIMD_AVX512
/* Like lw_x86_shift, in 16 lanes. */
static inline __m512i lw_x86_shift16(__m512i a, int32_t s)
{
    const __m512i half = _mm512_set1_epi32((1 << s) >> 1), below = _mm512_srai_epi32(a, 31);
    return s ? _mm512_srai_epi32(_mm512_add_epi32(_mm512_add_epi32(a, below), half), (unsigned)s) : a;
}
static inline lw_v16_words lw_v16_term(const int8_t *a, int32_t zero, int32_t m, int32_t s)
{
    const __m512i v = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)a));
    const __m512i t = _mm512_add_epi32(v, _mm512_set1_epi32(zero));
    if (!LW_TILES_IS_SMALL(zero, m, s)) {
        const __m512i shift = _mm512_set1_epi32(s);
        const __m512i high = lw_x86_mulhigh16(_mm512_slli_epi32(t, 20), _mm512_set1_epi32(m));
        return lw_x86_roundshift16(high, shift, lw_x86_mask16(shift));
    }
    if (m == 1 << 30) return lw_x86_shift16(_mm512_slli_epi32(t, 19), s);
    const __m512i low = _mm512_mullo_epi32(t, _mm512_set1_epi32(m & 2047));
    const __m512i rest = _mm512_srai_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(1 << 10)), 11);
    return lw_x86_shift16(_mm512_add_epi32(_mm512_mullo_epi32(t, _mm512_set1_epi32(m >> 11)), rest), s);
}
static inline lw_v16_words lw_v16_sum(lw_v16_words v, lw_v16_words w, int are_small, int32_t m, int32_t s,
                                      int is_positive, int may_wrap)
{
    (void)are_small;
    return lw_v16_scaled(_mm512_add_epi32(v, w), _mm512_set1_epi32(m), _mm512_set1_epi32(s), is_positive, may_wrap);
}
#endif
#endif
/* lw: end */

/* lw: lw_x86_add_line needs lw_v_scales */
#if LW_SIMD_AVX2
/* Multiplies pairs of a and b by the upper and by the lower parts of the slopes; the sum of both products is exact
 * above the 7 lowest bits. */
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
        lw_v16_narrow(y + e, _mm512_srai_epi32(sum, (unsigned)s), 0, least, most);
    }
#endif
    for (; e + 8 <= n; e += 8) {
        const __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(a + e)),
                      w = _mm_loadl_epi64((const __m128i *)(const void *)(b + e));
        const __m256i pairs = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(v, w));
        const __m256i upper = _mm256_slli_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi32(k)), 8);
        const __m256i lower = _mm256_srai_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi32(l)), 7);
        const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(upper, lower), _mm256_set1_epi32(c));
        lw_v8_narrow(y + e, _mm256_srai_epi32(sum, s), 0, least, most);
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

/* lw: lw_v_pools needs lw_x86_pairs */
#if LW_SIMD_AVX2
#define LW_TILES_POOL 16
typedef __m128i lw_v8_halves, lw_v_most;
static inline lw_v8_halves lw_v8_no_halves(void) { return _mm_setzero_si128(); }
static inline lw_v8_halves lw_v8_add_bytes(lw_v8_halves s, const int8_t *p)
{
    return _mm_add_epi16(s, lw_x86_wide8(p));
}
static inline void lw_v8_add_halves(int32_t *c, lw_v8_halves s)
{
    __m256i *to = (__m256i *)(void *)c;
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), _mm256_cvtepi16_epi32(s)));
}
static inline lw_v_most lw_v_load_most(const int8_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline lw_v_most lw_v_max(lw_v_most y, const int8_t *p) { return _mm_max_epi8(y, lw_v_load_most(p)); }
static inline void lw_v_store_most(int8_t *p, lw_v_most y) { _mm_storeu_si128((__m128i *)(void *)p, y); }
#endif
/* lw: end */
#endif
