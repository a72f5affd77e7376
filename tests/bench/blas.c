/* SPDX-License-Identifier: MIT */
/* blas NAME: a 512x512x512 product of floats by the emitted matmul.c and by OpenBLAS, alternately, so both run under
 * the same load; prints the median time of each and their ratio. OpenBLAS is loaded at run time; its environment sets
 * one thread and the instructions. Status 1 if a result differs too much, 77 if there is no BLAS. */
#define _POSIX_C_SOURCE 200112L
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "matmul.h"

enum { N = 512, ELEMENTS = N * N, ROUNDS = 61, ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

typedef void Sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                   int ldb, float beta, float *c, int ldc);

static float a[ELEMENTS], b[ELEMENTS], ours[ELEMENTS], theirs[ELEMENTS];
static unsigned char memory[MATMUL_ARENA_SIZE + MATMUL_ARENA_ALIGN];

static void fill(float *x, uint32_t seed)
{
    for (int i = 0; i < ELEMENTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int)(seed >> 16) - 32768) / 32768.0f;
    }
}

/* Time of the processor, so that it does not count while others have it. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *x, const void *y)
{
    double d = *(const double *)x - *(const double *)y;
    return d < 0 ? -1 : d > 0;
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, by_value);
    return times[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    static double mine[ROUNDS], peer[ROUNDS];
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    Sgemm *sgemm = NULL;
    if (library) *(void **)&sgemm = dlsym(library, "cblas_sgemm");
    if (!sgemm || argc < 2) return 77;
    void *arena = memory + (MATMUL_ARENA_ALIGN - (uintptr_t)memory % MATMUL_ARENA_ALIGN) % MATMUL_ARENA_ALIGN;
    const struct matmul_inputs in = { .a = a, .b = b };
    const struct matmul_outputs out = { .c = ours };
    fill(a, 1);
    fill(b, 2);
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        if (matmul_run(arena, &in, &out) != 0) return 1;
        mine[r] = now() - start;
        start = now();
        sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, N, N, N, 1, a, N, b, N, 0, theirs, N);
        peer[r] = now() - start;
    }
    double worst = 0;
    for (int i = 0; i < ELEMENTS; i++) worst = fmax(worst, fabs((double)ours[i] - (double)theirs[i]));
    double us = median(mine), blas = median(peer);
    printf("%-8s ours %6.0f us (%5.1f GFLOP/s)   OpenBLAS %6.0f us   %3.0f %% of its speed   largest difference %.1g\n",
           argv[1], us, 2.0 * N * N * N / us * 1e-3, blas, 100 * blas / us, worst);
    return worst > 1e-3;
}
