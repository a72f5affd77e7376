/* in_place: in-place.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 * Outputs
 *   z                    float    [1][6]
 */
#ifndef IN_PLACE_H
#define IN_PLACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IN_PLACE_ARENA_SIZE   0u     /* bytes of scratch memory in_place_run needs */
#define IN_PLACE_ARENA_ALIGN  16u
#define IN_PLACE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static IN_PLACE_ARENA(memory);`, passed as in_place_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define IN_PLACE_ARENA(name) unsigned char name[1] __attribute__((aligned(IN_PLACE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define IN_PLACE_ARENA(name) unsigned char name alignas(IN_PLACE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define IN_PLACE_ARENA(name) _Alignas(IN_PLACE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: in_place_run rejects a misaligned arena */
#define IN_PLACE_ARENA(name) long double name[1]
#endif

#define IN_PLACE_E_ARENA (-1)     /* the arena is null or misaligned */
#define IN_PLACE_E_DIM   (-2)     /* a size is outside of its declared range */
#define IN_PLACE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define IN_PLACE_INPUTS(X) X(x, float, 6)
#define IN_PLACE_OUTPUTS(X) X(z, float, 6)

struct in_place_inputs {
    const float *x;
};
struct in_place_outputs {
    float *z;
};

/* Runs the model once. Returns 0, or a negative IN_PLACE_E... code. Reentrant: all state is in the arena. */
int in_place_run(void *arena, const struct in_place_inputs *in, const struct in_place_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
