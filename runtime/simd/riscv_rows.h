/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on RISC-V without vectors. 31 registers hold the sums of five pixels by four channels; every
 * element and every weight is loaded once per tile. This header does not use tiles.h, which is for vectors. */
#ifndef LW_SIMD_RISCV_ROWS_H
#define LW_SIMD_RISCV_ROWS_H

#include "../lw_base.h"
#include "simd.h"

/* lw: lw_rv_panels needs LW_SIMD_CHOICE lw_panel_i8 */
#if LW_SIMD_RISCV
/* Pixels, `aw` apart, by channels whose weights alternate in fours: c[p * 4 + o] += a[p * aw + q * 4 + t] *
 * b[q * 16 + o * 4 + t] until b is `end`. This loop is assembly, because gcc moves the loads and products of a tile
 * ahead of the sums, and spills these; clang does not. The upper halves of 64-bit registers are not used. */
#ifndef __clang__
#define LW_RISCV_ADD(p, o) "mul %[t],%[x],%[k" #o "]\n\tadd %[s" #p #o "],%[s" #p #o "],%[t]\n\t"
#define LW_RISCV_ELEMENT(p) "lb %[x],%[aw]*" #p "+\\e(%[a])\n\t"
#define LW_RISCV_WEIGHT(o) "lb %[k" #o "],4*" #o "+\\e/4*12+\\e(%[b])\n\t"
#define LW_RISCV_BEGIN(p, o) "lw %[s" #p #o "],16*" #p "+4*" #o "(%[c])\n\t"
#define LW_RISCV_NEXT(blocks) "addi %[a],%[a],4*" #blocks "\n\taddi %[b],%[b],16*" #blocks "\n\tbne %[b],%[end],1b\n\t"
#define LW_RISCV_2(of, p) of(p, 0) of(p, 1)
#define LW_RISCV_4(of, p) LW_RISCV_2(of, p) of(p, 2) of(p, 3)
#define LW_RISCV_PIXEL2(p) LW_RISCV_ELEMENT(p) LW_RISCV_2(LW_RISCV_ADD, p)
#define LW_RISCV_PIXEL4(p) LW_RISCV_ELEMENT(p) LW_RISCV_4(LW_RISCV_ADD, p)
#define LW_RISCV_WEIGHTS2 LW_RISCV_WEIGHT(0) LW_RISCV_WEIGHT(1)
#define LW_RISCV_WEIGHTS4 LW_RISCV_WEIGHTS2 LW_RISCV_WEIGHT(2) LW_RISCV_WEIGHT(3)
#define LW_RISCV_EACH(elements, sums) "1:\n\t.irp e," elements "\n\t" sums ".endr\n\t"
#define LW_RISCV_ONE(sums) LW_RISCV_EACH("0,1,2,3", sums) LW_RISCV_NEXT(1)
#define LW_RISCV_TWO(sums) LW_RISCV_EACH("0,1,2,3,4,5,6,7", sums) LW_RISCV_NEXT(2)
#define LW_RISCV_SUM(p, o) [s##p##o] "=&r"(s##p##o)
#define LW_RISCV_SUMS(p) LW_RISCV_SUM(p, 0), LW_RISCV_SUM(p, 1), LW_RISCV_SUM(p, 2), LW_RISCV_SUM(p, 3)
#define LW_RISCV_TEMPORARY(name) [name] "=&r"(name)
#define LW_RISCV_OPERANDS                                                                                              \
    LW_RISCV_TEMPORARY(x), LW_RISCV_TEMPORARY(t), LW_RISCV_TEMPORARY(k0), LW_RISCV_TEMPORARY(k1), [a] "+r"(a),         \
        [b] "+r"(b)
#define LW_RISCV_STORE(p)                                                                                              \
    c[p * 4] = (int32_t)s##p##0, c[p * 4 + 1] = (int32_t)s##p##1, c[p * 4 + 2] = (int32_t)s##p##2,                     \
          c[p * 4 + 3] = (int32_t)s##p##3

