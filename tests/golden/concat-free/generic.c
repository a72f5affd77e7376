/* concat_free: concat-free.te for generic, emitted by Loopwright. */
#include "generic.h"
#if CONCAT_FREE_HEADER_HASH != 0x11a95871
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
 * y[n<1, c<4] = exp(x[n, c])
 * x: [1][4]  y: [1][4] */
static void concat_free_a(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = lw_expf(x[c]);
}

/* tanh
 * y[n<1, c<4] = tanh(x[n, c])
 * x: [1][4]  y: [1][4] */
static void concat_free_b(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = lw_tanhf(x[c]);
}

int concat_free_run(void *arena, const struct concat_free_inputs *in, const struct concat_free_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->z == NULL) return CONCAT_FREE_E_NULL;
    if (out == NULL || out->y == NULL) return CONCAT_FREE_E_NULL;
    LW_LAYER(0, "a")
    concat_free_a(in->x, out->y);
    LW_LAYER(1, "b")
    concat_free_b(in->z, out->y + 4);
    return 0;
}
