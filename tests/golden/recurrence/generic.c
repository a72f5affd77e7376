/* recurrence: recurrence.te for generic, emitted by Loopwright. */
#include "generic.h"
#if RECURRENCE_HEADER_HASH != 0x1c0ba186
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* cumsum
 * acc[n<8, c<3] = sum(q<8) select(q <= n, x[q, c], 0.0)
 * y[n<8, c<3] = acc[n, c]
 * x: [8][3]  y: [8][3]
 * schedule contraction.tiled: y.n by 4; in registers acc; vectors along y.c, acc.c, y.ni, acc.n */
static void recurrence_y(const float *restrict x, float *restrict y)
{
    for (int32_t no = 0; no < 2; no++) {
        float acc[12];
        for (int32_t n = 0; n < 4; n++)
            LW_VECTOR
            for (int32_t c = 0; c < 3; c++)
                acc[n * 3 + c] = 0.0f;
        for (int32_t q = 0; q < no * 4 + 1; q++) {
            const float *x_q = x + q * 3;
            for (int32_t n = 0; n < 4; n++)
                LW_VECTOR
                for (int32_t c = 0; c < 3; c++)
                    acc[n * 3 + c] += x_q[c];
        }
        for (int32_t q = no * 4 + 1; q < 8; q++) {
            const int32_t x_at_q = q * 3;
            for (int32_t n = 0; n < 4; n++) {
                if (q <= no * 4 + n) {
                    LW_VECTOR
                    for (int32_t c = 0; c < 3; c++)
                        acc[n * 3 + c] += x[x_at_q + c];
                }
            }
        }
        for (int32_t ni = 0; ni < 4; ni++) {
            float *y_ni = y + no * 12 + ni * 3;
            LW_VECTOR
            for (int32_t c = 0; c < 3; c++)
                y_ni[c] = acc[ni * 3 + c];
        }
    }
}

int recurrence_run(void *arena, const struct recurrence_inputs *in, const struct recurrence_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return RECURRENCE_E_NULL;
    if (out == NULL || out->y == NULL) return RECURRENCE_E_NULL;
    LW_LAYER(0, "y")
    recurrence_y(in->x, out->y);
    return 0;
}
