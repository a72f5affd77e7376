/* pool_int8: pool-int8.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][4][4][8]  NHWC
 * Outputs
 *   y                    int8_t   [1][2][2][8]  NHWC
 *
 * Model's SHA-256: c16bc05e13764daf2f541e7f532e319d2bea432f262e4654b1c3cf7d3aa18a30
 */
#ifndef POOL_INT8_H
#define POOL_INT8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_INT8_MODEL "pool-int8.te"
#define POOL_INT8_MODEL_SHA256 "c16bc05e13764daf2f541e7f532e319d2bea432f262e4654b1c3cf7d3aa18a30"
#define POOL_INT8_TARGET "cortex-m4"
#define POOL_INT8_OPTIONS ""

#define POOL_INT8_ARENA_SIZE   0u     /* bytes of scratch memory pool_int8_run needs */
#define POOL_INT8_ARENA_ALIGN  16u
#define POOL_INT8_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static POOL_INT8_ARENA(memory);`, passed as pool_int8_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define POOL_INT8_ARENA(name) unsigned char name[1] __attribute__((aligned(POOL_INT8_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define POOL_INT8_ARENA(name) unsigned char name alignas(POOL_INT8_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define POOL_INT8_ARENA(name) _Alignas(POOL_INT8_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: pool_int8_run rejects a misaligned arena */
#define POOL_INT8_ARENA(name) long double name[1]
#endif

#define POOL_INT8_E_ARENA (-1)     /* the arena is null or misaligned */
#define POOL_INT8_E_DIM   (-2)     /* a size is outside of its declared range */
#define POOL_INT8_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define POOL_INT8_INPUTS(X) X(x, int8_t, 128)
#define POOL_INT8_OUTPUTS(X) X(y, int8_t, 32)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define POOL_INT8_X_TYPE             int8_t
#define POOL_INT8_X_RANK             4
#define POOL_INT8_X_DIMS             { 1, 4, 4, 8 }
#define POOL_INT8_X_ELEMS            128u
#define POOL_INT8_X_BYTES            128u
#define POOL_INT8_X_LAYOUT           "NHWC"
#define POOL_INT8_Y_TYPE             int8_t
#define POOL_INT8_Y_RANK             4
#define POOL_INT8_Y_DIMS             { 1, 2, 2, 8 }
#define POOL_INT8_Y_ELEMS            32u
#define POOL_INT8_Y_BYTES            32u
#define POOL_INT8_Y_LAYOUT           "NHWC"

struct pool_int8_inputs {
    const int8_t *x;
};
struct pool_int8_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative POOL_INT8_E... code. Reentrant: all state is in the arena. */
int pool_int8_run(void *arena, const struct pool_int8_inputs *in, const struct pool_int8_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
