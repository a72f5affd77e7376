/* SPDX-License-Identifier: MIT */
/* The macros of runtime/simd/rows.h against their formulas, with the instructions that the compiler has for them: on
 * rows of every length to 40, of edge values and of pseudo-random ones, with neighbours that must not change. Status:
 * the number of the first macro that differs. It requires no library, so it also runs on an emulated core. */
#include "simd/simd.h"

enum { LONGEST = 40, ROOM = 4 * LONGEST + 16, WEIGHTS = 8 * ROOM };
static int8_t bytes[4 * ROOM], weights[WEIGHTS];
static int16_t halves[4 * ROOM];
static uint32_t seed = 1;

static int32_t draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (int32_t)(seed >> 24) - 128;
}

static void fill_operands(int32_t turn)
{
    for (int32_t i = 0; i < 4 * ROOM; i++) {
        const int32_t x = turn == 0 ? -128 : turn == 1 ? (i % 2 ? 127 : -128) : draw();
        bytes[i] = (int8_t)x;
        halves[i] = (int16_t)(turn == 0 ? -128 : x);
    }
    for (int32_t i = 0; i < WEIGHTS; i++)
        weights[i] = (int8_t)(turn == 0 ? -128 : turn == 1 ? (i % 3 ? -128 : 127) : draw());
}

/* Two products of these fit 16 bits. */
static void narrow_weights(void)
{
    for (int32_t i = 0; i < WEIGHTS; i++) weights[i] = (int8_t)(weights[i] < -127 ? -127 : weights[i]);
}

static int32_t dot_bytes(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo)
{
    int32_t sum = 0;
    for (int32_t e = 0; e < n; e++) sum += (int32_t)bytes[w * aw + e] * weights[o * bo + e];
    return sum;
}

/* Pairs at any distances, of which only some have an instruction. */
static int32_t dot_at(int32_t n, const int16_t *x, int32_t xq, int32_t xs, const int8_t *k, int32_t kq, int32_t kt)
{
    int32_t sum = 0;
    for (int32_t q = 0; q < n; q++)
        for (int32_t s = 0; s < 2; s++)
            for (int32_t t = 0; t < 2; t++) sum += (int32_t)x[q * xq + s * xs + t] * k[q * kq + t * kt + s];
    return sum;
}
static int32_t dot_pairs(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo)
{
    (void)bo;
    return dot_at(n, halves + w * aw, 4, 2, weights + o * 4, 8, 2);
}
static int32_t dot_turns(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo)
{
    (void)aw, (void)bo;
    return dot_at(n, halves + w * 3, 9, 5, weights + o * 7, 6, 4);
}

/* c begins with its own index times 1000; row w of it is 5 after row w - 1. */
static int32_t begin[10], c[10];
static void begin_sums(void)
{
    for (int32_t i = 0; i < 10; i++) c[i] = begin[i] = i * 1000 - 4000;
}
typedef int32_t Dot(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo);
static int differs(Dot *dot, int32_t n, int32_t rows, int32_t columns, int32_t aw, int32_t bo)
{
    for (int32_t i = 0; i < 10; i++) {
        const int32_t w = i / 5, o = i % 5;
        if (c[i] != begin[i] + (w < rows && o < columns ? dot(n, w, o, aw, bo) : 0)) return 1;
    }
    return 0;
}

/* One channel to sixteen of one row and of two, whose sums are 17 apart. */
static int test_many_channels(int32_t n, int32_t aw, int32_t bo)
{
    enum { APART = 17 };
    static int32_t sums[2 * APART];
    for (int32_t rows = 1; rows <= 2; rows++)
        for (int32_t count = 1; count <= 16; count++) {
            for (int32_t i = 0; i < 2 * APART; i++) sums[i] = i * 1000 - 4000;
            if (rows == 2)
                LW_DOT_2XN_I8(n, count, LW_AT(sums, 0, APART), LW_AT(bytes, 0, aw), LW_AT(weights, 0, bo));
            else LW_DOT_1XN_I8(n, count, LW_AT(sums, 0), LW_AT(bytes, 0), LW_AT(weights, 0, bo));
            for (int32_t i = 0; i < 2 * APART; i++) {
                const int32_t w = i / APART, o = i % APART;
                if (sums[i] != i * 1000 - 4000 + (w < rows && o < count ? dot_bytes(n, w, o, aw, bo) : 0)) return 1;
            }
        }
    return 0;
}

static int test_dots(int32_t n, int32_t aw, int32_t bo)
{
#define TRY(status, dot, rows, columns, use)                                                                           \
    begin_sums();                                                                                                      \
    use;                                                                                                               \
    if (differs(dot, n, rows, columns, aw, bo)) return status
    TRY(1, dot_bytes, 2, 2, LW_DOT_2X2_I8(n, LW_AT(c, 0, 5), LW_AT(bytes, 0, aw), LW_AT(weights, 0, bo)));
    TRY(2, dot_bytes, 2, 1, LW_DOT_2X1_I8(n, LW_AT(c, 0, 5), LW_AT(bytes, 0, aw), LW_AT(weights, 0)));
    TRY(3, dot_bytes, 1, 4, LW_DOT_1X4_I8(n, LW_AT(c, 0), LW_AT(bytes, 0), LW_AT(weights, 0, bo)));
    TRY(4, dot_bytes, 1, 2, LW_DOT_1X2_I8(n, LW_AT(c, 0), LW_AT(bytes, 0), LW_AT(weights, 0, bo)));
    TRY(5, dot_bytes, 1, 1, LW_DOT_1X1_I8(n, LW_AT(c, 0), LW_AT(bytes, 0), LW_AT(weights, 0)));
    if (test_many_channels(n, aw, 43)) return 8;
    if (4 * n > LONGEST) return 0;
    TRY(6, dot_pairs, 2, 2, LW_DOT_2X2_I16(n, LW_AT(c, 0, 5), LW_AT(halves, 0, aw, 4, 2), LW_AT(weights, 0, 4, 8, 2)));
    TRY(7, dot_turns, 2, 2, LW_DOT_2X2_I16(n, LW_AT(c, 0, 5), LW_AT(halves, 0, 3, 9, 5), LW_AT(weights, 0, 7, 6, 4)));
    return 0;
}

/* Two rows of weights in each number, n pairs: of all bytes but two of the least together, as weights are packed. */
static int32_t dot_of_rows(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo)
{
    int32_t sum = 0;
    (void)aw, (void)bo;
    for (int32_t i = 0; i < 2 * n; i++) {
        const int32_t q = i / 2, t = i % 2, at = (q * 2 + o / 2) * 2 + t, even = weights[at],
                      odd = even < 0 && weights[at + 1] == -128 ? -127 : weights[at + 1];
        sum += bytes[w * 41 + 3 + i] * (o % 2 ? odd : even);
    }
    return sum;
}

