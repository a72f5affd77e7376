/* SPDX-License-Identifier: MIT */
/* Translates the custom domain loopwright.annotation: annotations of values, as nodes of the model
 * (ops/elements/annotation.c). */
#include "import/onnx/ops/onnx_rows.h"

/* Translates a node with one input to an operator without attributes. */
static void say(OnnxCall *c)
{
    if (onnx_requires(c, 1)) c->out[0] = onnx_call(c, c->op_name, c->in[0]);
}

/* Applies the annotation to all calls of the node that produces the input; a value without a producer is on the
 * host. */
static void on_device(OnnxCall *c)
{
    const char *device = onnx_text(c, "device", NULL);
    if (!onnx_requires(c, 1)) return;
    if (!device) onnx_refuse(c, "the attribute 'device' is missing; use the name of a device");
    else c->out[0] = onnx_call(c, c->op_name, c->in[0], attr_word("device", device));
}

/* The inputs are x, scale, and the zero point unless it is 0; scales may be per channel along `axis`. If x is the only
 * input, the quantizer chooses the grid. */
static void simulated_quantize(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    const Attr *attrs = ATTRS(attr_int("bits", onnx_int(c, "bits", 8)), attr_flag("sign", onnx_int(c, "sign", 1)),
                              attr_word("rounding", onnx_text(c, "rounding", "even")));
    if (!onnx_in(c, 1)) {
        c->out[0] = call(c->cx, c->op_name, c->name, c->in, 1, attrs);
        return;
    }
    int64_t axis = onnx_int(c, "axis", 1);
    Tensor *x = c->in[0], *zero = onnx_in(c, 2) ? c->in[2] : tensor_scalar(c->cx, c->name, I32, 0);
    Tensor *along = onnx_along(c, c->in[1], x, axis);
    Tensor *in[3] = { x, along, onnx_along(c, zero, x, axis) };
    if (!in[1] || !in[2]) return;
    c->out[0] = call(c->cx, c->op_name, c->name, in, 3, attrs);
}

static void cast_hint(OnnxCall *c)
{
    if (onnx_requires(c, 1))
        c->out[0] = onnx_call(c, c->op_name, c->in[0], attr_word("dtype", onnx_text(c, "dtype", "i8")));
}

#define DOMAIN "loopwright.annotation."
const OnnxOp onnx_rows_annotation[] = {
    { ONNX_AS(DOMAIN "bitpack_end", 1, "", "annotation.bitpack_end", say) },
    { ONNX_AS(DOMAIN "bitpack_start", 1, "", "annotation.bitpack_start", say) },
    { ONNX_AS(DOMAIN "cast_hint", 1, "dtype", "annotation.cast_hint", cast_hint) },
    { ONNX_AS(DOMAIN "checkpoint", 1, "", "annotation.checkpoint", say) },
    { ONNX_AS(DOMAIN "on_device", 1, "device", "annotation.on_device", on_device) },
    { ONNX_AS(DOMAIN "simulated_quantize", 3, "axis bits rounding sign", "annotation.simulated_quantize",
      simulated_quantize) },
    { ONNX_AS(DOMAIN "stop_fusion", 1, "", "annotation.stop_fusion", say) },
    { ONNX_AS(DOMAIN "stop_gradient", 1, "", "annotation.stop_gradient", say) },
    { 0 }
};
