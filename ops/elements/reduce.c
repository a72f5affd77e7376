/* SPDX-License-Identifier: MIT */
/* Defines reductions over the listed axes or, without a list, over all axes. With keepdims the reduced axes remain with
 * extent 1. The accumulator has the input's type.
 *
 *   mean = sum / count    l1 = sum |x|    l2 = sqrt(sum x*x)    log_sum_exp = log(sum exp(x - peak)) + peak
 *
 * The mean of no elements is 0, as in ONNX Runtime. The mean, norm or logarithm of integers truncates the real result:
 * real functions are computed in f64. */
#include "graph/dag/op_build.h"

#include <string.h>

typedef struct Reduction { const char *op, *reducer, *of, *then, *then_of_integers; } Reduction;

/*   of                the expression that is reduced; `all` stands for the indices
 *   then              the function of the reduced value r for floats; NULL: r itself
 *   then_of_integers  the same for integers; `type` for the type */
static const Reduction reductions[] = {
    { "reduce_sum",        "sum",  "x[all]",          NULL, NULL },
    { "reduce_prod",       "prod", "x[all]",          NULL, NULL },
    { "reduce_max",        "max",  "x[all]",          NULL, NULL },
    { "reduce_min",        "min",  "x[all]",          NULL, NULL },
    { "reduce_mean",       "sum",  "x[all]",          "r[*] / count", "tdiv(r[*], count)" },
    { "reduce_l1",         "sum",  "abs(x[all])",     NULL, NULL },
    { "reduce_l2",         "sum",  "x[all] * x[all]",     "sqrt(r[*])",   "type(sqrt(f64(r[*])))" },
    { "reduce_sum_square", "sum",  "x[all] * x[all]",     NULL, NULL },
    { "reduce_log_sum",    "sum",  "x[all]",          "log(r[*])",    "type(log(f64(r[*])))" },
    { "reduce_any",        "any",  "x[all]",          NULL, NULL },
    { "reduce_all",        "all",  "x[all]",          NULL, NULL },
};

static const Reduction *reduction_of(const Op *op)
{
    size_t i = 0;
    while (strcmp(reductions[i].op, op->name) != 0) i++;
    return &reductions[i];
}

typedef struct Axes { AxisText text; const char *result; const Expr *count; } Axes;

static bool read_axes(Ctx *cx, const Node *n, Axes *a)
{
    const Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    if (!op_axes(cx, n, "axes", x->rank, chosen)) return false;
    a->text = axis_text(cx, x->rank, chosen);
    a->result = node_int(n, "keepdims", 0) ? a->text.ones : a->text.kept;
    a->count = expr_index(cx, 1);
    for (int d = 0; d < x->rank; d++)
        if (chosen[d]) a->count = expr_is_int(a->count, 1) ? x->shape[d] : expr_mul(cx, a->count, x->shape[d]);
    if (op_least(cx, a->count) < 1)
        a->count = expr_binary(cx, EXPR_MAX, a->count, expr_index(cx, 1));
    if (x->rank > 0) return true;
    op_refuse(cx, n, "the input is a scalar; use at least one dimension");
    return false;
}

static bool of_numbers(Ctx *cx, const Node *n)
{
    if (n->in[0]->type != BOOL) return true;
    op_refuse(cx, n, "the input is bool; use integers or floats");
    return false;
}

static int reduce(Ctx *cx, const Node *n, Tensor **out)
{
    const Reduction *r = reduction_of(n->op);
    Axes a;
    const DType t = n->in[0]->type;
    if ((r->then && !of_numbers(cx, n)) || !read_axes(cx, n, &a)) return 0;
    const char *then = dtype_is_float(t) ? r->then : r->then_of_integers;
    const char *text = OP_TEXT(cx, "stage[result] = reducer(chosen) value", { "reducer", r->reducer },
                               { "stage", r->then ? "reducer" : "y" }, AXES(a.text), { "result", a.result },
                               { "value", r->of });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]));
    if (r->then)
        out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, "y[*] = then", { "type", dtype_info(t)->spelling }, { "then", then }),
                            BIND_T("r", out[0]), BIND_V("count", expr_cast(cx, t, a.count)));
    return out[0] ? 1 : 0;
}

