/* SPDX-License-Identifier: 0BSD */
/* The panels of rows.h on x86-64: 16-bit pairs with PMADDWD or VPDPWSSD, and fours of bytes with VPDPBUSD of AVX-512
 * VNNI, whose first factor has no sign. */
#ifndef LW_SIMD_X86_PANELS_H
#define LW_SIMD_X86_PANELS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_x86_panels needs lw_x86_pairs lw_panel */
#if LW_SIMD_AVX2
/* Returns a pair of 16-bit values in all lanes. */
static inline __m256i lw_x86_pair(const int16_t *p)
{
    int32_t both;
    memcpy(&both, p, sizeof both);
    return _mm256_set1_epi32(both);
}
/* Computes two pixels, or one if y is x, by 16 channels, with separate sums of even and of odd pairs, which the
 * processor adds in parallel. */
static inline void lw_x86_panel16(int32_t w, int32_t n, int32_t *c, int32_t cw, const int16_t *x, const int16_t *y,
                                  const int8_t *b)
{
    __m256i *to = (__m256i *)(void *)c, *to1 = (__m256i *)(void *)(c + cw);
    __m256i s0 = _mm256_loadu_si256(to), s1 = _mm256_loadu_si256(to + 1), s2 = s0, s3 = s1;
    __m256i t0 = _mm256_setzero_si256(), t1 = t0, t2 = t0, t3 = t0;
    int32_t q = 0;
    if (w == 2) s2 = _mm256_loadu_si256(to1), s3 = _mm256_loadu_si256(to1 + 1);
#define LW_X86_PAIR(q, r0, r1, r2, r3)                                                                                 \
    do {                                                                                                               \
        const __m256i k0 = lw_x86_wide16(b + (q) * 32), k1 = lw_x86_wide16(b + (q) * 32 + 16);                         \
        const __m256i v = lw_x86_pair(x + (q) * 2);                                                                    \
        r0 = lw_x86_add_pairs16(r0, v, k0);                                                                            \
        r1 = lw_x86_add_pairs16(r1, v, k1);                                                                            \
        if (w == 2) {                                                                                                  \
            const __m256i u = lw_x86_pair(y + (q) * 2);                                                                \
            r2 = lw_x86_add_pairs16(r2, u, k0);                                                                        \
            r3 = lw_x86_add_pairs16(r3, u, k1);                                                                        \
        }                                                                                                              \
    } while (0)
    for (; q + 2 <= n; q += 2) {
        LW_X86_PAIR(q, s0, s1, s2, s3);
        LW_X86_PAIR(q + 1, t0, t1, t2, t3);
    }
    if (q < n) LW_X86_PAIR(q, s0, s1, s2, s3);
#undef LW_X86_PAIR
    _mm256_storeu_si256(to, _mm256_add_epi32(s0, t0));
    _mm256_storeu_si256(to + 1, _mm256_add_epi32(s1, t1));
    if (w == 2) {
        _mm256_storeu_si256(to1, _mm256_add_epi32(s2, t2));
        _mm256_storeu_si256(to1 + 1, _mm256_add_epi32(s3, t3));
    }
}
/* Like the function above, for 8 channels, with four sums each, because each addition waits for the previous one. */
static inline void lw_x86_panel8(int32_t w, int32_t n, int32_t *c, int32_t cw, const int16_t *x, const int16_t *y,
                                 const int8_t *b)
{
    __m256i *to = (__m256i *)(void *)c, *to1 = (__m256i *)(void *)(c + cw);
    __m256i s0 = _mm256_loadu_si256(to), s1 = w == 2 ? _mm256_loadu_si256(to1) : s0;
    __m256i t0 = _mm256_setzero_si256(), t1 = t0, u0 = t0, u1 = t0, v0 = t0, v1 = t0;
    int32_t q = 0;
#define LW_X86_PAIR(q, r0, r1)                                                                                         \
    do {                                                                                                               \
        const __m256i k = lw_x86_wide16(b + (q) * 16);                                                                 \
        r0 = lw_x86_add_pairs16(r0, lw_x86_pair(x + (q) * 2), k);                                                      \
        if (w == 2) r1 = lw_x86_add_pairs16(r1, lw_x86_pair(y + (q) * 2), k);                                          \
    } while (0)
    for (; q + 4 <= n; q += 4) {
        LW_X86_PAIR(q, s0, s1);
        LW_X86_PAIR(q + 1, t0, t1);
        LW_X86_PAIR(q + 2, u0, u1);
        LW_X86_PAIR(q + 3, v0, v1);
    }
    for (int32_t left = n % 4; left > 0; left--, q++) LW_X86_PAIR(q, s0, s1);
#undef LW_X86_PAIR
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_add_epi32(s0, t0), _mm256_add_epi32(u0, v0)));
    if (w == 2) _mm256_storeu_si256(to1, _mm256_add_epi32(_mm256_add_epi32(s1, t1), _mm256_add_epi32(u1, v1)));
}
/* Computes four pixels by 16 or 8 channels; the weights are widened once for all pixels. */
#define LW_X86_BEGIN(r)                                                                                                \
    __m256i *const to##r = (__m256i *)(void *)(c + r * cw);                                                            \
    __m256i s##r = _mm256_loadu_si256(to##r), t##r = m > 8 ? _mm256_loadu_si256(to##r + 1) : s##r
