/* compute_inline: compute-inline.te for generic, emitted by Loopwright. */
#include "generic.h"
#if COMPUTE_INLINE_HEADER_HASH != 0x1fab2456
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<20] = x[i] * 3.0 + x[19-i] * 3.0
 * x: [20]  y: [20]
 * schedule of the file: compute_inline t */
static void compute_inline_y(const float *restrict x, float *restrict y)
{
    for (int32_t i = 0; i < 20; i++)
        y[i] = x[i] * 3.0f + x[-i + 19] * 3.0f;
}

int compute_inline_run(void *arena, const struct compute_inline_inputs *in, const struct compute_inline_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return COMPUTE_INLINE_E_NULL;
    if (out == NULL || out->y == NULL) return COMPUTE_INLINE_E_NULL;
    LW_LAYER(0, "y")
    compute_inline_y(in->x, out->y);
    return 0;
}
