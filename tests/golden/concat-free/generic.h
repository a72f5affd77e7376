/* concat_free: concat-free.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][4]
 *   z                    float    [1][4]
 * Outputs
 *   y                    float    [1][8]
 *
 * Model's SHA-256: 02cfec7fe4585e5311e7796adbb551841c90a06adaa527e5de2ed742714cca6f
 */
#ifndef CONCAT_FREE_H
#define CONCAT_FREE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONCAT_FREE_MODEL "concat-free.te"
#define CONCAT_FREE_MODEL_SHA256 "02cfec7fe4585e5311e7796adbb551841c90a06adaa527e5de2ed742714cca6f"
#define CONCAT_FREE_TARGET "generic"
#define CONCAT_FREE_OPTIONS ""

#define CONCAT_FREE_ARENA_SIZE   0u     /* bytes of scratch memory concat_free_run needs */
#define CONCAT_FREE_ARENA_ALIGN  16u
#define CONCAT_FREE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static CONCAT_FREE_ARENA(memory);`, passed as concat_free_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CONCAT_FREE_ARENA(name) unsigned char name[1] __attribute__((aligned(CONCAT_FREE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CONCAT_FREE_ARENA(name) unsigned char name alignas(CONCAT_FREE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CONCAT_FREE_ARENA(name) _Alignas(CONCAT_FREE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: concat_free_run rejects a misaligned arena */
#define CONCAT_FREE_ARENA(name) long double name[1]
#endif

#define CONCAT_FREE_E_ARENA (-1)     /* the arena is null or misaligned */
#define CONCAT_FREE_E_DIM   (-2)     /* a size is outside of its declared range */
#define CONCAT_FREE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CONCAT_FREE_INPUTS(X) \
    X(x, float, 4) \
    X(z, float, 4)
#define CONCAT_FREE_OUTPUTS(X) X(y, float, 8)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define CONCAT_FREE_X_TYPE           float
#define CONCAT_FREE_X_RANK           2
#define CONCAT_FREE_X_DIMS           { 1, 4 }
#define CONCAT_FREE_X_ELEMS          4u
#define CONCAT_FREE_X_BYTES          16u
#define CONCAT_FREE_Z_TYPE           float
#define CONCAT_FREE_Z_RANK           2
#define CONCAT_FREE_Z_DIMS           { 1, 4 }
#define CONCAT_FREE_Z_ELEMS          4u
#define CONCAT_FREE_Z_BYTES          16u
#define CONCAT_FREE_Y_TYPE           float
#define CONCAT_FREE_Y_RANK           2
#define CONCAT_FREE_Y_DIMS           { 1, 8 }
#define CONCAT_FREE_Y_ELEMS          8u
#define CONCAT_FREE_Y_BYTES          32u

struct concat_free_inputs {
    const float *x;
    const float *z;
};
struct concat_free_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative CONCAT_FREE_E... code. Reentrant: all state is in the arena. */
int concat_free_run(void *arena, const struct concat_free_inputs *in, const struct concat_free_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
