/* scale_into_weights: scale-into-weights.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][3]
 * Outputs
 *   y                    float    [1][4]
 *
 * Model's SHA-256: 36da66dfca627d44e642772a406cb7d9b6f01e7b94a2ff508959ff5195d25403
 */
#ifndef SCALE_INTO_WEIGHTS_H
#define SCALE_INTO_WEIGHTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCALE_INTO_WEIGHTS_MODEL "scale-into-weights.te"
#define SCALE_INTO_WEIGHTS_MODEL_SHA256 "36da66dfca627d44e642772a406cb7d9b6f01e7b94a2ff508959ff5195d25403"
#define SCALE_INTO_WEIGHTS_TARGET "generic"
#define SCALE_INTO_WEIGHTS_OPTIONS ""

#define SCALE_INTO_WEIGHTS_ARENA_SIZE   0u     /* bytes of scratch memory scale_into_weights_run needs */
#define SCALE_INTO_WEIGHTS_ARENA_ALIGN  16u
#define SCALE_INTO_WEIGHTS_WEIGHTS_SIZE 48u     /* bytes of constants */

/* Declares the arena: `static SCALE_INTO_WEIGHTS_ARENA(memory);`, passed as scale_into_weights_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SCALE_INTO_WEIGHTS_ARENA(name) unsigned char name[1] __attribute__((aligned(SCALE_INTO_WEIGHTS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SCALE_INTO_WEIGHTS_ARENA(name) unsigned char name alignas(SCALE_INTO_WEIGHTS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SCALE_INTO_WEIGHTS_ARENA(name) _Alignas(SCALE_INTO_WEIGHTS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: scale_into_weights_run rejects a misaligned arena */
#define SCALE_INTO_WEIGHTS_ARENA(name) long double name[1]
#endif

#define SCALE_INTO_WEIGHTS_E_ARENA (-1)     /* the arena is null or misaligned */
#define SCALE_INTO_WEIGHTS_E_DIM   (-2)     /* a size is outside of its declared range */
#define SCALE_INTO_WEIGHTS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SCALE_INTO_WEIGHTS_INPUTS(X) X(x, float, 3)
#define SCALE_INTO_WEIGHTS_OUTPUTS(X) X(y, float, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SCALE_INTO_WEIGHTS_X_TYPE    float
#define SCALE_INTO_WEIGHTS_X_RANK    2
#define SCALE_INTO_WEIGHTS_X_DIMS    { 1, 3 }
#define SCALE_INTO_WEIGHTS_X_ELEMS   3u
#define SCALE_INTO_WEIGHTS_X_BYTES   12u
#define SCALE_INTO_WEIGHTS_Y_TYPE    float
#define SCALE_INTO_WEIGHTS_Y_RANK    2
#define SCALE_INTO_WEIGHTS_Y_DIMS    { 1, 4 }
#define SCALE_INTO_WEIGHTS_Y_ELEMS   4u
#define SCALE_INTO_WEIGHTS_Y_BYTES   16u

struct scale_into_weights_inputs {
    const float *x;
};
struct scale_into_weights_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SCALE_INTO_WEIGHTS_E... code. Reentrant: all state is in the arena. */
int scale_into_weights_run(void *arena, const struct scale_into_weights_inputs *in,
    const struct scale_into_weights_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
