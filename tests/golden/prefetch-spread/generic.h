/* prefetch_spread: prefetch-spread.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [12][40]
 *   b                    float    [4][40][8]
 * Outputs
 *   y                    float    [12][32]
 *
 * Model's SHA-256: 56400c94f71f73dd462a7602310acfdceaeaff5279622be48e6c518865dd321a
 */
#ifndef PREFETCH_SPREAD_H
#define PREFETCH_SPREAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PREFETCH_SPREAD_MODEL "prefetch-spread.te"
#define PREFETCH_SPREAD_MODEL_SHA256 "56400c94f71f73dd462a7602310acfdceaeaff5279622be48e6c518865dd321a"
#define PREFETCH_SPREAD_TARGET "generic"
#define PREFETCH_SPREAD_OPTIONS ""

#define PREFETCH_SPREAD_ARENA_SIZE   0u     /* bytes of scratch memory prefetch_spread_run needs */
#define PREFETCH_SPREAD_ARENA_ALIGN  16u
#define PREFETCH_SPREAD_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PREFETCH_SPREAD_ARENA(memory);`, passed as prefetch_spread_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PREFETCH_SPREAD_ARENA(name) unsigned char name[1] __attribute__((aligned(PREFETCH_SPREAD_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PREFETCH_SPREAD_ARENA(name) unsigned char name alignas(PREFETCH_SPREAD_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PREFETCH_SPREAD_ARENA(name) _Alignas(PREFETCH_SPREAD_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: prefetch_spread_run rejects a misaligned arena */
#define PREFETCH_SPREAD_ARENA(name) long double name[1]
#endif

#define PREFETCH_SPREAD_E_ARENA (-1)     /* the arena is null or misaligned */
#define PREFETCH_SPREAD_E_DIM   (-2)     /* a size is outside of its declared range */
#define PREFETCH_SPREAD_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PREFETCH_SPREAD_INPUTS(X) \
    X(a, float, 480) \
    X(b, float, 1280)
#define PREFETCH_SPREAD_OUTPUTS(X) X(y, float, 384)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PREFETCH_SPREAD_A_TYPE       float
#define PREFETCH_SPREAD_A_RANK       2
#define PREFETCH_SPREAD_A_DIMS       { 12, 40 }
#define PREFETCH_SPREAD_A_ELEMS      480u
#define PREFETCH_SPREAD_A_BYTES      1920u
#define PREFETCH_SPREAD_B_TYPE       float
#define PREFETCH_SPREAD_B_RANK       3
#define PREFETCH_SPREAD_B_DIMS       { 4, 40, 8 }
#define PREFETCH_SPREAD_B_ELEMS      1280u
#define PREFETCH_SPREAD_B_BYTES      5120u
#define PREFETCH_SPREAD_Y_TYPE       float
#define PREFETCH_SPREAD_Y_RANK       2
#define PREFETCH_SPREAD_Y_DIMS       { 12, 32 }
#define PREFETCH_SPREAD_Y_ELEMS      384u
#define PREFETCH_SPREAD_Y_BYTES      1536u

struct prefetch_spread_inputs {
    const float *a;
    const float *b;
};
struct prefetch_spread_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PREFETCH_SPREAD_E... code. Reentrant: all state is in the arena. */
int prefetch_spread_run(void *arena, const struct prefetch_spread_inputs *in,
    const struct prefetch_spread_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
