/* scan: scan.onnx for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [40][3]
 * Outputs
 *   last                 float    [4]
 *   forth                float    [40][4]
 *   back                 float    [40][4]
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCAN_ARENA_SIZE   32u     /* bytes of scratch memory scan_run needs */
#define SCAN_ARENA_ALIGN  16u
#define SCAN_WEIGHTS_SIZE 112u     /* bytes of constants */

/* Declares the arena: `static SCAN_ARENA(memory);`, passed as scan_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define SCAN_ARENA(name) unsigned char name[SCAN_ARENA_SIZE] __attribute__((aligned(SCAN_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define SCAN_ARENA(name) unsigned char name alignas(SCAN_ARENA_ALIGN) [SCAN_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SCAN_ARENA(name) _Alignas(SCAN_ARENA_ALIGN) unsigned char name[SCAN_ARENA_SIZE]
#else     /* C99 of another compiler: scan_run refuses an address that is no multiple of SCAN_ARENA_ALIGN */
#define SCAN_ARENA(name) long double name[5]
#endif

#define SCAN_E_ARENA (-1)     /* the arena is null or misaligned */
#define SCAN_E_DIM   (-2)     /* a size is outside of its declared range */
#define SCAN_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define SCAN_INPUTS(X) X(x, float, 120)
#define SCAN_OUTPUTS(X) \
    X(last, float, 4) \
    X(forth, float, 160) \
    X(back, float, 160)

struct scan_inputs {
    const float *x;
};
struct scan_outputs {
    float *last;
    float *forth;
    float *back;
};

/* Runs the model once. Returns 0, or a negative SCAN_E... code. Reentrant: all state is in the arena. */
int scan_run(void *arena, const struct scan_inputs *in, const struct scan_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
