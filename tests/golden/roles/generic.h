/* roles: roles.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][8][8][4]  NHWC
 *   k                    float    [3][3][4][8]
 *   s                    float    [8]
 * Outputs
 *   y                    float    [1][8][8][8]  NHWC
 *
 * Model's SHA-256: 42071458b239a49e432c4bb55cd95494f0215149c9992990e8ed10e7eb0ab245
 */
#ifndef ROLES_H
#define ROLES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROLES_MODEL "roles.te"
#define ROLES_MODEL_SHA256 "42071458b239a49e432c4bb55cd95494f0215149c9992990e8ed10e7eb0ab245"
#define ROLES_TARGET "generic"
#define ROLES_OPTIONS ""

#define ROLES_ARENA_SIZE   0u     /* bytes of scratch memory roles_run needs */
#define ROLES_ARENA_ALIGN  16u
#define ROLES_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static ROLES_ARENA(memory);`, passed as roles_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define ROLES_ARENA(name) unsigned char name[1] __attribute__((aligned(ROLES_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define ROLES_ARENA(name) unsigned char name alignas(ROLES_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ROLES_ARENA(name) _Alignas(ROLES_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: roles_run rejects a misaligned arena */
#define ROLES_ARENA(name) long double name[1]
#endif

#define ROLES_E_ARENA (-1)     /* the arena is null or misaligned */
#define ROLES_E_DIM   (-2)     /* a size is outside of its declared range */
#define ROLES_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define ROLES_INPUTS(X) \
    X(x, float, 256) \
    X(k, float, 288) \
    X(s, float, 8)
#define ROLES_OUTPUTS(X) X(y, float, 512)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define ROLES_X_TYPE                 float
#define ROLES_X_RANK                 4
#define ROLES_X_DIMS                 { 1, 8, 8, 4 }
#define ROLES_X_ELEMS                256u
#define ROLES_X_BYTES                1024u
#define ROLES_X_LAYOUT               "NHWC"
#define ROLES_K_TYPE                 float
#define ROLES_K_RANK                 4
#define ROLES_K_DIMS                 { 3, 3, 4, 8 }
#define ROLES_K_ELEMS                288u
#define ROLES_K_BYTES                1152u
#define ROLES_S_TYPE                 float
#define ROLES_S_RANK                 1
#define ROLES_S_DIMS                 { 8 }
#define ROLES_S_ELEMS                8u
#define ROLES_S_BYTES                32u
#define ROLES_Y_TYPE                 float
#define ROLES_Y_RANK                 4
#define ROLES_Y_DIMS                 { 1, 8, 8, 8 }
#define ROLES_Y_ELEMS                512u
#define ROLES_Y_BYTES                2048u
#define ROLES_Y_LAYOUT               "NHWC"

struct roles_inputs {
    const float *x;
    const float *k;
    const float *s;
};
struct roles_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative ROLES_E... code. Reentrant: all state is in the arena. */
int roles_run(void *arena, const struct roles_inputs *in, const struct roles_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
