/* instruction_feature: instruction-feature.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if INSTRUCTION_FEATURE_HEADER_HASH != 0x1aa6a3b6
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
 * schedule of the file: instruction TRIPLE8(p: f32[8]) r[i<8] = p[i] * 3 feature=avx2; tensorize y.c TRIPLE8 */
static void instruction_feature_y(const float *restrict x, float *restrict y)
{
    for (int32_t a = 0; a < 2; a++) {
        #ifdef TRIPLE8
        TRIPLE8(LW_AT(y, a * 8), LW_AT(x, a * 8));
        #else
        {
            const float *x_a = x + a * 8;
            float *y_a = y + a * 8;
            for (int32_t c = 0; c < 8; c++)
                y_a[c] = x_a[c] * 3.0f;
        }
        #endif
    }
}

int instruction_feature_run(void *arena, const struct instruction_feature_inputs *in,
    const struct instruction_feature_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return INSTRUCTION_FEATURE_E_NULL;
    if (out == NULL || out->y == NULL) return INSTRUCTION_FEATURE_E_NULL;
    LW_LAYER(0, "y")
    instruction_feature_y(in->x, out->y);
    return 0;
}
