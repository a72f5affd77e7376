/* pad_storage: pad-storage.te for generic, emitted by Loopwright. */
#include "generic.h"
#if PAD_STORAGE_HEADER_HASH != 0x10a893f1
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* t[i<6, j<8] = select(j < 5, x[i, j] * 2.0, 0.0)
 * y[i<6, j<5] = t[i, j] + 1.0
 * x: [6][5]  t: [6][8]  y: [6][5]
 * schedule of the file: compute_at t y.i; pad t j 8 */
static void pad_storage_y(const float *restrict x, float *restrict t, float *restrict y)
{
    for (int32_t i = 0; i < 6; i++) {
        const float *x_i = x + i * 5;
        for (int32_t j = 0; j < 5; j++)
            t[j] = x_i[j] * 2.0f;
        float *y_i = y + i * 5;
        for (int32_t j = 0; j < 5; j++)
            y_i[j] = t[j] + 1.0f;
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    pad_storage_y_t_at = 0,     /* 20 bytes in layer 0 */
};

int pad_storage_run(void *arena, const struct pad_storage_inputs *in, const struct pad_storage_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % PAD_STORAGE_ARENA_ALIGN != 0) return PAD_STORAGE_E_ARENA;
    if (in == NULL || in->x == NULL) return PAD_STORAGE_E_NULL;
    if (out == NULL || out->y == NULL) return PAD_STORAGE_E_NULL;
    LW_LAYER(0, "y")
    pad_storage_y(in->x, (float *)(void *)(memory + pad_storage_y_t_at), out->y);
    return 0;
}
