/* SPDX-License-Identifier: MIT */
/* Steps of optimizers compute new values from a parameter x, its gradient g and the optimizer's state. The rate r and
 * the number of steps so far, t, are scalars. With reg = norm * x + g:
 *
 *   momentum_step   v' = alpha * v + (t > 0 ? beta : 1) * reg;  x' = x - r * v', or with nesterov
 *                   x' = x - r * (reg + alpha * v')
 *   adagrad_step    h' = h + reg^2;  x' = x - r / (1 + t * decay) * reg / (sqrt(h') + epsilon)
 *   adam_step       v' = alpha * v + (1 - alpha) * reg;  h' = beta * h + (1 - beta) * reg^2;
 *                   x' = (1 - norm_post) * (x - R * v' / (sqrt(h') + epsilon)),
 *                   R = r * sqrt(1 - beta^t) / (1 - alpha^t), r in step 0
 *
 * Semantics: ONNX, domain ai.onnx.preview.training. Sutskever et al. 2013; Duchi, Hazan, Singer 2011; Kingma, Ba
 * 2014. */
#include "graph/dag/op_build.h"

/* Checks that r and t are scalars, and that the other operands have equal types and shapes. */
static bool check(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[2];
    if (!dtype_is_float(x->type))
        op_refuse(cx, n, "the parameter is %s; use a float type", dtype_info(x->type)->spelling);
    if (n->in[0]->rank || n->in[0]->type != x->type)
        op_refuse(cx, n, "the rate is %s%s; use a scalar of the parameter's type, %s",
                  dtype_info(n->in[0]->type)->spelling, tensor_shape_text(cx, n->in[0]),
                  dtype_info(x->type)->spelling);
    if (n->in[1]->rank || !dtype_is_integer(n->in[1]->type))
        op_refuse(cx, n, "the number of steps is %s%s; use a scalar integer", dtype_info(n->in[1]->type)->spelling,
                  tensor_shape_text(cx, n->in[1]));
    for (int i = 3; i < n->in_count && !ctx_failed(cx); i++) {
        bool same = n->in[i]->type == x->type && n->in[i]->rank == x->rank;
        for (int d = 0; same && d < x->rank; d++) same = n->in[i]->shape[d] == x->shape[d];
        if (!same)
            op_refuse(cx, n, "input %d is %s%s and the parameter %s%s; use one type and shape", i,
                      dtype_info(n->in[i]->type)->spelling, tensor_shape_text(cx, n->in[i]),
                      dtype_info(x->type)->spelling, tensor_shape_text(cx, x));
    }
    return !ctx_failed(cx);
}

/* Names r, x, g, the state and the attributes, and computes the number of steps as a real number and `reg`. */
static bool begin(Ctx *cx, const Node *n, Formulas *f)
{
    static const char *const names[] = { "r", "t", "x", "g", "v", "h" };
    const bool has_one_state = n->in_count == 5;
    *f = (Formulas){ .cx = cx, .call = n };
    if (!check(cx, n)) return false;
    for (int i = 0; i < n->in_count; i++)
        formulas_name(f, (Bind)BIND_T(has_one_state && i == 4 ? "s" : names[i], n->in[i]));
    for (int i = 0; i < n->attr_count; i++)
        if (n->attr[i].kind == ATTR_REAL)
            formulas_name(f, (Bind)BIND_V(n->attr[i].name, expr_real(cx, n->in[2]->type, n->attr[i].real)));
    return formulas_compute(f, OP_TEXT(cx, "steps = type(t)", { "type", dtype_info(n->in[2]->type)->spelling }))
           && formulas_compute(f, "reg[*] = norm * x[*] + g[*]");
}

static int momentum_step(Ctx *cx, const Node *n, Tensor **out)
{
    Formulas f;
    const char *mode = node_text(n, "mode", "standard");
    const bool is_nesterov = text_equal(mode, "nesterov");
    if (!is_nesterov && !text_equal(mode, "standard"))
        op_refuse(cx, n, "'mode' is \"%s\"; use standard or nesterov", mode);
    if (ctx_failed(cx) || !begin(cx, n, &f)) return 0;
    out[1] = formulas_compute(&f, "sum[*] = alpha * s[*] + select(steps > 0, beta, 1) * reg[*]");
    out[0] = formulas_compute(&f, is_nesterov ? "y[*] = x[*] - r * (reg[*] + alpha * sum[*])"
                                              : "y[*] = x[*] - r * sum[*]");
    return out[0] ? 2 : 0;
}

