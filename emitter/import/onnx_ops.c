/* SPDX-License-Identifier: MIT */
/* The ONNX operators that are understood, sorted by name, each with its attributes and either our operator of the same
 * inputs and attributes or a translation. Where a meaning changed between operator sets, the translation asks c->opset. */
#include "import/onnx_ops.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* ---- What translations ask ------------------------------------------------------------------------------------- */

const char *onnx_where(Ctx *cx, const OnnxNode *n) { return text_format(cx, "node \"%s\" (%s)", n->name, n->type); }

void onnx_refuse(OnnxCall *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(c->cx, onnx_where(c->cx, c->node), "%s", text_vformat(c->cx, format, args));
    va_end(args);
}

void onnx_unsupported(OnnxCall *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_unsupported(c->cx, onnx_where(c->cx, c->node), "%s", text_vformat(c->cx, format, args));
    va_end(args);
}

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *attr)
{
    for (int i = 0; i < c->node->attr_count; i++)
        if (strcmp(c->node->attr[i].name, attr) == 0) return &c->node->attr[i];
    return NULL;
}

int64_t onnx_int(const OnnxCall *c, const char *attr, int64_t otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->i : otherwise;
}

double onnx_real(const OnnxCall *c, const char *attr, double otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->f : otherwise;
}

const char *onnx_text(const OnnxCall *c, const char *attr, const char *otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->s : otherwise;
}

Tensor *onnx_in(const OnnxCall *c, int index) { return index >= 0 && index < c->in_count ? c->in[index] : NULL; }

bool onnx_needs(OnnxCall *c, int count)
{
    for (int i = 0; i < count; i++)
        if (!onnx_in(c, i)) {
            onnx_refuse(c, "input %d is missing", i);
            return false;
        }
    return !ctx_failed(c->cx);
}

static int64_t in_32_bits(int64_t v) { return v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v; }

int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most)
{
    const OnnxAttr *a = attr ? onnx_attr(c, attr) : NULL;
    const Tensor *t = onnx_in(c, index);
    int64_t count = a ? a->int_count : t ? tensor_elems(t) : -1;
    if (!a && !t) return -1;
    if (!a && (!tensor_is_constant(t) || !dtype_is_integer(t->type) || t->rank > 1)) {
        onnx_unsupported(c, "input %d (\"%s\") is not constant; a list of integers known when compiling is accepted", index, t->name);
        return -2;
    }
    if (count > most) {
        onnx_refuse(c, "there are %lld values in %s; at most %d are accepted", (long long)count, a ? attr : t->name, most);
        return -2;
    }
    for (int64_t i = 0; i < count; i++) out[i] = in_32_bits(a ? a->ints[i] : dtype_load(t->type, t->data, i).i);
    return (int)count;
}

bool onnx_scalar(OnnxCall *c, int index, double *out)
{
    const Tensor *t = onnx_in(c, index);
    if (!t) return false;
    if (!tensor_is_constant(t) || tensor_elems(t) != 1) {
        onnx_unsupported(c, "input %d (\"%s\") is not constant; one number known when compiling is accepted", index, t->name);
        return false;
    }
    Scalar s = dtype_load(t->type, t->data, 0);
    *out = dtype_is_float(t->type) ? s.f : (double)s.i;
    return true;
}

/* ---- What they make -------------------------------------------------------------------------------------------- */

Tensor *onnx_call(OnnxCall *c, const char *op, Tensor *x, const char *attrs_format, ...)
{
    va_list args;
    va_start(args, attrs_format);
    const char *attrs = text_vformat(c->cx, attrs_format, args);
    va_end(args);
    return x ? call(c->cx, op, c->name, &x, 1, "%s", attrs) : NULL;
}

Tensor *onnx_call2(OnnxCall *c, const char *op, Tensor *a, Tensor *b)
{
    return a && b ? call(c->cx, op, c->name, (Tensor *[]){ a, b }, 2, "") : NULL;
}

Tensor *onnx_like(OnnxCall *c, const Tensor *x, double v) { return x ? tensor_scalar(c->cx, c->name, x->type, v) : NULL; }

