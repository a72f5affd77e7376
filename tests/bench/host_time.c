/* SPDX-License-Identifier: MIT */
/* host_time IN.npy OUT.npy MILLISECONDS: nanoseconds for one inference of the linked network, the mean over about that
 * many milliseconds; then the number of output elements that are not close to the recorded ones, so a fast wrong answer
 * is noticed. The same file drives both sides of the comparison:
 *
 *   MODEL, MODEL_UPPER, MODEL_HEADER   the network emitted by Loopwright; with PEER the header is used for sizes alone
 *   STEP                               of the grid of a quantized model's outputs, else 0
 *   PEER                               a function entry(input, output), as onnx2c emits it */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include MODEL_HEADER

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)

#define COUNT(name, type, count) count,
static const size_t input_elems[] = { JOIN(MODEL_UPPER, _INPUTS)(COUNT) };
static const size_t output_elems[] = { JOIN(MODEL_UPPER, _OUTPUTS)(COUNT) };

static float *input, *output;
void infer(void);                    /* not static, so that a counter of instructions finds it */

#ifdef PEER
void entry(const float *in, float *out);
static void prepare(void) {}
void infer(void) { entry(input, output); }
#else
enum { ARENA_SIZE = JOIN(MODEL_UPPER, _ARENA_SIZE), ARENA_ALIGN = JOIN(MODEL_UPPER, _ARENA_ALIGN) };
static unsigned char memory[ARENA_SIZE + ARENA_ALIGN];
static void *arena;
static struct JOIN(MODEL, _inputs) in;
static struct JOIN(MODEL, _outputs) out;

static void prepare(void)
{
    arena = memory + (ARENA_ALIGN - (uintptr_t)memory % ARENA_ALIGN) % ARENA_ALIGN;
#define BIND_INPUT(name, type, count) in.name = input;
    JOIN(MODEL_UPPER, _INPUTS)(BIND_INPUT)
#define BIND_OUTPUT(name, type, count) out.name = output;
    JOIN(MODEL_UPPER, _OUTPUTS)(BIND_OUTPUT)
}

void infer(void) { JOIN(MODEL, _run)(arena, &in, &out); }
#endif

static float *read_floats(const char *path, size_t elems)
{
    unsigned char start[10];
    float *data = malloc(elems * sizeof *data);
    FILE *f = fopen(path, "rb");
    if (!data || !f || fread(start, 1, 10, f) != 10 || fseek(f, start[8] + 256L * start[9], SEEK_CUR) != 0 ||
        fread(data, sizeof *data, elems, f) != elems) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(f);
    return data;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(long runs)
{
    double start = now();
    for (long i = 0; i < runs; i++) infer();
    return now() - start;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    double wanted = atof(argv[3]) * 1e6, took;
    long runs = 1, wrong = 0;
    input = read_floats(argv[1], input_elems[0]);
    float *expected = read_floats(argv[2], output_elems[0]);
    output = calloc(output_elems[0] + 65536, sizeof *output);    /* some peers take an output for larger than it is */
    if (!output) return 2;
    prepare();
    infer();
    while ((took = time_of(runs)) < wanted)
        runs = took < wanted / 16 ? runs * 8 : (long)((double)runs * wanted / took * 1.2) + 1;
    for (size_t i = 0; i < output_elems[0]; i++)
        wrong += !(fabsf(output[i] - expected[i]) <= STEP + 1e-4f + 1e-3f * fabsf(expected[i]));
    printf("%.1f %ld\n", took / (double)runs, wrong);
    return 0;
}
