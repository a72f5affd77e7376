/* compute_at: compute-at.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [34]
 * Outputs
 *   y                    float    [32]
 *
 * Model's SHA-256: 1b6cd773e15400c17b6eecf2cd2c2a4c7fe495343f1411b09728f4a18a83cbd9
 */
#ifndef COMPUTE_AT_H
#define COMPUTE_AT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMPUTE_AT_MODEL "compute-at.te"
#define COMPUTE_AT_MODEL_SHA256 "1b6cd773e15400c17b6eecf2cd2c2a4c7fe495343f1411b09728f4a18a83cbd9"
#define COMPUTE_AT_TARGET "generic"
#define COMPUTE_AT_OPTIONS ""

#define COMPUTE_AT_ARENA_SIZE   48u     /* bytes of scratch memory compute_at_run needs */
#define COMPUTE_AT_ARENA_ALIGN  16u
#define COMPUTE_AT_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static COMPUTE_AT_ARENA(memory);`, passed as compute_at_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define COMPUTE_AT_ARENA(name) unsigned char name[COMPUTE_AT_ARENA_SIZE] \
    __attribute__((aligned(COMPUTE_AT_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define COMPUTE_AT_ARENA(name) unsigned char name alignas(COMPUTE_AT_ARENA_ALIGN) [COMPUTE_AT_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define COMPUTE_AT_ARENA(name) _Alignas(COMPUTE_AT_ARENA_ALIGN) unsigned char name[COMPUTE_AT_ARENA_SIZE]
#else     /* other C99 compilers: compute_at_run rejects a misaligned arena */
#define COMPUTE_AT_ARENA(name) long double name[7]
#endif

#define COMPUTE_AT_E_ARENA (-1)     /* the arena is null or misaligned */
#define COMPUTE_AT_E_DIM   (-2)     /* a size is outside of its declared range */
#define COMPUTE_AT_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define COMPUTE_AT_INPUTS(X) X(x, float, 34)
#define COMPUTE_AT_OUTPUTS(X) X(y, float, 32)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define COMPUTE_AT_X_TYPE            float
#define COMPUTE_AT_X_RANK            1
#define COMPUTE_AT_X_DIMS            { 34 }
#define COMPUTE_AT_X_ELEMS           34u
#define COMPUTE_AT_X_BYTES           136u
#define COMPUTE_AT_Y_TYPE            float
#define COMPUTE_AT_Y_RANK            1
#define COMPUTE_AT_Y_DIMS            { 32 }
#define COMPUTE_AT_Y_ELEMS           32u
#define COMPUTE_AT_Y_BYTES           128u

struct compute_at_inputs {
    const float *x;
};
struct compute_at_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative COMPUTE_AT_E... code. Reentrant: all state is in the arena. */
int compute_at_run(void *arena, const struct compute_at_inputs *in, const struct compute_at_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
