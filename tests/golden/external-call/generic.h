/* external_call: external-call.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [8][6]
 *   w                    float    [6][5]
 * Outputs
 *   y                    float    [8][5]
 *
 * Model's SHA-256: e1ebb61ebcb6e9af5581314483548e65bb4fd719849cbf34057bd60e0d0a3cf1
 */
#ifndef EXTERNAL_CALL_H
#define EXTERNAL_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXTERNAL_CALL_MODEL "external-call.te"
#define EXTERNAL_CALL_MODEL_SHA256 "e1ebb61ebcb6e9af5581314483548e65bb4fd719849cbf34057bd60e0d0a3cf1"
#define EXTERNAL_CALL_TARGET "generic"
#define EXTERNAL_CALL_OPTIONS ""

#define EXTERNAL_CALL_ARENA_SIZE   192u     /* bytes of scratch memory external_call_run needs */
#define EXTERNAL_CALL_ARENA_ALIGN  16u
#define EXTERNAL_CALL_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static EXTERNAL_CALL_ARENA(memory);`, passed as external_call_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define EXTERNAL_CALL_ARENA(name) unsigned char name[EXTERNAL_CALL_ARENA_SIZE] \
    __attribute__((aligned(EXTERNAL_CALL_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define EXTERNAL_CALL_ARENA(name) unsigned char name alignas(EXTERNAL_CALL_ARENA_ALIGN) [EXTERNAL_CALL_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define EXTERNAL_CALL_ARENA(name) _Alignas(EXTERNAL_CALL_ARENA_ALIGN) unsigned char name[EXTERNAL_CALL_ARENA_SIZE]
#else     /* other C99 compilers: external_call_run rejects a misaligned arena */
#define EXTERNAL_CALL_ARENA(name) long double name[25]
#endif

#define EXTERNAL_CALL_E_ARENA (-1)     /* the arena is null or misaligned */
#define EXTERNAL_CALL_E_DIM   (-2)     /* a size is outside of its declared range */
#define EXTERNAL_CALL_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define EXTERNAL_CALL_INPUTS(X) \
    X(x, float, 48) \
    X(w, float, 30)
#define EXTERNAL_CALL_OUTPUTS(X) X(y, float, 40)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define EXTERNAL_CALL_X_TYPE         float
#define EXTERNAL_CALL_X_RANK         2
#define EXTERNAL_CALL_X_DIMS         { 8, 6 }
#define EXTERNAL_CALL_X_ELEMS        48u
#define EXTERNAL_CALL_X_BYTES        192u
#define EXTERNAL_CALL_W_TYPE         float
#define EXTERNAL_CALL_W_RANK         2
#define EXTERNAL_CALL_W_DIMS         { 6, 5 }
#define EXTERNAL_CALL_W_ELEMS        30u
#define EXTERNAL_CALL_W_BYTES        120u
#define EXTERNAL_CALL_Y_TYPE         float
#define EXTERNAL_CALL_Y_RANK         2
#define EXTERNAL_CALL_Y_DIMS         { 8, 5 }
#define EXTERNAL_CALL_Y_ELEMS        40u
#define EXTERNAL_CALL_Y_BYTES        160u

struct external_call_inputs {
    const float *x;
    const float *w;
};
struct external_call_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative EXTERNAL_CALL_E... code. Reentrant: all state is in the arena. */
int external_call_run(void *arena, const struct external_call_inputs *in, const struct external_call_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
