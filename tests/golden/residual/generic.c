/* residual: residual.onnx for generic, emitted by Loopwright. */
#include "generic.h"
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
 * schedule contraction.tiled: y.w by 8; in registers acc; vectors along y.c, acc.o, y.wi, acc.w */
static void residual_first(const float *restrict x, const float *k, const float *b, float *restrict y)
{
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t c = 0; c < 4; c++) {
            const int32_t x_at_c = c * 16 - 1;
            const float *k_c = k + c * 4;
            for (int32_t w = 1; w < 8; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x[x_at_c + w] * k_c[o];
        }
        for (int32_t j = 1; j < 3; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + c * 16 + j - 1;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w] * k_c[o];
            }
        for (int32_t wi = 0; wi < 8; wi++) {
            float *y_wi = y + wi * 4;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c], 0.0f);
        }
    }
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t j = 0; j < 2; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + c * 16 + j + 7;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w] * k_c[o];
            }
        for (int32_t c = 0; c < 4; c++) {
            const float *x_c = x + c * 16 + 9;
            const float *k_c = k + c * 4 + 32;
            for (int32_t w = 0; w < 7; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x_c[w] * k_c[o];
        }
        for (int32_t wi = 0; wi < 8; wi++) {
            float *y_wi = y + wi * 4 + 32;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c], 0.0f);
        }
    }
}

/* conv1d + add + relu
 * acc[n<1, w<16, o<4] = sum(j<3, c<4) select(0 <= w + j - 1 && w + j - 1 < 16, x[n, w+j-1, c] * k[j, c, o], 0.0)
 * y[n<1, w<16, c<4] = max(acc[n, w, c] + b[c], 0.0)
 * x: [1][16][4]  k: [3][4][4]  b: [4]  y: [1][16][4]
 * schedule contraction.tiled: y.w by 8; in registers acc; vectors along y.c, acc.o, y.wi, acc.w */
static void residual_second(const float *restrict x, const float *k, const float *b, float *restrict y)
{
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t c = 0; c < 4; c++) {
            const float *k_c = k + c * 4;
            for (int32_t w = 1; w < 8; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x[(w - 1) * 4 + c] * k_c[o];
        }
        for (int32_t j = 1; j < 3; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + (j - 1) * 4 + c;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w * 4] * k_c[o];
            }
        for (int32_t wi = 0; wi < 8; wi++) {
            float *y_wi = y + wi * 4;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c], 0.0f);
        }
    }
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t j = 0; j < 2; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + j * 4 + c + 28;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w * 4] * k_c[o];
            }
        for (int32_t c = 0; c < 4; c++) {
            const float *k_c = k + c * 4 + 32;
            for (int32_t w = 0; w < 7; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x[w * 4 + c + 36] * k_c[o];
        }
        for (int32_t wi = 0; wi < 8; wi++) {
            float *y_wi = y + wi * 4 + 32;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c], 0.0f);
        }
    }
}

/* conv1d + add + add + relu
 * acc[n<1, w<16, o<4] = sum(j<3, c<4) select(0 <= w + j - 1 && w + j - 1 < 16, x[n, w+j-1, c] * k[j, c, o], 0.0)
 * y[n<1, w<16, c<4] = max(acc[n, w, c] + b[c] + x2[n, w, c], 0.0)
 * x: [1][16][4]  x2: [1][16][4]  k: [3][4][4]  b: [4]  y: [1][16][4]
 * schedule contraction.tiled: y.w by 8; in registers acc; vectors along y.c, acc.o, y.wi, acc.w */
static void residual_third(const float *x, const float *x2, const float *k, const float *b, float *y)
{
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t c = 0; c < 4; c++) {
            const float *k_c = k + c * 4;
            for (int32_t w = 1; w < 8; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x[(w - 1) * 4 + c] * k_c[o];
        }
        for (int32_t j = 1; j < 3; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + (j - 1) * 4 + c;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w * 4] * k_c[o];
            }
        for (int32_t wi = 0; wi < 8; wi++) {
            const float *x2_wi = x2 + wi * 4;
            float *y_wi = y + wi * 4;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c] + x2_wi[c], 0.0f);
        }
    }
    {
        float acc[32];
        for (int32_t w = 0; w < 8; w++)
            LW_VECTOR
            for (int32_t o = 0; o < 4; o++)
                acc[w * 4 + o] = 0.0f;
        for (int32_t j = 0; j < 2; j++)
            for (int32_t c = 0; c < 4; c++) {
                const float *x_c = x + j * 4 + c + 28;
                const float *k_c = k + j * 16 + c * 4;
                for (int32_t w = 0; w < 8; w++)
                    LW_VECTOR
                    for (int32_t o = 0; o < 4; o++)
                        acc[w * 4 + o] += x_c[w * 4] * k_c[o];
            }
        for (int32_t c = 0; c < 4; c++) {
            const float *k_c = k + c * 4 + 32;
            for (int32_t w = 0; w < 7; w++)
                LW_VECTOR
                for (int32_t o = 0; o < 4; o++)
                    acc[w * 4 + o] += x[w * 4 + c + 36] * k_c[o];
        }
        for (int32_t wi = 0; wi < 8; wi++) {
            const float *x2_wi = x2 + wi * 4 + 32;
            float *y_wi = y + wi * 4 + 32;
            LW_VECTOR
            for (int32_t c = 0; c < 4; c++)
                y_wi[c] = lw_maxf(acc[wi * 4 + c] + b[c] + x2_wi[c], 0.0f);
        }
    }
}

/* transpose
 * y[n<1, c<4, w<16] = x[n, w, c]
 * x: [1][16][4]  y: [1][4][16] */
static void residual_y(const float *restrict x, float *restrict y)
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
