/* elementwise: elementwise.onnx for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if ELEMENTWISE_HEADER_HASH != 0x1cc32570
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* mul + add + sigmoid + mul
 * y[n<1, w<3, c<8] = sigmoid(x[n, w, c] * k[w, 0] + b[c]) * x[n, w, c]
 * x: [1][3][8]  b: [8]  k: [3][1]  y: [1][3][8]
 * schedule injective.inlined: compute_inline sigmoid; compute_inline add; compute_inline mul */
static void elementwise_y(const float *restrict x, const float *restrict b, const float *k, float *restrict y)
{
    for (int32_t w = 0; w < 3; w++) {
        const float *x_w = x + w * 8;
        float *y_w = y + w * 8;
        for (int32_t c = 0; c < 8; c++)
            y_w[c] = lw_sigmoidf(x_w[c] * k[w] + b[c]) * x_w[c];
    }
}

/* [3][1] */
static const LW_ALIGN(16) float elementwise_y_b[3] = {
    -.375f,.25f,.875f
};

int elementwise_run(void *arena, const struct elementwise_inputs *in, const struct elementwise_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->z == NULL) return ELEMENTWISE_E_NULL;
    if (out == NULL || out->y == NULL) return ELEMENTWISE_E_NULL;
    LW_LAYER(0, "y")
    elementwise_y(in->x, in->z, elementwise_y_b, out->y);
    return 0;
}
