/* SPDX-License-Identifier: MIT */
/* One kernel, k.c: prints the time of a run in microseconds, that of the peer in peers.c (with PEER, measured
 * alternately), the largest difference of their results relative to the largest result, and the bytes of the arena. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "k.h"

enum { ROUNDS = 31, RUNS = 4 };

#define ARRAY(name, type, count) static type in_##name[count];
K_INPUTS(ARRAY)
#undef ARRAY
#define ARRAY(name, type, count) static type out_##name[count], peer_##name[count];
K_OUTPUTS(ARRAY)

static unsigned char memory[K_ARENA_SIZE + K_ARENA_ALIGN];

#ifdef PEER
void peer(const struct k_inputs *in, const struct k_outputs *out);
#endif

/* Time of the processor: it does not count while others have it. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *x, const void *y)
{
    const double d = *(const double *)x - *(const double *)y;
    return d < 0 ? -1 : d > 0;
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, by_value);
    return times[ROUNDS / 2];
}

static uint32_t seed = 1;
static int next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 24);
}

int main(void)
{
    static double ours[ROUNDS], theirs[ROUNDS];
    double most = 0, differs = 0;
    void *arena = memory + (K_ARENA_ALIGN - (uintptr_t)memory % K_ARENA_ALIGN) % K_ARENA_ALIGN;
    /* bytes from 0 to 255, and small floats: products of many stay finite */
#define FILL(name, type, count) \
    for (long i = 0; i < (count); i++) \
        in_##name[i] = (type)0.5 != (type)0 ? (type)((next() - 128) / (type)4096) : (type)next();
    K_INPUTS(FILL)
#define POINTER(name, type, count) in_##name,
    const struct k_inputs in = { K_INPUTS(POINTER) };
#undef POINTER
#define POINTER(name, type, count) out_##name,
    const struct k_outputs out = { K_OUTPUTS(POINTER) };
#undef POINTER
#define POINTER(name, type, count) peer_##name,
    const struct k_outputs expected = { K_OUTPUTS(POINTER) };
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int i = 0; i < RUNS; i++)
            if (k_run(arena, &in, &out)) return 1;
        ours[r] = (now() - start) / RUNS;
#ifdef PEER
        start = now();
        for (int i = 0; i < RUNS; i++) peer(&in, &expected);
        theirs[r] = (now() - start) / RUNS;
#else
        (void)expected;
#endif
    }
#define COMPARE(name, type, count) \
    for (long i = 0; i < (count); i++) { \
        most = fmax(most, fabs((double)out_##name[i])); \
        differs = fmax(differs, fabs((double)out_##name[i] - (double)peer_##name[i])); \
    }
    K_OUTPUTS(COMPARE)
    printf("%.2f %.2f %.1e %lu\n", median(ours), median(theirs), differs / most, (unsigned long)K_ARENA_SIZE);
    return 0;
}