#define LW_X86_PAIR(r)                                                                                                 \
    do {                                                                                                               \
        const __m256i v = lw_x86_pair(a + r * aw + q * 2);                                                             \
        s##r = lw_x86_add_pairs16(s##r, v, k);                                                                         \
        LW_X86_KEEP(s##r);                                                                                             \
        if (m > 8) t##r = lw_x86_add_pairs16(t##r, v, k1);                                                             \
        if (m > 8) LW_X86_KEEP(t##r);                                                                                  \
    } while (0)
#define LW_X86_END(r)                                                                                                  \
    do {                                                                                                               \
        _mm256_storeu_si256(to##r, s##r);                                                                              \
        if (m > 8) _mm256_storeu_si256(to##r + 1, t##r);                                                               \
    } while (0)
static inline void lw_x86_panel4(int32_t m, int32_t n, int32_t *c, int32_t cw, const int16_t *a, int32_t aw,
                                 const int8_t *b)
{
    LW_X86_BEGIN(0);
    LW_X86_BEGIN(1);
    LW_X86_BEGIN(2);
    LW_X86_BEGIN(3);
    for (int32_t q = 0; q < n; q++, b += 2 * m) {
        const __m256i k = lw_x86_wide16(b), k1 = m > 8 ? lw_x86_wide16(b + 16) : k;
        (void)k1;
        LW_X86_PAIR(0);
        LW_X86_PAIR(1);
        LW_X86_PAIR(2);
        LW_X86_PAIR(3);
    }
    LW_X86_END(0);
    LW_X86_END(1);
    LW_X86_END(2);
    LW_X86_END(3);
}
#undef LW_X86_BEGIN
#undef LW_X86_PAIR
#undef LW_X86_END
/* Panels of 16 and 8 channels without gaps; other calls are computed in portable C. The numbers are literals. */
#define LW_X86_PANELS(w, n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo)                                                \
    do {                                                                                                               \
        if ((w) == 4 && (aq) == 2 && (bo) == 2 && (bq) == 2 * (o) && ((o) == 16 || (o) == 8))                          \
            lw_x86_panel4(o, n, (c) + (ci), cw, (a) + (ai), aw, (b) + (bi));                                           \
        else if ((w) <= 2 && (aq) == 2 && (bo) == 2 && (bq) == 32 && (o) == 16)                                        \
            lw_x86_panel16(w, n, (c) + (ci), cw, (a) + (ai), (a) + (ai) + (aw), (b) + (bi));                           \
        else if ((w) <= 2 && (aq) == 2 && (bo) == 2 && (bq) == 16 && (o) == 8)                                         \
            lw_x86_panel8(w, n, (c) + (ci), cw, (a) + (ai), (a) + (ai) + (aw), (b) + (bi));                            \
        else lw_panel(w, n, o, (c) + (ci), cw, (a) + (ai), aw, aq, (b) + (bi), bq, bo);                                \
    } while (0)
#define LW_ROWS_PANEL4_I16(n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo) \
    LW_X86_PANELS(4, n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo)
#define LW_ROWS_PANEL2_I16(n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo) \
    LW_X86_PANELS(2, n, o, c, ci, cw, a, ai, aw, aq, b, bi, bq, bo)
#define LW_ROWS_PANEL_I16(n, o, c, ci, a, ai, aq, b, bi, bq, bo) \
    LW_X86_PANELS(1, n, o, c, ci, 0, a, ai, 0, aq, b, bi, bq, bo)
#endif
/* lw: end */

/* lw: lw_x86_quads needs lw_x86_pairs lw_panel_i8 */
#if LW_SIMD_AVX2 && defined(__AVX512VNNI__)
/* Computes w pixels by m channels (16 or 32) of four elements. w and m are literals, so the compiler removes the code
 * for other values. */
#if defined(__GNUC__)
#define LW_X86_FIXED static inline __attribute__((always_inline))
#else
#define LW_X86_FIXED static inline
#endif
/* Returns four elements plus 128, in all lanes. */
LW_X86_FIXED __m512i lw_x86_quad(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm512_xor_si512(_mm512_set1_epi32(four), _mm512_set1_epi32((int32_t)0x80808080u));
}
#define LW_X86_BEGIN(r, p) \
    __m512i s##r##0 = _mm512_loadu_si512(p), s##r##1 = m > 16 ? _mm512_loadu_si512((p) + 16) : s##r##0
#define LW_X86_END(r, p)                                                                                               \
    do {                                                                                                               \
        _mm512_storeu_si512(p, s##r##0);                                                                               \
        if (m > 16) _mm512_storeu_si512((p) + 16, s##r##1);                                                            \
    } while (0)
#define LW_X86_ROW(r, p)                                                                                               \
    do {                                                                                                               \
        const __m512i x = lw_x86_quad(p);                                                                              \
        s##r##0 = _mm512_dpbusd_epi32(s##r##0, x, k0);                                                                 \
        LW_X86_KEEP(s##r##0);                                                                                          \
        if (m > 16) s##r##1 = _mm512_dpbusd_epi32(s##r##1, x, k1);                                                     \
        if (m > 16) LW_X86_KEEP(s##r##1);                                                                              \
    } while (0)
#define LW_X86_PAIR(r, p)                                                                                              \
    do {                                                                                                               \
        s##r##0 = _mm512_dpbusd_epi32(s##r##0, lw_x86_quad(p), k0);                                                    \
        LW_X86_KEEP(s##r##0);                                                                                          \
        s##r##1 = _mm512_dpbusd_epi32(s##r##1, lw_x86_quad((p) + 4), odd);                                             \
        LW_X86_KEEP(s##r##1);                                                                                          \
    } while (0)
#define LW_X86_WEIGHTS_ODD(k)                                                                                          \
    __m512i odd = _mm512_loadu_si512(k);                                                                               \
    LW_X86_KEEP(odd)
/* kept in registers, because gcc would read them from memory for each pixel */
#define LW_X86_WEIGHTS(k)                                                                                              \
    __m512i k0 = _mm512_loadu_si512(k), k1 = m > 16 ? _mm512_loadu_si512((k) + 64) : k0;                               \
    LW_X86_KEEP(k0);                                                                                                   \
    if (m > 16) LW_X86_KEEP(k1)
/* With 16 channels, even and odd fours have separate sums, because each addition waits for the previous one. */
LW_X86_FIXED void lw_x86_quads(int32_t w, int32_t m, int32_t kh, int32_t n, int32_t *c, int32_t cw, const int8_t *a,
                               int32_t aw, int32_t ai, const int8_t *b)
{
    const int8_t *a1 = w > 1 ? a + aw : a, *a2 = w > 2 ? a + 2 * aw : a, *a3 = w > 2 ? a + 3 * aw : a;
    int32_t *c1 = w > 1 ? c + cw : c, *c2 = w > 2 ? c + 2 * cw : c, *c3 = w > 2 ? c + 3 * cw : c;
    LW_X86_BEGIN(0, c);
    LW_X86_BEGIN(1, c1);
    LW_X86_BEGIN(2, c2);
    LW_X86_BEGIN(3, c3);
    if (m == 16) s01 = s11 = s21 = s31 = _mm512_setzero_si512();
    for (int32_t i = 0; i < kh; i++) {
        int32_t e = i * ai;
        const int32_t end = e + n * 4;
        if (m == 16)
            for (; e + 8 <= end; e += 8, b += 8 * m) {
                LW_X86_WEIGHTS(b);
                LW_X86_WEIGHTS_ODD(b + 4 * m);
                LW_X86_PAIR(0, a + e);
                if (w > 1) LW_X86_PAIR(1, a1 + e);
                if (w > 2) LW_X86_PAIR(2, a2 + e);
                if (w > 2) LW_X86_PAIR(3, a3 + e);
            }
        for (; e < end; e += 4, b += 4 * m) {
            LW_X86_WEIGHTS(b);
            LW_X86_ROW(0, a + e);
            if (w > 1) LW_X86_ROW(1, a1 + e);
            if (w > 2) LW_X86_ROW(2, a2 + e);
            if (w > 2) LW_X86_ROW(3, a3 + e);
        }
    }
    if (m == 16) {
        s00 = _mm512_add_epi32(s00, s01);
        s10 = _mm512_add_epi32(s10, s11);
        s20 = _mm512_add_epi32(s20, s21);
        s30 = _mm512_add_epi32(s30, s31);
    }
    LW_X86_END(0, c);
    if (w > 1) LW_X86_END(1, c1);
    if (w > 2) LW_X86_END(2, c2);
    if (w > 2) LW_X86_END(3, c3);
}
/* Computes one pixel with separate sums of four fours, because each addition waits for the previous one. */
LW_X86_FIXED void lw_x86_quads1(int32_t m, int32_t kh, int32_t n, int32_t *c, const int8_t *a, int32_t ai,
                                const int8_t *b)
{
    LW_X86_BEGIN(0, c);
    __m512i s10 = _mm512_setzero_si512(), s11 = s10, s20 = s10, s21 = s10, s30 = s10, s31 = s10;
    for (int32_t i = 0; i < kh; i++) {
        int32_t e = i * ai;
        const int32_t end = e + n * 4;
#define LW_X86_FOUR(r)                                                                                                 \
    do {                                                                                                               \
        LW_X86_WEIGHTS(b + r * 4 * m);                                                                                 \
        LW_X86_ROW(r, a + e + r * 4);                                                                                  \
    } while (0)
        for (; e + 16 <= end; e += 16, b += 16 * m) {
            LW_X86_FOUR(0);
            LW_X86_FOUR(1);
            LW_X86_FOUR(2);
            LW_X86_FOUR(3);
        }
        for (; e < end; e += 4, b += 4 * m) LW_X86_FOUR(0);
#undef LW_X86_FOUR
    }
    s00 = _mm512_add_epi32(_mm512_add_epi32(s00, s10), _mm512_add_epi32(s20, s30));
    s01 = _mm512_add_epi32(_mm512_add_epi32(s01, s11), _mm512_add_epi32(s21, s31));
    LW_X86_END(0, c);
}
#undef LW_X86_BEGIN
#undef LW_X86_END
#undef LW_X86_ROW
#undef LW_X86_PAIR
#undef LW_X86_WEIGHTS
#undef LW_X86_WEIGHTS_ODD
/* Computes one to four pixels by eight channels. */
LW_X86_FIXED __m256i lw_x86_quad8(__m256i sum, const int8_t *p, __m256i k)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    const __m256i x = _mm256_xor_si256(_mm256_set1_epi32(four), _mm256_set1_epi32((int32_t)0x80808080u));
#ifdef __AVX512VL__
    return _mm256_dpbusd_epi32(sum, x, k);
#else
    return _mm512_castsi512_si256(_mm512_dpbusd_epi32(_mm512_castsi256_si512(sum), _mm512_castsi256_si512(x),
                                                      _mm512_castsi256_si512(k)));
#endif
}
LW_X86_FIXED void lw_x86_quads8(int32_t w, int32_t kh, int32_t n, int32_t *c, int32_t cw, const int8_t *a, int32_t aw,
                                int32_t ai, const int8_t *b)
{
    __m256i *to = (__m256i *)(void *)c, *to1 = (__m256i *)(void *)(w > 1 ? c + cw : c);
    __m256i *to2 = (__m256i *)(void *)(w > 2 ? c + 2 * cw : c), *to3 = (__m256i *)(void *)(w > 2 ? c + 3 * cw : c);
    __m256i s0 = _mm256_loadu_si256(to), s1 = _mm256_loadu_si256(to1), s2 = _mm256_loadu_si256(to2),
            s3 = _mm256_loadu_si256(to3);
    for (int32_t i = 0; i < kh; i++)
        for (int32_t q = 0; q < n; q++, b += 32) {
            const int8_t *x = a + i * ai + q * 4;
            __m256i k = _mm256_loadu_si256((const __m256i *)(const void *)b);
            LW_X86_KEEP(k);
            s0 = lw_x86_quad8(s0, x, k);
            if (w > 1) s1 = lw_x86_quad8(s1, x + aw, k);
            if (w > 2) s2 = lw_x86_quad8(s2, x + 2 * aw, k);
            if (w > 2) s3 = lw_x86_quad8(s3, x + 3 * aw, k);
        }
    _mm256_storeu_si256(to, s0);
    if (w > 1) _mm256_storeu_si256(to1, s1);
    if (w > 2) _mm256_storeu_si256(to2, s2);
    if (w > 2) _mm256_storeu_si256(to3, s3);
}
/* Panels without gaps; other calls are computed in portable C. */
#define LW_ROWS_PANELS_U8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo)                                         \
    do {                                                                                                               \
        if ((d) != 4 || ((m) != 8 && (m) != 16 && (m) != 32) || (aq) != 4 || (bo) != 4 || (bq) != 4 * (m)              \
            || ((kh) > 1 && (bi) != 4 * (n) * (m)))                                                                    \
            lw_panel_i8(w, kh, n, m, d, 128, c, cw, a, aw, ai, aq, b, bi, bq, bo);                                     \
        else if ((m) == 8) lw_x86_quads8(w, kh, n, c, cw, a, aw, ai, b);                                               \
        else if ((w) == 1) lw_x86_quads1(m, kh, n, c, a, ai, b);                                                       \
        else lw_x86_quads(w, m, kh, n, c, cw, a, aw, ai, b);                                                           \
    } while (0)
#endif
/* lw: end */
#endif
