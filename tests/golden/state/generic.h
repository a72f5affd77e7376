/* state: state.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][4]
 * Outputs
 *   y                    float    [1][4]
 * State
 *   h                    float    [1][4]
 *
 * Model's SHA-256: 3b1fc5a06b0524054ee04025a115591d5fa69ca07ec73e55a7905b15fbd235f9
 * Options: --state h=next
 */
#ifndef STATE_H
#define STATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STATE_MODEL "state.te"
#define STATE_MODEL_SHA256 "3b1fc5a06b0524054ee04025a115591d5fa69ca07ec73e55a7905b15fbd235f9"
#define STATE_TARGET "generic"
#define STATE_OPTIONS "--state h=next"

#define STATE_HEADER_HASH  0x14bce7ee     /* of the interface below; model.c compares it */
#define STATE_ARENA_SIZE   0u     /* bytes of scratch memory state_run needs */
#define STATE_ARENA_ALIGN  16u
#define STATE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static STATE_ARENA(memory);`, passed as state_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define STATE_ARENA(name) unsigned char name[1] __attribute__((aligned(STATE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define STATE_ARENA(name) unsigned char name alignas(STATE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define STATE_ARENA(name) _Alignas(STATE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: state_run rejects a misaligned arena */
#define STATE_ARENA(name) long double name[1]
#endif

#define STATE_E_ARENA (-1)     /* the arena is null or misaligned */
#define STATE_E_DIM   (-2)     /* a size is outside its declared range */
#define STATE_E_STATE (-3)     /* the state is null */
#define STATE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define STATE_INPUTS(X) X(x, float, 4)
#define STATE_OUTPUTS(X) X(y, float, 4)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define STATE_X_TYPE                 float
#define STATE_X_RANK                 2
#define STATE_X_DIMS                 { 1, 4 }
#define STATE_X_ELEMS                4u
#define STATE_X_BYTES                16u
#define STATE_Y_TYPE                 float
#define STATE_Y_RANK                 2
#define STATE_Y_DIMS                 { 1, 4 }
#define STATE_Y_ELEMS                4u
#define STATE_Y_BYTES                16u

struct state_inputs {
    const float *x;
};
struct state_outputs {
    float *y;
};

/* State between runs: call state_reset before the first run. */
struct state_state {
    float h[2][4];
    uint8_t current;  /* index of [2] that the last run wrote */
};

void state_reset(struct state_state *state);     /* all zeros */

/* Runs the model once. Returns 0, or a negative STATE_E... code. Reentrant: mutable data is in the arena and the state.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int state_run(void *arena, struct state_state *state, const struct state_inputs *in, const struct state_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
