/* prefetch_sum: prefetch-sum.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [12][40]
 *   b                    float    [4][40][8]
 * Outputs
 *   y                    float    [12][32]
 *
 * Model's SHA-256: 2be00140fb30b83d27b94560a6c4d8f2b294d869a588cf21d801c2446efab4fb
 */
#ifndef PREFETCH_SUM_H
#define PREFETCH_SUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PREFETCH_SUM_MODEL "prefetch-sum.te"
#define PREFETCH_SUM_MODEL_SHA256 "2be00140fb30b83d27b94560a6c4d8f2b294d869a588cf21d801c2446efab4fb"
#define PREFETCH_SUM_TARGET "generic"
#define PREFETCH_SUM_OPTIONS ""

#define PREFETCH_SUM_ARENA_SIZE   0u     /* bytes of scratch memory prefetch_sum_run needs */
#define PREFETCH_SUM_ARENA_ALIGN  16u
#define PREFETCH_SUM_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PREFETCH_SUM_ARENA(memory);`, passed as prefetch_sum_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PREFETCH_SUM_ARENA(name) unsigned char name[1] __attribute__((aligned(PREFETCH_SUM_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PREFETCH_SUM_ARENA(name) unsigned char name alignas(PREFETCH_SUM_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PREFETCH_SUM_ARENA(name) _Alignas(PREFETCH_SUM_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: prefetch_sum_run rejects a misaligned arena */
#define PREFETCH_SUM_ARENA(name) long double name[1]
#endif

#define PREFETCH_SUM_E_ARENA (-1)     /* the arena is null or misaligned */
#define PREFETCH_SUM_E_DIM   (-2)     /* a size is outside of its declared range */
#define PREFETCH_SUM_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PREFETCH_SUM_INPUTS(X) \
    X(a, float, 480) \
    X(b, float, 1280)
#define PREFETCH_SUM_OUTPUTS(X) X(y, float, 384)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PREFETCH_SUM_A_TYPE          float
#define PREFETCH_SUM_A_RANK          2
#define PREFETCH_SUM_A_DIMS          { 12, 40 }
#define PREFETCH_SUM_A_ELEMS         480u
#define PREFETCH_SUM_A_BYTES         1920u
#define PREFETCH_SUM_B_TYPE          float
#define PREFETCH_SUM_B_RANK          3
#define PREFETCH_SUM_B_DIMS          { 4, 40, 8 }
#define PREFETCH_SUM_B_ELEMS         1280u
#define PREFETCH_SUM_B_BYTES         5120u
#define PREFETCH_SUM_Y_TYPE          float
#define PREFETCH_SUM_Y_RANK          2
#define PREFETCH_SUM_Y_DIMS          { 12, 32 }
#define PREFETCH_SUM_Y_ELEMS         384u
#define PREFETCH_SUM_Y_BYTES         1536u

struct prefetch_sum_inputs {
    const float *a;
    const float *b;
};
struct prefetch_sum_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PREFETCH_SUM_E... code. Reentrant: all state is in the arena. */
int prefetch_sum_run(void *arena, const struct prefetch_sum_inputs *in, const struct prefetch_sum_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
