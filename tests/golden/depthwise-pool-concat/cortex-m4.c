/* depthwise_pool_concat: depthwise-pool-concat.onnx for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* transpose + depthwise_conv2d
 * acc[n<1, h<4, w<4, o<4] = sum(i<3, j<3) select(h * 2 + i < 8
 *     && w * 2 + j < 8, x[n, o, h*2+i, w*2+j] * k[i, j, o], 0.0)
 * y[n<1, h<4, w<4, o<4] = acc[n, h, w, o]
 * x: [1][4][8][8]  k: [3][3][4]  y: [1][4][4][4]
 * schedule contraction.tiled: in registers acc */
static LW_NOINLINE void depthwise_pool_concat_depthwise(const float *restrict x, const float *k, float *restrict y)
{
    for (int32_t h = 0; h < 4; h++) {
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
        const float *x_h = x + h * 16 + 2;
        const int32_t i_end = lw_min_i32(8 - h * 2, 3);
        for (int32_t i = 0; i < i_end; i++) {
            const float *x_i = x + h * 16 + i * 8;
            const float *k_i = k + i * 12;
            for (int32_t j = 0; j < 2; j++) {
                acc_0 += x_i[j] * k_i[j * 4];
                acc_1 += x_i[j + 64] * k_i[j * 4 + 1];
                acc_2 += x_i[j + 128] * k_i[j * 4 + 2];
                acc_3 += x_i[j + 192] * k_i[j * 4 + 3];
                acc_4 += x_i[j + 2] * k_i[j * 4];
                acc_5 += x_i[j + 66] * k_i[j * 4 + 1];
                acc_6 += x_i[j + 130] * k_i[j * 4 + 2];
                acc_7 += x_i[j + 194] * k_i[j * 4 + 3];
                acc_8 += x_i[j + 4] * k_i[j * 4];
                acc_9 += x_i[j + 68] * k_i[j * 4 + 1];
                acc_10 += x_i[j + 132] * k_i[j * 4 + 2];
                acc_11 += x_i[j + 196] * k_i[j * 4 + 3];
                acc_12 += x_i[j + 6] * k_i[j * 4];
                acc_13 += x_i[j + 70] * k_i[j * 4 + 1];
                acc_14 += x_i[j + 134] * k_i[j * 4 + 2];
                acc_15 += x_i[j + 198] * k_i[j * 4 + 3];
            }
            acc_0 += x_h[i * 8] * k[i * 12 + 8];
            acc_1 += x_h[i * 8 + 64] * k[i * 12 + 9];
            acc_2 += x_h[i * 8 + 128] * k[i * 12 + 10];
            acc_3 += x_h[i * 8 + 192] * k[i * 12 + 11];
            acc_4 += x_h[i * 8 + 2] * k[i * 12 + 8];
            acc_5 += x_h[i * 8 + 66] * k[i * 12 + 9];
            acc_6 += x_h[i * 8 + 130] * k[i * 12 + 10];
            acc_7 += x_h[i * 8 + 194] * k[i * 12 + 11];
            acc_8 += x_h[i * 8 + 4] * k[i * 12 + 8];
            acc_9 += x_h[i * 8 + 68] * k[i * 12 + 9];
            acc_10 += x_h[i * 8 + 132] * k[i * 12 + 10];
            acc_11 += x_h[i * 8 + 196] * k[i * 12 + 11];
        }
        y[h * 16] = acc_0;
        y[h * 16 + 1] = acc_1;
        y[h * 16 + 2] = acc_2;
        y[h * 16 + 3] = acc_3;
        y[h * 16 + 4] = acc_4;
        y[h * 16 + 5] = acc_5;
        y[h * 16 + 6] = acc_6;
        y[h * 16 + 7] = acc_7;
        y[h * 16 + 8] = acc_8;
        y[h * 16 + 9] = acc_9;
        y[h * 16 + 10] = acc_10;
        y[h * 16 + 11] = acc_11;
        y[h * 16 + 12] = acc_12;
        y[h * 16 + 13] = acc_13;
        y[h * 16 + 14] = acc_14;
        y[h * 16 + 15] = acc_15;
    }
}

/* max_pool2d
 * acc[n<1, h<2, w<2, c<4] = max(i<2, j<2) x[n, h*2+i, w*2+j, c]
 * y[n<1, h<2, w<2, c<4] = acc[n, h, w, c]
 * x: [1][4][4][4]  y: [1][2][2][4]
 * schedule contraction.tiled: y.c by 2; in registers acc */