/* The same of a row of bytes, n fours: of each the even ones form a pair, and the odd ones. */
static int32_t dot_of_fours(int32_t n, int32_t w, int32_t o, int32_t aw, int32_t bo)
{
    int32_t sum = 0;
    (void)w, (void)aw, (void)bo;
    for (int32_t i = 0; i < 4 * n; i++) {
        const int32_t at = i / 4 * 8 + i % 2 * 4 + o / 2 * 2 + i % 4 / 2, even = weights[at],
                      odd = even < 0 && weights[at + 1] == -128 ? -127 : weights[at + 1];
        sum += bytes[3 + i] * (o % 2 ? odd : even);
    }
    return sum;
}

static LW_ALIGN(8) int16_t rows[4 * LONGEST + 1];

/* Two rows of weights in each of `count` numbers, the first at `from`. */
static void fill_rows(int32_t from, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        rows[from + i] =
            (int16_t)(weights[i] + 256 * (weights[i] < 0 && weights[i + 1] == -128 ? -127 : weights[i + 1]));
}

/* At addresses that are multiples of 4, and at others. */
static int test_fours(int32_t n)
{
    for (int32_t from = 0; from < 2; from++) {
        fill_rows(from, 8 * n);
        begin_sums();
        LW_DOT_1X4_PAIRS_I8(n, LW_AT(c, 0, 2), LW_AT(bytes, 3, 4, 2), LW_AT(rows, from, 8, 4, 2));
        if (differs(dot_of_fours, n, 1, 4, 0, 0)) return 50;
    }
    return 0;
}

/* Four rows of weights in each word, m words apart by a gap or adjacent; those of even channels without sign. Each
 * word's greatest bytes are among them, and sums of 256 and more products. */
static int test_long(int32_t n)
{
    enum { WORDS = 3 };
    static uint8_t words[WEIGHTS];
    for (int32_t m = 1; m <= WORDS && m * (4 * n + 1) <= WEIGHTS; m++)
        for (int32_t gap = 0; gap < 2; gap++) {
            const int32_t row = 4 * n + gap;
            int32_t sums[4 * WORDS + 2];
            for (int32_t i = 0; i < m * row; i++) words[i] = (uint8_t)(weights[i] ^ (gap ? 127 : 0));
            for (int32_t i = 0; i < 4 * WORDS + 2; i++) sums[i] = i * 1000 - 4000;
            if (m > 1) LW_DOT_LONG_I8(n, m, LW_AT(sums, 1, 4, 2), LW_AT(bytes, 3), LW_AT(words, 0, row, 4, 2));
            else LW_DOT_1X4_LONG_I8(n, LW_AT(sums, 1, 2), LW_AT(bytes, 3), LW_AT(words, 0, 4, 2));
            for (int32_t i = 0; i < 4 * WORDS + 2; i++) {
                const int32_t o = i - 1;
                int32_t sum = i * 1000 - 4000;
                for (int32_t e = 0; e < n && o >= 0 && o < 4 * m; e++) {
                    const int32_t stored = words[o / 4 * row + e * 4 + o % 4];
                    sum += bytes[3 + e] * (o % 2 ? stored > 127 ? stored - 256 : stored : stored - 128);
                }
                if (sums[i] != sum) return 1;
            }
        }
    return 0;
}

static int test_pairs(int32_t n)
{
    static LW_ALIGN(8) int16_t patch[4 * LONGEST + 2];
    if (2 * n <= LONGEST && test_fours(n)) return 50;
    if (test_long(n)) return 52;
    fill_rows(0, 4 * n);
    for (int32_t i = 0; i < 4 * LONGEST + 2; i++) patch[i] = 7777;
    LW_PAIRS_I16(n, LW_AT(patch, 1, 2, 4), LW_AT(bytes, 3, 41, 2));
    for (int32_t i = 0; i < 4 * LONGEST + 2; i++) {
        const int32_t at = i - 1;
        if (patch[i] != (at >= 0 && at < 4 * n ? bytes[at / 2 % 2 * 41 + 3 + at / 4 * 2 + at % 2] : 7777)) return 25;
    }
    for (int32_t i = 0; i < 8; i++) c[i] = begin[i] = i * 1000000 - 4000000;
    LW_DOT_2X4_I16(n, LW_AT(c, 0, 4, 2), LW_AT(patch, 1, 4, 2), LW_AT(rows, 0, 4, 2));
    for (int32_t i = 0; i < 8; i++)
        if (c[i] != begin[i] + dot_of_rows(n, i / 4, i % 4, 0, 0)) return 26;
    for (int32_t i = 0; i < 8; i++) c[i] = begin[i];
    LW_PAIRS_I16(n, LW_AT(patch, 0, 2, 4), LW_AT(bytes, 3, 41, 2));
    LW_DOT_2X4_I16(n, LW_AT(c, 0, 4, 2), LW_AT(patch, 0, 4, 2), LW_AT(rows, 0, 4, 2));
    for (int32_t i = 0; i < 8; i++)
        if (c[i] != begin[i] + dot_of_rows(n, i / 4, i % 4, 0, 0)) return 51;
    begin_sums();
    LW_PAIRS_I16(n, LW_AT(patch, 0, 2 * n, 2), LW_AT(bytes, 3, 41, 2));
    LW_DOT_2X4_I16(n, LW_AT(c, 0, 5, 2), LW_AT(patch, 0, 2, 2 * n), LW_AT(rows, 0, 4, 2));
    return differs(dot_of_rows, n, 2, 4, 0, 0) ? 27 : 0;
}

static int test_copies(int32_t n)
{
    static int8_t y8[LONGEST + 2];
    static int16_t y16[LONGEST + 2];
    for (int32_t kind = 0; kind < 3; kind++) {
        for (int32_t i = 0; i < LONGEST + 2; i++) y8[i] = 77, y16[i] = 7777;
        if (kind == 0) {
            LW_COPY_I8(n, LW_AT(y8, 1), LW_AT(bytes, 3));
            LW_COPY_I16(n, LW_AT(y16, 1), LW_AT(bytes, 3));
        } else {
            LW_FETCH_I8(n, -7, LW_AT(y8, 1), kind == 1, LW_AT(bytes, 3));
            LW_FETCH_I16(n, -7, LW_AT(y16, 1), kind == 1, LW_AT(bytes, 3));
        }
        for (int32_t i = 0; i < LONGEST + 2; i++) {
            const int in = i >= 1 && i <= n;
            if (y8[i] != (in ? kind == 2 ? -7 : bytes[2 + i] : 77)) return 11 + (int)kind;
            if (y16[i] != (in ? kind == 2 ? -7 : bytes[2 + i] : 7777)) return 14 + (int)kind;
        }
    }
    return 0;
}

