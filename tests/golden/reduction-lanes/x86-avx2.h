/* reduction_lanes: reduction-lanes.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [64]
 * Outputs
 *   s                    float    []
 *
 * Compile with -mavx2 -mfma. Other builds take the portable form of the instructions: the same bits, slower.
 *
 * Model's SHA-256: 996c74b5087c24cc8c8a6ba99935eaa201736cb85c1080085bc548217feb7180
 */
#ifndef REDUCTION_LANES_H
#define REDUCTION_LANES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDUCTION_LANES_MODEL "reduction-lanes.te"
#define REDUCTION_LANES_MODEL_SHA256 "996c74b5087c24cc8c8a6ba99935eaa201736cb85c1080085bc548217feb7180"
#define REDUCTION_LANES_TARGET "x86-avx2"
#define REDUCTION_LANES_OPTIONS ""

#define REDUCTION_LANES_ARENA_SIZE   0u     /* bytes of scratch memory reduction_lanes_run needs */
#define REDUCTION_LANES_ARENA_ALIGN  32u
#define REDUCTION_LANES_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static REDUCTION_LANES_ARENA(memory);`, passed as reduction_lanes_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define REDUCTION_LANES_ARENA(name) unsigned char name[1] __attribute__((aligned(REDUCTION_LANES_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define REDUCTION_LANES_ARENA(name) unsigned char name alignas(REDUCTION_LANES_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define REDUCTION_LANES_ARENA(name) _Alignas(REDUCTION_LANES_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: reduction_lanes_run rejects a misaligned arena */
#define REDUCTION_LANES_ARENA(name) long double name[1]
#endif

#define REDUCTION_LANES_E_ARENA (-1)     /* the arena is null or misaligned */
#define REDUCTION_LANES_E_DIM   (-2)     /* a size is outside of its declared range */
#define REDUCTION_LANES_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define REDUCTION_LANES_INPUTS(X) X(x, float, 64)
#define REDUCTION_LANES_OUTPUTS(X) X(s, float, 1)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define REDUCTION_LANES_X_TYPE       float
#define REDUCTION_LANES_X_RANK       1
#define REDUCTION_LANES_X_DIMS       { 64 }
#define REDUCTION_LANES_X_ELEMS      64u
#define REDUCTION_LANES_X_BYTES      256u
#define REDUCTION_LANES_S_TYPE       float
#define REDUCTION_LANES_S_RANK       0
#define REDUCTION_LANES_S_ELEMS      1u
#define REDUCTION_LANES_S_BYTES      4u

struct reduction_lanes_inputs {
    const float *x;
};
struct reduction_lanes_outputs {
    float *s;
};

/* Runs the model once. Returns 0, or a negative REDUCTION_LANES_E... code. Reentrant: all state is in the arena. */
int reduction_lanes_run(void *arena, const struct reduction_lanes_inputs *in,
    const struct reduction_lanes_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
