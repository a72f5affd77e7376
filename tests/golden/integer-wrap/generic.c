/* integer_wrap: integer-wrap.te for generic, emitted by Loopwright. */
#include "generic.h"
#if INTEGER_WRAP_HEADER_HASH != 0x1ab54926
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<16] = x[i] * 3 + x[15-i]
 * x: [16]  y: [16] */
static void integer_wrap_y(const int8_t *restrict x, int8_t *restrict y)
{
    for (int32_t i = 0; i < 16; i++)
        y[i] = (int8_t)((uint32_t)x[i] * 3u + (uint32_t)x[-i + 15]);
}

int integer_wrap_run(void *arena, const struct integer_wrap_inputs *in, const struct integer_wrap_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return INTEGER_WRAP_E_NULL;
    if (out == NULL || out->y == NULL) return INTEGER_WRAP_E_NULL;
    LW_LAYER(0, "y")
    integer_wrap_y(in->x, out->y);
    return 0;
}
