/* pool_int8: pool-int8.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if POOL_INT8_HEADER_HASH != 0x138b3114
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* max_pool2d
 * y[n<1, h<2, w<2, c<8] = max(i<2, j<2) x[n, h*2+i, w*2+j, c]
 * x: [1][4][4][8]  y: [1][2][2][8]
 * schedule pool.bytes: LW_MAX_WINDOW_I8 */
static void pool_int8_y(const int8_t *restrict x, int8_t *restrict y)
{
    for (int32_t h = 0; h < 2; h++)
        for (int32_t w = 0; w < 2; w++) {
            int8_t *y_w = y + h * 16 + w * 8;
            for (int32_t c = 0; c < 8; c++)
                y_w[c] = -128;
            #ifdef LW_MAX_WINDOW_I8
            LW_MAX_WINDOW_I8(2, 2, 8, LW_AT(y, h * 16 + w * 8), LW_AT(x, h * 64 + w * 16, 32, 8));
            #else
            for (int32_t i = 0; i < 2; i++)
                for (int32_t j = 0; j < 2; j++) {
                    const int8_t *x_j = x + h * 64 + i * 32 + w * 16 + j * 8;
                    for (int32_t c = 0; c < 8; c++)
                        y_w[c] = (int8_t)lw_max_i32(y_w[c], x_j[c]);
                }
            #endif
        }
}

int pool_int8_run(void *arena, const struct pool_int8_inputs *in, const struct pool_int8_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return POOL_INT8_E_NULL;
    if (out == NULL || out->y == NULL) return POOL_INT8_E_NULL;
    LW_LAYER(0, "y")
    pool_int8_y(in->x, out->y);
    return 0;
}
