/* floor_division: floor-division.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int32_t  [10]
 * Outputs
 *   y                    int32_t  [10]
 *
 * Model's SHA-256: 427f360217fffccbe9add8551ae44ae0145b17c07c71ab1389b9f039da6b8562
 */
#ifndef FLOOR_DIVISION_H
#define FLOOR_DIVISION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOOR_DIVISION_MODEL "floor-division.te"
#define FLOOR_DIVISION_MODEL_SHA256 "427f360217fffccbe9add8551ae44ae0145b17c07c71ab1389b9f039da6b8562"
#define FLOOR_DIVISION_TARGET "generic"
#define FLOOR_DIVISION_OPTIONS ""

#define FLOOR_DIVISION_ARENA_SIZE   0u     /* bytes of scratch memory floor_division_run needs */
#define FLOOR_DIVISION_ARENA_ALIGN  16u
#define FLOOR_DIVISION_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static FLOOR_DIVISION_ARENA(memory);`, passed as floor_division_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define FLOOR_DIVISION_ARENA(name) unsigned char name[1] __attribute__((aligned(FLOOR_DIVISION_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define FLOOR_DIVISION_ARENA(name) unsigned char name alignas(FLOOR_DIVISION_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define FLOOR_DIVISION_ARENA(name) _Alignas(FLOOR_DIVISION_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: floor_division_run rejects a misaligned arena */
#define FLOOR_DIVISION_ARENA(name) long double name[1]
#endif

#define FLOOR_DIVISION_E_ARENA (-1)     /* the arena is null or misaligned */
#define FLOOR_DIVISION_E_DIM   (-2)     /* a size is outside of its declared range */
#define FLOOR_DIVISION_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define FLOOR_DIVISION_INPUTS(X) X(x, int32_t, 10)
#define FLOOR_DIVISION_OUTPUTS(X) X(y, int32_t, 10)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define FLOOR_DIVISION_X_TYPE        int32_t
#define FLOOR_DIVISION_X_RANK        1
#define FLOOR_DIVISION_X_DIMS        { 10 }
#define FLOOR_DIVISION_X_ELEMS       10u
#define FLOOR_DIVISION_X_BYTES       40u
#define FLOOR_DIVISION_Y_TYPE        int32_t
#define FLOOR_DIVISION_Y_RANK        1
#define FLOOR_DIVISION_Y_DIMS        { 10 }
#define FLOOR_DIVISION_Y_ELEMS       10u
#define FLOOR_DIVISION_Y_BYTES       40u

struct floor_division_inputs {
    const int32_t *x;
};
struct floor_division_outputs {
    int32_t *y;
};

/* Runs the model once. Returns 0, or a negative FLOOR_DIVISION_E... code. Reentrant: all state is in the arena. */
int floor_division_run(void *arena, const struct floor_division_inputs *in, const struct floor_division_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