static Tensor *mean_total(Ctx *cx, const Node *n, Tensor *stored, int64_t *zero, int64_t *count)
{
    Axes a;
    if (!read_axes(cx, n, &a) || a.count->kind != EXPR_INT) return NULL;
    *count = a.count->integer;
    *zero *= *count;
    Tensor *wide = call(cx, "cast", n->name, &stored, 1, ATTRS(attr_type("to", I32)));
    const Op *sum = op_find(cx, "reduce_sum");
    Node *total = wide ? op_call(cx, sum, n->name, &wide, 1, n->attr, n->attr_count) : NULL;
    return total ? total->out[0] : NULL;
}

/* Computes log(sum exp(x)). Infinite elements are not shifted, because inf - inf is NaN. */
static int log_sum_exp(Ctx *cx, const Node *n, Tensor **out)
{
    Axes a;
    if (!of_numbers(cx, n) || !read_axes(cx, n, &a)) return 0;
    Tensor *x = n->in[0];
    const char *type = dtype_info(x->type)->spelling;
    const Phrase words[] = { AXES(a.text), { "result", a.result }, { "type", type },
                             { "real", dtype_is_float(x->type) ? type : "f64" }, { NULL, NULL } };
    Tensor *peak = OP_FORMULA(cx, n, op_text(cx, "peak[kept] = max(chosen) x[all]", words), BIND_T("x", x));
    if (dtype_is_float(x->type))
        peak = OP_FORMULA(cx, n, "shift[*] = select(isinf(peak[*]), 0, peak[*])", BIND_T("peak", peak));
    const char *sum = op_text(cx, "sum[kept] = sum(chosen) exp(real(x[all]) - real(peak[kept]))", words);
    Tensor *total = OP_FORMULA(cx, n, sum, BIND_T("x", x), BIND_T("peak", peak));
    out[0] = OP_FORMULA(cx, n, op_text(cx, "y[result] = type(log(total[kept]) + real(peak[kept]))", words),
                        BIND_T("total", total), BIND_T("peak", peak));
    return out[0] ? 1 : 0;
}

/* Computes the mean of the squared distances from the mean; with `unbiased`, their sum divided by count - 1. */
static int reduce_variance(Ctx *cx, const Node *n, Tensor **out)
{
    Axes a;
    if (!op_float(cx, n) || !read_axes(cx, n, &a)) return 0;
    const Phrase words[] = { AXES(a.text), { "result", a.result }, { "d", "(x[all] - mean[kept])" }, { NULL, NULL } };
    Tensor *x = n->in[0];
    const Expr *divisor = node_int(n, "unbiased", 0) ? expr_sub(cx, a.count, expr_index(cx, 1)) : a.count;
    const Bind count = BIND_V("count", expr_cast(cx, x->type, a.count));
    const Bind less = BIND_V("less", expr_cast(cx, x->type, divisor));
    Tensor *mean = OP_FORMULA(cx, n, op_text(cx, "mean[kept] = sum(chosen) x[all]", words), BIND_T("x", x));
    mean = OP_FORMULA(cx, n, "middle[*] = mean[*] / count", BIND_T("mean", mean), count);
    Tensor *sum = OP_FORMULA(cx, n, op_text(cx, "sum[result] = sum(chosen) d * d", words), BIND_T("x", x),
                             BIND_T("mean", mean));
    out[0] = OP_FORMULA(cx, n, "y[*] = sum[*] / less", BIND_T("sum", sum), less);
    return out[0] ? 1 : 0;
}

/* Computes the index of the extreme along one axis as i64. Of equal extremes, the first one is the result; with `last`,
 * it is the last one, because the axis is read from the end. */
