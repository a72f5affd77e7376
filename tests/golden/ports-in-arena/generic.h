/* ports_in_arena: ports-in-arena.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 * Outputs
 *   y                    float    [1][6]
 *
 * Model's SHA-256: dfd5600d4d4537b3ffeb3c98cf3a684734a8b8a2807b7dbfcb4d087bc7e69ed1
 * Options: --io arena
 */
#ifndef PORTS_IN_ARENA_H
#define PORTS_IN_ARENA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PORTS_IN_ARENA_MODEL "ports-in-arena.te"
#define PORTS_IN_ARENA_MODEL_SHA256 "dfd5600d4d4537b3ffeb3c98cf3a684734a8b8a2807b7dbfcb4d087bc7e69ed1"
#define PORTS_IN_ARENA_TARGET "generic"
#define PORTS_IN_ARENA_OPTIONS "--io arena"

#define PORTS_IN_ARENA_HEADER_HASH  0x108b6191     /* of the interface below; model.c compares it */
#define PORTS_IN_ARENA_ARENA_SIZE   48u     /* bytes of scratch memory ports_in_arena_run needs */
#define PORTS_IN_ARENA_ARENA_ALIGN  16u
#define PORTS_IN_ARENA_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PORTS_IN_ARENA_ARENA(memory);`, passed as ports_in_arena_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PORTS_IN_ARENA_ARENA(name) unsigned char name[PORTS_IN_ARENA_ARENA_SIZE] \
    __attribute__((aligned(PORTS_IN_ARENA_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PORTS_IN_ARENA_ARENA(name) unsigned char name alignas(PORTS_IN_ARENA_ARENA_ALIGN) [PORTS_IN_ARENA_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PORTS_IN_ARENA_ARENA(name) _Alignas(PORTS_IN_ARENA_ARENA_ALIGN) unsigned char name[PORTS_IN_ARENA_ARENA_SIZE]
#else     /* other C99 compilers: ports_in_arena_run rejects a misaligned arena */
#define PORTS_IN_ARENA_ARENA(name) long double name[7]
#endif

#define PORTS_IN_ARENA_E_ARENA (-1)     /* the arena is null or misaligned */
#define PORTS_IN_ARENA_E_DIM   (-2)     /* a size is outside its declared range */
#define PORTS_IN_ARENA_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PORTS_IN_ARENA_INPUTS(X) X(x, float, 6)
#define PORTS_IN_ARENA_OUTPUTS(X) X(y, float, 6)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PORTS_IN_ARENA_X_TYPE        float
#define PORTS_IN_ARENA_X_RANK        2
#define PORTS_IN_ARENA_X_DIMS        { 1, 6 }
#define PORTS_IN_ARENA_X_ELEMS       6u
#define PORTS_IN_ARENA_X_BYTES       24u
#define PORTS_IN_ARENA_Y_TYPE        float
#define PORTS_IN_ARENA_Y_RANK        2
#define PORTS_IN_ARENA_Y_DIMS        { 1, 6 }
#define PORTS_IN_ARENA_Y_ELEMS       6u
#define PORTS_IN_ARENA_Y_BYTES       24u

/* Offsets in the arena, in bytes; the pointers below hold these addresses. A run may reuse
 * an input's memory after its last read; outputs persist until the next run. */
#define PORTS_IN_ARENA_X_AT 16u
#define PORTS_IN_ARENA_Y_AT 0u

struct ports_in_arena_inputs {
    const float *x;
};
struct ports_in_arena_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PORTS_IN_ARENA_E... code. Reentrant: all state is in the arena. */
int ports_in_arena_run(void *arena, const struct ports_in_arena_inputs *in, const struct ports_in_arena_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
