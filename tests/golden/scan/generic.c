/* scan: scan.onnx for generic, emitted by Loopwright. */
#include "generic.h"

#include <stddef.h>
#include <string.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* dense
 * acc[o<4] = sum(k<4) x[k] * w[k, o]
 * y[o<4] = acc[o]
 * x: [4]  w: [4][4]  y: [4]
 * schedule contraction.tiled: in registers acc; vectors along y.o, acc.o */
static void scan_dense_4(const float *restrict x, const float *w, float *restrict y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 4; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        y[o] = acc[o];
}

/* dense + add + tanh
 * acc[o<4] = sum(k<3) x[k] * w[k, o]
 * y[i<4] = tanh(acc[i] + b[i])
 * x: [3]  b: [4]  w: [3][4]  y: [4]
 * schedule contraction.tiled: in registers acc; vectors along y.i, acc.o */
static void scan_dense_4_2(const float *x, const float *b, const float *w, float *y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 3; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t i = 0; i < 4; i++)
        y[i] = lw_tanhf(acc[i] + b[i]);
}

/* identity
 * y[i<4] = x[i]
 * x: [4]  y: [4] */
static void scan_identity_4(const float *restrict x, float *restrict y)
{
    for (int32_t i = 0; i < 4; i++)
        y[i] = x[i];
}

/* [4][4] */
static const LW_ALIGN(16) float scan_turned_w[16] = {
    -.875f,-.25f,.375f,1.f,-.5f,.125f,.75f,-.75f,-.125f,.5f,-1.f,-.375f,.25f,.875f,-.625f,0.f
};

/* [3][4] */
static const LW_ALIGN(16) float scan_driven_w[12] = {
    -.875f,-.25f,.375f,1.f,-.5f,.125f,.75f,-.75f,-.125f,.5f,-1.f,-.375f
};

/* forwards, one turn
 * h: f32[4] xt: f32[3] h_new: f32[4] h_new_2: f32[4] */
static void scan_forwards_body(const float *h, const float *xt, float *h_new, float *h_new_2)
{
    LW_LAYER(2, "turned")
    scan_dense_4(h, scan_turned_w, h_new);
    LW_LAYER(3, "driven")
    scan_dense_4_2(xt, h_new, scan_driven_w, h_new);
    LW_LAYER(4, "h_new")
    scan_identity_4(h_new, h_new_2);
}

int scan_run(void *arena, const struct scan_inputs *in, const struct scan_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % SCAN_ARENA_ALIGN != 0) return SCAN_E_ARENA;
    if (in == NULL || in->x == NULL) return SCAN_E_NULL;
    if (out == NULL || out->last == NULL || out->forth == NULL || out->back == NULL) return SCAN_E_NULL;
    LW_LAYER(0, "forwards")
    {
        float *h = out->last, *h_next = (float *)(void *)memory;
        memset(h, 0, 16);
        for (int32_t turn = 0; turn < 40; turn++) {
            scan_forwards_body(h, in->x + turn * 3, h_next, out->forth + turn * 4);
            { float *const last = h; h = h_next; h_next = last; }
        }
    }
    LW_LAYER(1, "backwards")
    {
        float *h = (float *)(void *)memory, *h_next = (float *)(void *)(memory + 16);
        memset(h, 0, 16);
        for (int32_t turn = 0; turn < 40; turn++) {
            scan_forwards_body(h, in->x + (39 - turn) * 3, h_next, out->back + (39 - turn) * 4);
            { float *const last = h; h = h_next; h_next = last; }
        }
    }
    return 0;
}