static Tensor *channels(OnnxCall *c, Tensor *x, bool last)
{
    Text perm = text_new(c->cx);
    if (!x || x->rank < 3) return x;
    text_printf(&perm, last ? "0" : "0,%d", x->rank - 1);
    for (int d = last ? 2 : 1; d < x->rank - !last; d++) text_printf(&perm, ",%d", d);
    if (last) text_add(&perm, ",1");
    return onnx_call(c, "transpose", x, "perm=%s", perm.at);
}

Tensor *onnx_channels_last(OnnxCall *c, Tensor *x) { return channels(c, x, true); }
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x) { return channels(c, x, false); }

/* ---- Translations that are neither windows nor shapes ------------------------------------------------------------ */

static void same(OnnxCall *c)
{
    if (onnx_needs(c, 1)) c->out[0] = c->in[0];
}

/* What it is in inference: the input, and a mask that is true everywhere. */
static void dropout(OnnxCall *c)
{
    double is_training = 0;
    if (!onnx_needs(c, 1)) return;
    onnx_scalar(c, 2, &is_training);
    if (is_training != 0) onnx_unsupported(c, "training_mode=1; the inference form is accepted");
    c->out[0] = c->in[0];
    if (c->node->out_count < 2) return;
    Text shape = text_new(c->cx);
    for (int d = 0; d < c->in[0]->rank; d++) text_printf(&shape, "%s%lld", d ? "," : "", (long long)tensor_dim(c->in[0], d));
    c->out[1] = onnx_call(c, "expand", tensor_scalar(c->cx, c->name, BOOL, 1), "shape=%s", text_string(&shape));
}

static void cast(OnnxCall *c)
{
    DType t;
    int64_t to = onnx_int(c, "to", 0);
    if (!onnx_needs(c, 1)) return;
    if (onnx_dtype(to, &t)) c->out[0] = onnx_call(c, "cast", c->in[0], "to=%s", dtype_info(t)->spelling);
    else onnx_unsupported(c, "element type %s (%lld)", onnx_type_text(to) ? onnx_type_text(to) : "?", (long long)to);
}

static void add_real(Text *t, const char *attr, double v)
{
    text_printf(t, "%s%s=", t->length ? " " : "", attr);
    text_double(t, v);
}

/* Bounds are attributes, later inputs, mostly constant. */
static void clip(OnnxCall *c)
{
    double low = onnx_real(c, "min", -1.0 / 0.0), high = onnx_real(c, "max", 1.0 / 0.0);
    if (!onnx_needs(c, 1)) return;
    Tensor *least = onnx_in(c, 1), *greatest = onnx_in(c, 2);
    if ((least && !tensor_is_constant(least)) || (greatest && !tensor_is_constant(greatest))) {
        c->out[0] = least ? onnx_call2(c, "max", c->in[0], least) : c->in[0];
        if (greatest) c->out[0] = onnx_call2(c, "min", c->out[0], greatest);
        return;
    }
    onnx_scalar(c, 1, &low);
    onnx_scalar(c, 2, &high);
    Text attrs = text_new(c->cx);
    add_real(&attrs, "min", low);
    add_real(&attrs, "max", high);
    c->out[0] = onnx_call(c, "clip", c->in[0], "%s", attrs.at);
}

/* y = alpha * a' * b' + beta * bias */
static void gemm(OnnxCall *c)
{
    if (!onnx_needs(c, 2)) return;
    Tensor *a = c->in[0], *b = c->in[1], *bias = onnx_in(c, 2);
    double alpha = onnx_real(c, "alpha", 1), beta = onnx_real(c, "beta", 1);
    if (onnx_int(c, "transA", 0)) a = onnx_call(c, "transpose", a, "perm=1,0");
    if (onnx_int(c, "transB", 0)) b = onnx_call(c, "transpose", b, "perm=1,0");
    Tensor *y = onnx_call2(c, "dense", a, b);
    if (alpha != 1) y = onnx_call2(c, "mul", y, onnx_like(c, y, alpha));
    if (bias && beta != 1) bias = onnx_call2(c, "mul", bias, onnx_like(c, bias, beta));
    c->out[0] = bias && beta != 0 ? onnx_call2(c, "add", y, bias) : y;
}

