/* conv_chain_combined: chain_combined.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* conv2d + conv2d + max_pool2d
 * first_acc[n<1, h<30, w<30, o<16] = sum(i<3, j<3, c<16) x[n, h+i, w+j, c] * k[i, j, c, o]
 * first_conv2d[n<1, h<30, w<30, o<16] = first_acc[n, h, w, o]
 * conv_acc[n<1, h<28, w<28, o<16] = sum(i<3, j<3, c<16) first_conv2d[n, h+i, w+j, c] * k2[i, j, c, o]
 * conv_conv2d[n<1, h<28, w<28, o<16] = conv_acc[n, h, w, o]
 * y_acc[n<1, h<13, w<13, c<16] = max(i<3, j<3) conv_conv2d[n, h*2+i, w*2+j, c]
 * y_max_pool2d[n<1, h<13, w<13, c<16] = y_acc[n, h, w, c]
 * x: [1][32][32][16]  k: [3][3][16][16]  k2: [3][3][16][16]  conv_conv2d: [1][28][28][16]
 *     first_conv2d: [1][30][30][16]  y_max_pool2d: [1][13][13][16]
 * schedule: cache_write y_max_pool2d register name=y_acc; split y_max_pool2d.w 1; split y_max_pool2d.c 4;
 *     reorder y_max_pool2d.wo y_max_pool2d.co y_max_pool2d.wi y_max_pool2d.ci; compute_at y_acc y_max_pool2d.co;
 *     set_scope y_acc register; reorder y_acc.i y_acc.j y_acc.c; decompose_reduction y_acc y_acc.i;
 *     unroll y_max_pool2d.ci; unroll y_acc.c; unroll y_acc@init.c; compute_at conv_conv2d y_max_pool2d.h;
 *     cache_write conv_conv2d register name=conv_acc; compute_at conv_acc conv_conv2d.o;
 *     split conv_conv2d.w 4 tail=round; split conv_conv2d.o 4;
 *     reorder conv_conv2d.wo conv_conv2d.oo conv_conv2d.wi conv_conv2d.oi; compute_at conv_acc conv_conv2d.oo;
 *     set_scope conv_acc register; reorder conv_acc.i conv_acc.j conv_acc.c conv_acc.w conv_acc.o;
 *     decompose_reduction conv_acc conv_acc.i; unroll conv_conv2d.oi; unroll conv_acc.o; unroll conv_acc@init.o;
 *     unroll conv_conv2d.wi; unroll conv_acc.w; unroll conv_acc@init.w; compute_at first_conv2d y_max_pool2d.h;
 *     cache_write first_conv2d register name=first_acc; split first_conv2d.w 3; split first_conv2d.o 4;
 *     reorder first_conv2d.wo first_conv2d.oo first_conv2d.wi first_conv2d.oi;
 *     compute_at first_acc first_conv2d.oo; set_scope first_acc register;
 *     reorder first_acc.i first_acc.j first_acc.c first_acc.w first_acc.o;
 *     decompose_reduction first_acc first_acc.i; unroll first_conv2d.oi; unroll first_acc.o;
 *     unroll first_acc@init.o; unroll first_conv2d.wi; unroll first_acc.w; unroll first_acc@init.w;
 *     store_at first_conv2d root; fold_storage first_conv2d mask; store_at conv_conv2d root;
 *     fold_storage conv_conv2d mask; fold_storage first_conv2d mask; fold_storage conv_conv2d mask */
