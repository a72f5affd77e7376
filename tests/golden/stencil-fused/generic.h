/* stencil_fused: stencil-fused.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int16_t  [n]
 * Outputs
 *   y                    int16_t  [n]
 *
 * Model's SHA-256: bfb473f04b49da2fc094306264e114e75177dca9ec65bb0f51993c0a6572bf39
 */
#ifndef STENCIL_FUSED_H
#define STENCIL_FUSED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STENCIL_FUSED_MODEL "stencil-fused.te"
#define STENCIL_FUSED_MODEL_SHA256 "bfb473f04b49da2fc094306264e114e75177dca9ec65bb0f51993c0a6572bf39"
#define STENCIL_FUSED_TARGET "generic"
#define STENCIL_FUSED_OPTIONS ""

#define STENCIL_FUSED_ARENA_SIZE   16u     /* bytes of scratch memory stencil_fused_run needs */
#define STENCIL_FUSED_ARENA_ALIGN  16u
#define STENCIL_FUSED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static STENCIL_FUSED_ARENA(memory);`, passed as stencil_fused_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define STENCIL_FUSED_ARENA(name) unsigned char name[STENCIL_FUSED_ARENA_SIZE] \
    __attribute__((aligned(STENCIL_FUSED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define STENCIL_FUSED_ARENA(name) unsigned char name alignas(STENCIL_FUSED_ARENA_ALIGN) [STENCIL_FUSED_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define STENCIL_FUSED_ARENA(name) _Alignas(STENCIL_FUSED_ARENA_ALIGN) unsigned char name[STENCIL_FUSED_ARENA_SIZE]
#else     /* other C99 compilers: stencil_fused_run rejects a misaligned arena */
#define STENCIL_FUSED_ARENA(name) long double name[3]
#endif

#define STENCIL_FUSED_E_ARENA (-1)     /* the arena is null or misaligned */
#define STENCIL_FUSED_E_DIM   (-2)     /* a size is outside of its declared range */
#define STENCIL_FUSED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define STENCIL_FUSED_INPUTS(X) X(x, int16_t, 256)
#define STENCIL_FUSED_OUTPUTS(X) X(y, int16_t, 256)

/* Of each: type, shape (open sizes: maximum), elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define STENCIL_FUSED_X_TYPE         int16_t
#define STENCIL_FUSED_X_RANK         1
#define STENCIL_FUSED_X_DIMS         { 256 }
#define STENCIL_FUSED_X_ELEMS        256u
#define STENCIL_FUSED_X_BYTES        512u
#define STENCIL_FUSED_Y_TYPE         int16_t
#define STENCIL_FUSED_Y_RANK         1
#define STENCIL_FUSED_Y_DIMS         { 256 }
#define STENCIL_FUSED_Y_ELEMS        256u
#define STENCIL_FUSED_Y_BYTES        512u

struct stencil_fused_inputs {
    const int16_t *x;
    int32_t n;    /* 3 to 256 */
};
struct stencil_fused_outputs {
    int16_t *y;
};

/* Runs the model once. Returns 0, or a negative STENCIL_FUSED_E... code. Reentrant: all state is in the arena. */
int stencil_fused_run(void *arena, const struct stencil_fused_inputs *in, const struct stencil_fused_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
