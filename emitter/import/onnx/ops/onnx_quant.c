/* SPDX-License-Identifier: MIT */
/* Translates quantized operators by their defining arithmetic: matrix products and convolutions of zero-point
 * differences in 32 bits, and scaling in floats. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

/* Returns the zero point, or 0 if it is omitted. */
static Tensor *zero_or_default(OnnxCall *c, Tensor *zero, DType t)
{
    return zero ? zero : tensor_scalar(c->cx, c->name, t, 0);
}

Tensor *onnx_along(OnnxCall *c, Tensor *p, const Tensor *x, int64_t axis)
{
    if (!p || p->rank == 0) return p;
    if (tensor_elems(p) == 1) return onnx_reshape(c, p, NULL, 0);
    int at = onnx_axis(c, axis, x->rank);
    if (at >= 0 && (p->rank != 1 || tensor_dim(p, 0) != tensor_dim(x, at)))
        onnx_unsupported(
            c, "it has a scale or zero point of shape %s for axis %d of %s; use one value, or one per index",
            tensor_shape_text(c->cx, p), at, tensor_shape_text(c->cx, x));
    return ctx_failed(c->cx) ? NULL : onnx_append_ones(c, p, x->rank - 1 - at);
}

/* Does the same as onnx_along, or repeats each value for block_size elements along the axis; the last block may be
 * partial. */
static Tensor *per_block(OnnxCall *c, Tensor *p, const Tensor *x, int64_t axis)
{
    const int64_t block = onnx_int(c, "block_size", 0);
    if (!block || !p || p->rank == 0) return onnx_along(c, p, x, axis);
    const int at = onnx_axis(c, axis, x->rank);
    if (at < 0) return NULL;
    bool fits = block > 0 && block <= INT32_MAX && p->rank == x->rank && tensor_dim(x, at) > 0
                && (tensor_dim(x, at) - 1) / block + 1 == tensor_dim(p, at);
    for (int d = 0; fits && d < x->rank; d++) fits = d == at || p->shape[d] == x->shape[d];
    if (!fits)
        onnx_refuse(
            c, "it has a scale or zero point of %s for blocks of %lld along axis %d of %s; use one value per block",
            tensor_shape_text(c->cx, p), (long long)block, at, tensor_shape_text(c->cx, x));
    Tensor *all = ctx_failed(c->cx) ? NULL : onnx_call(c, "repeat", p, attr_int("axis", at), attr_int("times", block));
    return all && tensor_dim(all, at) > tensor_dim(x, at)
               ? onnx_call(c, "slice", all, attr_list("axes", at), attr_list("begin", 0),
                           attr_list("end", tensor_dim(x, at)))
               : all;
}

static Tensor *call3(OnnxCall *c, const char *op, Tensor *x, Tensor *scale, Tensor *zero, const Attr *attrs)
{
    return x && scale && zero ? call(c->cx, op, c->name, (Tensor *[]){ x, scale, zero }, 3, attrs) : NULL;
}

static Tensor *quantize_call(OnnxCall *c, const char *op, Tensor *x, Tensor *scale, Tensor *zero)
{
    return zero ? call3(c, op, x, scale, zero, ATTRS(attr_type("to", zero->type))) : NULL;
}

static void quantize_linear(OnnxCall *c)
{
    DType t = U8;
    int64_t axis = onnx_int(c, "axis", 1), to = onnx_int(c, "output_dtype", 0);
    if (!onnx_requires(c, 2)) return;
    int64_t least, greatest;
    const bool is_narrow = onnx_integer_range(onnx_in(c, 2) ? onnx_constant_type(c, 2) : to, &least, &greatest);
    if (onnx_in(c, 2)) t = c->in[2]->type;
    else if (to && !onnx_dtype(to, &t) && !(is_narrow && onnx_constant_dtype(to, &t)))
        onnx_refuse_type(c, "'output_dtype' is", to);
    if (!dtype_is_integer(t))
        onnx_unsupported(c, "the elements are stored as %s; use integers", dtype_info(t)->spelling);
    Tensor *x = c->in[0], *scale = onnx_cast(c, c->in[1], x->type);
    if (scale && dtype_is_integer(x->type)) x = onnx_cast(c, x, scale->type);
    Tensor *block = per_block(c, zero_or_default(c, onnx_in(c, 2), t), x, axis);
    c->out[0] = quantize_call(c, "quantize", x, per_block(c, scale, x, axis), block);
    if (is_narrow)
        c->out[0] = onnx_call(c, "clip", c->out[0], attr_real("min", (double)least),
                              attr_real("max", (double)greatest));
}