#define LW_RISCV_TILE1 LW_RISCV_WEIGHTS4 LW_RISCV_PIXEL4(0)
#define LW_RISCV_TILE2 LW_RISCV_TILE1 LW_RISCV_PIXEL4(1)
#define LW_RISCV_TILE3 LW_RISCV_TILE2 LW_RISCV_PIXEL4(2)
#define LW_RISCV_TILE4 LW_RISCV_TILE3 LW_RISCV_PIXEL4(3)
#define LW_RISCV_BEGIN1 LW_RISCV_4(LW_RISCV_BEGIN, 0)
#define LW_RISCV_BEGIN2 LW_RISCV_BEGIN1 LW_RISCV_4(LW_RISCV_BEGIN, 1)
#define LW_RISCV_BEGIN3 LW_RISCV_BEGIN2 LW_RISCV_4(LW_RISCV_BEGIN, 2)
#define LW_RISCV_BEGIN4 LW_RISCV_BEGIN3 LW_RISCV_4(LW_RISCV_BEGIN, 3)
#define LW_RISCV_SUMS1 LW_RISCV_SUMS(0)
#define LW_RISCV_SUMS2 LW_RISCV_SUMS1, LW_RISCV_SUMS(1)
#define LW_RISCV_SUMS3 LW_RISCV_SUMS2, LW_RISCV_SUMS(2)
#define LW_RISCV_SUMS4 LW_RISCV_SUMS3, LW_RISCV_SUMS(3)
#define LW_RISCV_LOOP(w, depth)                                                                                        \
    __asm__ volatile(LW_RISCV_BEGIN##w depth(LW_RISCV_TILE##w)                                                         \
                     : LW_RISCV_SUMS##w, LW_RISCV_TEMPORARY(k2), LW_RISCV_TEMPORARY(k3), LW_RISCV_OPERANDS             \
                     : [c] "r"(c), [end] "r"(end), [aw] "i"(aw)                                                        \
                     : "memory")

/* Computes one to four pixels by four channels. An even number of blocks is computed in twos. */
__attribute__((always_inline)) static inline void lw_rv_tile(int32_t w, int32_t n, int32_t *c, const int8_t *a,
                                                             int32_t aw, const int8_t *b)
{
    const int8_t *const end = b + n * 16;
    long s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0, s20 = 0, s21 = 0, s22 = 0, s23 = 0,
         s30 = 0, s31 = 0, s32 = 0, s33 = 0, k0, k1, k2, k3, x, t;
    if (w == 1) LW_RISCV_LOOP(1, LW_RISCV_ONE);
    if (w == 2) LW_RISCV_LOOP(2, LW_RISCV_ONE);
    if (w == 3) LW_RISCV_LOOP(3, LW_RISCV_ONE);
    if (w == 4 && n % 2) LW_RISCV_LOOP(4, LW_RISCV_ONE);
    if (w == 4 && n % 2 == 0) LW_RISCV_LOOP(4, LW_RISCV_TWO);
    LW_RISCV_STORE(0);
    if (w > 1) LW_RISCV_STORE(1);
    if (w > 2) LW_RISCV_STORE(2);
    if (w > 3) LW_RISCV_STORE(3);
}
#define LW_RISCV_TILE_OF_PAIR LW_RISCV_TILE1 "lb %[x],\\e(%[y])\n\t" LW_RISCV_4(LW_RISCV_ADD, 1)
/* Computes four channels of two pixels at any distance. */
__attribute__((always_inline)) static inline void lw_rv_pair(int32_t n, int32_t *c, const int8_t *a, const int8_t *y,
                                                             const int8_t *b)
{
    const int8_t *const end = b + n * 16;
    long s00, s01, s02, s03, s10, s11, s12, s13, k0, k1, k2, k3, x, t;
    __asm__ volatile(LW_RISCV_BEGIN2 LW_RISCV_EACH("0,1,2,3", LW_RISCV_TILE_OF_PAIR) "addi %[y],%[y],4\n\t"
                         LW_RISCV_NEXT(1)
                     : LW_RISCV_SUMS2, LW_RISCV_TEMPORARY(k2), LW_RISCV_TEMPORARY(k3), LW_RISCV_OPERANDS, [y] "+r"(y)
                     : [c] "r"(c), [end] "r"(end), [aw] "i"(0)
                     : "memory");
    LW_RISCV_STORE(0);
    LW_RISCV_STORE(1);
}
#define LW_RISCV_FIVE                                                                                                  \
    LW_RISCV_WEIGHTS2 LW_RISCV_PIXEL2(0) LW_RISCV_PIXEL2(1) LW_RISCV_PIXEL2(2) LW_RISCV_PIXEL2(3)                      \
    LW_RISCV_PIXEL2(4)
#define LW_RISCV_BOTH(p) [s##p##0] "+r"(s##p##0), [s##p##1] "+r"(s##p##1)
#define LW_RISCV_FIVES(depth)                                                                                          \
    __asm__ volatile(depth(LW_RISCV_FIVE)                                                                              \
                     : LW_RISCV_BOTH(0), LW_RISCV_BOTH(1), LW_RISCV_BOTH(2), LW_RISCV_BOTH(3), LW_RISCV_BOTH(4),       \
                       LW_RISCV_OPERANDS                                                                               \
                     : [end] "r"(end), [aw] "i"(aw)                                                                    \
                     : "memory")
