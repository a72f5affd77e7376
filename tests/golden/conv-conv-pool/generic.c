/* conv_conv_pool: chain.te for generic, emitted by Loopwright. */
#include "generic.h"

#include <stddef.h>
#include <math.h>

#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* first[h<30, w<30, o<16] = sum(i<3, j<3, c<16) x[h+i, w+j, c] * k[i, j, c, o]
 * conv[h<28, w<28, o<16] = sum(i<3, j<3, c<16) first[h+i, w+j, c] * k2[i, j, c, o]
 * y[h<13, w<13, o<16] = max(i<3, j<3) conv[h*2+i, w*2+j, o]
 * x: [32][32][16]  k: [3][3][16][16]  k2: [3][3][16][16]  conv: [28][28][16]  first: [30][30][16]  y: [13][13][16]
 * schedule of the file: a ring of first, conv */
static void conv_conv_pool_y(const float *restrict x, const float *restrict k, const float *restrict k2,
    float *restrict conv, float *restrict first, float *restrict y)
{
    for (int32_t h = 0; h < 3; h++)
        for (int32_t w = 0; w < 29; w++) {
            float *first_w = first + h * 464 + w * 16;
            for (int32_t o = 0; o < 16; o++) {
                float acc = 0.0f;
                for (int32_t i = 0; i < 3; i++)
                    for (int32_t j = 0; j < 3; j++) {
                        const float *x_j = x + (i + h) * 512 + (j + w) * 16;
                        const float *k_j = k + i * 768 + j * 256 + o;
                        for (int32_t c = 0; c < 16; c++)
                            acc += x_j[c] * k_j[c * 16];
                    }
                first_w[o] = acc;
            }
        }
    for (int32_t w = 0; w < 27; w++) {
        float *conv_w = conv + w * 16;
        for (int32_t o = 0; o < 16; o++) {
            float acc = 0.0f;
            for (int32_t i = 0; i < 3; i++)
                for (int32_t j = 0; j < 3; j++) {
                    const float *first_j = first + i * 464 + (j + w) * 16;
                    const float *k2_j = k2 + i * 768 + j * 256 + o;
                    for (int32_t c = 0; c < 16; c++)
                        acc += first_j[c] * k2_j[c * 16];
                }
            conv_w[o] = acc;
        }
    }
    for (int32_t h = 0; h < 13; h++) {
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t w = 0; w < 29; w++) {
                float *first_w = first + ((h * 2 + h2 + 3) & 3) * 464 + w * 16;
                for (int32_t o = 0; o < 16; o++) {
                    float acc = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *x_j = x + h * 1024 + (i + h2) * 512 + (w + j) * 16 + 1536;
                            const float *k_j = k + i * 768 + j * 256 + o;
                            for (int32_t c = 0; c < 16; c++)
                                acc += x_j[c] * k_j[c * 16];
                        }
                    first_w[o] = acc;
                }
            }
        for (int32_t h2 = 0; h2 < 2; h2++)
            for (int32_t w = 0; w < 27; w++) {
                float *conv_w = conv + (h * 2 + h2 + 1) % 3 * 432 + w * 16;
                for (int32_t o = 0; o < 16; o++) {
                    float acc = 0.0f;
                    for (int32_t i = 0; i < 3; i++)
                        for (int32_t j = 0; j < 3; j++) {
                            const float *first_j = first + ((h * 2 + i + h2 + 1) & 3) * 464 + (w + j) * 16;
                            const float *k2_j = k2 + i * 768 + j * 256 + o;
                            for (int32_t c = 0; c < 16; c++)
                                acc += first_j[c] * k2_j[c * 16];
                        }
                    conv_w[o] = acc;
                }
            }
        for (int32_t w = 0; w < 13; w++) {
            float *y_w = y + h * 208 + w * 16;
            for (int32_t o = 0; o < 16; o++) {
                float acc = -INFINITY;
                for (int32_t i = 0; i < 3; i++) {
                    const float *conv_i = conv + (h * 2 + i) % 3 * 432 + w * 32 + o;
                    for (int32_t j = 0; j < 3; j++)
                        acc = lw_maxf(acc, conv_i[j * 16]);
                }
                y_w[o] = acc;
            }
        }
    }
}

int conv_conv_pool_run(void *arena, const struct conv_conv_pool_inputs *in, const struct conv_conv_pool_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % CONV_CONV_POOL_ARENA_ALIGN != 0) return CONV_CONV_POOL_E_ARENA;
    if (in == NULL || in->x == NULL || in->k == NULL || in->k2 == NULL) return CONV_CONV_POOL_E_NULL;
    if (out == NULL || out->y == NULL) return CONV_CONV_POOL_E_NULL;
    LW_LAYER(0, "y")
    conv_conv_pool_y(in->x, in->k, in->k2, (float *)(void *)(memory + 7424), (float *)(void *)memory, out->y);
    return 0;
}
