/* ring_buffer: ring-buffer.te for generic, emitted by Loopwright. */
#include "generic.h"
#if RING_BUFFER_HEADER_HASH != 0x136ec94e
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* t[i<12, j<8] = x[i, j] * 2.0
 * y[i<10, j<8] = t[i, j] + t[i+1, j] + t[i+2, j]
 * x: [12][8]  t: [12][8]  y: [10][8]
 * schedule of the file: compute_at t y.i; store_at t root; fold_storage t */
static void ring_buffer_y(const float *restrict x, float *restrict t, float *restrict y)
{
    for (int32_t i = 0; i < 2; i++) {
        const float *x_i = x + i * 8;
        float *t_i = t + i * 8;
        for (int32_t j = 0; j < 8; j++)
            t_i[j] = x_i[j] * 2.0f;
    }
    for (int32_t i = 0; i < 10; i++) {
        const float *x_i = x + i * 8 + 16;
        float *t_i = t + (i + 2) % 3 * 8;
        for (int32_t j = 0; j < 8; j++)
            t_i[j] = x_i[j] * 2.0f;
        const float *t_i_2 = t + i % 3 * 8;
        const float *t_i_3 = t + (i + 1) % 3 * 8;
        float *y_i = y + i * 8;
        for (int32_t j = 0; j < 8; j++)
            y_i[j] = t_i_2[j] + t_i_3[j] + t_i[j];
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    ring_buffer_y_t_at = 0,     /* 96 bytes in layer 0 */
};

int ring_buffer_run(void *arena, const struct ring_buffer_inputs *in, const struct ring_buffer_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % RING_BUFFER_ARENA_ALIGN != 0) return RING_BUFFER_E_ARENA;
    if (in == NULL || in->x == NULL) return RING_BUFFER_E_NULL;
    if (out == NULL || out->y == NULL) return RING_BUFFER_E_NULL;
    LW_LAYER(0, "y")
    ring_buffer_y(in->x, (float *)(void *)(memory + ring_buffer_y_t_at), out->y);
    return 0;
}
