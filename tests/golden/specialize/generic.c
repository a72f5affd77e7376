/* specialize: specialize.te for generic, emitted by Loopwright. */
#include "generic.h"
#if SPECIALIZE_HEADER_HASH != 0x17627afd
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* y[i<n] = x[i] + 1.0
 * x: [n]  y: [n]
 * schedule of the file: split y.i 4; specialize n % 4 == 0 */
static void specialize_y(int32_t n, const float *restrict x, float *restrict y)
{
    if ((int32_t)((uint32_t)n % 4u) == 0) {
        const int32_t io_end = (n + 3) / 4;
        for (int32_t io = 0; io < io_end; io++) {
            const float *x_io = x + io * 4;
            float *y_io = y + io * 4;
            const int32_t ii_end = lw_min_i32(n - io * 4, 4);
            for (int32_t ii = 0; ii < ii_end; ii++)
                y_io[ii] = x_io[ii] + 1.0f;
        }
    } else {
        const int32_t io_end = (n + 3) / 4;
        for (int32_t io = 0; io < io_end; io++) {
            const float *x_io = x + io * 4;
            float *y_io = y + io * 4;
            const int32_t ii_end = lw_min_i32(n - io * 4, 4);
            for (int32_t ii = 0; ii < ii_end; ii++)
                y_io[ii] = x_io[ii] + 1.0f;
        }
    }
}

int specialize_run(void *arena, const struct specialize_inputs *in, const struct specialize_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return SPECIALIZE_E_NULL;
    if (out == NULL || out->y == NULL) return SPECIALIZE_E_NULL;
    const int32_t n = in->n;
    if (n < 4 || n > 64) return SPECIALIZE_E_DIM;
    LW_LAYER(0, "y")
    specialize_y(n, in->x, out->y);
    return 0;
}
