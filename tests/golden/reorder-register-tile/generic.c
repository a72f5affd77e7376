/* reorder_register_tile: reorder-register-tile.te for generic, emitted by Loopwright. */
#include "generic.h"
#if REORDER_REGISTER_TILE_HEADER_HASH != 0x1260e258
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* sums[i<4, j<8] = sum(k<6) a[i, k] * b[k, j]
 * c[i<4, j<8] = sums[i, j]
 * a: [4][6]  b: [6][8]  c: [4][8]
 * schedule of the file: cache_write c register name=sums; compute_at sums c.i; reorder sums.k sums.j */
static void reorder_register_tile_c(const float *restrict a, const float *restrict b, float *restrict c)
{
    for (int32_t i = 0; i < 4; i++) {
        float sums[8];
        for (int32_t j = 0; j < 8; j++)
            sums[j] = 0.0f;
        const float *a_i = a + i * 6;
        for (int32_t k = 0; k < 6; k++) {
            const float *b_k = b + k * 8;
            for (int32_t j = 0; j < 8; j++)
                sums[j] += a_i[k] * b_k[j];
        }
        float *c_i = c + i * 8;
        for (int32_t j = 0; j < 8; j++)
            c_i[j] = sums[j];
    }
}

int reorder_register_tile_run(void *arena, const struct reorder_register_tile_inputs *in,
    const struct reorder_register_tile_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL) return REORDER_REGISTER_TILE_E_NULL;
    if (out == NULL || out->c == NULL) return REORDER_REGISTER_TILE_E_NULL;
    LW_LAYER(0, "c")
    reorder_register_tile_c(in->a, in->b, out->c);
    return 0;
}
