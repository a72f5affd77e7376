/* instruction_sizes: instruction-sizes.te for generic, emitted by Loopwright. */
#include "generic.h"
#if INSTRUCTION_SIZES_HEADER_HASH != 0x19891a34
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_copy.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* xs[d0<20, d1<24] = x[d0, d1]
 * y[i<20, j<18] = sum(k<24) i32(xs[i, k]) * i32(w[k, j])
 * x: [20][24]  w: [24][18]  y: [20][18]
 * schedule of the file: GEMM */
static void instruction_sizes_y(const int8_t *restrict x, const int8_t *restrict w, int32_t *restrict y)
{
    for (int32_t io = 0; io < 2; io++) {
        const int32_t io_begin = lw_min_i32(20 - io * 16, 16);
        #ifdef LW_MEMORY_scratchpad
        int8_t *const xs = (int8_t *)LW_MEMORY_scratchpad(0);
        #else
        LW_ALIGN(16) int8_t xs[384];
        #endif
        LW_COPY_START(0, xs, x + io * 384, io_begin * 24);
        LW_COPY_WAIT(0, 0);
        for (int32_t jo = 0; jo < 2; jo++) {
            for (int32_t ii = 0; ii < io_begin; ii++) {
                int32_t *y_ii = y + io * 288 + ii * 18 + jo * 16;
                const int32_t ji_end = lw_min_i32(18 - jo * 16, 16);
                for (int32_t ji = 0; ji < ji_end; ji++)
                    y_ii[ji] = 0;
            }
            #ifdef GEMM
            GEMM(io_begin, 24, lw_min_i32(18 - jo * 16, 16), LW_AT(y, io * 288 + jo * 16, 18), LW_AT(xs, 0, 24),
                LW_AT(w, jo * 16, 18));
            #else
            for (int32_t ii = 0; ii < io_begin; ii++) {
                int32_t *y_ii = y + io * 288 + ii * 18 + jo * 16;
                const int32_t ji_end = lw_min_i32(18 - jo * 16, 16);
                for (int32_t ji = 0; ji < ji_end; ji++) {
                    int32_t acc = y_ii[ji];
                    const int8_t *w_ji = w + jo * 16 + ji;
                    for (int32_t k = 0; k < 24; k++)
                        acc += xs[ii * 24 + k] * w_ji[k * 18];
                    y_ii[ji] = acc;
                }
            }
            #endif
        }
    }
}

int instruction_sizes_run(void *arena, const struct instruction_sizes_inputs *in,
    const struct instruction_sizes_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->w == NULL) return INSTRUCTION_SIZES_E_NULL;
    if (out == NULL || out->y == NULL) return INSTRUCTION_SIZES_E_NULL;
    LW_LAYER(0, "y")
    instruction_sizes_y(in->x, in->w, out->y);
    return 0;
}