/* Windows of kh by kw taps on two pixels, over n channels, from the formula. */
static int32_t window(int32_t kh, int32_t kw, int32_t w, int32_t o)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < kh; i++)
        for (int32_t j = 0; j < kw; j++)
            sum += (int32_t)bytes[1 + i * 67 + w * 19 + j * 11 + o] * weights[3 + i * 29 + j * 9 + o];
    return sum;
}

static int test_windows(int32_t kh, int32_t kw, int32_t n)
{
    static int32_t sums[40];
#define BEGIN                                                                                                          \
    for (int32_t i = 0; i < 40; i++) sums[i] = i * 100000 - 7
#define COMPARE(status, pixels)                                                                                        \
    for (int32_t i = 0; i < 40; i++)                                                                                   \
        if (sums[i] != i * 100000 - 7 + (i / 20 < pixels && i % 20 < n ? window(kh, kw, i / 20, i % 20) : 0))          \
    return status
    BEGIN;
    LW_WINDOW2_I8(kh, kw, n, LW_AT(sums, 0, 20), LW_AT(bytes, 1, 67, 19, 11), LW_AT(weights, 3, 29, 9));
    COMPARE(17, 2);
    BEGIN;
    LW_WINDOW_I8(kh, kw, n, LW_AT(sums, 0), LW_AT(bytes, 1, 67, 11), LW_AT(weights, 3, 29, 9));
    COMPARE(18, 1);
    if (kw > 1) return 0;
    BEGIN;
    LW_TAPS2_I8(kh, n, LW_AT(sums, 0, 20), LW_AT(bytes, 1, 67, 19), LW_AT(weights, 3, 29));
    COMPARE(19, 2);
    BEGIN;
    LW_TAPS_I8(kh, n, LW_AT(sums, 0), LW_AT(bytes, 1, 67), LW_AT(weights, 3, 29));
    COMPARE(20, 1);
    return 0;
}

/* Windows whose numbers are constants, as in emitted code: one row apart, one column apart, and neither. */
static int test_constant_windows(void)
{
    static int32_t sums[2 * 4 + 1], wanted[2 * 4 + 1];
#define CONSTANT(kh, kw, aw, pixels, use)                                                                              \
    for (int32_t i = 0; i <= 2 * 4; i++) sums[i] = wanted[i] = i * 100000 - 7;                                         \
    use;                                                                                                               \
    for (int32_t i = 0; i < (pixels) * 4; i++)                                                                         \
        for (int32_t e = 0; e < (kh) * (kw); e++)                                                                      \
            wanted[i] += (int32_t)bytes[1 + e / (kw) * 31 + e % (kw) * 5 + i / 4 * (aw) + i % 4]                       \
                         * weights[3 + e / (kw) * 4 * (kw) + e % (kw) * 4 + i % 4];                                    \
    for (int32_t i = 0; i <= 2 * 4; i++)                                                                               \
        if (sums[i] != wanted[i]) return 80
#define WINDOWS(kh, kw)                                                                                                \
    CONSTANT(kh, kw, 0, 1,                                                                                             \
             LW_WINDOW_I8(kh, kw, 4, LW_AT(sums, 0), LW_AT(bytes, 1, 31, 5), LW_AT(weights, 3, 4 * (kw), 4)));         \
    CONSTANT(kh, kw, 31, 2,                                                                                            \
             LW_WINDOW2_I8(kh, kw, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 31, 31, 5), LW_AT(weights, 3, 4 * (kw), 4))); \
    CONSTANT(kh, kw, 5, 2,                                                                                             \
             LW_WINDOW2_I8(kh, kw, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 31, 5, 5), LW_AT(weights, 3, 4 * (kw), 4)));  \
    CONSTANT(kh, kw, 10, 2,                                                                                            \
             LW_WINDOW2_I8(kh, kw, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 31, 10, 5), LW_AT(weights, 3, 4 * (kw), 4)))
    WINDOWS(3, 3);
    WINDOWS(2, 5);
    return 0;
}

/* Tiles of eight channels of two windows `apart` elements from each other, with rows of 61 elements: weights packed as
 * emitted code packs them, or with gaps. */
enum { TILES = 3, TILED = 8 * TILES };
static int test_tiles(int32_t kh, int32_t kw, int32_t tiles, int32_t apart, int32_t gap)
{
    static int32_t sums[3 * TILED], wanted[3 * TILED];
    static int8_t image[20 * 61];
    const int32_t bu = kh * kw * 8 + gap;
    for (int32_t i = 0; i < 20 * 61; i++) image[i] = (int8_t)(i % 7 ? i * 37 + i / 61 : -128);
    for (int32_t i = 0; i < 3 * TILED; i++) sums[i] = wanted[i] = i * 100000 - 7;
    for (int32_t e = 0; e < 2 * 8 * tiles * kh * kw; e++) {
        const int32_t j = e % kw, i = e / kw % kh, o = e / kw / kh % (8 * tiles), w = e / kw / kh / 8 / tiles;
        wanted[w * (TILED + 1) + o] += (int32_t)image[3 + i * 61 + w * apart + j * 11 + o]
                                       * weights[1 + o / 8 * bu + (i * kw + j) * 8 + o % 8];
    }
    if (kw > 1)
        LW_WINDOW2_TILES_I8(kh, kw, tiles, 8, LW_AT(sums, 0, TILED + 1, 8), LW_AT(image, 3, 61, apart, 11, 8),
                            LW_AT(weights, 1, bu, kw * 8, 8));
    else
        LW_TAPS2_TILES_I8(kh, tiles, 8, LW_AT(sums, 0, TILED + 1, 8), LW_AT(image, 3, 61, apart, 8),
                          LW_AT(weights, 1, bu, 8));
    for (int32_t i = 0; i < 3 * TILED; i++)
        if (sums[i] != wanted[i]) return 81;
    return 0;
}

static int test_all_tiles(void)
{
    int status = 0;
    for (int32_t apart = 11; apart <= 122 && !status; apart += apart == 11 ? 50 : 61)      /* a column, rows */
        for (int32_t tiles = 1; tiles <= TILES && !status; tiles++)
            status = test_tiles(3, 3, tiles, apart, 0) + test_tiles(3, 3, tiles, apart, 5)
                     + test_tiles(2, 4, tiles, apart, 0) + test_tiles(10, 1, tiles, apart, 0)
                     + test_tiles(2, 1, tiles, apart, 3);
    return status;
}

