/* fused_epilogue: fused-epilogue.te for generic, emitted by Loopwright. */
#include "generic.h"
#if FUSED_EPILOGUE_HEADER_HASH != 0x14c07c20
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* dense + add + relu
 * acc[n<1, o<4] = sum(k<8) x[n, k] * w[k, o]
 * y[n<1, c<4] = max(acc[n, c] + b[c], 0.0)
 * x: [1][8]  w: [8][4]  b: [4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o */
static void fused_epilogue_a(const float *restrict x, const float *restrict w, const float *restrict b,
    float *restrict y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 8; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t c = 0; c < 4; c++)
        y[c] = lw_maxf(acc[c] + b[c], 0.0f);
}

int fused_epilogue_run(void *arena, const struct fused_epilogue_inputs *in, const struct fused_epilogue_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->w == NULL || in->b == NULL) return FUSED_EPILOGUE_E_NULL;
    if (out == NULL || out->y == NULL) return FUSED_EPILOGUE_E_NULL;
    LW_LAYER(0, "a")
    fused_epilogue_a(in->x, in->w, in->b, out->y);
    return 0;
}
