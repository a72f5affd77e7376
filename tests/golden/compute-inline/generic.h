/* compute_inline: compute-inline.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [20]
 * Outputs
 *   y                    float    [20]
 *
 * Model's SHA-256: 594ada9094d2b81ac9d59853f1df1dc162294c51a5ec586258d506a4d6c71ea1
 */
#ifndef COMPUTE_INLINE_H
#define COMPUTE_INLINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMPUTE_INLINE_MODEL "compute-inline.te"
#define COMPUTE_INLINE_MODEL_SHA256 "594ada9094d2b81ac9d59853f1df1dc162294c51a5ec586258d506a4d6c71ea1"
#define COMPUTE_INLINE_TARGET "generic"
#define COMPUTE_INLINE_OPTIONS ""

#define COMPUTE_INLINE_ARENA_SIZE   0u     /* bytes of scratch memory compute_inline_run needs */
#define COMPUTE_INLINE_ARENA_ALIGN  16u
#define COMPUTE_INLINE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static COMPUTE_INLINE_ARENA(memory);`, passed as compute_inline_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define COMPUTE_INLINE_ARENA(name) unsigned char name[1] __attribute__((aligned(COMPUTE_INLINE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define COMPUTE_INLINE_ARENA(name) unsigned char name alignas(COMPUTE_INLINE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define COMPUTE_INLINE_ARENA(name) _Alignas(COMPUTE_INLINE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: compute_inline_run rejects a misaligned arena */
#define COMPUTE_INLINE_ARENA(name) long double name[1]
#endif

#define COMPUTE_INLINE_E_ARENA (-1)     /* the arena is null or misaligned */
#define COMPUTE_INLINE_E_DIM   (-2)     /* a size is outside of its declared range */
#define COMPUTE_INLINE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define COMPUTE_INLINE_INPUTS(X) X(x, float, 20)
#define COMPUTE_INLINE_OUTPUTS(X) X(y, float, 20)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define COMPUTE_INLINE_X_TYPE        float
#define COMPUTE_INLINE_X_RANK        1
#define COMPUTE_INLINE_X_DIMS        { 20 }
#define COMPUTE_INLINE_X_ELEMS       20u
#define COMPUTE_INLINE_X_BYTES       80u
#define COMPUTE_INLINE_Y_TYPE        float
#define COMPUTE_INLINE_Y_RANK        1
#define COMPUTE_INLINE_Y_DIMS        { 20 }
#define COMPUTE_INLINE_Y_ELEMS       20u
#define COMPUTE_INLINE_Y_BYTES       80u

struct compute_inline_inputs {
    const float *x;
};
struct compute_inline_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative COMPUTE_INLINE_E... code. Reentrant: all state is in the arena. */
int compute_inline_run(void *arena, const struct compute_inline_inputs *in, const struct compute_inline_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
