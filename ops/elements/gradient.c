/* SPDX-License-Identifier: MIT */
/* Calls that request gradients. The pass `gradient` replaces them (graph/differentiate); their computes have the types
 * and shapes of the result only.
 *
 *   d_x, d_w = gradient(loss, x, w)            the adjoints of x and w, for a scalar loss
 *   d_x, d_w = adjoint(y, seed, x, w)          the adjoints of x and w, for a tensor y with the adjoint `seed` */
#include "graph/dag/op_build.h"

static bool is_float(Ctx *cx, const Node *n, int i)
{
    if (dtype_is_float(n->in[i]->type)) return true;
    op_refuse(cx, n, "input %d is %s; use a float type", i, dtype_info(n->in[i]->type)->spelling);
    return false;
}

static int like_inputs(Ctx *cx, const Node *n, int first, Tensor **out)
{
    if (n->in_count - first > MAX_OUTPUTS)
        op_unsupported(cx, n, "it has the adjoints of %d tensors; use at most %d tensors per call",
                       n->in_count - first, MAX_OUTPUTS);
    for (int i = 0; i < n->in_count && !ctx_failed(cx); i++) {
        if (!n->in[i]) op_refuse(cx, n, "input %d is absent", i);
        else if (is_float(cx, n, i) && i >= first)
            out[i - first] = OP_FORMULA(cx, n, "y[*] = x[*]", BIND_T("x", n->in[i]));
    }
    return ctx_failed(cx) ? 0 : n->in_count - first;
}

static int gradient(Ctx *cx, const Node *n, Tensor **out)
{
    if (n->in[0] && tensor_elems(n->in[0]) != 1)
        op_refuse(cx, n, "the first input is %s; use a tensor of one element, or adjoint(y, seed, ...)",
                  tensor_shape_text(cx, n->in[0]));
    return like_inputs(cx, n, 1, out);
}

static int adjoint(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *y = n->in[0], *seed = n->in[1];
    bool same = y && seed && y->type == seed->type && y->rank == seed->rank;
    for (int d = 0; same && d < y->rank; d++) same = y->shape[d] == seed->shape[d];
    if (y && seed && !same)
        op_refuse(cx, n, "the seed is %s%s; use the type and shape of the first input, %s%s",
                  dtype_info(seed->type)->spelling, tensor_shape_text(cx, seed), dtype_info(y->type)->spelling,
                  tensor_shape_text(cx, y));
    return like_inputs(cx, n, 2, out);
}

static const OpCase gradient_cases[] = {
    { "", "f32[2] f32[3]", NULL, "use a tensor of one element" },
    { "", "f32 i32[3]", NULL, "input 1 is i32; use a float type" },
    { 0 }
};
static const OpCase adjoint_cases[] = {
    { "", "f32[2] f32[3] f32[3]", NULL, "the seed is f32[3]" },
    { "", "f32[2] f32[2] i8[3]", NULL, "input 2 is i8; use a float type" },
    { 0 }
};

const Op ops_gradient[] = {
    { .name = "gradient", .summary = "the adjoints of x: the derivatives of the scalar y", .level = 10,
      .least_inputs = 2, .most_inputs = -1, .inputs = "y x", .meaning.compute = gradient,
      .fusion.pattern = PATTERN_OPAQUE, .gradient.role = GRADIENT_OF_SCALAR, .cases = gradient_cases },
    { .name = "adjoint", .summary = "the adjoints of x, given seed, the adjoint of y", .level = 10, .least_inputs = 3,
      .most_inputs = -1, .inputs = "y seed x", .meaning.compute = adjoint, .fusion.pattern = PATTERN_OPAQUE,
      .gradient.role = GRADIENT_OF_SEED, .cases = adjoint_cases },
    { 0 }
};
