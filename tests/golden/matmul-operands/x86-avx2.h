/* matmul_operands: matmul-operands.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [2][6]
 *   b                    float    [6][24]
 * Outputs
 *   c                    float    [2][24]
 *
 * Products and sums of floats round once, by fused multiply-adds. Processors without such an instruction
 * compute them in software, slowly, with the same bits; --float separate rounds twice.
 *
 * Compile with -mavx2 -mfma. Other builds take the portable form of the instructions: the same bits, slower.
 *
 * Model's SHA-256: 5e83585c18a27c062ae48990013bbf17c97552475ef9c4797ed9990e888f3679
 */
#ifndef MATMUL_OPERANDS_H
#define MATMUL_OPERANDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MATMUL_OPERANDS_MODEL "matmul-operands.te"
#define MATMUL_OPERANDS_MODEL_SHA256 "5e83585c18a27c062ae48990013bbf17c97552475ef9c4797ed9990e888f3679"
#define MATMUL_OPERANDS_TARGET "x86-avx2"
#define MATMUL_OPERANDS_OPTIONS ""

#define MATMUL_OPERANDS_ARENA_SIZE   0u     /* bytes of scratch memory matmul_operands_run needs */
#define MATMUL_OPERANDS_ARENA_ALIGN  32u
#define MATMUL_OPERANDS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static MATMUL_OPERANDS_ARENA(memory);`, passed as matmul_operands_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define MATMUL_OPERANDS_ARENA(name) unsigned char name[1] __attribute__((aligned(MATMUL_OPERANDS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define MATMUL_OPERANDS_ARENA(name) unsigned char name alignas(MATMUL_OPERANDS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MATMUL_OPERANDS_ARENA(name) _Alignas(MATMUL_OPERANDS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: matmul_operands_run rejects a misaligned arena */
#define MATMUL_OPERANDS_ARENA(name) long double name[1]
#endif

#define MATMUL_OPERANDS_E_ARENA (-1)     /* the arena is null or misaligned */
#define MATMUL_OPERANDS_E_DIM   (-2)     /* a size is outside of its declared range */
#define MATMUL_OPERANDS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define MATMUL_OPERANDS_INPUTS(X) \
    X(a, float, 12) \
    X(b, float, 144)
#define MATMUL_OPERANDS_OUTPUTS(X) X(c, float, 48)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define MATMUL_OPERANDS_A_TYPE       float
#define MATMUL_OPERANDS_A_RANK       2
#define MATMUL_OPERANDS_A_DIMS       { 2, 6 }
#define MATMUL_OPERANDS_A_ELEMS      12u
#define MATMUL_OPERANDS_A_BYTES      48u
#define MATMUL_OPERANDS_B_TYPE       float
#define MATMUL_OPERANDS_B_RANK       2
#define MATMUL_OPERANDS_B_DIMS       { 6, 24 }
#define MATMUL_OPERANDS_B_ELEMS      144u
#define MATMUL_OPERANDS_B_BYTES      576u
#define MATMUL_OPERANDS_C_TYPE       float
#define MATMUL_OPERANDS_C_RANK       2
#define MATMUL_OPERANDS_C_DIMS       { 2, 24 }
#define MATMUL_OPERANDS_C_ELEMS      48u
#define MATMUL_OPERANDS_C_BYTES      192u

struct matmul_operands_inputs {
    const float *a;
    const float *b;
};
struct matmul_operands_outputs {
    float *c;
};

/* Runs the model once. Returns 0, or a negative MATMUL_OPERANDS_E... code. Reentrant: all state is in the arena. */
int matmul_operands_run(void *arena, const struct matmul_operands_inputs *in,
    const struct matmul_operands_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
