/* group_schedule: group-schedule.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [2][6]
 *   w                    float    [6][4]
 * Outputs
 *   y                    float    [2][4]
 *
 * Model's SHA-256: 87570e2e93aa7c7b0a3f48ed814b68c15d0c300c186dc9f72e1bf1ee460c0f51
 */
#ifndef GROUP_SCHEDULE_H
#define GROUP_SCHEDULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GROUP_SCHEDULE_MODEL "group-schedule.te"
#define GROUP_SCHEDULE_MODEL_SHA256 "87570e2e93aa7c7b0a3f48ed814b68c15d0c300c186dc9f72e1bf1ee460c0f51"
#define GROUP_SCHEDULE_TARGET "generic"
#define GROUP_SCHEDULE_OPTIONS ""

#define GROUP_SCHEDULE_ARENA_SIZE   48u     /* bytes of scratch memory group_schedule_run needs */
#define GROUP_SCHEDULE_ARENA_ALIGN  16u
#define GROUP_SCHEDULE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static GROUP_SCHEDULE_ARENA(memory);`, passed as group_schedule_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define GROUP_SCHEDULE_ARENA(name) unsigned char name[GROUP_SCHEDULE_ARENA_SIZE] \
    __attribute__((aligned(GROUP_SCHEDULE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define GROUP_SCHEDULE_ARENA(name) unsigned char name alignas(GROUP_SCHEDULE_ARENA_ALIGN) [GROUP_SCHEDULE_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define GROUP_SCHEDULE_ARENA(name) _Alignas(GROUP_SCHEDULE_ARENA_ALIGN) unsigned char name[GROUP_SCHEDULE_ARENA_SIZE]
#else     /* other C99 compilers: group_schedule_run rejects a misaligned arena */
#define GROUP_SCHEDULE_ARENA(name) long double name[7]
#endif

#define GROUP_SCHEDULE_E_ARENA (-1)     /* the arena is null or misaligned */
#define GROUP_SCHEDULE_E_DIM   (-2)     /* a size is outside of its declared range */
#define GROUP_SCHEDULE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define GROUP_SCHEDULE_INPUTS(X) \
    X(x, float, 12) \
    X(w, float, 24)
#define GROUP_SCHEDULE_OUTPUTS(X) X(y, float, 8)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define GROUP_SCHEDULE_X_TYPE        float
#define GROUP_SCHEDULE_X_RANK        2
#define GROUP_SCHEDULE_X_DIMS        { 2, 6 }
#define GROUP_SCHEDULE_X_ELEMS       12u
#define GROUP_SCHEDULE_X_BYTES       48u
#define GROUP_SCHEDULE_W_TYPE        float
#define GROUP_SCHEDULE_W_RANK        2
#define GROUP_SCHEDULE_W_DIMS        { 6, 4 }
#define GROUP_SCHEDULE_W_ELEMS       24u
#define GROUP_SCHEDULE_W_BYTES       96u
#define GROUP_SCHEDULE_Y_TYPE        float
#define GROUP_SCHEDULE_Y_RANK        2
#define GROUP_SCHEDULE_Y_DIMS        { 2, 4 }
#define GROUP_SCHEDULE_Y_ELEMS       8u
#define GROUP_SCHEDULE_Y_BYTES       32u

struct group_schedule_inputs {
    const float *x;
    const float *w;
};
struct group_schedule_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative GROUP_SCHEDULE_E... code. Reentrant: all state is in the arena. */
int group_schedule_run(void *arena, const struct group_schedule_inputs *in, const struct group_schedule_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
