/* quantized_reals: quantized-reals.te for generic, emitted by Loopwright.
 *
 * Inputs
 *   x                    uint8_t  [1][6][6][2]  NHWC  scale 0.031, zero point 131
 * Outputs
 *   y                    int8_t   [1][3][3][3]  scale 0.00390625, zero point -128
 *
 * Requantization rounds once.
 *
 * Model's SHA-256: d5be270c52a5b2d460ec7b80cc30e4340d81f4fdeba4e1110d4a4803aa49e169
 */
#ifndef QUANTIZED_REALS_H
#define QUANTIZED_REALS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUANTIZED_REALS_MODEL "quantized-reals.te"
#define QUANTIZED_REALS_MODEL_SHA256 "d5be270c52a5b2d460ec7b80cc30e4340d81f4fdeba4e1110d4a4803aa49e169"
#define QUANTIZED_REALS_TARGET "generic"
#define QUANTIZED_REALS_OPTIONS ""

#define QUANTIZED_REALS_HEADER_HASH  0x1ce0553c     /* of the interface below; model.c compares it */
#define QUANTIZED_REALS_ARENA_SIZE   288u     /* bytes of scratch memory quantized_reals_run needs */
#define QUANTIZED_REALS_ARENA_ALIGN  16u
#define QUANTIZED_REALS_WEIGHTS_SIZE 404u     /* bytes of constants */

/* Declares the arena: `static QUANTIZED_REALS_ARENA(memory);`, passed as quantized_reals_run(memory, ...) */
#if defined(__GNUC__) || defined(__TINYC__)
#define QUANTIZED_REALS_ARENA(name) unsigned char name[QUANTIZED_REALS_ARENA_SIZE] \
    __attribute__((aligned(QUANTIZED_REALS_ARENA_ALIGN)))
#elif defined(__cplusplus)
#define QUANTIZED_REALS_ARENA(name) unsigned char name alignas(QUANTIZED_REALS_ARENA_ALIGN) [QUANTIZED_REALS_ARENA_SIZE]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define QUANTIZED_REALS_ARENA(name) _Alignas(QUANTIZED_REALS_ARENA_ALIGN) unsigned char name[QUANTIZED_REALS_ARENA_SIZE]
#else     /* other C99 compilers: quantized_reals_run rejects a misaligned arena */
#define QUANTIZED_REALS_ARENA(name) long double name[37]
#endif

#define QUANTIZED_REALS_E_ARENA (-1)     /* the arena is null or misaligned */
#define QUANTIZED_REALS_E_DIM   (-2)     /* a size is outside its declared range */
#define QUANTIZED_REALS_E_NULL  (-4)     /* `in`, `out` or a pointer in them is null */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define QUANTIZED_REALS_INPUTS(X) X(x, uint8_t, 72)
#define QUANTIZED_REALS_OUTPUTS(X) X(y, int8_t, 27)

/* For each: type, shape, elements, bytes; if quantized, real = SCALE * (stored - ZERO_POINT) */
#define QUANTIZED_REALS_X_TYPE       uint8_t
#define QUANTIZED_REALS_X_RANK       4
#define QUANTIZED_REALS_X_DIMS       { 1, 6, 6, 2 }
#define QUANTIZED_REALS_X_ELEMS      72u
#define QUANTIZED_REALS_X_BYTES      72u
#define QUANTIZED_REALS_X_LAYOUT     "NHWC"
#define QUANTIZED_REALS_X_SCALE      0.031f
#define QUANTIZED_REALS_X_ZERO_POINT 131
#define QUANTIZED_REALS_Y_TYPE       int8_t
#define QUANTIZED_REALS_Y_RANK       4
#define QUANTIZED_REALS_Y_DIMS       { 1, 3, 3, 3 }
#define QUANTIZED_REALS_Y_ELEMS      27u
#define QUANTIZED_REALS_Y_BYTES      27u
#define QUANTIZED_REALS_Y_SCALE      0.00390625f
#define QUANTIZED_REALS_Y_ZERO_POINT (-128)

struct quantized_reals_inputs {
    const uint8_t *x;
};
struct quantized_reals_outputs {
    int8_t *y;
};

/* Runs the model once. Returns 0, or a negative QUANTIZED_REALS_E... code. Reentrant: all state is in the arena.
 * No output may overlap other memory that is passed; inputs may overlap each other. Not checked. */
int quantized_reals_run(void *arena, const struct quantized_reals_inputs *in,
    const struct quantized_reals_outputs *out);

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) \
    || defined(__RECIPROCAL_MATH__)     /* other quotients, and no NaN */
struct quantized_reals_needs_the_flag_fno_fast_math quantized_reals_quantize_x(float value);
struct quantized_reals_needs_the_flag_fno_fast_math quantized_reals_quantize_x_all(const float *from, uint8_t *to);
struct quantized_reals_needs_the_flag_fno_fast_math quantized_reals_dequantize_y(int8_t value);
struct quantized_reals_needs_the_flag_fno_fast_math quantized_reals_dequantize_y_all(const int8_t *from, float *to);
#else

/* Rounds to the nearest integer, ties to even, adds the zero point and saturates. NaN gives the zero point. */
static inline int32_t quantized_reals_nearest_step(float steps, int32_t zero_point, int32_t least, int32_t greatest)
{
    int32_t whole;
    float rest;
    if (steps >= (float)(greatest - zero_point)) return greatest;
    if (steps <= (float)(least - zero_point)) return least;
    if (!(steps < (float)(greatest - zero_point))) return zero_point;     /* NaN */
    whole = (int32_t)steps;
    rest = steps - (float)whole;     /* exact */
    if (rest > 0.5f || (rest >= 0.5f && whole % 2 != 0)) whole++;
    if (rest < -0.5f || (rest <= -0.5f && whole % 2 != 0)) whole--;
    return whole + zero_point;
}

static inline uint8_t quantized_reals_quantize_x(float value)
{
    return (uint8_t)quantized_reals_nearest_step(value / QUANTIZED_REALS_X_SCALE, QUANTIZED_REALS_X_ZERO_POINT, 0, 255);
}
static inline void quantized_reals_quantize_x_all(const float *from, uint8_t *to)
{
    int32_t i;
    for (i = 0; i < (int32_t)QUANTIZED_REALS_X_ELEMS; i++) to[i] = quantized_reals_quantize_x(from[i]);
}

static inline float quantized_reals_dequantize_y(int8_t value)
{
    return QUANTIZED_REALS_Y_SCALE * (float)((int32_t)value - QUANTIZED_REALS_Y_ZERO_POINT);
}
static inline void quantized_reals_dequantize_y_all(const int8_t *from, float *to)
{
    int32_t i;
    for (i = 0; i < (int32_t)QUANTIZED_REALS_Y_ELEMS; i++) to[i] = quantized_reals_dequantize_y(from[i]);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
