/* control_flow: control-flow.onnx for generic, emitted by Loopwright. */
#include "generic.h"
#if CONTROL_FLOW_HEADER_HASH != 0x10b1f263
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>
#include <string.h>
#include <math.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* reduce_sum + greater
 * acc = sum(n<1, c<4) x[n, c]
 * y = 0.0 < acc[]
 * x: [1][4]  y: []
 * schedule stages.in_order: set_scope acc register */
static void control_flow_sum(const float *restrict x, uint8_t *restrict y)
{
    float acc = 0.0f;
    for (int32_t c = 0; c < 4; c++)
        acc += x[c];
    y[0] = (uint8_t)(acc > 0.0f);
}

/* dense + add + relu
 * acc[n<1, o<6] = sum(k<4) x[n, k] * w[k, o]
 * y[n<1, c<6] = max(acc[n, c] + b[c], 0.0)
 * x: [1][4]  w: [4][6]  b: [6]  y: [1][6]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o */
static void control_flow_wide(const float *restrict x, const float *w, const float *b, float *restrict y)
{
    float acc[6];
    LW_VECTOR
    for (int32_t o = 0; o < 6; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 4; k++) {
        const float *w_k = w + k * 6;
        LW_VECTOR
        for (int32_t o = 0; o < 6; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t c = 0; c < 6; c++)
        y[c] = lw_maxf(acc[c] + b[c], 0.0f);
}

/* dense + add
 * acc[n<1, o<4] = sum(k<6) x[n, k] * w[k, o]
 * y[n<1, c<4] = acc[n, c] + b[c]
 * x: [1][6]  w: [6][4]  b: [4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o */
static void control_flow_fine(const float *restrict x, const float *w, const float *b, float *restrict y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 6; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t c = 0; c < 4; c++)
        y[c] = acc[c] + b[c];
}

/* mul
 * y[n<1, c<4] = x[n, c] * 0.5
 * x: [1][4]  y: [1][4] */
static void control_flow_coarse(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = x[c] * 0.5f;
}

/* dense + add + tanh
 * acc[n<1, o<4] = sum(k<4) x[n, k] * w[k, o]
 * y[n<1, c<4] = tanh(acc[n, c] + x2[n, c])
 * x: [1][4]  x2: [1][4]  w: [4][4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o */
static void control_flow_turned(const float *restrict x, const float *restrict x2, const float *w, float *restrict y)
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
    for (int32_t c = 0; c < 4; c++)
        y[c] = lw_tanhf(acc[c] + x2[c]);
}

/* reduce_sum_square + mul + add
 * acc[n<1, one1<1] = sum(c<4) x[n, c] * x[n, c]
 * y[n<1, c<1] = x2[n, c] * 0.5 + acc[n, c]
 * x: [1][4]  x2: [1][1]  y: [1][1]
 * schedule contraction.tiled: in registers acc */
static void control_flow_squares(const float *restrict x, const float *restrict x2, float *restrict y)
{
    float acc = 0.0f;
    for (int32_t c = 0; c < 4; c++)
        acc += x[c] * x[c];
    y[0] = x2[0] * 0.5f + acc;
}

/* reduce_max + less
 * acc = max(n<1, c<1) x[n, c]
 * y = acc[] < 3.0
 * x: [1][1]  y: []
 * schedule stages.in_order: set_scope acc register */
static void control_flow_most(const float *restrict x, uint8_t *restrict y)
{
    float acc = -INFINITY;
    acc = lw_maxf(acc, x[0]);
    y[0] = (uint8_t)(acc < 3.0f);
}

/* add
 * y = x[] + 1
 * x: []  y: [] */
static void control_flow_settle_3(const int64_t *restrict x, int64_t *restrict y)
{
    y[0] = (int64_t)((uint64_t)x[0] + 1u);
}

/* identity
 * y[n<1, c<4] = x[n, c]
 * x: [1][4]  y: [1][4] */
static void control_flow_h_out(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = x[c];
}

/* [4][6] */
static const LW_ALIGN(16) float control_flow_wide_w[24] = {
    -.75f,-.375f,0.f,.375f,.75f,-1.f,-.125f,.25f,.625f,1.f,-.75f,-.375f,.5f,.875f,-.875f,-.5f,-.125f,
    .25f,-1.f,-.625f,-.25f,.125f,.5f,.875f
};

/* [6] */
static const LW_ALIGN(16) float control_flow_wide_b[6] = {
    -.75f,-.125f,.5f,-1.f,-.375f,.25f
};

/* [6][4] */
static const LW_ALIGN(16) float control_flow_fine_w[24] = {
    -.75f,.875f,.375f,-.125f,-.125f,-.625f,1.f,.5f,.5f,0.f,-.5f,-1.f,-1.f,.625f,.125f,-.375f,-.375f,
    -.875f,.75f,.25f,.25f,-.25f,-.75f,.875f
};

/* [4] */
static const LW_ALIGN(16) float control_flow_fine_b[4] = {
    -.75f,-.125f,.5f,-1.f
};