/* Computes five pixels by two of four channels. */
__attribute__((always_inline)) static inline void lw_rv_five(int32_t n, int32_t *c, const int8_t *a, int32_t aw,
                                                             const int8_t *b)
{
    const int8_t *const end = b + n * 16;
    long s00 = c[0], s01 = c[1], s10 = c[4], s11 = c[5], s20 = c[8], s21 = c[9], s30 = c[12], s31 = c[13],
         s40 = c[16], s41 = c[17], k0, k1, x, t;
    if (n % 2) LW_RISCV_FIVES(LW_RISCV_ONE);
    else LW_RISCV_FIVES(LW_RISCV_TWO);
    c[0] = (int32_t)s00, c[1] = (int32_t)s01, c[4] = (int32_t)s10, c[5] = (int32_t)s11, c[8] = (int32_t)s20;
    c[9] = (int32_t)s21, c[12] = (int32_t)s30, c[13] = (int32_t)s31, c[16] = (int32_t)s40, c[17] = (int32_t)s41;
}
#else
__attribute__((always_inline)) static inline void lw_rv_pixels(int32_t w, int32_t m, int32_t n, int32_t *c,
                                                               const int8_t *a, int32_t aw, const int8_t *b)
{
    uint32_t s[5][4];
#pragma clang loop unroll(full)
    for (int32_t i = 0; i < w * m; i++) s[i / m][i % m] = (uint32_t)c[i / m * 4 + i % m];
#pragma clang loop unroll(disable)
    for (int32_t q = 0; q < n; q++)
#pragma clang loop unroll(full)
        for (int32_t t = 0; t < 4; t++)
#pragma clang loop unroll(full)
            for (int32_t i = 0; i < w * m; i++)
                s[i / m][i % m] += (uint32_t)(a[i / m * aw + q * 4 + t] * b[q * 16 + i % m * 4 + t]);
#pragma clang loop unroll(full)
    for (int32_t i = 0; i < w * m; i++) c[i / m * 4 + i % m] = (int32_t)s[i / m][i % m];
}
#define lw_rv_tile(w, n, c, a, aw, b) lw_rv_pixels(w, 4, n, c, a, aw, b)
#define lw_rv_five(n, c, a, aw, b) lw_rv_pixels(5, 2, n, c, a, aw, b)
#endif
#ifdef __clang__
#define lw_rv_pair(n, c, a, y, b) (lw_rv_pixels(1, 4, n, c, a, 0, b), lw_rv_pixels(1, 4, n, (c) + 4, y, 0, b))
#endif
__attribute__((always_inline)) static inline void lw_rv_apart(int32_t w, int32_t n, int32_t *c, const int8_t *a,
                                                              int32_t aw, const int8_t *b)
{
    for (int32_t p = 0; p + 1 < w; p += 2) lw_rv_pair(n, c + p * 4, a + p * aw, a + (p + 1) * aw, b);
    if (w % 2) lw_rv_tile(1, n, c + (w - 1) * 4, a + (w - 1) * aw, 0, b);
}
/* Computes a panel. Offsets of loads are 12-bit constants, so pixels at larger distances are computed two by two. */
__attribute__((always_inline)) static inline void lw_rv_panel(int32_t w, int32_t n, int32_t *c, const int8_t *a,
                                                              int32_t aw, const int8_t *b)
{
    enum { REACH = 2040 };
    if ((w - 1) * aw >= REACH) lw_rv_apart(w, n, c, a, aw, b);
    else if (w < 5) lw_rv_tile(w, n, c, a, aw, b);
    else {
        lw_rv_five(n, c, a, aw, b);
        lw_rv_five(n, c + 2, a, aw, b + 8);
    }
}
#define LW_ROWS_PANELS_I8(w, kh, n, m, d, c, cw, a, aw, ai, aq, b, bi, bq, bo)                                         \
    do {                                                                                                               \
        if ((w) > 5 || ((w) > 1 && (cw) != 4) || (kh) != 1 || (m) != 4 || (d) != 4 || (aq) != 4 || (bq) != 16          \
            || (bo) != 4)                                                                                              \
            lw_panel_i8(w, kh, n, m, d, 0, c, cw, a, aw, ai, aq, b, bi, bq, bo);                                       \
        else if (__builtin_constant_p(aw)) lw_rv_panel(w, n, c, a, aw, b);                                             \
        else lw_rv_apart(w, n, c, a, aw, b);                                                                           \
    } while (0)
#endif
/* lw: end */

/* lw: lw_rv_window needs LW_SIMD_CHOICE lw_window */
#if LW_SIMD_RISCV
/* Loads a byte; no other load moves across, because gcc would load all taps first and spill them. */
static inline long lw_rv_load(const int8_t *p)
{
    long v;
    __asm__ volatile("lb %0,%1" : "=r"(v) : "m"(*p));
    return v;
}
enum { LW_RISCV_TAPS = 25, LW_RISCV_COLUMNS = 7 };
/* Computes the taps of one or two windows (`pixels`), with unrolled loops over taps. If the windows are one row or one
 * column apart, elements under both are loaded once. */
