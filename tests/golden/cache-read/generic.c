/* cache_read: cache-read.te for generic, emitted by Loopwright. */
#include "generic.h"
#if CACHE_READ_HEADER_HASH != 0x164eb118
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* packed[d0<6, d1<8] = w[d0, d1]
 * y[j<8] = sum(k<6) x[k] * packed[k, j]
 * x: [6]  w: [6][8]  y: [8]
 * schedule of the file: split y.j 4; cache_read w stack name=packed */
static void cache_read_y(const float *restrict x, const float *w, float *restrict y)
{
    float packed[48];
    for (int32_t d0 = 0; d0 < 6; d0++) {
        const float *w_d0 = w + d0 * 8;
        for (int32_t d1 = 0; d1 < 8; d1++)
            packed[d0 * 8 + d1] = w_d0[d1];
    }
    for (int32_t jo = 0; jo < 2; jo++) {
        float *y_jo = y + jo * 4;
        for (int32_t ji = 0; ji < 4; ji++) {
            float acc = 0.0f;
            for (int32_t k = 0; k < 6; k++)
                acc += x[k] * packed[k * 8 + jo * 4 + ji];
            y_jo[ji] = acc;
        }
    }
}

/* [6][8] */
static const LW_ALIGN(16) float cache_read_y_w[48] = {
    1.f,2.f,3.f,4.f,5.f,6.f,7.f,8.f,9.f,10.f,11.f,12.f,13.f,14.f,15.f,16.f,17.f,18.f,19.f,20.f,21.f,
    22.f,23.f,24.f,25.f,26.f,27.f,28.f,29.f,30.f,31.f,32.f,33.f,34.f,35.f,36.f,37.f,38.f,39.f,40.f,
    41.f,42.f,43.f,44.f,45.f,46.f,47.f,48.f
};

int cache_read_run(void *arena, const struct cache_read_inputs *in, const struct cache_read_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return CACHE_READ_E_NULL;
    if (out == NULL || out->y == NULL) return CACHE_READ_E_NULL;
    LW_LAYER(0, "y")
    cache_read_y(in->x, cache_read_y_w, out->y);
    return 0;
}
