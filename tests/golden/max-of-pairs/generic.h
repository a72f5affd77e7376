/* max_of_pairs: max-of-pairs.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [5][7]
 * Outputs
 *   i                    float    [5]
 */
#ifndef MAX_OF_PAIRS_H
#define MAX_OF_PAIRS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_OF_PAIRS_ARENA_SIZE   32u     /* bytes of scratch memory max_of_pairs_run needs */
#define MAX_OF_PAIRS_ARENA_ALIGN  16u
#define MAX_OF_PAIRS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static MAX_OF_PAIRS_ARENA(memory);`, passed as max_of_pairs_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define MAX_OF_PAIRS_ARENA(name) unsigned char name[MAX_OF_PAIRS_ARENA_SIZE] __attribute__((aligned(MAX_OF_PAIRS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define MAX_OF_PAIRS_ARENA(name) unsigned char name alignas(MAX_OF_PAIRS_ARENA_ALIGN) [MAX_OF_PAIRS_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MAX_OF_PAIRS_ARENA(name) _Alignas(MAX_OF_PAIRS_ARENA_ALIGN) unsigned char name[MAX_OF_PAIRS_ARENA_SIZE]
#else     /* other C99 compilers: max_of_pairs_run rejects a misaligned arena */
#define MAX_OF_PAIRS_ARENA(name) long double name[5]
#endif

#define MAX_OF_PAIRS_E_ARENA (-1)     /* the arena is null or misaligned */
#define MAX_OF_PAIRS_E_DIM   (-2)     /* a size is outside of its declared range */
#define MAX_OF_PAIRS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define MAX_OF_PAIRS_INPUTS(X) X(x, float, 35)
#define MAX_OF_PAIRS_OUTPUTS(X) X(i, float, 5)

struct max_of_pairs_inputs {
    const float *x;
};
struct max_of_pairs_outputs {
    float *i;
};

/* Runs the model once. Returns 0, or a negative MAX_OF_PAIRS_E... code. Reentrant: all state is in the arena. */
int max_of_pairs_run(void *arena, const struct max_of_pairs_inputs *in, const struct max_of_pairs_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
