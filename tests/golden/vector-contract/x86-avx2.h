/* vector_contract: vector-contract.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [16]
 *   b                    float    [16]
 * Outputs
 *   y                    float    [16]
 *
 * Products and sums of floats round once, by fused multiply-adds. Processors without such an instruction
 * compute them in software, slowly, with the same bits; --float separate rounds twice.
 *
 * Compile with -mavx2 -mfma. Other builds take the portable form of the instructions: the same bits, slower.
 *
 * Model's SHA-256: c540632ee45f360a8d2f5ac46970bea8bff66839b61b1d2b8aa4a93543f3ff9f
 */
#ifndef VECTOR_CONTRACT_H
#define VECTOR_CONTRACT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VECTOR_CONTRACT_MODEL "vector-contract.te"
#define VECTOR_CONTRACT_MODEL_SHA256 "c540632ee45f360a8d2f5ac46970bea8bff66839b61b1d2b8aa4a93543f3ff9f"
#define VECTOR_CONTRACT_TARGET "x86-avx2"
#define VECTOR_CONTRACT_OPTIONS ""

#define VECTOR_CONTRACT_ARENA_SIZE   0u     /* bytes of scratch memory vector_contract_run needs */
#define VECTOR_CONTRACT_ARENA_ALIGN  32u
#define VECTOR_CONTRACT_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static VECTOR_CONTRACT_ARENA(memory);`, passed as vector_contract_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define VECTOR_CONTRACT_ARENA(name) unsigned char name[1] __attribute__((aligned(VECTOR_CONTRACT_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define VECTOR_CONTRACT_ARENA(name) unsigned char name alignas(VECTOR_CONTRACT_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define VECTOR_CONTRACT_ARENA(name) _Alignas(VECTOR_CONTRACT_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: vector_contract_run rejects a misaligned arena */
#define VECTOR_CONTRACT_ARENA(name) long double name[1]
#endif

#define VECTOR_CONTRACT_E_ARENA (-1)     /* the arena is null or misaligned */
#define VECTOR_CONTRACT_E_DIM   (-2)     /* a size is outside of its declared range */
#define VECTOR_CONTRACT_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define VECTOR_CONTRACT_INPUTS(X) \
    X(x, float, 16) \
    X(b, float, 16)
#define VECTOR_CONTRACT_OUTPUTS(X) X(y, float, 16)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define VECTOR_CONTRACT_X_TYPE       float
#define VECTOR_CONTRACT_X_RANK       1
#define VECTOR_CONTRACT_X_DIMS       { 16 }
#define VECTOR_CONTRACT_X_ELEMS      16u
#define VECTOR_CONTRACT_X_BYTES      64u
#define VECTOR_CONTRACT_B_TYPE       float
#define VECTOR_CONTRACT_B_RANK       1
#define VECTOR_CONTRACT_B_DIMS       { 16 }
#define VECTOR_CONTRACT_B_ELEMS      16u
#define VECTOR_CONTRACT_B_BYTES      64u
#define VECTOR_CONTRACT_Y_TYPE       float
#define VECTOR_CONTRACT_Y_RANK       1
#define VECTOR_CONTRACT_Y_DIMS       { 16 }
#define VECTOR_CONTRACT_Y_ELEMS      16u
#define VECTOR_CONTRACT_Y_BYTES      64u

struct vector_contract_inputs {
    const float *x;
    const float *b;
};
struct vector_contract_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative VECTOR_CONTRACT_E... code. Reentrant: all state is in the arena. */
int vector_contract_run(void *arena, const struct vector_contract_inputs *in,
    const struct vector_contract_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
