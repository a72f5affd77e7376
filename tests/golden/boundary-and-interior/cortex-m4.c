/* boundary_and_interior: boundary-and-interior.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if BOUNDARY_AND_INTERIOR_HEADER_HASH != 0x1f6c0eac
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<40] = sum(j<3) select(0 <= i + j - 1 && i + j - 1 < 40, x[i+j-1] * k[j], 0.0)
 * x: [40]  k: [3]  y: [40]
 * schedule of the file: unroll y.j */
static void boundary_and_interior_y(const float *restrict x, const float *restrict k, float *restrict y)
{
    {
        float acc = 0.0f;
        acc += x[0] * k[1];
        acc += x[1] * k[2];
        y[0] = acc;
    }
    for (int32_t i = 1; i < 39; i++) {
        float acc = 0.0f;
        acc += x[i - 1] * k[0];
        acc += x[i] * k[1];
        acc += x[i + 1] * k[2];
        y[i] = acc;
    }
    {
        float acc = 0.0f;
        acc += x[38] * k[0];
        acc += x[39] * k[1];
        y[39] = acc;
    }
}

int boundary_and_interior_run(void *arena, const struct boundary_and_interior_inputs *in,
    const struct boundary_and_interior_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->k == NULL) return BOUNDARY_AND_INTERIOR_E_NULL;
    if (out == NULL || out->y == NULL) return BOUNDARY_AND_INTERIOR_E_NULL;
    LW_LAYER(0, "y")
    boundary_and_interior_y(in->x, in->k, out->y);
    return 0;
}
