/* residual: residual.onnx for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if RESIDUAL_HEADER_HASH != 0x1f76591a
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* transpose + conv1d + add + relu
 * acc[n<1, w<16, o<4] = sum(j<3, c<4) select(0 <= w + j - 1 && w + j - 1 < 16, x[n, c, w+j-1] * k[j, c, o], 0.0)
 * y[n<1, w<16, c<4] = max(acc[n, w, c] + b[c], 0.0)
 * x: [1][4][16]  k: [3][4][4]  b: [4]  y: [1][16][4]
 * schedule contraction.tiled: y.w by 4; in registers acc */
static LW_NOINLINE void residual_first(const float *restrict x, const float *k, const float *b, float *restrict y)
{
    for (int32_t wo = 0; wo < 4; wo++) {
        float acc_0 = 0.0f;
        float acc_1 = 0.0f;
        float acc_2 = 0.0f;
        float acc_3 = 0.0f;
        float acc_4 = 0.0f;
        float acc_5 = 0.0f;
        float acc_6 = 0.0f;
        float acc_7 = 0.0f;
        float acc_8 = 0.0f;
        float acc_9 = 0.0f;
        float acc_10 = 0.0f;
        float acc_11 = 0.0f;
        float acc_12 = 0.0f;
        float acc_13 = 0.0f;
        float acc_14 = 0.0f;
        float acc_15 = 0.0f;
        for (int32_t j = 0; j < 3; j++) {
            if (wo * 4 + j >= 1 && wo * 4 + j <= 13) {
                const float *x_j = x + wo * 4 + j - 1;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    acc_0 += x_j[c * 16] * k_j[c * 4];
                    acc_1 += x_j[c * 16] * k_j[c * 4 + 1];
                    acc_2 += x_j[c * 16] * k_j[c * 4 + 2];
                    acc_3 += x_j[c * 16] * k_j[c * 4 + 3];
                    acc_4 += x_j[c * 16 + 1] * k_j[c * 4];
                    acc_5 += x_j[c * 16 + 1] * k_j[c * 4 + 1];
                    acc_6 += x_j[c * 16 + 1] * k_j[c * 4 + 2];
                    acc_7 += x_j[c * 16 + 1] * k_j[c * 4 + 3];
                    acc_8 += x_j[c * 16 + 2] * k_j[c * 4];
                    acc_9 += x_j[c * 16 + 2] * k_j[c * 4 + 1];
                    acc_10 += x_j[c * 16 + 2] * k_j[c * 4 + 2];
                    acc_11 += x_j[c * 16 + 2] * k_j[c * 4 + 3];
                    acc_12 += x_j[c * 16 + 3] * k_j[c * 4];
                    acc_13 += x_j[c * 16 + 3] * k_j[c * 4 + 1];
                    acc_14 += x_j[c * 16 + 3] * k_j[c * 4 + 2];
                    acc_15 += x_j[c * 16 + 3] * k_j[c * 4 + 3];
                }
            } else {
                const float *x_j = x + wo * 4 + j;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    if (wo * 4 + j >= 1) {
                        acc_0 += x_j[c * 16 - 1] * k_j[c * 4];
                        acc_1 += x_j[c * 16 - 1] * k_j[c * 4 + 1];
                        acc_2 += x_j[c * 16 - 1] * k_j[c * 4 + 2];
                        acc_3 += x_j[c * 16 - 1] * k_j[c * 4 + 3];
                    }
                    acc_4 += x_j[c * 16] * k_j[c * 4];
                    acc_5 += x_j[c * 16] * k_j[c * 4 + 1];
                    acc_6 += x_j[c * 16] * k_j[c * 4 + 2];
                    acc_7 += x_j[c * 16] * k_j[c * 4 + 3];
                    acc_8 += x_j[c * 16 + 1] * k_j[c * 4];
                    acc_9 += x_j[c * 16 + 1] * k_j[c * 4 + 1];
                    acc_10 += x_j[c * 16 + 1] * k_j[c * 4 + 2];
                    acc_11 += x_j[c * 16 + 1] * k_j[c * 4 + 3];
                    if (wo * 4 + j < 14) {
                        acc_12 += x_j[c * 16 + 2] * k_j[c * 4];
                        acc_13 += x_j[c * 16 + 2] * k_j[c * 4 + 1];
                        acc_14 += x_j[c * 16 + 2] * k_j[c * 4 + 2];
                        acc_15 += x_j[c * 16 + 2] * k_j[c * 4 + 3];
                    }
                }
            }
        }
        y[wo * 16] = lw_maxf(acc_0 + b[0], 0.0f);
        y[wo * 16 + 1] = lw_maxf(acc_1 + b[1], 0.0f);
        y[wo * 16 + 2] = lw_maxf(acc_2 + b[2], 0.0f);
        y[wo * 16 + 3] = lw_maxf(acc_3 + b[3], 0.0f);
        y[wo * 16 + 4] = lw_maxf(acc_4 + b[0], 0.0f);
        y[wo * 16 + 5] = lw_maxf(acc_5 + b[1], 0.0f);
        y[wo * 16 + 6] = lw_maxf(acc_6 + b[2], 0.0f);
        y[wo * 16 + 7] = lw_maxf(acc_7 + b[3], 0.0f);
        y[wo * 16 + 8] = lw_maxf(acc_8 + b[0], 0.0f);
        y[wo * 16 + 9] = lw_maxf(acc_9 + b[1], 0.0f);
        y[wo * 16 + 10] = lw_maxf(acc_10 + b[2], 0.0f);
        y[wo * 16 + 11] = lw_maxf(acc_11 + b[3], 0.0f);
        y[wo * 16 + 12] = lw_maxf(acc_12 + b[0], 0.0f);
        y[wo * 16 + 13] = lw_maxf(acc_13 + b[1], 0.0f);
        y[wo * 16 + 14] = lw_maxf(acc_14 + b[2], 0.0f);
        y[wo * 16 + 15] = lw_maxf(acc_15 + b[3], 0.0f);
    }
}

