/* update_by_data: update-by-data.te for generic, emitted by Loopwright. */
#include "generic.h"
#if UPDATE_BY_DATA_HEADER_HASH != 0x187c67eb
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* h_2[d0<256 scattered] = sum(i<100; h[d0]) select(i32(x[i]) == d0, 1, 0)
 * x: [100]  h: [256]  h_2: [256] */
static void update_by_data_h(const uint8_t *restrict x, const int32_t *restrict h, int32_t *restrict h_2)
{
    for (int32_t d0 = 0; d0 < 256; d0++)
        h_2[d0] = h[d0];
    for (int32_t i = 0; i < 100; i++) {
        const int32_t at = x[i];
        if (at >= 0 && at < 256)
            h_2[at] = (int32_t)((uint32_t)h_2[at] + 1u);
    }
}

/* y_2[d0<4 scattered, j<6] = sum(i<10; y[d0, j]) select(i32(at[i]) == d0, v[i, j], -0.0)
 * at: [10]  v: [10][6]  y: [4][6]  y_2: [4][6] */
static void update_by_data_y(const uint8_t *restrict at, const float *restrict v, const float *restrict y,
    float *restrict y_2)
{
    for (int32_t d0 = 0; d0 < 4; d0++) {
        const float *y_d0 = y + d0 * 6;
        float *y_2_d0 = y_2 + d0 * 6;
        for (int32_t j = 0; j < 6; j++)
            y_2_d0[j] = y_d0[j];
    }
    for (int32_t i = 0; i < 10; i++) {
        const int32_t at2 = at[i];
        if (at2 >= 0 && at2 < 4) {
            float *y_2_i = y_2 + at2 * 6;
            const float *v_i = v + i * 6;
            for (int32_t j = 0; j < 6; j++)
                y_2_i[j] += v_i[j];
        }
    }
}

int update_by_data_run(void *arena, const struct update_by_data_inputs *in, const struct update_by_data_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->at == NULL || in->v == NULL || in->h == NULL || in->y == NULL)
        return UPDATE_BY_DATA_E_NULL;
    if (out == NULL || out->h_2 == NULL || out->y_2 == NULL) return UPDATE_BY_DATA_E_NULL;
    LW_LAYER(0, "h")
    update_by_data_h(in->x, in->h, out->h_2);
    LW_LAYER(1, "y")
    update_by_data_y(in->at, in->v, in->y, out->y_2);
    return 0;
}
