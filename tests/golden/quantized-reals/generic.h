/* quantized_reals: quantized-reals.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    uint8_t  [1][6][6][2]  NHWC
 * Outputs
 *   y                    int8_t   [1][3][3][3]
 *
 * Model's SHA-256: d5be270c52a5b2d460ec7b80cc30e4340d81f4fdeba4e1110d4a4803aa49e169
 */
#ifndef QUANTIZED_REALS_H
#define QUANTIZED_REALS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUANTIZED_REALS_MODEL "quantized-reals.te"
#define QUANTIZED_REALS_MODEL_SHA256 "d5be270c52a5b2d460ec7b80cc30e4340d81f4fdeba4e1110d4a4803aa49e169"
#define QUANTIZED_REALS_TARGET "generic"
#define QUANTIZED_REALS_OPTIONS ""

#define QUANTIZED_REALS_HEADER_HASH  0x14fe8f0e     /* of the interface below; model.c compares it */
#define QUANTIZED_REALS_ARENA_SIZE   288u     /* bytes of scratch memory quantized_reals_run needs */
#define QUANTIZED_REALS_ARENA_ALIGN  16u
#define QUANTIZED_REALS_WEIGHTS_SIZE 404u     /* bytes of constants */

/* Declares the arena: `static QUANTIZED_REALS_ARENA(memory);`, passed as quantized_reals_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define QUANTIZED_REALS_ARENA(name) unsigned char name[QUANTIZED_REALS_ARENA_SIZE] \
    __attribute__((aligned(QUANTIZED_REALS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define QUANTIZED_REALS_ARENA(name) unsigned char name alignas(QUANTIZED_REALS_ARENA_ALIGN) [QUANTIZED_REALS_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define QUANTIZED_REALS_ARENA(name) _Alignas(QUANTIZED_REALS_ARENA_ALIGN) unsigned char name[QUANTIZED_REALS_ARENA_SIZE]
#else     /* other C99 compilers: quantized_reals_run rejects a misaligned arena */
#define QUANTIZED_REALS_ARENA(name) long double name[37]
#endif

#define QUANTIZED_REALS_E_ARENA (-1)     /* the arena is null or misaligned */
#define QUANTIZED_REALS_E_DIM   (-2)     /* a size is outside its declared range */
#define QUANTIZED_REALS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define QUANTIZED_REALS_INPUTS(X) X(x, uint8_t, 72)
#define QUANTIZED_REALS_OUTPUTS(X) X(y, int8_t, 27)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define QUANTIZED_REALS_X_TYPE       uint8_t
#define QUANTIZED_REALS_X_RANK       4
#define QUANTIZED_REALS_X_DIMS       { 1, 6, 6, 2 }
#define QUANTIZED_REALS_X_ELEMS      72u
#define QUANTIZED_REALS_X_BYTES      72u
#define QUANTIZED_REALS_X_LAYOUT     "NHWC"
#define QUANTIZED_REALS_Y_TYPE       int8_t
#define QUANTIZED_REALS_Y_RANK       4
#define QUANTIZED_REALS_Y_DIMS       { 1, 3, 3, 3 }
#define QUANTIZED_REALS_Y_ELEMS      27u
#define QUANTIZED_REALS_Y_BYTES      27u

struct quantized_reals_inputs {
    const uint8_t *x;
};
struct quantized_reals_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative QUANTIZED_REALS_E... code. Reentrant: all state is in the arena.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int quantized_reals_run(void *arena, const struct quantized_reals_inputs *in,
    const struct quantized_reals_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
