/* conv_chain_combined: chain_combined.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* conv2d + conv2d + max_pool2d
 * acc[n<1, h<30, w<30, o<16] = sum(i<3, j<3, c<16) x[n, h+i, w+j, c] * k[i, j, c, o]
 * t2[n<1, h<30, w<30, o<16] = acc[n, h, w, o]
 * acc2[n<1, h<28, w<28, o<16] = sum(i<3, j<3, c<16) t2[n, h+i, w+j, c] * k2[i, j, c, o]
 * t[n<1, h<28, w<28, o<16] = acc2[n, h, w, o]
 * acc3[n<1, h<13, w<13, c<16] = max(i<3, j<3) t[n, h*2+i, w*2+j, c]
 * y[n<1, h<13, w<13, c<16] = acc3[n, h, w, c]
 * x: [1][32][32][16]  k: [3][3][16][16]  k2: [3][3][16][16]  t: [1][28][28][16]  t2: [1][30][30][16]
 *     y: [1][13][13][16]
 * schedule contraction.tiled + contraction.tiled + contraction.tiled: y.w by 1, y.c by 4, t.w by 4, t.o by 4, ... */
static void conv_chain_combined_y(const float *restrict x, const float *restrict k, const float *restrict k2,
    float *restrict t, float *restrict t2, float *restrict y)
{
    for (int32_t h = 0; h < 3; h++)
        for (int32_t wo = 0; wo < 10; wo++) {
            float *t2_wo = t2 + h * 480 + wo * 48;
            for (int32_t oo = 0; oo < 4; oo++) {
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
                for (int32_t i = 0; i < 3; i++)
                    for (int32_t j = 0; j < 3; j++) {
                        const float *x_j = x + (i + h) * 512 + wo * 48 + j * 16;
                        const float *k_j = k + i * 768 + j * 256 + oo * 4;
                        for (int32_t c = 0; c < 16; c++) {
                            acc_0 += x_j[c] * k_j[c * 16];
                            acc_1 += x_j[c] * k_j[c * 16 + 1];
                            acc_2 += x_j[c] * k_j[c * 16 + 2];
                            acc_3 += x_j[c] * k_j[c * 16 + 3];
                            acc_4 += x_j[c + 16] * k_j[c * 16];
                            acc_5 += x_j[c + 16] * k_j[c * 16 + 1];
                            acc_6 += x_j[c + 16] * k_j[c * 16 + 2];
                            acc_7 += x_j[c + 16] * k_j[c * 16 + 3];
                            acc_8 += x_j[c + 32] * k_j[c * 16];
                            acc_9 += x_j[c + 32] * k_j[c * 16 + 1];
                            acc_10 += x_j[c + 32] * k_j[c * 16 + 2];
                            acc_11 += x_j[c + 32] * k_j[c * 16 + 3];
                        }
                    }
                t2_wo[oo * 4] = acc_0;
                t2_wo[oo * 4 + 1] = acc_1;
                t2_wo[oo * 4 + 2] = acc_2;
                t2_wo[oo * 4 + 3] = acc_3;
                t2_wo[oo * 4 + 16] = acc_4;
                t2_wo[oo * 4 + 17] = acc_5;
                t2_wo[oo * 4 + 18] = acc_6;
                t2_wo[oo * 4 + 19] = acc_7;
                t2_wo[oo * 4 + 32] = acc_8;
                t2_wo[oo * 4 + 33] = acc_9;
                t2_wo[oo * 4 + 34] = acc_10;
                t2_wo[oo * 4 + 35] = acc_11;
            }
        }
    for (int32_t wo = 0; wo < 7; wo++) {
        float *t_wo = t + wo * 64;
        for (int32_t oo = 0; oo < 4; oo++) {
            float acc2_0 = 0.0f;
            float acc2_1 = 0.0f;
            float acc2_2 = 0.0f;
            float acc2_3 = 0.0f;
            float acc2_4 = 0.0f;
            float acc2_5 = 0.0f;
            float acc2_6 = 0.0f;
            float acc2_7 = 0.0f;
            float acc2_8 = 0.0f;
            float acc2_9 = 0.0f;
            float acc2_10 = 0.0f;
            float acc2_11 = 0.0f;
            float acc2_12 = 0.0f;
            float acc2_13 = 0.0f;
            float acc2_14 = 0.0f;
            float acc2_15 = 0.0f;
            for (int32_t i = 0; i < 3; i++)
                for (int32_t j = 0; j < 3; j++) {
                    const float *t2_j = t2 + i * 480 + wo * 64 + j * 16;
                    const float *k2_j = k2 + i * 768 + j * 256 + oo * 4;
                    for (int32_t c = 0; c < 16; c++) {
                        acc2_0 += t2_j[c] * k2_j[c * 16];
                        acc2_1 += t2_j[c] * k2_j[c * 16 + 1];
                        acc2_2 += t2_j[c] * k2_j[c * 16 + 2];
                        acc2_3 += t2_j[c] * k2_j[c * 16 + 3];
                        acc2_4 += t2_j[c + 16] * k2_j[c * 16];
                        acc2_5 += t2_j[c + 16] * k2_j[c * 16 + 1];
                        acc2_6 += t2_j[c + 16] * k2_j[c * 16 + 2];
                        acc2_7 += t2_j[c + 16] * k2_j[c * 16 + 3];
                        acc2_8 += t2_j[c + 32] * k2_j[c * 16];
                        acc2_9 += t2_j[c + 32] * k2_j[c * 16 + 1];
                        acc2_10 += t2_j[c + 32] * k2_j[c * 16 + 2];
                        acc2_11 += t2_j[c + 32] * k2_j[c * 16 + 3];
                        acc2_12 += t2_j[c + 48] * k2_j[c * 16];
                        acc2_13 += t2_j[c + 48] * k2_j[c * 16 + 1];
                        acc2_14 += t2_j[c + 48] * k2_j[c * 16 + 2];
                        acc2_15 += t2_j[c + 48] * k2_j[c * 16 + 3];
                    }
                }
            t_wo[oo * 4] = acc2_0;
            t_wo[oo * 4 + 1] = acc2_1;
            t_wo[oo * 4 + 2] = acc2_2;
            t_wo[oo * 4 + 3] = acc2_3;
            t_wo[oo * 4 + 16] = acc2_4;
            t_wo[oo * 4 + 17] = acc2_5;
            t_wo[oo * 4 + 18] = acc2_6;
            t_wo[oo * 4 + 19] = acc2_7;
            t_wo[oo * 4 + 32] = acc2_8;
            t_wo[oo * 4 + 33] = acc2_9;
            t_wo[oo * 4 + 34] = acc2_10;
            t_wo[oo * 4 + 35] = acc2_11;
            t_wo[oo * 4 + 48] = acc2_12;
            t_wo[oo * 4 + 49] = acc2_13;
            t_wo[oo * 4 + 50] = acc2_14;
            t_wo[oo * 4 + 51] = acc2_15;
        }
    }
    for (int32_t h = 0; h < 13; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 10; wo++) {
                float *t2_wo = t2 + ((h * 2 + h2 + 3) & 3) * 480 + wo * 48;
                for (int32_t oo = 0; oo < 4; oo++) {
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
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + wo * 48 + j * 16 + 1536;
                            const float *k_j = k + i * 768 + j * 256 + oo * 4;
                            for (int32_t c = 0; c < 16; c++) {
                                acc_0 += x_j[c] * k_j[c * 16];
                                acc_1 += x_j[c] * k_j[c * 16 + 1];
                                acc_2 += x_j[c] * k_j[c * 16 + 2];
                                acc_3 += x_j[c] * k_j[c * 16 + 3];
                                acc_4 += x_j[c + 16] * k_j[c * 16];
                                acc_5 += x_j[c + 16] * k_j[c * 16 + 1];
                                acc_6 += x_j[c + 16] * k_j[c * 16 + 2];
                                acc_7 += x_j[c + 16] * k_j[c * 16 + 3];
                                acc_8 += x_j[c + 32] * k_j[c * 16];
                                acc_9 += x_j[c + 32] * k_j[c * 16 + 1];
                                acc_10 += x_j[c + 32] * k_j[c * 16 + 2];
                                acc_11 += x_j[c + 32] * k_j[c * 16 + 3];
                            }
                        }
                    t2_wo[oo * 4] = acc_0;
                    t2_wo[oo * 4 + 1] = acc_1;
                    t2_wo[oo * 4 + 2] = acc_2;
                    t2_wo[oo * 4 + 3] = acc_3;
                    t2_wo[oo * 4 + 16] = acc_4;
                    t2_wo[oo * 4 + 17] = acc_5;
                    t2_wo[oo * 4 + 18] = acc_6;
                    t2_wo[oo * 4 + 19] = acc_7;
                    t2_wo[oo * 4 + 32] = acc_8;
                    t2_wo[oo * 4 + 33] = acc_9;
                    t2_wo[oo * 4 + 34] = acc_10;
                    t2_wo[oo * 4 + 35] = acc_11;
                }
            }
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 7; wo++) {
                float *t_wo = t + ((h * 2 + h2 + 1) & 3) * 448 + wo * 64;
                for (int32_t oo = 0; oo < 4; oo++) {
                    float acc2_0 = 0.0f;
                    float acc2_1 = 0.0f;
                    float acc2_2 = 0.0f;
                    float acc2_3 = 0.0f;
                    float acc2_4 = 0.0f;
                    float acc2_5 = 0.0f;
                    float acc2_6 = 0.0f;
                    float acc2_7 = 0.0f;
                    float acc2_8 = 0.0f;
                    float acc2_9 = 0.0f;
                    float acc2_10 = 0.0f;
                    float acc2_11 = 0.0f;
                    float acc2_12 = 0.0f;
                    float acc2_13 = 0.0f;
                    float acc2_14 = 0.0f;
                    float acc2_15 = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *t2_j = t2 + ((h * 2 + i + h2 + 1) & 3) * 480 + wo * 64 + j * 16;
                            const float *k2_j = k2 + i * 768 + j * 256 + oo * 4;
                            for (int32_t c = 0; c < 16; c++) {
                                acc2_0 += t2_j[c] * k2_j[c * 16];
                                acc2_1 += t2_j[c] * k2_j[c * 16 + 1];
                                acc2_2 += t2_j[c] * k2_j[c * 16 + 2];
                                acc2_3 += t2_j[c] * k2_j[c * 16 + 3];
                                acc2_4 += t2_j[c + 16] * k2_j[c * 16];
                                acc2_5 += t2_j[c + 16] * k2_j[c * 16 + 1];
                                acc2_6 += t2_j[c + 16] * k2_j[c * 16 + 2];
                                acc2_7 += t2_j[c + 16] * k2_j[c * 16 + 3];
                                acc2_8 += t2_j[c + 32] * k2_j[c * 16];
                                acc2_9 += t2_j[c + 32] * k2_j[c * 16 + 1];
                                acc2_10 += t2_j[c + 32] * k2_j[c * 16 + 2];
                                acc2_11 += t2_j[c + 32] * k2_j[c * 16 + 3];
                                acc2_12 += t2_j[c + 48] * k2_j[c * 16];
                                acc2_13 += t2_j[c + 48] * k2_j[c * 16 + 1];
                                acc2_14 += t2_j[c + 48] * k2_j[c * 16 + 2];
                                acc2_15 += t2_j[c + 48] * k2_j[c * 16 + 3];
                            }
                        }
                    t_wo[oo * 4] = acc2_0;
                    t_wo[oo * 4 + 1] = acc2_1;
                    t_wo[oo * 4 + 2] = acc2_2;
                    t_wo[oo * 4 + 3] = acc2_3;
                    t_wo[oo * 4 + 16] = acc2_4;
                    t_wo[oo * 4 + 17] = acc2_5;
                    t_wo[oo * 4 + 18] = acc2_6;
                    t_wo[oo * 4 + 19] = acc2_7;
                    t_wo[oo * 4 + 32] = acc2_8;
                    t_wo[oo * 4 + 33] = acc2_9;
                    t_wo[oo * 4 + 34] = acc2_10;
                    t_wo[oo * 4 + 35] = acc2_11;
                    t_wo[oo * 4 + 48] = acc2_12;
                    t_wo[oo * 4 + 49] = acc2_13;
                    t_wo[oo * 4 + 50] = acc2_14;
                    t_wo[oo * 4 + 51] = acc2_15;
                }
            }
        for (int32_t wo = 0; wo < 13; wo++) {
            float *y_wo = y + h * 208 + wo * 16;
            for (int32_t co = 0; co < 4; co++) {
                float acc3_0 = -INFINITY;
                float acc3_1 = -INFINITY;
                float acc3_2 = -INFINITY;
                float acc3_3 = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *t_i = t + ((h * 2 + i) & 3) * 448 + wo * 32 + co * 4;
                    for (int32_t j = 0; j < 3; j++) {
                        acc3_0 = lw_maxf(acc3_0, t_i[j * 16]);
                        acc3_1 = lw_maxf(acc3_1, t_i[j * 16 + 1]);
                        acc3_2 = lw_maxf(acc3_2, t_i[j * 16 + 2]);
                        acc3_3 = lw_maxf(acc3_3, t_i[j * 16 + 3]);
                    }
                }
                y_wo[co * 4] = acc3_0;
                y_wo[co * 4 + 1] = acc3_1;
                y_wo[co * 4 + 2] = acc3_2;
                y_wo[co * 4 + 3] = acc3_3;
            }
        }
    }
}

int conv_chain_combined_run(void *arena, const struct conv_chain_combined_inputs *in,
    const struct conv_chain_combined_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_CHAIN_COMBINED_ARENA_ALIGN != 0) return CONV_CHAIN_COMBINED_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->k2 == NULL) return CONV_CHAIN_COMBINED_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_CHAIN_COMBINED_E_NULL;
    LW_LAYER(0, "y")
    conv_chain_combined_y(in->x, in->k, in->k2, (float *)(void *)(memory + 7680), (float *)(void *)memory, out->y);
    return 0;
}
