/* specialize: specialize.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [n]
 * Outputs
 *   y                    float    [n]
 *
 * Model's SHA-256: d6b3c9bb763c1428cfb113e65b9f7f8323a1d4b8db90e1558648d53c64fc5301
 */
#ifndef SPECIALIZE_H
#define SPECIALIZE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPECIALIZE_MODEL "specialize.te"
#define SPECIALIZE_MODEL_SHA256 "d6b3c9bb763c1428cfb113e65b9f7f8323a1d4b8db90e1558648d53c64fc5301"
#define SPECIALIZE_TARGET "generic"
#define SPECIALIZE_OPTIONS ""

#define SPECIALIZE_ARENA_SIZE   0u     /* bytes of scratch memory specialize_run needs */
#define SPECIALIZE_ARENA_ALIGN  16u
#define SPECIALIZE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SPECIALIZE_ARENA(memory);`, passed as specialize_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SPECIALIZE_ARENA(name) unsigned char name[1] __attribute__((aligned(SPECIALIZE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SPECIALIZE_ARENA(name) unsigned char name alignas(SPECIALIZE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SPECIALIZE_ARENA(name) _Alignas(SPECIALIZE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: specialize_run rejects a misaligned arena */
#define SPECIALIZE_ARENA(name) long double name[1]
#endif

#define SPECIALIZE_E_ARENA (-1)     /* the arena is null or misaligned */
#define SPECIALIZE_E_DIM   (-2)     /* a size is outside of its declared range */
#define SPECIALIZE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SPECIALIZE_INPUTS(X) X(x, float, 64)
#define SPECIALIZE_OUTPUTS(X) X(y, float, 64)

/* Of each: type, shape (open sizes: maximum), elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SPECIALIZE_X_TYPE            float
#define SPECIALIZE_X_RANK            1
#define SPECIALIZE_X_DIMS            { 64 }
#define SPECIALIZE_X_ELEMS           64u
#define SPECIALIZE_X_BYTES           256u
#define SPECIALIZE_Y_TYPE            float
#define SPECIALIZE_Y_RANK            1
#define SPECIALIZE_Y_DIMS            { 64 }
#define SPECIALIZE_Y_ELEMS           64u
#define SPECIALIZE_Y_BYTES           256u

struct specialize_inputs {
    const float *x;
    int32_t n;    /* 4 to 64 */
};
struct specialize_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SPECIALIZE_E... code. Reentrant: all state is in the arena. */
int specialize_run(void *arena, const struct specialize_inputs *in, const struct specialize_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
