/* SPDX-License-Identifier: MIT */
/* Defines elementwise functions of one tensor. Each row is one formula. */

/* Decision: a function may be spelled in two ways. Vector cores require functions without branches; a scalar core
 * prefers to compute one branch only. exp, sigmoid and tanh have both forms (`LW_BRANCHES` in `runtime/lw_math.h`), and
 * a test shows equal bits. On a Cortex-M4F this halves the cost of an LSTM's activations. */
#include "graph/dag/op_build.h"

#include <string.h>

/* Clips to the bounds; the formula omits an infinite bound. */
static int clip(Ctx *cx, const Node *n, Tensor **out)
{
    DType t = n->in[0]->type;
    double low = node_real(n, "min", 0), high = node_real(n, "max", 0);
    bool is_bounded_below = low > -1.0 / 0.0, is_bounded_above = high < 1.0 / 0.0;
    const char *text = is_bounded_below && is_bounded_above ? "y[*] = min(max(x[*], low), high)"
                       : is_bounded_below                   ? "y[*] = max(x[*], low)"
                       : is_bounded_above                   ? "y[*] = min(x[*], high)"
                                                            : "y[*] = x[*]";
    Scalar least = { 0 }, greatest = { 0 };
    if (dtype_is_float(t)) least.f = low, greatest.f = high;
    else least.i = dtype_integer(t, low), greatest.i = dtype_integer(t, high);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_V("low", expr_constant(cx, t, least)),
                        BIND_V("high", expr_constant(cx, t, greatest)));
    return out[0] ? 1 : 0;
}

static bool clip_limits(const Node *n, double *low, double *high)
{
    *low = node_real(n, "min", -1.0 / 0.0);
    *high = node_real(n, "max", 1.0 / 0.0);
    return true;
}

static bool relu_limits(const Node *n, double *low, double *high)
{
    (void)n;
    *low = 0;
    *high = 1.0 / 0.0;
    return true;
}

