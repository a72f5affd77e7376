/* hints: hints.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   a                    float    [12][40]
 *   b                    float    [40]
 * Outputs
 *   z                    float    [12]
 *
 * Model's SHA-256: f9defa84114f42e5f7a7ed40c8b2c0b21b79b619acee57de847a297e329b6e89
 */
#ifndef HINTS_H
#define HINTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HINTS_MODEL "hints.te"
#define HINTS_MODEL_SHA256 "f9defa84114f42e5f7a7ed40c8b2c0b21b79b619acee57de847a297e329b6e89"
#define HINTS_TARGET "generic"
#define HINTS_OPTIONS ""

#define HINTS_ARENA_SIZE   0u     /* bytes of scratch memory hints_run needs */
#define HINTS_ARENA_ALIGN  16u
#define HINTS_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static HINTS_ARENA(memory);`, passed as hints_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define HINTS_ARENA(name) unsigned char name[1] __attribute__((aligned(HINTS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define HINTS_ARENA(name) unsigned char name alignas(HINTS_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define HINTS_ARENA(name) _Alignas(HINTS_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: hints_run rejects a misaligned arena */
#define HINTS_ARENA(name) long double name[1]
#endif

#define HINTS_E_ARENA (-1)     /* the arena is null or misaligned */
#define HINTS_E_DIM   (-2)     /* a size is outside of its declared range */
#define HINTS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define HINTS_INPUTS(X) \
    X(a, float, 480) \
    X(b, float, 40)
#define HINTS_OUTPUTS(X) X(z, float, 12)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define HINTS_A_TYPE                 float
#define HINTS_A_RANK                 2
#define HINTS_A_DIMS                 { 12, 40 }
#define HINTS_A_ELEMS                480u
#define HINTS_A_BYTES                1920u
#define HINTS_B_TYPE                 float
#define HINTS_B_RANK                 1
#define HINTS_B_DIMS                 { 40 }
#define HINTS_B_ELEMS                40u
#define HINTS_B_BYTES                160u
#define HINTS_Z_TYPE                 float
#define HINTS_Z_RANK                 1
#define HINTS_Z_DIMS                 { 12 }
#define HINTS_Z_ELEMS                12u
#define HINTS_Z_BYTES                48u

struct hints_inputs {
    const float *a;
    const float *b;
};
struct hints_outputs {
    float *z;
};

/* Runs the model once. Returns 0, or a negative HINTS_E... code. Reentrant: all state is in the arena. */
int hints_run(void *arena, const struct hints_inputs *in, const struct hints_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
