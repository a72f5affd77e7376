/* residual: residual.onnx for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][4][16]  NCW
 * Outputs
 *   y                    float    [1][4][16]  NCW
 *
 * Model's SHA-256: 3957ceee6a9e7acdb8cdc7cd35fcb7ec3f48809767336ce9a749a94b86242e34
 */
#ifndef RESIDUAL_H
#define RESIDUAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESIDUAL_MODEL "residual.onnx"
#define RESIDUAL_MODEL_SHA256 "3957ceee6a9e7acdb8cdc7cd35fcb7ec3f48809767336ce9a749a94b86242e34"
#define RESIDUAL_TARGET "generic"
#define RESIDUAL_OPTIONS ""

#define RESIDUAL_HEADER_HASH  0x1f76591a     /* of the interface below; model.c compares it */
#define RESIDUAL_ARENA_SIZE   512u     /* bytes of scratch memory residual_run needs */
#define RESIDUAL_ARENA_ALIGN  16u
#define RESIDUAL_WEIGHTS_SIZE 208u     /* bytes of constants */

/* Declares the arena: `static RESIDUAL_ARENA(memory);`, passed as residual_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RESIDUAL_ARENA(name) unsigned char name[RESIDUAL_ARENA_SIZE] __attribute__((aligned(RESIDUAL_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RESIDUAL_ARENA(name) unsigned char name alignas(RESIDUAL_ARENA_ALIGN) [RESIDUAL_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RESIDUAL_ARENA(name) _Alignas(RESIDUAL_ARENA_ALIGN) unsigned char name[RESIDUAL_ARENA_SIZE]
#else     /* other C99 compilers: residual_run rejects a misaligned arena */
#define RESIDUAL_ARENA(name) long double name[65]
#endif

#define RESIDUAL_E_ARENA (-1)     /* the arena is null or misaligned */
#define RESIDUAL_E_DIM   (-2)     /* a size is outside its declared range */
#define RESIDUAL_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RESIDUAL_INPUTS(X) X(x, float, 64)
#define RESIDUAL_OUTPUTS(X) X(y, float, 64)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define RESIDUAL_X_TYPE              float
#define RESIDUAL_X_RANK              3
#define RESIDUAL_X_DIMS              { 1, 4, 16 }
#define RESIDUAL_X_ELEMS             64u
#define RESIDUAL_X_BYTES             256u
#define RESIDUAL_X_LAYOUT            "NCW"
#define RESIDUAL_Y_TYPE              float
#define RESIDUAL_Y_RANK              3
#define RESIDUAL_Y_DIMS              { 1, 4, 16 }
#define RESIDUAL_Y_ELEMS             64u
#define RESIDUAL_Y_BYTES             256u
#define RESIDUAL_Y_LAYOUT            "NCW"

struct residual_inputs {
    const float *x;
};
struct residual_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative RESIDUAL_E... code. Reentrant: all state is in the arena.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int residual_run(void *arena, const struct residual_inputs *in, const struct residual_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