/* Windows of kh by kw taps over n channels: their sum, and the greatest. */
static int test_pools(int32_t kh, int32_t kw, int32_t n)
{
    static int32_t sums[26], sums_wanted[26];
    static int8_t most[26], most_wanted[26];
    for (int32_t form = 0; form < 2; form++) {      /* the second along one dimension */
        const int32_t columns = form ? 1 : kw;
        for (int32_t o = 0; o < 26; o++) {
            sums[o] = sums_wanted[o] = o * 100000 - 7;
            most[o] = most_wanted[o] = (int8_t)(o * 9 - 128);
            for (int32_t i = 0; i < kh && o >= 1 && o <= n; i++)
                for (int32_t j = 0; j < columns; j++) {
                    const int8_t x = bytes[1 + i * 31 + j * 7 + o - 1];
                    sums_wanted[o] += x;
                    if (x > most_wanted[o]) most_wanted[o] = x;
                }
        }
        if (form) {
            LW_SUM_TAPS_I8(kh, n, LW_AT(sums, 1), LW_AT(bytes, 1, 31));
            LW_MAX_TAPS_I8(kh, n, LW_AT(most, 1), LW_AT(bytes, 1, 31));
        } else {
            LW_SUM_WINDOW_I8(kh, kw, n, LW_AT(sums, 1), LW_AT(bytes, 1, 31, 7));
            LW_MAX_WINDOW_I8(kh, kw, n, LW_AT(most, 1), LW_AT(bytes, 1, 31, 7));
        }
        LW_MAX_IF_I8(n, LW_AT(most, 1), 0, LW_AT(bytes, 2));
        for (int32_t o = 0; o < 26; o++)
            if (sums[o] != sums_wanted[o] || most[o] != most_wanted[o]) return 26 + form;
        LW_MAX_IF_I8(n, LW_AT(most, 1), 1, LW_AT(bytes, 2));
        for (int32_t o = 1; o <= n; o++)
            if (most[o] != (bytes[1 + o] > most_wanted[o] ? bytes[1 + o] : most_wanted[o])) return 28;
    }
    return 0;
}

static int test_all_pools(void)
{
    for (int32_t n = 1; n <= 24; n++)
        for (int32_t kh = 1; kh <= 16; kh += 3)
            for (int32_t kw = 1; kw <= 16; kw += 5) {
                const int status = test_pools(kh, kw, n);
                if (status) return status;
            }
    for (int32_t k = 240; k <= 272; k++) {              /* the limit of 16-bit sums: taps at one position */
        int32_t sums[8] = { 0 };
        LW_SUM_WINDOW_I8(k, 1, 8, LW_AT(sums, 0), LW_AT(bytes, 5, 0, 0));
        for (int32_t o = 0; o < 8; o++)
            if (sums[o] != k * bytes[5 + o]) return 29;
        LW_SUM_WINDOW_I8(1, k, 4, LW_AT(sums, 0), LW_AT(bytes, 5, 0, 0));
        for (int32_t o = 0; o < 4; o++)
            if (sums[o] != 2 * k * bytes[5 + o]) return 29;
    }
    return 0;
}

/* Rows of 5 pixels with `left` of fill before `inner` ones of `own` channels, each in memory for n, or for n
 * + extra. */
static int test_fetched_rows(int32_t left, int32_t inner, int32_t n, int32_t own, int32_t extra, int p)
{
    static int8_t y[5 * 24 + 2];
    const int32_t yw = n + extra;
    for (int32_t i = 0; i < 5 * 24 + 2; i++) y[i] = 77;
    LW_FETCH_ROW_I8(5, left, inner, n, own, -9, LW_AT(y, 1, yw), p, LW_AT(bytes, 2, n + 1 - extra));
    for (int32_t i = 0; i < 5 * 24 + 2; i++) {
        const int32_t w = (i - 1) / yw, at = (i - 1) % yw;
        const int in = i >= 1 && w < 5 && at < n, inside = p && w >= left && w < left + inner && at < own;
        if (y[i] != (in ? inside ? bytes[2 + w * (n + 1 - extra) + at] : -9 : 77)) return 21;
    }
    return 0;
}

static int test_borders(void)
{
    for (int32_t n = 1; n <= 20; n += 3)
        for (int32_t left = 0; left < 8; left++)      /* of five */
            for (int32_t inner = 1; inner <= 6; inner++)
                for (int32_t turn = 0; turn < 8; turn++)
                    if (test_fetched_rows(left, inner, n, n - (turn >> 1 & 1), turn & 1, turn < 4)) return 21;
    return 0;
}

/* Scaled sums, where there are vectors for them: in all other cases emitted code has loops. */
#ifdef LW_SCALE_EACH_I8
static int32_t scaled_within(int32_t a, int32_t m, int32_t n, int32_t zero, int32_t least, int32_t most)
{
    const int64_t v = (((int64_t)a * m >> 30) + 1) >> 1, half = n ? (int64_t)1 << (n - 1) : 0;
    const int64_t r = (v < 0 ? -((-v + half) >> n) : (v + half) >> n) + zero;
    return (int32_t)(r < least ? least : r > most ? most : r);
}
static int32_t scaled(int32_t a, int32_t m, int32_t n, int32_t zero)
{
    return scaled_within(a, m, n, zero, -100, 120);
}

#ifdef LW_SCALE2_EACH_I8
/* Two rows, whose sums and results are 20 and 22 apart. */
#define TEST_SCALED_PAIR(zero, least, most)                                                                            \
    do {                                                                                                               \
        for (int32_t i = 0; i < 44; i++) y[i] = 77;                                                                    \
        LW_SCALE2_EACH_I8(count, zero, least, most, LW_AT(y, 1, 22), LW_AT(a, 0, 20), LW_AT(m, 0), LW_AT(n, 0));       \
        for (int32_t i = 0; i < 44; i++) {                                                                             \
            const int32_t w = i / 22, e = i % 22 - 1, in = e >= 0 && e < count;                                        \
            if (y[i] != (in ? scaled_within(a[w * 20 + e], m[e], n[e], zero, least, most) : 77)) return 32;            \
        }                                                                                                              \
    } while (0)
#endif
static int test_scaled_pairs(int32_t count, const int32_t *a, const int32_t *m, const uint8_t *n)
{
#ifdef LW_SCALE2_EACH_I8
    static int8_t y[44];
    static int32_t first[40];
    for (int32_t i = 0; i < 40; i++) first[i] = 5;
    TEST_SCALED_PAIR(-3, -100, 120);
    TEST_SCALED_PAIR(-128, -128, 127);
    TEST_SCALED_PAIR(5, -128, 127);
    TEST_SCALED_PAIR(-128, -128, 60);
    LW_COPY2_I32(count, LW_AT(first, 0, 20), LW_AT(a, 0));
    for (int32_t i = 0; i < 40; i++)
        if (first[i] != (i % 20 < count ? a[i % 20] : 5)) return 33;
#else
    (void)count, (void)a, (void)m, (void)n;
#endif
    return 0;
}

#ifdef LW_SCALE_PAIR_I8
/* Two pixels whose sums alternate; their results are 22 apart. */
#define TEST_ALTERNATE(use, factor, shift, zero, least, most)                                                          \
    do {                                                                                                               \
        for (int32_t i = 0; i < 44; i++) y[i] = 77;                                                                    \
        use;                                                                                                           \
        for (int32_t i = 0; i < 44; i++) {                                                                             \
            const int32_t w = i / 22, e = i % 22 - 1, in = e >= 0 && e < count;                                        \
            if (y[i] != (in ? scaled_within(a[2 * e + w], factor, shift, zero, least, most) : 77)) return 34;          \
        }                                                                                                              \
    } while (0)
