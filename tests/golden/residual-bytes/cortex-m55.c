/* residual_bytes: residual-bytes.te for cortex-m55, emitted by Loopwright. */
#include "cortex-m55.h"

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* packed_conv2d + rescale + rescale + rescale + add + rescale
 * acc[n<1, h<1, w<2, o<32] = sum(e<32; b[o]) i32(x[n, 0, w, e]) * i32(k[o, e])
 * t[d0<1, h<1, w<2, c<32] = i8(min(max(roundshift(mulhigh(acc[d0, h, w, c], 1500000000), 8) + 4, -128), 127))
 * y[d0<1, h<1, w<2, c<32] = i8(min(max(roundshift(mulhigh(mulhigh(i32(t[d0, h, w, c]) - 4 << 20,
 *     1073741824) + roundshift(mulhigh(i32(x2[d0, h, w, c]) - -128 << 20, 1623821475), 2), 1098017566), 17) - 128,
 *     -128), 127))
 * x: [1][1][2][32]  k: [32][32]  b: [32]  x2: [1][1][2][32]  y: [1][1][2][32]
 * schedule rows.dot: y.c by 16, acc.o by 2; LW_DOT_2X2_I8, LW_ADD_I8, LW_SCALE_I8; in registers acc */
static void residual_bytes_sum(const int8_t *restrict x, const int8_t *restrict k, const int32_t *restrict b,
    const int8_t *restrict x2, int8_t *restrict y)
{
    for (int32_t co = 0; co < 2; co++) {
        int32_t acc[32];
        int8_t t[32];
        #ifdef LW_COPY_I32
        LW_COPY_I32(16, LW_AT(acc, 0), LW_AT(b, co * 16));
        #else
        {
            const int32_t *b_co = b + co * 16;
            for (int32_t o = 0; o < 16; o++)
                acc[o] = b_co[o];
        }
        #endif
        #ifdef LW_COPY_I32
        LW_COPY_I32(16, LW_AT(acc, 16), LW_AT(b, co * 16));
        #else
        {
            const int32_t *b_co = b + co * 16;
            for (int32_t o = 0; o < 16; o++)
                acc[o + 16] = b_co[o];
        }
        #endif
        for (int32_t oo = 0; oo < 8; oo++) {
            #ifdef LW_DOT_2X2_I8
            LW_DOT_2X2_I8(32, LW_AT(acc, oo * 2, 16), LW_AT(x, 0, 32), LW_AT(k, co * 512 + oo * 64, 32));
            #else
            for (int32_t e = 0; e < 32; e++) {
                const int8_t *k_e = k + co * 512 + oo * 64 + e;
                for (int32_t w = 0; w < 2; w++)
                    for (int32_t oi = 0; oi < 2; oi++)
                        acc[w * 16 + oo * 2 + oi] = (int32_t)((uint32_t)acc[w * 16 + oo * 2 + oi]
                            + (uint32_t)((int32_t)x[w * 32 + e] * k_e[oi * 32]));
            }
            #endif
        }
        #ifdef LW_SCALE_I8
        LW_SCALE_I8(16, 4, -128, 127, LW_AT(t, 0), LW_AT(acc, 0), 1500000000, 8);
        #else
        for (int32_t c = 0; c < 16; c++)
            t[c] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[c], 1500000000), 8) + 4);
        #endif
        #ifdef LW_SCALE_I8
        LW_SCALE_I8(16, 4, -128, 127, LW_AT(t, 16), LW_AT(acc, 16), 1500000000, 8);
        #else
        for (int32_t c = 0; c < 16; c++)
            t[c + 16] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[c + 16], 1500000000), 8) + 4);
        #endif
        #ifdef LW_ADD_I8
        LW_ADD_I8(16, -4, 1073741824, 0, 128, 1623821475, 2, 1098017566, 17, -128, -128, 127, LW_AT(y, co * 16),
            LW_AT(t, 0), LW_AT(x2, co * 16));
        #else
        {
            const int8_t *x2_co = x2 + co * 16;
            int8_t *y_co = y + co * 16;
            for (int32_t ci = 0; ci < 16; ci++)
                y_co[ci] = lw_scale_i8((int32_t)((uint32_t)((int32_t)t[ci] - 4) << 19)
                    + lw_roundshift_near_i32(lw_mulhigh_up_i32((int32_t)x2_co[ci] + 128, 20, 1623821475), 2),
                    1098017566, 17, -128);
        }
        #endif
        #ifdef LW_ADD_I8
        LW_ADD_I8(16, -4, 1073741824, 0, 128, 1623821475, 2, 1098017566, 17, -128, -128, 127, LW_AT(y, co * 16 + 32),
            LW_AT(t, 16), LW_AT(x2, co * 16 + 32));
        #else
        {
            const int8_t *x2_co = x2 + co * 16 + 32;
            int8_t *y_co = y + co * 16 + 32;
            for (int32_t ci = 0; ci < 16; ci++)
                y_co[ci] = lw_scale_i8((int32_t)((uint32_t)((int32_t)t[ci + 16] - 4) << 19)
                    + lw_roundshift_near_i32(lw_mulhigh_up_i32((int32_t)x2_co[ci] + 128, 20, 1623821475), 2),
                    1098017566, 17, -128);
        }
        #endif
    }
}

int residual_bytes_run(void *arena, const struct residual_bytes_inputs *in, const struct residual_bytes_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->r == NULL || in->w == NULL || in->b == NULL) return RESIDUAL_BYTES_E_NULL;
    if (out == NULL || out->y == NULL) return RESIDUAL_BYTES_E_NULL;
    LW_LAYER(0, "sum")
    residual_bytes_sum(in->x, in->w, in->b, in->r, out->y);
    return 0;
}
