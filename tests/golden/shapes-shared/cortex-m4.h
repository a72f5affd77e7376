/* shapes_shared: shapes-shared.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][32]
 *   w1                   int8_t   [16][32]
 *   b1                   int32_t  [16]
 *   w2                   int8_t   [8][16]
 *   b2                   int32_t  [8]
 * Outputs
 *   y                    int8_t   [1][8]
 */
#ifndef SHAPES_SHARED_H
#define SHAPES_SHARED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHAPES_SHARED_ARENA_SIZE   16u     /* bytes of scratch memory shapes_shared_run needs */
#define SHAPES_SHARED_ARENA_ALIGN  16u
#define SHAPES_SHARED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SHAPES_SHARED_ARENA(memory);`, passed as shapes_shared_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SHAPES_SHARED_ARENA(name) unsigned char name[SHAPES_SHARED_ARENA_SIZE] \
    __attribute__((aligned(SHAPES_SHARED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SHAPES_SHARED_ARENA(name) unsigned char name alignas(SHAPES_SHARED_ARENA_ALIGN) [SHAPES_SHARED_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SHAPES_SHARED_ARENA(name) _Alignas(SHAPES_SHARED_ARENA_ALIGN) unsigned char name[SHAPES_SHARED_ARENA_SIZE]
#else     /* other C99 compilers: shapes_shared_run rejects a misaligned arena */
#define SHAPES_SHARED_ARENA(name) long double name[3]
#endif

#define SHAPES_SHARED_E_ARENA (-1)     /* the arena is null or misaligned */
#define SHAPES_SHARED_E_DIM   (-2)     /* a size is outside of its declared range */
#define SHAPES_SHARED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SHAPES_SHARED_INPUTS(X) \
    X(x, int8_t, 32) \
    X(w1, int8_t, 512) \
    X(b1, int32_t, 16) \
    X(w2, int8_t, 128) \
    X(b2, int32_t, 8)
#define SHAPES_SHARED_OUTPUTS(X) X(y, int8_t, 8)

struct shapes_shared_inputs {
    const int8_t *x;
    const int8_t *w1;
    const int32_t *b1;
    const int8_t *w2;
    const int32_t *b2;
};
struct shapes_shared_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative SHAPES_SHARED_E... code. Reentrant: all state is in the arena. */
int shapes_shared_run(void *arena, const struct shapes_shared_inputs *in, const struct shapes_shared_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
