/* padded_scratchpad: padded-scratchpad.te for generic, emitted by Loopwright. */
#include "generic.h"
#if PADDED_SCRATCHPAD_HEADER_HASH != 0x1072df47
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_copy.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* xs[d0<18, d1<8] = select(1 <= d0 && d0 < 17, x[d0-1, d1], -3)
 * y[h<16, o<8] = sum(i<3, c<8) (i32(xs[h+i, c]) + 3) * i32(k[i, c, o])
 * x: [16][8]  k: [3][8][8]  y: [16][8]
 * schedule of the file: GEMM */
static void padded_scratchpad_y(const int8_t *restrict x, const int8_t *restrict k, int32_t *restrict y)
{
    #ifdef LW_MEMORY_scratchpad
    int8_t *const xs = (int8_t *)LW_MEMORY_scratchpad(0);
    #else
    LW_ALIGN(16) int8_t xs[144];
    #endif
    LW_COPY_FILL_START(0, xs, 253, 8);
    LW_COPY_START(0, xs + 8, x, 128);
    LW_COPY_FILL_START(0, xs + 136, 253, 8);
    LW_COPY_WAIT(0, 0);
    for (int32_t h = 0; h < 16; h++) {
        int32_t *y_h = y + h * 8;
        for (int32_t o = 0; o < 8; o++)
            y_h[o] = 0;
    }
    for (int32_t i = 0; i < 3; i++) {
        #ifdef GEMM
        GEMM(LW_AT(y, 0, 8), LW_AT(xs, i * 8, 8), LW_AT(k, i * 64, 8));
        #elif defined(LW_MEMORY_scratchpad)
        #error "GEMM computes in the memories of a unit; define it beside LW_MEMORY_..."
        #else
        for (int32_t h = 0; h < 16; h++) {
            int32_t *y_h = y + h * 8;
            for (int32_t o = 0; o < 8; o++) {
                int32_t acc = y_h[o];
                const int8_t *k_o = k + i * 64 + o;
                for (int32_t c = 0; c < 8; c++)
                    acc += (xs[(h + i) * 8 + c] + 3) * k_o[c * 8];
                y_h[o] = acc;
            }
        }
        #endif
    }
}

int padded_scratchpad_run(void *arena, const struct padded_scratchpad_inputs *in,
    const struct padded_scratchpad_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->k == NULL) return PADDED_SCRATCHPAD_E_NULL;
    if (out == NULL || out->y == NULL) return PADDED_SCRATCHPAD_E_NULL;
    LW_LAYER(0, "y")
    padded_scratchpad_y(in->x, in->k, out->y);
    return 0;
}
