/* quantized_reals: quantized-reals.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if QUANTIZED_REALS_HEADER_HASH != 0x141035e9
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* recentered
 * y[n<1, h<6, w<6, c<2] = i8(i32(x[n, h, w, c]) - 128)
 * x: [1][6][6][2]  y: [1][6][6][2] */
static LW_NOINLINE void quantized_reals_x(const uint8_t *restrict x, int8_t *restrict y)
{
    for (int32_t h = 0; h < 6; h++)
        for (int32_t w = 0; w < 6; w++) {
            const uint8_t *x_w = x + h * 12 + w * 2;
            int8_t *y_w = y + h * 12 + w * 2;
            for (int32_t c = 0; c < 2; c++)
                y_w[c] = (int8_t)((int32_t)x_w[c] - 128);
        }
}

/* packed_conv2d + requantize_fixed + avg_pool2d + requantize_even
 * rows[n<1, h<8, u<16] = select(0 <= h - 1 && h - 1 < 6 && 0 <= u / 2 - 1
 *     && u / 2 - 1 < 6, x[n, h-1, u/2-1, u%2], 3)
 * patch[n<1, h<6, w<6, q<9, t<2] = i16(rows[n, h+q/3, w*2+q%3*2+t])
 * acc[n<1, h<6, w<6, o<4] = sum(q<9, t<2; b[o]) i32(patch[n, h, w, q, t]) * i32(i8(i32(k[0, q, o/2,
 *     t]) + o % 2 * 128 >> o % 2 * 8))
 * between[n<1, h<6, w<6, c<4] = i8(min(max(i32(i64(acc[n, h, w,
 *     c]) * i64(multiplier[c]) + offset[c] >> 32) >> i32(shift[c]), -128), 127))
 * acc2[n<1, h<3, w<3, c<4] = sum(i<2, j<2) i32(between[n, h*2+i, w*2+j, c])
 * y[n<1, h<3, w<3, c<4] = i8(min(max((part1 + 1 + (part1 >> 2 & 1) >> 2) - 128, -128), 127))
 *     where part1 = acc2[n, h, w, c] * 1 + 512
 * x: [1][6][6][2]  k: [1][9][2][2]  b: [4]  multiplier: [4]  offset: [4]  shift: [4]  between: [1][6][6][4]
 *     rows: [1][8][16]  patch: [1][6][6][9][2]  y: [1][3][3][4]
 * schedule rows.dot + pool.bytes: between.w by 2, rows.u by 2, patch.q by 3, acc.o by 2; LW_SUM_WINDOW_I8, ... */