#define TEST_SCALED_ALTERNATE(zero, least, most)                                                                       \
    TEST_ALTERNATE(LW_SCALE_PAIR_I8(count, zero, least, most, LW_AT(y, 1, 22), LW_AT(a, 0, 2), LW_AT(m, 0),            \
                                    LW_AT(n, 0)), m[e], n[e], zero, least, most)
#endif
static int test_scaled_alternate(int32_t count, const int32_t *a, const int32_t *m, const uint8_t *n)
{
#ifdef LW_SCALE_PAIR_I8
    static int8_t y[44];
    static int32_t first[40];
    TEST_SCALED_ALTERNATE(-3, -100, 120);
    TEST_SCALED_ALTERNATE(-128, -128, 127);
    TEST_SCALED_ALTERNATE(5, -128, 127);
    TEST_ALTERNATE(LW_SCALE_PAIR_ALL_I8(count, 5, -128, 120, LW_AT(y, 1, 22), LW_AT(a, 0, 2), m[1], n[1]), m[1], n[1],
                   5, -128, 120);
    for (int32_t i = 0; i < 40; i++) first[i] = 5;
    LW_COPY_PAIR_I32(count, LW_AT(first, 0, 2), LW_AT(a, 0));
    for (int32_t i = 0; i < 40; i++)
        if (first[i] != (i < 2 * count ? a[i / 2] : 5)) return 35;
#else
    (void)count, (void)a, (void)m, (void)n;
#endif
    return 0;
}

static int test_scales(int32_t count)
{
    static int32_t a[40], m[20];
    static uint8_t n[20];
    static int8_t y[22];
    for (int32_t turn = 0; turn < 200; turn++) {
        for (int32_t i = 0; i < 20; i++) {
            n[i] = (uint8_t)((draw() + 128) % 12);
            m[i] = 0x40000000 + (draw() + 128) * 0x3fffff + (turn % 3 ? draw() : 0);
            a[i] = (draw() * 256 + draw()) * (turn % 2 ? 1 : 100) >> (turn % 7);
            /* ties */
            if (turn % 5 == 0) a[i] = (int32_t)(((uint32_t)1 << n[i]) * (uint32_t)draw()), m[i] = 0x40000000;
        }
        for (int32_t i = 20; i < 40; i++) a[i] = -a[39 - i] / (1 + turn % 3);
        if (test_scaled_pairs(count, a, m, n)) return test_scaled_pairs(count, a, m, n);
        if (test_scaled_alternate(count, a, m, n)) return test_scaled_alternate(count, a, m, n);
        for (int32_t i = 0; i < 22; i++) y[i] = 77;
        LW_SCALE_EACH_I8(count, -3, -100, 120, LW_AT(y, 1), LW_AT(a, 0), LW_AT(m, 0), LW_AT(n, 0));
        for (int32_t i = 0; i < 22; i++)
            if (y[i] != (i >= 1 && i <= count ? scaled(a[i - 1], m[i - 1], n[i - 1], -3) : 77)) return 22;
        LW_SCALE_EACH_I8(count, -128, -128, 127, LW_AT(y, 1), LW_AT(a, 0), LW_AT(m, 0), LW_AT(n, 0));
        for (int32_t i = 1; i <= count; i++)
            if (y[i] != scaled_within(a[i - 1], m[i - 1], n[i - 1], -128, -128, 127)) return 31;
        LW_SCALE_I8(count, 5, -100, 120, LW_AT(y, 1), LW_AT(a, 0), m[1], n[1]);
        for (int32_t i = 0; i < 22; i++)
            if (y[i] != (i >= 1 && i <= count ? scaled(a[i - 1], m[1], n[1], 5) : 77)) return 23;
        LW_COPY_I32(count, LW_AT(m, 0), LW_AT(a, 0));
        for (int32_t i = 0; i < count; i++)
            if (m[i] != a[i]) return 24;
    }
    return 0;
}
#else
static int test_scales(int32_t count) { return count < 0; }
#endif

/* Sums of two quantized bytes, likewise. All pairs of bytes are tried, 20 at a time. */
#ifdef LW_ADD_I8
static int32_t scaled_up(int32_t v, int32_t m, int32_t n)
{
    const int64_t high = (((int64_t)v * (1 << 20) * m >> 30) + 1) >> 1, half = n ? (int64_t)1 << (n - 1) : 0;
    return (int32_t)(high < 0 ? -((-high + half) >> n) : (high + half) >> n);
}

static int test_additions(void)
{
    static int8_t a[20], b[20], y[22];
    for (int32_t pair = 0; pair < 65536; pair += 20) {
        const int32_t count = 1 + pair / 20 % 20;
        for (int32_t i = 0; i < 20; i++)
            a[i] = (int8_t)((pair + i) % 256 - 128), b[i] = (int8_t)((pair + i) / 256 % 256 - 128);
        for (int32_t turn = 0; turn < 4; turn++) {
            for (int32_t i = 0; i < 22; i++) y[i] = 77;
            if (turn == 3)
                LW_ADD_I8(count, 700, 1073741824, 1, -500, 1400000000, 3, 2147483647, 18, -2, -100, 120, LW_AT(y, 1),
                          LW_AT(a, 0), LW_AT(b, 0));
            if (turn == 0)
                LW_ADD_I8(count, 128, 1623821475, 2, -4, 1073741824, 0, 1098017566, 17, -3, -100, 120, LW_AT(y, 1),
                          LW_AT(a, 0), LW_AT(b, 0));
            if (turn == 1)
                LW_ADD_I8(count, -127, 1073741824, 0, 0, 1073741824, 0, 2147483647, 19, 5, -100, 120, LW_AT(y, 1),
                          LW_AT(a, 0), LW_AT(b, 0));
            if (turn == 2)
                LW_ADD_I8(count, 0, 1500000000, 7, 3, 1073741824, 1, 1073741824, 20, 0, -100, 120, LW_AT(y, 1),
                          LW_AT(a, 0), LW_AT(b, 0));
            for (int32_t i = 0; i < 22; i++) {
                const int32_t x = i >= 1 && i <= count ? a[i - 1] : 0, z = i >= 1 && i <= count ? b[i - 1] : 0;
                const int32_t sum = turn == 0   ? scaled_up(x + 128, 1623821475, 2) + scaled_up(z - 4, 1073741824, 0)
                                    : turn == 1 ? scaled_up(x - 127, 1073741824, 0) + scaled_up(z, 1073741824, 0)
                                    : turn == 3 ? scaled_up(x + 700, 1073741824, 1) + scaled_up(z - 500, 1400000000, 3)
                                                : scaled_up(x, 1500000000, 7) + scaled_up(z + 3, 1073741824, 1);
                const int32_t wanted = turn == 0   ? scaled(sum, 1098017566, 17, -3)
                                       : turn == 1 ? scaled(sum, 2147483647, 19, 5)
                                       : turn == 3 ? scaled(sum, 2147483647, 18, -2)
                                                   : scaled(sum, 1073741824, 20, 0);
                if (y[i] != (i >= 1 && i <= count ? wanted : 77)) return 25;
            }
        }
    }
    return 0;
}
#else
static int test_additions(void) { return 0; }
#endif

