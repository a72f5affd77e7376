/* unroll_part: unroll-part.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [22]
 * Outputs
 *   y                    float    [22]
 *
 * Model's SHA-256: fd0c274e7536eff152032dd085fbef57bfd0f2a150bd21fa6bdc556988cac71a
 */
#ifndef UNROLL_PART_H
#define UNROLL_PART_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNROLL_PART_MODEL "unroll-part.te"
#define UNROLL_PART_MODEL_SHA256 "fd0c274e7536eff152032dd085fbef57bfd0f2a150bd21fa6bdc556988cac71a"
#define UNROLL_PART_TARGET "generic"
#define UNROLL_PART_OPTIONS ""

#define UNROLL_PART_ARENA_SIZE   0u     /* bytes of scratch memory unroll_part_run needs */
#define UNROLL_PART_ARENA_ALIGN  16u
#define UNROLL_PART_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static UNROLL_PART_ARENA(memory);`, passed as unroll_part_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define UNROLL_PART_ARENA(name) unsigned char name[1] __attribute__((aligned(UNROLL_PART_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define UNROLL_PART_ARENA(name) unsigned char name alignas(UNROLL_PART_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define UNROLL_PART_ARENA(name) _Alignas(UNROLL_PART_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: unroll_part_run rejects a misaligned arena */
#define UNROLL_PART_ARENA(name) long double name[1]
#endif

#define UNROLL_PART_E_ARENA (-1)     /* the arena is null or misaligned */
#define UNROLL_PART_E_DIM   (-2)     /* a size is outside of its declared range */
#define UNROLL_PART_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define UNROLL_PART_INPUTS(X) X(x, float, 22)
#define UNROLL_PART_OUTPUTS(X) X(y, float, 22)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define UNROLL_PART_X_TYPE           float
#define UNROLL_PART_X_RANK           1
#define UNROLL_PART_X_DIMS           { 22 }
#define UNROLL_PART_X_ELEMS          22u
#define UNROLL_PART_X_BYTES          88u
#define UNROLL_PART_Y_TYPE           float
#define UNROLL_PART_Y_RANK           1
#define UNROLL_PART_Y_DIMS           { 22 }
#define UNROLL_PART_Y_ELEMS          22u
#define UNROLL_PART_Y_BYTES          88u

struct unroll_part_inputs {
    const float *x;
};
struct unroll_part_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative UNROLL_PART_E... code. Reentrant: all state is in the arena. */
int unroll_part_run(void *arena, const struct unroll_part_inputs *in, const struct unroll_part_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
