/* control_flow: control-flow.onnx for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [1][4]
 * Outputs
 *   h                    float    [1][4]
 *   energy               float    [1][1]
 *   rows                 float    [8][1][4]
 *
 * "settle" computes at most 8 rows; the remaining rows are zero.
 *
 * Model's SHA-256: 8bd4959fd5d3820e8e6221b348ac49a91c9b3bf885dc6d59012851ac3b4741c4
 */
#ifndef CONTROL_FLOW_H
#define CONTROL_FLOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONTROL_FLOW_MODEL "control-flow.onnx"
#define CONTROL_FLOW_MODEL_SHA256 "8bd4959fd5d3820e8e6221b348ac49a91c9b3bf885dc6d59012851ac3b4741c4"
#define CONTROL_FLOW_TARGET "generic"
#define CONTROL_FLOW_OPTIONS ""

#define CONTROL_FLOW_ARENA_SIZE   64u     /* bytes of scratch memory control_flow_run needs */
#define CONTROL_FLOW_ARENA_ALIGN  16u
#define CONTROL_FLOW_WEIGHTS_SIZE 296u     /* bytes of constants */

/* Declares the arena: `static CONTROL_FLOW_ARENA(memory);`, passed as control_flow_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define CONTROL_FLOW_ARENA(name) unsigned char name[CONTROL_FLOW_ARENA_SIZE] \
    __attribute__((aligned(CONTROL_FLOW_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define CONTROL_FLOW_ARENA(name) unsigned char name alignas(CONTROL_FLOW_ARENA_ALIGN) [CONTROL_FLOW_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CONTROL_FLOW_ARENA(name) _Alignas(CONTROL_FLOW_ARENA_ALIGN) unsigned char name[CONTROL_FLOW_ARENA_SIZE]
#else     /* other C99 compilers: control_flow_run rejects a misaligned arena */
#define CONTROL_FLOW_ARENA(name) long double name[9]
#endif

#define CONTROL_FLOW_E_ARENA (-1)     /* the arena is null or misaligned */
#define CONTROL_FLOW_E_DIM   (-2)     /* a size is outside of its declared range */
#define CONTROL_FLOW_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define CONTROL_FLOW_INPUTS(X) X(x, float, 4)
#define CONTROL_FLOW_OUTPUTS(X) \
    X(h, float, 4) \
    X(energy, float, 1) \
    X(rows, float, 32)

/* Of each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define CONTROL_FLOW_X_TYPE          float
#define CONTROL_FLOW_X_RANK          2
#define CONTROL_FLOW_X_DIMS          { 1, 4 }
#define CONTROL_FLOW_X_ELEMS         4u
#define CONTROL_FLOW_X_BYTES         16u
#define CONTROL_FLOW_H_TYPE          float
#define CONTROL_FLOW_H_RANK          2
#define CONTROL_FLOW_H_DIMS          { 1, 4 }
#define CONTROL_FLOW_H_ELEMS         4u
#define CONTROL_FLOW_H_BYTES         16u
#define CONTROL_FLOW_ENERGY_TYPE     float
#define CONTROL_FLOW_ENERGY_RANK     2
#define CONTROL_FLOW_ENERGY_DIMS     { 1, 1 }
#define CONTROL_FLOW_ENERGY_ELEMS    1u
#define CONTROL_FLOW_ENERGY_BYTES    4u
#define CONTROL_FLOW_ROWS_TYPE       float
#define CONTROL_FLOW_ROWS_RANK       3
#define CONTROL_FLOW_ROWS_DIMS       { 8, 1, 4 }
#define CONTROL_FLOW_ROWS_ELEMS      32u
#define CONTROL_FLOW_ROWS_BYTES      128u

struct control_flow_inputs {
    const float *x;
};
struct control_flow_outputs {
    float *h;
    float *energy;
    float *rows;
};

/* Runs the model once. Returns 0, or a negative CONTROL_FLOW_E... code. Reentrant: all state is in the arena. */
int control_flow_run(void *arena, const struct control_flow_inputs *in, const struct control_flow_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
