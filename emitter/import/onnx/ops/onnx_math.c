/* SPDX-License-Identifier: MIT */
/* Translates arithmetic, logic, activations, reductions, matrix products. */
#include <math.h>
#include <string.h>

#include "import/onnx/graph/onnx_sizes.h"
#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

static void identity(OnnxCall *c)
{
    if (c->in_count == 1 && c->list[0]) c->out_list[0] = c->list[0];
    else if (onnx_requires(c, 1)) c->out[0] = c->in[0];
}

static void cast(OnnxCall *c)
{
    DType t;
    int64_t to = onnx_int(c, "to", 0);
    if (!onnx_requires(c, 1)) return;
    const bool is_text = onnx_holds_strings(c->strings, c->in[0]);
    if (is_text && to != ONNX_STRING)
        onnx_unsupported(c, "a string is used as a number; use a LabelEncoder with the number of each string");
    else if (is_text) c->out[0] = c->in[0];
    else if (onnx_dtype(to, &t)) c->out[0] = onnx_call(c, "cast", c->in[0], attr_type("to", t));
    else onnx_refuse_type(c, "element type", to);
}

/* Reinterprets the bytes as a different type of the same width; a bool is a byte of 0 or 1. */
static void bit_cast(OnnxCall *c)
{
    DType t;
    const int64_t to = onnx_int(c, "to", 0);
    if (!onnx_requires(c, 1)) return;
    const bool is_known = onnx_dtype(to, &t), is_truth = is_known && (t == BOOL) != (c->in[0]->type == BOOL)
                                                         && dtype_info(t)->bytes == dtype_info(c->in[0]->type)->bytes;
    if (is_truth) c->out[0] = onnx_cast(c, c->in[0], t);
    else if (is_known) c->out[0] = onnx_call(c, "bitcast", c->in[0], attr_type("to", t));
    else onnx_refuse_type(c, "element type", to);
}

/* Translates Clip. The bounds are attributes or, in newer operator sets, inputs that are usually constant. */
static void clip(OnnxCall *c)
{
    double low = onnx_real(c, "min", -1.0 / 0.0), high = onnx_real(c, "max", 1.0 / 0.0);
    if (!onnx_requires(c, 1)) return;
    Tensor *least = onnx_in(c, 1), *greatest = onnx_in(c, 2);
    if ((least && !tensor_is_constant(least)) || (greatest && !tensor_is_constant(greatest))) {
        c->out[0] = least ? onnx_call2(c, "max", c->in[0], least) : c->in[0];
        if (greatest) c->out[0] = onnx_call2(c, "min", c->out[0], greatest);
        return;
    }
    onnx_scalar(c, 1, &low);
    onnx_scalar(c, 2, &high);
    c->out[0] = onnx_call(c, "clip", c->in[0], attr_real("min", low), attr_real("max", high));
}

/* Computes y = alpha * a' * b' + beta * bias. If integers have real factors, the result is the real sum without its
 * fraction. */
static void gemm(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *a = c->in[0], *b = c->in[1], *bias = onnx_in(c, 2);
    double alpha = onnx_real(c, "alpha", 1), beta = onnx_real(c, "beta", 1);
    if (onnx_int(c, "transA", 0)) a = onnx_call(c, "transpose", a, attr_list("perm", 1, 0));
    if (onnx_int(c, "transB", 0)) b = onnx_call(c, "transpose", b, attr_list("perm", 1, 0));
    onnx_match(c, &a, 1, &b, 0);
    const DType type = c->in[0]->type;
    const bool is_real = dtype_is_integer(type) && (alpha != floor(alpha) || beta != floor(beta));
    Tensor *y = onnx_call2(c, "dense", a, b);
    if (is_real) y = onnx_cast(c, y, F64), bias = onnx_cast(c, bias, F64);
    if (alpha != 1) y = onnx_call2(c, "mul", y, onnx_scalar_like(c, y, alpha));
    if (bias && beta != 1) bias = onnx_call2(c, "mul", bias, onnx_scalar_like(c, bias, beta));
    c->out[0] = onnx_cast(c, bias && beta != 0 ? onnx_call2(c, "add", y, bias) : y, type);
}