/* conv1d + add + relu
 * acc[n<1, w<16, o<4] = sum(j<3, c<4) select(0 <= w + j - 1 && w + j - 1 < 16, x[n, w+j-1, c] * k[j, c, o], 0.0)
 * y[n<1, w<16, c<4] = max(acc[n, w, c] + b[c], 0.0)
 * x: [1][16][4]  k: [3][4][4]  b: [4]  y: [1][16][4]
 * schedule contraction.tiled: y.w by 4; in registers acc */
static LW_NOINLINE void residual_second(const float *restrict x, const float *k, const float *b, float *restrict y)
{
    for (int32_t wo = 0; wo < 4; wo++) {
        float acc_0 = 0.0f;
        float acc_1 = 0.0f;
        float acc_2 = 0.0f;
        float acc_3 = 0.0f;
        float acc_4 = 0.0f;
        float acc_5 = 0.0f;
        float acc_6 = 0.0f;
        float acc_7 = 0.0f;
        float acc_8 = 0.0f;
        float acc_9 = 0.0f;
        float acc_10 = 0.0f;
        float acc_11 = 0.0f;
        float acc_12 = 0.0f;
        float acc_13 = 0.0f;
        float acc_14 = 0.0f;
        float acc_15 = 0.0f;
        for (int32_t j = 0; j < 3; j++) {
            if (wo * 4 + j >= 1 && wo * 4 + j <= 13) {
                const float *x_j = x + wo * 16 + (j - 1) * 4;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    acc_0 += x_j[c] * k_j[c * 4];
                    acc_1 += x_j[c] * k_j[c * 4 + 1];
                    acc_2 += x_j[c] * k_j[c * 4 + 2];
                    acc_3 += x_j[c] * k_j[c * 4 + 3];
                    acc_4 += x_j[c + 4] * k_j[c * 4];
                    acc_5 += x_j[c + 4] * k_j[c * 4 + 1];
                    acc_6 += x_j[c + 4] * k_j[c * 4 + 2];
                    acc_7 += x_j[c + 4] * k_j[c * 4 + 3];
                    acc_8 += x_j[c + 8] * k_j[c * 4];
                    acc_9 += x_j[c + 8] * k_j[c * 4 + 1];
                    acc_10 += x_j[c + 8] * k_j[c * 4 + 2];
                    acc_11 += x_j[c + 8] * k_j[c * 4 + 3];
                    acc_12 += x_j[c + 12] * k_j[c * 4];
                    acc_13 += x_j[c + 12] * k_j[c * 4 + 1];
                    acc_14 += x_j[c + 12] * k_j[c * 4 + 2];
                    acc_15 += x_j[c + 12] * k_j[c * 4 + 3];
                }
            } else {
                const float *x_j = x + wo * 16 + j * 4;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    if (wo * 4 + j >= 1) {
                        acc_0 += x_j[c - 4] * k_j[c * 4];
                        acc_1 += x_j[c - 4] * k_j[c * 4 + 1];
                        acc_2 += x_j[c - 4] * k_j[c * 4 + 2];
                        acc_3 += x_j[c - 4] * k_j[c * 4 + 3];
                    }
                    acc_4 += x_j[c] * k_j[c * 4];
                    acc_5 += x_j[c] * k_j[c * 4 + 1];
                    acc_6 += x_j[c] * k_j[c * 4 + 2];
                    acc_7 += x_j[c] * k_j[c * 4 + 3];
                    acc_8 += x_j[c + 4] * k_j[c * 4];
                    acc_9 += x_j[c + 4] * k_j[c * 4 + 1];
                    acc_10 += x_j[c + 4] * k_j[c * 4 + 2];
                    acc_11 += x_j[c + 4] * k_j[c * 4 + 3];
                    if (wo * 4 + j < 14) {
                        acc_12 += x_j[c + 8] * k_j[c * 4];
                        acc_13 += x_j[c + 8] * k_j[c * 4 + 1];
                        acc_14 += x_j[c + 8] * k_j[c * 4 + 2];
                        acc_15 += x_j[c + 8] * k_j[c * 4 + 3];
                    }
                }
            }
        }
        y[wo * 16] = lw_maxf(acc_0 + b[0], 0.0f);
        y[wo * 16 + 1] = lw_maxf(acc_1 + b[1], 0.0f);
        y[wo * 16 + 2] = lw_maxf(acc_2 + b[2], 0.0f);
        y[wo * 16 + 3] = lw_maxf(acc_3 + b[3], 0.0f);
        y[wo * 16 + 4] = lw_maxf(acc_4 + b[0], 0.0f);
        y[wo * 16 + 5] = lw_maxf(acc_5 + b[1], 0.0f);
        y[wo * 16 + 6] = lw_maxf(acc_6 + b[2], 0.0f);
        y[wo * 16 + 7] = lw_maxf(acc_7 + b[3], 0.0f);
        y[wo * 16 + 8] = lw_maxf(acc_8 + b[0], 0.0f);
        y[wo * 16 + 9] = lw_maxf(acc_9 + b[1], 0.0f);
        y[wo * 16 + 10] = lw_maxf(acc_10 + b[2], 0.0f);
        y[wo * 16 + 11] = lw_maxf(acc_11 + b[3], 0.0f);
        y[wo * 16 + 12] = lw_maxf(acc_12 + b[0], 0.0f);
        y[wo * 16 + 13] = lw_maxf(acc_13 + b[1], 0.0f);
        y[wo * 16 + 14] = lw_maxf(acc_14 + b[2], 0.0f);
        y[wo * 16 + 15] = lw_maxf(acc_15 + b[3], 0.0f);
    }
}

