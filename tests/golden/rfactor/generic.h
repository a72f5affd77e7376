/* rfactor: rfactor.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [4][32]
 * Outputs
 *   s                    float    [4]
 */
#ifndef RFACTOR_H
#define RFACTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RFACTOR_ARENA_SIZE   128u     /* bytes of scratch memory rfactor_run needs */
#define RFACTOR_ARENA_ALIGN  16u
#define RFACTOR_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RFACTOR_ARENA(memory);`, passed as rfactor_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RFACTOR_ARENA(name) unsigned char name[RFACTOR_ARENA_SIZE] __attribute__((aligned(RFACTOR_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RFACTOR_ARENA(name) unsigned char name alignas(RFACTOR_ARENA_ALIGN) [RFACTOR_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RFACTOR_ARENA(name) _Alignas(RFACTOR_ARENA_ALIGN) unsigned char name[RFACTOR_ARENA_SIZE]
#else     /* other C99 compilers: rfactor_run rejects a misaligned arena */
#define RFACTOR_ARENA(name) long double name[17]
#endif

#define RFACTOR_E_ARENA (-1)     /* the arena is null or misaligned */
#define RFACTOR_E_DIM   (-2)     /* a size is outside of its declared range */
#define RFACTOR_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RFACTOR_INPUTS(X) X(x, float, 128)
#define RFACTOR_OUTPUTS(X) X(s, float, 4)

struct rfactor_inputs {
    const float *x;
};
struct rfactor_outputs {
    float *s;
};

/* Runs the model once. Returns 0, or a negative RFACTOR_E... code. Reentrant: all state is in the arena. */
int rfactor_run(void *arena, const struct rfactor_inputs *in, const struct rfactor_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
