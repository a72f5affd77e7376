/* gather_clamped: gather-clamped.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [10]
 *   i                    int32_t  [4]
 * Outputs
 *   y                    float    [4]
 *
 * Model's SHA-256: e79d1f3937cd2aa175559f9b8ea9cf9a896c9c8413ab16022826319fcf166909
 */
#ifndef GATHER_CLAMPED_H
#define GATHER_CLAMPED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATHER_CLAMPED_MODEL "gather-clamped.te"
#define GATHER_CLAMPED_MODEL_SHA256 "e79d1f3937cd2aa175559f9b8ea9cf9a896c9c8413ab16022826319fcf166909"
#define GATHER_CLAMPED_TARGET "generic"
#define GATHER_CLAMPED_OPTIONS ""

#define GATHER_CLAMPED_ARENA_SIZE   0u     /* bytes of scratch memory gather_clamped_run needs */
#define GATHER_CLAMPED_ARENA_ALIGN  16u
#define GATHER_CLAMPED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static GATHER_CLAMPED_ARENA(memory);`, passed as gather_clamped_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define GATHER_CLAMPED_ARENA(name) unsigned char name[1] __attribute__((aligned(GATHER_CLAMPED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define GATHER_CLAMPED_ARENA(name) unsigned char name alignas(GATHER_CLAMPED_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define GATHER_CLAMPED_ARENA(name) _Alignas(GATHER_CLAMPED_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: gather_clamped_run rejects a misaligned arena */
#define GATHER_CLAMPED_ARENA(name) long double name[1]
#endif

#define GATHER_CLAMPED_E_ARENA (-1)     /* the arena is null or misaligned */
#define GATHER_CLAMPED_E_DIM   (-2)     /* a size is outside of its declared range */
#define GATHER_CLAMPED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define GATHER_CLAMPED_INPUTS(X) \
    X(x, float, 10) \
    X(i, int32_t, 4)
#define GATHER_CLAMPED_OUTPUTS(X) X(y, float, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define GATHER_CLAMPED_X_TYPE        float
#define GATHER_CLAMPED_X_RANK        1
#define GATHER_CLAMPED_X_DIMS        { 10 }
#define GATHER_CLAMPED_X_ELEMS       10u
#define GATHER_CLAMPED_X_BYTES       40u
#define GATHER_CLAMPED_I_TYPE        int32_t
#define GATHER_CLAMPED_I_RANK        1
#define GATHER_CLAMPED_I_DIMS        { 4 }
#define GATHER_CLAMPED_I_ELEMS       4u
#define GATHER_CLAMPED_I_BYTES       16u
#define GATHER_CLAMPED_Y_TYPE        float
#define GATHER_CLAMPED_Y_RANK        1
#define GATHER_CLAMPED_Y_DIMS        { 4 }
#define GATHER_CLAMPED_Y_ELEMS       4u
#define GATHER_CLAMPED_Y_BYTES       16u

struct gather_clamped_inputs {
    const float *x;
    const int32_t *i;
};
struct gather_clamped_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative GATHER_CLAMPED_E... code. Reentrant: all state is in the arena. */
int gather_clamped_run(void *arena, const struct gather_clamped_inputs *in, const struct gather_clamped_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
