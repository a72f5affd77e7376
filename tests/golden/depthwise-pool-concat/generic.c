/* depthwise_pool_concat: depthwise-pool-concat.onnx for generic, emitted by Loopwright. */
#include "generic.h"

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
 * schedule contraction.tiled: in registers acc; vectors along y.o, acc.o, y.w, acc.w */
static void depthwise_pool_concat_depthwise(const float *restrict x, const float *k, float *restrict y)
{
    for (int32_t h = 0; h < 4; h++) {
        float acc[16];
        for (int32_t w = 0; w < 4; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        const int32_t i_end = lw_min_i32(8 - h * 2, 3);
        for (int32_t i = 0; i < i_end; i++) {
            for (int32_t j = 0; j < 2; j++) {
                const float *k_j = k + i * 12 + j * 4;
                for (int32_t w = 0; w < 4; w++) {
                    const float *x_w = x + h * 16 + i * 8 + w * 2 + j;
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_w[o * 64] * k_j[o];
                }
            }
            const float *k_i = k + i * 12 + 8;
            for (int32_t w = 0; w < 3; w++) {
                const float *x_w = x + h * 16 + i * 8 + w * 2 + 2;
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x_w[o * 64] * k_i[o];
            }
        }
        for (int32_t w = 0; w < 4; w++) {
            float *y_w = y + h * 16 + w * 4;
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                y_w[o] = acc[w * 4 + o];
        }
    }
}

/* max_pool2d
 * acc[n<1, h<2, w<2, c<4] = max(i<2, j<2) x[n, h*2+i, w*2+j, c]
 * y[n<1, h<2, w<2, c<4] = acc[n, h, w, c]
 * x: [1][4][4][4]  y: [1][2][2][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.c, y.w, acc.w */
static void depthwise_pool_concat_max(const float *restrict x, float *restrict y)
{
    for (int32_t h = 0; h < 2; h++) {
        float acc[8];
        for (int32_t w = 0; w < 2; w++)
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                acc[w * 4 + c] = -INFINITY;
        for (int32_t i = 0; i < 2; i++)
            for (int32_t j = 0; j < 2; j++)
                for (int32_t w = 0; w < 2; w++) {
                    const float *x_w = x + h * 32 + i * 16 + w * 8 + j * 4;
                    LW_VECTOR
                    for (int32_t c = 0; c < 4; c++)
                        acc[w * 4 + c] = lw_maxf(acc[w * 4 + c], x_w[c]);
                }
        for (int32_t w = 0; w < 2; w++) {
            float *y_w = y + h * 16 + w * 8;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_w[c] = acc[w * 4 + c];
        }
    }
}

/* avg_pool2d
 * acc[n<1, h<2, w<2, c<4] = sum(i<2, j<2) x[n, h*2+i, w*2+j, c]
 * y[n<1, h<2, w<2, c<4] = acc[n, h, w, c] / 4.0
 * x: [1][4][4][4]  y: [1][2][2][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.c, y.w, acc.w */
static void depthwise_pool_concat_mean(const float *restrict x, float *restrict y)
{
    for (int32_t h = 0; h < 2; h++) {
        float acc[8];
        for (int32_t w = 0; w < 2; w++)
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                acc[w * 4 + c] = 0.0f;
        for (int32_t i = 0; i < 2; i++)
            for (int32_t j = 0; j < 2; j++)
                for (int32_t w = 0; w < 2; w++) {
                    const float *x_w = x + h * 32 + i * 16 + w * 8 + j * 4;
                    LW_VECTOR
                    for (int32_t c = 0; c < 4; c++)
                        acc[w * 4 + c] += x_w[c];
                }
        for (int32_t w = 0; w < 2; w++) {
            float *y_w = y + h * 16 + w * 8;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_w[c] = acc[w * 4 + c] / 4.0f;
        }
    }
}

/* transpose
 * y[n<1, c<8, h<2, w<2] = x[n, h, w, c]
 * x: [1][2][2][8]  y: [1][8][2][2] */
static void depthwise_pool_concat_y_2(const float *restrict x, float *restrict y)
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
