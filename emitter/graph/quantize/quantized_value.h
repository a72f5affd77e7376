/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_QUANTIZED_VALUE_H
#define LW_GRAPH_QUANTIZE_QUANTIZED_VALUE_H
/* Quantized affine values: a real tensor between a dequantization and a quantization as an affine function of integers
 * that other calls compute exactly. With c the index along `axis`,
 *
 *     real = min(max((scale[c] * (q - zero) + scale_b * (b - zero_b) + offset[c]) / count, low), high)
 *
 * or, if is_quotient is true, scale * (q - zero) / (scale_b * (b - zero_b)) within the same limits. Scales of channels
 * may be negative in fixed point.
 *
 * All 8-bit tensors are stored as i8: u8 with the zero point z is i8 with z - 128. 16-bit tensors are i16. */
#include "graph/dag/graph.h"
#include "graph/quantize/requantize.h"

typedef struct QuantizedValue QuantizedValue;
struct QuantizedValue {
    /* q is i8 or i16 with a grid, or i32 sums. b is NULL, or the second operand of a sum or quotient; then both have a
     * grid. */
    Tensor *q, *b;
    bool is_quotient;
    int64_t zero, zero_b, count;
    int axis;                       /* the axis of q that channels follow; meaningless if channels is 1 */
    int64_t channels;
    const double *scale, *offset;   /* [channels] */
    double scale_b, low, high;
    Interval reach;                 /* the interval of q - zero */
    /* A concatenation in place of q, which is then NULL; `part` has one value per input of the call. */
    const Node *concat;
    const QuantizedValue *part;
};

/* takes_ties also accepts calls that are not exact in 32-bit floats before the quotient. in_fixed_point also accepts
 * fixed-point forms, whose results may differ by a step. */
typedef struct QuantizedContext { Ctx *cx; const Uses *uses; bool takes_ties, in_fixed_point; } QuantizedContext;

/* Returns the product or sum as a double. In fixed point this is the nearest double; otherwise NAN if it is not
 * exact. */
double quantized_product(const QuantizedContext *f, double a, double b);
double quantized_sum(const QuantizedContext *f, double a, double b);
/* Returns the tensor's affine value. Returns NULL if it has none, or if other consumers need the real numbers. */
const QuantizedValue *quantized_of(const QuantizedContext *f, Tensor *t);
/* Like quantized_of, but ignores other consumers. */
const QuantizedValue *quantized_of_call(const QuantizedContext *f, const Node *n);
/* Returns the value of i32 sums times the factor that GRID_REQUANTIZE applies to them. */
const QuantizedValue *quantized_of_requantized(Ctx *cx, const Node *n);
/* Returns true for a plain grid: i8 or i16, one scale, no offset, no limits. */
bool quantized_is_plain(const QuantizedValue *x);
/* Returns the tensor's value as a constant if it depends only on constants, otherwise NULL. */
Tensor *quantized_constant(Ctx *cx, Tensor *t);
/* Reads the scale and zero point of a call, converted to a signed type, if they are constant and per tensor. Returns
 * false if the values are not such integers, or if they are neither 8 bits wide nor i16. */
bool quantized_grid(Ctx *cx, const Node *n, Grid *g);
/* Returns the type that stores the values of a grid: i8 or i16. */
DType quantized_type(const Grid *g);
/* Return the grid as operands of a quantization. */
Tensor *quantized_scale(Ctx *cx, const Grid *g);
Tensor *quantized_zero(Ctx *cx, const Grid *g);
/* Rebuilds the call over other operands. */
Tensor *quantized_call_over(Ctx *cx, const Node *n, Tensor *const *in, const Attr *attr, int attr_count);
#endif
