/* SPDX-License-Identifier: MIT */
/* twins COUNT [SEED]: runs two programs of one int8 model, `whole` and `less`, on COUNT inputs and compares every
 * output byte. Inputs alternate: extremes (one value, two alternating values, blocks and spikes of them), slopes, low
 * contrast, noise over all values, and mostly saturated noise. Status 1 at the first difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "less.h"
#include "whole.h"

#define BYTES(name, type, count) (count) * sizeof(type) +
enum { IN = WHOLE_INPUTS(BYTES) 0, OUT = WHOLE_OUTPUTS(BYTES) 0, KINDS = 9 };

static uint32_t next(uint32_t *seed) { return (*seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8; }

static int8_t value(int kind, int32_t i, int32_t size, int32_t a, int32_t b, uint32_t *seed)
{
    switch (kind) {
    case 0: return (int8_t)a;
    case 1: return (int8_t)(i % 2 ? a : b);
    case 2: return (int8_t)(i / size % 2 ? 127 : -128);
    case 3: return (int8_t)(next(seed) % 97 ? a : b);
    case 4: return (int8_t)(a + (int32_t)((int64_t)i * (b - a) / IN));
    case 5: return (int8_t)((a + (int32_t)(next(seed) % 8)) / 2);
    case 6: return (int8_t)(next(seed) % 3 ? (next(seed) % 2 ? 127 : -128) : a);
    default: return (int8_t)((int32_t)(next(seed) % 256) - 128);
    }
}

/* The first runs have a and b at the ends of the range; the others have them anywhere. */
static void fill(int8_t *at, long run, uint32_t *seed)
{
    static const int8_t ends[] = { -128, 127, 0, -1, 1, -127, 126 };
    const int kind = (int)(run % KINDS);
    const long turn = run / KINDS;
    const int32_t a = turn < 49 ? ends[turn % 7] : (int32_t)(next(seed) % 256) - 128,
                  b = turn < 49 ? ends[turn / 7] : (int32_t)(next(seed) % 256) - 128;
    const int32_t size = 1 + (int32_t)(next(seed) % 300);
    for (int32_t i = 0; i < IN; i++) at[i] = value(kind, i, size, a, b, seed);
}

#define POINT_IN(name, type, count)  .name = (const type *)in,
#define POINT_OUT(name, type, count) .name = (type *)out,
static int8_t in[IN], out[OUT], other[OUT];
static unsigned char arena[2][(WHOLE_ARENA_SIZE > LESS_ARENA_SIZE ? WHOLE_ARENA_SIZE : LESS_ARENA_SIZE) + 64];

static unsigned char *aligned(unsigned char *p) { return p + (64 - (uintptr_t)p % 64) % 64; }

static void run_whole(void)
{
    const struct whole_inputs i = { WHOLE_INPUTS(POINT_IN) };
    const struct whole_outputs o = { WHOLE_OUTPUTS(POINT_OUT) };
    if (whole_run(aligned(arena[0]), &i, &o) != 0) exit(3);
}

static void run_less(void)
{
    const struct less_inputs i = { LESS_INPUTS(POINT_IN) };
    const struct less_outputs o = { LESS_OUTPUTS(POINT_OUT) };
    if (less_run(aligned(arena[1]), &i, &o) != 0) exit(3);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1000;
    uint32_t seed = argc > 2 ? (uint32_t)atol(argv[2]) : 1;
    /* Outputs other than the first: a test of inputs that all lead to one proves little */
    long different = 0;
    int8_t first[OUT];
    for (long k = 0; k < count; k++) {
        fill(in, k, &seed);
        run_whole();
        memcpy(other, out, OUT);
        run_less();
        if (memcmp(out, other, OUT) != 0) {
            printf("input %ld of seed %s: the outputs differ\n", k, argc > 2 ? argv[2] : "1");
            return 1;
        }
        if (k == 0) memcpy(first, out, OUT);
        different += memcmp(out, first, OUT) != 0;
    }
    printf("%ld inputs, the same bytes; %ld of the outputs are not the first one\n", count, different);
    return different == 0;
}
