/* vector_contract: vector-contract.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if VECTOR_CONTRACT_HEADER_HASH != 0x1f24e3aa
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

/* y[i<16] = x[i] * 0.5 + b[i]
 * x: [16]  b: [16]  y: [16]
 * schedule of the file: vectorize y.i contract */
static void vector_contract_y(const float *restrict x, const float *restrict b, float *restrict y)
{
    lw_f32x8_store(y, lw_f32x8_fma(lw_f32x8_load(x), lw_f32x8_broadcast(0.5f), lw_f32x8_load(b)));
    lw_f32x8_store(&y[8], lw_f32x8_fma(lw_f32x8_load(&x[8]), lw_f32x8_broadcast(0.5f), lw_f32x8_load(&b[8])));
}

int vector_contract_run(void *arena, const struct vector_contract_inputs *in, const struct vector_contract_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->b == NULL) return VECTOR_CONTRACT_E_NULL;
    if (out == NULL || out->y == NULL) return VECTOR_CONTRACT_E_NULL;
    LW_LAYER(0, "y")
    vector_contract_y(in->x, in->b, out->y);
    return 0;
}
