/* tensorize_unrolled: tensorize-unrolled.te for generic, emitted by Loopwright. */
#include "generic.h"
#if TENSORIZE_UNROLLED_HEADER_HASH != 0x10e1e3eb
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[a<2, c<8] = x[a, c] * 3.0
 * x: [2][8]  y: [2][8]
 * schedule of the file: instruction TRIPLE8(p: f32[8]) r[i<8] = p[i] * 3; tensorize y.c TRIPLE8; unroll y.a */
static void tensorize_unrolled_y(const float *restrict x, float *restrict y)
{
    #ifdef TRIPLE8
    TRIPLE8(LW_AT(y, 0), LW_AT(x, 0));
    #else
    for (int32_t c = 0; c < 8; c++)
        y[c] = x[c] * 3.0f;
    #endif
    #ifdef TRIPLE8
    TRIPLE8(LW_AT(y, 8), LW_AT(x, 8));
    #else
    for (int32_t c = 0; c < 8; c++)
        y[c + 8] = x[c + 8] * 3.0f;
    #endif
}

int tensorize_unrolled_run(void *arena, const struct tensorize_unrolled_inputs *in,
    const struct tensorize_unrolled_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return TENSORIZE_UNROLLED_E_NULL;
    if (out == NULL || out->y == NULL) return TENSORIZE_UNROLLED_E_NULL;
    LW_LAYER(0, "y")
    tensorize_unrolled_y(in->x, out->y);
    return 0;
}
