/* depthwise_pool_concat: depthwise-pool-concat.onnx for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][4][8][8]
 * Outputs
 *   y                    float    [1][8][2][2]
 */
#ifndef DEPTHWISE_POOL_CONCAT_H
#define DEPTHWISE_POOL_CONCAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEPTHWISE_POOL_CONCAT_ARENA_SIZE   384u     /* bytes of scratch memory depthwise_pool_concat_run needs */
#define DEPTHWISE_POOL_CONCAT_ARENA_ALIGN  16u
#define DEPTHWISE_POOL_CONCAT_WEIGHTS_SIZE 144u     /* bytes of constants */

/* Declares the arena: `static DEPTHWISE_POOL_CONCAT_ARENA(memory);`, passed as depthwise_pool_concat_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define DEPTHWISE_POOL_CONCAT_ARENA(name) unsigned char name[DEPTHWISE_POOL_CONCAT_ARENA_SIZE] __attribute__((aligned(DEPTHWISE_POOL_CONCAT_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define DEPTHWISE_POOL_CONCAT_ARENA(name) unsigned char name alignas(DEPTHWISE_POOL_CONCAT_ARENA_ALIGN) [DEPTHWISE_POOL_CONCAT_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define DEPTHWISE_POOL_CONCAT_ARENA(name) _Alignas(DEPTHWISE_POOL_CONCAT_ARENA_ALIGN) unsigned char name[DEPTHWISE_POOL_CONCAT_ARENA_SIZE]
#else     /* C99 of another compiler: depthwise_pool_concat_run refuses an address that is no multiple of DEPTHWISE_POOL_CONCAT_ARENA_ALIGN */
#define DEPTHWISE_POOL_CONCAT_ARENA(name) long double name[49]
#endif

#define DEPTHWISE_POOL_CONCAT_E_ARENA (-1)     /* the arena is null or misaligned */
#define DEPTHWISE_POOL_CONCAT_E_DIM   (-2)     /* a size is outside of its declared range */
#define DEPTHWISE_POOL_CONCAT_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define DEPTHWISE_POOL_CONCAT_INPUTS(X) X(x, float, 256)
#define DEPTHWISE_POOL_CONCAT_OUTPUTS(X) X(y, float, 32)

struct depthwise_pool_concat_inputs {
    const float *x;
};
struct depthwise_pool_concat_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative DEPTHWISE_POOL_CONCAT_E... code. Reentrant: all state is in the arena. */
int depthwise_pool_concat_run(void *arena, const struct depthwise_pool_concat_inputs *in,
    const struct depthwise_pool_concat_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