static LW_NOINLINE void quantized_reals_mean(const int8_t *x, const int16_t *restrict k, const int32_t *restrict b,
    const int32_t *restrict multiplier, const int64_t *restrict offset, const uint8_t *restrict shift,
    int8_t *restrict between, int8_t *restrict rows, int16_t *restrict patch, int8_t *y)
{
    for (int32_t h = 0; h < 3; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++) {
            for (int32_t h3 = 0; h3 < 3; h3++) {
                #ifdef LW_FETCH_ROW_I8
                LW_FETCH_ROW_I8(8, 1, 6, 2, 2, 3, LW_AT(rows, h3 * 16, 2), h * 2 + h3 + h2 >= 1 && h * 2 + h3 + h2 < 7,
                    LW_AT(x, h * 24 + h3 * 12 + h2 * 12 - 14, 2));
                #else
                for (int32_t w = 0; w < 8; w++) {
                    const int32_t x_at_w = h * 24 + (h3 + h2 - 1) * 12 + (w - 1) * 2;
                    int8_t *rows_w = rows + h3 * 16 + w * 2;
                    for (int32_t c = 0; c < 2; c++)
                        rows_w[c] = (int8_t)(h * 2 + h3 + h2 >= 1 && h * 2 + h3 + h2 < 7 && w >= 1 && w < 7
                            ? x[x_at_w + c] : 3);
                }
                #endif
            }
            int8_t *between_h = between + h2 * 24;
            for (int32_t wo = 0; wo < 3; wo++) {
                int32_t acc[8];
                for (int32_t i = 0; i < 3; i++) {
                    #ifdef LW_PAIRS_I16
                    LW_PAIRS_I16(3, LW_AT(patch, i * 12, 2, 4), LW_AT(rows, i * 16 + wo * 4, 2, 2));
                    #else
                    for (int32_t u = 0; u < 3; u++)
                        for (int32_t w = 0; w < 2; w++) {
                            const int8_t *rows_w = rows + i * 16 + wo * 4 + (w + u) * 2;
                            int16_t *patch_w = patch + i * 12 + u * 4 + w * 2;
                            for (int32_t t = 0; t < 2; t++)
                                patch_w[t] = rows_w[t];
                        }
                    #endif
                }
                for (int32_t w = 0; w < 2; w++) {
                    #ifdef LW_COPY_I32
                    LW_COPY_I32(4, LW_AT(acc, w * 4), LW_AT(b, 0));
                    #else
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] = b[o];
                    #endif
                }
                #ifdef LW_DOT_2X4_I16
                LW_DOT_2X4_I16(9, LW_AT(acc, 0, 4, 2), LW_AT(patch, 0, 4, 2), LW_AT(k, 0, 4, 2));
                #else
                for (int32_t q = 0; q < 9; q++)
                    for (int32_t t = 0; t < 2; t++) {
                        const int16_t *patch_t_row = patch + q * 4 + t;
                        const int16_t *k_t_row = k + q * 4 + t;
                        for (int32_t w = 0; w < 2; w++)
                            for (int32_t oo = 0; oo < 2; oo++)
                                for (int32_t oi = 0; oi < 2; oi++)
                                    acc[w * 4 + oo * 2 + oi] += (int32_t)patch_t_row[w * 2]
                                        * (int8_t)lw_asr_i32(oi * 128 + (int32_t)k_t_row[oo * 2], oi * 8);
                    }
                #endif
                between_h[wo * 8] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[0] + (int64_t)acc[0]
                    * (int64_t)multiplier[0], 32), (int32_t)shift[0]));
                between_h[wo * 8 + 1] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[1] + (int64_t)acc[1]
                    * (int64_t)multiplier[1], 32), (int32_t)shift[1]));
                between_h[wo * 8 + 2] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[2] + (int64_t)acc[2]
                    * (int64_t)multiplier[2], 32), (int32_t)shift[2]));
                between_h[wo * 8 + 3] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[3] + (int64_t)acc[3]
                    * (int64_t)multiplier[3], 32), (int32_t)shift[3]));
                between_h[wo * 8 + 4] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[0] + (int64_t)acc[4]
                    * (int64_t)multiplier[0], 32), (int32_t)shift[0]));
                between_h[wo * 8 + 5] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[1] + (int64_t)acc[5]
                    * (int64_t)multiplier[1], 32), (int32_t)shift[1]));
                between_h[wo * 8 + 6] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[2] + (int64_t)acc[6]
                    * (int64_t)multiplier[2], 32), (int32_t)shift[2]));
                between_h[wo * 8 + 7] = (int8_t)lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[3] + (int64_t)acc[7]
                    * (int64_t)multiplier[3], 32), (int32_t)shift[3]));
            }
        }
        int8_t *y_h = y + h * 12;
        for (int32_t w = 0; w < 3; w++) {
            int32_t acc2[4];
            acc2[0] = 0;
            acc2[1] = 0;
            acc2[2] = 0;
            acc2[3] = 0;
            #ifdef LW_SUM_WINDOW_I8
            LW_SUM_WINDOW_I8(2, 2, 4, LW_AT(acc2, 0), LW_AT(between, w * 8, 24, 4));
            #else
            for (int32_t i = 0; i < 2; i++)
                for (int32_t j = 0; j < 2; j++) {
                    const int8_t *between_j = between + i * 24 + w * 8 + j * 4;
                    for (int32_t c = 0; c < 4; c++)
                        acc2[c] += between_j[c];
                }
            #endif
            y_h[w * 4] = (int8_t)(((acc2[0] + (((acc2[0] + 512) >> 2) & 1) + 513) >> 2) - 128);
            y_h[w * 4 + 1] = (int8_t)(((acc2[1] + (((acc2[1] + 512) >> 2) & 1) + 513) >> 2) - 128);
            y_h[w * 4 + 2] = (int8_t)(((acc2[2] + (((acc2[2] + 512) >> 2) & 1) + 513) >> 2) - 128);
            y_h[w * 4 + 3] = (int8_t)(((acc2[3] + (((acc2[3] + 512) >> 2) & 1) + 513) >> 2) - 128);
        }
    }
}

