/* split_shift: split-shift.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SPLIT_SHIFT_HEADER_HASH != 0x1701b400
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
 * schedule of the file: split y.i 8 tail=shift; unroll y.ii */
static void split_shift_y(const float *restrict x, float *restrict y)
{
    for (int32_t io = 0; io < 4; io++) {
        const int32_t io_begin = lw_min_i32(io * 8, 22);
        y[io_begin] = x[io_begin] * 2.0f;
        y[io_begin + 1] = x[io_begin + 1] * 2.0f;
        y[io_begin + 2] = x[io_begin + 2] * 2.0f;
        y[io_begin + 3] = x[io_begin + 3] * 2.0f;
        y[io_begin + 4] = x[io_begin + 4] * 2.0f;
        y[io_begin + 5] = x[io_begin + 5] * 2.0f;
        y[io_begin + 6] = x[io_begin + 6] * 2.0f;
        y[io_begin + 7] = x[io_begin + 7] * 2.0f;
    }
}

int split_shift_run(void *arena, const struct split_shift_inputs *in, const struct split_shift_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SPLIT_SHIFT_E_NULL;
    if (out == NULL || out->y == NULL) return SPLIT_SHIFT_E_NULL;
    LW_LAYER(0, "y")
    split_shift_y(in->x, out->y);
    return 0;
}
