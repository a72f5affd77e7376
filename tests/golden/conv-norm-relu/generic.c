/* conv_norm_relu: conv-norm-relu.onnx for generic, emitted by Loopwright. */
#include "generic.h"

#include <stddef.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* transpose + conv2d + add + relu
 * acc[n<1, h<6, w<6, o<4] = sum(i<3, j<3, c<2) select(0 <= h + i - 1 && h + i - 1 < 6 && 0 <= w + j - 1
 *     && w + j - 1 < 6, x[n, c, h+i-1, w+j-1] * k[i, j, c, o], 0.0)
 * y[n<1, h<6, w<6, c<4] = max(acc[n, h, w, c] + b[c], 0.0)
 * x: [1][2][6][6]  k: [3][3][2][4]  b: [4]  y: [1][6][6][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o, y.w, acc.w */
static void conv_norm_relu_conv(const float *restrict x, const float *k, const float *b, float *restrict y)
{
    for (int32_t h = 0; h < 6; h++) {
        float acc[24];
        for (int32_t w = 0; w < 6; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        const int32_t i_end = lw_min_i32(7 - h, 3);
        for (int32_t i = lw_max_i32(1 - h, 0); i < i_end; i++) {
            for (int32_t c = 0; c < 2; c++) {
                const int32_t x_at_c = c * 36 + (h + i - 1) * 6 - 1;
                const float *k_c = k + i * 24 + c * 4;
                for (int32_t w = 1; w < 6; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x[x_at_c + w] * k_c[o];
            }
            for (int32_t c = 0; c < 2; c++) {
                const float *x_c = x + c * 36 + (h + i - 1) * 6;
                const float *k_c = k + i * 24 + c * 4 + 8;
                for (int32_t w = 0; w < 6; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w] * k_c[o];
            }
            for (int32_t c = 0; c < 2; c++) {
                const float *x_c = x + c * 36 + (h + i) * 6 - 5;
                const float *k_c = k + i * 24 + c * 4 + 16;
                for (int32_t w = 0; w < 5; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w] * k_c[o];
            }
        }
        for (int32_t w = 0; w < 6; w++) {
            float *y_w = y + h * 24 + w * 4;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_w[c] = lw_maxf(acc[w * 4 + c] + b[c], 0.0f);
        }
    }
}

/* transpose
 * y[n<1, c<4, h<6, w<6] = x[n, h, w, c]
 * x: [1][6][6][4]  y: [1][4][6][6] */
static void conv_norm_relu_y(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        for (int32_t h = 0; h < 6; h++) {
            const float *x_h = x + h * 24 + c;
            float *y_h = y + c * 36 + h * 6;
            for (int32_t w = 0; w < 6; w++)
                y_h[w] = x_h[w * 4];
        }
}

/* [3][3][2][4] */
static const LW_ALIGN(16) float conv_norm_relu_conv_k[72] = {
    -.875f,-.25f,.28125f,2.f,.5f,-1.f,-.28125f,.5f,-.25f,.375f,.75f,-1.f,-1.f,-.375f,.1875f,1.75f,.375f,
    1.f,-.375f,.25f,-.375f,.25f,.65625f,-1.25f,1.f,-.5f,.09375f,1.5f,.25f,.875f,-.46875f,0.f,-.5f,.125f,
    .5625f,-1.5f,.875f,-.625f,0.f,1.25f,.125f,.75f,-.5625f,-.25f,-.625f,0.f,.46875f,-1.75f,.75f,-.75f,
    -.09375f,1.f,0.f,.625f,-.65625f,-.5f,-.75f,-.125f,.375f,-2.f,.625f,-.875f,-.1875f,.75f,-.125f,.5f,
    -.75f,-.75f,-.875f,-.25f,.28125f,2.f
};

/* [4] */
static const LW_ALIGN(16) float conv_norm_relu_conv_b[4] = {
    0.f,0.f,.1875f,.75f
};

int conv_norm_relu_run(void *arena, const struct conv_norm_relu_inputs *in, const struct conv_norm_relu_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_NORM_RELU_ARENA_ALIGN != 0) return CONV_NORM_RELU_E_ARENA;
    if (in == NULL || in->x == NULL) return CONV_NORM_RELU_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_NORM_RELU_E_NULL;
    LW_LAYER(0, "conv")
    conv_norm_relu_conv(in->x, conv_norm_relu_conv_k, conv_norm_relu_conv_b, (float *)(void *)memory);
    LW_LAYER(1, "y")
    conv_norm_relu_y((float *)(void *)memory, out->y);
    return 0;
}
