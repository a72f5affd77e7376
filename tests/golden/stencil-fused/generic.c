/* stencil_fused: stencil-fused.te for generic, emitted by Loopwright. */
#include "generic.h"
#if STENCIL_FUSED_HEADER_HASH != 0x1d9a5620
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* smooth[i<n] = select(0 <= i - 1, x[i-1], 0) + x[i] * 2 + select(i + 1 < n, x[i+1], 0)
 * y[i<n] = max(smooth[i], 0)
 * x: [n]  smooth: [n]  y: [n]
 * schedule of the file: split y.i 8 names=io,ii; compute_at smooth y.io */
static void stencil_fused_smooth(int32_t n, const int16_t *restrict x, int16_t *restrict smooth, int16_t *restrict y)
{
    smooth[0] = (int16_t)((uint32_t)x[0] * 2u + (uint32_t)x[1]);
    const int32_t i_end = lw_min_i32(n - 1, lw_min_i32(n, 8));
    for (int32_t i = 1; i < i_end; i++)
        smooth[i] = (int16_t)((uint32_t)x[i] * 2u + (uint32_t)x[i + 1] + (uint32_t)x[i - 1]);
    const int32_t i_end_2 = lw_min_i32(n, 8);
    for (int32_t i = lw_min_i32(n - 1, lw_min_i32(n, 8)); i < i_end_2; i++)
        smooth[i] = (int16_t)((uint32_t)x[i] * 2u + (uint32_t)x[i - 1] + (uint32_t)(i + 1 < n ? x[i + 1] : 0));
    const int32_t ii_end = lw_min_i32(n, 8);
    for (int32_t ii = 0; ii < ii_end; ii++)
        y[ii] = (int16_t)lw_max_i32(smooth[ii], 0);
    const int32_t io_end = (n + 7) / 8;
    for (int32_t io = 1; io < io_end; io++) {
        const int32_t x_at_io = io * 8 - 1;
        const int32_t i_end_3 = lw_min_i32(n - io * 8 - 1, lw_min_i32(n - io * 8, 8));
        for (int32_t i = 0; i < i_end_3; i++)
            smooth[i] = (int16_t)((uint32_t)x[x_at_io + i + 1] * 2u + (uint32_t)x[x_at_io + i + 2]
                + (uint32_t)x[x_at_io + i]);
        const int32_t i_end_4 = lw_min_i32(n - io * 8, 8);
        for (int32_t i = lw_min_i32(n - io * 8 - 1, lw_min_i32(n - io * 8, 8)); i < i_end_4; i++)
            smooth[i] = (int16_t)((uint32_t)x[x_at_io + i + 1] * 2u + (uint32_t)x[x_at_io + i]
                + (uint32_t)(io * 8 + i + 1 < n ? x[x_at_io + i + 2] : 0));
        int16_t *y_io = y + io * 8;
        const int32_t ii_end_2 = lw_min_i32(n - io * 8, 8);
        for (int32_t ii = 0; ii < ii_end_2; ii++)
            y_io[ii] = (int16_t)lw_max_i32(smooth[ii], 0);
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    stencil_fused_smooth_smooth_at = 0,     /* 16 bytes in layer 0 */
};

int stencil_fused_run(void *arena, const struct stencil_fused_inputs *in, const struct stencil_fused_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % STENCIL_FUSED_ARENA_ALIGN != 0) return STENCIL_FUSED_E_ARENA;
    if (in == NULL || in->x == NULL) return STENCIL_FUSED_E_NULL;
    if (out == NULL || out->y == NULL) return STENCIL_FUSED_E_NULL;
    const int32_t n = in->n;
    if (n < 3 || n > 256) return STENCIL_FUSED_E_DIM;
    LW_LAYER(0, "smooth")
    stencil_fused_smooth(n, in->x, (int16_t *)(void *)(memory + stencil_fused_smooth_smooth_at), out->y);
    return 0;
}
