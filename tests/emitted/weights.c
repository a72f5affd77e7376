/* SPDX-License-Identifier: MIT */
/* weights.c FILE: NAME_run and NAME_check_weights accept the file of weights, and refuse a null or misaligned address,
 * a short file, one with a damaged element, and one with another structure or CRC. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "one.h"

#define INPUT(name, type, count) static type in_##name[count];
#define OUTPUT(name, type, count) static type out_##name[count];
ONE_INPUTS(INPUT)
ONE_OUTPUTS(OUTPUT)

static ONE_ARENA(arena);
static union { double aligns[2]; uint8_t bytes[ONE_WEIGHTS_FILE_SIZE + 32]; } memory;

static int failures;

static void expect(const char *what, int got, int wanted)
{
    if (got != wanted) printf("%s: %d, not %d\n", what, got, wanted);
    failures += got != wanted;
}

static int run(const uint8_t *weights)
{
    struct one_inputs in;
    struct one_outputs out;
#define SET_INPUT(name, type, count) in.name = in_##name;
#define SET_OUTPUT(name, type, count) out.name = out_##name;
    ONE_INPUTS(SET_INPUT)
    ONE_OUTPUTS(SET_OUTPUT)
    return one_run(arena, weights, &in, &out);
}

int main(int argc, char **argv)
{
    const uint32_t size = ONE_WEIGHTS_FILE_SIZE;
    uint8_t *weights = memory.bytes + (16 - (uintptr_t)memory.bytes % 16) % 16;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f || fread(weights, 1, size, f) != size || fgetc(f) != EOF) return 1;
    fclose(f);
    expect("run", run(weights), 0);
    expect("check", one_check_weights(weights, size), 0);
    expect("run of NULL", run(NULL), ONE_E_WEIGHTS);
    expect("check of NULL", one_check_weights(NULL, size), ONE_E_WEIGHTS);
    expect("check of a short file", one_check_weights(weights, size - 1), ONE_E_WEIGHTS);
    weights[size / 2] ^= 4;
    expect("check of a damaged element", one_check_weights(weights, size), ONE_E_WEIGHTS);
    weights[size / 2] ^= 4;
    weights[24] ^= 1;
    expect("run of another structure", run(weights), ONE_E_WEIGHTS);
    expect("check of another structure", one_check_weights(weights, size), ONE_E_WEIGHTS);
    weights[24] ^= 1;
    weights[30] ^= 1;
    expect("check of another CRC", one_check_weights(weights, size), ONE_E_WEIGHTS);
    weights[30] ^= 1;
    memmove(weights + 4, weights, size);
    expect("run of a misaligned file", run(weights + 4), ONE_E_WEIGHTS);
    expect("check of a misaligned file", one_check_weights(weights + 4, size), ONE_E_WEIGHTS);
    return failures != 0;
}
