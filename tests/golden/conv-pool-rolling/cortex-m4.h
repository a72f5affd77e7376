/* conv_pool_rolling: rolling.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [32][32][16]
 *   k                    float    [3][3][16][16]
 *   bias                 float    [16]
 * Outputs
 *   y                    float    [15][15][16]
 */
#ifndef CONV_POOL_ROLLING_H
#define CONV_POOL_ROLLING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONV_POOL_ROLLING_ARENA_SIZE   7936u     /* bytes of scratch memory conv_pool_rolling_run needs */
#define CONV_POOL_ROLLING_ARENA_ALIGN  16u
#define CONV_POOL_ROLLING_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static CONV_POOL_ROLLING_ARENA(memory);`, passed as conv_pool_rolling_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CONV_POOL_ROLLING_ARENA(name) unsigned char name[CONV_POOL_ROLLING_ARENA_SIZE] __attribute__((aligned(CONV_POOL_ROLLING_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CONV_POOL_ROLLING_ARENA(name) unsigned char name alignas(CONV_POOL_ROLLING_ARENA_ALIGN) [CONV_POOL_ROLLING_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CONV_POOL_ROLLING_ARENA(name) _Alignas(CONV_POOL_ROLLING_ARENA_ALIGN) unsigned char name[CONV_POOL_ROLLING_ARENA_SIZE]
#else     /* C99 of another compiler: conv_pool_rolling_run refuses an address that is no multiple of CONV_POOL_ROLLING_ARENA_ALIGN */
#define CONV_POOL_ROLLING_ARENA(name) long double name[993]
#endif

#define CONV_POOL_ROLLING_E_ARENA (-1)     /* the arena is null or misaligned */
#define CONV_POOL_ROLLING_E_DIM   (-2)     /* a size is outside of its declared range */
#define CONV_POOL_ROLLING_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CONV_POOL_ROLLING_INPUTS(X) \
    X(x, float, 16384) \
    X(k, float, 2304) \
    X(bias, float, 16)
#define CONV_POOL_ROLLING_OUTPUTS(X) X(y, float, 3600)

struct conv_pool_rolling_inputs {
    const float *x;
    const float *k;
    const float *bias;
};
struct conv_pool_rolling_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative CONV_POOL_ROLLING_E... code. Reentrant: all state is in the arena. */
int conv_pool_rolling_run(void *arena, const struct conv_pool_rolling_inputs *in,
    const struct conv_pool_rolling_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
