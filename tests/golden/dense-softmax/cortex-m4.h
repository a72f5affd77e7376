/* dense_softmax: dense-softmax.onnx for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][8]
 * Outputs
 *   y                    float    [1][4]
 */
#ifndef DENSE_SOFTMAX_H
#define DENSE_SOFTMAX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DENSE_SOFTMAX_ARENA_SIZE   16u     /* bytes of scratch memory dense_softmax_run needs */
#define DENSE_SOFTMAX_ARENA_ALIGN  16u
#define DENSE_SOFTMAX_WEIGHTS_SIZE 144u     /* bytes of constants */

/* Declares the arena: `static DENSE_SOFTMAX_ARENA(memory);`, passed as dense_softmax_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define DENSE_SOFTMAX_ARENA(name) unsigned char name[DENSE_SOFTMAX_ARENA_SIZE] __attribute__((aligned(DENSE_SOFTMAX_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define DENSE_SOFTMAX_ARENA(name) unsigned char name alignas(DENSE_SOFTMAX_ARENA_ALIGN) [DENSE_SOFTMAX_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define DENSE_SOFTMAX_ARENA(name) _Alignas(DENSE_SOFTMAX_ARENA_ALIGN) unsigned char name[DENSE_SOFTMAX_ARENA_SIZE]
#else     /* C99 of another compiler: dense_softmax_run refuses an address that is no multiple of DENSE_SOFTMAX_ARENA_ALIGN */
#define DENSE_SOFTMAX_ARENA(name) long double name[3]
#endif

#define DENSE_SOFTMAX_E_ARENA (-1)     /* the arena is null or misaligned */
#define DENSE_SOFTMAX_E_DIM   (-2)     /* a size is outside of its declared range */
#define DENSE_SOFTMAX_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define DENSE_SOFTMAX_INPUTS(X) X(x, float, 8)
#define DENSE_SOFTMAX_OUTPUTS(X) X(y, float, 4)

struct dense_softmax_inputs {
    const float *x;
};
struct dense_softmax_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative DENSE_SOFTMAX_E... code. Reentrant: all state is in the arena. */
int dense_softmax_run(void *arena, const struct dense_softmax_inputs *in, const struct dense_softmax_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
