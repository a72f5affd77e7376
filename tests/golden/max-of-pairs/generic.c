/* max_of_pairs: max-of-pairs.te for generic, emitted by Loopwright. */
#include "generic.h"

#include <stddef.h>
#include <math.h>


#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* m, i[r<5] = argmax(k<7) x[r, k]
 * x: [5][7]  m: [5]  i: [5] */
static void max_of_pairs_i(const float *restrict x, int32_t *restrict m, float *restrict i)
{
    for (int32_t r = 0; r < 5; r++) {
        int32_t acc = INT32_MAX;
        float acc2 = -INFINITY;
        const float *x_r = x + r * 7;
        for (int32_t k = 0; k < 7; k++) {
            if (acc2 < x_r[k] || (acc2 == x_r[k] && k < acc)) {
                acc = k;
                acc2 = x_r[k];
            }
        }
        m[r] = acc;
        i[r] = acc2;
    }
}

int max_of_pairs_run(void *arena, const struct max_of_pairs_inputs *in, const struct max_of_pairs_outputs *out)
{
    uint8_t *const memory = arena;
    if (memory == NULL || (uintptr_t)memory % MAX_OF_PAIRS_ARENA_ALIGN != 0) return MAX_OF_PAIRS_E_ARENA;
    if (in == NULL || in->x == NULL) return MAX_OF_PAIRS_E_NULL;
    if (out == NULL || out->i == NULL) return MAX_OF_PAIRS_E_NULL;
    LW_LAYER(0, "i")
    max_of_pairs_i(in->x, (int32_t *)(void *)memory, out->i);
    return 0;
}
