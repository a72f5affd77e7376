/* fused_epilogue: fused-epilogue.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][8]
 *   w                    float    [8][4]
 *   b                    float    [4]
 * Outputs
 *   y                    float    [1][4]
 *
 * Model's SHA-256: 5ad08a216aa9edbf1c71c066b90282038c507208a084cb114a7f6d2cf4d18954
 */
#ifndef FUSED_EPILOGUE_H
#define FUSED_EPILOGUE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FUSED_EPILOGUE_MODEL "fused-epilogue.te"
#define FUSED_EPILOGUE_MODEL_SHA256 "5ad08a216aa9edbf1c71c066b90282038c507208a084cb114a7f6d2cf4d18954"
#define FUSED_EPILOGUE_TARGET "generic"
#define FUSED_EPILOGUE_OPTIONS ""

#define FUSED_EPILOGUE_ARENA_SIZE   0u     /* bytes of scratch memory fused_epilogue_run needs */
#define FUSED_EPILOGUE_ARENA_ALIGN  16u
#define FUSED_EPILOGUE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static FUSED_EPILOGUE_ARENA(memory);`, passed as fused_epilogue_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define FUSED_EPILOGUE_ARENA(name) unsigned char name[1] __attribute__((aligned(FUSED_EPILOGUE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define FUSED_EPILOGUE_ARENA(name) unsigned char name alignas(FUSED_EPILOGUE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define FUSED_EPILOGUE_ARENA(name) _Alignas(FUSED_EPILOGUE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: fused_epilogue_run rejects a misaligned arena */
#define FUSED_EPILOGUE_ARENA(name) long double name[1]
#endif

#define FUSED_EPILOGUE_E_ARENA (-1)     /* the arena is null or misaligned */
#define FUSED_EPILOGUE_E_DIM   (-2)     /* a size is outside of its declared range */
#define FUSED_EPILOGUE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define FUSED_EPILOGUE_INPUTS(X) \
    X(x, float, 8) \
    X(w, float, 32) \
    X(b, float, 4)
#define FUSED_EPILOGUE_OUTPUTS(X) X(y, float, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define FUSED_EPILOGUE_X_TYPE        float
#define FUSED_EPILOGUE_X_RANK        2
#define FUSED_EPILOGUE_X_DIMS        { 1, 8 }
#define FUSED_EPILOGUE_X_ELEMS       8u
#define FUSED_EPILOGUE_X_BYTES       32u
#define FUSED_EPILOGUE_W_TYPE        float
#define FUSED_EPILOGUE_W_RANK        2
#define FUSED_EPILOGUE_W_DIMS        { 8, 4 }
#define FUSED_EPILOGUE_W_ELEMS       32u
#define FUSED_EPILOGUE_W_BYTES       128u
#define FUSED_EPILOGUE_B_TYPE        float
#define FUSED_EPILOGUE_B_RANK        1
#define FUSED_EPILOGUE_B_DIMS        { 4 }
#define FUSED_EPILOGUE_B_ELEMS       4u
#define FUSED_EPILOGUE_B_BYTES       16u
#define FUSED_EPILOGUE_Y_TYPE        float
#define FUSED_EPILOGUE_Y_RANK        2
#define FUSED_EPILOGUE_Y_DIMS        { 1, 4 }
#define FUSED_EPILOGUE_Y_ELEMS       4u
#define FUSED_EPILOGUE_Y_BYTES       16u

struct fused_epilogue_inputs {
    const float *x;
    const float *w;
    const float *b;
};
struct fused_epilogue_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative FUSED_EPILOGUE_E... code. Reentrant: all state is in the arena. */
int fused_epilogue_run(void *arena, const struct fused_epilogue_inputs *in, const struct fused_epilogue_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
