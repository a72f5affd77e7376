/* split_peel: split-peel.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SPLIT_PEEL_HEADER_HASH != 0x1808a122
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<30] = x[i] * 2.0
 * x: [30]  y: [30]
 * schedule of the file: split y.i 8 tail=peel */
static void split_peel_y(const float *restrict x, float *restrict y)
{
    for (int32_t io = 0; io < 3; io++) {
        const float *x_io = x + io * 8;
        float *y_io = y + io * 8;
        for (int32_t ii = 0; ii < 8; ii++)
            y_io[ii] = x_io[ii] * 2.0f;
    }
    for (int32_t ii = 0; ii < 6; ii++)
        y[ii + 24] = x[ii + 24] * 2.0f;
}

int split_peel_run(void *arena, const struct split_peel_inputs *in, const struct split_peel_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SPLIT_PEEL_E_NULL;
    if (out == NULL || out->y == NULL) return SPLIT_PEEL_E_NULL;
    LW_LAYER(0, "y")
    split_peel_y(in->x, out->y);
    return 0;
}
