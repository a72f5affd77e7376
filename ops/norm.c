/* SPDX-License-Identifier: MIT */
/* Normalization in its inference form: a scale and a shift for each channel, the last axis.
 *
 *   batch_norm   y = x * m + (bias - mean * m),   m[c] = scale[c] / sqrt(var[c] + epsilon) */
#include "graph/op_build.h"

static bool check(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[0];
    if (!op_float(cx, n) || !op_same_type(cx, n)) return false;
    for (int i = 1; i < 5; i++) {
        const Tensor *p = n->in[i];
        if (x->rank >= 1 && p->rank == 1 && p->shape[0] == x->shape[x->rank - 1]) continue;
        op_refuse(cx, n, "input %d is %s, but the input %s needs one value for each channel", i, tensor_shape_text(cx, p), tensor_shape_text(cx, x));
        return false;
    }
    return true;
}

static int batch_norm(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check(cx, n)) return 0;
    const Expr *epsilon = expr_real(cx, n->in[0]->type, node_real(n, "epsilon", 0));
    Tensor *m = OP_FORMULA(cx, n, "scale[*] = scale[*] / sqrt(var[*] + epsilon)", BIND_T("scale", n->in[1]), BIND_T("var", n->in[4]),
                           BIND_V("epsilon", epsilon));
    Tensor *shift = OP_FORMULA(cx, n, "shift[*] = bias[*] - mean[*] * m[*]", BIND_T("bias", n->in[2]), BIND_T("mean", n->in[3]), BIND_T("m", m));
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*] * m[*] + shift[*]", BIND_T("x", n->in[0]), BIND_T("m", m), BIND_T("shift", shift));
    return out[0] ? 1 : 0;
}

/* The same as calls, so that constants fold and the scale may go into the weights before it. */
static Tensor *batch_norm_simpler(Ctx *cx, const Node *n)
{
    for (int i = 1; i < 5; i++)
        if (!tensor_is_constant(n->in[i])) return NULL;
    Tensor *epsilon = tensor_scalar(cx, "epsilon", n->in[0]->type, node_real(n, "epsilon", 0));
    Tensor *spread = call(cx, "add", n->name, (Tensor *[]){ n->in[4], epsilon }, 2, "");
    Tensor *root = call(cx, "sqrt", n->name, &spread, 1, "");
    Tensor *m = call(cx, "div", n->name, (Tensor *[]){ n->in[1], root }, 2, "");
    Tensor *moved = call(cx, "mul", n->name, (Tensor *[]){ n->in[3], m }, 2, "");
    Tensor *shift = call(cx, "sub", n->name, (Tensor *[]){ n->in[2], moved }, 2, "");
    Tensor *scaled = call(cx, "mul", n->name, (Tensor *[]){ n->in[0], m }, 2, "");
    return call(cx, "add", n->name, (Tensor *[]){ scaled, shift }, 2, "");
}

static const AttrRow batch_norm_attrs[] = { { "epsilon", ATTR_REAL, "added to the variance", "1e-05" }, { 0 } };
static const OpCase batch_norm_cases[] = {
    { "", "f32[1][2][3][4] f32[4] f32[4] f32[4] f32[4]={0.5,1,2,0.25}", "f32[1][2][3][4]", NULL },
    { "epsilon=0.001", "f32[3][2] f32[2] f32[2] f32[2] f32[2]={1,3}", "f32[3][2]", NULL },
    { "", "f32[1][2][3][4] f32[4] f32[3] f32[4] f32[4]", NULL, "input 2 is [3]" },
    { "", "i32[2][4] i32[4] i32[4] i32[4] i32[4]", NULL, "a float type is wanted" },
    { 0 }
};

const Op ops_norm[] = {
    { .name = "batch_norm", .summary = "y[..,c] = (x[..,c] - mean[c]) * scale[c] / sqrt(var[c] + epsilon) + bias[c]", .level = 1,
      .pattern = PATTERN_OPAQUE, .least_inputs = 5, .most_inputs = 5, .inputs = "x scale bias mean var", .attr = batch_norm_attrs,
      .compute = batch_norm, .simplify = batch_norm_simpler, .cases = batch_norm_cases },
    { 0 }
};
