/* reverse_compute_at_mirrored: reverse-compute-at-mirrored.te for generic, emitted by Loopwright. */
#include "generic.h"
#if REVERSE_COMPUTE_AT_MIRRORED_HEADER_HASH != 0x1bc06fd3
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* t[i<6, j<4] = a[i, j] * a[i, j]
 * y[i<6, j<4] = t[i, j] + 1.0
 * z[i<6, j<4] = t[5-i, j] - 1.0
 * a: [6][4]  t: [6][4]  y: [6][4]  z: [6][4]
 * schedule of the file: reverse_compute_at y t.i; reverse_compute_at z t.i; store_at t t.i */
static void reverse_compute_at_mirrored_y(const float *restrict a, float *restrict t, float *restrict y,
    float *restrict z)
{
    for (int32_t i = 0; i < 6; i++) {
        const float *a_i = a + i * 4;
        for (int32_t j = 0; j < 4; j++)
            t[j] = a_i[j] * a_i[j];
        float *y_i = y + i * 4;
        for (int32_t j = 0; j < 4; j++)
            y_i[j] = t[j] + 1.0f;
        float *z_i = z + -i * 4 + 20;
        for (int32_t j = 0; j < 4; j++)
            z_i[j] = t[j] - 1.0f;
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    reverse_compute_at_mirrored_y_t_at = 0,     /* 16 bytes in layer 0 */
};

int reverse_compute_at_mirrored_run(void *arena, const struct reverse_compute_at_mirrored_inputs *in,
    const struct reverse_compute_at_mirrored_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % REVERSE_COMPUTE_AT_MIRRORED_ARENA_ALIGN != 0)
        return REVERSE_COMPUTE_AT_MIRRORED_E_ARENA;
    if (in == NULL || in->a == NULL) return REVERSE_COMPUTE_AT_MIRRORED_E_NULL;
    if (out == NULL || out->y == NULL || out->z == NULL) return REVERSE_COMPUTE_AT_MIRRORED_E_NULL;
    LW_LAYER(0, "y")
    reverse_compute_at_mirrored_y(in->a, (float *)(void *)(memory + reverse_compute_at_mirrored_y_t_at), out->y,
        out->z);
    return 0;
}
