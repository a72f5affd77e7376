/* split_guard: split-guard.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [30]
 * Outputs
 *   y                    float    [30]
 *
 * Model's SHA-256: 4172faef2280be6f8363198360fefaa1810fffe42af01790f5503d76568e33ea
 */
#ifndef SPLIT_GUARD_H
#define SPLIT_GUARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPLIT_GUARD_MODEL "split-guard.te"
#define SPLIT_GUARD_MODEL_SHA256 "4172faef2280be6f8363198360fefaa1810fffe42af01790f5503d76568e33ea"
#define SPLIT_GUARD_TARGET "generic"
#define SPLIT_GUARD_OPTIONS ""

#define SPLIT_GUARD_ARENA_SIZE   0u     /* bytes of scratch memory split_guard_run needs */
#define SPLIT_GUARD_ARENA_ALIGN  16u
#define SPLIT_GUARD_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static SPLIT_GUARD_ARENA(memory);`, passed as split_guard_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SPLIT_GUARD_ARENA(name) unsigned char name[1] __attribute__((aligned(SPLIT_GUARD_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SPLIT_GUARD_ARENA(name) unsigned char name alignas(SPLIT_GUARD_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SPLIT_GUARD_ARENA(name) _Alignas(SPLIT_GUARD_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: split_guard_run rejects a misaligned arena */
#define SPLIT_GUARD_ARENA(name) long double name[1]
#endif

#define SPLIT_GUARD_E_ARENA (-1)     /* the arena is null or misaligned */
#define SPLIT_GUARD_E_DIM   (-2)     /* a size is outside of its declared range */
#define SPLIT_GUARD_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SPLIT_GUARD_INPUTS(X) X(x, float, 30)
#define SPLIT_GUARD_OUTPUTS(X) X(y, float, 30)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define SPLIT_GUARD_X_TYPE           float
#define SPLIT_GUARD_X_RANK           1
#define SPLIT_GUARD_X_DIMS           { 30 }
#define SPLIT_GUARD_X_ELEMS          30u
#define SPLIT_GUARD_X_BYTES          120u
#define SPLIT_GUARD_Y_TYPE           float
#define SPLIT_GUARD_Y_RANK           1
#define SPLIT_GUARD_Y_DIMS           { 30 }
#define SPLIT_GUARD_Y_ELEMS          30u
#define SPLIT_GUARD_Y_BYTES          120u

struct split_guard_inputs {
    const float *x;
};
struct split_guard_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative SPLIT_GUARD_E... code. Reentrant: all state is in the arena. */
int split_guard_run(void *arena, const struct split_guard_inputs *in, const struct split_guard_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
