/* tensorize_unrolled: tensorize-unrolled.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [2][8]
 * Outputs
 *   y                    float    [2][8]
 *
 * Model's SHA-256: 446d804600f7aeb35f09697da484e13be2f66294faf188b9bde04696fc4de3d4
 */
#ifndef TENSORIZE_UNROLLED_H
#define TENSORIZE_UNROLLED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENSORIZE_UNROLLED_MODEL "tensorize-unrolled.te"
#define TENSORIZE_UNROLLED_MODEL_SHA256 "446d804600f7aeb35f09697da484e13be2f66294faf188b9bde04696fc4de3d4"
#define TENSORIZE_UNROLLED_TARGET "generic"
#define TENSORIZE_UNROLLED_OPTIONS ""

#define TENSORIZE_UNROLLED_ARENA_SIZE   0u     /* bytes of scratch memory tensorize_unrolled_run needs */
#define TENSORIZE_UNROLLED_ARENA_ALIGN  16u
#define TENSORIZE_UNROLLED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static TENSORIZE_UNROLLED_ARENA(memory);`, passed as tensorize_unrolled_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define TENSORIZE_UNROLLED_ARENA(name) unsigned char name[1] __attribute__((aligned(TENSORIZE_UNROLLED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define TENSORIZE_UNROLLED_ARENA(name) unsigned char name alignas(TENSORIZE_UNROLLED_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TENSORIZE_UNROLLED_ARENA(name) _Alignas(TENSORIZE_UNROLLED_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: tensorize_unrolled_run rejects a misaligned arena */
#define TENSORIZE_UNROLLED_ARENA(name) long double name[1]
#endif

#define TENSORIZE_UNROLLED_E_ARENA (-1)     /* the arena is null or misaligned */
#define TENSORIZE_UNROLLED_E_DIM   (-2)     /* a size is outside of its declared range */
#define TENSORIZE_UNROLLED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define TENSORIZE_UNROLLED_INPUTS(X) X(x, float, 16)
#define TENSORIZE_UNROLLED_OUTPUTS(X) X(y, float, 16)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define TENSORIZE_UNROLLED_X_TYPE    float
#define TENSORIZE_UNROLLED_X_RANK    2
#define TENSORIZE_UNROLLED_X_DIMS    { 2, 8 }
#define TENSORIZE_UNROLLED_X_ELEMS   16u
#define TENSORIZE_UNROLLED_X_BYTES   64u
#define TENSORIZE_UNROLLED_Y_TYPE    float
#define TENSORIZE_UNROLLED_Y_RANK    2
#define TENSORIZE_UNROLLED_Y_DIMS    { 2, 8 }
#define TENSORIZE_UNROLLED_Y_ELEMS   16u
#define TENSORIZE_UNROLLED_Y_BYTES   64u

struct tensorize_unrolled_inputs {
    const float *x;
};
struct tensorize_unrolled_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative TENSORIZE_UNROLLED_E... code. Reentrant: all state is in the arena. */
int tensorize_unrolled_run(void *arena, const struct tensorize_unrolled_inputs *in,
    const struct tensorize_unrolled_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