/* conv1d + add + add + relu
 * acc[n<1, w<16, o<4] = sum(j<3, c<4) select(0 <= w + j - 1 && w + j - 1 < 16, x[n, w+j-1, c] * k[j, c, o], 0.0)
 * y[n<1, w<16, c<4] = max(acc[n, w, c] + b[c] + x2[n, w, c], 0.0)
 * x: [1][16][4]  x2: [1][16][4]  k: [3][4][4]  b: [4]  y: [1][16][4]
 * schedule contraction.tiled: y.w by 4; in registers acc */
static LW_NOINLINE void residual_third(const float *x, const float *x2, const float *k, const float *b, float *y)
{
    for (int32_t wo = 0; wo < 4; wo++) {
        float acc_0 = 0.0f;
        float acc_1 = 0.0f;
        float acc_2 = 0.0f;
        float acc_3 = 0.0f;
        float acc_4 = 0.0f;
        float acc_5 = 0.0f;
        float acc_6 = 0.0f;
        float acc_7 = 0.0f;
        float acc_8 = 0.0f;
        float acc_9 = 0.0f;
        float acc_10 = 0.0f;
        float acc_11 = 0.0f;
        float acc_12 = 0.0f;
        float acc_13 = 0.0f;
        float acc_14 = 0.0f;
        float acc_15 = 0.0f;
        for (int32_t j = 0; j < 3; j++) {
            if (wo * 4 + j >= 1 && wo * 4 + j <= 13) {
                const float *x_j = x + wo * 16 + (j - 1) * 4;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    acc_0 += x_j[c] * k_j[c * 4];
                    acc_1 += x_j[c] * k_j[c * 4 + 1];
                    acc_2 += x_j[c] * k_j[c * 4 + 2];
                    acc_3 += x_j[c] * k_j[c * 4 + 3];
                    acc_4 += x_j[c + 4] * k_j[c * 4];
                    acc_5 += x_j[c + 4] * k_j[c * 4 + 1];
                    acc_6 += x_j[c + 4] * k_j[c * 4 + 2];
                    acc_7 += x_j[c + 4] * k_j[c * 4 + 3];
                    acc_8 += x_j[c + 8] * k_j[c * 4];
                    acc_9 += x_j[c + 8] * k_j[c * 4 + 1];
                    acc_10 += x_j[c + 8] * k_j[c * 4 + 2];
                    acc_11 += x_j[c + 8] * k_j[c * 4 + 3];
                    acc_12 += x_j[c + 12] * k_j[c * 4];
                    acc_13 += x_j[c + 12] * k_j[c * 4 + 1];
                    acc_14 += x_j[c + 12] * k_j[c * 4 + 2];
                    acc_15 += x_j[c + 12] * k_j[c * 4 + 3];
                }
            } else {
                const float *x_j = x + wo * 16 + j * 4;
                const float *k_j = k + j * 16;
                for (int32_t c = 0; c < 4; c++) {
                    if (wo * 4 + j >= 1) {
                        acc_0 += x_j[c - 4] * k_j[c * 4];
                        acc_1 += x_j[c - 4] * k_j[c * 4 + 1];
                        acc_2 += x_j[c - 4] * k_j[c * 4 + 2];
                        acc_3 += x_j[c - 4] * k_j[c * 4 + 3];
                    }
                    acc_4 += x_j[c] * k_j[c * 4];
                    acc_5 += x_j[c] * k_j[c * 4 + 1];
                    acc_6 += x_j[c] * k_j[c * 4 + 2];
                    acc_7 += x_j[c] * k_j[c * 4 + 3];
                    acc_8 += x_j[c + 4] * k_j[c * 4];
                    acc_9 += x_j[c + 4] * k_j[c * 4 + 1];
                    acc_10 += x_j[c + 4] * k_j[c * 4 + 2];
                    acc_11 += x_j[c + 4] * k_j[c * 4 + 3];
                    if (wo * 4 + j < 14) {
                        acc_12 += x_j[c + 8] * k_j[c * 4];
                        acc_13 += x_j[c + 8] * k_j[c * 4 + 1];
                        acc_14 += x_j[c + 8] * k_j[c * 4 + 2];
                        acc_15 += x_j[c + 8] * k_j[c * 4 + 3];
                    }
                }
            }
        }
        y[wo * 16] = lw_maxf(acc_0 + b[0] + x2[wo * 16], 0.0f);
        y[wo * 16 + 1] = lw_maxf(acc_1 + b[1] + x2[wo * 16 + 1], 0.0f);
        y[wo * 16 + 2] = lw_maxf(acc_2 + b[2] + x2[wo * 16 + 2], 0.0f);
        y[wo * 16 + 3] = lw_maxf(acc_3 + b[3] + x2[wo * 16 + 3], 0.0f);
        y[wo * 16 + 4] = lw_maxf(acc_4 + b[0] + x2[wo * 16 + 4], 0.0f);
        y[wo * 16 + 5] = lw_maxf(acc_5 + b[1] + x2[wo * 16 + 5], 0.0f);
        y[wo * 16 + 6] = lw_maxf(acc_6 + b[2] + x2[wo * 16 + 6], 0.0f);
        y[wo * 16 + 7] = lw_maxf(acc_7 + b[3] + x2[wo * 16 + 7], 0.0f);
        y[wo * 16 + 8] = lw_maxf(acc_8 + b[0] + x2[wo * 16 + 8], 0.0f);
        y[wo * 16 + 9] = lw_maxf(acc_9 + b[1] + x2[wo * 16 + 9], 0.0f);
        y[wo * 16 + 10] = lw_maxf(acc_10 + b[2] + x2[wo * 16 + 10], 0.0f);
        y[wo * 16 + 11] = lw_maxf(acc_11 + b[3] + x2[wo * 16 + 11], 0.0f);
        y[wo * 16 + 12] = lw_maxf(acc_12 + b[0] + x2[wo * 16 + 12], 0.0f);
        y[wo * 16 + 13] = lw_maxf(acc_13 + b[1] + x2[wo * 16 + 13], 0.0f);
        y[wo * 16 + 14] = lw_maxf(acc_14 + b[2] + x2[wo * 16 + 14], 0.0f);
        y[wo * 16 + 15] = lw_maxf(acc_15 + b[3] + x2[wo * 16 + 15], 0.0f);
    }
}

