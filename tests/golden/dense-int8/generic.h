/* dense_int8: dense-int8.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][16]
 *   w                    int8_t   [4][16]
 *   b                    int32_t  [4]
 * Outputs
 *   y                    int8_t   [1][4]
 *
 * Model's SHA-256: 9753aa33824a4f7abeb8dfc0bf9d809496ebe4b57102c3339e80fdd90d97ec2c
 */
#ifndef DENSE_INT8_H
#define DENSE_INT8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DENSE_INT8_MODEL "dense-int8.te"
#define DENSE_INT8_MODEL_SHA256 "9753aa33824a4f7abeb8dfc0bf9d809496ebe4b57102c3339e80fdd90d97ec2c"
#define DENSE_INT8_TARGET "generic"
#define DENSE_INT8_OPTIONS ""

#define DENSE_INT8_ARENA_SIZE   0u     /* bytes of scratch memory dense_int8_run needs */
#define DENSE_INT8_ARENA_ALIGN  16u
#define DENSE_INT8_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static DENSE_INT8_ARENA(memory);`, passed as dense_int8_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define DENSE_INT8_ARENA(name) unsigned char name[1] __attribute__((aligned(DENSE_INT8_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define DENSE_INT8_ARENA(name) unsigned char name alignas(DENSE_INT8_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define DENSE_INT8_ARENA(name) _Alignas(DENSE_INT8_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: dense_int8_run rejects a misaligned arena */
#define DENSE_INT8_ARENA(name) long double name[1]
#endif

#define DENSE_INT8_E_ARENA (-1)     /* the arena is null or misaligned */
#define DENSE_INT8_E_DIM   (-2)     /* a size is outside of its declared range */
#define DENSE_INT8_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define DENSE_INT8_INPUTS(X) \
    X(x, int8_t, 16) \
    X(w, int8_t, 64) \
    X(b, int32_t, 4)
#define DENSE_INT8_OUTPUTS(X) X(y, int8_t, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define DENSE_INT8_X_TYPE            int8_t
#define DENSE_INT8_X_RANK            2
#define DENSE_INT8_X_DIMS            { 1, 16 }
#define DENSE_INT8_X_ELEMS           16u
#define DENSE_INT8_X_BYTES           16u
#define DENSE_INT8_W_TYPE            int8_t
#define DENSE_INT8_W_RANK            2
#define DENSE_INT8_W_DIMS            { 4, 16 }
#define DENSE_INT8_W_ELEMS           64u
#define DENSE_INT8_W_BYTES           64u
#define DENSE_INT8_B_TYPE            int32_t
#define DENSE_INT8_B_RANK            1
#define DENSE_INT8_B_DIMS            { 4 }
#define DENSE_INT8_B_ELEMS           4u
#define DENSE_INT8_B_BYTES           16u
#define DENSE_INT8_Y_TYPE            int8_t
#define DENSE_INT8_Y_RANK            2
#define DENSE_INT8_Y_DIMS            { 1, 4 }
#define DENSE_INT8_Y_ELEMS           4u
#define DENSE_INT8_Y_BYTES           4u

struct dense_int8_inputs {
    const int8_t *x;
    const int8_t *w;
    const int32_t *b;
};
struct dense_int8_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative DENSE_INT8_E... code. Reentrant: all state is in the arena. */
int dense_int8_run(void *arena, const struct dense_int8_inputs *in, const struct dense_int8_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