static void matmul(OnnxCall *c)
{
    if (onnx_needs(c, 2)) c->out[0] = onnx_call2(c, c->in[1]->rank == 2 ? "dense" : "matmul", c->in[0], c->in[1]);
}

/* Before operator set 13 all axes from `axis` on were one. */
static void softmax_of(OnnxCall *c, const char *op)
{
    if (!onnx_needs(c, 1)) return;
    Tensor *x = c->in[0];
    int64_t axis = onnx_int(c, "axis", c->opset < 13 ? 1 : -1);
    if (axis < 0) axis += x->rank;
    if (c->opset >= 13 || axis == x->rank - 1) c->out[0] = onnx_call(c, op, x, "axis=%lld", (long long)axis);
    else c->out[0] = view_call(c->cx, c->name, onnx_call(c, op, onnx_call(c, "flatten", x, "axis=%lld", (long long)axis), "axis=1"), x);
}
static void softmax(OnnxCall *c) { softmax_of(c, "softmax"); }
static void log_softmax(OnnxCall *c) { softmax_of(c, "log_softmax"); }

/* ReduceMean -> reduce_mean; axes as an attribute, later as an input. */
static void reduce(OnnxCall *c)
{
    static const char *const names[][2] = {
        { "ReduceL1", "reduce_l1" }, { "ReduceL2", "reduce_l2" }, { "ReduceLogSum", "reduce_log_sum" },
        { "ReduceLogSumExp", "reduce_log_sum_exp" }, { "ReduceMax", "reduce_max" }, { "ReduceMean", "reduce_mean" },
        { "ReduceMin", "reduce_min" }, { "ReduceProd", "reduce_prod" }, { "ReduceSum", "reduce_sum" }, { "ReduceSumSquare", "reduce_sum_square" },
    };
    size_t i = 0;
    int64_t axes[MAX_RANK];
    if (!onnx_needs(c, 1)) return;
    while (strcmp(names[i][0], c->node->type) != 0) i++;
    int count = onnx_ints(c, "axes", 1, axes, MAX_RANK);
    if (count == -2) return;
    if (count < 1 && onnx_int(c, "noop_with_empty_axes", 0)) {
        c->out[0] = c->in[0];
        return;
    }
    Text list = text_new(c->cx);
    for (int a = 0; a < count; a++) text_printf(&list, "%s%lld", a ? "," : "", (long long)axes[a]);
    c->out[0] = onnx_call(c, names[i][1], c->in[0], "axes=%s keepdims=%d", text_string(&list), onnx_int(c, "keepdims", 1) != 0);
}

static void arg(OnnxCall *c)
{
    if (!onnx_needs(c, 1)) return;
    if (onnx_int(c, "select_last_index", 0)) onnx_unsupported(c, "select_last_index=1");
    c->out[0] = onnx_call(c, strcmp(c->node->type, "ArgMax") == 0 ? "argmax" : "argmin", c->in[0], "axis=%lld keepdims=%d",
                          (long long)onnx_int(c, "axis", 0), onnx_int(c, "keepdims", 1) != 0);
}

/* Sum, Mean, Max, Min of any number of tensors, from the left. */
static void chain(OnnxCall *c)
{
    const char *type = c->node->type, *op = strcmp(type, "Max") == 0 ? "max" : strcmp(type, "Min") == 0 ? "min" : "add";
    if (!onnx_needs(c, c->in_count > 0 ? c->in_count : 1)) return;
    Tensor *y = c->in[0];
    for (int i = 1; i < c->in_count; i++) y = onnx_call2(c, op, y, c->in[i]);
    c->out[0] = strcmp(type, "Mean") == 0 && y ? onnx_call2(c, "div", y, onnx_like(c, y, c->in_count)) : y;
}

static void mod(OnnxCall *c)
{
    if (onnx_needs(c, 2)) c->out[0] = onnx_call2(c, onnx_int(c, "fmod", 0) ? "fmod" : "mod", c->in[0], c->in[1]);
}

