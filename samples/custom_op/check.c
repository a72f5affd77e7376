/* SPDX-License-Identifier: MIT */
/* The computation of net.te, by hand. */
#include <stdio.h>

#include "net.h"

int main(void)
{
    static union { double align[2]; unsigned char bytes[NET_ARENA_SIZE + 32]; } memory;
    static float a[6][16], b[6][16], y[6], s[6][16];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 16; k++)
            a[i][k] = (float)((i * 7 + k * 3) % 5) - 2.0f, b[i][k] = (float)((i + k) % 3) - 1.0f;
    const struct net_inputs in = { &a[0][0], &b[0][0] };
    const struct net_outputs out = { y, &s[0][0] };
    if (net_run(memory.bytes + (16 - (size_t)memory.bytes % 16) % 16, &in, &out) != 0) return 1;
    for (int i = 0; i < 6; i++) {
        float e = 0;
        for (int k = 0; k < 16; k++) e += 0.25f * (a[5 - i][k] + b[i][k]) * (a[5 - i][k] + b[i][k]);
        e = 0.5f * e > 3 ? 0.5f * e : 3;
        if (y[i] != e) return printf("row %d: %g, not %g\n", i, (double)y[i], (double)e), 1;
    }
    return 0;
}
