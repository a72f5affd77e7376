/* shapes_shared: shapes-shared.te for cortex-m55, emitted by Loopwright. */
#include "cortex-m55.h"

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* packed_dense + rescale
 * acc[n<1, o<16] = sum(e<32; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[d0<1, c<16] = i8(min(max(roundshift(mulhigh(acc[d0, c], 1500000000), 6), -128), 127))
 * x: [1][32]  k: [16][32]  b: [16]  y: [1][16]
 * schedule rows.dot: acc.o by 4; LW_DOT_1X4_I8, LW_SCALE_I8; in registers acc */
static LW_NOINLINE void shapes_shared_sum1(const int8_t *restrict x, const int8_t *restrict k,
    const int32_t *restrict b, int8_t *restrict y)
{
    {
        int32_t acc[16];
        #ifdef LW_COPY_I32
        LW_COPY_I32(16, LW_AT(acc, 0), LW_AT(b, 0));
        #else
        for (int32_t o = 0; o < 16; o++)
            acc[o] = b[o];
        #endif
        for (int32_t oo = 0; oo < 4; oo++) {
            #ifdef LW_DOT_1X4_I8
            LW_DOT_1X4_I8(32, LW_AT(acc, oo * 4), LW_AT(x, 0), LW_AT(k, oo * 128, 32));
            #else
            for (int32_t e = 0; e < 32; e++) {
                const int8_t *k_e = k + oo * 128 + e;
                for (int32_t oi = 0; oi < 4; oi++)
                    acc[oo * 4 + oi] = (int32_t)((uint32_t)acc[oo * 4 + oi] + (uint32_t)((int32_t)x[e] * k_e[oi * 32]));
            }
            #endif
        }
        #ifdef LW_SCALE_I8
        LW_SCALE_I8(16, 0, -128, 127, LW_AT(y, 0), LW_AT(acc, 0), 1500000000, 6);
        #else
        for (int32_t c = 0; c < 16; c++)
            y[c] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[c], 1500000000), 6));
        #endif
    }
}

/* packed_dense + rescale
 * acc[n<1, o<8] = sum(e<16; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[d0<1, c<8] = i8(min(max(roundshift(mulhigh(acc[d0, c], 1500000000), 6), -128), 127))
 * x: [1][16]  k: [8][16]  b: [8]  y: [1][8]
 * schedule rows.dot: acc.o by 4; LW_DOT_1X4_I8, LW_SCALE_I8; in registers acc */
static LW_NOINLINE void shapes_shared_sum2(const int8_t *restrict x, const int8_t *restrict k,
    const int32_t *restrict b, int8_t *restrict y)
{
    {
        int32_t acc[8];
        #ifdef LW_COPY_I32
        LW_COPY_I32(8, LW_AT(acc, 0), LW_AT(b, 0));
        #else
        for (int32_t o = 0; o < 8; o++)
            acc[o] = b[o];
        #endif
        for (int32_t oo = 0; oo < 2; oo++) {
            #ifdef LW_DOT_1X4_I8
            LW_DOT_1X4_I8(16, LW_AT(acc, oo * 4), LW_AT(x, 0), LW_AT(k, oo * 64, 16));
            #else
            for (int32_t e = 0; e < 16; e++) {
                const int8_t *k_e = k + oo * 64 + e;
                for (int32_t oi = 0; oi < 4; oi++)
                    acc[oo * 4 + oi] = (int32_t)((uint32_t)acc[oo * 4 + oi] + (uint32_t)((int32_t)x[e] * k_e[oi * 16]));
            }
            #endif
        }
        #ifdef LW_SCALE_I8
        LW_SCALE_I8(8, 0, -128, 127, LW_AT(y, 0), LW_AT(acc, 0), 1500000000, 6);
        #else
        for (int32_t c = 0; c < 8; c++)
            y[c] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[c], 1500000000), 6));
        #endif
    }
}

int shapes_shared_run(void *arena, const struct shapes_shared_inputs *in, const struct shapes_shared_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % SHAPES_SHARED_ARENA_ALIGN != 0) return SHAPES_SHARED_E_ARENA;
    if (in == NULL || in->x == NULL || in->w1 == NULL || in->b1 == NULL || in->w2 == NULL || in->b2
        == NULL) return SHAPES_SHARED_E_NULL;
    if (out == NULL || out->y == NULL) return SHAPES_SHARED_E_NULL;
    LW_LAYER(0, "sum1")
    shapes_shared_sum1(in->x, in->w1, in->b1, (int8_t *)memory);
    LW_LAYER(1, "sum2")
    shapes_shared_sum2((int8_t *)memory, in->w2, in->b2, out->y);
    return 0;
}
