/* empty_sum: empty-sum.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [4][n]
 * Outputs
 *   s                    float    [4]
 *
 * Model's SHA-256: 7780d7747fc025bf99c514be14ad408f364e6f0e9b731fbfe69562d6f06f8f61
 */
#ifndef EMPTY_SUM_H
#define EMPTY_SUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMPTY_SUM_MODEL "empty-sum.te"
#define EMPTY_SUM_MODEL_SHA256 "7780d7747fc025bf99c514be14ad408f364e6f0e9b731fbfe69562d6f06f8f61"
#define EMPTY_SUM_TARGET "generic"
#define EMPTY_SUM_OPTIONS ""

#define EMPTY_SUM_ARENA_SIZE   0u     /* bytes of scratch memory empty_sum_run needs */
#define EMPTY_SUM_ARENA_ALIGN  16u
#define EMPTY_SUM_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static EMPTY_SUM_ARENA(memory);`, passed as empty_sum_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define EMPTY_SUM_ARENA(name) unsigned char name[1] __attribute__((aligned(EMPTY_SUM_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define EMPTY_SUM_ARENA(name) unsigned char name alignas(EMPTY_SUM_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define EMPTY_SUM_ARENA(name) _Alignas(EMPTY_SUM_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: empty_sum_run rejects a misaligned arena */
#define EMPTY_SUM_ARENA(name) long double name[1]
#endif

#define EMPTY_SUM_E_ARENA (-1)     /* the arena is null or misaligned */
#define EMPTY_SUM_E_DIM   (-2)     /* a size is outside of its declared range */
#define EMPTY_SUM_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define EMPTY_SUM_INPUTS(X) X(a, float, 32)
#define EMPTY_SUM_OUTPUTS(X) X(s, float, 4)

/* Of each: type, shape (open sizes: maximum), elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define EMPTY_SUM_A_TYPE             float
#define EMPTY_SUM_A_RANK             2
#define EMPTY_SUM_A_DIMS             { 4, 8 }
#define EMPTY_SUM_A_ELEMS            32u
#define EMPTY_SUM_A_BYTES            128u
#define EMPTY_SUM_S_TYPE             float
#define EMPTY_SUM_S_RANK             1
#define EMPTY_SUM_S_DIMS             { 4 }
#define EMPTY_SUM_S_ELEMS            4u
#define EMPTY_SUM_S_BYTES            16u

struct empty_sum_inputs {
    const float *a;
    int32_t n;    /* 0 to 8 */
};
struct empty_sum_outputs {
    float *s;
};

/* Runs the model once. Returns 0, or a negative EMPTY_SUM_E... code. Reentrant: all state is in the arena. */
int empty_sum_run(void *arena, const struct empty_sum_inputs *in, const struct empty_sum_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
