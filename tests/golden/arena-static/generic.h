/* arena_static: arena-static.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][6]
 *   w                    float    [6][6]
 * Outputs
 *   y                    float    [1][6]
 *
 * Model's SHA-256: 5654b3dba6219f028256c8ac51fed6b6eb1e5995ae7d68c6e055cb85e8dc97b8
 * Options: --static-arena
 */
#ifndef ARENA_STATIC_H
#define ARENA_STATIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENA_STATIC_MODEL "arena-static.te"
#define ARENA_STATIC_MODEL_SHA256 "5654b3dba6219f028256c8ac51fed6b6eb1e5995ae7d68c6e055cb85e8dc97b8"
#define ARENA_STATIC_TARGET "generic"
#define ARENA_STATIC_OPTIONS "--static-arena"

#define ARENA_STATIC_HEADER_HASH  0x175f8d56     /* of the interface below; model.c compares it */
#define ARENA_STATIC_ARENA_SIZE   0u     /* bytes of scratch memory arena_static_run needs */
#define ARENA_STATIC_ARENA_ALIGN  16u
#define ARENA_STATIC_WEIGHTS_SIZE 0u     /* bytes of constants */

#define ARENA_STATIC_E_ARENA (-1)     /* the arena is null or misaligned */
#define ARENA_STATIC_E_DIM   (-2)     /* a size is outside its declared range */
#define ARENA_STATIC_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define ARENA_STATIC_INPUTS(X) \
    X(x, float, 6) \
    X(w, float, 36)
#define ARENA_STATIC_OUTPUTS(X) X(y, float, 6)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define ARENA_STATIC_X_TYPE          float
#define ARENA_STATIC_X_RANK          2
#define ARENA_STATIC_X_DIMS          { 1, 6 }
#define ARENA_STATIC_X_ELEMS         6u
#define ARENA_STATIC_X_BYTES         24u
#define ARENA_STATIC_W_TYPE          float
#define ARENA_STATIC_W_RANK          2
#define ARENA_STATIC_W_DIMS          { 6, 6 }
#define ARENA_STATIC_W_ELEMS         36u
#define ARENA_STATIC_W_BYTES         144u
#define ARENA_STATIC_Y_TYPE          float
#define ARENA_STATIC_Y_RANK          2
#define ARENA_STATIC_Y_DIMS          { 1, 6 }
#define ARENA_STATIC_Y_ELEMS         6u
#define ARENA_STATIC_Y_BYTES         24u

struct arena_static_inputs {
    const float *x;
    const float *w;
};
struct arena_static_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative ARENA_STATIC_E... code. Not reentrant: the arena is static.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int arena_static_run(const struct arena_static_inputs *in, const struct arena_static_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
