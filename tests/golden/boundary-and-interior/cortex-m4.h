/* boundary_and_interior: boundary-and-interior.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [40]
 *   k                    float    [3]
 * Outputs
 *   y                    float    [40]
 *
 * Model's SHA-256: 80d81af3631a7a830f14d385abfcd5912b9fc9979195cc554890772fd312b986
 */
#ifndef BOUNDARY_AND_INTERIOR_H
#define BOUNDARY_AND_INTERIOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BOUNDARY_AND_INTERIOR_MODEL "boundary-and-interior.te"
#define BOUNDARY_AND_INTERIOR_MODEL_SHA256 "80d81af3631a7a830f14d385abfcd5912b9fc9979195cc554890772fd312b986"
#define BOUNDARY_AND_INTERIOR_TARGET "cortex-m4"
#define BOUNDARY_AND_INTERIOR_OPTIONS ""

#define BOUNDARY_AND_INTERIOR_ARENA_SIZE   0u     /* bytes of scratch memory boundary_and_interior_run needs */
#define BOUNDARY_AND_INTERIOR_ARENA_ALIGN  16u
#define BOUNDARY_AND_INTERIOR_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static BOUNDARY_AND_INTERIOR_ARENA(memory);`, passed as boundary_and_interior_run(memory,
 * ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define BOUNDARY_AND_INTERIOR_ARENA(name) unsigned char name[1] \
    __attribute__((aligned(BOUNDARY_AND_INTERIOR_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define BOUNDARY_AND_INTERIOR_ARENA(name) unsigned char name alignas(BOUNDARY_AND_INTERIOR_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define BOUNDARY_AND_INTERIOR_ARENA(name) _Alignas(BOUNDARY_AND_INTERIOR_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: boundary_and_interior_run rejects a misaligned arena */
#define BOUNDARY_AND_INTERIOR_ARENA(name) long double name[1]
#endif

#define BOUNDARY_AND_INTERIOR_E_ARENA (-1)     /* the arena is null or misaligned */
#define BOUNDARY_AND_INTERIOR_E_DIM   (-2)     /* a size is outside of its declared range */
#define BOUNDARY_AND_INTERIOR_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define BOUNDARY_AND_INTERIOR_INPUTS(X) \
    X(x, float, 40) \
    X(k, float, 3)
#define BOUNDARY_AND_INTERIOR_OUTPUTS(X) X(y, float, 40)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define BOUNDARY_AND_INTERIOR_X_TYPE float
#define BOUNDARY_AND_INTERIOR_X_RANK 1
#define BOUNDARY_AND_INTERIOR_X_DIMS { 40 }
#define BOUNDARY_AND_INTERIOR_X_ELEMS 40u
#define BOUNDARY_AND_INTERIOR_X_BYTES 160u
#define BOUNDARY_AND_INTERIOR_K_TYPE float
#define BOUNDARY_AND_INTERIOR_K_RANK 1
#define BOUNDARY_AND_INTERIOR_K_DIMS { 3 }
#define BOUNDARY_AND_INTERIOR_K_ELEMS 3u
#define BOUNDARY_AND_INTERIOR_K_BYTES 12u
#define BOUNDARY_AND_INTERIOR_Y_TYPE float
#define BOUNDARY_AND_INTERIOR_Y_RANK 1
#define BOUNDARY_AND_INTERIOR_Y_DIMS { 40 }
#define BOUNDARY_AND_INTERIOR_Y_ELEMS 40u
#define BOUNDARY_AND_INTERIOR_Y_BYTES 160u

struct boundary_and_interior_inputs {
    const float *x;
    const float *k;
};
struct boundary_and_interior_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative BOUNDARY_AND_INTERIOR_E... code. Reentrant: all state is in the
 * arena. */
int boundary_and_interior_run(void *arena, const struct boundary_and_interior_inputs *in,
    const struct boundary_and_interior_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
