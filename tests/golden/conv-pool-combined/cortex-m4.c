/* conv_pool_combined: combined.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* conv2d + add + relu + max_pool2d
 * conv_conv2d[n<1, h<32, w<32, o<16] = sum(i<3, j<3, c<16) select(0 <= h + i - 1 && h + i - 1 < 32
 *     && 0 <= w + j - 1 && w + j - 1 < 32, x[n, h+i-1, w+j-1, c] * k[i, j, c, o], 0.0)
 * conv_relu[n<1, h<32, w<32, c<16] = max(conv_conv2d[n, h, w, c] + bias[c], 0.0)
 * y_acc[n<1, h<15, w<15, c<16] = max(i<3, j<3) conv_relu[n, h*2+i, w*2+j, c]
 * y_max_pool2d[n<1, h<15, w<15, c<16] = y_acc[n, h, w, c]
 * x: [1][32][32][16]  k: [3][3][16][16]  bias: [16]  conv_relu: [1][32][32][16]  y_max_pool2d: [1][15][15][16]
 * schedule: cache_write y_max_pool2d register name=y_acc; split y_max_pool2d.w 1; split y_max_pool2d.c 4;
 *     reorder y_max_pool2d.wo y_max_pool2d.co y_max_pool2d.wi y_max_pool2d.ci; compute_at y_acc y_max_pool2d.co;
 *     set_scope y_acc register; reorder y_acc.i y_acc.j y_acc.c; decompose_reduction y_acc y_acc.i;
 *     unroll y_max_pool2d.ci; unroll y_acc.c; unroll y_acc@init.c; compute_at conv_relu y_max_pool2d.h;
 *     compute_inline conv_add; split conv_relu.w 4 tail=round; split conv_relu.c 4;
 *     reorder conv_relu.wo conv_relu.co conv_relu.wi conv_relu.ci; compute_at conv_conv2d conv_relu.co;
 *     set_scope conv_conv2d register; reorder conv_conv2d.i conv_conv2d.j conv_conv2d.c conv_conv2d.w
 *     conv_conv2d.o; decompose_reduction conv_conv2d conv_conv2d.i; unroll conv_relu.ci; unroll conv_conv2d.o;
 *     unroll conv_conv2d@init.o; unroll conv_relu.wi; unroll conv_conv2d.w; unroll conv_conv2d@init.w;
 *     store_at conv_relu root; fold_storage conv_relu mask; fold_storage conv_relu mask */
