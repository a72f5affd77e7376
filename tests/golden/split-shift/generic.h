/* split_shift: split-shift.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [30]
 * Outputs
 *   y                    float    [30]
 *
 * Model's SHA-256: 3122d34fb49dec0e8a6d8f9365679bb820a50de8c48787c02702f2687a1f132c
 */
#ifndef SPLIT_SHIFT_H
#define SPLIT_SHIFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPLIT_SHIFT_MODEL "split-shift.te"
#define SPLIT_SHIFT_MODEL_SHA256 "3122d34fb49dec0e8a6d8f9365679bb820a50de8c48787c02702f2687a1f132c"
#define SPLIT_SHIFT_TARGET "generic"
#define SPLIT_SHIFT_OPTIONS ""

#define SPLIT_SHIFT_ARENA_SIZE   0u     /* bytes of scratch memory split_shift_run needs */
#define SPLIT_SHIFT_ARENA_ALIGN  16u
#define SPLIT_SHIFT_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SPLIT_SHIFT_ARENA(memory);`, passed as split_shift_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SPLIT_SHIFT_ARENA(name) unsigned char name[1] __attribute__((aligned(SPLIT_SHIFT_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SPLIT_SHIFT_ARENA(name) unsigned char name alignas(SPLIT_SHIFT_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SPLIT_SHIFT_ARENA(name) _Alignas(SPLIT_SHIFT_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: split_shift_run rejects a misaligned arena */
#define SPLIT_SHIFT_ARENA(name) long double name[1]
#endif

#define SPLIT_SHIFT_E_ARENA (-1)     /* the arena is null or misaligned */
#define SPLIT_SHIFT_E_DIM   (-2)     /* a size is outside of its declared range */
#define SPLIT_SHIFT_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SPLIT_SHIFT_INPUTS(X) X(x, float, 30)
#define SPLIT_SHIFT_OUTPUTS(X) X(y, float, 30)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SPLIT_SHIFT_X_TYPE           float
#define SPLIT_SHIFT_X_RANK           1
#define SPLIT_SHIFT_X_DIMS           { 30 }
#define SPLIT_SHIFT_X_ELEMS          30u
#define SPLIT_SHIFT_X_BYTES          120u
#define SPLIT_SHIFT_Y_TYPE           float
#define SPLIT_SHIFT_Y_RANK           1
#define SPLIT_SHIFT_Y_DIMS           { 30 }
#define SPLIT_SHIFT_Y_ELEMS          30u
#define SPLIT_SHIFT_Y_BYTES          120u

struct split_shift_inputs {
    const float *x;
};
struct split_shift_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SPLIT_SHIFT_E... code. Reentrant: all state is in the arena. */
int split_shift_run(void *arena, const struct split_shift_inputs *in, const struct split_shift_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
