/* shapes_shared: shapes-shared.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"
#if SHAPES_SHARED_HEADER_HASH != 0x1ac5df34
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* packed_dense + rescale
 * acc[n<1, o<16] = sum(e<32; b[o]) i32(x[n, e]) * i32(k[o, e])
 * y[d0<1, c<16] = i8(min(max(roundshift(mulhigh(acc[d0, c], 1500000000), 6), -128), 127))
 * x: [1][32]  k: [16][32]  b: [16]  y: [1][16]
 * schedule rows.dot: y.c by 4; LW_DOT_1X4_I8; in registers acc
 * this comment has the constants of the first of 2 layers; numbers that differ between the layers are parameters */
static LW_SHARED void shapes_shared_packed_dense(int32_t co_end, int32_t size, int32_t co_step,
    const int8_t *restrict x, const int8_t *restrict k, const int32_t *restrict b, int8_t *restrict y)
{
    for (int32_t co = 0; co < co_end; co++) {
        int32_t acc[4];
        acc[0] = b[co * 4];
        acc[1] = b[co * 4 + 1];
        acc[2] = b[co * 4 + 2];
        acc[3] = b[co * 4 + 3];
        #ifdef LW_DOT_1X4_I8
        LW_DOT_1X4_I8(size, LW_AT(acc, 0), LW_AT(x, 0), LW_AT(k, co * co_step, size));
        #else
        for (int32_t e = 0; e < size; e++) {
            const int8_t *k_e = k + co * co_step + e;
            for (int32_t o = 0; o < 4; o++)
                acc[o] = (int32_t)((uint32_t)acc[o] + (uint32_t)((int32_t)x[e] * k_e[o * size]));
        }
        #endif
        y[co * 4] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[0], 1500000000), 6));
        y[co * 4 + 1] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[1], 1500000000), 6));
        y[co * 4 + 2] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[2], 1500000000), 6));
        y[co * 4 + 3] = (int8_t)lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[3], 1500000000), 6));
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    shapes_shared_sum1_at = 0,     /* 16 bytes in layers 0 to 1 */
};

int shapes_shared_run(void *arena, const struct shapes_shared_inputs *in, const struct shapes_shared_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % SHAPES_SHARED_ARENA_ALIGN != 0) return SHAPES_SHARED_E_ARENA;
    if (in == NULL || in->x == NULL || in->w1 == NULL || in->b1 == NULL || in->w2 == NULL || in->b2 == NULL)
        return SHAPES_SHARED_E_NULL;
    if (out == NULL || out->y == NULL) return SHAPES_SHARED_E_NULL;
    LW_LAYER(0, "sum1")
    shapes_shared_packed_dense(4, 32, 128, in->x, in->w1, in->b1, (int8_t *)(memory + shapes_shared_sum1_at));
    LW_LAYER(1, "sum2")
    shapes_shared_packed_dense(2, 16, 64, (int8_t *)(memory + shapes_shared_sum1_at), in->w2, in->b2, out->y);
    return 0;
}
