/* compute_at: compute-at.te for generic, emitted by Loopwright. */
#include "generic.h"
#if COMPUTE_AT_HEADER_HASH != 0x1dc8255f
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* t[i<33] = x[i] + x[i+1]
 * y[i<32] = t[i] * t[i+1]
 * x: [34]  t: [33]  y: [32]
 * schedule of the file: split y.i 8; compute_at t y.io */
static void compute_at_y(const float *restrict x, float *restrict t, float *restrict y)
{
    for (int32_t io = 0; io < 4; io++) {
        const float *x_io = x + io * 8;
        for (int32_t i = 0; i < 9; i++)
            t[i] = x_io[i] + x_io[i + 1];
        float *y_io = y + io * 8;
        for (int32_t ii = 0; ii < 8; ii++)
            y_io[ii] = t[ii] * t[ii + 1];
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    compute_at_y_t_at = 0,     /* 36 bytes in layer 0 */
};

int compute_at_run(void *arena, const struct compute_at_inputs *in, const struct compute_at_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % COMPUTE_AT_ARENA_ALIGN != 0) return COMPUTE_AT_E_ARENA;
    if (in == NULL || in->x == NULL) return COMPUTE_AT_E_NULL;
    if (out == NULL || out->y == NULL) return COMPUTE_AT_E_NULL;
    LW_LAYER(0, "y")
    compute_at_y(in->x, (float *)(void *)(memory + compute_at_y_t_at), out->y);
    return 0;
}
