/* conv_chain_combined: chain_combined.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][32][32][16]
 *   k                    float    [3][3][16][16]
 *   k2                   float    [3][3][16][16]
 * Outputs
 *   y                    float    [1][13][13][16]
 */
#ifndef CONV_CHAIN_COMBINED_H
#define CONV_CHAIN_COMBINED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONV_CHAIN_COMBINED_ARENA_SIZE   14848u     /* bytes of scratch memory conv_chain_combined_run needs */
#define CONV_CHAIN_COMBINED_ARENA_ALIGN  16u
#define CONV_CHAIN_COMBINED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static CONV_CHAIN_COMBINED_ARENA(memory);`, passed as conv_chain_combined_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CONV_CHAIN_COMBINED_ARENA(name) unsigned char name[CONV_CHAIN_COMBINED_ARENA_SIZE] __attribute__((aligned(CONV_CHAIN_COMBINED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CONV_CHAIN_COMBINED_ARENA(name) unsigned char name alignas(CONV_CHAIN_COMBINED_ARENA_ALIGN) [CONV_CHAIN_COMBINED_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CONV_CHAIN_COMBINED_ARENA(name) _Alignas(CONV_CHAIN_COMBINED_ARENA_ALIGN) unsigned char name[CONV_CHAIN_COMBINED_ARENA_SIZE]
#else     /* C99 of another compiler: conv_chain_combined_run refuses an address that is no multiple of CONV_CHAIN_COMBINED_ARENA_ALIGN */
#define CONV_CHAIN_COMBINED_ARENA(name) long double name[1857]
#endif

#define CONV_CHAIN_COMBINED_E_ARENA (-1)     /* the arena is null or misaligned */
#define CONV_CHAIN_COMBINED_E_DIM   (-2)     /* a size is outside of its declared range */
#define CONV_CHAIN_COMBINED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CONV_CHAIN_COMBINED_INPUTS(X) \
    X(x, float, 16384) \
    X(k, float, 2304) \
    X(k2, float, 2304)
#define CONV_CHAIN_COMBINED_OUTPUTS(X) X(y, float, 2704)

struct conv_chain_combined_inputs {
    const float *x;
    const float *k;
    const float *k2;
};
struct conv_chain_combined_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative CONV_CHAIN_COMBINED_E... code. Reentrant: all state is in the arena. */
int conv_chain_combined_run(void *arena, const struct conv_chain_combined_inputs *in,
    const struct conv_chain_combined_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
