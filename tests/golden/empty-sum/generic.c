/* empty_sum: empty-sum.te for generic, emitted by Loopwright. */
#include "generic.h"
#if EMPTY_SUM_HEADER_HASH != 0x1eda26cf
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* acc[i<4] = sum(k<n) a[i, k]
 * s[i<4] = acc[i]
 * a: [4][n]  s: [4]
 * if 1 <= n: schedule contraction.tiled: in registers acc; vectors along s.i, acc.i
 * else: as written */
static void empty_sum_s(int32_t n, const float *restrict a, float *restrict s)
{
    if (n >= 1) {
        float acc[4];
        LW_VECTOR
        for (int32_t i = 0; i < 4; i++)
            acc[i] = 0.0f;
        for (int32_t k = 0; k < n; k++)
            LW_VECTOR
            for (int32_t i = 0; i < 4; i++)
                acc[i] += a[k + i * n];
        LW_VECTOR
        for (int32_t i = 0; i < 4; i++)
            s[i] = acc[i];
    } else {
        for (int32_t i = 0; i < 4; i++)
            s[i] = 0.0f;
    }
}

int empty_sum_run(void *arena, const struct empty_sum_inputs *in, const struct empty_sum_outputs *out)
{
    (void)arena;
    if (in == NULL || in->a == NULL) return EMPTY_SUM_E_NULL;
    if (out == NULL || out->s == NULL) return EMPTY_SUM_E_NULL;
    const int32_t n = in->n;
    if (n < 0 || n > 8) return EMPTY_SUM_E_DIM;
    LW_LAYER(0, "s")
    empty_sum_s(n, in->a, out->s);
    return 0;
}
