/* depthwise_pool_concat: depthwise-pool-concat.onnx for generic, emitted by Loopwright.
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

#define DEPTHWISE_POOL_CONCAT_E_ARENA (-1)     /* the arena is null or misaligned */
#define DEPTHWISE_POOL_CONCAT_E_DIM   (-2)     /* a size is outside of its declared range */

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
int depthwise_pool_concat_run(void *arena, const struct depthwise_pool_concat_inputs *in, const struct depthwise_pool_concat_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
