/* SPDX-License-Identifier: MIT */
/* Defines annotations of a tensor. Each annotation is an identity in type and value, except simulated_quantize.
 *
 *   on_device            the producer of x runs on a device; graph/passes/device.c copies at the boundary
 *   stop_fusion          a view of x: no fused group crosses it, nothing is copied
 *   stop_gradient        a record for differentiation, which removes it
 *   checkpoint           a record for differentiation: the backward pass recomputes x instead of storing it
 *   simulated_quantize   y = (clamp(round(x / scale) + zero, least, greatest) - zero) * scale; without scale and zero
 *                        a record for the quantizer, which chooses the grid: y = x
 *
 * Scale and zero broadcast as in ops/integer/quantize.c. With 8 or 16 bits and ties to even, simulated_quantize equals
 * quantize followed by dequantize bit for bit: both store an integer of that width in between. */
#include "graph/dag/op_build.h"

#include <string.h>

/* ---- Simulated quantization ------------------------------------------------------------------------------------- */

typedef struct Rounding { const char *name, *function; } Rounding;
static const Rounding roundings[] = {
    { "even", "nearbyint" }, { "away", "round" }, { "zero", "trunc" }, { "down", "floor" }, { "up", "ceil" }
};
enum { ROUNDINGS = sizeof roundings / sizeof roundings[0], MOST_BITS = 16 };

static const char *rounding_function(Ctx *cx, const Node *n)
{
    const char *wanted = node_text(n, "rounding", "even");
    for (int i = 0; i < ROUNDINGS; i++)
        if (strcmp(roundings[i].name, wanted) == 0) return roundings[i].function;
    op_refuse(cx, n, "'rounding' is \"%s\"; use even, away, zero, down or up", wanted);
    return NULL;
}

/* Returns the formula of the stored integer. For 8 and 16 bits the saturating cast clamps; other widths need a
 * clamp. */
static const char *stored_text(int64_t bits, bool has_sign)
{
    if (bits == 8) return has_sign ? "i8(steps)" : "u8(steps)";
    if (bits == 16) return has_sign ? "i16(steps)" : "u16(steps)";
    return "i32(clamp(steps, least, greatest))";
}

static int64_t least_of(int64_t bits, bool has_sign) { return has_sign ? -(INT64_C(1) << (bits - 1)) : 0; }
static int64_t greatest_of(int64_t bits, bool has_sign) { return least_of(bits, has_sign) + (INT64_C(1) << bits) - 1; }

/* Emits an identity, which the quantizer reads as a record; bits: the width of the grid, or 32 for a tensor that stays
 * in floats. */
static int without_grid(Ctx *cx, const Node *n, int64_t bits, Tensor **out)
{
    enum { FLOAT_BITS = 32 };
    if (n->in_count == 2) op_refuse(cx, n, "the scale is given without a zero point; pass both or none");
    if ((bits < 2 || bits > MOST_BITS) && bits != FLOAT_BITS)
        op_refuse(cx, n, "'bits' is %lld; use 2 to %d, or %d for floats", (long long)bits, MOST_BITS, FLOAT_BITS);
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*]", BIND_T("x", n->in[0]));
    return ctx_failed(cx) || !out[0] ? 0 : 1;
}