/* The exponent may have another type than the base. */
static void pow_(OnnxCall *c)
{
    if (!onnx_needs(c, 2)) return;
    double v;
    Tensor *e = c->in[1];
    if (tensor_is_constant(e) && tensor_elems(e) == 1 && onnx_scalar(c, 1, &v) && v == 2.0 && e->rank <= c->in[0]->rank) {
        c->out[0] = onnx_call(c, "square", c->in[0], "");
        return;
    }
    if (e->type != c->in[0]->type) e = onnx_call(c, "cast", e, "to=%s", dtype_info(c->in[0]->type)->spelling);
    c->out[0] = onnx_call2(c, "pow", c->in[0], e);
}

static void shift(OnnxCall *c)
{
    if (onnx_needs(c, 2)) c->out[0] = onnx_call2(c, strcmp(onnx_text(c, "direction", ""), "LEFT") == 0 ? "shl" : "shr", c->in[0], c->in[1]);
}

static void gelu(OnnxCall *c)
{
    if (onnx_needs(c, 1)) c->out[0] = onnx_call(c, strcmp(onnx_text(c, "approximate", "none"), "tanh") == 0 ? "gelu_tanh" : "gelu", c->in[0], "");
}

static void is_inf(OnnxCall *c)
{
    bool negative = onnx_int(c, "detect_negative", 1) != 0, positive = onnx_int(c, "detect_positive", 1) != 0;
    if (!onnx_needs(c, 1)) return;
    if (negative == positive) c->out[0] = negative ? onnx_call(c, "isinf", c->in[0], "") : NULL;
    else c->out[0] = onnx_call2(c, "equal", c->in[0], onnx_like(c, c->in[0], (negative ? -1 : 1) / 0.0));
}

/* y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias over the axes from `axis` on */
static void layer_norm(OnnxCall *c)
{
    if (!onnx_needs(c, 2)) return;
    Tensor *x = c->in[0], *bias = onnx_in(c, 2);
    int64_t axis = onnx_int(c, "axis", -1);
    if (axis < -x->rank || axis >= x->rank) {
        onnx_refuse(c, "axis %lld is out of range for %d dimensions", (long long)axis, x->rank);
        return;
    }
    if (axis < 0) axis += x->rank;
    Text axes = text_new(c->cx);
    for (int64_t d = axis; d < x->rank; d++) text_printf(&axes, "%s%lld", d > axis ? "," : "", (long long)d);
    Tensor *mean = onnx_call(c, "reduce_mean", x, "axes=%s keepdims=1", text_string(&axes));
    Tensor *centred = onnx_call2(c, "sub", x, mean);
    Tensor *var = onnx_call(c, "reduce_mean", onnx_call(c, "square", centred, ""), "axes=%s keepdims=1", text_string(&axes));
    Tensor *spread = onnx_call(c, "sqrt", onnx_call2(c, "add", var, onnx_like(c, var, onnx_real(c, "epsilon", 1e-5))), "");
    Tensor *y = onnx_call2(c, "mul", onnx_call2(c, "div", centred, spread), c->in[1]);
    c->out[0] = bias ? onnx_call2(c, "add", y, bias) : y;
    c->out[1] = mean;
    if (c->node->out_count > 2) c->out[2] = onnx_call(c, "reciprocal", spread, "");
}

/* ---- The rows ----------------------------------------------------------------------------------------------------- */

