/* matmul_vectors: matmul-vectors.te for x86-avx512, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [4][6]
 *   b                    float    [6][32]
 *   bias                 float    [32]
 * Outputs
 *   c                    float    [4][32]
 *
 * Products and sums of floats round once, by fused multiply-adds. Processors without such an instruction
 * compute them in software, slowly, with the same bits; --float separate rounds twice.
 *
 * Compile with -mavx2 -mfma -mavx512f -mavx512bw -mavx512vl. Other builds take the portable form of the instructions:
 * the same bits, slower.
 *
 * Model's SHA-256: c0ef982426c9f233f30f047d07d5d6db803b90937b9220c48def787df85dd652
 */
#ifndef MATMUL_VECTORS_H
#define MATMUL_VECTORS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MATMUL_VECTORS_MODEL "matmul-vectors.te"
#define MATMUL_VECTORS_MODEL_SHA256 "c0ef982426c9f233f30f047d07d5d6db803b90937b9220c48def787df85dd652"
#define MATMUL_VECTORS_TARGET "x86-avx512"
#define MATMUL_VECTORS_OPTIONS ""

#define MATMUL_VECTORS_ARENA_SIZE   0u     /* bytes of scratch memory matmul_vectors_run needs */
#define MATMUL_VECTORS_ARENA_ALIGN  64u
#define MATMUL_VECTORS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static MATMUL_VECTORS_ARENA(memory);`, passed as matmul_vectors_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define MATMUL_VECTORS_ARENA(name) unsigned char name[1] __attribute__((aligned(MATMUL_VECTORS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define MATMUL_VECTORS_ARENA(name) unsigned char name alignas(MATMUL_VECTORS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MATMUL_VECTORS_ARENA(name) _Alignas(MATMUL_VECTORS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: matmul_vectors_run rejects a misaligned arena */
#define MATMUL_VECTORS_ARENA(name) long double name[1]
#endif

#define MATMUL_VECTORS_E_ARENA (-1)     /* the arena is null or misaligned */
#define MATMUL_VECTORS_E_DIM   (-2)     /* a size is outside of its declared range */
#define MATMUL_VECTORS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define MATMUL_VECTORS_INPUTS(X) \
    X(a, float, 24) \
    X(b, float, 192) \
    X(bias, float, 32)
#define MATMUL_VECTORS_OUTPUTS(X) X(c, float, 128)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define MATMUL_VECTORS_A_TYPE        float
#define MATMUL_VECTORS_A_RANK        2
#define MATMUL_VECTORS_A_DIMS        { 4, 6 }
#define MATMUL_VECTORS_A_ELEMS       24u
#define MATMUL_VECTORS_A_BYTES       96u
#define MATMUL_VECTORS_B_TYPE        float
#define MATMUL_VECTORS_B_RANK        2
#define MATMUL_VECTORS_B_DIMS        { 6, 32 }
#define MATMUL_VECTORS_B_ELEMS       192u
#define MATMUL_VECTORS_B_BYTES       768u
#define MATMUL_VECTORS_BIAS_TYPE     float
#define MATMUL_VECTORS_BIAS_RANK     1
#define MATMUL_VECTORS_BIAS_DIMS     { 32 }
#define MATMUL_VECTORS_BIAS_ELEMS    32u
#define MATMUL_VECTORS_BIAS_BYTES    128u
#define MATMUL_VECTORS_C_TYPE        float
#define MATMUL_VECTORS_C_RANK        2
#define MATMUL_VECTORS_C_DIMS        { 4, 32 }
#define MATMUL_VECTORS_C_ELEMS       128u
#define MATMUL_VECTORS_C_BYTES       512u

struct matmul_vectors_inputs {
    const float *a;
    const float *b;
    const float *bias;
};
struct matmul_vectors_outputs {
    float *c;
};

/* Runs the model once. Returns 0, or a negative MATMUL_VECTORS_E... code. Reentrant: all state is in the arena. */
int matmul_vectors_run(void *arena, const struct matmul_vectors_inputs *in, const struct matmul_vectors_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