/* Lines of two bytes, with the greatest slopes and others. All pairs of bytes are tried, 20 at a time. */
#ifdef LW_ADD_LINE_I8
static int32_t on_line(int32_t a, int32_t b, int32_t k, int32_t l, int32_t from, int32_t s)
{
    const int64_t sum = (int64_t)a * k + (int64_t)b * l + (int64_t)from * 128, unit = (int64_t)1 << (s + 7);
    const int64_t v = sum / unit - (sum % unit < 0);
    return (int32_t)(v < -100 ? -100 : v > 120 ? 120 : v);
}

static int test_lines(void)
{
    static int8_t a[20], b[20], y[22];
    for (int32_t pair = 0; pair < 65536; pair += 20) {
        const int32_t count = 1 + pair / 20 % 20;
        for (int32_t i = 0; i < 20; i++)
            a[i] = (int8_t)((pair + i) % 256 - 128), b[i] = (int8_t)((pair + i) / 256 % 256 - 128);
        for (int32_t turn = 0; turn < 3; turn++) {
            for (int32_t i = 0; i < 22; i++) y[i] = 77;
            if (turn == 0)
                LW_ADD_LINE_I8(count, 3167, 7101, 8377, 6856, -38488328, 20, -100, 120, LW_AT(y, 1), LW_AT(a, 0),
                               LW_AT(b, 0));
            if (turn == 1)
                LW_ADD_LINE_I8(count, 16383, 32767, 16383, 32767, 1000000, 22, -100, 120, LW_AT(y, 1), LW_AT(a, 0),
                               LW_AT(b, 0));
            if (turn == 2)
                LW_ADD_LINE_I8(count, 0, 1, 16383, 0, -7, 1, -100, 120, LW_AT(y, 1), LW_AT(a, 0), LW_AT(b, 0));
            for (int32_t i = 0; i < 22; i++) {
                const int32_t v = i >= 1 && i <= count ? a[i - 1] : 0, w = i >= 1 && i <= count ? b[i - 1] : 0;
                const int32_t wanted =
                    turn == 0   ? on_line(v, w, 3167 * 32768 + 7101, 8377 * 32768 + 6856, -38488328, 20)
                    : turn == 1 ? on_line(v, w, 536870911, 536870911, 1000000, 22)
                                : on_line(v, w, 1, 16383 * 32768, -7, 1);
                if (y[i] != (i >= 1 && i <= count ? wanted : 77)) return 27;
            }
        }
    }
    return 0;
}
#else
static int test_lines(void) { return 0; }
#endif

/* Panels of m channels, with and without gaps between them. */
static int32_t panel_begin[4 * 20], panel_sum[4 * 20];
static int test_panel(int32_t n, int32_t m, int32_t gap)
{
    const int32_t cw = m + gap, aw = 2 * n + gap, aq = 2 + gap, bo = 2, bq = 2 * m + gap;
    for (int32_t w = 4; w >= 1; w /= 2) {
        for (int32_t i = 0; i < 4 * 20; i++) panel_begin[i] = panel_sum[i] = i * 1000 - 4000;
        if (w == 4) LW_PANEL4_I16(n, m, LW_AT(panel_sum, 0, cw), LW_AT(halves, 1, aw, aq), LW_AT(weights, 3, bq, bo));
        else if (w == 2)
            LW_PANEL2_I16(n, m, LW_AT(panel_sum, 0, cw), LW_AT(halves, 1, aw, aq), LW_AT(weights, 3, bq, bo));
        else LW_PANEL_I16(n, m, LW_AT(panel_sum, 0), LW_AT(halves, 1, aq), LW_AT(weights, 3, bq, bo));
        for (int32_t i = 0; i < w; i++)
            for (int32_t o = 0; o < m; o++)
                for (int32_t e = 0; e < 2 * n; e++)
                    panel_begin[i * cw + o] +=
                        (int32_t)halves[1 + i * aw + e / 2 * aq + e % 2] * weights[3 + e / 2 * bq + o * bo + e % 2];
        for (int32_t i = 0; i < 4 * 20; i++)
            if (panel_sum[i] != panel_begin[i]) return 40 + w;
    }
    return 0;
}

/* Panels of m channels of bytes, d elements of each, for four pixels, two and one; weights of I8 are at least -127. */
static int32_t byte_begin[4 * 36], byte_sum[4 * 36];
static void begin_bytes(void)
{
    for (int32_t i = 0; i < 4 * 36; i++) byte_begin[i] = byte_sum[i] = i * 1000 - 4000;
}
static int differ_bytes(void)
{
    for (int32_t i = 0; i < 4 * 36; i++)
        if (byte_sum[i] != byte_begin[i]) return 1;
    return 0;
}
#define BYTE_PANELS(w, type)                                                                                           \
    do {                                                                                                               \
        if ((w) == 4)                                                                                                  \
            LW_PANEL4_##type(n, m, d, LW_AT(byte_sum, 0, cw), LW_AT(bytes, 1, aw, d), LW_AT(weights, 3, bq, d));       \
        else if ((w) == 2)                                                                                             \
            LW_PANEL2_##type(n, m, d, LW_AT(byte_sum, 0, cw), LW_AT(bytes, 1, aw, d), LW_AT(weights, 3, bq, d));       \
        else LW_PANEL_##type(n, m, d, LW_AT(byte_sum, 0), LW_AT(bytes, 1, d), LW_AT(weights, 3, bq, d));               \
    } while (0)
