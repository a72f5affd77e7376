/* rfactor: rfactor.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [4][32]
 * Outputs
 *   s                    float    [4]
 *
 * Model's SHA-256: c3935109bd934c745fc28b9b70cc9e4f262746426fd9585eab9032969d203d68
 */
#ifndef RFACTOR_H
#define RFACTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RFACTOR_MODEL "rfactor.te"
#define RFACTOR_MODEL_SHA256 "c3935109bd934c745fc28b9b70cc9e4f262746426fd9585eab9032969d203d68"
#define RFACTOR_TARGET "generic"
#define RFACTOR_OPTIONS ""

#define RFACTOR_ARENA_SIZE   128u     /* bytes of scratch memory rfactor_run needs */
#define RFACTOR_ARENA_ALIGN  16u
#define RFACTOR_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RFACTOR_ARENA(memory);`, passed as rfactor_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RFACTOR_ARENA(name) unsigned char name[RFACTOR_ARENA_SIZE] __attribute__((aligned(RFACTOR_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RFACTOR_ARENA(name) unsigned char name alignas(RFACTOR_ARENA_ALIGN) [RFACTOR_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RFACTOR_ARENA(name) _Alignas(RFACTOR_ARENA_ALIGN) unsigned char name[RFACTOR_ARENA_SIZE]
#else     /* other C99 compilers: rfactor_run rejects a misaligned arena */
#define RFACTOR_ARENA(name) long double name[17]
#endif

#define RFACTOR_E_ARENA (-1)     /* the arena is null or misaligned */
#define RFACTOR_E_DIM   (-2)     /* a size is outside of its declared range */
#define RFACTOR_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RFACTOR_INPUTS(X) X(x, float, 128)
#define RFACTOR_OUTPUTS(X) X(s, float, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define RFACTOR_X_TYPE               float
#define RFACTOR_X_RANK               2
#define RFACTOR_X_DIMS               { 4, 32 }
#define RFACTOR_X_ELEMS              128u
#define RFACTOR_X_BYTES              512u
#define RFACTOR_S_TYPE               float
#define RFACTOR_S_RANK               1
#define RFACTOR_S_DIMS               { 4 }
#define RFACTOR_S_ELEMS              4u
#define RFACTOR_S_BYTES              16u

struct rfactor_inputs {
    const float *x;
};
struct rfactor_outputs {
    float *s;
};

/* Runs the model once. Returns 0, or a negative RFACTOR_E... code. Reentrant: all state is in the arena. */
int rfactor_run(void *arena, const struct rfactor_inputs *in, const struct rfactor_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