static int adagrad_step(Ctx *cx, const Node *n, Tensor **out)
{
    Formulas f;
    if (!begin(cx, n, &f)) return 0;
    out[1] = formulas_compute(&f, "squares[*] = s[*] + reg[*] * reg[*]");
    out[0] = formulas_compute(&f, "y[*] = x[*] - r / (1 + steps * decay) * reg[*] / (sqrt(squares[*]) + epsilon)");
    return out[0] ? 2 : 0;
}

static int adam_step(Ctx *cx, const Node *n, Tensor **out)
{
    Formulas f;
    if (!begin(cx, n, &f)) return 0;
    out[1] = formulas_compute(&f, "mean[*] = alpha * v[*] + (1 - alpha) * reg[*]");
    out[2] = formulas_compute(&f, "squares[*] = beta * h[*] + (1 - beta) * (reg[*] * reg[*])");
    formulas_compute(&f, "rate = select(steps > 0, r * sqrt(1 - pow(beta, steps)) / (1 - pow(alpha, steps)), r)");
    out[0] = formulas_compute(&f, "y[*] = (1 - norm_post) * (x[*] - rate * mean[*] / (sqrt(squares[*]) + epsilon))");
    return out[0] ? 3 : 0;
}

#define NORM { "norm", ATTR_REAL, "the factor of x that is added to the gradient", "0" }
static const AttrRow momentum_attrs[] = {
    { "alpha", ATTR_REAL, "the factor of the old momentum", "0.9" },
    { "beta", ATTR_REAL, "the factor of the gradient, after the first step", "1" },
    { "mode", ATTR_TEXT, "standard or nesterov", "standard" }, NORM, { 0 }
};
static const AttrRow adagrad_attrs[] = {
    { "decay", ATTR_REAL, "the decay of the rate", "0" }, { "epsilon", ATTR_REAL, "added to the root", "1e-06" }, NORM,
    { 0 }
};
static const AttrRow adam_attrs[] = {
    { "alpha", ATTR_REAL, "the factor of the old mean", "0.9" },
    { "beta", ATTR_REAL, "the factor of the old mean of squares", "0.999" },
    { "epsilon", ATTR_REAL, "added to the root", "1e-06" }, NORM,
    { "norm_post", ATTR_REAL, "the share of the new x that is taken off", "0" }, { 0 }
};

static const OpCase momentum_cases[] = {
    { "alpha=0.95 beta=0.1 norm=0.001", "f32={0.1} i64={0} f32[2]={1.2,2.8} f32[2]={-0.94,-2.5} f32[2]={1.7,3.6}",
      "f32[2]", NULL },
    { "mode=nesterov beta=0.5", "f32={0.1} i64={3} f32[2][3] f32[2][3] f32[2][3]", "f32[2][3]", NULL },
    { "mode=heavy", "f32 i64 f32[2] f32[2] f32[2]", NULL, "use standard or nesterov" },
    { "", "f32[1] i64 f32[2] f32[2] f32[2]", NULL, "the rate is f32[1]" },
    { "", "f32 i64 f32[2] f32[3] f32[2]", NULL, "input 3 is f32[3]" },
    { 0 }
};
static const OpCase adagrad_cases[] = {
    { "decay=0.1 norm=0.001", "f32={0.1} i64={0} f32[1]={1} f32[1]={-1} f32[1]={2}", "f32[1]", NULL },
    { "epsilon=0.1", "f32={0.1} i64={4} f32[2][3] f32[2][3] f32[3]", NULL, "input 4 is f32[3]" },
    { 0 }
};
static const OpCase adam_cases[] = {
    { "alpha=0.95 beta=0.1", "f32={0.1} i64={0} f32[2]={1.2,2.8} f32[2]={-0.94,-2.5} f32[2]={1.7,3.6} f32[2]={0.1,0.1}",
      "f32[2]", NULL },
    { "norm_post=0.1", "f32={0.1} i32={7} f32[3] f32[3] f32[3] f32[3]={1,2,3}", "f32[3]", NULL },
    { 0 }
};

#define STEP(fn, text, names, count, attr_rows, case_rows) \
    .name = #fn, .summary = text, .level = 10, .least_inputs = count, .most_inputs = count, .inputs = names, \
      .attr = attr_rows, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = case_rows

const Op ops_optimizer[] = {
    { STEP(momentum_step, "v' = alpha * v + beta * g; x' = x - r * v'", "r t x g v", 5, momentum_attrs,
           momentum_cases) },
    { STEP(adagrad_step, "h' = h + g^2; x' = x - r * g / (sqrt(h') + epsilon)", "r t x g h", 5, adagrad_attrs,
           adagrad_cases) },
    { STEP(adam_step, "v', h' = means of g and g^2; x' = x - R * v' / (sqrt(h') + epsilon)", "r t x g v h", 6,
           adam_attrs, adam_cases) },
    { 0 }
};