static int test_byte_panel(int32_t n, int32_t m, int32_t d, int32_t offset, int32_t gap)
{
    const int32_t cw = m + gap, aw = d * n + gap, bq = m * d + gap;
    for (int32_t w = 4; w >= 1; w /= 2) {
        begin_bytes();
        if (offset) BYTE_PANELS(w, U8);
        else BYTE_PANELS(w, I8);
        for (int32_t i = 0; i < w; i++)
            for (int32_t o = 0; o < m; o++)
                for (int32_t e = 0; e < d * n; e++)
                    byte_begin[i * cw + o] +=
                        (bytes[1 + i * aw + e] + offset) * weights[3 + e / d * bq + o * d + e % d];
        if (differ_bytes()) return 50 + w;
    }
    return 0;
}
/* Tiles of one to five pixels by four channels whose numbers are constants, as in emitted code. */
static int test_constant_panels(void)
{
    static int32_t sums[5 * 4 + 1], wanted[5 * 4 + 1];
#define PANEL(pixels, n, use)                                                                                          \
    for (int32_t i = 0; i <= 5 * 4; i++) sums[i] = wanted[i] = i * 1000 - 4000;                                        \
    use;                                                                                                               \
    for (int32_t i = 0; i < (pixels) * 4; i++)                                                                         \
        for (int32_t e = 0; e < (n) * 4; e++)                                                                          \
            wanted[i] += (int32_t)bytes[1 + i / 4 * 23 + e] * weights[3 + e / 4 * 16 + i % 4 * 4 + e % 4];             \
    for (int32_t i = 0; i <= 5 * 4; i++)                                                                               \
        if (sums[i] != wanted[i]) return 70 + (pixels)
#define PANELS(n)                                                                                                      \
    PANEL(1, n, LW_PANEL_I8(n, 4, 4, LW_AT(sums, 0), LW_AT(bytes, 1, 4), LW_AT(weights, 3, 16, 4)));                   \
    PANEL(2, n, LW_PANEL2_I8(n, 4, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 23, 4), LW_AT(weights, 3, 16, 4)));           \
    PANEL(3, n, LW_PANEL3_I8(n, 4, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 23, 4), LW_AT(weights, 3, 16, 4)));           \
    PANEL(4, n, LW_PANEL4_I8(n, 4, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 23, 4), LW_AT(weights, 3, 16, 4)));           \
    PANEL(5, n, LW_PANEL5_I8(n, 4, 4, LW_AT(sums, 0, 4), LW_AT(bytes, 1, 23, 4), LW_AT(weights, 3, 16, 4)))
    narrow_weights();
    PANELS(2);
    PANELS(3);
    PANELS(4);
    return 0;
}
/* The same for windows of three rows. */
#define BYTE_WINDOWS(w, type)                                                                                          \
    do {                                                                                                               \
        if ((w) == 4)                                                                                                  \
            LW_WINDOW4_PANEL_##type(3, n, m, d, LW_AT(byte_sum, 0, cw), LW_AT(bytes, 1, aw, ai, d),                    \
                                    LW_AT(weights, 3, bi, bq, d));                                                     \
        else if ((w) == 2)                                                                                             \
            LW_WINDOW2_PANEL_##type(3, n, m, d, LW_AT(byte_sum, 0, cw), LW_AT(bytes, 1, aw, ai, d),                    \
                                    LW_AT(weights, 3, bi, bq, d));                                                     \
        else                                                                                                           \
            LW_WINDOW_PANEL_##type(3, n, m, d, LW_AT(byte_sum, 0), LW_AT(bytes, 1, ai, d),                             \
                                   LW_AT(weights, 3, bi, bq, d));                                                      \
    } while (0)
static int test_window_panel(int32_t n, int32_t m, int32_t d, int32_t offset, int32_t gap)
{
    const int32_t cw = m, aw = d, ai = d * (n + 3) + gap, bq = m * d, bi = n * bq + gap;
    for (int32_t w = 4; w >= 1; w /= 2) {
        begin_bytes();
        if (offset) BYTE_WINDOWS(w, U8);
        else BYTE_WINDOWS(w, I8);
        for (int32_t e = 0; e < w * m * 3 * n * d; e++) {
            const int32_t t = e % d, q = e / d % n, i = e / d / n % 3, o = e / d / n / 3 % m, p = e / d / n / 3 / m;
            byte_begin[p * cw + o] += (bytes[1 + p * aw + i * ai + q * d + t] + offset)
                                      * weights[3 + i * bi + q * bq + o * d + t];
        }
        if (differ_bytes()) return 60 + w;
    }
    return 0;
}
/* Those that are instructions of some core, and one that is of none. */
static int test_byte_panels(int32_t n, int32_t gap)
{
    int status = test_byte_panel(n, 16, 4, 128, gap) + test_byte_panel(n, 8, 4, 128, gap)
                 + test_byte_panel(n, 5, 3, 128, gap);
    if (n <= 10) status += test_byte_panel(n, 32, 4, 128, gap);
    if (n <= 3) status += test_window_panel(n, 16, 4, 128, gap) + test_window_panel(n, 32, 4, 128, gap);
    narrow_weights();
    status += test_byte_panel(n, 4, 8, 0, gap) + test_byte_panel(n, 4, 4, 0, gap) + test_byte_panel(n, 8, 4, 0, gap)
              + test_byte_panel(n, 5, 3, 0, gap);
    if (n <= 3)
        status += test_window_panel(n, 4, 16, 0, gap) + test_window_panel(n, 4, 8, 0, gap)
                  + test_window_panel(n, 8, 8, 0, gap) + test_window_panel(n, 16, 4, 0, gap)
                  + test_window_panel(n, 5, 3, 0, gap);
    return n > 8 ? status : status + test_byte_panel(n, 4, 16, 0, gap) + test_byte_panel(n, 8, 8, 0, gap)
                            + test_byte_panel(n, 16, 4, 0, gap);
}

/* Columns of two rows of output: m pixels of windows of kh x kw, n channels. With a gap the strides are those of no
 * instruction. */
static int test_columns(int32_t m, int32_t kh, int32_t kw, int32_t n, int32_t gap)
{
    static LW_ALIGN(8) int16_t columns[4 * 12 * 5 + 1];
    static int32_t sum[4 * 10 * 2 + 1];
    const int32_t r = kh + 1, aw = n + gap, ar = (m + kw) * aw, yw = 4 + gap, yc = (m + kw - 1) * yw, co = 2 * m + gap;
    for (int32_t i = 0; i < 4 * 12 * 5 + 1; i++) columns[i] = 7777;
    LW_COLUMNS_I16(r, m + kw - 1, n, LW_AT(columns, 0, yc, yw), LW_AT(bytes, 1, ar, aw));
    for (int32_t i = 0; i < 4 * 12 * 5 + 1; i++) {
        const int32_t o = i / yc, w = i % yc / yw, h = i % yw;
        if (columns[i] != (o < n && h < r ? bytes[1 + h * ar + w * aw + o] : 7777)) return 80;
    }
    for (int32_t i = 0; i < 4 * 10 * 2 + 1; i++) sum[i] = i * 1000 - 4000;
    LW_DOT_COLUMNS_I16(kh, kw, n, m, 2, LW_AT(sum, 0, co, 2), LW_AT(columns, 0, yc, yw, yw, 1),
                       LW_AT(weights, 3, kh * kw, kh));
    for (int32_t i = 0; i < 4 * 10 * 2 + 1; i++) {
        const int32_t o = i / co, w = i % co / 2, h = i % co % 2;
        int32_t wanted = i * 1000 - 4000;
        for (int32_t t = 0; t < kh * kw && o < n && i % co < 2 * m; t++)
            wanted += (int32_t)bytes[1 + (h + t % kh) * ar + (w + t / kh) * aw + o] * weights[3 + o * kh * kw + t];
        if (sum[i] != wanted) return 81;
    }
    return 0;
}

