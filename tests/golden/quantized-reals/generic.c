/* quantized_reals: quantized-reals.te for generic, emitted by Loopwright. */
#include "generic.h"
#if QUANTIZED_REALS_HEADER_HASH != 0x1ce0553c
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* recentered
 * y[n<1, h<6, w<6, c<2] = i8(i32(x[n, h, w, c]) - 128)
 * x: [1][6][6][2]  y: [1][6][6][2] */
static void quantized_reals_x(const uint8_t *restrict x, int8_t *restrict y)
{
    for (int32_t h = 0; h < 6; h++)
        for (int32_t w = 0; w < 6; w++) {
            const uint8_t *x_w = x + h * 12 + w * 2;
            int8_t *y_w = y + h * 12 + w * 2;
            for (int32_t c = 0; c < 2; c++)
                y_w[c] = (int8_t)((int32_t)x_w[c] - 128);
        }
}

/* conv2d + requantize_fixed + dequantize + avg_pool2d + quantize
 * acc2[n<1, h<6, w<6, o<4] = sum(i<3, j<3, c<2) select(0 <= h + i - 1 && h + i - 1 < 6 && 0 <= w + j - 1
 *     && w + j - 1 < 6, (i32(x[n, h+i-1, w+j-1, c]) - 3) * i32(k[i, j, c, o]), 0)
 * t[n<1, h<6, w<6, c<4] = f32(i32(i8(min(max(i32(i64(acc2[n, h, w,
 *     c]) * i64(multiplier[c]) + offset[c] >> 32) >> i32(shift[c]), -128), 127))) + 128) * 0.047
 * acc[n<1, h<3, w<3, c<4] = sum(i<2, j<2) t[n, h*2+i, w*2+j, c]
 * y[n<1, h<3, w<3, c<4] = i8(nearbyint(acc[n, h, w, c] / 4.0 / 0.047) - 128.0)
 * x: [1][6][6][2]  k: [3][3][2][4]  multiplier: [4]  offset: [4]  shift: [4]  t: [1][6][6][4]  y: [1][3][3][4]
 * schedule contraction.tiled + contraction.tiled: in registers acc, acc2; vectors along y.c, acc.c, y.w, ... */
