/* split_peel: split-peel.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [30]
 * Outputs
 *   y                    float    [30]
 *
 * Model's SHA-256: 9a2c482657d209b3aa3647d34a4226952f3658252e2221694607714e470203a1
 */
#ifndef SPLIT_PEEL_H
#define SPLIT_PEEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPLIT_PEEL_MODEL "split-peel.te"
#define SPLIT_PEEL_MODEL_SHA256 "9a2c482657d209b3aa3647d34a4226952f3658252e2221694607714e470203a1"
#define SPLIT_PEEL_TARGET "generic"
#define SPLIT_PEEL_OPTIONS ""

#define SPLIT_PEEL_ARENA_SIZE   0u     /* bytes of scratch memory split_peel_run needs */
#define SPLIT_PEEL_ARENA_ALIGN  16u
#define SPLIT_PEEL_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SPLIT_PEEL_ARENA(memory);`, passed as split_peel_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SPLIT_PEEL_ARENA(name) unsigned char name[1] __attribute__((aligned(SPLIT_PEEL_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SPLIT_PEEL_ARENA(name) unsigned char name alignas(SPLIT_PEEL_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SPLIT_PEEL_ARENA(name) _Alignas(SPLIT_PEEL_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: split_peel_run rejects a misaligned arena */
#define SPLIT_PEEL_ARENA(name) long double name[1]
#endif

#define SPLIT_PEEL_E_ARENA (-1)     /* the arena is null or misaligned */
#define SPLIT_PEEL_E_DIM   (-2)     /* a size is outside of its declared range */
#define SPLIT_PEEL_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SPLIT_PEEL_INPUTS(X) X(x, float, 30)
#define SPLIT_PEEL_OUTPUTS(X) X(y, float, 30)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SPLIT_PEEL_X_TYPE            float
#define SPLIT_PEEL_X_RANK            1
#define SPLIT_PEEL_X_DIMS            { 30 }
#define SPLIT_PEEL_X_ELEMS           30u
#define SPLIT_PEEL_X_BYTES           120u
#define SPLIT_PEEL_Y_TYPE            float
#define SPLIT_PEEL_Y_RANK            1
#define SPLIT_PEEL_Y_DIMS            { 30 }
#define SPLIT_PEEL_Y_ELEMS           30u
#define SPLIT_PEEL_Y_BYTES           120u

struct split_peel_inputs {
    const float *x;
};
struct split_peel_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SPLIT_PEEL_E... code. Reentrant: all state is in the arena. */
int split_peel_run(void *arena, const struct split_peel_inputs *in, const struct split_peel_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
