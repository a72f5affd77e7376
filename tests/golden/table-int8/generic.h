/* table_int8: table-int8.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    int8_t   [1][9]
 * Outputs
 *   y                    int8_t   [1][9]
 *
 * Model's SHA-256: d41aaf5169014a226c2395de726352847a490216b234307489149f9ce5d7eb7d
 */
#ifndef TABLE_INT8_H
#define TABLE_INT8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TABLE_INT8_MODEL "table-int8.te"
#define TABLE_INT8_MODEL_SHA256 "d41aaf5169014a226c2395de726352847a490216b234307489149f9ce5d7eb7d"
#define TABLE_INT8_TARGET "generic"
#define TABLE_INT8_OPTIONS ""

#define TABLE_INT8_ARENA_SIZE   0u     /* bytes of scratch memory table_int8_run needs */
#define TABLE_INT8_ARENA_ALIGN  16u
#define TABLE_INT8_WEIGHTS_SIZE 256u     /* bytes of constants */

/* Declares the arena: `static TABLE_INT8_ARENA(memory);`, passed as table_int8_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define TABLE_INT8_ARENA(name) unsigned char name[1] __attribute__((aligned(TABLE_INT8_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define TABLE_INT8_ARENA(name) unsigned char name alignas(TABLE_INT8_ARENA_ALIGN) [1]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TABLE_INT8_ARENA(name) _Alignas(TABLE_INT8_ARENA_ALIGN) unsigned char name[1]
#else     /* other C99 compilers: table_int8_run rejects a misaligned arena */
#define TABLE_INT8_ARENA(name) long double name[1]
#endif

#define TABLE_INT8_E_ARENA (-1)     /* the arena is null or misaligned */
#define TABLE_INT8_E_DIM   (-2)     /* a size is outside of its declared range */
#define TABLE_INT8_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define TABLE_INT8_INPUTS(X) X(x, int8_t, 9)
#define TABLE_INT8_OUTPUTS(X) X(y, int8_t, 9)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define TABLE_INT8_X_TYPE            int8_t
#define TABLE_INT8_X_RANK            2
#define TABLE_INT8_X_DIMS            { 1, 9 }
#define TABLE_INT8_X_ELEMS           9u
#define TABLE_INT8_X_BYTES           9u
#define TABLE_INT8_Y_TYPE            int8_t
#define TABLE_INT8_Y_RANK            2
#define TABLE_INT8_Y_DIMS            { 1, 9 }
#define TABLE_INT8_Y_ELEMS           9u
#define TABLE_INT8_Y_BYTES           9u

struct table_int8_inputs {
    const int8_t *x;
};
struct table_int8_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative TABLE_INT8_E... code. Reentrant: all state is in the arena. */
int table_int8_run(void *arena, const struct table_int8_inputs *in, const struct table_int8_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
