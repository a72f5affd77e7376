/* fused_epilogue: fused-epilogue.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][8]
 *   w                    float    [8][4]
 *   b                    float    [4]
 * Outputs
 *   y                    float    [1][4]
 */
#ifndef FUSED_EPILOGUE_H
#define FUSED_EPILOGUE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
