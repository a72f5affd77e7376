/* matmul_vectors: matmul-vectors.te for generic, emitted by Loopwright. */
#include "generic.h"
#if MATMUL_VECTORS_HEADER_HASH != 0x1bc7e32d
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

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
            float s[32];
            LW_VECTOR
            for (int32_t j = 0; j < 16; j++)
                s[j] = 0.0f;
            LW_VECTOR
            for (int32_t j = 0; j < 16; j++)
                s[j + 16] = 0.0f;
            for (int32_t k = 0; k < 6; k++) {
                const float *b_k = b + k * 32 + jo * 16;
                LW_VECTOR
                for (int32_t j = 0; j < 16; j++)
                    s[j] += a_io[k] * b_k[j];
                LW_VECTOR
                for (int32_t j = 0; j < 16; j++)
                    s[j + 16] += a_io[k + 6] * b_k[j];
            }
            const float *bias_jo = bias + jo * 16;
            float *c_jo = c + io * 64 + jo * 16;
            LW_VECTOR
            for (int32_t ji = 0; ji < 16; ji++)
                c_jo[ji] = lw_maxf(s[ji] + bias_jo[ji], 0.0f);
            LW_VECTOR
            for (int32_t ji = 0; ji < 16; ji++)
                c_jo[ji + 32] = lw_maxf(s[ji + 16] + bias_jo[ji], 0.0f);
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
