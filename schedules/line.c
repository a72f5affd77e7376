/* SPDX-License-Identifier: MIT */
/* The sum of two quantized bytes has three roundings, but it is nearly always one line, rounded once: the exact sum
 * deviates from a line by about 2^-18 of a step, and few of the 65,536 pairs are so close to a half.
 *
 * For slopes k, l and a shift S each pair (a, b) with the result y bounds the offset C of
 *
 *   y = floor((a*k + b*l + C) / 2^S):    y * 2^S <= a*k + b*l + C < (y + 1) * 2^S
 *
 * where a y that is clamped bounds it from one side. The line exists if the greatest lower bound is below the least
 * upper bound; so the search is a proof. Slopes have 29 bits and C is a multiple of 2^7: the products are summed in two
 * parts of 16-bit factors, exactly, and the 7 lowest bits of the sum do not matter. */
#include "schedules/line.h"

#include <stddef.h>

#include "runtime/lw_fixed.h"

enum { BYTES = 256, LOW_BITS = 7, SLOPE_BITS = 29, UP = 20 };

/* Scales a byte like the interpreter. */
static int32_t scaled(uint32_t v, int64_t factor, int64_t shift)
{
    return lw_roundshift_any_i32(lw_mulhigh_sat_i32((int32_t)v, (int32_t)factor), (int32_t)shift);
}

/* Tabulates the results by a and b, which start at -128. */
static void tabulate(const ScaledSum *s, int16_t y[BYTES][BYTES])
{
    uint32_t term[2][BYTES];
    for (int i = 0; i < 2; i++)
        for (int v = 0; v < BYTES; v++) {
            const uint32_t up = (uint32_t)(v - 128 + s->term[i].zero) << UP;
            term[i][v] = (uint32_t)scaled(up, s->term[i].factor, s->term[i].shift);
        }
    for (int a = 0; a < BYTES; a++)
        for (int b = 0; b < BYTES; b++) {
            const int32_t sum = scaled(term[0][a] + term[1][b], s->factor, s->shift);
            const int32_t v = (int32_t)((uint32_t)sum + (uint32_t)s->zero);
            y[a][b] = (int16_t)(v < s->least ? s->least : v > s->most ? s->most : v);
        }
}

/* Finds the offset in the middle of the bounds, a multiple of 2^7. Returns false if the bounds exclude each other. */
static bool find_offset(const ScaledSum *s, int16_t y[BYTES][BYTES], const int64_t slope[2], int shift, int64_t *offset)
{
    int64_t least = INT64_MIN / 2, most = INT64_MAX / 2;
    for (int a = 0; a < BYTES; a++)
        for (int b = 0; b < BYTES; b++) {
            const int64_t sum = (a - 128) * slope[0] + (b - 128) * slope[1], at = y[a][b] * ((int64_t)1 << shift) - sum;
            if (y[a][b] > s->least && at > least) least = at;
            if (y[a][b] < s->most && at + ((int64_t)1 << shift) - 1 < most) most = at + ((int64_t)1 << shift) - 1;
        }
    if (least > most || least < -(INT64_MAX >> 20) || most > INT64_MAX >> 20) return false;
    const int64_t middle = least + (most - least) / 2;
    *offset = (middle >> LOW_BITS) * (1 << LOW_BITS);
    return *offset >= least;
}

/* Returns a * b / 2^down, rounded; a and b are positive 31-bit numbers. */
static int64_t product_shifted(int64_t a, int64_t b, int64_t down)
{
    return down < 1 || down > 62 ? 0 : ((a * b >> (down - 1)) + 1) >> 1;
}

static bool fits(const int64_t slope[2], int64_t offset)
{
    const int64_t most = slope[0] + slope[1] + (offset < 0 ? -offset : offset) / (1 << LOW_BITS) + 1;
    return most <= INT32_MAX;
}

bool line_of_sum(Ctx *cx, const ScaledSum *s, ByteLine *line)
{
    static const int near[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 }, { 1, 1 }, { -1, -1 }, { 1, -1 },
                                   { -1, 1 } };
    enum { PLACES = 62, LEAST_SHIFT = LOW_BITS + 1, MOST_SHIFT = LOW_BITS + 31 };
    int64_t slope[2] = { 0, 0 }, offset;
    int shift = MOST_SHIFT + 1;
    if (s->factor < 0 || s->term[0].factor < 0 || s->term[1].factor < 0) return false;
    do {
        shift--;
        for (int i = 0; i < 2; i++)
            slope[i] = product_shifted(s->term[i].factor, s->factor,
                                       PLACES - UP + s->term[i].shift + s->shift - shift);
    } while (shift > LEAST_SHIFT && (slope[0] >> SLOPE_BITS || slope[1] >> SLOPE_BITS));
    if (slope[0] >> SLOPE_BITS || slope[1] >> SLOPE_BITS || !slope[0] || !slope[1]) return false;
    const ArenaMark mark = arena_mark(cx->scratch);
    int16_t (*y)[BYTES] = (int16_t (*)[BYTES])NEW_ARRAY(cx->scratch, int16_t, BYTES * BYTES);
    bool is_found = false;
    tabulate(s, y);
    for (size_t i = 0; i < sizeof near / sizeof near[0] && !is_found; i++) {
        const int64_t at[2] = { slope[0] + near[i][0], slope[1] + near[i][1] };
        is_found = find_offset(s, y, at, shift, &offset) && fits(at, offset);
        if (is_found) *line = (ByteLine){ { at[0], at[1] }, offset / (1 << LOW_BITS), shift - LOW_BITS };
    }
    arena_reset(cx->scratch, mark);
    return is_found;
}
