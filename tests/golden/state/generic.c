/* state: state.te for generic, emitted by Loopwright. */
#include "generic.h"
#if STATE_HEADER_HASH != 0x14bce7ee
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>
#include <string.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* mul + add
 * y[n<1, c<4] = x[n, c] * x2[n, c] + x2[n, c]
 * x: [1][4]  x2: [1][4]  y: [1][4]
 * schedule injective.inlined: compute_inline mul */
static void state_next(const float *restrict x, const float *restrict x2, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = x[c] * x2[c] + x2[c];
}

/* relu
 * y[n<1, c<4] = max(x[n, c], 0.0)
 * x: [1][4]  y: [1][4] */
static void state_y(const float *restrict x, float *restrict y)
{
    for (int32_t c = 0; c < 4; c++)
        y[c] = lw_maxf(x[c], 0.0f);
}

void state_reset(struct state_state *state)
{
    memset(state, 0, sizeof *state);
}

int state_run(void *arena, struct state_state *state, const struct state_inputs *in, const struct state_outputs *out)
{
    (void)arena;
    if (state == NULL) return STATE_E_STATE;
    if (in == NULL || in->x == NULL) return STATE_E_NULL;
    if (out == NULL || out->y == NULL) return STATE_E_NULL;
    const int now = state->current != 0, next = !now;
    LW_LAYER(0, "next")
    state_next(state->h[now], in->x, state->h[next]);
    LW_LAYER(1, "y")
    state_y(state->h[next], out->y);
    state->current = (uint8_t)next;
    return 0;
}
