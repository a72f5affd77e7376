/* vector_lanes: vector-lanes.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [29]
 *   b                    float    [29]
 * Outputs
 *   y                    float    [29]
 *
 * Compile with -mavx2 -mfma. Other builds take the portable form of the instructions: the same bits, slower.
 *
 * Model's SHA-256: 4a2b9f5b8e1fd78a0e6fb60eaa19fdf571942f4396fdc529af1824a53a2b04a7
 */
#ifndef VECTOR_LANES_H
#define VECTOR_LANES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VECTOR_LANES_MODEL "vector-lanes.te"
#define VECTOR_LANES_MODEL_SHA256 "4a2b9f5b8e1fd78a0e6fb60eaa19fdf571942f4396fdc529af1824a53a2b04a7"
#define VECTOR_LANES_TARGET "x86-avx2"
#define VECTOR_LANES_OPTIONS ""

#define VECTOR_LANES_ARENA_SIZE   0u     /* bytes of scratch memory vector_lanes_run needs */
#define VECTOR_LANES_ARENA_ALIGN  32u
#define VECTOR_LANES_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static VECTOR_LANES_ARENA(memory);`, passed as vector_lanes_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define VECTOR_LANES_ARENA(name) unsigned char name[1] __attribute__((aligned(VECTOR_LANES_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define VECTOR_LANES_ARENA(name) unsigned char name alignas(VECTOR_LANES_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define VECTOR_LANES_ARENA(name) _Alignas(VECTOR_LANES_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: vector_lanes_run rejects a misaligned arena */
#define VECTOR_LANES_ARENA(name) long double name[1]
#endif

#define VECTOR_LANES_E_ARENA (-1)     /* the arena is null or misaligned */
#define VECTOR_LANES_E_DIM   (-2)     /* a size is outside of its declared range */
#define VECTOR_LANES_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define VECTOR_LANES_INPUTS(X) \
    X(x, float, 29) \
    X(b, float, 29)
#define VECTOR_LANES_OUTPUTS(X) X(y, float, 29)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define VECTOR_LANES_X_TYPE          float
#define VECTOR_LANES_X_RANK          1
#define VECTOR_LANES_X_DIMS          { 29 }
#define VECTOR_LANES_X_ELEMS         29u
#define VECTOR_LANES_X_BYTES         116u
#define VECTOR_LANES_B_TYPE          float
#define VECTOR_LANES_B_RANK          1
#define VECTOR_LANES_B_DIMS          { 29 }
#define VECTOR_LANES_B_ELEMS         29u
#define VECTOR_LANES_B_BYTES         116u
#define VECTOR_LANES_Y_TYPE          float
#define VECTOR_LANES_Y_RANK          1
#define VECTOR_LANES_Y_DIMS          { 29 }
#define VECTOR_LANES_Y_ELEMS         29u
#define VECTOR_LANES_Y_BYTES         116u

struct vector_lanes_inputs {
    const float *x;
    const float *b;
};
struct vector_lanes_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative VECTOR_LANES_E... code. Reentrant: all state is in the arena. */
int vector_lanes_run(void *arena, const struct vector_lanes_inputs *in, const struct vector_lanes_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