static const Tensor *skip_views(const Tensor *t)
{
    while (t->producer && t->producer->kind == NODE_CALL && t->producer->op->layout.is_view) t = t->producer->in[0];
    return t;
}

/* Returns true if a and b are one tensor, or constants with equal shapes and values. */
static bool same_values(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    a = skip_views(a);
    b = skip_views(b);
    return same && (a == b || (a->data && b->data && memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0));
}

/* If `stored` was quantized with this scale and zero point, returns one simulated quantization for the pair, which has
 * the same bits. */
static Tensor *simulated_pair(OnnxCall *c, const Tensor *stored, Tensor *scale, Tensor *zero)
{
    const Node *n = stored->producer;
    int bits = 8 * dtype_info(stored->type)->bytes;
    if (!scale || !zero || !n || n->kind != NODE_CALL || n->op->quantization.grid != GRID_STORE ||
        bits > 16) return NULL;
    if (scale->type != n->in[0]->type || !same_values(scale, n->in[1]) || !same_values(zero, n->in[2])) return NULL;
    return call(c->cx, "annotation.simulated_quantize", c->name, (Tensor *[]){ n->in[0], scale, zero }, 3,
                ATTRS(attr_int("bits", bits), attr_flag("sign", stored->type == I8 || stored->type == I16)));
}

static void dequantize_linear(OnnxCall *c)
{
    int64_t axis = onnx_int(c, "axis", 1);
    if (!onnx_requires(c, 2)) return;
    Tensor *x = c->in[0], *zero = per_block(c, zero_or_default(c, onnx_in(c, 2), x->type), x, axis),
           *scale = per_block(c, c->in[1], x, axis);
    if (dtype_is_float(x->type)) {               /* a constant of 8-bit floats has the zero point 0 */
        c->out[0] = onnx_call2(c, "mul", onnx_cast(c, x, scale ? scale->type : F32), scale);
        return;
    }
    c->out[0] = simulated_pair(c, x, scale, zero);
    if (!c->out[0] && !ctx_failed(c->cx)) c->out[0] = call3(c, "dequantize", x, scale, zero, NULL);
}

/* x in 8 bits: the range of x, widened to include 0, is mapped to 0..255. */
typedef struct Ranged { Tensor *stored, *scale, *zero; } Ranged;

static Ranged by_range(OnnxCall *c, Tensor *x)
{
    const Ranged failed = { NULL, NULL, NULL };
    Tensor *none = onnx_scalar_like(c, x, 0);
    Tensor *low = x->rank ? onnx_call(c, "reduce_min", x) : x,
           *high = x->rank ? onnx_call(c, "reduce_max", x) : x;
    low = onnx_call2(c, "min", low, none);
    high = onnx_call2(c, "max", high, none);
    Tensor *range = onnx_call2(c, "sub", high, low), *scale = onnx_call2(c, "div", range, onnx_scalar_like(c, x, 255));
    Tensor *is_flat = onnx_call2(c, "equal", range, none);
    if (ctx_failed(c->cx)) return failed;
    scale = onnx_select(c, is_flat, onnx_scalar_like(c, x, 1), scale);
    Tensor *number = tensor_scalar(c->cx, c->name, U8, 0);
    Tensor *zero = quantize_call(c, "quantize", onnx_call(c, "neg", low), scale, number);
    return (Ranged){ quantize_call(c, "quantize", x, scale, zero), scale, zero };
}

static void dynamic_quantize(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    const Ranged r = by_range(c, c->in[0]);
    c->out[0] = r.stored;
    c->out[1] = r.scale;
    c->out[2] = r.zero;
}

Tensor *onnx_quantized_by_range(OnnxCall *c, Tensor *x, Tensor **scale)
{
    const Ranged r = by_range(c, x);
    *scale = r.scale;
    return r.stored ? onnx_cast(c, onnx_call2(c, "centered", r.stored, r.zero), I16) : NULL;
}

/* ---- Products in 32 bits ----------------------------------------------------------------------------------------- */

/* Returns x - zero in 32 bits as a tensor. */
static Tensor *difference(OnnxCall *c, Tensor *x, Tensor *zero)
{
    return onnx_call2(c, "centered", x, zero_or_default(c, zero, x->type));
}

