/* SPDX-License-Identifier: MIT */
/* One product with the emitted matmul.c: prints nanoseconds per run and a number that depends on every bit of the
 * result. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "matmul.h"

#ifndef N
#define N 256
#endif
enum { ELEMENTS = N * N, TIMED = 7, RUNS = 4 };

static float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS];
/* C99 has no alignment specifier: the extra bytes are for aligning. */
static unsigned char memory[MATMUL_ARENA_SIZE + MATMUL_ARENA_ALIGN];

/* Numbers between -1 and 1 that look random, the same ones everywhere (a linear congruential generator). */
static void fill(float *x, unsigned seed)
{
    for (int i = 0; i < ELEMENTS; i++) {
        seed = (seed * 1664525u + 1013904223u) & 0xffffffffu;
        x[i] = (float)((int)(seed >> 16) - 32768) / 32768.0f;
    }
}

/* FNV-1a over the bits of the result. */
static unsigned long hash(const float *x)
{
    unsigned long h = 2166136261u;
    for (int i = 0; i < ELEMENTS; i++) {
        unsigned char byte[sizeof *x];
        memcpy(byte, &x[i], sizeof byte);
        for (size_t j = 0; j < sizeof byte; j++)
            h = ((h ^ byte[j]) * 16777619u) & 0xffffffffu;
    }
    return h;
}

int main(void)
{
    void *arena = memory + (MATMUL_ARENA_ALIGN - (uintptr_t)memory % MATMUL_ARENA_ALIGN) % MATMUL_ARENA_ALIGN;
    double best = 0;
    fill(a, 1);
    fill(b, 2);
    for (int t = 0; t < TIMED; t++) {
        clock_t start = clock();
        for (int r = 0; r < RUNS; r++)
            if (matmul_run(arena, &(struct matmul_inputs){ .a = a, .b = b }, &(struct matmul_outputs){ .c = c }) != 0)
                return 1;
        double ns = (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC / RUNS;
        if (t == 0 || ns < best) best = ns;
    }
    printf("%.0f %08lx\n", best, hash(c));
    return 0;
}
