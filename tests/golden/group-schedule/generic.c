/* group_schedule: group-schedule.te for generic, emitted by Loopwright. */
#include "generic.h"
#if GROUP_SCHEDULE_HEADER_HASH != 0x104261cc
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* exp
 * y[n<2, c<6] = exp(x[n, c])
 * x: [2][6]  y: [2][6] */
static void group_schedule_y_matmul_exp(const float *restrict x, float *restrict y)
{
    for (int32_t n = 0; n < 2; n++) {
        const float *x_n = x + n * 6;
        float *y_n = y + n * 6;
        for (int32_t c = 0; c < 6; c++)
            y_n[c] = lw_expf(x_n[c]);
    }
}

/* y_matmul[n<2, o<4] = sum(k<6) y_matmul_exp[n, k] * w[k, o]
 * y[n<2, c<4] = max(y_matmul[n, c], 0.0)
 * y_matmul_exp: [2][6]  w: [6][4]  y: [2][4]
 * schedule of the file: compute_at y_matmul y.n; set_scope y_matmul stack */
static void group_schedule_y_matmul(const float *restrict y_matmul_exp, const float *restrict w, float *restrict y)
{
    for (int32_t n = 0; n < 2; n++) {
        float y_matmul[4];
        const float *y_matmul_exp_n = y_matmul_exp + n * 6;
        for (int32_t o = 0; o < 4; o++) {
            float acc = 0.0f;
            for (int32_t k = 0; k < 6; k++)
                acc += y_matmul_exp_n[k] * w[k * 4 + o];
            y_matmul[o] = acc;
        }
        float *y_n = y + n * 4;
        for (int32_t c = 0; c < 4; c++)
            y_n[c] = lw_maxf(y_matmul[c], 0.0f);
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    group_schedule_y_matmul_exp_at = 0,     /* 48 bytes in layers 0 to 1 */
};

int group_schedule_run(void *arena, const struct group_schedule_inputs *in, const struct group_schedule_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % GROUP_SCHEDULE_ARENA_ALIGN != 0) return GROUP_SCHEDULE_E_ARENA;
    if (in == NULL || in->x == NULL || in->w == NULL) return GROUP_SCHEDULE_E_NULL;
    if (out == NULL || out->y == NULL) return GROUP_SCHEDULE_E_NULL;
    LW_LAYER(0, "y_matmul_exp")
    group_schedule_y_matmul_exp(in->x, (float *)(void *)(memory + group_schedule_y_matmul_exp_at));
    LW_LAYER(1, "y_matmul")
    group_schedule_y_matmul((float *)(void *)(memory + group_schedule_y_matmul_exp_at), in->w, out->y);
    return 0;
}
