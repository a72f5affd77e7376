/* SPDX-License-Identifier: MIT */
/* Translates the domain ai.onnx.preview.training: gradients within the graph, and optimizer steps for several
 * parameters. */
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

#define DOMAIN "ai.onnx.preview.training."

/* ---- Gradient ---------------------------------------------------------------------------------------------------- */

/* Checks that the inputs are the tensors that `xs` and `zs` name, because the gradient is computed at the values that
 * they have in the graph. */
static bool check_names(OnnxCall *c, const OnnxAttr *names, int first)
{
    const int count = names ? names->text_count : 0;
    for (int i = 0; i < count && first + i < c->node->in_count; i++)
        if (!text_equal(names->texts[i], c->node->in[first + i]))
            onnx_unsupported(c, "the gradient with respect to \"%s\" is taken at the value \"%s\"; pass \"%s\" itself",
                             names->texts[i], c->node->in[first + i], names->texts[i]);
    return !ctx_failed(c->cx);
}

static void gradient(OnnxCall *c)
{
    const OnnxAttr *xs = onnx_attr(c, "xs"), *zs = onnx_attr(c, "zs");
    const char *of = onnx_text(c, "y", NULL);
    const int count = xs ? xs->text_count : 0;
    if (!of || !count) onnx_refuse(c, "the attribute '%s' is missing", of ? "xs" : "y");
    else if (count > MAX_OUTPUTS)
        onnx_unsupported(c, "the gradient is with respect to %d tensors; use at most %d tensors", count, MAX_OUTPUTS);
    if (ctx_failed(c->cx) || !onnx_requires(c, count) || !check_names(c, xs, 0) || !check_names(c, zs, count)) return;
    Tensor *in[MAX_OUTPUTS + 1] = { onnx_scope_value(c->scope, of) };
    if (!in[0]) onnx_refuse(c, "no node produces the value \"%s\" of 'y'", of);
    for (int i = 0; i < count; i++) in[1 + i] = c->in[i];
    Tensor *first = ctx_failed(c->cx) ? NULL : call(c->cx, "gradient", c->name, in, count + 1, NULL);
    for (int i = 0; first && i < count; i++) c->out[i] = first->producer->out[i];
}

/* ---- Optimizers -------------------------------------------------------------------------------------------------- */

static Tensor *scalar_of(OnnxCall *c, Tensor *t) { return t->rank ? onnx_reshape(c, t, NULL, 0) : t; }

/* Translates the steps of an optimizer. The inputs are R, T, and then the lists X, G and the states of all parameters;
 * the outputs are X and the states. */
static void steps(OnnxCall *c, int states, const Attr *attrs)
{
    const int lists = 2 + states, count = (c->in_count - 2) / lists;
    if (!onnx_requires(c, 2 + lists)) return;
    if (c->in_count != 2 + count * lists || count * (1 + states) > ONNX_OUTPUTS) {
        onnx_refuse(c, "it has %d inputs; use the rate, the step and %d inputs for each of at most %d parameters",
                    c->in_count, lists, ONNX_OUTPUTS / (1 + states));
        return;
    }
    if (!onnx_requires(c, c->in_count)) return;
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        Tensor *scalar = scalar_of(c, c->in[0]);
        Tensor *in[6] = { scalar, scalar_of(c, c->in[1]) };
        for (int k = 0; k < lists; k++) in[2 + k] = c->in[2 + k * count + i];
        Tensor *first = call(c->cx, c->op_name, c->name, in, 2 + lists, attrs);
        for (int k = 0; first && k <= states; k++) c->out[k * count + i] = first->producer->out[k];
    }
}

static Attr real(const OnnxCall *c, const char *its_name, const char *foreign, double otherwise)
{
    return attr_real(its_name, onnx_real(c, foreign, otherwise));
}

static void momentum(OnnxCall *c)
{
    steps(c, 1, ATTRS(real(c, "alpha", "alpha", 0.9), real(c, "beta", "beta", 1),
                      real(c, "norm", "norm_coefficient", 0), attr_word("mode", onnx_text(c, "mode", "standard"))));
}

static void adagrad(OnnxCall *c)
{
    steps(c, 1, ATTRS(real(c, "decay", "decay_factor", 0), real(c, "epsilon", "epsilon", 1e-6),
                      real(c, "norm", "norm_coefficient", 0)));
}

static void adam(OnnxCall *c)
{
    steps(c, 2, ATTRS(real(c, "alpha", "alpha", 0.9), real(c, "beta", "beta", 0.999),
                      real(c, "epsilon", "epsilon", 1e-6), real(c, "norm", "norm_coefficient", 0),
                      real(c, "norm_post", "norm_coefficient_post", 0)));
}

const OnnxOp onnx_rows_training[] = {
    { ONNX_AS(DOMAIN "Adagrad", ONNX_ANY, "decay_factor epsilon norm_coefficient", "adagrad_step", adagrad) },
    { ONNX_AS(DOMAIN "Adam", ONNX_ANY, "alpha beta epsilon norm_coefficient norm_coefficient_post", "adam_step",
      adam) },
    { ONNX_AS(DOMAIN "Gradient", ONNX_ANY, "xs y zs", "gradient", gradient), .value_attr = "y" },
    { ONNX_AS(DOMAIN "Momentum", ONNX_ANY, "alpha beta mode norm_coefficient", "momentum_step", momentum) },
    { 0 }
};
