/* recurrence: recurrence.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [8][3]
 * Outputs
 *   y                    float    [8][3]
 */
#ifndef RECURRENCE_H
#define RECURRENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RECURRENCE_ARENA_SIZE   0u     /* bytes of scratch memory recurrence_run needs */
#define RECURRENCE_ARENA_ALIGN  16u
#define RECURRENCE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RECURRENCE_ARENA(memory);`, passed as recurrence_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RECURRENCE_ARENA(name) unsigned char name[1] __attribute__((aligned(RECURRENCE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RECURRENCE_ARENA(name) unsigned char name alignas(RECURRENCE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RECURRENCE_ARENA(name) _Alignas(RECURRENCE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: recurrence_run rejects a misaligned arena */
#define RECURRENCE_ARENA(name) long double name[1]
#endif

#define RECURRENCE_E_ARENA (-1)     /* the arena is null or misaligned */
#define RECURRENCE_E_DIM   (-2)     /* a size is outside of its declared range */
#define RECURRENCE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RECURRENCE_INPUTS(X) X(x, float, 24)
#define RECURRENCE_OUTPUTS(X) X(y, float, 24)

struct recurrence_inputs {
    const float *x;
};
struct recurrence_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative RECURRENCE_E... code. Reentrant: all state is in the arena. */
int recurrence_run(void *arena, const struct recurrence_inputs *in, const struct recurrence_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
