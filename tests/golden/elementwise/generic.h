/* elementwise: elementwise.onnx for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][3][8]
 *   z                    float    [8]
 * Outputs
 *   y                    float    [1][3][8]
 *
 * Model's SHA-256: c92c93bf42f287ce50a43270927179a78b15a53b3814392fdd1ee06a43daf733
 */
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ELEMENTWISE_MODEL "elementwise.onnx"
#define ELEMENTWISE_MODEL_SHA256 "c92c93bf42f287ce50a43270927179a78b15a53b3814392fdd1ee06a43daf733"
#define ELEMENTWISE_TARGET "generic"
#define ELEMENTWISE_OPTIONS ""

#define ELEMENTWISE_ARENA_SIZE   0u     /* bytes of scratch memory elementwise_run needs */
#define ELEMENTWISE_ARENA_ALIGN  16u
#define ELEMENTWISE_WEIGHTS_SIZE 12u     /* bytes of constants */

/* Declares the arena: `static ELEMENTWISE_ARENA(memory);`, passed as elementwise_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define ELEMENTWISE_ARENA(name) unsigned char name[1] __attribute__((aligned(ELEMENTWISE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define ELEMENTWISE_ARENA(name) unsigned char name alignas(ELEMENTWISE_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ELEMENTWISE_ARENA(name) _Alignas(ELEMENTWISE_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: elementwise_run rejects a misaligned arena */
#define ELEMENTWISE_ARENA(name) long double name[1]
#endif

#define ELEMENTWISE_E_ARENA (-1)     /* the arena is null or misaligned */
#define ELEMENTWISE_E_DIM   (-2)     /* a size is outside of its declared range */
#define ELEMENTWISE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define ELEMENTWISE_INPUTS(X) \
    X(x, float, 24) \
    X(z, float, 8)
#define ELEMENTWISE_OUTPUTS(X) X(y, float, 24)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define ELEMENTWISE_X_TYPE           float
#define ELEMENTWISE_X_RANK           3
#define ELEMENTWISE_X_DIMS           { 1, 3, 8 }
#define ELEMENTWISE_X_ELEMS          24u
#define ELEMENTWISE_X_BYTES          96u
#define ELEMENTWISE_Z_TYPE           float
#define ELEMENTWISE_Z_RANK           1
#define ELEMENTWISE_Z_DIMS           { 8 }
#define ELEMENTWISE_Z_ELEMS          8u
#define ELEMENTWISE_Z_BYTES          32u
#define ELEMENTWISE_Y_TYPE           float
#define ELEMENTWISE_Y_RANK           3
#define ELEMENTWISE_Y_DIMS           { 1, 3, 8 }
#define ELEMENTWISE_Y_ELEMS          24u
#define ELEMENTWISE_Y_BYTES          96u

struct elementwise_inputs {
    const float *x;
    const float *z;
};
struct elementwise_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative ELEMENTWISE_E... code. Reentrant: all state is in the arena. */
int elementwise_run(void *arena, const struct elementwise_inputs *in, const struct elementwise_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
