/* update_open_size: update-open-size.te for generic, emitted by Loopwright. */
#include "generic.h"
#if UPDATE_OPEN_SIZE_HEADER_HASH != 0x1f7e27fb
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* g_2[d0<n scattered] = sum(i<10; g[d0]) select(i32(at[i]) == d0, 1, 0)
 * at: [10]  g: [n]  g_2: [n] */
static void update_open_size_g(int32_t n, const uint8_t *restrict at, const int32_t *restrict g, int32_t *restrict g_2)
{
    for (int32_t d0 = 0; d0 < n; d0++)
        g_2[d0] = g[d0];
    for (int32_t i = 0; i < 10; i++) {
        const int32_t at2 = at[i];
        if (at2 >= 0 && at2 < n)
            g_2[at2] = (int32_t)((uint32_t)g_2[at2] + 1u);
    }
}

int update_open_size_run(void *arena, const struct update_open_size_inputs *in,
    const struct update_open_size_outputs *out)
{
    (void)arena;
    if (in == NULL || in->at == NULL || in->g == NULL) return UPDATE_OPEN_SIZE_E_NULL;
    if (out == NULL || out->g_2 == NULL) return UPDATE_OPEN_SIZE_E_NULL;
    const int32_t n = in->n;
    if (n < 1 || n > 64) return UPDATE_OPEN_SIZE_E_DIM;
    LW_LAYER(0, "g")
    update_open_size_g(n, in->at, in->g, out->g_2);
    return 0;
}