/* Four pixels, two in a number, by one row of weights of at least -127: of any length and at any distances; in numbers
 * from rows of bytes, of which a condition may leave out one. */
static int test_words(int32_t n, int32_t ae, int32_t cp, int32_t ch)
{
    static int32_t words[3 * ROOM];
    static const int32_t mask[] = { 3, 3, 2, 1, 0 };
    for (int32_t turn = 0; turn < 5; turn++) {
        for (int32_t i = 0; i < 3 * ROOM; i++) words[i] = i;
        const int32_t p = mask[turn] & 1, q = mask[turn] >> 1;
        if (turn == 0) {
            LW_WORDS_I8(n, LW_AT(words, 0, ae), LW_AT(bytes, 0), LW_AT(bytes, 41));
            LW_WORDS_I8(n, LW_AT(words, 1, ae), LW_AT(bytes, 82), LW_AT(bytes, 123));
        } else {
            LW_WORDS_IF_I8(n, LW_AT(words, 0, ae), p, q, LW_AT(bytes, 0), LW_AT(bytes, 41));
            LW_WORDS_IF_I8(n, LW_AT(words, 1, ae), q, p, LW_AT(bytes, 82), LW_AT(bytes, 123));
        }
        for (int32_t i = 0; i < 3 * ROOM; i++)
            if ((i / ae >= n || i % ae > 1) && words[i] != i) return 1;
        begin_sums();
        LW_DOT_WORDS_I8(n, LW_AT(c, 1, cp, ch), LW_AT(words, 0, ae), LW_AT(weights, 3));
        for (int32_t i = 0; i < 10; i++) {
            int32_t sum = begin[i];
            for (int32_t pixel = 0; pixel < 4; pixel++) {
                const int32_t is_in = pixel == 0 || pixel == 3 ? p : q;
                if (i != 1 + pixel / 2 * cp + pixel % 2 * ch) continue;
                for (int32_t e = 0; e < n; e++) sum += is_in ? bytes[41 * pixel + e] * weights[3 + e] : 0;
            }
            if (c[i] != sum) return 1;
        }
    }
    return 0;
}

/* The longest row's sums exceed 16 bits by far. */
static int test_all_words(void)
{
    enum { LONG = 100 };
    for (int32_t n = 1; n <= LONG; n += n < LONGEST ? 1 : 7)
        if (test_words(n, 2, 2, 1) || test_words(n, 3, 4, 2)) return 53;
    return 0;
}

/* Panels of vectors of two pixels, whose sums alternate. The rows of a window are 7 bytes after one another. */
static int test_panel_pairs(void)
{
#ifdef LW_WINDOW_PANEL_PAIR_I8
    enum { D = 16, MOST = 7, NEXT = 7, PIXEL = 5 };
    static int32_t sum[2 * MOST + 1], expected[2 * MOST + 1];
    for (int32_t kh = 1; kh <= 3; kh++)
        for (int32_t n = 1; n <= 7; n++)
            for (int32_t m = 1; m <= MOST && kh * n * m * D <= WEIGHTS; m++) {
                const int32_t ai = n * D + NEXT;
                for (int32_t i = 0; i <= 2 * MOST; i++) expected[i] = sum[i] = i * 1000 - 4000;
                if (kh == 1)
                    LW_PANEL_PAIR_I8(n, m, D, LW_AT(sum, 0, 2), LW_AT(bytes, 1, PIXEL, D), LW_AT(weights, 0, m * D, D));
                else
                    LW_WINDOW_PANEL_PAIR_I8(kh, n, m, D, LW_AT(sum, 0, 2), LW_AT(bytes, 1, PIXEL, ai, D),
                                            LW_AT(weights, 0, n * m * D, m * D, D));
                for (int32_t e = 0; e < kh * n * m * D; e++) {
                    const int32_t t = e % D, o = e / D % m, q = e / D / m % n, i = e / D / m / n;
                    for (int32_t w = 0; w < 2; w++)
                        expected[2 * o + w] += bytes[1 + w * PIXEL + i * ai + q * D + t] * weights[e];
                }
                for (int32_t i = 0; i <= 2 * MOST; i++)
                    if (sum[i] != expected[i]) return 54;
            }
#endif
    return 0;
}

int main(void)
{
    for (int32_t turn = 0; turn < 3; turn++)
        for (int32_t m = 1; m <= 8; m++) {
            fill_operands(turn);
            const int status = test_columns(m, 3, 3, 4, 0) + test_columns(m, 3, 3, 4, 1) + test_columns(m, 2, 3, 3, 0);
            if (status) return status;
        }
    for (int32_t turn = 0; turn < 3; turn++)
        for (int32_t n = 1; n <= 12; n++)
            for (int32_t gap = 0; gap < 2; gap++) {
                fill_operands(turn);
                const int status = test_panel(n, 16, gap) + test_panel(n, 8, gap) + test_panel(n, 4, gap)
                                   + test_panel(n, 5, gap);
                const int other = test_byte_panels(n, gap);
                if (status) return status;
                if (other) return other;
            }
    if (test_additions()) return test_additions();
    if (test_lines()) return test_lines();
    for (int32_t n = 1; n <= 20; n++)
        if (test_scales(n)) return test_scales(n);
    for (int32_t turn = 0; turn < 3; turn++) {
        fill_operands(turn);
        if (test_borders()) return test_borders();
        if (test_all_pools()) return test_all_pools();
        if (LW_SIMD_RVV) narrow_weights();
        if (test_constant_windows()) return test_constant_windows();
        if (test_all_tiles()) return test_all_tiles();
        for (int32_t shape = 0; shape < 12 * 16; shape++) {
            const int32_t n = shape % 12 == 11 ? 16 : 1 + shape % 12;
            const int status = test_windows(1 + shape / 12 / 4, 1 + shape / 12 % 4, n);
            if (status) return status;
        }
        if (test_constant_panels()) return test_constant_panels();
        if (test_panel_pairs()) return test_panel_pairs();
        narrow_weights();
        if (test_all_words()) return test_all_words();
    }
    for (int32_t turn = 0; turn < 6; turn++)
        for (int32_t n = 1; n <= LONGEST; n++) {
            fill_operands(turn);
            if (test_long(255 + n)) return 53;
            const int dots = test_dots(n, ROOM - 3, ROOM - 5), copies = test_copies(n), pairs = test_pairs(n);
            if (dots || copies || pairs) return dots ? dots : copies ? copies : pairs;
        }
    return 0;
}
