/* SPDX-License-Identifier: MIT */
/* Defines losses, which compare a prediction x with a target t. A loss is a scalar: the mean or sum over all rows,
 * where the last dimension holds the classes.
 *
 *   cross_entropy          row[n] = sum(c) t[n,c] * (log(sum(c) exp(x[n,c])) - x[n,c]) of logits, or
 *                          row[n] = sum(c) -t[n,c] * log(x[n,c]) of probabilities;
 *                          integer targets t[n] are the number of the class
 *   mse, mae               (x - t)^2, |x - t|
 *   hinge                  max(0, 1 - t * x), for t = -1 or 1
 *   binary_cross_entropy   max(x, 0) - x * t + log1p(exp(-|x|)) of logits, or
 *                          -(t * log(x) + (1 - t) * log(1 - x)) of probabilities
 *
 * The adjoint of logits is (softmax(x) * sum(c) t[n,c] - t), without the quotients that cancel. */
#include "graph/dag/op_build.h"

static bool is_of_logits(Ctx *cx, const Node *n, bool *is)
{
    const char *of = node_text(n, "of", "logits");
    *is = text_equal(of, "logits");
    if (*is || text_equal(of, "probabilities")) return true;
    op_refuse(cx, n, "'of' is \"%s\"; use logits or probabilities", of);
    return false;
}

/* Returns the factor of the sum, which is 1 / elements for the mean. */
static double factor_of(Ctx *cx, const Node *n, const Tensor *rows)
{
    const char *reduction = node_text(n, "reduction", "mean");
    const int64_t count = tensor_elems(rows);
    if (text_equal(reduction, "sum")) return 1;
    if (!text_equal(reduction, "mean")) op_refuse(cx, n, "'reduction' is \"%s\"; use mean or sum", reduction);
    else if (count <= 0) op_refuse(cx, n, "the mean is over %s rows, an open number; use a fixed number of rows",
                                   tensor_shape_text(cx, rows));
    return ctx_failed(cx) ? 1 : 1.0 / (double)count;
}

/* Emits the sum over all rows, times the factor. */
static int reduced(Ctx *cx, const Node *n, Tensor *rows, Tensor **out)
{
    if (!rows) return 0;
    const double factor = factor_of(cx, n, rows);
    const char *all = axes_with(cx, rows->rank, -1, "");
    const Bind row = BIND_T("row", rows), by = BIND_V("factor", expr_real(cx, rows->type, factor));
    Tensor *total = !rows->rank ? rows
        : OP_FORMULA(cx, n, OP_TEXT(cx, "sum = sum(all) row[all]", { "all", all }), row);
    out[0] = OP_FORMULA(cx, n, "y = total * factor", BIND_T("total", total), by);
    return out[0] ? 1 : 0;
}

/* ---- Cross entropy ----------------------------------------------------------------------------------------------- */

typedef struct Classes { AxisText at; bool is_index, of_logits; } Classes;

static bool read_classes(Ctx *cx, const Node *n, Classes *k)
{
    const Tensor *x = n->in[0], *t = n->in[1];
    bool chosen[MAX_RANK] = { false };
    if (!op_float(cx, n) || !is_of_logits(cx, n, &k->of_logits)) return false;
    k->is_index = dtype_is_integer(t->type);
    bool fits = x->rank > 0 && t->rank == x->rank - k->is_index && (k->is_index || t->type == x->type);
    for (int d = 0; fits && d < t->rank; d++) fits = t->shape[d] == x->shape[d];
    if (!fits)
        op_refuse(cx, n, "the prediction is %s%s and the target %s%s; use a target of that type and shape, or integers "
                  "without its last dimension", dtype_info(x->type)->spelling, tensor_shape_text(cx, x),
                  dtype_info(t->type)->spelling, tensor_shape_text(cx, t));
    if (fits && k->is_index && tensor_dim(x, x->rank - 1) < 0)
        op_unsupported(cx, n, "it has integer targets and an open number of classes; use a fixed number of classes");
    if (!fits || ctx_failed(cx)) return false;
    chosen[x->rank - 1] = true;
    k->at = axis_text(cx, x->rank, chosen);
    return true;
}

/* Replaces the index lists by text: `class` by an integer target, and `element` by the element of the row that it
 * selects. */
static const char *classes_text(Ctx *cx, const Node *n, const Classes *k, const char *text)
{
    const int64_t classes = tensor_dim(n->in[0], n->in[0]->rank - 1);
    return OP_TEXT(cx, text, AXES(k->at), { "last", op_number(cx, classes - 1) },
                   { "class", "max(0, min(last, i32(t[kept])))" }, { "element", "x[kept,class]" });
}

