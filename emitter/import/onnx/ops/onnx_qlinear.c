/* SPDX-License-Identifier: MIT */
/* Translates QLinear operators of the domain com.microsoft. Each becomes a dequantization of the operands, an operator
 * of the default domain, and a quantization of the result. The pass `realize` computes it on integers if the operator
 * allows it.
 *
 *   y = quantize(operator(dequantize(x, x_scale, x_zero), ..), y_scale, y_zero) */
#include "import/onnx/ops/onnx_rows.h"

/* Calls the operator of the default domain that the row names, instead of an operator of the IR. */
static Tensor *run_inner(OnnxCall *c, Tensor **in, int in_count)
{
    for (int i = 0; i < in_count; i++)
        if (!in[i]) return NULL;
    return onnx_translate_as(c, c->op_name, onnx_int(c, "opset", 13), in, in_count, NULL);
}

/* Returns a dequantized operand. Inputs i, i + 1 and i + 2 are the operand, its scale and its zero point. */
static Tensor *operand(OnnxCall *c, int i) { return onnx_dequantized(c, c->in[i], c->in[i + 1], onnx_in(c, i + 2)); }

static void store(OnnxCall *c, Tensor *y, int scale, DType otherwise)
{
    if (y) c->out[0] = onnx_quantized(c, y, c->in[scale], onnx_in(c, scale + 1), otherwise);
}

/* Refuses the node and returns false if one of `count` operands, starting at input `first`, or the result's scale is
 * missing. */
static bool requires_operands(OnnxCall *c, int first, int count)
{
    for (int i = 0; i < count; i++)
        if (!onnx_in(c, first + 3 * i) || !onnx_in(c, first + 3 * i + 1)) {
            onnx_refuse(c, "input %d is missing; pass %s",
                        first + 3 * i + (onnx_in(c, first + 3 * i) != NULL),
                        onnx_in(c, first + 3 * i) ? "the operand's scale" : "the operand");
            return false;
        }
    return !ctx_failed(c->cx);
}

/* The inputs are x, x_scale, x_zero, y_scale and y_zero. With channels_last, x is [n][..][c]. */
static void unary(OnnxCall *c)
{
    if (!requires_operands(c, 0, 1) || !onnx_in(c, 3)) {
        if (!ctx_failed(c->cx)) onnx_refuse(c, "input 3 is missing");
        return;
    }
    const bool last = onnx_int(c, "channels_last", 0) != 0;
    Tensor *x = operand(c, 0);
    if (last) x = onnx_channels_second(c, x);
    Tensor *y = x ? run_inner(c, &x, 1) : NULL;
    store(c, last ? onnx_channels_last(c, y) : y, 3, c->in[0]->type);
}

/* The inputs are a, a_scale, a_zero, b, b_scale, b_zero, y_scale and y_zero. */
static void binary(OnnxCall *c)
{
    if (!requires_operands(c, 0, 2) || !onnx_in(c, 6)) {
        if (!ctx_failed(c->cx)) onnx_refuse(c, "input 6 is missing");
        return;
    }
    Tensor *last_operand = operand(c, 0);
    Tensor *in[2] = { last_operand, operand(c, 3) };
    store(c, run_inner(c, in, 2), 6, c->in[0]->type);
}

/* The inputs are y_scale and y_zero, followed by the operands with scale and zero point. */
static void concat(OnnxCall *c)
{
    const int count = (c->in_count - 2 + 2) / 3;
    if (c->in_count < 4 || !onnx_requires(c, 2) || !requires_operands(c, 2, count)) {
        if (!ctx_failed(c->cx))
            onnx_refuse(c, "it has %d inputs; use y_scale, y_zero, and for each operand its values, scale and zero "
                           "point", c->in_count);
        return;
    }
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) in[i] = operand(c, 2 + 3 * i);
    store(c, run_inner(c, in, count), 0, c->in[2]->type);
}

/* The inputs are the condition, followed by the inputs of `binary`. */
static void where(OnnxCall *c)
{
    if (!onnx_requires(c, 1) || !requires_operands(c, 1, 2) || !onnx_in(c, 7)) {
        if (!ctx_failed(c->cx)) onnx_refuse(c, "input 7 is missing");
        return;
    }
    Tensor *last_operand = operand(c, 1);
    Tensor *in[3] = { c->in[0], last_operand, operand(c, 4) };
    store(c, run_inner(c, in, 3), 7, c->in[1]->type);
}

#define QLINEAR(its_name, most, attrs, inner, fn) \
    { ONNX_AS("com.microsoft.QLinear" its_name, most, attrs, inner, fn), .open.keeps = KEEPS_ALL }
const OnnxOp onnx_rows_qlinear[] = {
    QLINEAR("Add", 8, "", "Add", binary),
    QLINEAR("AveragePool", 5, "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides",
            "AveragePool", unary),
    QLINEAR("Concat", ONNX_ANY, "axis", "Concat", concat),
    QLINEAR("GlobalAveragePool", 5, "channels_last", "GlobalAveragePool", unary),
    QLINEAR("LeakyRelu", 5, "alpha", "LeakyRelu", unary),
    QLINEAR("Mul", 8, "", "Mul", binary),
    QLINEAR("Sigmoid", 5, "", "Sigmoid", unary),
    QLINEAR("Softmax", 5, "axis opset", "Softmax", unary),
    QLINEAR("Where", 9, "", "Where", where),
    { 0 }
};