static void conv_pool_combined_y(const float *restrict x, const float *restrict k, const float *restrict bias,
    float *restrict conv_relu, float *restrict y_max_pool2d)
{
    for (int32_t wo = 0; wo < 8; wo++) {
        float *conv_relu_wo = conv_relu + wo * 64;
        for (int32_t co = 0; co < 4; co++) {
            float conv_conv2d_0 = 0.0f;
            float conv_conv2d_1 = 0.0f;
            float conv_conv2d_2 = 0.0f;
            float conv_conv2d_3 = 0.0f;
            float conv_conv2d_4 = 0.0f;
            float conv_conv2d_5 = 0.0f;
            float conv_conv2d_6 = 0.0f;
            float conv_conv2d_7 = 0.0f;
            float conv_conv2d_8 = 0.0f;
            float conv_conv2d_9 = 0.0f;
            float conv_conv2d_10 = 0.0f;
            float conv_conv2d_11 = 0.0f;
            float conv_conv2d_12 = 0.0f;
            float conv_conv2d_13 = 0.0f;
            float conv_conv2d_14 = 0.0f;
            float conv_conv2d_15 = 0.0f;
            for (int32_t i = 1; i < 3; i++)
                for (int32_t j = 0; j < 3; j++) {
                    const float *x_j = x + (i - 1) * 512 + wo * 64 + j * 16;
                    const float *k_j = k + i * 768 + j * 256 + co * 4;
                    for (int32_t c = 0; c < 16; c++) {
                        if (wo * 4 + j >= 1) {
                            conv_conv2d_0 += x_j[c - 16] * k_j[c * 16];
                            conv_conv2d_1 += x_j[c - 16] * k_j[c * 16 + 1];
                            conv_conv2d_2 += x_j[c - 16] * k_j[c * 16 + 2];
                            conv_conv2d_3 += x_j[c - 16] * k_j[c * 16 + 3];
                        }
                        conv_conv2d_4 += x_j[c] * k_j[c * 16];
                        conv_conv2d_5 += x_j[c] * k_j[c * 16 + 1];
                        conv_conv2d_6 += x_j[c] * k_j[c * 16 + 2];
                        conv_conv2d_7 += x_j[c] * k_j[c * 16 + 3];
                        conv_conv2d_8 += x_j[c + 16] * k_j[c * 16];
                        conv_conv2d_9 += x_j[c + 16] * k_j[c * 16 + 1];
                        conv_conv2d_10 += x_j[c + 16] * k_j[c * 16 + 2];
                        conv_conv2d_11 += x_j[c + 16] * k_j[c * 16 + 3];
                        if (wo * 4 + j < 30) {
                            conv_conv2d_12 += x_j[c + 32] * k_j[c * 16];
                            conv_conv2d_13 += x_j[c + 32] * k_j[c * 16 + 1];
                            conv_conv2d_14 += x_j[c + 32] * k_j[c * 16 + 2];
                            conv_conv2d_15 += x_j[c + 32] * k_j[c * 16 + 3];
                        }
                    }
                }
            conv_relu_wo[co * 4] = lw_maxf(conv_conv2d_0 + bias[co * 4], 0.0f);
            conv_relu_wo[co * 4 + 1] = lw_maxf(conv_conv2d_1 + bias[co * 4 + 1], 0.0f);
            conv_relu_wo[co * 4 + 2] = lw_maxf(conv_conv2d_2 + bias[co * 4 + 2], 0.0f);
            conv_relu_wo[co * 4 + 3] = lw_maxf(conv_conv2d_3 + bias[co * 4 + 3], 0.0f);
            conv_relu_wo[co * 4 + 16] = lw_maxf(conv_conv2d_4 + bias[co * 4], 0.0f);
            conv_relu_wo[co * 4 + 17] = lw_maxf(conv_conv2d_5 + bias[co * 4 + 1], 0.0f);
            conv_relu_wo[co * 4 + 18] = lw_maxf(conv_conv2d_6 + bias[co * 4 + 2], 0.0f);
            conv_relu_wo[co * 4 + 19] = lw_maxf(conv_conv2d_7 + bias[co * 4 + 3], 0.0f);
            conv_relu_wo[co * 4 + 32] = lw_maxf(conv_conv2d_8 + bias[co * 4], 0.0f);
            conv_relu_wo[co * 4 + 33] = lw_maxf(conv_conv2d_9 + bias[co * 4 + 1], 0.0f);
            conv_relu_wo[co * 4 + 34] = lw_maxf(conv_conv2d_10 + bias[co * 4 + 2], 0.0f);
            conv_relu_wo[co * 4 + 35] = lw_maxf(conv_conv2d_11 + bias[co * 4 + 3], 0.0f);
            conv_relu_wo[co * 4 + 48] = lw_maxf(conv_conv2d_12 + bias[co * 4], 0.0f);
            conv_relu_wo[co * 4 + 49] = lw_maxf(conv_conv2d_13 + bias[co * 4 + 1], 0.0f);
            conv_relu_wo[co * 4 + 50] = lw_maxf(conv_conv2d_14 + bias[co * 4 + 2], 0.0f);
            conv_relu_wo[co * 4 + 51] = lw_maxf(conv_conv2d_15 + bias[co * 4 + 3], 0.0f);
        }
    }
    for (int32_t h = 0; h < 15; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 8; wo++) {
                float *conv_relu_wo = conv_relu + ((h * 2 + h2 + 1) & 3) * 512 + wo * 64;
                for (int32_t co = 0; co < 4; co++) {
                    float conv_conv2d_0 = 0.0f;
                    float conv_conv2d_1 = 0.0f;
                    float conv_conv2d_2 = 0.0f;
                    float conv_conv2d_3 = 0.0f;
                    float conv_conv2d_4 = 0.0f;
                    float conv_conv2d_5 = 0.0f;
                    float conv_conv2d_6 = 0.0f;
                    float conv_conv2d_7 = 0.0f;
                    float conv_conv2d_8 = 0.0f;
                    float conv_conv2d_9 = 0.0f;
                    float conv_conv2d_10 = 0.0f;
                    float conv_conv2d_11 = 0.0f;
                    float conv_conv2d_12 = 0.0f;
                    float conv_conv2d_13 = 0.0f;
                    float conv_conv2d_14 = 0.0f;
                    float conv_conv2d_15 = 0.0f;
                    for (int32_t i = 0; i < 3; i++) {
                        const int32_t x_at_i = h * 1024 + (i + h2) * 512 + wo * 64 - 16;
                        const int32_t k_at_i = i * 768 + co * 4;
                        const int32_t j_end = lw_max_i32(1 - wo * 4, 0);
                        for (int32_t j = 0; j < j_end; j++)
                            for (int32_t c = 0; c < 16; c++) {
                                if (wo >= 1) {
                                    conv_conv2d_0 += x[x_at_i + c] * k[k_at_i + c * 16];
                                    conv_conv2d_1 += x[x_at_i + c] * k[k_at_i + c * 16 + 1];
                                    conv_conv2d_2 += x[x_at_i + c] * k[k_at_i + c * 16 + 2];
                                    conv_conv2d_3 += x[x_at_i + c] * k[k_at_i + c * 16 + 3];
                                }
                                conv_conv2d_4 += x[x_at_i + c + 16] * k[k_at_i + c * 16];
                                conv_conv2d_5 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 1];
                                conv_conv2d_6 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 2];
                                conv_conv2d_7 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 3];
                                conv_conv2d_8 += x[x_at_i + c + 32] * k[k_at_i + c * 16];
                                conv_conv2d_9 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 1];
                                conv_conv2d_10 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 2];
                                conv_conv2d_11 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 3];
                                conv_conv2d_12 += x[x_at_i + c + 48] * k[k_at_i + c * 16];
                                conv_conv2d_13 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 1];
                                conv_conv2d_14 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 2];
                                conv_conv2d_15 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 3];
                            }
                        const int32_t j_end_2 = lw_min_i32(30 - wo * 4, 3);
                        for (int32_t j = lw_max_i32(1 - wo * 4, 0); j < j_end_2; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + wo * 64 + (j - 1) * 16;
                            const float *k_j = k + i * 768 + j * 256 + co * 4;
                            for (int32_t c = 0; c < 16; c++) {
                                conv_conv2d_0 += x_j[c] * k_j[c * 16];
                                conv_conv2d_1 += x_j[c] * k_j[c * 16 + 1];
                                conv_conv2d_2 += x_j[c] * k_j[c * 16 + 2];
                                conv_conv2d_3 += x_j[c] * k_j[c * 16 + 3];
                                conv_conv2d_4 += x_j[c + 16] * k_j[c * 16];
                                conv_conv2d_5 += x_j[c + 16] * k_j[c * 16 + 1];
                                conv_conv2d_6 += x_j[c + 16] * k_j[c * 16 + 2];
                                conv_conv2d_7 += x_j[c + 16] * k_j[c * 16 + 3];
                                conv_conv2d_8 += x_j[c + 32] * k_j[c * 16];
                                conv_conv2d_9 += x_j[c + 32] * k_j[c * 16 + 1];
                                conv_conv2d_10 += x_j[c + 32] * k_j[c * 16 + 2];
                                conv_conv2d_11 += x_j[c + 32] * k_j[c * 16 + 3];
                                conv_conv2d_12 += x_j[c + 48] * k_j[c * 16];
                                conv_conv2d_13 += x_j[c + 48] * k_j[c * 16 + 1];
                                conv_conv2d_14 += x_j[c + 48] * k_j[c * 16 + 2];
                                conv_conv2d_15 += x_j[c + 48] * k_j[c * 16 + 3];
                            }
                        }
                        for (int32_t j = lw_min_i32(30 - wo * 4, 3); j < 3; j++)
                            for (int32_t c = 0; c < 16; c++) {
                                conv_conv2d_0 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 512];
                                conv_conv2d_1 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 513];
                                conv_conv2d_2 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 514];
                                conv_conv2d_3 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 515];
                                conv_conv2d_4 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 512];
                                conv_conv2d_5 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 513];
                                conv_conv2d_6 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 514];
                                conv_conv2d_7 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 515];
                                conv_conv2d_8 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 512];
                                conv_conv2d_9 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 513];
                                conv_conv2d_10 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 514];
                                conv_conv2d_11 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 515];
                                if (wo < 7) {
                                    conv_conv2d_12 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 512];
                                    conv_conv2d_13 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 513];
                                    conv_conv2d_14 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 514];
                                    conv_conv2d_15 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 515];
                                }
                            }
                    }
                    conv_relu_wo[co * 4] = lw_maxf(conv_conv2d_0 + bias[co * 4], 0.0f);
                    conv_relu_wo[co * 4 + 1] = lw_maxf(conv_conv2d_1 + bias[co * 4 + 1], 0.0f);
                    conv_relu_wo[co * 4 + 2] = lw_maxf(conv_conv2d_2 + bias[co * 4 + 2], 0.0f);
                    conv_relu_wo[co * 4 + 3] = lw_maxf(conv_conv2d_3 + bias[co * 4 + 3], 0.0f);
                    conv_relu_wo[co * 4 + 16] = lw_maxf(conv_conv2d_4 + bias[co * 4], 0.0f);
                    conv_relu_wo[co * 4 + 17] = lw_maxf(conv_conv2d_5 + bias[co * 4 + 1], 0.0f);
                    conv_relu_wo[co * 4 + 18] = lw_maxf(conv_conv2d_6 + bias[co * 4 + 2], 0.0f);
                    conv_relu_wo[co * 4 + 19] = lw_maxf(conv_conv2d_7 + bias[co * 4 + 3], 0.0f);
                    conv_relu_wo[co * 4 + 32] = lw_maxf(conv_conv2d_8 + bias[co * 4], 0.0f);
                    conv_relu_wo[co * 4 + 33] = lw_maxf(conv_conv2d_9 + bias[co * 4 + 1], 0.0f);
                    conv_relu_wo[co * 4 + 34] = lw_maxf(conv_conv2d_10 + bias[co * 4 + 2], 0.0f);
                    conv_relu_wo[co * 4 + 35] = lw_maxf(conv_conv2d_11 + bias[co * 4 + 3], 0.0f);
                    conv_relu_wo[co * 4 + 48] = lw_maxf(conv_conv2d_12 + bias[co * 4], 0.0f);
                    conv_relu_wo[co * 4 + 49] = lw_maxf(conv_conv2d_13 + bias[co * 4 + 1], 0.0f);
                    conv_relu_wo[co * 4 + 50] = lw_maxf(conv_conv2d_14 + bias[co * 4 + 2], 0.0f);
                    conv_relu_wo[co * 4 + 51] = lw_maxf(conv_conv2d_15 + bias[co * 4 + 3], 0.0f);
                }
            }
        for (int32_t wo = 0; wo < 15; wo++) {
            float *y_max_pool2d_wo = y_max_pool2d + h * 240 + wo * 16;
            for (int32_t co = 0; co < 4; co++) {
                float y_acc_0 = -INFINITY;
                float y_acc_1 = -INFINITY;
                float y_acc_2 = -INFINITY;
                float y_acc_3 = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *conv_relu_i = conv_relu + ((h * 2 + i) & 3) * 512 + wo * 32 + co * 4;
                    for (int32_t j = 0; j < 3; j++) {
                        y_acc_0 = lw_maxf(y_acc_0, conv_relu_i[j * 16]);
                        y_acc_1 = lw_maxf(y_acc_1, conv_relu_i[j * 16 + 1]);
                        y_acc_2 = lw_maxf(y_acc_2, conv_relu_i[j * 16 + 2]);
                        y_acc_3 = lw_maxf(y_acc_3, conv_relu_i[j * 16 + 3]);
                    }
                }
                y_max_pool2d_wo[co * 4] = y_acc_0;
                y_max_pool2d_wo[co * 4 + 1] = y_acc_1;
                y_max_pool2d_wo[co * 4 + 2] = y_acc_2;
                y_max_pool2d_wo[co * 4 + 3] = y_acc_3;
            }
        }
    }
}

int conv_pool_combined_run(void *arena, const struct conv_pool_combined_inputs *in, const struct conv_pool_combined_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_POOL_COMBINED_ARENA_ALIGN != 0) return CONV_POOL_COMBINED_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->bias == NULL) return CONV_POOL_COMBINED_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_POOL_COMBINED_E_NULL;
    LW_LAYER(0, "y")
    conv_pool_combined_y(in->x, in->k, in->bias, (float *)(void *)memory, out->y);
    return 0;
}
