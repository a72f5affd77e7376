/* ports_in_arena: ports-in-arena.te for generic, emitted by Loopwright. */
#include "generic.h"
#if PORTS_IN_ARENA_HEADER_HASH != 0x108b6191
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* relu
 * y[n<1, c<6] = max(x[n, c], 0.0)
 * x: [1][6]  y: [1][6] */
static void ports_in_arena_y(const float *x, float *y)
{
    for (int32_t c = 0; c < 6; c++)
        y[c] = lw_maxf(x[c], 0.0f);
}

int ports_in_arena_run(void *arena, const struct ports_in_arena_inputs *in, const struct ports_in_arena_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return PORTS_IN_ARENA_E_NULL;
    if (out == NULL || out->y == NULL) return PORTS_IN_ARENA_E_NULL;
    LW_LAYER(0, "y")
    ports_in_arena_y(in->x, out->y);
    return 0;
}