static void matmul(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const int ranks[2] = { c->in[0]->rank, c->in[1]->rank }, lesser = ranks[0] < ranks[1] ? ranks[0] : ranks[1];
    onnx_match(c, &c->in[0], ranks[0] - 1, &c->in[1], ranks[1] > 1 ? ranks[1] - 2 : 0);
    /* batch dimensions, unless one of the two is broadcast */
    for (int i = 3; i <= lesser && !ctx_failed(c->cx); i++)
        if (tensor_dim(c->in[0], ranks[0] - i) != 1 && tensor_dim(c->in[1], ranks[1] - i) != 1)
            onnx_match(c, &c->in[0], ranks[0] - i, &c->in[1], ranks[1] - i);
    if (!ctx_failed(c->cx)) c->out[0] = onnx_call2(c, ranks[1] == 2 ? "dense" : "matmul", c->in[0], c->in[1]);
}

/* Translates a softmax. Before operator set 13, the axes starting at `axis` are flattened into one. */
static void softmax(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    int axis = onnx_axis(c, onnx_int(c, "axis", c->opset < 13 ? 1 : -1), x->rank);
    if (c->opset >= 13 || axis == x->rank - 1) c->out[0] = onnx_call(c, c->op_name, x, attr_int("axis", axis));
    else
        c->out[0] = view_call(c->cx, c->name,
                              onnx_call(c, c->op_name, onnx_call(c, "flatten", x, attr_int("axis", axis)),
                                        attr_int("axis", 1)), x);
}

/* Translates an operator of two operands. Before operator set 7, `axis` aligns the second operand's dimensions with the
 * first's. */
static void binary(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *b = c->in[1];
    if (c->opset < 7 && onnx_int(c, "broadcast", 0) && onnx_attr(c, "axis")) {
        int axis = onnx_axis(c, onnx_int(c, "axis", 0), c->in[0]->rank);
        b = onnx_append_ones(c, b, c->in[0]->rank - axis - b->rank);
    }
    c->out[0] = onnx_call2(c, c->op_name, c->in[0], b);
}

/* Translates PRelu. The slope has the shape of the input's last dimensions; before operator set 7, a vector has one
 * slope per channel. */
static void prelu(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *slope = c->in[1];
    if (c->opset < 7 && slope->rank == 1 && tensor_elems(slope) > 1)
        slope = onnx_append_ones(c, slope, c->in[0]->rank - 2);
    c->out[0] = onnx_call2(c, "prelu", c->in[0], slope);
}

/* Describes a reduction over no axes: it applies the function `each` to each element, or does nothing if `each` is
 * NULL. in_f64: true if a logarithm of integers is computed in f64 and then truncated. */
typedef struct NoAxes { const char *each; bool in_f64; } NoAxes;

static void reduce_nothing(OnnxCall *c, const NoAxes *o)
{
    const DType type = c->in[0]->type;
    Tensor *x = o->in_f64 && dtype_is_integer(type) ? onnx_cast(c, c->in[0], F64) : c->in[0];
    c->out[0] = o->each ? onnx_call(c, o->each, x) : x;
    if (c->out[0] && x != c->in[0]) c->out[0] = onnx_cast(c, c->out[0], type);
}

/* Translates a reduction. The axes are an attribute or, in newer operator sets, an input. Extrema of bool are computed
 * on 0 and 1. */