static LW_NOINLINE void depthwise_pool_concat_max(const float *restrict x, float *restrict y)
{
    for (int32_t h = 0; h < 2; h++) {
        float *y_h = y + h * 16;
        for (int32_t co = 0; co < 2; co++) {
            float acc_0 = -INFINITY;
            float acc_1 = -INFINITY;
            float acc_2 = -INFINITY;
            float acc_3 = -INFINITY;
            for (int32_t i = 0; i < 2; i++) {
                const float *x_i = x + h * 32 + i * 16 + co * 2;
                for (int32_t j = 0; j < 2; j++) {
                    acc_0 = lw_maxf(acc_0, x_i[j * 4]);
                    acc_1 = lw_maxf(acc_1, x_i[j * 4 + 1]);
                    acc_2 = lw_maxf(acc_2, x_i[j * 4 + 8]);
                    acc_3 = lw_maxf(acc_3, x_i[j * 4 + 9]);
                }
            }
            y_h[co * 2] = acc_0;
            y_h[co * 2 + 1] = acc_1;
            y_h[co * 2 + 8] = acc_2;
            y_h[co * 2 + 9] = acc_3;
        }
    }
}

/* avg_pool2d
 * acc[n<1, h<2, w<2, c<4] = sum(i<2, j<2) x[n, h*2+i, w*2+j, c]
 * y[n<1, h<2, w<2, c<4] = acc[n, h, w, c] / 4.0
 * x: [1][4][4][4]  y: [1][2][2][4]
 * schedule contraction.tiled: y.c by 2; in registers acc */
static LW_NOINLINE void depthwise_pool_concat_mean(const float *restrict x, float *restrict y)
{
    for (int32_t h = 0; h < 2; h++) {
        float *y_h = y + h * 16;
        for (int32_t co = 0; co < 2; co++) {
            float acc_0 = 0.0f;
            float acc_1 = 0.0f;
            float acc_2 = 0.0f;
            float acc_3 = 0.0f;
            for (int32_t i = 0; i < 2; i++) {
                const float *x_i = x + h * 32 + i * 16 + co * 2;
                for (int32_t j = 0; j < 2; j++) {
                    acc_0 += x_i[j * 4];
                    acc_1 += x_i[j * 4 + 1];
                    acc_2 += x_i[j * 4 + 8];
                    acc_3 += x_i[j * 4 + 9];
                }
            }
            y_h[co * 2] = acc_0 / 4.0f;
            y_h[co * 2 + 1] = acc_1 / 4.0f;
            y_h[co * 2 + 8] = acc_2 / 4.0f;
            y_h[co * 2 + 9] = acc_3 / 4.0f;
        }
    }
}

/* transpose
 * y[n<1, c<8, h<2, w<2] = x[n, h, w, c]
 * x: [1][2][2][8]  y: [1][8][2][2] */
static LW_NOINLINE void depthwise_pool_concat_y_2(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 8; c++)
        for (int32_t h = 0; h < 2; h++) {
            const float *x_h = x + h * 16 + c;
            float *y_h = y + c * 4 + h * 2;
            for (int32_t w = 0; w < 2; w++)
                y_h[w] = x_h[w * 8];
        }
}

/* [3][3][4] */
static const LW_ALIGN(16) float depthwise_pool_concat_depthwise_k[36] = {
    -.875f,.5f,-.25f,-1.f,-.25f,-1.f,.375f,-.375f,.375f,-.375f,1.f,.25f,1.f,.25f,-.5f,.875f,-.5f,.875f,
    .125f,-.625f,.125f,-.625f,.75f,0.f,.75f,0.f,-.75f,.625f,-.75f,.625f,-.125f,-.875f,-.125f,-.875f,
    .5f,-.25f
};

int depthwise_pool_concat_run(void *arena, const struct depthwise_pool_concat_inputs *in,
    const struct depthwise_pool_concat_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory
        % DEPTHWISE_POOL_CONCAT_ARENA_ALIGN != 0) return DEPTHWISE_POOL_CONCAT_E_ARENA;
    if (in == NULL || in->x == NULL) return DEPTHWISE_POOL_CONCAT_E_NULL;
    if (out == NULL || out->y == NULL) return DEPTHWISE_POOL_CONCAT_E_NULL;
    LW_LAYER(0, "depthwise")
    depthwise_pool_concat_depthwise(in->x, depthwise_pool_concat_depthwise_k, (float *)(void *)memory);
    LW_LAYER(1, "max")
    depthwise_pool_concat_max((float *)(void *)memory, (float *)(void *)(memory + 256));
    LW_LAYER(2, "mean")
    depthwise_pool_concat_mean((float *)(void *)memory, (float *)(void *)(memory + 272));
    LW_LAYER(3, "y")
    depthwise_pool_concat_y_2((float *)(void *)(memory + 256), out->y);
    return 0;
}
