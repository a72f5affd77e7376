/* cache_read: cache-read.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [6]
 * Outputs
 *   y                    float    [8]
 *
 * Model's SHA-256: b1ae2373861381eac447d9d01a59beff2a164169d6da4466633e9aafa2472ca1
 */
#ifndef CACHE_READ_H
#define CACHE_READ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CACHE_READ_MODEL "cache-read.te"
#define CACHE_READ_MODEL_SHA256 "b1ae2373861381eac447d9d01a59beff2a164169d6da4466633e9aafa2472ca1"
#define CACHE_READ_TARGET "generic"
#define CACHE_READ_OPTIONS ""

#define CACHE_READ_ARENA_SIZE   0u     /* bytes of scratch memory cache_read_run needs */
#define CACHE_READ_ARENA_ALIGN  16u
#define CACHE_READ_WEIGHTS_SIZE 192u     /* bytes of constants */

/* Declares the arena: `static CACHE_READ_ARENA(memory);`, passed as cache_read_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CACHE_READ_ARENA(name) unsigned char name[1] __attribute__((aligned(CACHE_READ_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CACHE_READ_ARENA(name) unsigned char name alignas(CACHE_READ_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CACHE_READ_ARENA(name) _Alignas(CACHE_READ_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: cache_read_run rejects a misaligned arena */
#define CACHE_READ_ARENA(name) long double name[1]
#endif

#define CACHE_READ_E_ARENA (-1)     /* the arena is null or misaligned */
#define CACHE_READ_E_DIM   (-2)     /* a size is outside of its declared range */
#define CACHE_READ_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CACHE_READ_INPUTS(X) X(x, float, 6)
#define CACHE_READ_OUTPUTS(X) X(y, float, 8)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define CACHE_READ_X_TYPE            float
#define CACHE_READ_X_RANK            1
#define CACHE_READ_X_DIMS            { 6 }
#define CACHE_READ_X_ELEMS           6u
#define CACHE_READ_X_BYTES           24u
#define CACHE_READ_Y_TYPE            float
#define CACHE_READ_Y_RANK            1
#define CACHE_READ_Y_DIMS            { 8 }
#define CACHE_READ_Y_ELEMS           8u
#define CACHE_READ_Y_BYTES           32u

struct cache_read_inputs {
    const float *x;
};
struct cache_read_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative CACHE_READ_E... code. Reentrant: all state is in the arena. */
int cache_read_run(void *arena, const struct cache_read_inputs *in, const struct cache_read_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