static void quantized_reals_mean(const int8_t *x, const int8_t *restrict k, const int32_t *restrict multiplier,
    const int64_t *restrict offset, const uint8_t *restrict shift, float *restrict t, int8_t *y)
{
    for (int32_t h = 0; h < 3; h++) {
        float acc[12];
        for (int32_t w = 0; w < 3; w++)
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                acc[w * 4 + c] = 0.0f;
        for (int32_t h2 = 0; h2 < 2; h2++) {
            int32_t acc2[24];
            for (int32_t w = 0; w < 6; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc2[w * 4 + o] = 0;
            const int32_t i_end = lw_min_i32(7 - h * 2 - h2, 3);
            for (int32_t i = lw_max_i32(1 - h * 2 - h2, 0); i < i_end; i++) {
                for (int32_t c = 0; c < 2; c++) {
                    const int32_t x_at_c = h * 24 + (i + h2 - 1) * 12 + c - 2;
                    const int8_t *k_c = k + i * 24 + c * 4;
                    for (int32_t w = 1; w < 6; w++)
                        LW_VECTOR
                        for (int32_t o = 0; o < 4; o++)
                            acc2[w * 4 + o] += (x[x_at_c + w * 2] - 3) * k_c[o];
                }
                for (int32_t c = 0; c < 2; c++) {
                    const int8_t *x_c = x + h * 24 + (i + h2 - 1) * 12 + c;
                    const int8_t *k_c = k + i * 24 + c * 4 + 8;
                    for (int32_t w = 0; w < 6; w++)
                        LW_VECTOR
                        for (int32_t o = 0; o < 4; o++)
                            acc2[w * 4 + o] += (x_c[w * 2] - 3) * k_c[o];
                }
                for (int32_t c = 0; c < 2; c++) {
                    const int8_t *x_c = x + h * 24 + (i + h2) * 12 + c - 10;
                    const int8_t *k_c = k + i * 24 + c * 4 + 16;
                    for (int32_t w = 0; w < 5; w++)
                        LW_VECTOR
                        for (int32_t o = 0; o < 4; o++)
                            acc2[w * 4 + o] += (x_c[w * 2] - 3) * k_c[o];
                }
            }
            for (int32_t w = 0; w < 6; w++) {
                float *t_w = t + h2 * 24 + w * 4;
                LW_VECTOR
                for (int32_t c = 0; c < 4; c++)
                    t_w[c] = (float)(lw_sat_i8(lw_asr_i32((int32_t)lw_shr_i64(offset[c] + (int64_t)acc2[w * 4 + c]
                        * (int64_t)multiplier[c], 32), (int32_t)shift[c])) + 128) * 0.047f;
            }
        }
        for (int32_t i = 0; i < 2; i++)
            for (int32_t j = 0; j < 2; j++)
                for (int32_t w = 0; w < 3; w++) {
                    const float *t_w = t + i * 24 + w * 8 + j * 4;
                    LW_VECTOR
                    for (int32_t c = 0; c < 4; c++)
                        acc[w * 4 + c] += t_w[c];
                }
        for (int32_t w = 0; w < 3; w++) {
            int8_t *y_w = y + h * 12 + w * 4;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_w[c] = (int8_t)lw_max_i32(-128,
                    lw_min_i32(127, lw_i32_from_f32(lw_nearbyintf(acc[w * 4 + c] / 4.0f / 0.047f) - 128.0f)));
        }
    }
}

/* dense + add + requantize_fixed + lookup
 * acc[n<1, h<3, w<3, o<3] = sum(k<4) i32(x[n, h, w, k]) * i32(w[k, o])
 * y[n<1, h<3, w<3, c<3] = table[i32(i8(min(max(i32(i64(acc[0, h, w,
 *     c]+b[c])*1374389504+68719476736 >> 32) >> 5,-128),127)))+128]
 * x: [1][3][3][4]  w: [4][3]  b: [3]  table: [256]  y: [1][3][3][3]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o, y.w, acc.w */
static void quantized_reals_dense1(const int8_t *restrict x, const int8_t *w, const int32_t *b, const int8_t *table,
    int8_t *restrict y)
{
    for (int32_t h = 0; h < 3; h++) {
        int32_t acc[9];
        for (int32_t w2 = 0; w2 < 3; w2++)
            LW_VECTOR
            for (int32_t o = 0; o < 3; o++)
                acc[w2 * 3 + o] = 0;
        for (int32_t k = 0; k < 4; k++) {
            const int8_t *x_k = x + h * 12 + k;
            const int8_t *w_k = w + k * 3;
            for (int32_t w2 = 0; w2 < 3; w2++)
                LW_VECTOR
                for (int32_t o = 0; o < 3; o++)
                    acc[w2 * 3 + o] += x_k[w2 * 4] * w_k[o];
        }
        for (int32_t w2 = 0; w2 < 3; w2++) {
            int8_t *y_w = y + h * 9 + w2 * 3;
            LW_VECTOR
            for (int32_t c = 0; c < 3; c++)
                y_w[c] =
                    table[lw_sat_i8(lw_shr_i32((int32_t)lw_shr_i64((int64_t)(b[c] + acc[w2 * 3 + c]) * 1374389504
                    + 68719476736, 32), 5)) + 128];
        }
    }
}

/* [3][3][2][4] */
static const LW_ALIGN(16) int8_t quantized_reals_mean_k[72] = {
    -67,-50,-101,57,-26,-5,-88,-104,-110,-122,-25,13,107,-53,77,126,68,-112,-71,6,10,-35,-57,72,-83,
    84,-100,-60,-73,114,110,-121,85,37,79,-61,77,-58,-78,-85,-48,-53,33,95,60,118,91,90,98,-32,-105,
    89,28,-41,44,-28,2,-64,-82,-64,-6,-56,-105,114,112,82,94,114,13,88,-51,-126
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

/* [4][3] */
static const LW_ALIGN(16) int8_t quantized_reals_dense1_w[12] = {
    105,-53,19,53,98,-48,90,68,3,-78,-22,-19
};

/* [3] */
static const LW_ALIGN(16) int32_t quantized_reals_dense1_b[3] = {
    21760,11648,-5760
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
    quantized_reals_mean_t_at = 0,     /* 192 bytes in layer 1 */
    quantized_reals_mean_at = 192,     /* 36 bytes in layers 1 to 2 */
    quantized_reals_x_at = 208,        /* 72 bytes in layers 0 to 1 */
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
    quantized_reals_mean((int8_t *)(memory + quantized_reals_x_at), quantized_reals_mean_k,
        quantized_reals_mean_multiplier, quantized_reals_mean_offset, quantized_reals_mean_shift,
        (float *)(void *)(memory + quantized_reals_mean_t_at), (int8_t *)(memory + quantized_reals_mean_at));
    LW_LAYER(2, "dense1")
    quantized_reals_dense1((int8_t *)(memory + quantized_reals_mean_at), quantized_reals_dense1_w,
        quantized_reals_dense1_b, quantized_reals_dense1_table, out->y);
    return 0;
}
