/* reverse_compute_at: reverse-compute-at.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [6][4]
 * Outputs
 *   y                    float    [6][4]
 *
 * Model's SHA-256: 86ea2f2007d014371ac6d026542c2e35027da0b4ff43e1beab9e91adc57a5ff8
 */
#ifndef REVERSE_COMPUTE_AT_H
#define REVERSE_COMPUTE_AT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REVERSE_COMPUTE_AT_MODEL "reverse-compute-at.te"
#define REVERSE_COMPUTE_AT_MODEL_SHA256 "86ea2f2007d014371ac6d026542c2e35027da0b4ff43e1beab9e91adc57a5ff8"
#define REVERSE_COMPUTE_AT_TARGET "generic"
#define REVERSE_COMPUTE_AT_OPTIONS ""

#define REVERSE_COMPUTE_AT_ARENA_SIZE   96u     /* bytes of scratch memory reverse_compute_at_run needs */
#define REVERSE_COMPUTE_AT_ARENA_ALIGN  16u
#define REVERSE_COMPUTE_AT_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static REVERSE_COMPUTE_AT_ARENA(memory);`, passed as reverse_compute_at_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define REVERSE_COMPUTE_AT_ARENA(name) unsigned char name[REVERSE_COMPUTE_AT_ARENA_SIZE] \
    __attribute__((aligned(REVERSE_COMPUTE_AT_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define REVERSE_COMPUTE_AT_ARENA(name) unsigned char name alignas(REVERSE_COMPUTE_AT_ARENA_ALIGN) \
    [REVERSE_COMPUTE_AT_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define REVERSE_COMPUTE_AT_ARENA(name) _Alignas(REVERSE_COMPUTE_AT_ARENA_ALIGN) unsigned char \
    name[REVERSE_COMPUTE_AT_ARENA_SIZE]
#else     /* other C99 compilers: reverse_compute_at_run rejects a misaligned arena */
#define REVERSE_COMPUTE_AT_ARENA(name) long double name[13]
#endif

#define REVERSE_COMPUTE_AT_E_ARENA (-1)     /* the arena is null or misaligned */
#define REVERSE_COMPUTE_AT_E_DIM   (-2)     /* a size is outside of its declared range */
#define REVERSE_COMPUTE_AT_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define REVERSE_COMPUTE_AT_INPUTS(X) X(a, float, 24)
#define REVERSE_COMPUTE_AT_OUTPUTS(X) X(y, float, 24)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define REVERSE_COMPUTE_AT_A_TYPE    float
#define REVERSE_COMPUTE_AT_A_RANK    2
#define REVERSE_COMPUTE_AT_A_DIMS    { 6, 4 }
#define REVERSE_COMPUTE_AT_A_ELEMS   24u
#define REVERSE_COMPUTE_AT_A_BYTES   96u
#define REVERSE_COMPUTE_AT_Y_TYPE    float
#define REVERSE_COMPUTE_AT_Y_RANK    2
#define REVERSE_COMPUTE_AT_Y_DIMS    { 6, 4 }
#define REVERSE_COMPUTE_AT_Y_ELEMS   24u
#define REVERSE_COMPUTE_AT_Y_BYTES   96u

struct reverse_compute_at_inputs {
    const float *a;
};
struct reverse_compute_at_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative REVERSE_COMPUTE_AT_E... code. Reentrant: all state is in the arena. */
int reverse_compute_at_run(void *arena, const struct reverse_compute_at_inputs *in,
    const struct reverse_compute_at_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
