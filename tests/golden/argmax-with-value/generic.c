/* argmax_with_value: argmax-with-value.te for generic, emitted by Loopwright. */
#include "generic.h"
#if ARGMAX_WITH_VALUE_HEADER_HASH != 0x1ee3730b
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>
#include <math.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* i, m[r<5] = argmax(k<7) x[r, k]
 * x: [5][7]  i: [5]  m: [5] */
static void argmax_with_value_i(const float *restrict x, int32_t *restrict i, float *restrict m)
{
    for (int32_t r = 0; r < 5; r++) {
        int32_t acc = INT32_MAX;
        float acc2 = -INFINITY;
        const float *x_r = x + r * 7;
        for (int32_t k = 0; k < 7; k++) {
            if ((acc2 < x_r[k] || (lw_isnanf(x_r[k]) && !lw_isnanf(acc2))) || (acc2 == x_r[k] && k < acc)) {
                acc = k;
                acc2 = x_r[k];
            }
        }
        i[r] = acc;
        m[r] = acc2;
    }
}

int argmax_with_value_run(void *arena, const struct argmax_with_value_inputs *in,
    const struct argmax_with_value_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return ARGMAX_WITH_VALUE_E_NULL;
    if (out == NULL || out->i == NULL || out->m == NULL) return ARGMAX_WITH_VALUE_E_NULL;
    LW_LAYER(0, "i")
    argmax_with_value_i(in->x, out->i, out->m);
    return 0;
}