static int arg(Ctx *cx, const Node *n, const char *reducer, Tensor **out)
{
    int rank = n->in[0]->rank, axis = op_axis(cx, n, node_int(n, "axis", 0), rank);
    if (axis < 0) return 0;
    bool chosen[MAX_RANK] = { false };
    chosen[axis] = true;
    AxisText a = axis_text(cx, rank, chosen);
    const char *kept = node_int(n, "keepdims", 0) ? a.ones : a.kept;
    bool is_last = node_int(n, "last", 0) != 0;
    const char letter[] = { axis_letter(rank, axis), '\0' },
               *read = axes_with(cx, rank, axis, is_last ? OP_TEXT(cx, "extent-1-c", { "c", letter }) : letter);
    const Expr *extent = n->in[0]->shape[axis];
    Tensor *place = OP_FORMULA(cx, n,
                               OP_TEXT(cx, "at, best[result] = reducer(chosen<extent) x[read]", AXES(a),
                                       { "result", kept }, { "reducer", reducer }, { "read", read }),
                               BIND_T("x", n->in[0]), BIND_V("extent", extent));
    out[0] = OP_FORMULA(cx, n, is_last ? "y[*] = i64(extent-1-at[*])" : "y[*] = i64(at[*])", BIND_T("at", place),
                        BIND_V("extent", extent));
    return out[0] ? 1 : 0;
}
static int argmax(Ctx *cx, const Node *n, Tensor **out) { return arg(cx, n, "argmax", out); }
static int argmin(Ctx *cx, const Node *n, Tensor **out) { return arg(cx, n, "argmin", out); }

static const AttrRow attrs[] = {
    { "axes",     ATTR_INTS, "the reduced axes; none: all", NULL },
    { "keepdims", ATTR_INT,  "1: they stay as dimensions of one", "0" },
    { 0 }
};
static const AttrRow variance_attrs[] = {
    { "axes",     ATTR_INTS, "the reduced axes; none: all", NULL },
    { "keepdims", ATTR_INT,  "1: they stay as dimensions of one", "0" },
    { "unbiased", ATTR_INT,  "1: divided by the count less one", "0" },
    { 0 }
};
static const AttrRow arg_attrs[] = {
    { "axis",     ATTR_INT, "the axis that is searched", "0" },
    { "keepdims", ATTR_INT, "1: it stays as a dimension of one", "0" },
    { "last",     ATTR_INT, "1: the last index of several with the same value", "0" },
    { 0 }
};
static const OpCase cases[] = {
    { "", "f32[2][3]", "f32", NULL },
    { "axes=1", "f32[2][3][4]", "f32[2][4]", NULL },
    { "axes=-1,0 keepdims=1", "f32[2][3][4]", "f32[1][3][1]", NULL },
    { "axes=3", "f32[2][3]", NULL, "axis 3 is out of range" },
    { "axes=1,-1", "f32[2][3]", NULL, "lists axis 1 twice" },
    { 0 }
};
static const OpCase function_cases[] = {
    { "", "f32[2][3]", "f32", NULL },
    { "axes=1", "f32[2][3][4]", "f32[2][4]", NULL },
    { "axes=-1,0 keepdims=1", "f32[2][3][4]", "f32[1][3][1]", NULL },
    { "axes=1", "i32[2][3]={1,-2,7,0,5,-5}", "i32[2]", NULL },
    { "axes=0 keepdims=1", "i64[3][2]={1,-2,7,0,5,-5}", "i64[1][2]", NULL },
    { "", "u8[2][2]={1,2,3,9}", "u8", NULL },
    { "", "bool[2]", NULL, "the input is bool" },
    { 0 }
};
static const OpCase truth_cases[] = {
    { "axes=1", "bool[2][3]={0,0,0,1,0,1}", "bool[2]", NULL },
    { "keepdims=1", "bool[2][3]={1,1,1,1,1,1}", "bool[1][1]", NULL },
    { "", "f32[2]", NULL, "bool" },
    { 0 }
};
static const OpCase variance_cases[] = {
    { "axes=1", "f32[2][5]", "f32[2]", NULL },
    { "axes=0,-1 keepdims=1 unbiased=1", "f64[2][3][4]", "f64[1][3][1]", NULL },
    { "", "i32[3]", NULL, "use a float type" },
    { 0 }
};
static const OpCase arg_cases[] = {
    { "axis=1", "f32[2][3]", "i64[2]", NULL },
    { "axis=-2 keepdims=1", "f32[2][3]", "i64[1][3]", NULL },
    { "axis=0 last=1", "i32[5]={1,3,3,2,1}", "i64", NULL },
    { "axis=1", "f32[3][3]={nan,nan,nan,1,nan,2,-inf,-inf,-inf}", "i64[3]", NULL },
    { 0 }
};

