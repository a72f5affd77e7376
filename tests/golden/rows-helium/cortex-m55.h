/* rows_helium: rows-helium.te for cortex-m55, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][32]
 *   w                    int8_t   [8][32]
 *   b                    int32_t  [8]
 * Outputs
 *   y                    int32_t  [1][8]
 *
 * Model's SHA-256: c11906a5bfb81c9cecbaf0d7b88213c21805fa2d4d6de95126c73700d5030b79
 */
#ifndef ROWS_HELIUM_H
#define ROWS_HELIUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROWS_HELIUM_MODEL "rows-helium.te"
#define ROWS_HELIUM_MODEL_SHA256 "c11906a5bfb81c9cecbaf0d7b88213c21805fa2d4d6de95126c73700d5030b79"
#define ROWS_HELIUM_TARGET "cortex-m55"
#define ROWS_HELIUM_OPTIONS ""

#define ROWS_HELIUM_ARENA_SIZE   0u     /* bytes of scratch memory rows_helium_run needs */
#define ROWS_HELIUM_ARENA_ALIGN  16u
#define ROWS_HELIUM_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static ROWS_HELIUM_ARENA(memory);`, passed as rows_helium_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define ROWS_HELIUM_ARENA(name) unsigned char name[1] __attribute__((aligned(ROWS_HELIUM_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define ROWS_HELIUM_ARENA(name) unsigned char name alignas(ROWS_HELIUM_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ROWS_HELIUM_ARENA(name) _Alignas(ROWS_HELIUM_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: rows_helium_run rejects a misaligned arena */
#define ROWS_HELIUM_ARENA(name) long double name[1]
#endif

#define ROWS_HELIUM_E_ARENA (-1)     /* the arena is null or misaligned */
#define ROWS_HELIUM_E_DIM   (-2)     /* a size is outside of its declared range */
#define ROWS_HELIUM_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define ROWS_HELIUM_INPUTS(X) \
    X(x, int8_t, 32) \
    X(w, int8_t, 256) \
    X(b, int32_t, 8)
#define ROWS_HELIUM_OUTPUTS(X) X(y, int32_t, 8)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define ROWS_HELIUM_X_TYPE           int8_t
#define ROWS_HELIUM_X_RANK           2
#define ROWS_HELIUM_X_DIMS           { 1, 32 }
#define ROWS_HELIUM_X_ELEMS          32u
#define ROWS_HELIUM_X_BYTES          32u
#define ROWS_HELIUM_W_TYPE           int8_t
#define ROWS_HELIUM_W_RANK           2
#define ROWS_HELIUM_W_DIMS           { 8, 32 }
#define ROWS_HELIUM_W_ELEMS          256u
#define ROWS_HELIUM_W_BYTES          256u
#define ROWS_HELIUM_B_TYPE           int32_t
#define ROWS_HELIUM_B_RANK           1
#define ROWS_HELIUM_B_DIMS           { 8 }
#define ROWS_HELIUM_B_ELEMS          8u
#define ROWS_HELIUM_B_BYTES          32u
#define ROWS_HELIUM_Y_TYPE           int32_t
#define ROWS_HELIUM_Y_RANK           2
#define ROWS_HELIUM_Y_DIMS           { 1, 8 }
#define ROWS_HELIUM_Y_ELEMS          8u
#define ROWS_HELIUM_Y_BYTES          32u

struct rows_helium_inputs {
    const int8_t *x;
    const int8_t *w;
    const int32_t *b;
};
struct rows_helium_outputs {
    int32_t *y;
};

/* Runs the model once. Returns 0, or a negative ROWS_HELIUM_E... code. Reentrant: all state is in the arena. */
int rows_helium_run(void *arena, const struct rows_helium_inputs *in, const struct rows_helium_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
