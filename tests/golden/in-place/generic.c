/* in_place: in-place.te for generic, emitted by Loopwright. */
#include "generic.h"
#if IN_PLACE_HEADER_HASH != 0x17cbe517
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* exp
 * y[n<1, c<6] = exp(x[n, c])
 * x: [1][6]  y: [1][6] */
static void in_place_a(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 6; c++)
        y[c] = lw_expf(x[c]);
}

/* relu
 * y[n<1, c<6] = max(x[n, c], 0.0)
 * x: [1][6]  y: [1][6] */
static void in_place_y(const float *x, float *y)
{
    for (int32_t c = 0; c < 6; c++)
        y[c] = lw_maxf(x[c], 0.0f);
}

/* neg
 * y[n<1, c<6] = -x[n, c]
 * x: [1][6]  y: [1][6] */
static void in_place_z(const float *x, float *y)
{
    for (int32_t c = 0; c < 6; c++)
        y[c] = -x[c];
}

int in_place_run(void *arena, const struct in_place_inputs *in, const struct in_place_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return IN_PLACE_E_NULL;
    if (out == NULL || out->z == NULL) return IN_PLACE_E_NULL;
    LW_LAYER(0, "a")
    in_place_a(in->x, out->z);
    LW_LAYER(1, "y")
    in_place_y(out->z, out->z);
    LW_LAYER(2, "z")
    in_place_z(out->z, out->z);
    return 0;
}
