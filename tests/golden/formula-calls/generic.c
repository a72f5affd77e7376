/* formula_calls: formula-calls.te for generic, emitted by Loopwright. */
#include "generic.h"
#if FORMULA_CALLS_HEADER_HASH != 0x1cccfebc
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* t[i<1, j<6] = x[i, j] * 2.0 + 1.0
 * x: [1][6]  t: [1][6] */
static void formula_calls_formula_6(const float *restrict x, float *restrict t)
{
    for (int32_t j = 0; j < 6; j++)
        t[j] = x[j] * 2.0f + 1.0f;
}

/* dense + formula
 * acc[n<1, o<4] = sum(k<6) x[n, k] * w[k, o]
 * y[i<1, j<4] = max(acc[i, j], 0.0)
 * x: [1][6]  w: [6][4]  y: [1][4]
 * schedule contraction.tiled: in registers acc; vectors along y.j, acc.o */
static void formula_calls_p(const float *restrict x, const float *restrict w, float *restrict y)
{
    float acc[4];
    LW_VECTOR
    for (int32_t o = 0; o < 4; o++)
        acc[o] = 0.0f;
    for (int32_t k = 0; k < 6; k++) {
        const float *w_k = w + k * 4;
        LW_VECTOR
        for (int32_t o = 0; o < 4; o++)
            acc[o] += x[k] * w_k[o];
    }
    LW_VECTOR
    for (int32_t j = 0; j < 4; j++)
        y[j] = lw_maxf(acc[j], 0.0f);
}

/* The items of the arena, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    formula_calls_t_at = 0,     /* 24 bytes in layers 0 to 2 */
};

int formula_calls_run(void *arena, const struct formula_calls_inputs *in, const struct formula_calls_outputs *out)
{
    uint8_t *const memory = (uint8_t *)arena;
    if (memory == NULL || (uintptr_t)memory % FORMULA_CALLS_ARENA_ALIGN != 0) return FORMULA_CALLS_E_ARENA;
    if (in == NULL || in->x == NULL || in->z == NULL || in->w == NULL) return FORMULA_CALLS_E_NULL;
    if (out == NULL || out->y == NULL || out->u == NULL) return FORMULA_CALLS_E_NULL;
    LW_LAYER(0, "t")
    formula_calls_formula_6(in->x, (float *)(void *)(memory + formula_calls_t_at));
    LW_LAYER(1, "u")
    formula_calls_formula_6(in->z, out->u);
    LW_LAYER(2, "p")
    formula_calls_p((float *)(void *)(memory + formula_calls_t_at), in->w, out->y);
    return 0;
}