/* transpose
 * y[n<1, c<4, w<16] = x[n, w, c]
 * x: [1][16][4]  y: [1][4][16] */
static LW_NOINLINE void residual_y(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++) {
        float *y_c = y + c * 16;
        for (int32_t w = 0; w < 16; w++)
            y_c[w] = x[w * 4 + c];
    }
}

/* [3][4][4] */
static const LW_ALIGN(16) float residual_first_k[48] = {
    -.75f,.375f,-.625f,.5f,-1.f,.125f,-.875f,.25f,.875f,-.125f,1.f,0.f,.625f,-.375f,.75f,-.25f,-.125f,
    1.f,0.f,-1.f,-.375f,.75f,-.25f,.875f,-.625f,.5f,-.5f,.625f,-.875f,.25f,-.75f,.375f,.5f,-.5f,.625f,
    -.375f,.25f,-.75f,.375f,-.625f,0.f,-1.f,.125f,-.875f,-.25f,.875f,-.125f,1.f
};

/* [4] */
static const LW_ALIGN(16) float residual_first_b[4] = {
    -.75f,-.125f,.5f,-1.f
};

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    residual_first_at = 0,        /* 256 bytes in layers 0 to 3 */
    residual_second_at = 256,     /* 256 bytes in layers 1 to 2 */
};

int residual_run(void *arena, const struct residual_inputs *in, const struct residual_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % RESIDUAL_ARENA_ALIGN != 0) return RESIDUAL_E_ARENA;
    if (in == NULL || in->x == NULL) return RESIDUAL_E_NULL;
    if (out == NULL || out->y == NULL) return RESIDUAL_E_NULL;
    LW_LAYER(0, "first")
    residual_first(in->x, residual_first_k, residual_first_b, (float *)(void *)(memory + residual_first_at));
    LW_LAYER(1, "second")
    residual_second((float *)(void *)(memory + residual_first_at), residual_first_k, residual_first_b,
        (float *)(void *)(memory + residual_second_at));
    LW_LAYER(2, "third")
    residual_third((float *)(void *)(memory + residual_second_at), (float *)(void *)(memory + residual_first_at),
        residual_first_k, residual_first_b, (float *)(void *)(memory + residual_first_at));
    LW_LAYER(3, "y")
    residual_y((float *)(void *)(memory + residual_first_at), out->y);
    return 0;
}
