/* SPDX-License-Identifier: MIT */
/* Defines softmax along one axis. Subtracting the largest element first prevents overflow:
 *
 *   softmax       peak[n] = max(c) x[n,c];  power[n,c] = exp(x[n,c] - peak[n])
 *                 sum[n] = sum(c) power[n,c];  y[n,c] = power[n,c] / sum[n]
 *   log_softmax   y[n,c] = x[n,c] - peak[n] - log(sum[n])
 *   hardmax       y[n,c] = 1 at the first largest element, else 0 */
#include <math.h>

#include "graph/dag/op_build.h"

static bool read_axis(Ctx *cx, const Node *n, AxisText *a)
{
    int rank = n->in[0]->rank, axis = op_axis(cx, n, node_int(n, "axis", -1), rank);
    bool chosen[MAX_RANK] = { false };
    if (axis < 0 || !op_float(cx, n)) return false;
    chosen[axis] = true;
    *a = axis_text(cx, rank, chosen);
    return true;
}

static Tensor *peak_of(Ctx *cx, const Node *n, const AxisText *a)
{
    return OP_FORMULA(cx, n, AXES_TEXT(cx, "peak[kept] = max(chosen) x[all]", *a), BIND_T("x", n->in[0]));
}

static int softmax(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    if (!read_axis(cx, n, &a)) return 0;
    Tensor *peak = peak_of(cx, n, &a);
    Tensor *power = OP_FORMULA(cx, n, AXES_TEXT(cx, "power[all] = exp(x[all] - peak[kept])", a),
                               BIND_T("x", n->in[0]), BIND_T("peak", peak));
    Tensor *total = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[kept] = sum(chosen) e[all]", a), BIND_T("e", power));
    out[0] = OP_FORMULA(cx, n, AXES_TEXT(cx, "y[all] = e[all] / total[kept]", a), BIND_T("e", power),
                        BIND_T("total", total));
    return out[0] ? 1 : 0;
}

static int log_softmax(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    if (!read_axis(cx, n, &a)) return 0;
    Tensor *x = n->in[0], *peak = peak_of(cx, n, &a);
    Tensor *total = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[kept] = sum(chosen) exp(x[all] - peak[kept])", a),
                               BIND_T("x", x), BIND_T("peak", peak));
    out[0] = OP_FORMULA(cx, n, AXES_TEXT(cx, "y[all] = x[all] - peak[kept] - log(total[kept])", a), BIND_T("x", x),
                        BIND_T("peak", peak), BIND_T("total", total));
    return out[0] ? 1 : 0;
}

static int hardmax(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    if (!read_axis(cx, n, &a)) return 0;
    Tensor *x = n->in[0],
           *index = OP_FORMULA(cx, n, AXES_TEXT(cx, "at, best[kept] = argmax(chosen) x[all]", a), BIND_T("x", x));
    Text axes = text_new(cx);
    for (int d = 0; d < x->rank; d++) text_printf(&axes, "%s%c<extent_%d", d ? "," : "", axis_letter(x->rank, d), d);
    Bind binds[MAX_RANK + 3] = { BIND_T("at", index), BIND_V("one", expr_int(cx, x->type, 1)) };
    for (int d = 0; d < x->rank; d++) binds[2 + d] = (Bind)BIND_V(text_format(cx, "extent_%d", d), x->shape[d]);
    out[0] = op_formula(cx, n, OP_TEXT(cx, "y[axes] = select(at[kept] == chosen, one, 0)", AXES(a),
                                       { "axes", text_string(&axes) }), binds);
    return out[0] ? 1 : 0;
}

/* Emits the adjoint. softmax: d_x = y * (g - sum(c) g * y); log_softmax: d_x = g - exp(y) * sum(c) g */
static bool adjoint_from_result(Ctx *cx, const Node *n, Tensor *g, const char *part, const char *result, Tensor **out)
{
    AxisText a;
    if (!read_axis(cx, n, &a)) return false;
    const Bind y = BIND_T("y", n->out[0]), seed = BIND_T("g", g);
    Tensor *total = OP_FORMULA(cx, n, OP_TEXT(cx, "total[kept] = sum(chosen) part", AXES(a), { "part", part }), y,
                               seed);
    *out = OP_FORMULA(cx, n, AXES_TEXT(cx, result, a), y, seed, BIND_T("total", total));
    return true;
}

static bool softmax_adjoint(Ctx *cx, const Node *n, Tensor *const *g, int input, Tensor **out)
{
    (void)input;
    return adjoint_from_result(cx, n, g[0], "g[all] * y[all]", "dx[all] = (g[all] - total[kept]) * y[all]", out);
}

static bool log_softmax_adjoint(Ctx *cx, const Node *n, Tensor *const *g, int input, Tensor **out)
{
    (void)input;
    return adjoint_from_result(cx, n, g[0], "g[all]", "dx[all] = g[all] - total[kept] * exp(y[all])", out);
}

/* Returns softmax_fixed. The multiplier is step * 2^26, as a 31-bit fraction and a shift to the left. */
static Tensor *softmax_in_fixed_point(Ctx *cx, const Node *n, Tensor *stored, double step, DType to)
{
    enum { INTEGER_BITS = 5 };
    const double most = stored->type == I8 ? 256 : 65536;      /* distances */
    int left;
    const int64_t axis = node_int(n, "axis", -1);
    const double fraction = frexp(step * (double)(1 << (31 - INTEGER_BITS)), &left);
    int64_t multiplier = (int64_t)nearbyint(fraction * 2147483648.0);
    if (multiplier == INT64_C(1) << 31) multiplier /= 2, left++;
    if ((axis != -1 && axis != stored->rank - 1) || left < 0 || left > 31) return NULL;
    const double reach = floor(31.0 * (double)(1 << (31 - INTEGER_BITS)) / ldexp(1, left));
    return call(cx, "softmax_fixed", n->name, &stored, 1,
                ATTRS(attr_int("multiplier", multiplier), attr_int("left", left),
                      attr_int("least", -(int)fmin(reach, most)), attr_if(to != I8, attr_type("to", to))));
}

static const AttrRow attrs[] = { { "axis", ATTR_INT, "the axis that sums to one", "-1" }, { 0 } };
static const OpCase cases[] = {
    { "", "f32[2][5]", "f32[2][5]", NULL },
    { "", "f32[7]", "f32[7]", NULL },
    { "axis=1", "f32[2][3][4]", "f32[2][3][4]", NULL },
    { "axis=2", "f32[2][3]", NULL, "axis 2 is out of range" },
    { "", "i32[2][3]", NULL, "use a float type" },
    { 0 }
};

#define SOFTMAX(fn, formula_text) \
    .name = #fn, .summary = formula_text, .level = 1, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
      .attr = attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_axis, \
      .cases = cases

const Op ops_softmax[] = {
    { SOFTMAX(softmax, "y[n,c] = exp(x[n,c] - peak[n]) / sum(c) exp(x[n,c] - peak[n]), peak[n] = max(c) x[n,c]"),
      .gradient = { .adjoint = softmax_adjoint, .link = LINK_SOFTMAX },
      .quantization = { .output_step = 1.0f / 256, .output_zero = -128, .in_fixed_point = softmax_in_fixed_point } },
    { SOFTMAX(log_softmax, "y[n,c] = x[n,c] - peak[n] - log(sum(c) exp(x[n,c] - peak[n])), peak[n] = max(c) x[n,c]"),
      .gradient.adjoint = log_softmax_adjoint },
    { SOFTMAX(hardmax, "y[n,c] = select(c == argmax(c) x[n,c], 1, 0)") },
    { 0 }
};
