/* matmul_tiled: matmul-tiled.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [6][5]
 *   b                    float    [5][8]
 * Outputs
 *   y                    float    [6][8]
 *
 * Model's SHA-256: 5a0f9183efd5ff5dcd56257946be64c1218e60cfbc7382ffc74d4216de2493d0
 */
#ifndef MATMUL_TILED_H
#define MATMUL_TILED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MATMUL_TILED_MODEL "matmul-tiled.te"
#define MATMUL_TILED_MODEL_SHA256 "5a0f9183efd5ff5dcd56257946be64c1218e60cfbc7382ffc74d4216de2493d0"
#define MATMUL_TILED_TARGET "generic"
#define MATMUL_TILED_OPTIONS ""

#define MATMUL_TILED_ARENA_SIZE   0u     /* bytes of scratch memory matmul_tiled_run needs */
#define MATMUL_TILED_ARENA_ALIGN  16u
#define MATMUL_TILED_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static MATMUL_TILED_ARENA(memory);`, passed as matmul_tiled_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define MATMUL_TILED_ARENA(name) unsigned char name[1] __attribute__((aligned(MATMUL_TILED_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define MATMUL_TILED_ARENA(name) unsigned char name alignas(MATMUL_TILED_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MATMUL_TILED_ARENA(name) _Alignas(MATMUL_TILED_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: matmul_tiled_run rejects a misaligned arena */
#define MATMUL_TILED_ARENA(name) long double name[1]
#endif

#define MATMUL_TILED_E_ARENA (-1)     /* the arena is null or misaligned */
#define MATMUL_TILED_E_DIM   (-2)     /* a size is outside of its declared range */
#define MATMUL_TILED_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define MATMUL_TILED_INPUTS(X) \
    X(a, float, 30) \
    X(b, float, 40)
#define MATMUL_TILED_OUTPUTS(X) X(y, float, 48)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define MATMUL_TILED_A_TYPE          float
#define MATMUL_TILED_A_RANK          2
#define MATMUL_TILED_A_DIMS          { 6, 5 }
#define MATMUL_TILED_A_ELEMS         30u
#define MATMUL_TILED_A_BYTES         120u
#define MATMUL_TILED_B_TYPE          float
#define MATMUL_TILED_B_RANK          2
#define MATMUL_TILED_B_DIMS          { 5, 8 }
#define MATMUL_TILED_B_ELEMS         40u
#define MATMUL_TILED_B_BYTES         160u
#define MATMUL_TILED_Y_TYPE          float
#define MATMUL_TILED_Y_RANK          2
#define MATMUL_TILED_Y_DIMS          { 6, 8 }
#define MATMUL_TILED_Y_ELEMS         48u
#define MATMUL_TILED_Y_BYTES         192u

struct matmul_tiled_inputs {
    const float *a;
    const float *b;
};
struct matmul_tiled_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative MATMUL_TILED_E... code. Reentrant: all state is in the arena. */
int matmul_tiled_run(void *arena, const struct matmul_tiled_inputs *in, const struct matmul_tiled_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