/* [4][4] */
static const LW_ALIGN(16) float control_flow_turned_w[16] = {
    -.875f,-.25f,.375f,1.f,-.5f,.125f,.75f,-.75f,-.125f,.5f,-1.f,-.375f,.25f,.875f,-.625f,0.f
};

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    control_flow_choose_memory_at = 0,      /* 32 bytes in layer 1 */
    control_flow_settle_3_at = 0,           /* 8 bytes in layer 2 */
    control_flow_settle_next_1_at = 16,     /* 16 bytes in layer 2 */
    control_flow_sum_at = 32,               /* 1 bytes in layers 0 to 1 */
    control_flow_settle_next_2_at = 32,     /* 4 bytes in layer 2 */
    control_flow_choose_at = 48,            /* 16 bytes in layers 1 to 2 */
};

/* choose, where its condition holds
 * x: f32[1][4] fine: f32[1][4] */
static void control_flow_choose_then(uint8_t *memory, const float *x, float *fine)
{
    LW_LAYER(3, "wide")
    control_flow_wide(x, control_flow_wide_w, control_flow_wide_b, (float *)(void *)memory);
    LW_LAYER(4, "fine")
    control_flow_fine((float *)(void *)memory, control_flow_fine_w, control_flow_fine_b, fine);
}

/* choose, where it does not
 * x: f32[1][4] coarse: f32[1][4] */
static void control_flow_choose_else(const float *x, float *coarse)
{
    LW_LAYER(5, "coarse")
    control_flow_coarse(x, coarse);
}

/* settle, one iteration
 * step: i64[] h_in: f32[1][4] energy_in: f32[1][1] x: f32[1][4] goes_on: bool[] h_out: f32[1][4] energy_out: f32[1][1]
 * settle: i64[] h_out_2: f32[1][4] */
static void control_flow_settle_body(const int64_t *step, const float *h_in, const float *energy_in, const float *x,
    uint8_t *goes_on, float *h_out, float *energy_out, int64_t *settle, float *h_out_2)
{
    LW_LAYER(6, "turned")
    control_flow_turned(h_in, x, control_flow_turned_w, h_out);
    LW_LAYER(7, "squares")
    control_flow_squares(h_out, energy_in, energy_out);
    LW_LAYER(8, "most")
    control_flow_most(energy_out, goes_on);
    LW_LAYER(9, "settle")
    control_flow_settle_3(step, settle);
    LW_LAYER(10, "h_out")
    control_flow_h_out(h_out, h_out_2);
}

int control_flow_run(void *arena, const struct control_flow_inputs *in, const struct control_flow_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % CONTROL_FLOW_ARENA_ALIGN != 0) return CONTROL_FLOW_E_ARENA;
    if (in == NULL || in->x == NULL) return CONTROL_FLOW_E_NULL;
    if (out == NULL || out->h == NULL || out->energy == NULL || out->rows == NULL || out->rows_0 == NULL)
        return CONTROL_FLOW_E_NULL;
    LW_LAYER(0, "sum")
    control_flow_sum(in->x, (uint8_t *)(memory + control_flow_sum_at));
    LW_LAYER(1, "choose")
    if (*(uint8_t *)(memory + control_flow_sum_at)) {
        control_flow_choose_then(memory + control_flow_choose_memory_at, in->x,
            (float *)(void *)(memory + control_flow_choose_at));
    } else {
        control_flow_choose_else(in->x, (float *)(void *)(memory + control_flow_choose_at));
    }
    LW_LAYER(2, "settle")
    {
        float *h_in = out->h, *h_in_next = (float *)(void *)(memory + control_flow_settle_next_1_at);
        memcpy(h_in, (float *)(void *)(memory + control_flow_choose_at), 16);
        float *energy_in = out->energy, *energy_in_next = (float *)(void *)(memory + control_flow_settle_next_2_at);
        memset(energy_in, 0, 4);
        int64_t *const rows = (int64_t *)(void *)(memory + control_flow_settle_3_at);
        memset(rows, 0, 8);
        uint8_t again = 1;
        int64_t iteration = 0;
        for (; iteration < 8 && again; iteration++) {
            control_flow_settle_body(&iteration, h_in, energy_in, in->x, &again, h_in_next, energy_in_next, rows,
                out->rows + iteration * 4);
            { float *const last = h_in; h_in = h_in_next; h_in_next = last; }
            { float *const last = energy_in; energy_in = energy_in_next; energy_in_next = last; }
        }
        memset(out->rows + iteration * 4, 0, (size_t)(8 - iteration) * 16);
        if (h_in != out->h) memcpy(out->h, h_in, 16);
        if (energy_in != out->energy) memcpy(out->energy, energy_in, 4);
    }
    if (*((int64_t *)(void *)(memory + control_flow_settle_3_at)) < 0
        || *((int64_t *)(void *)(memory + control_flow_settle_3_at)) > 8) return CONTROL_FLOW_E_SIZE;
    const int32_t rows_size = (int32_t)*((int64_t *)(void *)(memory + control_flow_settle_3_at));
    *out->rows_0 = rows_size;
    return 0;
}
