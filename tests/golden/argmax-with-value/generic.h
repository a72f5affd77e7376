/* argmax_with_value: argmax-with-value.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [5][7]
 * Outputs
 *   i                    int32_t  [5]
 *   m                    float    [5]
 *
 * Model's SHA-256: e202883ad298f5156068f00c78aaa7825c7783e30bcccb30ec50f57f3b9ad9d2
 */
#ifndef ARGMAX_WITH_VALUE_H
#define ARGMAX_WITH_VALUE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARGMAX_WITH_VALUE_MODEL "argmax-with-value.te"
#define ARGMAX_WITH_VALUE_MODEL_SHA256 "e202883ad298f5156068f00c78aaa7825c7783e30bcccb30ec50f57f3b9ad9d2"
#define ARGMAX_WITH_VALUE_TARGET "generic"
#define ARGMAX_WITH_VALUE_OPTIONS ""

#define ARGMAX_WITH_VALUE_HEADER_HASH  0x1ee3730b     /* of the interface below; model.c compares it */
#define ARGMAX_WITH_VALUE_ARENA_SIZE   0u     /* bytes of scratch memory argmax_with_value_run needs */
#define ARGMAX_WITH_VALUE_ARENA_ALIGN  16u
#define ARGMAX_WITH_VALUE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static ARGMAX_WITH_VALUE_ARENA(memory);`, passed as argmax_with_value_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define ARGMAX_WITH_VALUE_ARENA(name) unsigned char name[1] __attribute__((aligned(ARGMAX_WITH_VALUE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define ARGMAX_WITH_VALUE_ARENA(name) unsigned char name alignas(ARGMAX_WITH_VALUE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ARGMAX_WITH_VALUE_ARENA(name) _Alignas(ARGMAX_WITH_VALUE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: argmax_with_value_run rejects a misaligned arena */
#define ARGMAX_WITH_VALUE_ARENA(name) long double name[1]
#endif

#define ARGMAX_WITH_VALUE_E_ARENA (-1)     /* the arena is null or misaligned */
#define ARGMAX_WITH_VALUE_E_DIM   (-2)     /* a size is outside its declared range */
#define ARGMAX_WITH_VALUE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define ARGMAX_WITH_VALUE_INPUTS(X) X(x, float, 35)
#define ARGMAX_WITH_VALUE_OUTPUTS(X) \
    X(i, int32_t, 5) \
    X(m, float, 5)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define ARGMAX_WITH_VALUE_X_TYPE     float
#define ARGMAX_WITH_VALUE_X_RANK     2
#define ARGMAX_WITH_VALUE_X_DIMS     { 5, 7 }
#define ARGMAX_WITH_VALUE_X_ELEMS    35u
#define ARGMAX_WITH_VALUE_X_BYTES    140u
#define ARGMAX_WITH_VALUE_I_TYPE     int32_t
#define ARGMAX_WITH_VALUE_I_RANK     1
#define ARGMAX_WITH_VALUE_I_DIMS     { 5 }
#define ARGMAX_WITH_VALUE_I_ELEMS    5u
#define ARGMAX_WITH_VALUE_I_BYTES    20u
#define ARGMAX_WITH_VALUE_M_TYPE     float
#define ARGMAX_WITH_VALUE_M_RANK     1
#define ARGMAX_WITH_VALUE_M_DIMS     { 5 }
#define ARGMAX_WITH_VALUE_M_ELEMS    5u
#define ARGMAX_WITH_VALUE_M_BYTES    20u

struct argmax_with_value_inputs {
    const float *x;
};
struct argmax_with_value_outputs {
    int32_t *i;
    float *m;
};

/* Runs the model once. Returns 0, or a negative ARGMAX_WITH_VALUE_E... code. Reentrant: all state is in the arena.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int argmax_with_value_run(void *arena, const struct argmax_with_value_inputs *in,
    const struct argmax_with_value_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