#define ROW(op_name, formula_text, fn, permute_hook, attr_rows, case_rows) \
    .name = op_name, .summary = formula_text, .level = 4, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
    .attr = attr_rows, .meaning.compute = fn, .fusion.pattern = PATTERN_REDUCTION, .layout.permute = permute_hook, \
    .cases = case_rows
#define REDUCE_WITH(op_name, formula_text, fn, permute_hook, attr_rows, case_rows) \
    { ROW(op_name, formula_text, fn, permute_hook, attr_rows, case_rows) }
#define REDUCE(op_name, formula_text) REDUCE_WITH(op_name, formula_text, reduce, permute_axes_kept, attrs, cases)
#define REDUCE_TO_FUNCTION(op_name, formula_text) \
    REDUCE_WITH(op_name, formula_text, reduce, permute_axes_kept, attrs, function_cases)
#define KEPT(op_name, formula_text) ROW(op_name, formula_text, reduce, permute_axes_kept, attrs, cases)

const Op ops_reduce[] = {
    REDUCE("reduce_sum", "y[n] = sum(c) x[n,c]"),
    REDUCE("reduce_prod", "y[n] = prod(c) x[n,c]"),
    { KEPT("reduce_max", "y[n] = max(c) x[n,c]"), .quantization.moves_elements = true },
    { KEPT("reduce_min", "y[n] = min(c) x[n,c]"), .quantization.moves_elements = true },
    { ROW("reduce_mean", "y[n] = (sum(c) x[n,c]) / C", reduce, permute_axes_kept, attrs, function_cases),
      .quantization.total = mean_total },
    REDUCE("reduce_l1", "y[n] = sum(c) abs(x[n,c])"),
    REDUCE_TO_FUNCTION("reduce_l2", "y[n] = sqrt(sum(c) x[n,c] * x[n,c])"),
    REDUCE("reduce_sum_square", "y[n] = sum(c) x[n,c] * x[n,c]"),
    REDUCE_TO_FUNCTION("reduce_log_sum", "y[n] = log(sum(c) x[n,c])"),
    REDUCE_WITH("reduce_log_sum_exp", "y[n] = log(sum(c) exp(x[n,c] - peak[n])) + peak[n], peak[n] = max(c) x[n,c]",
                log_sum_exp, permute_axes_kept, attrs, function_cases),
    REDUCE_WITH("reduce_any", "y[n] = any(c) x[n,c]", reduce, permute_axes_kept, attrs, truth_cases),
    REDUCE_WITH("reduce_all", "y[n] = all(c) x[n,c]", reduce, permute_axes_kept, attrs, truth_cases),
    REDUCE_WITH("reduce_variance", "y[n] = (sum(c) (x[n,c] - mean[n]) * (x[n,c] - mean[n])) / C", reduce_variance,
                permute_axes_kept, variance_attrs, variance_cases),
    REDUCE_WITH("argmax", "y[n] = argmax(c) x[n,c]", argmax, NULL, arg_attrs, arg_cases),
    REDUCE_WITH("argmin", "y[n] = argmin(c) x[n,c]", argmin, NULL, arg_attrs, arg_cases),
    { 0 }
};
