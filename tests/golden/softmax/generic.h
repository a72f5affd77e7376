/* softmax: softmax.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [3][10]
 * Outputs
 *   y                    float    [3][10]
 *
 * Model's SHA-256: 0e9e08aa59d4c6a88e4012ab0b167ede7b7a4eb3d1ce2b53a1d3b5210eafa906
 */
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTMAX_MODEL "softmax.te"
#define SOFTMAX_MODEL_SHA256 "0e9e08aa59d4c6a88e4012ab0b167ede7b7a4eb3d1ce2b53a1d3b5210eafa906"
#define SOFTMAX_TARGET "generic"
#define SOFTMAX_OPTIONS ""

#define SOFTMAX_ARENA_SIZE   0u     /* bytes of scratch memory softmax_run needs */
#define SOFTMAX_ARENA_ALIGN  16u
#define SOFTMAX_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SOFTMAX_ARENA(memory);`, passed as softmax_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SOFTMAX_ARENA(name) unsigned char name[1] __attribute__((aligned(SOFTMAX_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SOFTMAX_ARENA(name) unsigned char name alignas(SOFTMAX_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SOFTMAX_ARENA(name) _Alignas(SOFTMAX_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: softmax_run rejects a misaligned arena */
#define SOFTMAX_ARENA(name) long double name[1]
#endif

#define SOFTMAX_E_ARENA (-1)     /* the arena is null or misaligned */
#define SOFTMAX_E_DIM   (-2)     /* a size is outside of its declared range */
#define SOFTMAX_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SOFTMAX_INPUTS(X) X(x, float, 30)
#define SOFTMAX_OUTPUTS(X) X(y, float, 30)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SOFTMAX_X_TYPE               float
#define SOFTMAX_X_RANK               2
#define SOFTMAX_X_DIMS               { 3, 10 }
#define SOFTMAX_X_ELEMS              30u
#define SOFTMAX_X_BYTES              120u
#define SOFTMAX_Y_TYPE               float
#define SOFTMAX_Y_RANK               2
#define SOFTMAX_Y_DIMS               { 3, 10 }
#define SOFTMAX_Y_ELEMS              30u
#define SOFTMAX_Y_BYTES              120u

struct softmax_inputs {
    const float *x;
};
struct softmax_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SOFTMAX_E... code. Reentrant: all state is in the arena. */
int softmax_run(void *arena, const struct softmax_inputs *in, const struct softmax_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
