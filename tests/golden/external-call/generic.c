/* external_call: external-call.te for generic, emitted by Loopwright. */
#include "generic.h"
#if EXTERNAL_CALL_HEADER_HASH != 0x11931095
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* C functions from outside, which layers call */
void gemm(int32_t, int32_t, float, const float *, int32_t, const float *, float *, void *);

/* d[i<8, j<5] = sum(k<6) x[i, k] * w[k, j]
 * y[i<8, j<5] = max(d[i, j], 0.0)
 * x: [8][6]  w: [6][5]  d: [8][5]  y: [8][5]
 * schedule of the file: calls gemm */
static void external_call_d(const float *restrict x, const float *restrict w, float *restrict d, uint8_t *restrict work,
    float *restrict y)
{
    gemm(8, 5, 1.0f, x, 6, w, d, work);
    for (int32_t i = 0; i < 8; i++) {
        const float *d_i = d + i * 5;
        float *y_i = y + i * 5;
        for (int32_t j = 0; j < 5; j++)
            y_i[j] = lw_maxf(d_i[j], 0.0f);
    }
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    external_call_d_d_at = 0,          /* 160 bytes in layer 0 */
    external_call_d_work_at = 160,     /* 32 bytes in layer 0 */
};

int external_call_run(void *arena, const struct external_call_inputs *in, const struct external_call_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % EXTERNAL_CALL_ARENA_ALIGN != 0) return EXTERNAL_CALL_E_ARENA;
    if (in == NULL || in->x == NULL || in->w == NULL) return EXTERNAL_CALL_E_NULL;
    if (out == NULL || out->y == NULL) return EXTERNAL_CALL_E_NULL;
    LW_LAYER(0, "d")
    external_call_d(in->x, in->w, (float *)(void *)(memory + external_call_d_d_at),
        (uint8_t *)(memory + external_call_d_work_at), out->y);
    return 0;
}
