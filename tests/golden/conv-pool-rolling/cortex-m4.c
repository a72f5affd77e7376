/* conv_pool_rolling: rolling.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* conv[h<32, w<32, o<16] = sum(i<3, j<3, c<16) select(0 <= h + i - 1 && h + i - 1 < 32 && 0 <= w + j - 1
 *     && w + j - 1 < 32, x[h+i-1, w+j-1, c] * k[i, j, c, o], 0.0)
 * relu[h<32, w<32, o<16] = max(conv[h, w, o] + bias[o], 0.0)
 * best[h<15, w<15, o<16] = max(i<3, j<3) relu[h*2+i, w*2+j, o]
 * y[h<15, w<15, o<16] = best[h, w, o]
 * x: [32][32][16]  k: [3][3][16][16]  bias: [16]  relu: [32][32][16]  y: [15][15][16]
 * schedule of the file: y.o by 8, relu.o by 8; in registers conv; a ring of relu */
static void conv_pool_rolling_y(const float *restrict x, const float *restrict k, const float *restrict bias,
    float *restrict relu, float *restrict y)
{
    for (int32_t w = 0; w < 31; w++) {
        float *relu_w = relu + w * 16;
        for (int32_t oo = 0; oo < 2; oo++) {
            float conv_0 = 0.0f;
            float conv_1 = 0.0f;
            float conv_2 = 0.0f;
            float conv_3 = 0.0f;
            float conv_4 = 0.0f;
            float conv_5 = 0.0f;
            float conv_6 = 0.0f;
            float conv_7 = 0.0f;
            for (int32_t i = 1; i < 3; i++)
                for (int32_t j = lw_max_i32(1 - w, 0); j < 3; j++) {
                    const float *x_j = x + (i - 1) * 512 + (j + w - 1) * 16;
                    const float *k_j = k + i * 768 + j * 256 + oo * 8;
                    for (int32_t c = 0; c < 16; c++) {
                        conv_0 += x_j[c] * k_j[c * 16];
                        conv_1 += x_j[c] * k_j[c * 16 + 1];
                        conv_2 += x_j[c] * k_j[c * 16 + 2];
                        conv_3 += x_j[c] * k_j[c * 16 + 3];
                        conv_4 += x_j[c] * k_j[c * 16 + 4];
                        conv_5 += x_j[c] * k_j[c * 16 + 5];
                        conv_6 += x_j[c] * k_j[c * 16 + 6];
                        conv_7 += x_j[c] * k_j[c * 16 + 7];
                    }
                }
            relu_w[oo * 8] = lw_maxf(conv_0 + bias[oo * 8], 0.0f);
            relu_w[oo * 8 + 1] = lw_maxf(conv_1 + bias[oo * 8 + 1], 0.0f);
            relu_w[oo * 8 + 2] = lw_maxf(conv_2 + bias[oo * 8 + 2], 0.0f);
            relu_w[oo * 8 + 3] = lw_maxf(conv_3 + bias[oo * 8 + 3], 0.0f);
            relu_w[oo * 8 + 4] = lw_maxf(conv_4 + bias[oo * 8 + 4], 0.0f);
            relu_w[oo * 8 + 5] = lw_maxf(conv_5 + bias[oo * 8 + 5], 0.0f);
            relu_w[oo * 8 + 6] = lw_maxf(conv_6 + bias[oo * 8 + 6], 0.0f);
            relu_w[oo * 8 + 7] = lw_maxf(conv_7 + bias[oo * 8 + 7], 0.0f);
        }
    }
    for (int32_t h = 0; h < 15; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t w = 0; w < 31; w++) {
                float *relu_w = relu + ((h * 2 + h2 + 1) & 3) * 496 + w * 16;
                for (int32_t oo = 0; oo < 2; oo++) {
                    float conv_0 = 0.0f;
                    float conv_1 = 0.0f;
                    float conv_2 = 0.0f;
                    float conv_3 = 0.0f;
                    float conv_4 = 0.0f;
                    float conv_5 = 0.0f;
                    float conv_6 = 0.0f;
                    float conv_7 = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = lw_max_i32(1 - w, 0); j < 3; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + (w + j - 1) * 16;
                            const float *k_j = k + i * 768 + j * 256 + oo * 8;
                            for (int32_t c = 0; c < 16; c++) {
                                conv_0 += x_j[c] * k_j[c * 16];
                                conv_1 += x_j[c] * k_j[c * 16 + 1];
                                conv_2 += x_j[c] * k_j[c * 16 + 2];
                                conv_3 += x_j[c] * k_j[c * 16 + 3];
                                conv_4 += x_j[c] * k_j[c * 16 + 4];
                                conv_5 += x_j[c] * k_j[c * 16 + 5];
                                conv_6 += x_j[c] * k_j[c * 16 + 6];
                                conv_7 += x_j[c] * k_j[c * 16 + 7];
                            }
                        }
                    relu_w[oo * 8] = lw_maxf(conv_0 + bias[oo * 8], 0.0f);
                    relu_w[oo * 8 + 1] = lw_maxf(conv_1 + bias[oo * 8 + 1], 0.0f);
                    relu_w[oo * 8 + 2] = lw_maxf(conv_2 + bias[oo * 8 + 2], 0.0f);
                    relu_w[oo * 8 + 3] = lw_maxf(conv_3 + bias[oo * 8 + 3], 0.0f);
                    relu_w[oo * 8 + 4] = lw_maxf(conv_4 + bias[oo * 8 + 4], 0.0f);
                    relu_w[oo * 8 + 5] = lw_maxf(conv_5 + bias[oo * 8 + 5], 0.0f);
                    relu_w[oo * 8 + 6] = lw_maxf(conv_6 + bias[oo * 8 + 6], 0.0f);
                    relu_w[oo * 8 + 7] = lw_maxf(conv_7 + bias[oo * 8 + 7], 0.0f);
                }
            }
        for (int32_t w = 0; w < 15; w++) {
            float *y_w = y + h * 240 + w * 16;
            for (int32_t oo = 0; oo < 2; oo++) {
                float best_0 = -INFINITY;
                float best_1 = -INFINITY;
                float best_2 = -INFINITY;
                float best_3 = -INFINITY;
                float best_4 = -INFINITY;
                float best_5 = -INFINITY;
                float best_6 = -INFINITY;
                float best_7 = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *relu_i = relu + ((h * 2 + i) & 3) * 496 + w * 32 + oo * 8;
                    for (int32_t j = 0; j < 3; j++) {
                        best_0 = lw_maxf(best_0, relu_i[j * 16]);
                        best_1 = lw_maxf(best_1, relu_i[j * 16 + 1]);
                        best_2 = lw_maxf(best_2, relu_i[j * 16 + 2]);
                        best_3 = lw_maxf(best_3, relu_i[j * 16 + 3]);
                        best_4 = lw_maxf(best_4, relu_i[j * 16 + 4]);
                        best_5 = lw_maxf(best_5, relu_i[j * 16 + 5]);
                        best_6 = lw_maxf(best_6, relu_i[j * 16 + 6]);
                        best_7 = lw_maxf(best_7, relu_i[j * 16 + 7]);
                    }
                }
                y_w[oo * 8] = best_0;
                y_w[oo * 8 + 1] = best_1;
                y_w[oo * 8 + 2] = best_2;
                y_w[oo * 8 + 3] = best_3;
                y_w[oo * 8 + 4] = best_4;
                y_w[oo * 8 + 5] = best_5;
                y_w[oo * 8 + 6] = best_6;
                y_w[oo * 8 + 7] = best_7;
            }
        }
    }
}

int conv_pool_rolling_run(void *arena, const struct conv_pool_rolling_inputs *in,
    const struct conv_pool_rolling_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_POOL_ROLLING_ARENA_ALIGN != 0) return CONV_POOL_ROLLING_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->bias == NULL) return CONV_POOL_ROLLING_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_POOL_ROLLING_E_NULL;
    LW_LAYER(0, "y")
    conv_pool_rolling_y(in->x, in->k, in->bias, (float *)(void *)memory, out->y);
    return 0;
}
