/* requantize: requantize.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int32_t  [12]
 * Outputs
 *   y                    int8_t   [12]
 *
 * Model's SHA-256: 0bc8ae8b6de3878f79511db84f1b55a85faa05d04e6008d8efb594d179cafd39
 */
#ifndef REQUANTIZE_H
#define REQUANTIZE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REQUANTIZE_MODEL "requantize.te"
#define REQUANTIZE_MODEL_SHA256 "0bc8ae8b6de3878f79511db84f1b55a85faa05d04e6008d8efb594d179cafd39"
#define REQUANTIZE_TARGET "generic"
#define REQUANTIZE_OPTIONS ""

#define REQUANTIZE_ARENA_SIZE   0u     /* bytes of scratch memory requantize_run needs */
#define REQUANTIZE_ARENA_ALIGN  16u
#define REQUANTIZE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static REQUANTIZE_ARENA(memory);`, passed as requantize_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define REQUANTIZE_ARENA(name) unsigned char name[1] __attribute__((aligned(REQUANTIZE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define REQUANTIZE_ARENA(name) unsigned char name alignas(REQUANTIZE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define REQUANTIZE_ARENA(name) _Alignas(REQUANTIZE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: requantize_run rejects a misaligned arena */
#define REQUANTIZE_ARENA(name) long double name[1]
#endif

#define REQUANTIZE_E_ARENA (-1)     /* the arena is null or misaligned */
#define REQUANTIZE_E_DIM   (-2)     /* a size is outside of its declared range */
#define REQUANTIZE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define REQUANTIZE_INPUTS(X) X(x, int32_t, 12)
#define REQUANTIZE_OUTPUTS(X) X(y, int8_t, 12)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define REQUANTIZE_X_TYPE            int32_t
#define REQUANTIZE_X_RANK            1
#define REQUANTIZE_X_DIMS            { 12 }
#define REQUANTIZE_X_ELEMS           12u
#define REQUANTIZE_X_BYTES           48u
#define REQUANTIZE_Y_TYPE            int8_t
#define REQUANTIZE_Y_RANK            1
#define REQUANTIZE_Y_DIMS            { 12 }
#define REQUANTIZE_Y_ELEMS           12u
#define REQUANTIZE_Y_BYTES           12u

struct requantize_inputs {
    const int32_t *x;
};
struct requantize_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative REQUANTIZE_E... code. Reentrant: all state is in the arena. */
int requantize_run(void *arena, const struct requantize_inputs *in, const struct requantize_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
