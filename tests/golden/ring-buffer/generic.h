/* ring_buffer: ring-buffer.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [12][8]
 * Outputs
 *   y                    float    [10][8]
 *
 * Model's SHA-256: 273fd3909211ddad06091ffe88ea7bad7e028dd028aa19192f146bab262c5f2e
 */
#ifndef RING_BUFFER_H
#define RING_BUFFER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RING_BUFFER_MODEL "ring-buffer.te"
#define RING_BUFFER_MODEL_SHA256 "273fd3909211ddad06091ffe88ea7bad7e028dd028aa19192f146bab262c5f2e"
#define RING_BUFFER_TARGET "generic"
#define RING_BUFFER_OPTIONS ""

#define RING_BUFFER_ARENA_SIZE   96u     /* bytes of scratch memory ring_buffer_run needs */
#define RING_BUFFER_ARENA_ALIGN  16u
#define RING_BUFFER_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RING_BUFFER_ARENA(memory);`, passed as ring_buffer_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RING_BUFFER_ARENA(name) unsigned char name[RING_BUFFER_ARENA_SIZE] \
    __attribute__((aligned(RING_BUFFER_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RING_BUFFER_ARENA(name) unsigned char name alignas(RING_BUFFER_ARENA_ALIGN) [RING_BUFFER_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RING_BUFFER_ARENA(name) _Alignas(RING_BUFFER_ARENA_ALIGN) unsigned char name[RING_BUFFER_ARENA_SIZE]
#else     /* other C99 compilers: ring_buffer_run rejects a misaligned arena */
#define RING_BUFFER_ARENA(name) long double name[13]
#endif

#define RING_BUFFER_E_ARENA (-1)     /* the arena is null or misaligned */
#define RING_BUFFER_E_DIM   (-2)     /* a size is outside of its declared range */
#define RING_BUFFER_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RING_BUFFER_INPUTS(X) X(x, float, 96)
#define RING_BUFFER_OUTPUTS(X) X(y, float, 80)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define RING_BUFFER_X_TYPE           float
#define RING_BUFFER_X_RANK           2
#define RING_BUFFER_X_DIMS           { 12, 8 }
#define RING_BUFFER_X_ELEMS          96u
#define RING_BUFFER_X_BYTES          384u
#define RING_BUFFER_Y_TYPE           float
#define RING_BUFFER_Y_RANK           2
#define RING_BUFFER_Y_DIMS           { 10, 8 }
#define RING_BUFFER_Y_ELEMS          80u
#define RING_BUFFER_Y_BYTES          320u

struct ring_buffer_inputs {
    const float *x;
};
struct ring_buffer_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative RING_BUFFER_E... code. Reentrant: all state is in the arena. */
int ring_buffer_run(void *arena, const struct ring_buffer_inputs *in, const struct ring_buffer_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
