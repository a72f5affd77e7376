/* pack_weights: pack-weights.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [6]
 * Outputs
 *   y                    float    [8]
 */
#ifndef PACK_WEIGHTS_H
#define PACK_WEIGHTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACK_WEIGHTS_ARENA_SIZE   0u     /* bytes of scratch memory pack_weights_run needs */
#define PACK_WEIGHTS_ARENA_ALIGN  16u
#define PACK_WEIGHTS_WEIGHTS_SIZE 192u     /* bytes of constants */

/* Declares the arena: `static PACK_WEIGHTS_ARENA(memory);`, passed as pack_weights_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PACK_WEIGHTS_ARENA(name) unsigned char name[1] __attribute__((aligned(PACK_WEIGHTS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PACK_WEIGHTS_ARENA(name) unsigned char name alignas(PACK_WEIGHTS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PACK_WEIGHTS_ARENA(name) _Alignas(PACK_WEIGHTS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: pack_weights_run rejects a misaligned arena */
#define PACK_WEIGHTS_ARENA(name) long double name[1]
#endif

#define PACK_WEIGHTS_E_ARENA (-1)     /* the arena is null or misaligned */
#define PACK_WEIGHTS_E_DIM   (-2)     /* a size is outside of its declared range */
#define PACK_WEIGHTS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PACK_WEIGHTS_INPUTS(X) X(x, float, 6)
#define PACK_WEIGHTS_OUTPUTS(X) X(y, float, 8)

struct pack_weights_inputs {
    const float *x;
};
struct pack_weights_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PACK_WEIGHTS_E... code. Reentrant: all state is in the arena. */
int pack_weights_run(void *arena, const struct pack_weights_inputs *in, const struct pack_weights_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
