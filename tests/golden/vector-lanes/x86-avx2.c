/* vector_lanes: vector-lanes.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if VECTOR_LANES_HEADER_HASH != 0x1e7ca2de
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<29] = max(x[i] * 0.5 + b[i], 0.0)
 * x: [29]  b: [29]  y: [29]
 * schedule of the file: vectorize y.i */
static void vector_lanes_y(const float *restrict x, const float *restrict b, float *restrict y)
{
    for (int32_t i = 0; i < 29; i++)
        y[i] = lw_maxf(x[i] * 0.5f + b[i], 0.0f);
}

int vector_lanes_run(void *arena, const struct vector_lanes_inputs *in, const struct vector_lanes_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->b == NULL) return VECTOR_LANES_E_NULL;
    if (out == NULL || out->y == NULL) return VECTOR_LANES_E_NULL;
    LW_LAYER(0, "y")
    vector_lanes_y(in->x, in->b, out->y);
    return 0;
}
