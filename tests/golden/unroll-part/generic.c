/* unroll_part: unroll-part.te for generic, emitted by Loopwright. */
#include "generic.h"
#if UNROLL_PART_HEADER_HASH != 0x150794cf
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<22] = x[i] * x[i]
 * x: [22]  y: [22]
 * schedule of the file: unroll y.i by=4 */
static void unroll_part_y(const float *restrict x, float *restrict y)
{
    for (int32_t io = 0; io < 5; io++) {
        y[io * 4] = x[io * 4] * x[io * 4];
        y[io * 4 + 1] = x[io * 4 + 1] * x[io * 4 + 1];
        y[io * 4 + 2] = x[io * 4 + 2] * x[io * 4 + 2];
        y[io * 4 + 3] = x[io * 4 + 3] * x[io * 4 + 3];
    }
    y[20] = x[20] * x[20];
    y[21] = x[21] * x[21];
}

int unroll_part_run(void *arena, const struct unroll_part_inputs *in, const struct unroll_part_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return UNROLL_PART_E_NULL;
    if (out == NULL || out->y == NULL) return UNROLL_PART_E_NULL;
    LW_LAYER(0, "y")
    unroll_part_y(in->x, out->y);
    return 0;
}
