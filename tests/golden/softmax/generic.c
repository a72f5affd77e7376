/* softmax: softmax.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SOFTMAX_HEADER_HASH != 0x1aea3675
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* softmax
 * acc[n<3] = max(c<10) x[n, c]
 * power[n<3, c<10] = exp(x[n, c] - acc[n])
 * acc2[n<3] = sum(c<10) power[n, c]
 * y[n<3, c<10] = power[n, c] / acc2[n]
 * x: [3][10]  y: [3][10]
 * schedule stages.in_order: in registers acc2, acc */
static void softmax_y(const float *restrict x, float *restrict y)
{
    for (int32_t n = 0; n < 3; n++) {
        float power[10];
        float acc = -INFINITY;
        const float *x_n = x + n * 10;
        for (int32_t c = 0; c < 10; c++)
            acc = lw_maxf(acc, x_n[c]);
        for (int32_t c = 0; c < 10; c++)
            power[c] = lw_expf(x_n[c] - acc);
        float acc2 = 0.0f;
        for (int32_t c = 0; c < 10; c++)
            acc2 += power[c];
        float *y_n = y + n * 10;
        for (int32_t c = 0; c < 10; c++)
            y_n[c] = power[c] / acc2;
    }
}

int softmax_run(void *arena, const struct softmax_inputs *in, const struct softmax_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SOFTMAX_E_NULL;
    if (out == NULL || out->y == NULL) return SOFTMAX_E_NULL;
    LW_LAYER(0, "y")
    softmax_y(in->x, out->y);
    return 0;
}
