/* rows_helium: rows-helium.te for cortex-m55, emitted by Loopwright. */
#include "cortex-m55.h"
#if ROWS_HELIUM_HEADER_HASH != 0x1721067a
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* packed_dense
 * acc[n<1, o<8] = sum(e<32; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[n<1, o<8] = acc[n, o]
 * x: [1][32]  k: [8][32]  b: [8]  y: [1][8]
 * schedule rows.dot: y.o by 4; LW_DOT_1X4_I8; in registers acc */
static void rows_helium_y(const int8_t *restrict x, const int8_t *restrict k, const int32_t *restrict b,
    int32_t *restrict y)
{
    for (int32_t oo = 0; oo < 2; oo++) {
        int32_t acc[4];
        acc[0] = b[oo * 4];
        acc[1] = b[oo * 4 + 1];
        acc[2] = b[oo * 4 + 2];
        acc[3] = b[oo * 4 + 3];
        #ifdef LW_DOT_1X4_I8
        LW_DOT_1X4_I8(32, LW_AT(acc, 0), LW_AT(x, 0), LW_AT(k, oo * 128, 32));
        #else
        for (int32_t e = 0; e < 32; e++) {
            const int8_t *k_e = k + oo * 128 + e;
            for (int32_t o = 0; o < 4; o++)
                acc[o] = (int32_t)((uint32_t)acc[o] + (uint32_t)((int32_t)x[e] * k_e[o * 32]));
        }
        #endif
        y[oo * 4] = acc[0];
        y[oo * 4 + 1] = acc[1];
        y[oo * 4 + 2] = acc[2];
        y[oo * 4 + 3] = acc[3];
    }
}

int rows_helium_run(void *arena, const struct rows_helium_inputs *in, const struct rows_helium_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->w == NULL || in->b == NULL) return ROWS_HELIUM_E_NULL;
    if (out == NULL || out->y == NULL) return ROWS_HELIUM_E_NULL;
    LW_LAYER(0, "y")
    rows_helium_y(in->x, in->w, in->b, out->y);
    return 0;
}
