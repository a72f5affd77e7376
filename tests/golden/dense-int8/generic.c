/* dense_int8: dense-int8.te for generic, emitted by Loopwright. */
#include "generic.h"
#if DENSE_INT8_HEADER_HASH != 0x13135341
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* packed_dense + rescale
 * acc[n<1, o<4] = sum(e<16; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[d0<1, c<4] = i8(min(max(roundshift(mulhigh(acc[d0, c], 1500000000), 6), -128), 127))
 * x: [1][16]  k: [4][16]  b: [4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.c, acc.o */
static void dense_int8_s(const int8_t *restrict x, const int8_t *restrict k, const int32_t *restrict b,
    int8_t *restrict y)
{
    int32_t acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = b[o];
    for (int32_t e = 0; e < 16; e++)
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] = (int32_t)((uint32_t)acc[o] + (uint32_t)((int32_t)x[e] * k[o * 16 + e]));
    LW_VECTOR
    for (int32_t c = 0; c < 4; c++)
        y[c] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[c], 1500000000), 6));
}

int dense_int8_run(void *arena, const struct dense_int8_inputs *in, const struct dense_int8_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->w == NULL || in->b == NULL) return DENSE_INT8_E_NULL;
    if (out == NULL || out->y == NULL) return DENSE_INT8_E_NULL;
    LW_LAYER(0, "s")
    dense_int8_s(in->x, in->w, in->b, out->y);
    return 0;
}
