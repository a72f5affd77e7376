/* conv_norm_relu: conv-norm-relu.onnx for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][2][6][6]
 * Outputs
 *   y                    float    [1][4][6][6]
 */
#ifndef CONV_NORM_RELU_H
#define CONV_NORM_RELU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONV_NORM_RELU_ARENA_SIZE   576u     /* bytes of scratch memory conv_norm_relu_run needs */
#define CONV_NORM_RELU_ARENA_ALIGN  16u
#define CONV_NORM_RELU_WEIGHTS_SIZE 304u     /* bytes of constants */

/* Declares the arena: `static CONV_NORM_RELU_ARENA(memory);`, passed as conv_norm_relu_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CONV_NORM_RELU_ARENA(name) unsigned char name[CONV_NORM_RELU_ARENA_SIZE] __attribute__((aligned(CONV_NORM_RELU_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CONV_NORM_RELU_ARENA(name) unsigned char name alignas(CONV_NORM_RELU_ARENA_ALIGN) [CONV_NORM_RELU_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CONV_NORM_RELU_ARENA(name) _Alignas(CONV_NORM_RELU_ARENA_ALIGN) unsigned char name[CONV_NORM_RELU_ARENA_SIZE]
#else     /* C99 of another compiler: conv_norm_relu_run refuses an address that is no multiple of CONV_NORM_RELU_ARENA_ALIGN */
#define CONV_NORM_RELU_ARENA(name) long double name[73]
#endif

#define CONV_NORM_RELU_E_ARENA (-1)     /* the arena is null or misaligned */
#define CONV_NORM_RELU_E_DIM   (-2)     /* a size is outside of its declared range */
#define CONV_NORM_RELU_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CONV_NORM_RELU_INPUTS(X) X(x, float, 72)
#define CONV_NORM_RELU_OUTPUTS(X) X(y, float, 144)

struct conv_norm_relu_inputs {
    const float *x;
};
struct conv_norm_relu_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative CONV_NORM_RELU_E... code. Reentrant: all state is in the arena. */
int conv_norm_relu_run(void *arena, const struct conv_norm_relu_inputs *in, const struct conv_norm_relu_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
