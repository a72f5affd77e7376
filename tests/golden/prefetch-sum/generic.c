/* prefetch_sum: prefetch-sum.te for generic, emitted by Loopwright. */
#include "generic.h"
#if PREFETCH_SUM_HEADER_HASH != 0x1698b20b
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<12, o<32] = sum(k<40) a[i, k] * b[o/8, k, o%8]
 * a: [12][40]  b: [4][40][8]  y: [12][32]
 * schedule of the file: split y.o 8; reorder y.oo y.i y.k y.oi; prefetch b y.oo 1 spread=y.k */
static void prefetch_sum_y(const float *restrict a, const float *restrict b, float *restrict y)
{
    for (int32_t oo = 0; oo < 4; oo++)
        for (int32_t i = 0; i < 12; i++) {
            float *y_i = y + i * 32 + oo * 8;
            for (int32_t oi = 0; oi < 8; oi++)
                y_i[oi] = 0.0f;
            const float *a_i = a + i * 40;
            for (int32_t k = 0; k < 40; k++) {
                LW_PREFETCH(b[lw_min_i32(oo + 1, 3) * 320 + i * 25 + k]);
                const float *b_k = b + oo * 320 + k * 8;
                for (int32_t oi = 0; oi < 8; oi++)
                    y_i[oi] += a_i[k] * b_k[oi];
            }
        }
}

int prefetch_sum_run(void *arena, const struct prefetch_sum_inputs *in, const struct prefetch_sum_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL) return PREFETCH_SUM_E_NULL;
    if (out == NULL || out->y == NULL) return PREFETCH_SUM_E_NULL;
    LW_LAYER(0, "y")
    prefetch_sum_y(in->a, in->b, out->y);
    return 0;
}
