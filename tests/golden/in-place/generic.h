/* in_place: in-place.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 * Outputs
 *   z                    float    [1][6]
 *
 * Model's SHA-256: de9376032c13bbf96b33df0ba044dc009d4bff53ceda149369b79ba60b5c8d29
 */
#ifndef IN_PLACE_H
#define IN_PLACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IN_PLACE_MODEL "in-place.te"
#define IN_PLACE_MODEL_SHA256 "de9376032c13bbf96b33df0ba044dc009d4bff53ceda149369b79ba60b5c8d29"
#define IN_PLACE_TARGET "generic"
#define IN_PLACE_OPTIONS ""

#define IN_PLACE_ARENA_SIZE   0u     /* bytes of scratch memory in_place_run needs */
#define IN_PLACE_ARENA_ALIGN  16u
#define IN_PLACE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static IN_PLACE_ARENA(memory);`, passed as in_place_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define IN_PLACE_ARENA(name) unsigned char name[1] __attribute__((aligned(IN_PLACE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define IN_PLACE_ARENA(name) unsigned char name alignas(IN_PLACE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define IN_PLACE_ARENA(name) _Alignas(IN_PLACE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: in_place_run rejects a misaligned arena */
#define IN_PLACE_ARENA(name) long double name[1]
#endif

#define IN_PLACE_E_ARENA (-1)     /* the arena is null or misaligned */
#define IN_PLACE_E_DIM   (-2)     /* a size is outside of its declared range */
#define IN_PLACE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define IN_PLACE_INPUTS(X) X(x, float, 6)
#define IN_PLACE_OUTPUTS(X) X(z, float, 6)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define IN_PLACE_X_TYPE              float
#define IN_PLACE_X_RANK              2
#define IN_PLACE_X_DIMS              { 1, 6 }
#define IN_PLACE_X_ELEMS             6u
#define IN_PLACE_X_BYTES             24u
#define IN_PLACE_Z_TYPE              float
#define IN_PLACE_Z_RANK              2
#define IN_PLACE_Z_DIMS              { 1, 6 }
#define IN_PLACE_Z_ELEMS             6u
#define IN_PLACE_Z_BYTES             24u

struct in_place_inputs {
    const float *x;
};
struct in_place_outputs {
    float *z;
};

/* Runs the model once. Returns 0, or a negative IN_PLACE_E... code. Reentrant: all state is in the arena. */
int in_place_run(void *arena, const struct in_place_inputs *in, const struct in_place_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
