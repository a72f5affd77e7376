/* padding_as_bounds: padding-as-bounds.te for generic, emitted by Loopwright. */
#include "generic.h"
#if PADDING_AS_BOUNDS_HEADER_HASH != 0x1ea44d51
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<40] = sum(j<3) select(0 <= i + j - 1 && i + j - 1 < 40, x[i+j-1] * k[j], 0.0)
 * x: [40]  k: [3]  y: [40] */
static void padding_as_bounds_y(const float *restrict x, const float *restrict k, float *restrict y)
{
    for (int32_t i = 0; i < 40; i++) {
        float acc = 0.0f;
        const int32_t j_end = lw_min_i32(41 - i, 3);
        for (int32_t j = lw_max_i32(1 - i, 0); j < j_end; j++)
            acc += x[i + j - 1] * k[j];
        y[i] = acc;
    }
}

int padding_as_bounds_run(void *arena, const struct padding_as_bounds_inputs *in,
    const struct padding_as_bounds_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->k == NULL) return PADDING_AS_BOUNDS_E_NULL;
    if (out == NULL || out->y == NULL) return PADDING_AS_BOUNDS_E_NULL;
    LW_LAYER(0, "y")
    padding_as_bounds_y(in->x, in->k, out->y);
    return 0;
}
