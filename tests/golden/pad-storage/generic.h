/* pad_storage: pad-storage.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [6][5]
 * Outputs
 *   y                    float    [6][5]
 *
 * Model's SHA-256: 372cbbbf2744c5271424980cefe9f89d265097dddbaa7ef0b501d02c59b7be8e
 */
#ifndef PAD_STORAGE_H
#define PAD_STORAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAD_STORAGE_MODEL "pad-storage.te"
#define PAD_STORAGE_MODEL_SHA256 "372cbbbf2744c5271424980cefe9f89d265097dddbaa7ef0b501d02c59b7be8e"
#define PAD_STORAGE_TARGET "generic"
#define PAD_STORAGE_OPTIONS ""

#define PAD_STORAGE_ARENA_SIZE   32u     /* bytes of scratch memory pad_storage_run needs */
#define PAD_STORAGE_ARENA_ALIGN  16u
#define PAD_STORAGE_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PAD_STORAGE_ARENA(memory);`, passed as pad_storage_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PAD_STORAGE_ARENA(name) unsigned char name[PAD_STORAGE_ARENA_SIZE] \
    __attribute__((aligned(PAD_STORAGE_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PAD_STORAGE_ARENA(name) unsigned char name alignas(PAD_STORAGE_ARENA_ALIGN) [PAD_STORAGE_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PAD_STORAGE_ARENA(name) _Alignas(PAD_STORAGE_ARENA_ALIGN) unsigned char name[PAD_STORAGE_ARENA_SIZE]
#else     /* other C99 compilers: pad_storage_run rejects a misaligned arena */
#define PAD_STORAGE_ARENA(name) long double name[5]
#endif

#define PAD_STORAGE_E_ARENA (-1)     /* the arena is null or misaligned */
#define PAD_STORAGE_E_DIM   (-2)     /* a size is outside of its declared range */
#define PAD_STORAGE_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PAD_STORAGE_INPUTS(X) X(x, float, 30)
#define PAD_STORAGE_OUTPUTS(X) X(y, float, 30)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PAD_STORAGE_X_TYPE           float
#define PAD_STORAGE_X_RANK           2
#define PAD_STORAGE_X_DIMS           { 6, 5 }
#define PAD_STORAGE_X_ELEMS          30u
#define PAD_STORAGE_X_BYTES          120u
#define PAD_STORAGE_Y_TYPE           float
#define PAD_STORAGE_Y_RANK           2
#define PAD_STORAGE_Y_DIMS           { 6, 5 }
#define PAD_STORAGE_Y_ELEMS          30u
#define PAD_STORAGE_Y_BYTES          120u

struct pad_storage_inputs {
    const float *x;
};
struct pad_storage_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative PAD_STORAGE_E... code. Reentrant: all state is in the arena. */
int pad_storage_run(void *arena, const struct pad_storage_inputs *in, const struct pad_storage_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
