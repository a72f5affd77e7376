/* reduction_lanes: reduction-lanes.te for x86-avx2, emitted by Loopwright. */
#include "x86-avx2.h"
#if REDUCTION_LANES_HEADER_HASH != 0x156372e1
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

/* s_lanes[ki<8] = sum(ko<8) x[ko*8+ki]
 * s = sum(ki<8) s_lanes[ki]
 * x: [64]  s: []
 * schedule of the file: split s.k 8; vectorize s.ki reassociate */
static void reduction_lanes_s(const float *restrict x, float *restrict s)
{
    lw_f32x8 s_lanes_v = lw_f32x8_broadcast(0.0f);
    for (int32_t ko = 0; ko < 8; ko++) {
        const float *x_ko = x + ko * 8;
        s_lanes_v = lw_f32x8_add(s_lanes_v, lw_f32x8_load(x_ko));
    }
    float acc = 0.0f;
    float s_lanes[8];
    lw_f32x8_store(s_lanes, s_lanes_v);
    for (int32_t ki = 0; ki < 8; ki++)
        acc += s_lanes[ki];
    s[0] = acc;
}

int reduction_lanes_run(void *arena, const struct reduction_lanes_inputs *in, const struct reduction_lanes_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return REDUCTION_LANES_E_NULL;
    if (out == NULL || out->s == NULL) return REDUCTION_LANES_E_NULL;
    LW_LAYER(0, "s")
    reduction_lanes_s(in->x, out->s);
    return 0;
}
