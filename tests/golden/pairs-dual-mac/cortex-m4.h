/* pairs_dual_mac: pairs-dual-mac.te for cortex-m4, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][16]
 *   w                    int8_t   [4][16]
 *   b                    int32_t  [4]
 * Outputs
 *   y                    int32_t  [1][4]
 *
 * Model's SHA-256: 41c005caa07ed1cfcefadead801ab0d1ba9575c91d28ec0dba4ddc89acf92c0f
 */
#ifndef PAIRS_DUAL_MAC_H
#define PAIRS_DUAL_MAC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAIRS_DUAL_MAC_MODEL "pairs-dual-mac.te"
#define PAIRS_DUAL_MAC_MODEL_SHA256 "41c005caa07ed1cfcefadead801ab0d1ba9575c91d28ec0dba4ddc89acf92c0f"
#define PAIRS_DUAL_MAC_TARGET "cortex-m4"
#define PAIRS_DUAL_MAC_OPTIONS ""

#define PAIRS_DUAL_MAC_ARENA_SIZE   0u     /* bytes of scratch memory pairs_dual_mac_run needs */
#define PAIRS_DUAL_MAC_ARENA_ALIGN  16u
#define PAIRS_DUAL_MAC_WEIGHTS_SIZE 0u     /* bytes of constants */

/* Declares the arena: `static PAIRS_DUAL_MAC_ARENA(memory);`, passed as pairs_dual_mac_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define PAIRS_DUAL_MAC_ARENA(name) unsigned char name[1] __attribute__((aligned(PAIRS_DUAL_MAC_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define PAIRS_DUAL_MAC_ARENA(name) unsigned char name alignas(PAIRS_DUAL_MAC_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PAIRS_DUAL_MAC_ARENA(name) _Alignas(PAIRS_DUAL_MAC_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: pairs_dual_mac_run rejects a misaligned arena */
#define PAIRS_DUAL_MAC_ARENA(name) long double name[1]
#endif

#define PAIRS_DUAL_MAC_E_ARENA (-1)     /* the arena is null or misaligned */
#define PAIRS_DUAL_MAC_E_DIM   (-2)     /* a size is outside of its declared range */
#define PAIRS_DUAL_MAC_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define PAIRS_DUAL_MAC_INPUTS(X) \
    X(x, int8_t, 16) \
    X(w, int8_t, 64) \
    X(b, int32_t, 4)
#define PAIRS_DUAL_MAC_OUTPUTS(X) X(y, int32_t, 4)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define PAIRS_DUAL_MAC_X_TYPE        int8_t
#define PAIRS_DUAL_MAC_X_RANK        2
#define PAIRS_DUAL_MAC_X_DIMS        { 1, 16 }
#define PAIRS_DUAL_MAC_X_ELEMS       16u
#define PAIRS_DUAL_MAC_X_BYTES       16u
#define PAIRS_DUAL_MAC_W_TYPE        int8_t
#define PAIRS_DUAL_MAC_W_RANK        2
#define PAIRS_DUAL_MAC_W_DIMS        { 4, 16 }
#define PAIRS_DUAL_MAC_W_ELEMS       64u
#define PAIRS_DUAL_MAC_W_BYTES       64u
#define PAIRS_DUAL_MAC_B_TYPE        int32_t
#define PAIRS_DUAL_MAC_B_RANK        1
#define PAIRS_DUAL_MAC_B_DIMS        { 4 }
#define PAIRS_DUAL_MAC_B_ELEMS       4u
#define PAIRS_DUAL_MAC_B_BYTES       16u
#define PAIRS_DUAL_MAC_Y_TYPE        int32_t
#define PAIRS_DUAL_MAC_Y_RANK        2
#define PAIRS_DUAL_MAC_Y_DIMS        { 1, 4 }
#define PAIRS_DUAL_MAC_Y_ELEMS       4u
#define PAIRS_DUAL_MAC_Y_BYTES       16u

struct pairs_dual_mac_inputs {
    const int8_t *x;
    const int8_t *w;
    const int32_t *b;
};
struct pairs_dual_mac_outputs {
    int32_t *y;
};

/* Runs the model once. Returns 0, or a negative PAIRS_DUAL_MAC_E... code. Reentrant: all state is in the arena. */
int pairs_dual_mac_run(void *arena, const struct pairs_dual_mac_inputs *in, const struct pairs_dual_mac_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