/* Returns the zero points of the left operand, one per row, so that they broadcast. */
static Tensor *per_row(OnnxCall *c, Tensor *zero)
{
    return zero && zero->rank == 1 && tensor_elems(zero) > 1 ? onnx_append_ones(c, zero, 1) : zero;
}

static Tensor *product(OnnxCall *c, Tensor *a, Tensor *a_zero, Tensor *b, Tensor *b_zero)
{
    Tensor *last_difference = difference(c, b, b_zero);
    return onnx_call2(c, b->rank == 2 ? "dense" : "matmul", difference(c, a, per_row(c, a_zero)), last_difference);
}

static void matmul_integer(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = product(c, c->in[0], onnx_in(c, 2), c->in[1], onnx_in(c, 3));
}

/* Returns the scale of the sums divided by the scale of the result. */
static Tensor *ratio(OnnxCall *c, Tensor *a, Tensor *b, Tensor *y)
{
    return onnx_call2(c, "div", onnx_call2(c, "mul", a, b), y);
}

static double scale_at(const Tensor *t, int64_t i)
{
    return dtype_load(t->type, t->data, tensor_elems(t) == 1 ? 0 : i).f;
}

/* The exact scales of a product, which an f32 ratio would round: the product of two f32 is exact in double. */
typedef struct ExactScales { int count; double *products, step; } ExactScales;

/* Returns the exact scales if all scales are constant, y has one scale, and at most one operand has several; otherwise
 * a count of 0. */
static ExactScales exact_scales(OnnxCall *c, const Tensor *a, const Tensor *b, const Tensor *y)
{
    const Tensor *scale[] = { a, b, y };
    const ExactScales none = { 0 };
    for (int i = 0; i < 3; i++)
        if (!tensor_is_constant(scale[i]) || scale[i]->type != F32) return none;
    const int64_t of_a = tensor_elems(a), of_b = tensor_elems(b), count = of_a > of_b ? of_a : of_b;
    if (tensor_elems(y) != 1 || (of_a != 1 && of_b != 1)) return none;
    ExactScales e = { (int)count, NEW_ARRAY(c->cx->arena, double, count), scale_at(y, 0) };
    for (int64_t i = 0; i < count; i++) e.products[i] = scale_at(a, i) * scale_at(b, i);
    return e;
}

/* Requantizes sums; input `step` of the node is the scale of the result. */
static Tensor *requantized(OnnxCall *c, Tensor *sums, int step, Tensor *scale, Tensor *zero)
{
    const ExactScales e = exact_scales(c, c->in[1], c->in[4], c->in[step]);
    if (!sums || !scale || !zero) return NULL;
    return call3(c, "requantize", sums, scale, zero,
                 ATTRS(attr_type("to", zero->type), attr_if(e.count, attr_reals("products", e.products, e.count)),
                       attr_if(e.count, attr_real("step", e.step))));
}

static void qlinear_matmul(OnnxCall *c)
{
    if (!onnx_requires(c, 8)) return;
    Tensor *sums = product(c, c->in[0], c->in[2], c->in[3], c->in[5]);
    c->out[0] = requantized(c, sums, 6, ratio(c, per_row(c, c->in[1]), c->in[4], c->in[6]), c->in[7]);
}

static Tensor *transposed_if(OnnxCall *c, Tensor *x, const char *attr)
{
    return onnx_int(c, attr, 0) ? onnx_call(c, "transpose", x, attr_list("perm", 1, 0)) : x;
}

/* Computes y = a' * b' + bias; the bias has 32 bits and the grid of the products. If the result has no scale, it is
 * real. */
static void qgemm(OnnxCall *c)
{
    if (!onnx_requires(c, 6)) return;
    Tensor *bias = onnx_in(c, 6), *step = onnx_in(c, 7);
    const double alpha = onnx_real(c, "alpha", 1);
    if (alpha != 1) onnx_unsupported(c, "'alpha' is %g; use 1", alpha);
    Tensor *transB = transposed_if(c, c->in[3], "transB");
    Tensor *sums = product(c, transposed_if(c, c->in[0], "transA"), c->in[2], transB, c->in[5]);
    if (bias) sums = onnx_call2(c, "add", sums, bias);
    if (step) {
        Tensor *default_zero = zero_or_default(c, onnx_in(c, 8), c->in[0]->type);
        c->out[0] = requantized(c, sums, 7, ratio(c, c->in[1], c->in[4], step), default_zero);
    }
    else {
        Tensor *scales = onnx_call2(c, "mul", c->in[1], c->in[4]);
        c->out[0] = onnx_call2(c, "mul", onnx_cast(c, sums, F32), scales);
    }
}

