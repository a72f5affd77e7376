/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_QUANTIZED_VALUE_H
#define LW_GRAPH_QUANTIZE_QUANTIZED_VALUE_H
/* Quantized affine values: a real tensor between a dequantization and a quantization as an affine function of integers
 * that other calls compute exactly. With c the index along `axis`,
 *
 *     real = min(max((scale[c] * (q - zero) + scale_b * (b - zero_b) + offset[c]) / count, low), high)
 *
 * or, is_quotient, scale * (q - zero) / (scale_b * (b - zero_b)) within the same limits. Scales of channels may be
 * negative in fixed point.
 *
 * All 8-bit tensors are stored as i8: u8 with the zero point z is i8 with z - 128. 16-bit tensors are i16. */
#include "graph/dag/graph.h"
#include "graph/quantize/requantize.h"

typedef struct QuantizedValue QuantizedValue;
struct QuantizedValue {
    /* i8 or i16 with a grid, or i32 sums; b: NULL, or the second operand of a sum or quotient, then with a grid as q
     * is */
    Tensor *q, *b;
    bool is_quotient;
    int64_t zero, zero_b, count;
    int axis;                       /* axis of q; meaningless if channels is 1 */
    int64_t channels;
    const double *scale, *offset;   /* [channels] */
    double scale_b, low, high;
    Interval reach;                 /* interval of q - zero */
    const Node *concat;             /* alternatively: the call over `part`, one for each input; q is then NULL */
    const QuantizedValue *part;
};

/* takes_ties: accepts calls whose floats would round before the quantization. in_fixed_point: accepts 8-bit forms that
 * may differ by a step. */
typedef struct QuantizedContext { Ctx *cx; const Uses *uses; bool takes_ties, in_fixed_point; } QuantizedContext;

/* The product or sum as a double: in fixed point the nearest one, else NAN if it is not exact. */
double quantized_product(const QuantizedContext *f, double a, double b);
double quantized_sum(const QuantizedContext *f, double a, double b);
/* NULL: no affine value, or other consumers need the real numbers. */
const QuantizedValue *quantized_of(const QuantizedContext *f, Tensor *t);
const QuantizedValue *quantized_of_call(const QuantizedContext *f, const Node *n);   /* regardless of consumers */
/* i32 sums times the factor that GRID_REQUANTIZE applies to them. */
const QuantizedValue *quantized_of_requantized(Ctx *cx, const Node *n);
/* True for a plain grid: i8 or i16, one scale, no offset, no limits. */
bool quantized_is_plain(const QuantizedValue *x);
/* Returns the tensor's value as a constant if it depends on constants only; else NULL. */
Tensor *quantized_constant(Ctx *cx, Tensor *t);
/* Reads the scale and zero point of a call, converted to a signed type, if they are constant and per tensor. False:
 * they are not, or the values are not 8 bits wide, nor i16. */
bool quantized_grid(Ctx *cx, const Node *n, Grid *g);
/* The type that stores the values of a grid: i8 or i16. */
DType quantized_type(const Grid *g);
/* The grid as operands of a quantization. */
Tensor *quantized_scale(Ctx *cx, const Grid *g);
Tensor *quantized_zero(Ctx *cx, const Grid *g);
/* Rebuilds the call over other operands. */
Tensor *quantized_call_over(Ctx *cx, const Node *n, Tensor *const *in, const Attr *attr, int attr_count);
#endif