static void reduce_with(OnnxCall *c, NoAxes nothing)
{
    int64_t axes[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    bool of_bool = c->in[0]->type == BOOL;
    int count = onnx_ints(c, "axes", 1, axes, MAX_RANK);
    if (count == -2) return;
    if (c->in[0]->rank == 0 || (count < 1 && onnx_int(c, "noop_with_empty_axes", 0))) reduce_nothing(c, &nothing);
    else c->out[0] = onnx_call(c, c->op_name, of_bool ? onnx_cast(c, c->in[0], U8) : c->in[0],
                               attr_ints("axes", axes, count < 0 ? 0 : count),
                               attr_flag("keepdims", onnx_int(c, "keepdims", 1)));
    if (of_bool) c->out[0] = onnx_cast(c, c->out[0], BOOL);
}

static void reduce(OnnxCall *c) { reduce_with(c, (NoAxes){ NULL, false }); }
static void reduce_norm(OnnxCall *c) { reduce_with(c, (NoAxes){ "abs", false }); }
static void reduce_square(OnnxCall *c) { reduce_with(c, (NoAxes){ "square", false }); }
static void reduce_log(OnnxCall *c) { reduce_with(c, (NoAxes){ "log", true }); }

/* Translates ArgMax and ArgMin. Requires at least one element along the axis, unless one of the other axes is empty. */
static void arg(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    const int axis = onnx_axis(c, onnx_int(c, "axis", 0), x->rank);
    const Expr *others[MAX_RANK];
    if (axis < 0) return;
    for (int d = 0, i = 0; d < x->rank; d++)
        if (d != axis) others[i++] = x->shape[d];
    x = onnx_indexed(c, x, axis, others, x->rank - 1);
    c->out[0] = onnx_call(c, c->op_name, x, attr_int("axis", axis),
                          attr_flag("keepdims", onnx_int(c, "keepdims", 1)),
                          attr_flag("last", onnx_int(c, "select_last_index", 0)));
}

/* Combines any number of tensors from left to right. */
static void fold_left(OnnxCall *c)
{
    if (!onnx_requires(c, c->in_count > 0 ? c->in_count : 1)) return;
    Tensor *y = c->in[0];
    for (int i = 1; i < c->in_count; i++) y = onnx_call2(c, c->op_name, y, c->in[i]);
    c->out[0] = y;
}

static void mean(OnnxCall *c)
{
    fold_left(c);
    if (c->out[0]) c->out[0] = onnx_call2(c, "div", c->out[0], onnx_scalar_like(c, c->out[0], c->in_count));
}

static void mod(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = onnx_call2(c, onnx_int(c, "fmod", 0) ? "fmod" : "mod", c->in[0], c->in[1]);
}

/* Translates Pow. The types of exponent and base may differ; if the base is an integer, the result is then the real
 * power without its fraction. */
static void pow_(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    double v;
    Tensor *e = c->in[1];
    const DType type = c->in[0]->type;
    if (tensor_is_constant(e) && tensor_elems(e) == 1 && onnx_scalar(c, 1, &v) && v == 2.0
        && e->rank <= c->in[0]->rank) {
        c->out[0] = onnx_call(c, "square", c->in[0]);
        return;
    }
    const DType computed = e->type != type && dtype_is_integer(type) ? F64 : type;
    Tensor *base = onnx_cast(c, c->in[0], computed);
    c->out[0] = onnx_cast(c, onnx_call2(c, "pow", base, onnx_cast(c, e, computed)), type);
}

static void shift(OnnxCall *c)
{
    if (onnx_requires(c, 2))
        c->out[0] = onnx_call2(c, strcmp(onnx_text(c, "direction", ""), "LEFT") == 0 ? "shl" : "shr", c->in[0],
                               c->in[1]);
}

static void gelu(OnnxCall *c)
{
    if (onnx_requires(c, 1))
        c->out[0] = onnx_call(c, strcmp(onnx_text(c, "approximate", "none"), "tanh") == 0 ? "gelu_tanh" : "gelu",
                              c->in[0]);
}

static void is_inf(OnnxCall *c)
{
    bool negative = onnx_int(c, "detect_negative", 1) != 0, positive = onnx_int(c, "detect_positive", 1) != 0;
    if (!onnx_requires(c, 1)) return;
    if (!dtype_is_float(c->in[0]->type))
        onnx_refuse(c, "the input is %s; use floats", dtype_info(c->in[0]->type)->spelling);
    if (negative && positive) c->out[0] = onnx_call(c, "isinf", c->in[0]);
    /* a condition that is false for every x, including NaN */
    else if (!negative && !positive) c->out[0] = onnx_call2(c, "less", c->in[0], c->in[0]);
    else c->out[0] = onnx_call2(c, "equal", c->in[0], onnx_scalar_like(c, c->in[0], (negative ? -1 : 1) / 0.0));
}

/* Casts to the type of the second input. */
static void cast_like(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = onnx_cast(c, c->in[0], c->in[1]->type);
}

/* Returns x + bias below -lambd, x - bias above lambd, and 0 between. For integers, the result is the real result
 * without its fraction. */
static void shrink(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    const DType type = c->in[0]->type;
    Tensor *x = dtype_is_integer(type) ? onnx_cast(c, c->in[0], F64) : c->in[0];
    c->out[0] = onnx_cast(c, onnx_call(c, "shrink", x, attr_real("lambda", onnx_real(c, "lambd", 0.5)),
                                       attr_real("bias", onnx_real(c, "bias", 0))), type);
}

/* Removes spaces from the equation. */
static void einsum(OnnxCall *c)
{
    Text t = text_new(c->cx);
    for (const char *p = onnx_text(c, "equation", ""); *p; p++)
        if (*p != ' ') text_char(&t, *p);
    if (onnx_requires(c, c->in_count > 0 ? c->in_count : 1))
        c->out[0] = call(c->cx, "einsum", c->name, c->in, c->in_count,
                         ATTRS(attr_word("equation", text_string(&t))));
}

const OnnxOp onnx_rows_math[] = {
    { ONNX_SAME("Abs", 1, "", "abs") },
    { ONNX_SAME("Acos", 1, "", "acos") },
    { ONNX_SAME("Acosh", 1, "", "acosh") },
    { ONNX_AS("Add", 2, "axis broadcast", "add", binary), .open.on_lists = onnx_sizes_add },
    { ONNX_AS("And", 2, "axis broadcast", "and", binary) },
    { ONNX_AS("ArgMax", 1, "axis keepdims select_last_index", "argmax", arg), .open.keeps = KEEPS_ALL },
    { ONNX_AS("ArgMin", 1, "axis keepdims select_last_index", "argmin", arg), .open.keeps = KEEPS_ALL },
    { ONNX_SAME("Asin", 1, "", "asin") },
    { ONNX_SAME("Asinh", 1, "", "asinh") },
    { ONNX_SAME("Atan", 1, "", "atan") },
    { ONNX_SAME("Atanh", 1, "", "atanh") },
    { ONNX_MOVE("BitCast", 1, "to", bit_cast), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("BitShift", 2, "direction", shift) },
    { ONNX_SAME("BitwiseAnd", 2, "", "bitand") },
    { ONNX_SAME("BitwiseNot", 1, "", "bitnot") },
    { ONNX_SAME("BitwiseOr", 2, "", "bitor") },
    { ONNX_SAME("BitwiseXor", 2, "", "bitxor") },
    { ONNX_MOVE("Cast", 1, "to saturate", cast), .strings = STRINGS_READ, .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED, .open.on_lists = onnx_sizes_cast },
    { ONNX_SAME("Ceil", 1, "", "ceil"), .open.on_lists = onnx_sizes_same },
    { ONNX_SAME("Celu", 1, "alpha", "celu") },
    { ONNX_MOVE("CastLike", 2, "saturate", cast_like) },
    { ONNX_AS("Hardmax", 1, "axis", "hardmax", softmax), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Shrink", 1, "bias lambd", shrink), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Clip", 3, "max min", clip), .open.keeps = KEEPS_ALL },
    { ONNX_SAME("Cos", 1, "", "cos") },
    { ONNX_SAME("Cosh", 1, "", "cosh") },
    { ONNX_AS("Div", 2, "axis broadcast", "div", binary), .open.on_lists = onnx_sizes_div },
    { ONNX_ROW("Einsum", ONNX_ANY, "equation", einsum), .open.keeps = KEEPS_ALL },
    { ONNX_SAME("Elu", 1, "alpha", "elu") },
    { ONNX_AS("Equal", 2, "axis broadcast", "equal", binary), .strings = STRINGS_READ,
      .open.on_lists = onnx_sizes_equal },
    { ONNX_SAME("Erf", 1, "", "erf") },
    { ONNX_SAME("Exp", 1, "", "exp") },
    { ONNX_SAME("Floor", 1, "", "floor"), .open.on_lists = onnx_sizes_same },
    { ONNX_ROW("Gelu", 1, "approximate", gelu), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Gemm", 3, "alpha beta broadcast transA transB", gemm), .open.keeps = KEEPS_ALL },
    { ONNX_AS("Greater", 2, "axis broadcast", "greater", binary) },
    { ONNX_SAME("GreaterOrEqual", 2, "", "greater_equal") },
    { ONNX_SAME("HardSigmoid", 1, "alpha beta", "hard_sigmoid") },
    { ONNX_SAME("HardSwish", 1, "", "hard_swish") },
    { ONNX_MOVE_ANY("Identity", 1, "", identity), .open.keeps = KEEPS_ALL, .open.on_lists = onnx_sizes_same },
    { ONNX_ROW("IsInf", 1, "detect_negative detect_positive", is_inf) },
    { ONNX_SAME("IsNaN", 1, "", "isnan") },
    { ONNX_SAME("LeakyRelu", 1, "alpha", "leaky_relu") },
    { ONNX_AS("Less", 2, "axis broadcast", "less", binary) },
    { ONNX_SAME("LessOrEqual", 2, "", "less_equal") },
    { ONNX_SAME("Log", 1, "", "log") },
    { ONNX_AS("LogSoftmax", 1, "axis", "log_softmax", softmax), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("MatMul", 2, "", matmul), .open.keeps = KEEPS_ALL },
    { ONNX_AS("Max", ONNX_ANY, "", "max", fold_left), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_max },
    { ONNX_AS("Mean", ONNX_ANY, "", "add", mean), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED },
    { ONNX_AS("Min", ONNX_ANY, "", "min", fold_left), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_min },
    { ONNX_SAME("Mish", 1, "", "mish") },
    { ONNX_ROW("Mod", 2, "fmod", mod), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_mod },
    { ONNX_AS("Mul", 2, "axis broadcast", "mul", binary), .open.on_lists = onnx_sizes_mul },
    { ONNX_SAME("Neg", 1, "", "neg") },
    { ONNX_SAME("Not", 1, "", "not") },
    { ONNX_AS("Or", 2, "axis broadcast", "or", binary) },
    { ONNX_ROW("PRelu", 2, "", prelu), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Pow", 2, "axis broadcast", pow_), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED },
    { ONNX_SAME("Reciprocal", 1, "", "reciprocal") },
    { ONNX_AS("ReduceL1", 2, "axes keepdims noop_with_empty_axes", "reduce_l1", reduce_norm), .open.keeps = KEEPS_ALL },
    { ONNX_AS("ReduceL2", 2, "axes keepdims noop_with_empty_axes", "reduce_l2", reduce_norm), .open.keeps = KEEPS_ALL },
    { ONNX_AS("ReduceLogSum", 2, "axes keepdims noop_with_empty_axes", "reduce_log_sum", reduce_log),
      .open.keeps = KEEPS_ALL },
    { ONNX_AS("ReduceLogSumExp", 2, "axes keepdims noop_with_empty_axes", "reduce_log_sum_exp", reduce),
      .open.keeps = KEEPS_ALL },
    { ONNX_AS("ReduceMax", 2, "axes keepdims noop_with_empty_axes", "reduce_max", reduce), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED },
    { ONNX_AS("ReduceMean", 2, "axes keepdims noop_with_empty_axes", "reduce_mean", reduce), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED },
    { ONNX_AS("ReduceMin", 2, "axes keepdims noop_with_empty_axes", "reduce_min", reduce), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED },
    { ONNX_AS("ReduceProd", 2, "axes keepdims noop_with_empty_axes", "reduce_prod", reduce), .open.keeps = KEEPS_ALL,
      .open.on_lists = onnx_sizes_reduce_prod },
    { ONNX_AS("ReduceSum", 2, "axes keepdims noop_with_empty_axes", "reduce_sum", reduce), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED },
    { ONNX_AS("ReduceSumSquare", 2, "axes keepdims noop_with_empty_axes", "reduce_sum_square", reduce_square),
      .open.keeps = KEEPS_ALL },
    { ONNX_SAME("Relu", 1, "", "relu") },
    { ONNX_SAME("Round", 1, "", "nearbyint") },
    { ONNX_SAME("Selu", 1, "alpha gamma", "selu") },
    { ONNX_SAME("Sigmoid", 1, "", "sigmoid") },
    { ONNX_SAME("Sign", 1, "", "sign") },
    { ONNX_SAME("Sin", 1, "", "sin") },
    { ONNX_SAME("Sinh", 1, "", "sinh") },
    { ONNX_AS("Softmax", 1, "axis", "softmax", softmax), .open.keeps = KEEPS_ALL },
    { ONNX_SAME("Softplus", 1, "", "softplus") },
    { ONNX_SAME("Softsign", 1, "", "softsign") },
    { ONNX_SAME("Sqrt", 1, "", "sqrt") },
    { ONNX_AS("Sub", 2, "axis broadcast", "sub", binary), .open.on_lists = onnx_sizes_sub },
    { ONNX_AS("Sum", ONNX_ANY, "", "add", fold_left), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED },
    { ONNX_SAME("Swish", 1, "alpha", "swish") },
    { ONNX_SAME("Tan", 1, "", "tan") },
    { ONNX_SAME("Tanh", 1, "", "tanh") },
    { ONNX_SAME("ThresholdedRelu", 1, "alpha", "thresholded_relu") },
    { ONNX_AS("Where", 3, "", "where", NULL), .moves = true, .strings = STRINGS_MOVED,
      .open.on_lists = onnx_sizes_where },
    { ONNX_AS("Xor", 2, "axis broadcast", "xor", binary) },
    { 0 }
};
