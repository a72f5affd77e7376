/* recurrence: recurrence.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [8][3]
 * Outputs
 *   y                    float    [8][3]
 *
 * Model's SHA-256: 3a0a883a523e2950303807555633e7cce100a849e220c9f83fb49d7fb9a8a9c2
 */
#ifndef RECURRENCE_H
#define RECURRENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RECURRENCE_MODEL "recurrence.te"
#define RECURRENCE_MODEL_SHA256 "3a0a883a523e2950303807555633e7cce100a849e220c9f83fb49d7fb9a8a9c2"
#define RECURRENCE_TARGET "generic"
#define RECURRENCE_OPTIONS ""

#define RECURRENCE_ARENA_SIZE   0u     /* bytes of scratch memory recurrence_run needs */
#define RECURRENCE_ARENA_ALIGN  16u
#define RECURRENCE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RECURRENCE_ARENA(memory);`, passed as recurrence_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RECURRENCE_ARENA(name) unsigned char name[1] __attribute__((aligned(RECURRENCE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RECURRENCE_ARENA(name) unsigned char name alignas(RECURRENCE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RECURRENCE_ARENA(name) _Alignas(RECURRENCE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: recurrence_run rejects a misaligned arena */
#define RECURRENCE_ARENA(name) long double name[1]
#endif

#define RECURRENCE_E_ARENA (-1)     /* the arena is null or misaligned */
#define RECURRENCE_E_DIM   (-2)     /* a size is outside of its declared range */
#define RECURRENCE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RECURRENCE_INPUTS(X) X(x, float, 24)
#define RECURRENCE_OUTPUTS(X) X(y, float, 24)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define RECURRENCE_X_TYPE            float
#define RECURRENCE_X_RANK            2
#define RECURRENCE_X_DIMS            { 8, 3 }
#define RECURRENCE_X_ELEMS           24u
#define RECURRENCE_X_BYTES           96u
#define RECURRENCE_Y_TYPE            float
#define RECURRENCE_Y_RANK            2
#define RECURRENCE_Y_DIMS            { 8, 3 }
#define RECURRENCE_Y_ELEMS           24u
#define RECURRENCE_Y_BYTES           96u

struct recurrence_inputs {
    const float *x;
};
struct recurrence_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative RECURRENCE_E... code. Reentrant: all state is in the arena. */
int recurrence_run(void *arena, const struct recurrence_inputs *in, const struct recurrence_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
