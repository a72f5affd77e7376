/* instruction_configuration: instruction-configuration.te for generic, emitted by Loopwright. */
#include "generic.h"
#if INSTRUCTION_CONFIGURATION_HEADER_HASH != 0x14872954
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_copy.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* xs[d0<16, d1<24] = x[d0, d1]
 * y[i<16, j<24] = i32(xs[i, j]) + i32(xs[0, j])
 * x: [16][24]  y: [16][24]
 * schedule of the file: y.j by 8; LOAD */
static void instruction_configuration_y(const int8_t *restrict x, int32_t *restrict y)
{
    #ifdef LOAD_STEP
    LOAD_STEP(24);
    #endif
    for (int32_t jo = 0; jo < 3; jo++) {
        #ifdef LW_MEMORY_pad
        int8_t *const xs = (int8_t *)LW_MEMORY_pad(0);
        #else
        int8_t xs[128];
        #endif
        #ifdef LOAD
        LOAD(16, LW_AT(xs, 0, 8), LW_AT(x, jo * 8, 24));
        #else
        {
            LW_COPY_ROWS_START(0, xs, 8, x + jo * 8, 24, 8, 16);
            LW_COPY_WAIT(0, 0);
        }
        #endif
        for (int32_t i = 0; i < 16; i++) {
            int32_t *y_i = y + i * 24 + jo * 8;
            for (int32_t ji = 0; ji < 8; ji++)
                y_i[ji] = (int32_t)xs[ji] + xs[i * 8 + ji];
        }
    }
}

int instruction_configuration_run(void *arena, const struct instruction_configuration_inputs *in,
    const struct instruction_configuration_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return INSTRUCTION_CONFIGURATION_E_NULL;
    if (out == NULL || out->y == NULL) return INSTRUCTION_CONFIGURATION_E_NULL;
    LW_LAYER(0, "y")
    instruction_configuration_y(in->x, out->y);
    return 0;
}
