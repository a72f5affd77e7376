/* residual_bytes: residual-bytes.te for cortex-m55, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][1][2][32]
 *   r                    int8_t   [1][1][2][32]
 *   w                    int8_t   [32][32]
 *   b                    int32_t  [32]
 * Outputs
 *   y                    int8_t   [1][1][2][32]
 */
#ifndef RESIDUAL_BYTES_H
#define RESIDUAL_BYTES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESIDUAL_BYTES_ARENA_SIZE   0u     /* bytes of scratch memory residual_bytes_run needs */
#define RESIDUAL_BYTES_ARENA_ALIGN  16u
#define RESIDUAL_BYTES_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static RESIDUAL_BYTES_ARENA(memory);`, passed as residual_bytes_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define RESIDUAL_BYTES_ARENA(name) unsigned char name[1] __attribute__((aligned(RESIDUAL_BYTES_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define RESIDUAL_BYTES_ARENA(name) unsigned char name alignas(RESIDUAL_BYTES_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RESIDUAL_BYTES_ARENA(name) _Alignas(RESIDUAL_BYTES_ARENA_ALIGN) unsigned char name[1]
#else     /* C99 of another compiler: residual_bytes_run refuses an address that is no multiple of RESIDUAL_BYTES_ARENA_ALIGN */
#define RESIDUAL_BYTES_ARENA(name) long double name[1]
#endif

#define RESIDUAL_BYTES_E_ARENA (-1)     /* the arena is null or misaligned */
#define RESIDUAL_BYTES_E_DIM   (-2)     /* a size is outside of its declared range */
#define RESIDUAL_BYTES_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define RESIDUAL_BYTES_INPUTS(X) \
    X(x, int8_t, 64) \
    X(r, int8_t, 64) \
    X(w, int8_t, 1024) \
    X(b, int32_t, 32)
#define RESIDUAL_BYTES_OUTPUTS(X) X(y, int8_t, 64)

struct residual_bytes_inputs {
    const int8_t *x;
    const int8_t *r;
    const int8_t *w;
    const int32_t *b;
};
struct residual_bytes_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative RESIDUAL_BYTES_E... code. Reentrant: all state is in the arena. */
int residual_bytes_run(void *arena, const struct residual_bytes_inputs *in, const struct residual_bytes_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