static int simulated_quantize(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t bits = node_int(n, "bits", 8);
    const bool has_sign = node_int(n, "sign", 1) != 0;
    const char *round = rounding_function(cx, n);
    if (!round || !op_float(cx, n)) return 0;
    if (n->in_count < 3) return without_grid(cx, n, bits, out);
    Tensor *scale = n->in[1], *zero = n->in[2];
    const char *real = dtype_info(scale->type)->spelling;
    if (bits < 2 || bits > MOST_BITS)
        op_refuse(cx, n, "'bits' is %lld; use 2 to %d", (long long)bits, MOST_BITS);
    if (scale->type != n->in[0]->type)
        op_refuse(cx, n, "the scale is %s, but the input %s; use equal types", real,
                  dtype_info(n->in[0]->type)->spelling);
    if (!dtype_is_integer(zero->type))
        op_refuse(cx, n, "the zero is %s; use an integer type", dtype_info(zero->type)->spelling);
    if (ctx_failed(cx)) return 0;
    const char *text = OP_TEXT(cx, "y[*] = real(i32(stored) - i32(zero[*])) * scale[*]", { "round", round },
                               { "real", real }, { "steps", "round(x[*] / scale[*]) + real(zero[*])" },
                               { "least", op_number(cx, least_of(bits, has_sign)) },
                               { "greatest", op_number(cx, greatest_of(bits, has_sign)) },
                               { "stored", stored_text(bits, has_sign) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("scale", scale), BIND_T("zero", zero));
    return out[0] ? 1 : 0;
}

/* Returns the index of an operand that broadcasts against x, in x's letters. */
static const char *aligned_index(Ctx *cx, const Tensor *t, const Tensor *x)
{
    Text s = text_new(cx);
    for (int d = 0; d < t->rank; d++) {
        const char letter = axis_letter(x->rank, x->rank - t->rank + d);
        text_printf(&s, "%s%c", d ? "," : "", tensor_dim(t, d) == 1 ? '0' : letter);
    }
    return text_string(&s);
}

/* Returns the axes of a result with t's shape; *summed becomes the letters of x's axes that are summed. */
static const char *axes_of(Ctx *cx, const Tensor *t, const Tensor *x, const char **summed)
{
    Text lhs = text_new(cx), rest = text_new(cx);
    for (int d = 0; d < x->rank; d++) {
        const int at = d - (x->rank - t->rank);
        const bool is_kept = at >= 0 && tensor_dim(t, at) != 1;
        if (at >= 0 && !is_kept) text_printf(&lhs, "%sone%d<1", lhs.length ? "," : "", at);
        if (is_kept) text_printf(&lhs, "%s%c", lhs.length ? "," : "", axis_letter(x->rank, d));
        else if (tensor_dim(x, d) != 1) text_printf(&rest, "%s%c", rest.length ? "," : "", axis_letter(x->rank, d));
    }
    *summed = text_string(&rest);
    return text_string(&lhs);
}

/* The straight-through estimator differentiates the rounding as the identity, and the clamp as a clamp. With s the
 * scale and r = x / s:
 *
 *   d_x = g inside, 0 outside        d_s = sum g * (round(r) - r) inside, g * (stored - zero) outside
 *
 * Without a scale the call is the identity.
 *
 * Esser et al., Learned step size quantization, 2020. */
static bool simulated_adjoint(Ctx *cx, const Node *n, Tensor *const *g, int input, Tensor **out)
{
    /* if x is the only input, the adjoint follows from the formula, which is an identity */
    if (n->in_count < 3) return false;
    const Tensor *x = n->in[0], *scale = n->in[1], *zero = n->in[2];
    const int64_t bits = node_int(n, "bits", 8);
    const bool has_sign = node_int(n, "sign", 1) != 0;
    if (input == 2 || x->rank < scale->rank || x->rank < zero->rank) return input == 2;
    const char *summed, *axes = axes_of(cx, n->in[input], x, &summed), *round = rounding_function(cx, n);
    const char *text = OP_TEXT(
        cx, input == 0 ? "y[axes] = select(inside, g[at], 0)"
                       : "y[axes] = reduced g[at] * select(inside, r - x[at] / s, clamp(steps, least, greatest) - z)",
        { "axes", axes }, { "at", aligned_index(cx, x, x) }, { "of_scale", aligned_index(cx, scale, x) },
        { "of_zero", aligned_index(cx, zero, x) }, { "summed", summed }, { "reduced", *summed ? "sum(summed)" : "" },
        { "real", dtype_info(scale->type)->spelling }, { "round", round ? round : "" },
        { "least", op_number(cx, least_of(bits, has_sign)) },
        { "greatest", op_number(cx, greatest_of(bits, has_sign)) }, { "s", "scale[of_scale]" },
        { "z", "real(zero[of_zero])" }, { "r", "round(x[at] / s)" }, { "steps", "(r + z)" },
        { "inside", "steps >= least && steps <= greatest" });
    *out = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("scale", n->in[1]), BIND_T("zero", n->in[2]),
                      BIND_T("g", g[0]));
    return true;
}

/* Emits an identity, because the type is only a hint for quantizers. */
static int cast_hint(Ctx *cx, const Node *n, Tensor **out)
{
    const char *wanted = node_text(n, "dtype", "");
    DType type;
    if (!dtype_read(wanted, strlen(wanted), &type))
        op_refuse(cx, n, "the attribute 'dtype' is '%s'; use an element type", wanted);
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*]", BIND_T("x", n->in[0]));
    return ctx_failed(cx) || !out[0] ? 0 : 1;
}

static const OpCase cast_hint_cases[] = {
    { "", "f32[3][4]", "f32[3][4]", NULL },
    { "dtype=i16", "f32[5]", "f32[5]", NULL },
    { "dtype=int8", "f32[5]", NULL, "'int8'; use an element type" },
    { 0 }
};

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

static const AttrRow device_attrs[] = {
    { "device", ATTR_TEXT, "a name from the list of devices, or cpu", NULL }, { 0 }
};
static const AttrRow cast_hint_attrs[] = {
    { "dtype", ATTR_TEXT, "an element type that the values suit", "i8" }, { 0 }
};
static const AttrRow copy_attrs[] = {
    { "from", ATTR_TEXT, "the source device", "cpu" }, { "to", ATTR_TEXT, "the destination device", "cpu" },
    { 0 }
};
static const AttrRow quantize_attrs[] = {
    { "bits", ATTR_INT, "the width of the stored integer, 2 to 16; 32, which means floats, only without a scale", "8" },
    { "sign", ATTR_INT, "1: signed, 0: unsigned", "1" },
    { "rounding", ATTR_TEXT, "ties to even or away; or all values to zero, down or up", "even" },
    { 0 }
};

