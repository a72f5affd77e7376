/* split_guard: split-guard.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SPLIT_GUARD_HEADER_HASH != 0x17eb4937
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
 * schedule of the file: split y.i 8 */
static void split_guard_y(const float *restrict x, float *restrict y)
{
    for (int32_t io = 0; io < 4; io++) {
        const float *x_io = x + io * 8;
        float *y_io = y + io * 8;
        const int32_t ii_end = lw_min_i32(30 - io * 8, 8);
        for (int32_t ii = 0; ii < ii_end; ii++)
            y_io[ii] = x_io[ii] * 2.0f;
    }
}

int split_guard_run(void *arena, const struct split_guard_inputs *in, const struct split_guard_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SPLIT_GUARD_E_NULL;
    if (out == NULL || out->y == NULL) return SPLIT_GUARD_E_NULL;
    LW_LAYER(0, "y")
    split_guard_y(in->x, out->y);
    return 0;
}
