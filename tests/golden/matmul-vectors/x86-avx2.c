/* matmul_vectors: matmul-vectors.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if MATMUL_VECTORS_HEADER_HASH != 0x14281494
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

/* s[i<4, j<32] = sum(k<6) a[i, k] * b[k, j]
 * c[i<4, j<32] = max(s[i, j] + bias[j], 0.0)
 * a: [4][6]  b: [6][32]  bias: [32]  c: [4][32]
 * schedule of the file: in registers s; vectors along s.j, c.ji */
static void matmul_vectors_s(const float *restrict a, const float *restrict b, const float *restrict bias,
    float *restrict c)
{
    for (int32_t io = 0; io < 2; io++) {
        const float *a_io = a + io * 12;
        for (int32_t jo = 0; jo < 2; jo++) {
            lw_f32x8 s_0 = lw_f32x8_broadcast(0.0f);
            lw_f32x8 s_1 = lw_f32x8_broadcast(0.0f);
            lw_f32x8 s_2 = lw_f32x8_broadcast(0.0f);
            lw_f32x8 s_3 = lw_f32x8_broadcast(0.0f);
            for (int32_t k = 0; k < 6; k++) {
                const float *b_k = b + k * 32 + jo * 16;
                lw_f32x8 b_0 = lw_f32x8_hold(lw_f32x8_load(b_k));
                lw_f32x8 b_1 = lw_f32x8_hold(lw_f32x8_load(&b_k[8]));
                s_0 = lw_f32x8_fma(lw_f32x8_broadcast(a_io[k]), b_0, s_0);
                s_1 = lw_f32x8_fma(lw_f32x8_broadcast(a_io[k]), b_1, s_1);
                s_2 = lw_f32x8_fma(lw_f32x8_broadcast(a_io[k + 6]), b_0, s_2);
                s_3 = lw_f32x8_fma(lw_f32x8_broadcast(a_io[k + 6]), b_1, s_3);
            }
            const float *bias_jo = bias + jo * 16;
            float *c_jo = c + io * 64 + jo * 16;
            lw_f32x8_store(c_jo, lw_f32x8_max(lw_f32x8_add(s_0, lw_f32x8_load(bias_jo)), lw_f32x8_broadcast(0.0f)));
            lw_f32x8_store(&c_jo[8],
                lw_f32x8_max(lw_f32x8_add(s_1, lw_f32x8_load(&bias_jo[8])), lw_f32x8_broadcast(0.0f)));
            lw_f32x8_store(&c_jo[32],
                lw_f32x8_max(lw_f32x8_add(s_2, lw_f32x8_load(bias_jo)), lw_f32x8_broadcast(0.0f)));
            lw_f32x8_store(&c_jo[40],
                lw_f32x8_max(lw_f32x8_add(s_3, lw_f32x8_load(&bias_jo[8])), lw_f32x8_broadcast(0.0f)));
        }
    }
}

int matmul_vectors_run(void *arena, const struct matmul_vectors_inputs *in, const struct matmul_vectors_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL || in->b == NULL || in->bias == NULL) return MATMUL_VECTORS_E_NULL;
    if (out == NULL || out->c == NULL) return MATMUL_VECTORS_E_NULL;
    LW_LAYER(0, "s")
    matmul_vectors_s(in->a, in->b, in->bias, out->c);
    return 0;
}