static const OpCase plain_cases[] = { { "", "f32[2][3]", "f32[2][3]", NULL }, { "", "i8[4]", "i8[4]", NULL }, { 0 } };
static const OpCase device_cases[] = { { "device=npu", "f32[2][3]", "f32[2][3]", NULL }, { 0 } };
static const OpCase copy_cases[] = { { "from=cpu to=npu", "i8[2][3]", "i8[2][3]", NULL }, { 0 } };
static const OpCase quantize_cases[] = {
    { "", "f32[6]={0,0.25,-0.75,100,-100,0.3} f32={0.5} i8={0}", "f32[6]", NULL },
    { "sign=0", "f32[6]={0,2,3,1000,-254,-1000} f32={2} u8={128}", "f32[6]", NULL },
    { "bits=4", "f32[2][3][4] f32[3][1]={0.5,0.25,2} i8[3][1]={0,3,-5}", "f32[2][3][4]", NULL },
    { "bits=5 sign=0 rounding=away", "f32[7] f32={0.1} i32={7}", "f32[7]", NULL },
    { "bits=16 rounding=zero", "f32[7] f32={0.001} i16={-7}", "f32[7]", NULL },
    { "rounding=down", "f32[7] f32={0.25} i8={1}", "f32[7]", NULL },
    { "rounding=up", "f32[7] f32={0.25} i8={1}", "f32[7]", NULL },
    { "bits=1", "f32[3] f32 i8", NULL, "2 to 16" },
    { "rounding=odd", "f32[3] f32 i8", NULL, "; use even" },
    { "", "i32[3] f32 i8", NULL, "use a float type" },
    { "", "f32[3] f32 f32", NULL, "use an integer type" },
    { "bits=32", "f32[3]", "f32[3]", NULL },
    { "bits=24", "f32[3]", NULL, "or 32 for floats" },
    { "", "f32[3] f32", NULL, "the scale is given without a zero point" },
    { 0 }
};

#define ANNOTATION(called, its_kind, text, case_rows) \
    .name = "annotation." called, .summary = text, .level = 10, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
    .meaning.formula = "y[*] = x[*]", .fusion.pattern = PATTERN_ELEMENTWISE, .fusion.annotation = its_kind, \
    .cases = case_rows

const Op ops_annotation[] = {
    { ANNOTATION("on_device", ANNOTATION_DEVICE, "y = x, computed on a device", device_cases), .attr = device_attrs },
    { ANNOTATION("stop_fusion", ANNOTATION_STOP_FUSION, "y = x; no fused group crosses it", plain_cases),
      .layout.is_view = true, .layout.permute = permute_elementwise, .quantization.moves_elements = true },
    { ANNOTATION("stop_gradient", ANNOTATION_RECORD, "y = x; its gradient is zero", plain_cases),
      .gradient.role = GRADIENT_STOP },
    { ANNOTATION("checkpoint", ANNOTATION_RECORD, "y = x; recomputed for the gradient, not stored", plain_cases),
      .gradient.role = GRADIENT_CHECKPOINT },
    { ANNOTATION("bitpack_start", ANNOTATION_RECORD, "y = x; a packed layout begins here", plain_cases) },
    { ANNOTATION("bitpack_end", ANNOTATION_RECORD, "y = x; a packed layout ends here", plain_cases) },
    { .name = "annotation.cast_hint", .summary = "y = x; the values suit an element type, for quantizers", .level = 10,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = cast_hint_attrs, .meaning.compute = cast_hint,
      .fusion.pattern = PATTERN_ELEMENTWISE, .fusion.annotation = ANNOTATION_RECORD, .cases = cast_hint_cases },
    { .name = "annotation.simulated_quantize",
      .summary = "y[*] = (clamp(round(x[*] / scale[*]) + zero[*]) - zero[*]) * scale[*]: a grid in float", .level = 10,
      .least_inputs = 1, .most_inputs = 3, .inputs = "x scale zero", .attr = quantize_attrs,
      .meaning.compute = simulated_quantize, .fusion.pattern = PATTERN_BROADCAST, .layout.permute = permute_elementwise,
      .gradient.adjoint = simulated_adjoint, .quantization.grid = GRID_SIMULATE, .cases = quantize_cases },
    { .name = "device_copy", .summary = "y = x, in the memory of another device", .level = 10, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = copy_attrs, .meaning.formula = "y[*] = x[*]",
      .fusion.pattern = PATTERN_OPAQUE, .fusion.is_device_copy = true, .cases = copy_cases },
    { 0 }
};
