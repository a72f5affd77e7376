/* reorder_register_tile: reorder-register-tile.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [4][6]
 *   b                    float    [6][8]
 * Outputs
 *   c                    float    [4][8]
 */
#ifndef REORDER_REGISTER_TILE_H
#define REORDER_REGISTER_TILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
