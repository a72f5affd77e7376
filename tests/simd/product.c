/* SPDX-License-Identifier: MIT */
/* One product of N x N matrices by the emitted matmul.c: the hash of its bits. With 1 as the argument, the product is
 * also compared with one of libm's fma, in the order of k, to the bit. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "matmul.h"

static float a[N * N], b[N * N], c[N * N];
static unsigned char memory[MATMUL_ARENA_SIZE + MATMUL_ARENA_ALIGN];

static void fill(float *x, uint32_t seed)
{
    for (int i = 0; i < N * N; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int32_t)(seed >> 16) - 32768) / 32768.0f;
    }
}

static int is_product(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++) sum = fmaf(a[i * N + k], b[k * N + j], sum);
            if (memcmp(&sum, &c[i * N + j], sizeof sum) != 0) return 0;
        }
    return 1;
}

int main(int argc, char **argv)
{
    void *arena = memory + (MATMUL_ARENA_ALIGN - (uintptr_t)memory % MATMUL_ARENA_ALIGN) % MATMUL_ARENA_ALIGN;
    const struct matmul_inputs in = { a, b };
    const struct matmul_outputs out = { c };
    uint32_t hash = 2166136261u;
    (void)argv;
    fill(a, 1);
    fill(b, 2);
    if (matmul_run(arena, &in, &out) != 0) return 1;
    for (int i = 0; i < N * N; i++) {
        uint32_t bits;
        memcpy(&bits, &c[i], sizeof bits);
        hash = (hash ^ bits) * 16777619u;
    }
    printf("%08lx\n", (unsigned long)hash);
    return argc > 1 && !is_product() ? 2 : 0;
}
