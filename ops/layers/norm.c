/* SPDX-License-Identifier: MIT */
/* Defines normalizations: by recorded statistics (batch_norm), or by statistics of the input.
 *
 *   batch_norm   y = x * m + (bias - mean * m),   m[c] = scale[c] / sqrt(var[c] + epsilon)     c: the last axis
 *   standardize  y = (x - mean) / sqrt(var + epsilon),   mean = sum(x) / count,   var = sum((x - mean)^2) / count
 *   rms_norm     y = x / sqrt(sum(x^2) / count + epsilon)
 *   lrn          y[c] = x[c] / (bias + alpha / size * sum(j) x[c + j - (size-1)/2]^2)^beta */
#include "graph/dag/op_build.h"

static bool check(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[0];
    if (!op_float(cx, n) || !op_same_type(cx, n)) return false;
    for (int i = 1; i < 5; i++) {
        const Tensor *p = n->in[i];
        if (x->rank >= 1 && p->rank == 1 && p->shape[0] == x->shape[x->rank - 1]) continue;
        op_refuse(cx, n, "input %d is %s and x %s; use one value for each channel along the last axis of x",
                  i, tensor_shape_text(cx, p), tensor_shape_text(cx, x));
        return false;
    }
    return true;
}

static int batch_norm(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check(cx, n)) return 0;
    const Expr *epsilon = expr_real(cx, n->in[0]->type, node_real(n, "epsilon", 0));
    Tensor *m = OP_FORMULA(cx, n, "scale[*] = scale[*] / sqrt(var[*] + epsilon)", BIND_T("scale", n->in[1]),
                           BIND_T("var", n->in[4]), BIND_V("epsilon", epsilon));
    Tensor *shift = OP_FORMULA(cx, n, "shift[*] = bias[*] - mean[*] * m[*]", BIND_T("bias", n->in[2]),
                               BIND_T("mean", n->in[3]), BIND_T("m", m));
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*] * m[*] + shift[*]", BIND_T("x", n->in[0]), BIND_T("m", m),
                        BIND_T("shift", shift));
    return out[0] ? 1 : 0;
}

/* Rewrites the node as elementwise calls: constants fold, and the scale folds into the weights of the producer. */
static Tensor *batch_norm_simpler(Ctx *cx, const Node *n)
{
    for (int i = 1; i < 5; i++)
        if (!tensor_is_constant(n->in[i])) return NULL;
    Tensor *epsilon = tensor_scalar(cx, "epsilon", n->in[0]->type, node_real(n, "epsilon", 0));
    Tensor *spread = call(cx, "add", n->name, (Tensor *[]){ n->in[4], epsilon }, 2, NULL);
    Tensor *root = call(cx, "sqrt", n->name, &spread, 1, NULL);
    Tensor *m = call(cx, "div", n->name, (Tensor *[]){ n->in[1], root }, 2, NULL);
    Tensor *moved = call(cx, "mul", n->name, (Tensor *[]){ n->in[3], m }, 2, NULL);
    Tensor *shift = call(cx, "sub", n->name, (Tensor *[]){ n->in[2], moved }, 2, NULL);
    Tensor *scaled = call(cx, "mul", n->name, (Tensor *[]){ n->in[0], m }, 2, NULL);
    return call(cx, "add", n->name, (Tensor *[]){ scaled, shift }, 2, NULL);
}

/* ---- By moments of the input ------------------------------------------------------------------------------------- */

static bool read_axes(Ctx *cx, const Node *n, AxisText *a, const Expr **count)
{
    const Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    if (!op_float(cx, n) || !op_axes(cx, n, "axes", x->rank, chosen)) return false;
    *a = axis_text(cx, x->rank, chosen);
    *count = expr_index(cx, 1);
    for (int d = 0; d < x->rank; d++)
        if (chosen[d]) *count = expr_is_int(*count, 1) ? x->shape[d] : expr_mul(cx, *count, x->shape[d]);
    *count = expr_cast(cx, x->type, *count);
    if (x->rank > 0) return true;
    op_refuse(cx, n, "the input is a scalar; use one axis or more");
    return false;
}

static const Expr *epsilon_of(Ctx *cx, const Node *n)
{
    return expr_real(cx, n->in[0]->type, node_real(n, "epsilon", 0));
}

static int standardize(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    const Expr *count;
    if (!read_axes(cx, n, &a, &count)) return 0;
    Tensor *x = n->in[0];
    Tensor *total = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[ones] = sum(chosen) x[all]", a), BIND_T("x", x));
    Tensor *mean = OP_FORMULA(cx, n, "mean[*] = s[*] / count", BIND_T("s", total), BIND_V("count", count));
    Tensor *centred = OP_FORMULA(cx, n, "centred[*] = x[*] - mean[*]", BIND_T("x", x), BIND_T("mean", mean));
    Tensor *squares = OP_FORMULA(cx, n, AXES_TEXT(cx, "squares[ones] = sum(chosen) d[all] * d[all]", a),
                                 BIND_T("d", centred));
    Tensor *spread = OP_FORMULA(cx, n, "spread[*] = sqrt(s[*] / count + epsilon)", BIND_T("s", squares),
                                BIND_V("count", count), BIND_V("epsilon", epsilon_of(cx, n)));
    out[0] = OP_FORMULA(cx, n, "y[*] = d[*] / spread[*]", BIND_T("d", centred), BIND_T("spread", spread));
    return out[0] ? 1 : 0;
}

