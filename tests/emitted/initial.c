/* SPDX-License-Identifier: MIT */
/* State begins with the values that the model gives it, and does so again after a reset. */
#include <stdio.h>
#include <string.h>

#include "initial.h"

/* Runs once. True if y is the sum of h, and z the previous run's result. */
static int gives(struct initial_state *state, float want_y, float want_z)
{
    static const float x[4] = { 0.25f, 0.25f, 0.25f, 0.25f };
    static unsigned char memory[INITIAL_ARENA_SIZE + 32];
    float y = -1, z[4] = { -1, -1, -1, -1 };
    void *arena = memory + (16 - (uintptr_t)memory % 16) % 16;
    if (initial_run(arena, state, &(struct initial_inputs){ .x = x }, &(struct initial_outputs){ .y = &y, .z = z })
        != 0)
        printf("refused\n");
    if (y != want_y || z[0] != want_z)
        printf("%g %g instead of %g %g\n", (double)y, (double)z[0], (double)want_y, (double)want_z);
    return y == want_y && z[0] == want_z;
}

int main(void)
{
    struct initial_state state;
    memset(&state, 0xff, sizeof state);
    for (int i = 0; i < 2; i++) {
        initial_reset(&state);
        if (!gives(&state, 10.0f, 0.5f)) return 1;      /* 1 + 2 + 3 + 4; last: 0.5 0 0 0 */
        if (!gives(&state, 6.0f, 0.0f)) return 1;       /* half of it and 4 * 0.25; last: 0 0 0.5 0.5 */
    }
    return 0;
}
