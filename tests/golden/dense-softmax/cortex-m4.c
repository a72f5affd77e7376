/* dense_softmax: dense-softmax.onnx for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* dense + add
 * acc[n<1, o<4] = sum(k<8) x[n, k] * w[k, o]
 * y[n<1, c<4] = acc[n, c] + b[c]
 * x: [1][8]  w: [8][4]  b: [4]  y: [1][4]
 * schedule contraction.tiled: in registers acc */
static LW_NOINLINE void dense_softmax_dense(const float *restrict x, const float *w, const float *b, float *restrict y)
{
    float acc_0 = 0.0f;
    float acc_1 = 0.0f;
    float acc_2 = 0.0f;
    float acc_3 = 0.0f;
    for (int32_t k = 0; k < 8; k++) {
        acc_0 += x[k] * w[k * 4];
        acc_1 += x[k] * w[k * 4 + 1];
        acc_2 += x[k] * w[k * 4 + 2];
        acc_3 += x[k] * w[k * 4 + 3];
    }
    y[0] = acc_0 + b[0];
    y[1] = acc_1 + b[1];
    y[2] = acc_2 + b[2];
    y[3] = acc_3 + b[3];
}

/* softmax
 * acc[n<1] = max(c<4) x[n, c]
 * power[n<1, c<4] = exp(x[n, c] - acc[n])
 * acc2[n<1] = sum(c<4) power[n, c]
 * y[n<1, c<4] = power[n, c] / acc2[n]
 * x: [1][4]  y: [1][4]
 * schedule stages.in_order: set_scope acc register; set_scope power stack; set_scope acc2 register */
static LW_NOINLINE void dense_softmax_y(const float *restrict x, float *restrict y)
{
    float power[4];
    float acc = -INFINITY;
    for (int32_t c = 0; c < 4; c++)
        acc = lw_maxf(acc, x[c]);
    for (int32_t c = 0; c < 4; c++)
        power[c] = lw_expf(x[c] - acc);
    float acc2 = 0.0f;
    for (int32_t c = 0; c < 4; c++)
        acc2 += power[c];
    for (int32_t c = 0; c < 4; c++)
        y[c] = power[c] / acc2;
}

/* [8][4] */
static const LW_ALIGN(16) float dense_softmax_dense_w[32] = {
    -.875f,-.125f,.625f,-.75f,-.25f,.5f,-.875f,-.125f,.375f,-1.f,-.25f,.5f,1.f,-.375f,.375f,-1.f,-.5f,
    .25f,1.f,-.375f,.125f,.875f,-.5f,.25f,.75f,-.625f,.125f,.875f,-.75f,0.f,.75f,-.625f
};

/* [4] */
static const LW_ALIGN(16) float dense_softmax_dense_b[4] = {
    -.875f,-.25f,.375f,1.f
};

int dense_softmax_run(void *arena, const struct dense_softmax_inputs *in, const struct dense_softmax_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % DENSE_SOFTMAX_ARENA_ALIGN != 0) return DENSE_SOFTMAX_E_ARENA;
    if (in == NULL || in->x == NULL) return DENSE_SOFTMAX_E_NULL;
    if (out == NULL || out->y == NULL) return DENSE_SOFTMAX_E_NULL;
    LW_LAYER(0, "dense")
    dense_softmax_dense(in->x, dense_softmax_dense_w, dense_softmax_dense_b, (float *)(void *)memory);
    LW_LAYER(1, "y")
    dense_softmax_y((float *)(void *)memory, out->y);
    return 0;
}