static int rms_norm(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    const Expr *count;
    if (!read_axes(cx, n, &a, &count)) return 0;
    Tensor *x = n->in[0];
    Tensor *squares = OP_FORMULA(cx, n, AXES_TEXT(cx, "squares[ones] = sum(chosen) x[all] * x[all]", a),
                                 BIND_T("x", x));
    Tensor *spread = OP_FORMULA(cx, n, "rms[*] = sqrt(s[*] / count + epsilon)", BIND_T("s", squares),
                                BIND_V("count", count), BIND_V("epsilon", epsilon_of(cx, n)));
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*] / spread[*]", BIND_T("x", x), BIND_T("spread", spread));
    return out[0] ? 1 : 0;
}

static int lrn(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int64_t size = node_int(n, "size", 5);
    if (!op_float(cx, n)) return 0;
    int axis = op_axis(cx, n, node_int(n, "axis", -1), x->rank);
    if (axis < 0) return 0;
    if (size < 1 || size > 1 << 20) {
        op_refuse(cx, n, "'size' is %lld; use 1 to 2^20", (long long)size);
        return 0;
    }
    const char letter[] = { axis_letter(x->rank, axis), '\0' };
    const char *near = OP_TEXT(cx, "c+tap-half", { "c", letter }, { "half", op_number(cx, (size - 1) / 2) });
    const char *text = OP_TEXT(cx, "squares[axes] = sum(tap<size) (x[at]? * x[at]? : 0)", { "axes", sized_axes(cx, x) },
                               { "at", axes_with(cx, x->rank, axis, near) }, { "size", op_number(cx, size) });
    Tensor *squares = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]));
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*] / pow(bias + alpha * s[*], beta)", BIND_T("x", n->in[0]),
                        BIND_T("s", squares), BIND_V("bias", expr_real(cx, x->type, node_real(n, "bias", 1))),
                        BIND_V("beta", expr_real(cx, x->type, node_real(n, "beta", 0.75))),
                        BIND_V("alpha", expr_real(cx, x->type, node_real(n, "alpha", 1e-4) / (double)size)));
    return out[0] ? 1 : 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const AttrRow moment_attrs[] = {
    { "axes", ATTR_INTS, "axes that the moments are computed over; none: all", NULL },
    { "epsilon", ATTR_REAL, "added to the variance", "1e-05" },
    { 0 }
};
static const AttrRow lrn_attrs[] = {
    { "axis", ATTR_INT, "axis of the channels", "-1" },
    { "size", ATTR_INT, "number of adjacent channels", "5" },
    { "alpha", ATTR_REAL, "factor of their mean square", "0.0001" },
    { "beta", ATTR_REAL, "exponent of the divisor", "0.75" },
    { "bias", ATTR_REAL, "addend of the divisor", "1" },
    { 0 }
};
static const OpCase moment_cases[] = {
    { "axes=1", "f32[2][5]", "f32[2][5]", NULL },
    { "axes=1,2 epsilon=0.01", "f32[2][3][4][2]", "f32[2][3][4][2]", NULL },
    { "", "f64[2][3]", "f64[2][3]", NULL },
    { "", "f32", NULL, "a scalar" },
    { "", "i32[4]", NULL, "use a float type" },
    { 0 }
};
static const OpCase lrn_cases[] = {
    { "size=3 alpha=0.5 beta=0.5 bias=2", "f32[1][2][2][6]", "f32[1][2][2][6]", NULL },
    { "size=4 axis=1", "f32[1][5][2]", "f32[1][5][2]", NULL },
    { "size=0", "f32[1][5]", NULL, "'size' is 0" },
    { 0 }
};
static const AttrRow batch_norm_attrs[] = {
    { "epsilon",  ATTR_REAL, "added to the variance", "1e-05" },
    { "momentum", ATTR_REAL, "of the running mean and variance in a training step", "0.9" },
    { 0 }
};
static const OpCase batch_norm_cases[] = {
    { "", "f32[1][2][3][4] f32[4] f32[4] f32[4] f32[4]={0.5,1,2,0.25}", "f32[1][2][3][4]", NULL },
    { "epsilon=0.001", "f32[3][2] f32[2] f32[2] f32[2] f32[2]={1,3}", "f32[3][2]", NULL },
    { "", "f32[1][2][3][4] f32[4] f32[3] f32[4] f32[4]", NULL, "input 2 is [3]" },
    { "", "i32[2][4] i32[4] i32[4] i32[4] i32[4]", NULL, "use a float type" },
    { 0 }
};

const Op ops_norm[] = {
    { .name = "batch_norm", .summary = "y[..,c] = (x[..,c] - mean[c]) * scale[c] / sqrt(var[c] + epsilon) + bias[c]",
      .level = 1, .least_inputs = 5, .most_inputs = 5, .inputs = "x scale bias mean var", .attr = batch_norm_attrs,
      .meaning.compute = batch_norm, .meaning.simplify = batch_norm_simpler, .fusion.pattern = PATTERN_OPAQUE,
      .gradient.role = GRADIENT_NORM, .cases = batch_norm_cases },
    { .name = "standardize", .summary = "y = (x - mean) / sqrt(var + epsilon), mean and var of x over the axes",
      .level = 1, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = moment_attrs,
      .meaning.compute = standardize, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_all_axes,
      .cases = moment_cases },
    { .name = "rms_norm", .summary = "y = x / sqrt(mean(x * x) + epsilon) over the axes", .level = 1, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = moment_attrs, .meaning.compute = rms_norm,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_all_axes, .cases = moment_cases },
    { .name = "lrn",
      .summary = "y[c] = x[c] / pow(bias + alpha / size * sum(j) x[c+j-(size-1)/2] * x[c+j-(size-1)/2], beta)",
      .level = 2, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = lrn_attrs, .meaning.compute = lrn,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_axis, .cases = lrn_cases },
    { 0 }
};
