/* padding_as_bounds: padding-as-bounds.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [40]
 *   k                    float    [3]
 * Outputs
 *   y                    float    [40]
 *
 * Model's SHA-256: 5f6e513eb956947c32f7b35a08b1ceac770e6c0fa25528af7f4a760bcc81bd3d
 */
#ifndef PADDING_AS_BOUNDS_H
#define PADDING_AS_BOUNDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PADDING_AS_BOUNDS_MODEL "padding-as-bounds.te"
#define PADDING_AS_BOUNDS_MODEL_SHA256 "5f6e513eb956947c32f7b35a08b1ceac770e6c0fa25528af7f4a760bcc81bd3d"
#define PADDING_AS_BOUNDS_TARGET "generic"
#define PADDING_AS_BOUNDS_OPTIONS ""

#define PADDING_AS_BOUNDS_ARENA_SIZE   0u     /* bytes of scratch memory padding_as_bounds_run needs */
#define PADDING_AS_BOUNDS_ARENA_ALIGN  16u
#define PADDING_AS_BOUNDS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PADDING_AS_BOUNDS_ARENA(memory);`, passed as padding_as_bounds_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PADDING_AS_BOUNDS_ARENA(name) unsigned char name[1] __attribute__((aligned(PADDING_AS_BOUNDS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PADDING_AS_BOUNDS_ARENA(name) unsigned char name alignas(PADDING_AS_BOUNDS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PADDING_AS_BOUNDS_ARENA(name) _Alignas(PADDING_AS_BOUNDS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: padding_as_bounds_run rejects a misaligned arena */
#define PADDING_AS_BOUNDS_ARENA(name) long double name[1]
#endif

#define PADDING_AS_BOUNDS_E_ARENA (-1)     /* the arena is null or misaligned */
#define PADDING_AS_BOUNDS_E_DIM   (-2)     /* a size is outside of its declared range */
#define PADDING_AS_BOUNDS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PADDING_AS_BOUNDS_INPUTS(X) \
    X(x, float, 40) \
    X(k, float, 3)
#define PADDING_AS_BOUNDS_OUTPUTS(X) X(y, float, 40)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PADDING_AS_BOUNDS_X_TYPE     float
#define PADDING_AS_BOUNDS_X_RANK     1
#define PADDING_AS_BOUNDS_X_DIMS     { 40 }
#define PADDING_AS_BOUNDS_X_ELEMS    40u
#define PADDING_AS_BOUNDS_X_BYTES    160u
#define PADDING_AS_BOUNDS_K_TYPE     float
#define PADDING_AS_BOUNDS_K_RANK     1
#define PADDING_AS_BOUNDS_K_DIMS     { 3 }
#define PADDING_AS_BOUNDS_K_ELEMS    3u
#define PADDING_AS_BOUNDS_K_BYTES    12u
#define PADDING_AS_BOUNDS_Y_TYPE     float
#define PADDING_AS_BOUNDS_Y_RANK     1
#define PADDING_AS_BOUNDS_Y_DIMS     { 40 }
#define PADDING_AS_BOUNDS_Y_ELEMS    40u
#define PADDING_AS_BOUNDS_Y_BYTES    160u

struct padding_as_bounds_inputs {
    const float *x;
    const float *k;
};
struct padding_as_bounds_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PADDING_AS_BOUNDS_E... code. Reentrant: all state is in the arena. */
int padding_as_bounds_run(void *arena, const struct padding_as_bounds_inputs *in,
    const struct padding_as_bounds_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
