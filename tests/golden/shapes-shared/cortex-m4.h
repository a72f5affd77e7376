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
 *
 * Model's SHA-256: 3b436b60aec3a6b02eef465d86dfbb5f8884ee4ed937bc27f6079d9ae2fe302d
 */
#ifndef SHAPES_SHARED_H
#define SHAPES_SHARED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHAPES_SHARED_MODEL "shapes-shared.te"
#define SHAPES_SHARED_MODEL_SHA256 "3b436b60aec3a6b02eef465d86dfbb5f8884ee4ed937bc27f6079d9ae2fe302d"
#define SHAPES_SHARED_TARGET "cortex-m4"
#define SHAPES_SHARED_OPTIONS ""

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

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SHAPES_SHARED_X_TYPE         int8_t
#define SHAPES_SHARED_X_RANK         2
#define SHAPES_SHARED_X_DIMS         { 1, 32 }
#define SHAPES_SHARED_X_ELEMS        32u
#define SHAPES_SHARED_X_BYTES        32u
#define SHAPES_SHARED_W1_TYPE        int8_t
#define SHAPES_SHARED_W1_RANK        2
#define SHAPES_SHARED_W1_DIMS        { 16, 32 }
#define SHAPES_SHARED_W1_ELEMS       512u
#define SHAPES_SHARED_W1_BYTES       512u
#define SHAPES_SHARED_B1_TYPE        int32_t
#define SHAPES_SHARED_B1_RANK        1
#define SHAPES_SHARED_B1_DIMS        { 16 }
#define SHAPES_SHARED_B1_ELEMS       16u
#define SHAPES_SHARED_B1_BYTES       64u
#define SHAPES_SHARED_W2_TYPE        int8_t
#define SHAPES_SHARED_W2_RANK        2
#define SHAPES_SHARED_W2_DIMS        { 8, 16 }
#define SHAPES_SHARED_W2_ELEMS       128u
#define SHAPES_SHARED_W2_BYTES       128u
#define SHAPES_SHARED_B2_TYPE        int32_t
#define SHAPES_SHARED_B2_RANK        1
#define SHAPES_SHARED_B2_DIMS        { 8 }
#define SHAPES_SHARED_B2_ELEMS       8u
#define SHAPES_SHARED_B2_BYTES       32u
#define SHAPES_SHARED_Y_TYPE         int8_t
#define SHAPES_SHARED_Y_RANK         2
#define SHAPES_SHARED_Y_DIMS         { 1, 8 }
#define SHAPES_SHARED_Y_ELEMS        8u
#define SHAPES_SHARED_Y_BYTES        8u

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
