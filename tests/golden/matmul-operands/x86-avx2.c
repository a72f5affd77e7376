/* matmul_operands: matmul-operands.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if MATMUL_OPERANDS_HEADER_HASH != 0x13313cf3
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"
#include "simd/simd.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* acc[i<2, j<24] = sum(k<6) a[i, k] * b[k, j]
 * c[i<2, j<24] = acc[i, j]
 * a: [2][6]  b: [6][24]  c: [2][24]
 * schedule of the file: vectors along acc.j, c.j */
static void matmul_operands_c(const float *restrict a, const float *restrict b, float *restrict c)
{
    lw_f32x8 acc_0 = lw_f32x8_broadcast(0.0f);
    lw_f32x8 acc_1 = lw_f32x8_broadcast(0.0f);
    lw_f32x8 acc_2 = lw_f32x8_broadcast(0.0f);
    lw_f32x8 acc_3 = lw_f32x8_broadcast(0.0f);
    lw_f32x8 acc_4 = lw_f32x8_broadcast(0.0f);
    lw_f32x8 acc_5 = lw_f32x8_broadcast(0.0f);
    LW_UNROLL(1)
    for (int32_t k = 0; k < 6; k++) {
        lw_f32x8 a_0 = lw_f32x8_hold(lw_f32x8_broadcast(a[k]));
        lw_f32x8 a_1 = lw_f32x8_hold(lw_f32x8_broadcast(a[k + 6]));
        const float *b_k = b + k * 24;
        lw_f32x8 b_0 = lw_f32x8_hold(lw_f32x8_load(b_k));
        acc_0 = lw_f32x8_fma(a_0, b_0, acc_0);
        acc_3 = lw_f32x8_fma(a_1, b_0, acc_3);
        lw_f32x8 b_1 = lw_f32x8_hold(lw_f32x8_load(&b_k[8]));
        acc_1 = lw_f32x8_fma(a_0, b_1, acc_1);
        acc_4 = lw_f32x8_fma(a_1, b_1, acc_4);
        lw_f32x8 b_2 = lw_f32x8_hold(lw_f32x8_load(&b_k[16]));
        acc_2 = lw_f32x8_fma(a_0, b_2, acc_2);
        acc_5 = lw_f32x8_fma(a_1, b_2, acc_5);
    }
    lw_f32x8_store(c, acc_0);
    lw_f32x8_store(&c[8], acc_1);
    lw_f32x8_store(&c[16], acc_2);
    lw_f32x8_store(&c[24], acc_3);
    lw_f32x8_store(&c[32], acc_4);
    lw_f32x8_store(&c[40], acc_5);
}

int matmul_operands_run(void *arena, const struct matmul_operands_inputs *in, const struct matmul_operands_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL) return MATMUL_OPERANDS_E_NULL;
    if (out == NULL || out->c == NULL) return MATMUL_OPERANDS_E_NULL;
    LW_LAYER(0, "c")
    matmul_operands_c(in->a, in->b, out->c);
    return 0;
}