/* Computes sums * (a_scale * b_scale) + bias in f32. */
static Tensor *scaled_sums(OnnxCall *c, Tensor *sums, Tensor *a_scale, Tensor *b_scale, Tensor *bias)
{
    Tensor *product = onnx_call2(c, "mul", a_scale, b_scale);
    Tensor *y = onnx_call2(c, "mul", onnx_cast(c, sums, F32), product);
    return bias ? onnx_call2(c, "add", y, bias) : y;
}

static void matmul_integer_to_float(OnnxCall *c)
{
    if (!onnx_requires(c, 4)) return;
    Tensor *sums = product(c, c->in[0], onnx_in(c, 4), c->in[1], onnx_in(c, 5));
    c->out[0] = scaled_sums(c, sums, per_row(c, c->in[2]), c->in[3], onnx_in(c, 6));
}

/* Quantizes the left operand to the range of its elements. */
static void dynamic_quantize_matmul(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    const Ranged r = by_range(c, c->in[0]);
    if (ctx_failed(c->cx)) return;
    c->out[0] = scaled_sums(c, product(c, r.stored, r.zero, c->in[1], onnx_in(c, 3)), r.scale, c->in[2], onnx_in(c, 4));
}

/* Convolves x - x_zero with k - k_zero. The weights have one zero point per output channel, which is their first
 * dimension. Padding of x has the value of x_zero. */
static Tensor *convolution(OnnxCall *c, Tensor *x, Tensor *x_zero, Tensor *k, Tensor *k_zero, Tensor *bias)
{
    if (k_zero && k_zero->rank == 1 && tensor_elems(k_zero) > 1) k_zero = onnx_append_ones(c, k_zero, k->rank - 1);
    else if (k_zero) k_zero = onnx_reshape(c, k_zero, NULL, 0);
    if (x_zero) x_zero = onnx_reshape(c, x_zero, NULL, 0);
    Tensor *last_difference = difference(c, k, k_zero);
    return onnx_convolve(c, difference(c, x, x_zero), last_difference, bias);
}

static void conv_integer(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = convolution(c, c->in[0], onnx_in(c, 2), c->in[1], onnx_in(c, 3), NULL);
}

static void qlinear_conv(OnnxCall *c)
{
    if (!onnx_requires(c, 8)) return;
    Tensor *sums = convolution(c, c->in[0], c->in[2], c->in[3], c->in[5], onnx_in(c, 8));
    if (!sums) return;
    Tensor *along = onnx_along(c, c->in[7], sums, 1);
    c->out[0] = requantized(c, sums, 6, onnx_along(c, ratio(c, c->in[1], c->in[4], c->in[6]), sums, 1), along);
}

Tensor *onnx_dequantized(OnnxCall *c, Tensor *x, Tensor *scale, Tensor *zero)
{
    return x ? call3(c, "dequantize", x, scale, zero_or_default(c, zero, x->type), NULL) : NULL;
}

Tensor *onnx_quantized(OnnxCall *c, Tensor *x, Tensor *scale, Tensor *zero, DType otherwise)
{
    return quantize_call(c, "quantize", x, scale, zero_or_default(c, zero, otherwise));
}

#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides"
const OnnxOp onnx_rows_quant[] = {
    { ONNX_ROW("ConvInteger", 4, CONV_ATTRS, conv_integer) },
    { ONNX_ROW("DequantizeLinear", 3, "axis block_size output_dtype", dequantize_linear), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("DynamicQuantizeLinear", 1, "", dynamic_quantize), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("MatMulInteger", 4, "", matmul_integer), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("QLinearConv", 9, CONV_ATTRS, qlinear_conv) },
    { ONNX_ROW("QLinearMatMul", 8, "", qlinear_matmul) },
    { ONNX_ROW("QuantizeLinear", 3, "axis block_size output_dtype precision saturate", quantize_linear),
      .open.keeps = KEEPS_ALL },
    { ONNX_ROW("com.microsoft.DequantizeLinear", 3, "axis block_size", dequantize_linear), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("com.microsoft.DynamicQuantizeMatMul", 5, "", dynamic_quantize_matmul), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("com.microsoft.MatMulIntegerToFloat", 7, "", matmul_integer_to_float), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("com.microsoft.QGemm", 9, "alpha transA transB", qgemm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("com.microsoft.QuantizeLinear", 3, "axis block_size saturate", quantize_linear),
      .open.keeps = KEEPS_ALL },
    { 0 }
};