static void conv_chain_combined_y(const float *restrict x, const float *restrict k, const float *restrict k2,
    float *restrict conv_conv2d, float *restrict first_conv2d, float *restrict y_max_pool2d)
{
    for (int32_t h = 0; h < 3; h++)
        for (int32_t wo = 0; wo < 10; wo++) {
            float *first_conv2d_wo = first_conv2d + h * 480 + wo * 48;
            for (int32_t oo = 0; oo < 4; oo++) {
                float first_acc_0 = 0.0f;
                float first_acc_1 = 0.0f;
                float first_acc_2 = 0.0f;
                float first_acc_3 = 0.0f;
                float first_acc_4 = 0.0f;
                float first_acc_5 = 0.0f;
                float first_acc_6 = 0.0f;
                float first_acc_7 = 0.0f;
                float first_acc_8 = 0.0f;
                float first_acc_9 = 0.0f;
                float first_acc_10 = 0.0f;
                float first_acc_11 = 0.0f;
                for (int32_t i = 0; i < 3; i++)
                    for (int32_t j = 0; j < 3; j++) {
                        const float *x_j = x + (i + h) * 512 + wo * 48 + j * 16;
                        const float *k_j = k + i * 768 + j * 256 + oo * 4;
                        for (int32_t c = 0; c < 16; c++) {
                            first_acc_0 += x_j[c] * k_j[c * 16];
                            first_acc_1 += x_j[c] * k_j[c * 16 + 1];
                            first_acc_2 += x_j[c] * k_j[c * 16 + 2];
                            first_acc_3 += x_j[c] * k_j[c * 16 + 3];
                            first_acc_4 += x_j[c + 16] * k_j[c * 16];
                            first_acc_5 += x_j[c + 16] * k_j[c * 16 + 1];
                            first_acc_6 += x_j[c + 16] * k_j[c * 16 + 2];
                            first_acc_7 += x_j[c + 16] * k_j[c * 16 + 3];
                            first_acc_8 += x_j[c + 32] * k_j[c * 16];
                            first_acc_9 += x_j[c + 32] * k_j[c * 16 + 1];
                            first_acc_10 += x_j[c + 32] * k_j[c * 16 + 2];
                            first_acc_11 += x_j[c + 32] * k_j[c * 16 + 3];
                        }
                    }
                first_conv2d_wo[oo * 4] = first_acc_0;
                first_conv2d_wo[oo * 4 + 1] = first_acc_1;
                first_conv2d_wo[oo * 4 + 2] = first_acc_2;
                first_conv2d_wo[oo * 4 + 3] = first_acc_3;
                first_conv2d_wo[oo * 4 + 16] = first_acc_4;
                first_conv2d_wo[oo * 4 + 17] = first_acc_5;
                first_conv2d_wo[oo * 4 + 18] = first_acc_6;
                first_conv2d_wo[oo * 4 + 19] = first_acc_7;
                first_conv2d_wo[oo * 4 + 32] = first_acc_8;
                first_conv2d_wo[oo * 4 + 33] = first_acc_9;
                first_conv2d_wo[oo * 4 + 34] = first_acc_10;
                first_conv2d_wo[oo * 4 + 35] = first_acc_11;
            }
        }
    for (int32_t wo = 0; wo < 7; wo++) {
        float *conv_conv2d_wo = conv_conv2d + wo * 64;
        for (int32_t oo = 0; oo < 4; oo++) {
            float conv_acc_0 = 0.0f;
            float conv_acc_1 = 0.0f;
            float conv_acc_2 = 0.0f;
            float conv_acc_3 = 0.0f;
            float conv_acc_4 = 0.0f;
            float conv_acc_5 = 0.0f;
            float conv_acc_6 = 0.0f;
            float conv_acc_7 = 0.0f;
            float conv_acc_8 = 0.0f;
            float conv_acc_9 = 0.0f;
            float conv_acc_10 = 0.0f;
            float conv_acc_11 = 0.0f;
            float conv_acc_12 = 0.0f;
            float conv_acc_13 = 0.0f;
            float conv_acc_14 = 0.0f;
            float conv_acc_15 = 0.0f;
            for (int32_t i = 0; i < 3; i++)
                for (int32_t j = 0; j < 3; j++) {
                    const float *first_conv2d_j = first_conv2d + i * 480 + wo * 64 + j * 16;
                    const float *k2_j = k2 + i * 768 + j * 256 + oo * 4;
                    for (int32_t c = 0; c < 16; c++) {
                        conv_acc_0 += first_conv2d_j[c] * k2_j[c * 16];
                        conv_acc_1 += first_conv2d_j[c] * k2_j[c * 16 + 1];
                        conv_acc_2 += first_conv2d_j[c] * k2_j[c * 16 + 2];
                        conv_acc_3 += first_conv2d_j[c] * k2_j[c * 16 + 3];
                        conv_acc_4 += first_conv2d_j[c + 16] * k2_j[c * 16];
                        conv_acc_5 += first_conv2d_j[c + 16] * k2_j[c * 16 + 1];
                        conv_acc_6 += first_conv2d_j[c + 16] * k2_j[c * 16 + 2];
                        conv_acc_7 += first_conv2d_j[c + 16] * k2_j[c * 16 + 3];
                        conv_acc_8 += first_conv2d_j[c + 32] * k2_j[c * 16];
                        conv_acc_9 += first_conv2d_j[c + 32] * k2_j[c * 16 + 1];
                        conv_acc_10 += first_conv2d_j[c + 32] * k2_j[c * 16 + 2];
                        conv_acc_11 += first_conv2d_j[c + 32] * k2_j[c * 16 + 3];
                        conv_acc_12 += first_conv2d_j[c + 48] * k2_j[c * 16];
                        conv_acc_13 += first_conv2d_j[c + 48] * k2_j[c * 16 + 1];
                        conv_acc_14 += first_conv2d_j[c + 48] * k2_j[c * 16 + 2];
                        conv_acc_15 += first_conv2d_j[c + 48] * k2_j[c * 16 + 3];
                    }
                }
            conv_conv2d_wo[oo * 4] = conv_acc_0;
            conv_conv2d_wo[oo * 4 + 1] = conv_acc_1;
            conv_conv2d_wo[oo * 4 + 2] = conv_acc_2;
            conv_conv2d_wo[oo * 4 + 3] = conv_acc_3;
            conv_conv2d_wo[oo * 4 + 16] = conv_acc_4;
            conv_conv2d_wo[oo * 4 + 17] = conv_acc_5;
            conv_conv2d_wo[oo * 4 + 18] = conv_acc_6;
            conv_conv2d_wo[oo * 4 + 19] = conv_acc_7;
            conv_conv2d_wo[oo * 4 + 32] = conv_acc_8;
            conv_conv2d_wo[oo * 4 + 33] = conv_acc_9;
            conv_conv2d_wo[oo * 4 + 34] = conv_acc_10;
            conv_conv2d_wo[oo * 4 + 35] = conv_acc_11;
            conv_conv2d_wo[oo * 4 + 48] = conv_acc_12;
            conv_conv2d_wo[oo * 4 + 49] = conv_acc_13;
            conv_conv2d_wo[oo * 4 + 50] = conv_acc_14;
            conv_conv2d_wo[oo * 4 + 51] = conv_acc_15;
        }
    }
    for (int32_t h = 0; h < 13; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 10; wo++) {
                float *first_conv2d_wo = first_conv2d + ((h * 2 + h2 + 3) & 3) * 480 + wo * 48;
                for (int32_t oo = 0; oo < 4; oo++) {
                    float first_acc_0 = 0.0f;
                    float first_acc_1 = 0.0f;
                    float first_acc_2 = 0.0f;
                    float first_acc_3 = 0.0f;
                    float first_acc_4 = 0.0f;
                    float first_acc_5 = 0.0f;
                    float first_acc_6 = 0.0f;
                    float first_acc_7 = 0.0f;
                    float first_acc_8 = 0.0f;
                    float first_acc_9 = 0.0f;
                    float first_acc_10 = 0.0f;
                    float first_acc_11 = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + wo * 48 + j * 16 + 1536;
                            const float *k_j = k + i * 768 + j * 256 + oo * 4;
                            for (int32_t c = 0; c < 16; c++) {
                                first_acc_0 += x_j[c] * k_j[c * 16];
                                first_acc_1 += x_j[c] * k_j[c * 16 + 1];
                                first_acc_2 += x_j[c] * k_j[c * 16 + 2];
                                first_acc_3 += x_j[c] * k_j[c * 16 + 3];
                                first_acc_4 += x_j[c + 16] * k_j[c * 16];
                                first_acc_5 += x_j[c + 16] * k_j[c * 16 + 1];
                                first_acc_6 += x_j[c + 16] * k_j[c * 16 + 2];
                                first_acc_7 += x_j[c + 16] * k_j[c * 16 + 3];
                                first_acc_8 += x_j[c + 32] * k_j[c * 16];
                                first_acc_9 += x_j[c + 32] * k_j[c * 16 + 1];
                                first_acc_10 += x_j[c + 32] * k_j[c * 16 + 2];
                                first_acc_11 += x_j[c + 32] * k_j[c * 16 + 3];
                            }
                        }
                    first_conv2d_wo[oo * 4] = first_acc_0;
                    first_conv2d_wo[oo * 4 + 1] = first_acc_1;
                    first_conv2d_wo[oo * 4 + 2] = first_acc_2;
                    first_conv2d_wo[oo * 4 + 3] = first_acc_3;
                    first_conv2d_wo[oo * 4 + 16] = first_acc_4;
                    first_conv2d_wo[oo * 4 + 17] = first_acc_5;
                    first_conv2d_wo[oo * 4 + 18] = first_acc_6;
                    first_conv2d_wo[oo * 4 + 19] = first_acc_7;
                    first_conv2d_wo[oo * 4 + 32] = first_acc_8;
                    first_conv2d_wo[oo * 4 + 33] = first_acc_9;
                    first_conv2d_wo[oo * 4 + 34] = first_acc_10;
                    first_conv2d_wo[oo * 4 + 35] = first_acc_11;
                }
            }
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 7; wo++) {
                float *conv_conv2d_wo = conv_conv2d + ((h * 2 + h2 + 1) & 3) * 448 + wo * 64;
                for (int32_t oo = 0; oo < 4; oo++) {
                    float conv_acc_0 = 0.0f;
                    float conv_acc_1 = 0.0f;
                    float conv_acc_2 = 0.0f;
                    float conv_acc_3 = 0.0f;
                    float conv_acc_4 = 0.0f;
                    float conv_acc_5 = 0.0f;
                    float conv_acc_6 = 0.0f;
                    float conv_acc_7 = 0.0f;
                    float conv_acc_8 = 0.0f;
                    float conv_acc_9 = 0.0f;
                    float conv_acc_10 = 0.0f;
                    float conv_acc_11 = 0.0f;
                    float conv_acc_12 = 0.0f;
                    float conv_acc_13 = 0.0f;
                    float conv_acc_14 = 0.0f;
                    float conv_acc_15 = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *first_conv2d_j = first_conv2d + ((h * 2 + i + h2 + 1) & 3) * 480 + wo * 64 + j * 16;
                            const float *k2_j = k2 + i * 768 + j * 256 + oo * 4;
                            for (int32_t c = 0; c < 16; c++) {
                                conv_acc_0 += first_conv2d_j[c] * k2_j[c * 16];
                                conv_acc_1 += first_conv2d_j[c] * k2_j[c * 16 + 1];
                                conv_acc_2 += first_conv2d_j[c] * k2_j[c * 16 + 2];
                                conv_acc_3 += first_conv2d_j[c] * k2_j[c * 16 + 3];
                                conv_acc_4 += first_conv2d_j[c + 16] * k2_j[c * 16];
                                conv_acc_5 += first_conv2d_j[c + 16] * k2_j[c * 16 + 1];
                                conv_acc_6 += first_conv2d_j[c + 16] * k2_j[c * 16 + 2];
                                conv_acc_7 += first_conv2d_j[c + 16] * k2_j[c * 16 + 3];
                                conv_acc_8 += first_conv2d_j[c + 32] * k2_j[c * 16];
                                conv_acc_9 += first_conv2d_j[c + 32] * k2_j[c * 16 + 1];
                                conv_acc_10 += first_conv2d_j[c + 32] * k2_j[c * 16 + 2];
                                conv_acc_11 += first_conv2d_j[c + 32] * k2_j[c * 16 + 3];
                                conv_acc_12 += first_conv2d_j[c + 48] * k2_j[c * 16];
                                conv_acc_13 += first_conv2d_j[c + 48] * k2_j[c * 16 + 1];
                                conv_acc_14 += first_conv2d_j[c + 48] * k2_j[c * 16 + 2];
                                conv_acc_15 += first_conv2d_j[c + 48] * k2_j[c * 16 + 3];
                            }
                        }
                    conv_conv2d_wo[oo * 4] = conv_acc_0;
                    conv_conv2d_wo[oo * 4 + 1] = conv_acc_1;
                    conv_conv2d_wo[oo * 4 + 2] = conv_acc_2;
                    conv_conv2d_wo[oo * 4 + 3] = conv_acc_3;
                    conv_conv2d_wo[oo * 4 + 16] = conv_acc_4;
                    conv_conv2d_wo[oo * 4 + 17] = conv_acc_5;
                    conv_conv2d_wo[oo * 4 + 18] = conv_acc_6;
                    conv_conv2d_wo[oo * 4 + 19] = conv_acc_7;
                    conv_conv2d_wo[oo * 4 + 32] = conv_acc_8;
                    conv_conv2d_wo[oo * 4 + 33] = conv_acc_9;
                    conv_conv2d_wo[oo * 4 + 34] = conv_acc_10;
                    conv_conv2d_wo[oo * 4 + 35] = conv_acc_11;
                    conv_conv2d_wo[oo * 4 + 48] = conv_acc_12;
                    conv_conv2d_wo[oo * 4 + 49] = conv_acc_13;
                    conv_conv2d_wo[oo * 4 + 50] = conv_acc_14;
                    conv_conv2d_wo[oo * 4 + 51] = conv_acc_15;
                }
            }
        for (int32_t wo = 0; wo < 13; wo++) {
            float *y_max_pool2d_wo = y_max_pool2d + h * 208 + wo * 16;
            for (int32_t co = 0; co < 4; co++) {
                float y_acc_0 = -INFINITY;
                float y_acc_1 = -INFINITY;
                float y_acc_2 = -INFINITY;
                float y_acc_3 = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *conv_conv2d_i = conv_conv2d + ((h * 2 + i) & 3) * 448 + wo * 32 + co * 4;
                    for (int32_t j = 0; j < 3; j++) {
                        y_acc_0 = lw_maxf(y_acc_0, conv_conv2d_i[j * 16]);
                        y_acc_1 = lw_maxf(y_acc_1, conv_conv2d_i[j * 16 + 1]);
                        y_acc_2 = lw_maxf(y_acc_2, conv_conv2d_i[j * 16 + 2]);
                        y_acc_3 = lw_maxf(y_acc_3, conv_conv2d_i[j * 16 + 3]);
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

int conv_chain_combined_run(void *arena, const struct conv_chain_combined_inputs *in, const struct conv_chain_combined_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_CHAIN_COMBINED_ARENA_ALIGN != 0) return CONV_CHAIN_COMBINED_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->k2 == NULL) return CONV_CHAIN_COMBINED_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_CHAIN_COMBINED_E_NULL;
    LW_LAYER(0, "y")
    conv_chain_combined_y(in->x, in->k, in->k2, (float *)(void *)(memory + 7680), (float *)(void *)memory, out->y);
    return 0;
}
