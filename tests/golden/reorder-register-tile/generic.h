/* reorder_register_tile: reorder-register-tile.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [4][6]
 *   b                    float    [6][8]
 * Outputs
 *   c                    float    [4][8]
 *
 * Model's SHA-256: bfe7d65a0172209ba4ce73ee8c98464979ef46fac506306b85cf68f7fa00ba01
 */
#ifndef REORDER_REGISTER_TILE_H
#define REORDER_REGISTER_TILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REORDER_REGISTER_TILE_MODEL "reorder-register-tile.te"
#define REORDER_REGISTER_TILE_MODEL_SHA256 "bfe7d65a0172209ba4ce73ee8c98464979ef46fac506306b85cf68f7fa00ba01"
#define REORDER_REGISTER_TILE_TARGET "generic"
#define REORDER_REGISTER_TILE_OPTIONS ""

#define REORDER_REGISTER_TILE_ARENA_SIZE   0u     /* bytes of scratch memory reorder_register_tile_run needs */
#define REORDER_REGISTER_TILE_ARENA_ALIGN  16u
#define REORDER_REGISTER_TILE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static REORDER_REGISTER_TILE_ARENA(memory);`, passed as reorder_register_tile_run(memory,
 * ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define REORDER_REGISTER_TILE_ARENA(name) unsigned char name[1] \
    __attribute__((aligned(REORDER_REGISTER_TILE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define REORDER_REGISTER_TILE_ARENA(name) unsigned char name alignas(REORDER_REGISTER_TILE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define REORDER_REGISTER_TILE_ARENA(name) _Alignas(REORDER_REGISTER_TILE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: reorder_register_tile_run rejects a misaligned arena */
#define REORDER_REGISTER_TILE_ARENA(name) long double name[1]
#endif

#define REORDER_REGISTER_TILE_E_ARENA (-1)     /* the arena is null or misaligned */
#define REORDER_REGISTER_TILE_E_DIM   (-2)     /* a size is outside of its declared range */
#define REORDER_REGISTER_TILE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define REORDER_REGISTER_TILE_INPUTS(X) \
    X(a, float, 24) \
    X(b, float, 48)
#define REORDER_REGISTER_TILE_OUTPUTS(X) X(c, float, 32)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define REORDER_REGISTER_TILE_A_TYPE float
#define REORDER_REGISTER_TILE_A_RANK 2
#define REORDER_REGISTER_TILE_A_DIMS { 4, 6 }
#define REORDER_REGISTER_TILE_A_ELEMS 24u
#define REORDER_REGISTER_TILE_A_BYTES 96u
#define REORDER_REGISTER_TILE_B_TYPE float
#define REORDER_REGISTER_TILE_B_RANK 2
#define REORDER_REGISTER_TILE_B_DIMS { 6, 8 }
#define REORDER_REGISTER_TILE_B_ELEMS 48u
#define REORDER_REGISTER_TILE_B_BYTES 192u
#define REORDER_REGISTER_TILE_C_TYPE float
#define REORDER_REGISTER_TILE_C_RANK 2
#define REORDER_REGISTER_TILE_C_DIMS { 4, 8 }
#define REORDER_REGISTER_TILE_C_ELEMS 32u
#define REORDER_REGISTER_TILE_C_BYTES 128u

struct reorder_register_tile_inputs {
    const float *a;
    const float *b;
};
struct reorder_register_tile_outputs {
    float *c;
};

/* Runs the model once. Returns 0, or a negative REORDER_REGISTER_TILE_E... code. Reentrant: all state is in the
 * arena. */
int reorder_register_tile_run(void *arena, const struct reorder_register_tile_inputs *in,
    const struct reorder_register_tile_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
