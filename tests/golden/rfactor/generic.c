/* rfactor: rfactor.te for generic, emitted by Loopwright. */
#include "generic.h"
#if RFACTOR_HEADER_HASH != 0x13bbd84d
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* part[i<4, ki<8] = sum(ko<4) x[i, ko*8+ki]
 * s[i<4] = sum(ki<8) part[i, ki]
 * x: [4][32]  part: [4][8]  s: [4]
 * schedule of the file: split s.k 8; rfactor s s.ki name=part reassociate */
static void rfactor_s(const float *restrict x, float *restrict part, float *restrict s)
{
    for (int32_t i = 0; i < 4; i++) {
        float *part_i = part + i * 8;
        for (int32_t ki = 0; ki < 8; ki++) {
            float acc = 0.0f;
            const float *x_ki = x + i * 32 + ki;
            for (int32_t ko = 0; ko < 4; ko++)
                acc += x_ki[ko * 8];
            part_i[ki] = acc;
        }
    }
    for (int32_t i = 0; i < 4; i++) {
        float acc = 0.0f;
        const float *part_i = part + i * 8;
        for (int32_t ki = 0; ki < 8; ki++)
            acc += part_i[ki];
        s[i] = acc;
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    rfactor_s_part_at = 0,     /* 128 bytes in layer 0 */
};

int rfactor_run(void *arena, const struct rfactor_inputs *in, const struct rfactor_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % RFACTOR_ARENA_ALIGN != 0) return RFACTOR_E_ARENA;
    if (in == NULL || in->x == NULL) return RFACTOR_E_NULL;
    if (out == NULL || out->s == NULL) return RFACTOR_E_NULL;
    LW_LAYER(0, "s")
    rfactor_s(in->x, (float *)(void *)(memory + rfactor_s_part_at), out->s);
    return 0;
}
