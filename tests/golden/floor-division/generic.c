/* floor_division: floor-division.te for generic, emitted by Loopwright. */
#include "generic.h"
#if FLOOR_DIVISION_HEADER_HASH != 0x1eae8614
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<10] = x[i] / 3 + x[9-i] % 4
 * x: [10]  y: [10] */
static void floor_division_y(const int32_t *restrict x, int32_t *restrict y)
{
    for (int32_t i = 0; i < 10; i++)
        y[i] = lw_floordiv32(x[i], 3) + (int32_t)((uint32_t)x[-i + 9] % 4u);
}

int floor_division_run(void *arena, const struct floor_division_inputs *in, const struct floor_division_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return FLOOR_DIVISION_E_NULL;
    if (out == NULL || out->y == NULL) return FLOOR_DIVISION_E_NULL;
    LW_LAYER(0, "y")
    floor_division_y(in->x, out->y);
    return 0;
}