/* packed_dense + requantize_fixed + lookup
 * patch[n<1, h<3, w<3, e<4] = i16(x[n, h, w, e])
 * acc[n<1, h<3, w<3, o<4] = sum(q<1, s<2, t<2; b[o]) i32(patch[n, h, w, s*2+t]) * i32(k[o/2, q, o%2, t, s])
 * y[n<1, h<3, w<3, c<3] = table[i32(i8(min(max(i32(i64(acc[0, h, w,
 *     c])*1374389504+68719476736 >> 32) >> 5,-128),127)))+128]
 * x: [1][3][3][4]  k: [2][1][2][2][2]  b: [4]  table: [256]  patch: [1][3][3][4]  y: [1][3][3][3]
 * schedule rows.dot: y.w by 2, y.c by 2; LW_COPY_I16; in registers acc */
static LW_NOINLINE void quantized_reals_dense1(const int8_t *restrict x, const int8_t *k, const int32_t *b,
    const int8_t *table, int16_t *restrict patch, int8_t *restrict y)
{
    for (int32_t h = 0; h < 3; h++) {
        int8_t *y_h = y + h * 9;
        for (int32_t wo = 0; wo < 2; wo++) {
            const int32_t wo_begin = lw_min_i32(wo * 2, 1);
            for (int32_t w = 0; w < 2; w++) {
                #ifdef LW_COPY_I16
                LW_COPY_I16(4, LW_AT(patch, w * 4), LW_AT(x, h * 12 + w * 4 + wo_begin * 4));
                #else
                {
                    const int8_t *x_w = x + h * 12 + (w + wo_begin) * 4;
                    int16_t *patch_w = patch + w * 4;
                    for (int32_t e = 0; e < 4; e++)
                        patch_w[e] = x_w[e];
                }
                #endif
            }
            {
                int32_t acc[4];
                acc[0] = b[0];
                acc[1] = b[1];
                acc[2] = b[0];
                acc[3] = b[1];
                for (int32_t s = 0; s < 2; s++)
                    for (int32_t t = 0; t < 2; t++) {
                        const int16_t *patch_t_row = patch + s * 2 + t;
                        const int8_t *k_t_row = k + t * 2 + s;
                        for (int32_t w = 0; w < 2; w++)
                            for (int32_t o = 0; o < 2; o++)
                                acc[w * 2 + o] += (int32_t)patch_t_row[w * 4] * k_t_row[o * 4];
                    }
                y_h[wo_begin * 3] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[0] * 1374389504 + 68719476736, 32), 5))
                    + 128];
                y_h[wo_begin * 3 + 1] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[1] * 1374389504 + 68719476736, 32), 5))
                    + 128];
                y_h[wo_begin * 3 + 3] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[2] * 1374389504 + 68719476736, 32), 5))
                    + 128];
                y_h[wo_begin * 3 + 4] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[3] * 1374389504 + 68719476736, 32), 5))
                    + 128];
            }
            {
                int32_t acc[4];
                acc[0] = b[2];
                acc[1] = b[3];
                acc[2] = b[2];
                acc[3] = b[3];
                for (int32_t s = 0; s < 2; s++)
                    for (int32_t t = 0; t < 2; t++) {
                        const int16_t *patch_t_row = patch + s * 2 + t;
                        const int8_t *k_t_row = k + t * 2 + s + 8;
                        for (int32_t w = 0; w < 2; w++)
                            for (int32_t o = 0; o < 2; o++)
                                acc[w * 2 + o] += (int32_t)patch_t_row[w * 4] * k_t_row[o * 4];
                    }
                y_h[wo_begin * 3 + 2] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[0] * 1374389504 + 68719476736, 32), 5))
                    + 128];
                y_h[wo_begin * 3 + 5] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)acc[2] * 1374389504 + 68719476736, 32), 5))
                    + 128];
            }
        }
    }
}

/* [1][9][2][2]: [4 channels][2 elements][2 channels][element]; two int8 in an int16, even channel + 256 * odd */
static const LW_ALIGN(16) int16_t quantized_reals_mean_k[36] = {
    -12867,-1306,14491,-26712,-31342,-13461,3303,32333,-28604,-8950,1465,18375,21421,29111,-15460,-30866,
    9557,-14771,-15537,-21838,-13616,30268,24353,23131,-8094,-10468,22679,-7124,-16382,-14342,-16466,
    29079,21104,22541,29278,-32307
};

/* [4] */
static const LW_ALIGN(16) int32_t quantized_reals_mean_b[4] = {
    -741,474,1005,-381
};

