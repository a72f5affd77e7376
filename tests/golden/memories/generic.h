/* memories: memories.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [8]
 * Outputs
 *   y                    float    [8]
 *
 * Model's SHA-256: 9aec127eb44b9826442aa3e2df6292c767c4064bd30ef190503f1c10ea0ae29c
 * Options: --memory fast=32,cost=1,section=.fast --memory large=1K,cost=4 --memory flash=1M,rom,section=.flash
 */
#ifndef MEMORIES_H
#define MEMORIES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMORIES_MODEL "memories.te"
#define MEMORIES_MODEL_SHA256 "9aec127eb44b9826442aa3e2df6292c767c4064bd30ef190503f1c10ea0ae29c"
#define MEMORIES_TARGET "generic"
#define MEMORIES_OPTIONS \
    "--memory fast=32,cost=1,section=.fast --memory large=1K,cost=4 --memory flash=1M,rom,section=.flash"

#define MEMORIES_HEADER_HASH  0x127bd170     /* of the interface below; model.c compares it */
#define MEMORIES_FAST_SIZE 32u     /* bytes that memories_run uses there */
#define MEMORIES_FAST_ALIGN 16u
#define MEMORIES_FAST_SECTION ".fast"
#define MEMORIES_LARGE_SIZE 0u     /* bytes that memories_run uses there: the pointer may be NULL */
#define MEMORIES_LARGE_ALIGN 16u
/* The memories: X(name, size, alignment) for each */
#define MEMORIES_MEMORIES(X) X(fast, 32, 16) X(large, 0, 16)

/* MEMORIES_FAST(name) declares an array for that memory: `static MEMORIES_FAST(name);` */
#if defined(__GNUC__) || defined(__TINYC__)
#define MEMORIES_FAST(name) unsigned char name[MEMORIES_FAST_SIZE] \
    __attribute__((aligned(MEMORIES_FAST_ALIGN), section(MEMORIES_FAST_SECTION)))
#endif
#if defined(__GNUC__) || defined(__TINYC__)
#define MEMORIES_LARGE(name) unsigned char name[1] __attribute__((aligned(MEMORIES_LARGE_ALIGN)))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MEMORIES_LARGE(name) _Alignas(MEMORIES_LARGE_ALIGN) unsigned char name[1]
#endif
struct memories_memories {
    void *fast;
    void *large;
};

#define MEMORIES_WEIGHTS_SIZE 32u     /* bytes of constants */

#define MEMORIES_E_ARENA (-1)     /* a memory is null or misaligned */
#define MEMORIES_E_DIM   (-2)     /* a size is outside its declared range */
#define MEMORIES_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define MEMORIES_INPUTS(X) X(x, float, 8)
#define MEMORIES_OUTPUTS(X) X(y, float, 8)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define MEMORIES_X_TYPE              float
#define MEMORIES_X_RANK              1
#define MEMORIES_X_DIMS              { 8 }
#define MEMORIES_X_ELEMS             8u
#define MEMORIES_X_BYTES             32u
#define MEMORIES_Y_TYPE              float
#define MEMORIES_Y_RANK              1
#define MEMORIES_Y_DIMS              { 8 }
#define MEMORIES_Y_ELEMS             8u
#define MEMORIES_Y_BYTES             32u

struct memories_inputs {
    const float *x;
};
struct memories_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative MEMORIES_E... code. Reentrant: mutable data is in the memories and the
 * state.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int memories_run(const struct memories_memories *memory, const struct memories_inputs *in,
    const struct memories_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
