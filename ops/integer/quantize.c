/* SPDX-License-Identifier: MIT */
/* Converts between real numbers and their stored integers: real = scale * (stored - zero). Scale and zero broadcast
 * like any operand: they are per tensor or, with 1 in the other dimensions, per channel of an axis. Ties round to even.
 * Values out of range saturate, as in every cast from a float type.
 *
 *   quantize     y = to(nearbyint(x / scale) + zero)
 *   requantize   y = to(nearbyint(x * scale) + zero)       x: an accumulator; scale: x's scale divided by y's scale
 *   dequantize   y = (x - zero) * scale                    the 32-bit difference is exact for 8 and 16 bits
 *   centered     y = i32(x) - i32(zero)                    the operand of integer products */
#include "graph/dag/op_build.h"

#include <string.h>

static bool read_type(Ctx *cx, const Node *n, DType *t)
{
    const char *to = node_text(n, "to", "");
    if (dtype_read(to, strlen(to), t) && dtype_is_integer(*t)) return true;
    op_refuse(cx, n, "'to' is \"%s\", which is not an integer type; use one of: %s", to,
              op_types_text(cx, dtype_is_integer));
    return false;
}

static bool check_zero(Ctx *cx, const Node *n, DType stored)
{
    if (!dtype_is_float(n->in[1]->type))
        op_refuse(cx, n, "the scale is %s; use a float type", dtype_info(n->in[1]->type)->spelling);
    else if (n->in[2]->type != stored)
        op_refuse(cx, n, "the zero is %s; use %s, the stored type", dtype_info(n->in[2]->type)->spelling,
                  dtype_info(stored)->spelling);
    return !ctx_failed(cx);
}

static int store(Ctx *cx, const Node *n, const char *scaled, Tensor **out)
{
    DType to;
    if (!read_type(cx, n, &to) || !check_zero(cx, n, to)) return 0;
    const char *text = OP_TEXT(cx, "y[*] = stored(nearbyint(scaled) + real(zero[*]))",
                               { "real", dtype_info(n->in[1]->type)->spelling }, { "stored", dtype_info(to)->spelling },
                               { "value", n->in[0]->type == n->in[1]->type ? "x[*]" : "real(x[*])" },
                               { "scaled", scaled });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("scale", n->in[1]), BIND_T("zero", n->in[2]));
    return out[0] ? 1 : 0;
}

static int quantize(Ctx *cx, const Node *n, Tensor **out)
{
    return op_float(cx, n) ? store(cx, n, "value / scale[*]", out) : 0;
}
static int requantize(Ctx *cx, const Node *n, Tensor **out) { return store(cx, n, "value * scale[*]", out); }

static int dequantize(Ctx *cx, const Node *n, Tensor **out)
{
    const char *real = dtype_info(n->in[1]->type)->spelling;
    if (!dtype_is_integer(n->in[0]->type))
        op_refuse(cx, n, "the input is %s; use an integer type", dtype_info(n->in[0]->type)->spelling);
    if (ctx_failed(cx) || !check_zero(cx, n, n->in[0]->type)) return 0;
    out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, "y[*] = real(i32(x[*]) - i32(zero[*])) * scale[*]", { "real", real }),
                        BIND_T("x", n->in[0]), BIND_T("scale", n->in[1]), BIND_T("zero", n->in[2]));
    return out[0] ? 1 : 0;
}

static int centered(Ctx *cx, const Node *n, Tensor **out)
{
    DType x = n->in[0]->type;
    if (!dtype_is_integer(x) || dtype_info(x)->bytes > 2 || n->in[1]->type != x)
        op_refuse(cx, n, "the input is %s, the zero %s; use one integer type of 8 or 16 bits",
                  dtype_info(x)->spelling, dtype_info(n->in[1]->type)->spelling);
    if (ctx_failed(cx)) return 0;
    out[0] = OP_FORMULA(cx, n, "y[*] = i32(x[*]) - i32(zero[*])", BIND_T("x", n->in[0]), BIND_T("zero", n->in[1]));
    return out[0] ? 1 : 0;
}

