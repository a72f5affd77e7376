/* matmul_tiled: matmul-tiled.te for generic, emitted by Loopwright. */
#include "generic.h"
#if MATMUL_TILED_HEADER_HASH != 0x14f1fd5a
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* c[i<6, j<8] = sum(k<5) a[i, k] * b[k, j]
 * y[i<6, j<8] = max(c[i, j], 0.0)
 * a: [6][5]  b: [5][8]  y: [6][8]
 * schedule of the file: y.i by 4, y.j by 4; in registers c */
static void matmul_tiled_c(const float *restrict a, const float *restrict b, float *restrict y)
{
    for (int32_t io = 0; io < 2; io++)
        for (int32_t jo = 0; jo < 2; jo++) {
            float c[16];
            const int32_t i_end = lw_min_i32(6 - io * 4, 4);
            for (int32_t i = 0; i < i_end; i++) {
                const float *a_i = a + io * 20 + i * 5;
                for (int32_t j = 0; j < 4; j++) {
                    float acc = 0.0f;
                    const float *b_j = b + jo * 4 + j;
                    for (int32_t k = 0; k < 5; k++)
                        acc += a_i[k] * b_j[k * 8];
                    c[i * 4 + j] = acc;
                }
            }
            const int32_t ii_end = lw_min_i32(6 - io * 4, 4);
            for (int32_t ii = 0; ii < ii_end; ii++) {
                float *y_ii = y + io * 32 + ii * 8 + jo * 4;
                for (int32_t ji = 0; ji < 4; ji++)
                    y_ii[ji] = lw_maxf(c[ii * 4 + ji], 0.0f);
            }
        }
}

int matmul_tiled_run(void *arena, const struct matmul_tiled_inputs *in, const struct matmul_tiled_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL) return MATMUL_TILED_E_NULL;
    if (out == NULL || out->y == NULL) return MATMUL_TILED_E_NULL;
    LW_LAYER(0, "c")
    matmul_tiled_c(in->a, in->b, out->y);
    return 0;
}