__attribute__((always_inline)) static inline void lw_rv_window(int32_t pixels, int32_t kh, int32_t kw, int32_t n,
                                                               int32_t *c, int32_t cw, const int8_t *a, int32_t ai,
                                                               int32_t aw, int32_t aj, const int8_t *b, int32_t bi,
                                                               int32_t bj)
{
#pragma GCC unroll 4
    for (int32_t o = 0; o < n; o++) {
        long s = c[o], t = pixels == 2 ? c[cw + o] : 0, next[LW_RISCV_COLUMNS] = { 0 };
#pragma GCC unroll 25
        for (int32_t i = 0; i < kh; i++)
#pragma GCC unroll 7
            for (int32_t j = 0; j < kw; j++) {
                const int8_t *x = a + i * ai + j * aj + o;
                const long k = lw_rv_load(b + i * bi + j * bj + o);
                const long here = pixels == 2 && aw == ai && i     ? next[j]
                                : pixels == 2 && aw == aj && j ? next[j - 1]
                                                               : lw_rv_load(x);
                s += here * k;
                if (pixels == 2) {
                    next[j] = lw_rv_load(x + aw);
                    t += next[j] * k;
                }
                __asm__ volatile("" : "+r"(s), "+r"(t));
            }
        c[o] = (int32_t)s;
        if (pixels == 2) c[cw + o] = (int32_t)t;
    }
}
#define LW_RISCV_WINDOW(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj)                                            \
    do {                                                                                                               \
        if (__builtin_constant_p((kh) * (kw)) && (kh) * (kw) <= LW_RISCV_TAPS && (kw) <= LW_RISCV_COLUMNS)             \
            lw_rv_window(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj);                                          \
        else lw_window(pixels, kh, kw, n, c, cw, a, ai, aw, aj, b, bi, bj);                                            \
    } while (0)
#define LW_ROWS_WINDOW2_I8(kh, kw, n, c, ci, cw, a, at, ai, aw, aj, b, bt, bi, bj)                                     \
    LW_RISCV_WINDOW(2, kh, kw, n, (c) + (ci), cw, (a) + (at), ai, aw, aj, (b) + (bt), bi, bj)
#define LW_ROWS_WINDOW_I8(kh, kw, n, c, ci, a, at, ai, aj, b, bt, bi, bj)                                              \
    LW_RISCV_WINDOW(1, kh, kw, n, (c) + (ci), 0, (a) + (at), ai, 0, aj, (b) + (bt), bi, bj)
#endif
/* lw: end */

/* lw: lw_rv_copies needs LW_SIMD_CHOICE LW_SHARED */
#if LW_SIMD_RISCV
/* Copies four words at once if both addresses are aligned; C libraries for small cores copy byte by byte. */
static LW_SHARED void lw_rv_copy(int32_t n, int8_t *y, const int8_t *a)
{
    if ((((uintptr_t)y | (uintptr_t)a) & 3) == 0)
        for (; n >= 16; n -= 16, y += 16, a += 16) {
            int32_t v[4];
            memcpy(v, __builtin_assume_aligned(a, 4), sizeof v);
            memcpy(__builtin_assume_aligned(y, 4), v, sizeof v);
        }
    for (; n > 0; n--) {
        *y++ = *a++;
        __asm__("");
    }
}
static LW_SHARED void lw_rv_fill(int32_t n, int8_t *y, int8_t fill)
{
    const uint32_t four = (uint8_t)fill * 0x01010101u, v[4] = { four, four, four, four };
    if (((uintptr_t)y & 3) == 0)
        for (; n >= 16; n -= 16, y += 16) memcpy(__builtin_assume_aligned(y, 4), v, sizeof v);
    for (; n > 0; n--) {
        *y++ = fill;
        __asm__("");
    }
}
#define LW_ROWS_COPY_I8(n, y, yi, a, ai)                                                                               \
    do {                                                                                                               \
        int8_t *const to_ = (y) + (yi);                                                                                \
        const int8_t *const from_ = (a) + (ai);                                                                        \
        if (__builtin_constant_p(n) && (n) <= 8)                                                                       \
            for (int32_t e_ = 0; e_ < (n); e_++) to_[e_] = from_[e_];                                                  \
        else lw_rv_copy(n, to_, from_);                                                                                \
    } while (0)
#define LW_ROWS_FILL_I8(n, y, yi, fill) lw_rv_fill(n, (y) + (yi), fill)
#endif
/* lw: end */
#endif
