/* forest: forest.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][2]
 * Outputs
 *   y                    float    [1][3]
 *
 * Model's SHA-256: 0adc4beed72c34182f812b2a290728ce35d93ad271f186bc88b40e0b8f943edd
 */
#ifndef FOREST_H
#define FOREST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREST_MODEL "forest.te"
#define FOREST_MODEL_SHA256 "0adc4beed72c34182f812b2a290728ce35d93ad271f186bc88b40e0b8f943edd"
#define FOREST_TARGET "generic"
#define FOREST_OPTIONS ""

#define FOREST_ARENA_SIZE   0u     /* bytes of scratch memory forest_run needs */
#define FOREST_ARENA_ALIGN  16u
#define FOREST_WEIGHTS_SIZE 18u     /* bytes of constants */

/* Declares the arena: `static FOREST_ARENA(memory);`, passed as forest_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define FOREST_ARENA(name) unsigned char name[1] __attribute__((aligned(FOREST_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define FOREST_ARENA(name) unsigned char name alignas(FOREST_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define FOREST_ARENA(name) _Alignas(FOREST_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: forest_run rejects a misaligned arena */
#define FOREST_ARENA(name) long double name[1]
#endif

#define FOREST_E_ARENA (-1)     /* the arena is null or misaligned */
#define FOREST_E_DIM   (-2)     /* a size is outside of its declared range */
#define FOREST_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define FOREST_INPUTS(X) X(x, int8_t, 2)
#define FOREST_OUTPUTS(X) X(y, float, 3)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define FOREST_X_TYPE                int8_t
#define FOREST_X_RANK                2
#define FOREST_X_DIMS                { 1, 2 }
#define FOREST_X_ELEMS               2u
#define FOREST_X_BYTES               2u
#define FOREST_Y_TYPE                float
#define FOREST_Y_RANK                2
#define FOREST_Y_DIMS                { 1, 3 }
#define FOREST_Y_ELEMS               3u
#define FOREST_Y_BYTES               12u

struct forest_inputs {
    const int8_t *x;
};
struct forest_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative FOREST_E... code. Reentrant: all state is in the arena. */
int forest_run(void *arena, const struct forest_inputs *in, const struct forest_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