static const AttrRow attrs[] = {
    { "to", ATTR_TEXT, "the stored integer type, as formulas spell it: i8", "i8" }, { 0 }
};

static const AttrRow requantize_attrs[] = {
    { "to", ATTR_TEXT, "the stored integer type, as formulas spell it: i8", "i8" },
    { "products", ATTR_REALS,
      "with `step`: exact products of the scales of x, one or one per element of the scale", NULL },
    { "step", ATTR_REAL, "the scale of y: on integers, x * products / step decides ties instead of x * scale", NULL },
    { 0 }
};

static const OpCase quantize_cases[] = {
    { "to=u8", "f32[6]={0,2,3,1000,-254,-1000} f32={2} u8={128}", "u8[6]", NULL },
    { "to=i8", "f32[2][3][4] f32[3][1]={0.5,0.25,2} i8[3][1]={0,3,-5}", "i8[2][3][4]", NULL },
    { "to=i16", "f32[5] f32={0.001} i16={-7}", "i16[5]", NULL },
    { "to=i32", "f32[3]={1e9,1e10,-3.5} f32={1} i32={0}", "i32[3]", NULL },
    { "to=f32", "f32[3] f32 i8", NULL, "not an integer type" },
    { "to=u8", "f32[3] f32 i8", NULL, "the zero is i8; use u8, the stored type" },
    { "to=i8", "i32[3] f32 i8", NULL, "use a float type" },
    { 0 }
};
static const OpCase requantize_cases[] = {
    { "to=i8", "i32[2][3] f32[3]={0.5,0.25,2} i8={1}", "i8[2][3]", NULL },
    { "to=i8", "i32[2] i32 i8", NULL, "use a float type" },
    { 0 }
};
static const OpCase dequantize_cases[] = {
    { "", "u8[2][3] f32[3]={0.5,0.25,2} u8[3]={1,2,3}", "f32[2][3]", NULL },
    { "", "i32[4] f32={0.1} i32={0}", "f32[4]", NULL },
    { "", "f32[4] f32 i8", NULL, "use an integer type" },
    { "", "u8[4] f32 i8", NULL, "the zero is i8" },
    { 0 }
};

static const OpCase centered_cases[] = {
    { "", "u8[2][3] u8[3]={1,2,3}", "i32[2][3]", NULL },
    { "", "i8[4] i8={-128}", "i32[4]", NULL },
    { "", "u8[4] i8", NULL, "one integer type" },
    { 0 }
};

#define QUANT(fn, text) \
    .name = #fn, .summary = text, .level = 11, .least_inputs = 3, .most_inputs = 3, .inputs = "x scale zero", \
    .meaning.compute = fn, .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise, \
    .cases = fn##_cases

const Op ops_quantize[] = {
    { QUANT(quantize, "y[*] = to(nearbyint(x[*] / scale[*]) + zero[*]), saturated"), .attr = attrs,
      .quantization.grid = GRID_STORE },
    { QUANT(requantize, "y[*] = to(nearbyint(x[*] * scale[*]) + zero[*]), saturated"), .attr = requantize_attrs,
      .quantization.grid = GRID_REQUANTIZE },
    { QUANT(dequantize, "y[*] = (x[*] - zero[*]) * scale[*]"), .quantization.grid = GRID_READ },
    { .name = "centered", .summary = "y[*] = i32(x[*]) - i32(zero[*])", .level = 11, .least_inputs = 2,
      .most_inputs = 2, .inputs = "x zero", .meaning.compute = centered, .fusion.pattern = PATTERN_BROADCAST,
      .layout.permute = permute_elementwise, .quantization.grid = GRID_CENTER, .cases = centered_cases },
    { 0 }
};
