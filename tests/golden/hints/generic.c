/* hints: hints.te for generic, emitted by Loopwright. */
#include "generic.h"
#if HINTS_HEADER_HASH != 0x1bb843a9
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y_lanes[i<12, ki<8] = sum(ko<5) a[i, ko*8+ki] * b[ko*8+ki]
 * y[i<12] = sum(ki<8) y_lanes[i, ki]
 * z[i<12] = y[i] + 1.0
 * a: [12][40]  b: [40]  z: [12]
 * schedule of the file: y.k by 8; vectors along y.ki; parallel z.i */
static void hints_y(const float *restrict a, const float *restrict b, float *restrict z)
{
    LW_PARALLEL
    for (int32_t i = 0; i < 12; i++) {
        float y_lanes[8];
        LW_VECTOR
        for (int32_t ki = 0; ki < 8; ki++)
            y_lanes[ki] = 0.0f;
        for (int32_t ko = 0; ko < 5; ko++) {
            LW_PREFETCH(a[i * 40 + lw_min_i32(ko + 2, 4) * 8]);
            const float *a_ko = a + i * 40 + ko * 8;
            const float *b_ko = b + ko * 8;
            LW_INDEPENDENT
            for (int32_t ki = 0; ki < 8; ki++)
                y_lanes[ki] += a_ko[ki] * b_ko[ki];
        }
        float y = 0.0f;
        LW_UNROLL(4)
        for (int32_t ki = 0; ki < 8; ki++)
            y += y_lanes[ki];
        z[i] = y + 1.0f;
    }
}

int hints_run(void *arena, const struct hints_inputs *in, const struct hints_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL) return HINTS_E_NULL;
    if (out == NULL || out->z == NULL) return HINTS_E_NULL;
    LW_LAYER(0, "y")
    hints_y(in->a, in->b, out->z);
    return 0;
}
