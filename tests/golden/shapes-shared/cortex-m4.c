/* shapes_shared: shapes-shared.te for cortex-m4, emitted by Loopwright. */
#include "cortex-m4.h"

#include <stddef.h>

#include "lw_base.h"
#include "lw_fixed.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* before each layer: define it to take times */
#endif

/* patch[n<1, e<32] = i16(x[n, e])
 * acc[n<1, o<16] = sum(q<8, s<2, t<2; x3[o]) i32(patch[n, q*4+s*2+t]) * i32(x2[o, q, t, s])
 * y[d0<1, c<16] = i8(min(max(roundshift(mulhigh(acc[d0, c], 1500000000), 6), -128), 127))
 * x: [1][32]  x2: [16][8][2][2]  x3: [16]  patch: [1][32]  y: [1][16]
 * schedule: split y.c 4; reorder y.d0 y.co y.ci; compute_at acc y.co; compute_at patch y.d0;
 *     set_scope acc register; instruction LW_COPY_I16[32](a: i8[32]) y[e<32] = i16(a[e]);
 *     tensorize patch.e LW_COPY_I16; reorder acc.q acc.s acc.t acc.o; decompose_reduction acc acc.q;
 *     instruction LW_DOT_1X4_I16[8](a: i16[1][8][2][2], b: i8[4][8][2][2]) c[w<1,o<4] = sum(q<8,s<2,t<2)
 *     i32(a[w,q,s,t]) * i32(b[o,q,t,s]); tensorize acc.q LW_DOT_1X4_I16; unroll y.ci; unroll acc@init.o
 * numbers: of the first of 2 layers that are alike; where theirs differ they are parameters */
static LW_SHARED void shapes_shared_sum1(int32_t size, int32_t e_end, int32_t co_end, int32_t co_step, const int8_t *restrict x, const int8_t *restrict x2, const int32_t *restrict x3, int16_t *restrict patch, int8_t *restrict y)
{
    (void)e_end;
    #ifdef LW_COPY_I16
    LW_COPY_I16(size * 4, patch[0], x[0]);
    #else
    {
        for (int32_t e = 0; e < e_end; e++)
            patch[e] = (int16_t)x[e];
    }
    #endif
    for (int32_t co = 0; co < co_end; co++) {
        int32_t acc[4];
        acc[0] = x3[co * 4];
        acc[1] = x3[co * 4 + 1];
        acc[2] = x3[co * 4 + 2];
        acc[3] = x3[co * 4 + 3];
        #ifdef LW_DOT_1X4_I16
        LW_DOT_1X4_I16(size, acc[0], patch[0], 4, 2, x2[co * co_step], size * 4, 4, 2);
        #else
        {
            for (int32_t q = 0; q < size; q++)
                for (int32_t s = 0; s < 2; s++) {
                    const int16_t *patch_s = patch + q * 4 + s * 2;
                    for (int32_t t = 0; t < 2; t++) {
                        const int8_t *x2_t_ = x2 + co * co_step + q * 4 + s + t * 2;
                        for (int32_t o = 0; o < 4; o++)
                            acc[o] = (int32_t)((uint32_t)acc[o] + (uint32_t)((int32_t)patch_s[t] * x2_t_[o * e_end]));
                    }
                }
        }
        #endif
        y[co * 4] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[0], 1500000000), 6));
        y[co * 4 + 1] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[1], 1500000000), 6));
        y[co * 4 + 2] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[2], 1500000000), 6));
        y[co * 4 + 3] = lw_sat_i8(lw_roundshift_i32(lw_mulhigh_i32(acc[3], 1500000000), 6));
    }
}

int shapes_shared_run(void *arena, const struct shapes_shared_inputs *in, const struct shapes_shared_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % SHAPES_SHARED_ARENA_ALIGN != 0) return SHAPES_SHARED_E_ARENA;
    LW_LAYER(0, "sum1")
    shapes_shared_sum1(8, 32, 4, 128, in->x, in->w1, in->b1, (int16_t *)(void *)memory, (int8_t *)(void *)(memory + 64));
    LW_LAYER(1, "sum2")
    shapes_shared_sum1(4, 16, 2, 64, (int8_t *)(void *)(memory + 64), in->w2, in->b2, (int16_t *)(void *)memory, out->y);
    return 0;
}
