/* arena_static: arena-static.te for generic, emitted by Loopwright. */
#include "generic.h"
#if ARENA_STATIC_HEADER_HASH != 0x175f8d56
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* dense
 * acc[n<1, o<6] = sum(k<6) x[n, k] * w[k, o]
 * y[n<1, o<6] = acc[n, o]
 * x: [1][6]  w: [6][6]  y: [1][6]
 * schedule contraction.tiled: in registers acc; vectors along y.o, acc.o */
static void arena_static_a(const float *restrict x, const float *restrict w, float *restrict y)
{
    float acc[6];
    LW_VECTOR
    for (int32_t o = 0; o < 6; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 6; k++) {
        const float *w_k = w + k * 6;
        LW_VECTOR
        for (int32_t o = 0; o < 6; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t o = 0; o < 6; o++)
        y[o] = acc[o];
}

/* relu
 * y[n<1, c<6] = max(x[n, c], 0.0)
 * x: [1][6]  y: [1][6] */
static void arena_static_y(const float *x, float *y)
{
    for (int32_t c = 0; c < 6; c++)
        y[c] = lw_maxf(x[c], 0.0f);
}

int arena_static_run(const struct arena_static_inputs *in, const struct arena_static_outputs *out)
{
    if (in == NULL || in->x == NULL || in->w == NULL) return ARENA_STATIC_E_NULL;
    if (out == NULL || out->y == NULL) return ARENA_STATIC_E_NULL;
    LW_LAYER(0, "a")
    arena_static_a(in->x, in->w, out->y);
    LW_LAYER(1, "y")
    arena_static_y(out->y, out->y);
    return 0;
}
