/* scale_into_weights: scale-into-weights.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SCALE_INTO_WEIGHTS_HEADER_HASH != 0x1b996b63
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* dense
 * acc[n<1, o<4] = sum(k<3) x[n, k] * w[k, o]
 * y[n<1, o<4] = acc[n, o]
 * x: [1][3]  w: [3][4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.o, acc.o */
static void scale_into_weights_a(const float *restrict x, const float *w, float *restrict y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 3; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        y[o] = acc[o];
}

/* [3][4] */
static const LW_ALIGN(16) float scale_into_weights_a_w[12] = {
    2.f,1.f,12.f,1.f,10.f,3.f,28.f,2.f,18.f,5.f,44.f,3.f
};

int scale_into_weights_run(void *arena, const struct scale_into_weights_inputs *in,
    const struct scale_into_weights_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SCALE_INTO_WEIGHTS_E_NULL;
    if (out == NULL || out->y == NULL) return SCALE_INTO_WEIGHTS_E_NULL;
    LW_LAYER(0, "a")
    scale_into_weights_a(in->x, scale_into_weights_a_w, out->y);
    return 0;
}
