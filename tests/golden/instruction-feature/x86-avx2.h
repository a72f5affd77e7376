/* instruction_feature: instruction-feature.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [2][8]
 * Outputs
 *   y                    float    [2][8]
 *
 * Compile with -mavx2 -mfma. Other builds take the portable form of the instructions: the same bits, slower.
 *
 * Model's SHA-256: 20c743ee5b1737d0c6db37eb14dbaa587bc05c13f00461adde1ce742c6d03138
 */
#ifndef INSTRUCTION_FEATURE_H
#define INSTRUCTION_FEATURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INSTRUCTION_FEATURE_MODEL "instruction-feature.te"
#define INSTRUCTION_FEATURE_MODEL_SHA256 "20c743ee5b1737d0c6db37eb14dbaa587bc05c13f00461adde1ce742c6d03138"
#define INSTRUCTION_FEATURE_TARGET "x86-avx2"
#define INSTRUCTION_FEATURE_OPTIONS ""

#define INSTRUCTION_FEATURE_ARENA_SIZE   0u     /* bytes of scratch memory instruction_feature_run needs */
#define INSTRUCTION_FEATURE_ARENA_ALIGN  32u
#define INSTRUCTION_FEATURE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static INSTRUCTION_FEATURE_ARENA(memory);`, passed as instruction_feature_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define INSTRUCTION_FEATURE_ARENA(name) unsigned char name[1] __attribute__((aligned(INSTRUCTION_FEATURE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define INSTRUCTION_FEATURE_ARENA(name) unsigned char name alignas(INSTRUCTION_FEATURE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define INSTRUCTION_FEATURE_ARENA(name) _Alignas(INSTRUCTION_FEATURE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: instruction_feature_run rejects a misaligned arena */
#define INSTRUCTION_FEATURE_ARENA(name) long double name[1]
#endif

#define INSTRUCTION_FEATURE_E_ARENA (-1)     /* the arena is null or misaligned */
#define INSTRUCTION_FEATURE_E_DIM   (-2)     /* a size is outside of its declared range */
#define INSTRUCTION_FEATURE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define INSTRUCTION_FEATURE_INPUTS(X) X(x, float, 16)
#define INSTRUCTION_FEATURE_OUTPUTS(X) X(y, float, 16)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define INSTRUCTION_FEATURE_X_TYPE   float
#define INSTRUCTION_FEATURE_X_RANK   2
#define INSTRUCTION_FEATURE_X_DIMS   { 2, 8 }
#define INSTRUCTION_FEATURE_X_ELEMS  16u
#define INSTRUCTION_FEATURE_X_BYTES  64u
#define INSTRUCTION_FEATURE_Y_TYPE   float
#define INSTRUCTION_FEATURE_Y_RANK   2
#define INSTRUCTION_FEATURE_Y_DIMS   { 2, 8 }
#define INSTRUCTION_FEATURE_Y_ELEMS  16u
#define INSTRUCTION_FEATURE_Y_BYTES  64u

struct instruction_feature_inputs {
    const float *x;
};
struct instruction_feature_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative INSTRUCTION_FEATURE_E... code. Reentrant: all state is in the arena. */
int instruction_feature_run(void *arena, const struct instruction_feature_inputs *in,
    const struct instruction_feature_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
