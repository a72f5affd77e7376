/* gather_clamped: gather-clamped.te for generic, emitted by Loopwright. */
#include "generic.h"
#if GATHER_CLAMPED_HEADER_HASH != 0x1c71e07d
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[k<4] = x[max(min(i[k],9),0)]
 * x: [10]  i: [4]  y: [4] */
static void gather_clamped_y(const float *restrict x, const int32_t *restrict i, float *restrict y)
{
    for (int32_t k = 0; k < 4; k++)
        y[k] = x[lw_max_i32(lw_min_i32(i[k], 9), 0)];
}

int gather_clamped_run(void *arena, const struct gather_clamped_inputs *in, const struct gather_clamped_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->i == NULL) return GATHER_CLAMPED_E_NULL;
    if (out == NULL || out->y == NULL) return GATHER_CLAMPED_E_NULL;
    LW_LAYER(0, "y")
    gather_clamped_y(in->x, in->i, out->y);
    return 0;
}
