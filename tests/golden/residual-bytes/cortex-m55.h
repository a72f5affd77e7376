/* residual_bytes: residual-bytes.te for cortex-m55, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][1][2][32]
 *   r                    int8_t   [1][1][2][32]
 *   w                    int8_t   [32][32]
 *   b                    int32_t  [32]
 * Outputs
 *   y                    int8_t   [1][1][2][32]
 */
#ifndef RESIDUAL_BYTES_H
#define RESIDUAL_BYTES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESIDUAL_BYTES_ARENA_SIZE   0u     /* bytes of scratch memory residual_bytes_run needs */
#define RESIDUAL_BYTES_ARENA_ALIGN  16u
#define RESIDUAL_BYTES_WEIGHTS_SIZE 0u     /* bytes of constants */

#define RESIDUAL_BYTES_E_ARENA (-1)     /* the arena is null or misaligned */
#define RESIDUAL_BYTES_E_DIM   (-2)     /* a size is outside of its declared range */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RESIDUAL_BYTES_INPUTS(X) \
    X(x, int8_t, 64) \
    X(r, int8_t, 64) \
    X(w, int8_t, 1024) \
    X(b, int32_t, 32)
#define RESIDUAL_BYTES_OUTPUTS(X) X(y, int8_t, 64)

struct residual_bytes_inputs {
    const int8_t *x;
    const int8_t *r;
    const int8_t *w;
    const int32_t *b;
};
struct residual_bytes_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative RESIDUAL_BYTES_E... code. Reentrant: all state is in the arena. */
int residual_bytes_run(void *arena, const struct residual_bytes_inputs *in, const struct residual_bytes_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
