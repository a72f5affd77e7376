/* pairs_dual_mac: pairs-dual-mac.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if PAIRS_DUAL_MAC_HEADER_HASH != 0x135e75da
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* packed_dense
 * acc[n<1, o<4] = sum(e<16; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[n<1, o<4] = acc[n, o]
 * x: [1][16]  k: [4][16]  b: [4]  y: [1][4]
 * schedule rows.dot: LW_DOT_1X4_I8; in registers acc */
static void pairs_dual_mac_y(const int8_t *restrict x, const int8_t *restrict k, const int32_t *restrict b,
    int32_t *restrict y)
{
    {
        int32_t acc[4];
        acc[0] = b[0];
        acc[1] = b[1];
        acc[2] = b[2];
        acc[3] = b[3];
        #ifdef LW_DOT_1X4_I8
        LW_DOT_1X4_I8(16, LW_AT(acc, 0), LW_AT(x, 0), LW_AT(k, 0, 16));
        #else
        for (int32_t e = 0; e < 16; e++)
            for (int32_t o = 0; o < 4; o++)
                acc[o] = (int32_t)((uint32_t)acc[o] + (uint32_t)((int32_t)x[e] * k[o * 16 + e]));
        #endif
        y[0] = acc[0];
        y[1] = acc[1];
        y[2] = acc[2];
        y[3] = acc[3];
    }
}

int pairs_dual_mac_run(void *arena, const struct pairs_dual_mac_inputs *in, const struct pairs_dual_mac_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->w == NULL || in->b == NULL) return PAIRS_DUAL_MAC_E_NULL;
    if (out == NULL || out->y == NULL) return PAIRS_DUAL_MAC_E_NULL;
    LW_LAYER(0, "y")
    pairs_dual_mac_y(in->x, in->w, in->b, out->y);
    return 0;
}