/* [4] */
static const LW_ALIGN(16) int32_t quantized_reals_mean_multiplier[4] = {
    1287247421,2048717779,1885545511,1613591788
};

/* [4] */
static const LW_ALIGN(16) int64_t quantized_reals_mean_offset[4] = {
    -33233907482624,-44989312663552,-69509012520960,-22180305829888
};

/* [4] */
static const LW_ALIGN(16) uint8_t quantized_reals_mean_shift[4] = {
    6,6,7,6
};

/* [2][1][2][2][2]: [2 channels][4 elements][channel][2 elements][even, odd]: elements 0 2 1 3 */
static const LW_ALIGN(16) int8_t quantized_reals_dense1_k[16] = {
    105,90,53,-78,-53,68,98,-22,19,3,-48,-19,0,0,0,0
};

/* [4] */
static const LW_ALIGN(16) int32_t quantized_reals_dense1_b[4] = {
    21760,11648,-5760,0
};

/* [256] */
static const LW_ALIGN(16) int8_t quantized_reals_dense1_table[256] = {
    -127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,
    -126,-126,-126,-126,-126,-126,-126,-126,-126,-126,-126,-125,-125,-125,-125,-125,-125,-125,-124,
    -124,-124,-124,-124,-124,-123,-123,-123,-123,-122,-122,-122,-122,-121,-121,-121,-120,-120,-120,
    -119,-119,-118,-118,-117,-117,-116,-116,-115,-115,-114,-114,-113,-112,-112,-111,-110,-109,-108,
    -108,-107,-106,-105,-104,-103,-102,-100,-99,-98,-97,-95,-94,-93,-91,-90,-88,-87,-85,-83,-81,-80,
    -78,-76,-74,-72,-70,-68,-65,-63,-61,-58,-56,-54,-51,-49,-46,-43,-41,-38,-35,-32,-30,-27,-24,-21,
    -18,-15,-12,-9,-6,-3,0,3,6,9,12,15,18,21,24,27,30,32,35,38,41,43,46,49,51,54,56,58,61,63,65,68,
    70,72,74,76,78,80,81,83,85,87,88,90,91,93,94,95,97,98,99,100,102,103,104,105,106,107,108,108,109,
    110,111,112,112,113,114,114,115,115,116,116,117,117,118,118,119,119,120,120,120,121,121,121,122,
    122,122,122,123,123,123,123,124,124,124,124,124,124,125,125,125,125,125,125,125,126,126,126,126,
    126,126,126,126,126,126,126,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,
    127
};

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    quantized_reals_mean_rows_at = 0,          /* 48 bytes in layer 1 */
    quantized_reals_dense1_patch_at = 0,       /* 16 bytes in layer 2 */
    quantized_reals_mean_at = 48,              /* 36 bytes in layers 1 to 2 */
    quantized_reals_x_at = 64,                 /* 72 bytes in layers 0 to 1 */
    quantized_reals_mean_patch_at = 144,       /* 72 bytes in layer 1 */
    quantized_reals_mean_between_at = 224,     /* 48 bytes in layer 1 */
};

int quantized_reals_run(void *arena, const struct quantized_reals_inputs *in, const struct quantized_reals_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % QUANTIZED_REALS_ARENA_ALIGN != 0) return QUANTIZED_REALS_E_ARENA;
    if (in == NULL || in->x == NULL) return QUANTIZED_REALS_E_NULL;
    if (out == NULL || out->y == NULL) return QUANTIZED_REALS_E_NULL;
    LW_LAYER(0, "x")
    quantized_reals_x(in->x, (int8_t *)(memory + quantized_reals_x_at));
    LW_LAYER(1, "mean")
    quantized_reals_mean((int8_t *)(memory + quantized_reals_x_at), quantized_reals_mean_k, quantized_reals_mean_b,
        quantized_reals_mean_multiplier, quantized_reals_mean_offset, quantized_reals_mean_shift,
        (int8_t *)(memory + quantized_reals_mean_between_at), (int8_t *)(memory + quantized_reals_mean_rows_at),
        (int16_t *)(void *)(memory + quantized_reals_mean_patch_at), (int8_t *)(memory + quantized_reals_mean_at));
    LW_LAYER(2, "dense1")
    quantized_reals_dense1((int8_t *)(memory + quantized_reals_mean_at), quantized_reals_dense1_k,
        quantized_reals_dense1_b, quantized_reals_dense1_table,
        (int16_t *)(void *)(memory + quantized_reals_dense1_patch_at), out->y);
    return 0;
}
