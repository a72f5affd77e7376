/* requantize: requantize.te for generic, emitted by Loopwright. */
#include "generic.h"
#if REQUANTIZE_HEADER_HASH != 0x1e78b4a2
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* rescale
 * y[i<12] = i8(min(max(roundshift(mulhigh(x[i], 1500000000), 6) - 3, -128), 127))
 * x: [12]  y: [12] */
static void requantize_y(const int32_t *restrict x, int8_t *restrict y)
{
    for (int32_t i = 0; i < 12; i++)
        y[i] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(x[i], 1500000000), 6) - 3);
}

int requantize_run(void *arena, const struct requantize_inputs *in, const struct requantize_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return REQUANTIZE_E_NULL;
    if (out == NULL || out->y == NULL) return REQUANTIZE_E_NULL;
    LW_LAYER(0, "y")
    requantize_y(in->x, out->y);
    return 0;
}