static const OnnxOp rows[] = {
    /* name                    attributes understood                                        ours, or a translation */
    { "Abs",                   "",                                                          "abs", NULL },
    { "Acos",                  "",                                                          "acos", NULL },
    { "Acosh",                 "",                                                          "acosh", NULL },
    { "Add",                   "",                                                          "add", NULL },
    { "And",                   "",                                                          "and", NULL },
    { "ArgMax",                "axis keepdims select_last_index",                           NULL, arg },
    { "ArgMin",                "axis keepdims select_last_index",                           NULL, arg },
    { "Asin",                  "",                                                          "asin", NULL },
    { "Asinh",                 "",                                                          "asinh", NULL },
    { "Atan",                  "",                                                          "atan", NULL },
    { "Atanh",                 "",                                                          "atanh", NULL },
    { "AveragePool",           "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides", NULL, onnx_average_pool },
    { "BatchNormalization",    "epsilon momentum spatial training_mode",                    NULL, onnx_batch_norm },
    { "BitShift",              "direction",                                                 NULL, shift },
    { "BitwiseAnd",            "",                                                          "bitand", NULL },
    { "BitwiseNot",            "",                                                          "bitnot", NULL },
    { "BitwiseOr",             "",                                                          "bitor", NULL },
    { "BitwiseXor",            "",                                                          "bitxor", NULL },
    { "Cast",                  "to saturate",                                               NULL, cast },
    { "Ceil",                  "",                                                          "ceil", NULL },
    { "Celu",                  "alpha",                                                     "celu", NULL },
    { "Clip",                  "max min",                                                   NULL, clip },
    { "Concat",                "axis",                                                      NULL, onnx_concat },
    { "Constant",              "value value_float value_floats value_int value_ints",       NULL, onnx_constant },
    { "ConstantOfShape",       "value",                                                     NULL, onnx_constant_of_shape },
    { "Conv",                  "auto_pad dilations group kernel_shape pads strides",        NULL, onnx_conv },
    { "Cos",                   "",                                                          "cos", NULL },
    { "Cosh",                  "",                                                          "cosh", NULL },
    { "DepthToSpace",          "blocksize mode",                                            NULL, onnx_depth_to_space },
    { "Div",                   "",                                                          "div", NULL },
    { "Dropout",               "ratio seed",                                                NULL, dropout },
    { "Elu",                   "alpha",                                                     "elu", NULL },
    { "Equal",                 "",                                                          "equal", NULL },
    { "Erf",                   "",                                                          "erf", NULL },
    { "Exp",                   "",                                                          "exp", NULL },
    { "Expand",                "",                                                          NULL, onnx_expand },
    { "Flatten",               "axis",                                                      NULL, onnx_flatten },
    { "Floor",                 "",                                                          "floor", NULL },
    { "Gather",                "axis",                                                      NULL, onnx_gather },
    { "Gelu",                  "approximate",                                               NULL, gelu },
    { "Gemm",                  "alpha beta transA transB",                                  NULL, gemm },
    { "GlobalAveragePool",     "",                                                          NULL, onnx_global_average_pool },
    { "GlobalMaxPool",         "",                                                          NULL, onnx_global_max_pool },
    { "Greater",               "",                                                          "greater", NULL },
    { "GreaterOrEqual",        "",                                                          "greater_equal", NULL },
    { "HardSigmoid",           "alpha beta",                                                "hard_sigmoid", NULL },
    { "HardSwish",             "",                                                          "hard_swish", NULL },
    { "Identity",              "",                                                          NULL, same },
    { "IsInf",                 "detect_negative detect_positive",                           NULL, is_inf },
    { "IsNaN",                 "",                                                          "isnan", NULL },
    { "LayerNormalization",    "axis epsilon stash_type",                                   NULL, layer_norm },
    { "LeakyRelu",             "alpha",                                                     "leaky_relu", NULL },
    { "Less",                  "",                                                          "less", NULL },
    { "LessOrEqual",           "",                                                          "less_equal", NULL },
    { "Log",                   "",                                                          "log", NULL },
    { "LogSoftmax",            "axis",                                                      NULL, log_softmax },
    { "MatMul",                "",                                                          NULL, matmul },
    { "Max",                   "",                                                          NULL, chain },
    { "MaxPool",               "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", NULL, onnx_max_pool },
    { "Mean",                  "",                                                          NULL, chain },
    { "Min",                   "",                                                          NULL, chain },
    { "Mish",                  "",                                                          "mish", NULL },
    { "Mod",                   "fmod",                                                      NULL, mod },
    { "Mul",                   "",                                                          "mul", NULL },
    { "Neg",                   "",                                                          "neg", NULL },
    { "Not",                   "",                                                          "not", NULL },
    { "Or",                    "",                                                          "or", NULL },
    { "PRelu",                 "",                                                          "prelu", NULL },
    { "Pad",                   "mode pads value",                                           NULL, onnx_pad },
    { "Pow",                   "",                                                          NULL, pow_ },
    { "Range",                 "",                                                          NULL, onnx_range },
    { "Reciprocal",            "",                                                          "reciprocal", NULL },
    { "ReduceL1",              "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceL2",              "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceLogSum",          "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceLogSumExp",       "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceMax",             "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceMean",            "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceMin",             "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceProd",            "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceSum",             "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "ReduceSumSquare",       "axes keepdims noop_with_empty_axes",                        NULL, reduce },
    { "Relu",                  "",                                                          "relu", NULL },
    { "Reshape",               "allowzero",                                                 NULL, onnx_reshape },
    { "Round",                 "",                                                          "nearbyint", NULL },
    { "Selu",                  "alpha gamma",                                               "selu", NULL },
    { "Shape",                 "end start",                                                 NULL, onnx_shape },
    { "Sigmoid",               "",                                                          "sigmoid", NULL },
    { "Sign",                  "",                                                          "sign", NULL },
    { "Sin",                   "",                                                          "sin", NULL },
    { "Sinh",                  "",                                                          "sinh", NULL },
    { "Size",                  "",                                                          NULL, onnx_size },
    { "Slice",                 "axes ends starts",                                          NULL, onnx_slice },
    { "Softmax",               "axis",                                                      NULL, softmax },
    { "Softplus",              "",                                                          "softplus", NULL },
    { "Softsign",              "",                                                          "softsign", NULL },
    { "SpaceToDepth",          "blocksize mode",                                            NULL, onnx_space_to_depth },
    { "Split",                 "axis num_outputs split",                                    NULL, onnx_split },
    { "Sqrt",                  "",                                                          "sqrt", NULL },
    { "Squeeze",               "axes",                                                      NULL, onnx_squeeze },
    { "Sub",                   "",                                                          "sub", NULL },
    { "Sum",                   "",                                                          NULL, chain },
    { "Swish",                 "alpha",                                                     "swish", NULL },
    { "Tan",                   "",                                                          "tan", NULL },
    { "Tanh",                  "",                                                          "tanh", NULL },
    { "ThresholdedRelu",       "alpha",                                                     "thresholded_relu", NULL },
    { "Tile",                  "",                                                          NULL, onnx_tile },
    { "Transpose",             "perm",                                                      NULL, onnx_transpose },
    { "Unsqueeze",             "axes",                                                      NULL, onnx_unsqueeze },
    { "Where",                 "",                                                          "where", NULL },
    { "Xor",                   "",                                                          "xor", NULL },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const OnnxOp *onnx_op_list(int *count)
{
    *count = ROWS;
    return rows;
}

const OnnxOp *onnx_op_find(const char *op_name)
{
    int low = 0, high = ROWS;
    while (low < high) {
        int middle = (low + high) / 2, order = strcmp(rows[middle].name, op_name);
        if (order == 0) return &rows[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

const char *onnx_op_near(Ctx *cx, const char *op_name)
{
    const char *names[ROWS];
    for (int i = 0; i < ROWS; i++) names[i] = rows[i].name;
    return text_nearest(cx, op_name, names, ROWS);
}

bool onnx_op_knows_attr(const OnnxOp *op, const char *attr)
{
    size_t length = strlen(attr);
    for (const char *p = op->attrs; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == length && memcmp(p, attr, length) == 0) return true;
    return false;
}

/* The same inputs and attributes for our operator; all direct attributes are real numbers. */
static void translate_directly(OnnxCall *c, const char *ours)
{
    Text attrs = text_new(c->cx);
    for (int i = 0; i < c->node->attr_count; i++) add_real(&attrs, c->node->attr[i].name, c->node->attr[i].f);
    c->out[0] = call(c->cx, ours, c->name, c->in, c->in_count, "%s", text_string(&attrs));
}

void onnx_translate(OnnxCall *c, const OnnxOp *op)
{
    if (op->op) translate_directly(c, op->op);
    else op->translate(c);
}
