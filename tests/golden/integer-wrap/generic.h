/* integer_wrap: integer-wrap.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [16]
 * Outputs
 *   y                    int8_t   [16]
 *
 * Model's SHA-256: ac281f8b3d4af9ec2f8a72bac6c8951877d62487b4219203ca69abeb492988d7
 */
#ifndef INTEGER_WRAP_H
#define INTEGER_WRAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INTEGER_WRAP_MODEL "integer-wrap.te"
#define INTEGER_WRAP_MODEL_SHA256 "ac281f8b3d4af9ec2f8a72bac6c8951877d62487b4219203ca69abeb492988d7"
#define INTEGER_WRAP_TARGET "generic"
#define INTEGER_WRAP_OPTIONS ""

#define INTEGER_WRAP_ARENA_SIZE   0u     /* bytes of scratch memory integer_wrap_run needs */
#define INTEGER_WRAP_ARENA_ALIGN  16u
#define INTEGER_WRAP_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static INTEGER_WRAP_ARENA(memory);`, passed as integer_wrap_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define INTEGER_WRAP_ARENA(name) unsigned char name[1] __attribute__((aligned(INTEGER_WRAP_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define INTEGER_WRAP_ARENA(name) unsigned char name alignas(INTEGER_WRAP_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define INTEGER_WRAP_ARENA(name) _Alignas(INTEGER_WRAP_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: integer_wrap_run rejects a misaligned arena */
#define INTEGER_WRAP_ARENA(name) long double name[1]
#endif

#define INTEGER_WRAP_E_ARENA (-1)     /* the arena is null or misaligned */
#define INTEGER_WRAP_E_DIM   (-2)     /* a size is outside of its declared range */
#define INTEGER_WRAP_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define INTEGER_WRAP_INPUTS(X) X(x, int8_t, 16)
#define INTEGER_WRAP_OUTPUTS(X) X(y, int8_t, 16)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define INTEGER_WRAP_X_TYPE          int8_t
#define INTEGER_WRAP_X_RANK          1
#define INTEGER_WRAP_X_DIMS          { 16 }
#define INTEGER_WRAP_X_ELEMS         16u
#define INTEGER_WRAP_X_BYTES         16u
#define INTEGER_WRAP_Y_TYPE          int8_t
#define INTEGER_WRAP_Y_RANK          1
#define INTEGER_WRAP_Y_DIMS          { 16 }
#define INTEGER_WRAP_Y_ELEMS         16u
#define INTEGER_WRAP_Y_BYTES         16u

struct integer_wrap_inputs {
    const int8_t *x;
};
struct integer_wrap_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative INTEGER_WRAP_E... code. Reentrant: all state is in the arena. */
int integer_wrap_run(void *arena, const struct integer_wrap_inputs *in, const struct integer_wrap_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
