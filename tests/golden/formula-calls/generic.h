/* formula_calls: formula-calls.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 *   z                    float    [1][6]
 *   w                    float    [6][4]
 * Outputs
 *   y                    float    [1][4]
 *   u                    float    [1][6]
 */
#ifndef FORMULA_CALLS_H
#define FORMULA_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORMULA_CALLS_ARENA_SIZE   32u     /* bytes of scratch memory formula_calls_run needs */
#define FORMULA_CALLS_ARENA_ALIGN  16u
#define FORMULA_CALLS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static FORMULA_CALLS_ARENA(memory);`, passed as formula_calls_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define FORMULA_CALLS_ARENA(name) unsigned char name[FORMULA_CALLS_ARENA_SIZE] \
    __attribute__((aligned(FORMULA_CALLS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define FORMULA_CALLS_ARENA(name) unsigned char name alignas(FORMULA_CALLS_ARENA_ALIGN) [FORMULA_CALLS_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define FORMULA_CALLS_ARENA(name) _Alignas(FORMULA_CALLS_ARENA_ALIGN) unsigned char name[FORMULA_CALLS_ARENA_SIZE]
#else     /* other C99 compilers: formula_calls_run rejects a misaligned arena */
#define FORMULA_CALLS_ARENA(name) long double name[5]
#endif

#define FORMULA_CALLS_E_ARENA (-1)     /* the arena is null or misaligned */
#define FORMULA_CALLS_E_DIM   (-2)     /* a size is outside of its declared range */
#define FORMULA_CALLS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define FORMULA_CALLS_INPUTS(X) \
    X(x, float, 6) \
    X(z, float, 6) \
    X(w, float, 24)
#define FORMULA_CALLS_OUTPUTS(X) \
    X(y, float, 4) \
    X(u, float, 6)

struct formula_calls_inputs {
    const float *x;
    const float *z;
    const float *w;
};
struct formula_calls_outputs {
    float *y;
    float *u;
};

/* Runs the model once. Returns 0, or a negative FORMULA_CALLS_E... code. Reentrant: all state is in the arena. */
int formula_calls_run(void *arena, const struct formula_calls_inputs *in, const struct formula_calls_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