static Tensor *rows_of_logits(Ctx *cx, const Node *n, const Classes *k)
{
    const Bind x = BIND_T("x", n->in[0]), t = BIND_T("t", n->in[1]);
    Tensor *peak = OP_FORMULA(cx, n, AXES_TEXT(cx, "peak[kept] = max(chosen) x[all]", k->at), x);
    const Bind most = BIND_T("peak", peak);
    Tensor *total = OP_FORMULA(cx, n, AXES_TEXT(cx, "total[kept] = sum(chosen) exp(x[all] - peak[kept])", k->at), x,
                               most);
    const Bind sum = BIND_T("total", total);
    const char *text = k->is_index ? "row[kept] = peak[kept] + log(total[kept]) - element"
                                   : "row[kept] = sum(chosen) t[all] * (peak[kept] + log(total[kept]) - x[all])";
    return peak && total ? OP_FORMULA(cx, n, classes_text(cx, n, k, text), x, t, most, sum) : NULL;
}

static Tensor *rows_of_probabilities(Ctx *cx, const Node *n, const Classes *k)
{
    const char *text = k->is_index ? "row[kept] = -log(element)" : "row[kept] = sum(chosen) -(t[all] * log(x[all]))";
    return OP_FORMULA(cx, n, classes_text(cx, n, k, text), BIND_T("x", n->in[0]), BIND_T("t", n->in[1]));
}

static int cross_entropy(Ctx *cx, const Node *n, Tensor **out)
{
    Classes k;
    if (!read_classes(cx, n, &k)) return 0;
    return reduced(cx, n, k.of_logits ? rows_of_logits(cx, n, &k) : rows_of_probabilities(cx, n, &k), out);
}

/* Emits d_x = g * factor * (softmax(x) * mass - t), where mass is the sum of the row's target. */
static bool cross_entropy_adjoint(Ctx *cx, const Node *n, Tensor *const *g, int input, Tensor **out)
{
    Classes k;
    if (input || !read_classes(cx, n, &k) || !k.of_logits) return false;
    const Tensor *x = n->in[0];
    Tensor *p = call_on(cx, "softmax", "probabilities", n->in[0], NULL);
    Tensor *rows = tensor_new(cx, "rows", x->type, x->rank - 1, x->shape);
    const Bind by = BIND_V("factor", expr_real(cx, x->type, factor_of(cx, n, rows))), t = BIND_T("t", n->in[1]),
               prob = BIND_T("p", p), seed = BIND_T("g", g[0]), one = BIND_V("one", expr_real(cx, x->type, 1)),
               last = BIND_V("classes", x->shape[x->rank - 1]);
    if (k.is_index) {
        const char *text = "y[all] = (p[all] - select(chosen == class, one, 0)) * g * factor";
        *out = OP_FORMULA(cx, n, classes_text(cx, n, &k, text), prob, t, seed, by, one, last);
        return true;
    }
    Tensor *mass = OP_FORMULA(cx, n, AXES_TEXT(cx, "mass[kept] = sum(chosen) t[all]", k.at), t);
    const char *text = AXES_TEXT(cx, "y[all] = (p[all] * mass[kept] - t[all]) * g * factor", k.at);
    *out = OP_FORMULA(cx, n, text, prob, t, seed, by, BIND_T("mass", mass));
    return true;
}

/* ---- Losses of elements ------------------------------------------------------------------------------------------ */

static int of_elements(Ctx *cx, const Node *n, const char *value, Tensor **out)
{
    const Tensor *x = n->in[0], *t = n->in[1];
    bool same = op_float(cx, n) && x->type == t->type && x->rank == t->rank;
    for (int d = 0; same && d < x->rank; d++) same = x->shape[d] == t->shape[d];
    if (!same)
        op_refuse(cx, n, "the prediction is %s%s and the target %s%s; use one type and shape",
                  dtype_info(x->type)->spelling, tensor_shape_text(cx, x), dtype_info(t->type)->spelling,
                  tensor_shape_text(cx, t));
    if (!same) return 0;
    Tensor *rows = OP_FORMULA(cx, n, OP_TEXT(cx, "row[*] = value", { "value", value }), BIND_T("x", n->in[0]),
                              BIND_T("t", n->in[1]));
    return reduced(cx, n, rows, out);
}

static int mse(Ctx *cx, const Node *n, Tensor **out)
{
    return of_elements(cx, n, "(x[*] - t[*]) * (x[*] - t[*])", out);
}

