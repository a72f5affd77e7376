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
 * acc[n<1, h<32, w<32, o<16] = sum(i<3, j<3, c<16) select(0 <= h + i - 1 && h + i - 1 < 32 && 0 <= w + j - 1
 *     && w + j - 1 < 32, x[n, h+i-1, w+j-1, c] * k[i, j, c, o], 0.0)
 * t[n<1, h<32, w<32, c<16] = max(acc[n, h, w, c] + b[c], 0.0)
 * acc2[n<1, h<15, w<15, c<16] = max(i<3, j<3) t[n, h*2+i, w*2+j, c]
 * y[n<1, h<15, w<15, c<16] = acc2[n, h, w, c]
 * x: [1][32][32][16]  k: [3][3][16][16]  b: [16]  t: [1][32][32][16]  y: [1][15][15][16]
 * schedule contraction.tiled + contraction.tiled: y.w by 1, y.c by 4, t.w by 4, t.c by 4; in registers acc2, ... */
static void conv_pool_combined_y(const float *restrict x, const float *restrict k, const float *restrict b,
    float *restrict t, float *restrict y)
{
    for (int32_t wo = 0; wo < 8; wo++) {
        float *t_wo = t + wo * 64;
        for (int32_t co = 0; co < 4; co++) {
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
            for (int32_t i = 1; i < 3; i++)
                for (int32_t j = 0; j < 3; j++) {
                    const float *x_j = x + (i - 1) * 512 + wo * 64 + j * 16;
                    const float *k_j = k + i * 768 + j * 256 + co * 4;
                    for (int32_t c = 0; c < 16; c++) {
                        if (wo * 4 + j >= 1) {
                            acc_0 += x_j[c - 16] * k_j[c * 16];
                            acc_1 += x_j[c - 16] * k_j[c * 16 + 1];
                            acc_2 += x_j[c - 16] * k_j[c * 16 + 2];
                            acc_3 += x_j[c - 16] * k_j[c * 16 + 3];
                        }
                        acc_4 += x_j[c] * k_j[c * 16];
                        acc_5 += x_j[c] * k_j[c * 16 + 1];
                        acc_6 += x_j[c] * k_j[c * 16 + 2];
                        acc_7 += x_j[c] * k_j[c * 16 + 3];
                        acc_8 += x_j[c + 16] * k_j[c * 16];
                        acc_9 += x_j[c + 16] * k_j[c * 16 + 1];
                        acc_10 += x_j[c + 16] * k_j[c * 16 + 2];
                        acc_11 += x_j[c + 16] * k_j[c * 16 + 3];
                        if (wo * 4 + j < 30) {
                            acc_12 += x_j[c + 32] * k_j[c * 16];
                            acc_13 += x_j[c + 32] * k_j[c * 16 + 1];
                            acc_14 += x_j[c + 32] * k_j[c * 16 + 2];
                            acc_15 += x_j[c + 32] * k_j[c * 16 + 3];
                        }
                    }
                }
            t_wo[co * 4] = lw_maxf(acc_0 + b[co * 4], 0.0f);
            t_wo[co * 4 + 1] = lw_maxf(acc_1 + b[co * 4 + 1], 0.0f);
            t_wo[co * 4 + 2] = lw_maxf(acc_2 + b[co * 4 + 2], 0.0f);
            t_wo[co * 4 + 3] = lw_maxf(acc_3 + b[co * 4 + 3], 0.0f);
            t_wo[co * 4 + 16] = lw_maxf(acc_4 + b[co * 4], 0.0f);
            t_wo[co * 4 + 17] = lw_maxf(acc_5 + b[co * 4 + 1], 0.0f);
            t_wo[co * 4 + 18] = lw_maxf(acc_6 + b[co * 4 + 2], 0.0f);
            t_wo[co * 4 + 19] = lw_maxf(acc_7 + b[co * 4 + 3], 0.0f);
            t_wo[co * 4 + 32] = lw_maxf(acc_8 + b[co * 4], 0.0f);
            t_wo[co * 4 + 33] = lw_maxf(acc_9 + b[co * 4 + 1], 0.0f);
            t_wo[co * 4 + 34] = lw_maxf(acc_10 + b[co * 4 + 2], 0.0f);
            t_wo[co * 4 + 35] = lw_maxf(acc_11 + b[co * 4 + 3], 0.0f);
            t_wo[co * 4 + 48] = lw_maxf(acc_12 + b[co * 4], 0.0f);
            t_wo[co * 4 + 49] = lw_maxf(acc_13 + b[co * 4 + 1], 0.0f);
            t_wo[co * 4 + 50] = lw_maxf(acc_14 + b[co * 4 + 2], 0.0f);
            t_wo[co * 4 + 51] = lw_maxf(acc_15 + b[co * 4 + 3], 0.0f);
        }
    }
    for (int32_t h = 0; h < 15; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t wo = 0; wo < 8; wo++) {
                float *t_wo = t + ((h * 2 + h2 + 1) & 3) * 512 + wo * 64;
                for (int32_t co = 0; co < 4; co++) {
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
                    for (int32_t i = 0; i < 3; i++) {
                        const int32_t x_at_i = h * 1024 + (i + h2) * 512 + wo * 64 - 16;
                        const int32_t k_at_i = i * 768 + co * 4;
                        const int32_t j_end = lw_max_i32(1 - wo * 4, 0);
                        for (int32_t j = 0; j < j_end; j++)
                            for (int32_t c = 0; c < 16; c++) {
                                if (wo >= 1) {
                                    acc_0 += x[x_at_i + c] * k[k_at_i + c * 16];
                                    acc_1 += x[x_at_i + c] * k[k_at_i + c * 16 + 1];
                                    acc_2 += x[x_at_i + c] * k[k_at_i + c * 16 + 2];
                                    acc_3 += x[x_at_i + c] * k[k_at_i + c * 16 + 3];
                                }
                                acc_4 += x[x_at_i + c + 16] * k[k_at_i + c * 16];
                                acc_5 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 1];
                                acc_6 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 2];
                                acc_7 += x[x_at_i + c + 16] * k[k_at_i + c * 16 + 3];
                                acc_8 += x[x_at_i + c + 32] * k[k_at_i + c * 16];
                                acc_9 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 1];
                                acc_10 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 2];
                                acc_11 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 3];
                                acc_12 += x[x_at_i + c + 48] * k[k_at_i + c * 16];
                                acc_13 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 1];
                                acc_14 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 2];
                                acc_15 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 3];
                            }
                        const int32_t j_end_2 = lw_min_i32(30 - wo * 4, 3);
                        for (int32_t j = lw_max_i32(1 - wo * 4, 0); j < j_end_2; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + wo * 64 + (j - 1) * 16;
                            const float *k_j = k + i * 768 + j * 256 + co * 4;
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
                                acc_12 += x_j[c + 48] * k_j[c * 16];
                                acc_13 += x_j[c + 48] * k_j[c * 16 + 1];
                                acc_14 += x_j[c + 48] * k_j[c * 16 + 2];
                                acc_15 += x_j[c + 48] * k_j[c * 16 + 3];
                            }
                        }
                        for (int32_t j = lw_min_i32(30 - wo * 4, 3); j < 3; j++)
                            for (int32_t c = 0; c < 16; c++) {
                                acc_0 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 512];
                                acc_1 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 513];
                                acc_2 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 514];
                                acc_3 += x[x_at_i + c + 32] * k[k_at_i + c * 16 + 515];
                                acc_4 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 512];
                                acc_5 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 513];
                                acc_6 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 514];
                                acc_7 += x[x_at_i + c + 48] * k[k_at_i + c * 16 + 515];
                                acc_8 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 512];
                                acc_9 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 513];
                                acc_10 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 514];
                                acc_11 += x[x_at_i + c + 64] * k[k_at_i + c * 16 + 515];
                                if (wo < 7) {
                                    acc_12 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 512];
                                    acc_13 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 513];
                                    acc_14 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 514];
                                    acc_15 += x[x_at_i + c + 80] * k[k_at_i + c * 16 + 515];
                                }
                            }
                    }
                    t_wo[co * 4] = lw_maxf(acc_0 + b[co * 4], 0.0f);
                    t_wo[co * 4 + 1] = lw_maxf(acc_1 + b[co * 4 + 1], 0.0f);
                    t_wo[co * 4 + 2] = lw_maxf(acc_2 + b[co * 4 + 2], 0.0f);
                    t_wo[co * 4 + 3] = lw_maxf(acc_3 + b[co * 4 + 3], 0.0f);
                    t_wo[co * 4 + 16] = lw_maxf(acc_4 + b[co * 4], 0.0f);
                    t_wo[co * 4 + 17] = lw_maxf(acc_5 + b[co * 4 + 1], 0.0f);
                    t_wo[co * 4 + 18] = lw_maxf(acc_6 + b[co * 4 + 2], 0.0f);
                    t_wo[co * 4 + 19] = lw_maxf(acc_7 + b[co * 4 + 3], 0.0f);
                    t_wo[co * 4 + 32] = lw_maxf(acc_8 + b[co * 4], 0.0f);
                    t_wo[co * 4 + 33] = lw_maxf(acc_9 + b[co * 4 + 1], 0.0f);
                    t_wo[co * 4 + 34] = lw_maxf(acc_10 + b[co * 4 + 2], 0.0f);
                    t_wo[co * 4 + 35] = lw_maxf(acc_11 + b[co * 4 + 3], 0.0f);
                    t_wo[co * 4 + 48] = lw_maxf(acc_12 + b[co * 4], 0.0f);
                    t_wo[co * 4 + 49] = lw_maxf(acc_13 + b[co * 4 + 1], 0.0f);
                    t_wo[co * 4 + 50] = lw_maxf(acc_14 + b[co * 4 + 2], 0.0f);
                    t_wo[co * 4 + 51] = lw_maxf(acc_15 + b[co * 4 + 3], 0.0f);
                }
            }
        for (int32_t wo = 0; wo < 15; wo++) {
            float *y_wo = y + h * 240 + wo * 16;
            for (int32_t co = 0; co < 4; co++) {
                float acc2_0 = -INFINITY;
                float acc2_1 = -INFINITY;
                float acc2_2 = -INFINITY;
                float acc2_3 = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *t_i = t + ((h * 2 + i) & 3) * 512 + wo * 32 + co * 4;
                    for (int32_t j = 0; j < 3; j++) {
                        acc2_0 = lw_maxf(acc2_0, t_i[j * 16]);
                        acc2_1 = lw_maxf(acc2_1, t_i[j * 16 + 1]);
                        acc2_2 = lw_maxf(acc2_2, t_i[j * 16 + 2]);
                        acc2_3 = lw_maxf(acc2_3, t_i[j * 16 + 3]);
                    }
                }
                y_wo[co * 4] = acc2_0;
                y_wo[co * 4 + 1] = acc2_1;
                y_wo[co * 4 + 2] = acc2_2;
                y_wo[co * 4 + 3] = acc2_3;
            }
        }
    }
}

int conv_pool_combined_run(void *arena, const struct conv_pool_combined_inputs *in,
    const struct conv_pool_combined_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_POOL_COMBINED_ARENA_ALIGN != 0) return CONV_POOL_COMBINED_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->bias == NULL) return CONV_POOL_COMBINED_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_POOL_COMBINED_E_NULL;
    LW_LAYER(0, "y")
    conv_pool_combined_y(in->x, in->k, in->bias, (float *)(void *)memory, out->y);
    return 0;
}
