/* formula_calls: formula-calls.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 *   z                    float    [1][6]
 *   w                    float    [6][4]
 * Outputs
 *   y                    float    [1][4]
 *   u                    float    [1][6]
 *
 * Model's SHA-256: 59ff84db826324957a85e1a5cedea1b2de65c3b585d12cd7b584ed916b6b2b39
 */
#ifndef FORMULA_CALLS_H
#define FORMULA_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORMULA_CALLS_MODEL "formula-calls.te"
#define FORMULA_CALLS_MODEL_SHA256 "59ff84db826324957a85e1a5cedea1b2de65c3b585d12cd7b584ed916b6b2b39"
#define FORMULA_CALLS_TARGET "generic"
#define FORMULA_CALLS_OPTIONS ""

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

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define FORMULA_CALLS_X_TYPE         float
#define FORMULA_CALLS_X_RANK         2
#define FORMULA_CALLS_X_DIMS         { 1, 6 }
#define FORMULA_CALLS_X_ELEMS        6u
#define FORMULA_CALLS_X_BYTES        24u
#define FORMULA_CALLS_Z_TYPE         float
#define FORMULA_CALLS_Z_RANK         2
#define FORMULA_CALLS_Z_DIMS         { 1, 6 }
#define FORMULA_CALLS_Z_ELEMS        6u
#define FORMULA_CALLS_Z_BYTES        24u
#define FORMULA_CALLS_W_TYPE         float
#define FORMULA_CALLS_W_RANK         2
#define FORMULA_CALLS_W_DIMS         { 6, 4 }
#define FORMULA_CALLS_W_ELEMS        24u
#define FORMULA_CALLS_W_BYTES        96u
#define FORMULA_CALLS_Y_TYPE         float
#define FORMULA_CALLS_Y_RANK         2
#define FORMULA_CALLS_Y_DIMS         { 1, 4 }
#define FORMULA_CALLS_Y_ELEMS        4u
#define FORMULA_CALLS_Y_BYTES        16u
#define FORMULA_CALLS_U_TYPE         float
#define FORMULA_CALLS_U_RANK         2
#define FORMULA_CALLS_U_DIMS         { 1, 6 }
#define FORMULA_CALLS_U_ELEMS        6u
#define FORMULA_CALLS_U_BYTES        24u

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