static int sign(Ctx *cx, const Node *n, Tensor **out)
{
    const bool is_unsigned = dtype_is_integer(n->in[0]->type) && dtype_info(n->in[0]->type)->least == 0;
    out[0] = OP_FORMULA(cx, n, is_unsigned ? "y[*] = min(x[*], 1)"
                                           : "y[*] = select(x[*] > 0, 1, select(x[*] < 0, -1, x[*]))",
                        BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static int cast(Ctx *cx, const Node *n, Tensor **out)
{
    DType t;
    const char *to = node_text(n, "to", "");
    if (!dtype_read(to, strlen(to), &t)) {
        op_refuse(cx, n, "'to' is \"%s\", which is not an element type; use one of: %s", to, op_types_text(cx, NULL));
        return 0;
    }
    out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, n->in[0]->type == t ? "y[*] = x[*]" : "y[*] = to(x[*])", { "to", to }),
                        BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

/* Reinterprets the bytes as another type of the same size. */
static int bitcast(Ctx *cx, const Node *n, Tensor **out)
{
    DType t;
    const char *to = node_text(n, "to", "");
    if (!dtype_read(to, strlen(to), &t) || t == BOOL || n->in[0]->type == BOOL
        || dtype_info(t)->bytes != dtype_info(n->in[0]->type)->bytes) {
        op_refuse(cx, n, "'to' is \"%s\" for an input of type %s; use two types of equal size other than bool", to,
                  dtype_info(n->in[0]->type)->spelling);
        return 0;
    }
    const char *text = OP_TEXT(cx, "y[*] = cast(x[*])", { "cast", text_format(cx, "bits_%s", to) });
    out[0] = OP_FORMULA(cx, n, t == n->in[0]->type ? "y[*] = x[*]" : text, BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static Tensor *only_input(Ctx *cx, const Node *n)
{
    (void)cx;
    return n->in[0];
}

static Tensor *cast_to_itself(Ctx *cx, const Node *n)
{
    (void)cx;
    return n->in[0]->type == n->out[0]->type ? n->in[0] : NULL;
}

static const AttrRow dropout_attrs[] = {
    { "ratio", ATTR_REAL, "of the elements that a training step sets to 0", "0.5" }, { 0 }
};
static const AttrRow clip_attrs[] = {
    { "min", ATTR_REAL, "the smallest value", "-inf" },
    { "max", ATTR_REAL, "the largest value", "inf" },
    { 0 }
};
static const AttrRow cast_attrs[] = { { "to", ATTR_TEXT, "the element type, as formulas spell it: f32", NULL }, { 0 } };
#define ALPHA(value) (const AttrRow[]){ { "alpha", ATTR_REAL, "the slope or scale where x is negative", value }, { 0 } }
static const AttrRow selu_attrs[] = {
    { "alpha", ATTR_REAL, "the scale where x is negative", "1.6732632423543772" },
    { "gamma", ATTR_REAL, "the scale of all", "1.0507009873554805" },
    { 0 }
};
static const AttrRow shrink_attrs[] = {
    { "lambda", ATTR_REAL, "below it in size, elements become 0", "0.5" },
    { "bias",   ATTR_REAL, "the distance by which the other values move towards 0", "0" },
    { 0 }
};
static const AttrRow hard_sigmoid_attrs[] = {
    { "alpha", ATTR_REAL, "the slope", "0.2" },
    { "beta",  ATTR_REAL, "the value at 0", "0.5" },
    { 0 }
};

static const OpCase float_cases[] = {
    { "", "f32[2][3]", "f32[2][3]", NULL },
    { "", "f64[4]", "f64[4]", NULL },
    { "", "f32", "f32", NULL },
    { "", "i32[2]", NULL, "use a float type" },
    { "", "f32[2] f32[2]", NULL, "it takes 1" },
    { 0 }
};
static const OpCase number_cases[] = {
    { "", "f32[2][3]", "f32[2][3]", NULL },
    { "", "i32[1][2][2][3]", "i32[1][2][2][3]", NULL },
    { "", "i8[5]", "i8[5]", NULL },
    { 0 }
};
static const OpCase sign_cases[] = {
    { "", "f32[2][4]={nan,inf,-inf,0,-0,3,-2,1e-30}", "f32[2][4]", NULL },
    { "", "i8[3]={-128,0,5}", "i8[3]", NULL },
    { "", "u8[3]={0,1,255}", "u8[3]", NULL },
    { "", "u64[2]={0,7}", "u64[2]", NULL },
    { 0 }
};
static const OpCase test_cases[] = { { "", "f32[2][3]", "bool[2][3]", NULL }, { 0 } };
static const OpCase bool_cases[] = {
    { "", "bool[4]={0,1,1,0}", "bool[4]", NULL }, { "", "f32[2]", NULL, "bool" }, { 0 }
};
static const OpCase bits_cases[] = { { "", "u8[4]", "u8[4]", NULL }, { "", "f32[2]", NULL, "integer" }, { 0 } };
static const OpCase clip_cases[] = {
    { "min=0 max=6", "f32[2][3]", "f32[2][3]", NULL },
    { "min=-0.5", "f32[4]", "f32[4]", NULL },
    { "max=0.25", "f32[4]", "f32[4]", NULL },
    { "min=-3 max=5", "i32[4]={-9,-3,4,99}", "i32[4]", NULL },
    { "", "f32[4]", "f32[4]", NULL },
    { 0 }
};
static const OpCase shrink_cases[] = {
    { "lambda=0.25 bias=0.5", "f32[2][3]", "f32[2][3]", NULL }, { "", "i32[2]", NULL, "use a float type" },
    { 0 }
};
static const OpCase bitcast_cases[] = {
    { "to=i32", "f32[2][3]", "i32[2][3]", NULL },
    { "to=f64", "i64[4]", "f64[4]", NULL },
    { "to=u8", "i8[4]={-1,0,1,-128}", "u8[4]", NULL },
    { "to=i16", "f32[4]", NULL, "for an input of type f32" },
    { 0 }
};
static const OpCase cast_cases[] = {
    { "to=f32", "i32[2][3]", "f32[2][3]", NULL },
    { "to=f64", "f32[2][3]", "f64[2][3]", NULL },
    { "to=i8", "f32[4]={-300,-1.5,1.5,300}", "i8[4]", NULL },
    { "to=bool", "i64[3]={0,1,5}", "bool[3]", NULL },
    { "to=f33", "i64[3]", NULL, "not an element type" },
    { 0 }
};

#define ROW(op_name, text, its_level, case_rows) \
    .name = op_name, .summary = text, .level = its_level, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
    .fusion.pattern = PATTERN_ELEMENTWISE, .layout.permute = permute_elementwise, .cases = case_rows
#define UNARY(op_name, text, its_level, case_rows) { ROW(op_name, text, its_level, case_rows), .meaning.formula = text }
#define FLOATS_WITH(op_name, text, its_level, attrs) \
    { ROW(op_name, text, its_level, float_cases), .meaning.formula = text, .meaning.floats_only = true, .attr = attrs }
/* a function whose results have a fixed 8-bit grid */
#define BOUNDED(op_name, text, its_level, step, zero) \
    { ROW(op_name, text, its_level, float_cases), .meaning.formula = text, .meaning.floats_only = true, \
      .quantization = { .output_step = step, .output_zero = zero } }
#define FLOATS(op_name, text, its_level) FLOATS_WITH(op_name, text, its_level, NULL)

const Op ops_elementwise[] = {
    /* Arithmetic */
    UNARY("neg", "y[*] = -x[*]", 3, number_cases),
    UNARY("abs", "y[*] = abs(x[*])", 3, number_cases),
    { ROW("sign", "y[*] = select(x[*] > 0, 1, select(x[*] < 0, -1, x[*]))", 3, sign_cases),
      .meaning.compute = sign },
    UNARY("square", "y[*] = x[*] * x[*]", 3, number_cases),
    FLOATS("reciprocal", "y[*] = 1 / x[*]", 3),
    FLOATS("floor", "y[*] = floor(x[*])", 3),
    FLOATS("ceil", "y[*] = ceil(x[*])", 3),
    FLOATS("trunc", "y[*] = trunc(x[*])", 3),
    FLOATS("round", "y[*] = round(x[*])", 3),         /* rounds ties away from zero */
    FLOATS("nearbyint", "y[*] = nearbyint(x[*])", 3), /* rounds ties to even */
    FLOATS("sqrt", "y[*] = sqrt(x[*])", 1),
    FLOATS("rsqrt", "y[*] = rsqrt(x[*])", 1),
    /* Exponentials and logarithms */
    FLOATS("exp", "y[*] = exp(x[*])", 1),
    FLOATS("exp2", "y[*] = exp2(x[*])", 1),
    FLOATS("expm1", "y[*] = expm1(x[*])", 1),
    FLOATS("log", "y[*] = log(x[*])", 1),
    FLOATS("log2", "y[*] = log2(x[*])", 1),
    FLOATS("log10", "y[*] = log10(x[*])", 1),
    FLOATS("log1p", "y[*] = log1p(x[*])", 1),
    FLOATS("erf", "y[*] = erf(x[*])", 1),
    /* Trigonometric and hyperbolic */
    FLOATS("sin", "y[*] = sin(x[*])", 1),
    FLOATS("cos", "y[*] = cos(x[*])", 1),
    FLOATS("tan", "y[*] = tan(x[*])", 1),
    FLOATS("asin", "y[*] = asin(x[*])", 1),
    FLOATS("acos", "y[*] = acos(x[*])", 1),
    FLOATS("atan", "y[*] = atan(x[*])", 1),
    FLOATS("sinh", "y[*] = sinh(x[*])", 1),
    FLOATS("cosh", "y[*] = cosh(x[*])", 1),
    FLOATS("asinh", "y[*] = asinh(x[*])", 1),
    FLOATS("acosh", "y[*] = acosh(x[*])", 1),
    FLOATS("atanh", "y[*] = atanh(x[*])", 1),
    BOUNDED("tanh", "y[*] = tanh(x[*])", 1, 1.0f / 128, 0),
    /* Activations */
    { ROW("sigmoid", "y[*] = sigmoid(x[*])", 1, float_cases), .meaning.formula = "y[*] = sigmoid(x[*])",
      .meaning.floats_only = true, .quantization = { .output_step = 1.0f / 256, .output_zero = -128 },
      .gradient.link = LINK_SIGMOID },
    { ROW("relu", "y[*] = max(x[*], 0)", 1, number_cases), .meaning.formula = "y[*] = max(x[*], 0)",
      .quantization.limits = relu_limits },
    FLOATS("silu", "y[*] = x[*] * sigmoid(x[*])", 3),
    FLOATS("gelu", "y[*] = 0.5 * x[*] * (1 + erf(x[*] * 0.7071067811865476))", 3),
    FLOATS("gelu_tanh", "y[*] = 0.5 * x[*] * (1 + tanh(0.7978845608028654 * (x[*] + 0.044715 * x[*] * x[*] * x[*])))",
           3),
    FLOATS("softplus", "y[*] = max(x[*], 0) + log1p(exp(-abs(x[*])))", 3),
    FLOATS("softsign", "y[*] = x[*] / (1 + abs(x[*]))", 3),
    FLOATS("mish", "y[*] = x[*] * tanh(max(x[*], 0) + log1p(exp(-abs(x[*]))))", 3),
    FLOATS("hard_swish", "y[*] = x[*] * max(0, min(1, x[*] * 0.16666666666666666 + 0.5))", 3),
    FLOATS_WITH("hard_sigmoid", "y[*] = max(0, min(1, alpha * x[*] + beta))", 3, hard_sigmoid_attrs),
    FLOATS_WITH("leaky_relu", "y[*] = select(x[*] < 0, alpha * x[*], x[*])", 3, ALPHA("0.01")),
    FLOATS_WITH("elu", "y[*] = select(x[*] < 0, alpha * expm1(x[*]), x[*])", 3, ALPHA("1")),
    FLOATS_WITH("celu", "y[*] = max(x[*], 0) + min(0, alpha * expm1(x[*] / alpha))", 3, ALPHA("1")),
    FLOATS_WITH("selu", "y[*] = gamma * select(x[*] < 0, alpha * expm1(x[*]), x[*])", 3, selu_attrs),
    FLOATS_WITH("thresholded_relu", "y[*] = select(x[*] > alpha, x[*], 0)", 3, ALPHA("1")),
    { ROW("shrink", "y[*] = select(x[*] < -lambda, x[*] + bias, select(x[*] > lambda, x[*] - bias, 0))", 3,
          shrink_cases),
      .attr = shrink_attrs,
      .meaning.formula = "y[*] = select(x[*] < -lambda, x[*] + bias, select(x[*] > lambda, x[*] - bias, 0))",
      .meaning.floats_only = true },
    FLOATS_WITH("swish", "y[*] = x[*] * sigmoid(alpha * x[*])", 3, ALPHA("1")),
    { ROW("clip", "y[*] = min(max(x[*], min), max)", 3, clip_cases), .attr = clip_attrs, .meaning.compute = clip,
      .quantization.limits = clip_limits },
    /* Tests, logic, types */
    UNARY("isnan", "y[*] = isnan(x[*])", 3, test_cases),
    UNARY("isinf", "y[*] = isinf(x[*])", 3, test_cases),
    UNARY("isfinite", "y[*] = !isnan(x[*]) && !isinf(x[*])", 3, test_cases),
    UNARY("not", "y[*] = !x[*]", 4, bool_cases),
    UNARY("bitnot", "y[*] = ~x[*]", 4, bits_cases),
    { ROW("cast", "y[*] = to(x[*])", 3, cast_cases), .attr = cast_attrs, .meaning.compute = cast,
      .meaning.simplify = cast_to_itself, .layout.converts = true },
    { ROW("bitcast", "y[*] = bits_to(x[*]): the same bytes", 3, bitcast_cases), .attr = cast_attrs,
      .meaning.compute = bitcast, .meaning.simplify = cast_to_itself },
    { ROW("identity", "y[*] = x[*]", 3, number_cases), .meaning.formula = "y[*] = x[*]",
      .meaning.simplify = only_input },
    { ROW("dropout", "y[*] = x[*], its value in inference", 1, number_cases), .attr = dropout_attrs,
      .meaning.formula = "y[*] = x[*]", .meaning.simplify = only_input, .gradient.role = GRADIENT_DROPOUT },
    { 0 }
};