static int mae(Ctx *cx, const Node *n, Tensor **out) { return of_elements(cx, n, "abs(x[*] - t[*])", out); }
static int hinge(Ctx *cx, const Node *n, Tensor **out) { return of_elements(cx, n, "max(1 - t[*] * x[*], 0)", out); }

static int binary_cross_entropy(Ctx *cx, const Node *n, Tensor **out)
{
    bool of_logits;
    if (!is_of_logits(cx, n, &of_logits)) return 0;
    return of_elements(cx, n, of_logits ? "max(x[*], 0) - x[*] * t[*] + log1p(exp(-abs(x[*])))"
                                        : "-(t[*] * log(x[*]) + (1 - t[*]) * log(1 - x[*]))", out);
}

/* Emits d_x = (sigmoid(x) - t) * g * factor, because the derivative of the formula has a kink at 0. */
static bool binary_adjoint(Ctx *cx, const Node *n, Tensor *const *g, int input, Tensor **out)
{
    bool of_logits;
    if (input || !is_of_logits(cx, n, &of_logits) || !of_logits) return false;
    const Tensor *x = n->in[0];
    *out = OP_FORMULA(cx, n, "y[*] = (sigmoid(x[*]) - t[*]) * g * factor", BIND_T("x", n->in[0]), BIND_T("t", n->in[1]),
                      BIND_T("g", g[0]), BIND_V("factor", expr_real(cx, x->type, factor_of(cx, n, x))));
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

#define REDUCTION { "reduction", ATTR_TEXT, "mean or sum, over all rows", "mean" }
static const AttrRow entropy_attrs[] = {
    { "of", ATTR_TEXT, "logits, or probabilities", "logits" }, REDUCTION, { 0 }
};
static const AttrRow element_attrs[] = { REDUCTION, { 0 } };

static const OpCase entropy_cases[] = {
    { "", "f32[3][5] f32[3][5]", "f32", NULL },
    { "reduction=sum", "f32[2][3][4] f32[2][3][4]", "f32", NULL },
    { "", "f32[3][5] i32[3]={0,4,2}", "f32", NULL },
    { "", "f32[5] i64={3}", "f32", NULL },
    { "of=probabilities", "f32[2][3]={0.2,0.3,0.5,0.6,0.3,0.1} f32[2][3]", "f32", NULL },
    { "of=probabilities", "f32[2][3]={0.2,0.3,0.5,0.6,0.3,0.1} i32[2]={1,0}", "f32", NULL },
    { "of=odds", "f32[2][3] f32[2][3]", NULL, "use logits or probabilities" },
    { "reduction=none", "f32[2][3] f32[2][3]", NULL, "use mean or sum" },
    { "", "f32[2][3] f32[2][4]", NULL, "the prediction is f32[2][3] and the target f32[2][4]" },
    { 0 }
};
static const OpCase element_cases[] = {
    { "", "f32[3][5] f32[3][5]", "f32", NULL },
    { "reduction=sum", "f32[4] f32[4]", "f32", NULL },
    { "", "f32[4] f32[5]", NULL, "use one type and shape" },
    { 0 }
};
static const OpCase binary_cases[] = {
    { "", "f32[3][5] f32[3][5]", "f32", NULL },
    { "of=probabilities reduction=sum", "f32[4]={0.2,0.5,0.7,0.9} f32[4]={0,1,0.5,1}", "f32", NULL },
    { "", "f32[4] f32[5]", NULL, "use one type and shape" },
    { 0 }
};

#define LOSS(fn, formula_text, attr_rows, case_rows) \
    .name = #fn, .summary = formula_text, .level = 10, .least_inputs = 2, .most_inputs = 2, .inputs = "x t", \
      .attr = attr_rows, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = case_rows

const Op ops_loss[] = {
    { LOSS(cross_entropy, "y = mean(n) sum(c) -t[n,c] * log_softmax(x)[n,c]; or x[n,t[n]] of integer t", entropy_attrs,
           entropy_cases), .gradient.adjoint = cross_entropy_adjoint },
    { LOSS(mse, "y = mean (x - t)^2", element_attrs, element_cases) },
    { LOSS(mae, "y = mean abs(x - t)", element_attrs, element_cases) },
    { LOSS(hinge, "y = mean max(1 - t * x, 0), for t of -1 and 1", element_attrs, element_cases) },
    { LOSS(binary_cross_entropy, "y = mean -(t * log(p) + (1 - t) * log(1 - p)), p = sigmoid(x)", entropy_attrs,
           binary_cases), .gradient.adjoint = binary_adjoint },
    { 0 }
};
