/* SPDX-License-Identifier: MIT */
/* Translates normalizations and losses. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

/* The axes of a reduction. */
typedef struct Axes { int64_t at[MAX_RANK]; int count; } Axes;

static Axes axes_from(int first, int rank)
{
    Axes axes = { .count = rank - first };
    for (int i = 0; i < axes.count; i++) axes.at[i] = first + i;
    return axes;
}

static Tensor *mean_of(OnnxCall *c, Tensor *x, const Axes *axes)
{
    return onnx_call(c, "reduce_mean", x, attr_ints("axes", axes->at, axes->count), attr_flag("keepdims", true));
}

static Tensor *with_epsilon(OnnxCall *c, const char *op, Tensor *x, Axes axes)
{
    return onnx_call(c, op, x, attr_ints("axes", axes.at, axes.count),
                     attr_real("epsilon", (double)(float)onnx_real(c, "epsilon", 1e-5)));
}

static Tensor *scale_and_shift(OnnxCall *c, Tensor *y, Tensor *scale, Tensor *bias)
{
    if (scale) y = onnx_call2(c, "mul", y, scale);
    return bias ? onnx_call2(c, "add", y, bias) : y;
}

/* Normalizes over the axes starting at `axis`; computes the mean and 1 / sqrt(var + epsilon) if they are outputs. */
static void layer_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *x = c->in[0];
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), x->rank);
    if (axis < 0) return;
    const Axes axes = axes_from(axis, x->rank);
    c->out[0] = scale_and_shift(c, with_epsilon(c, "standardize", x, axes), c->in[1], onnx_in(c, 2));
    if (c->node->out_count < 2) return;
    Tensor *mean = c->out[1] = mean_of(c, x, &axes);
    Tensor *var = mean_of(c, onnx_call(c, "square", onnx_call2(c, "sub", x, mean)), &axes);
    c->out[2] = onnx_call(c, "rsqrt", onnx_call2(c, "add", var, onnx_scalar_like(c, x, onnx_real(c, "epsilon", 1e-5))));
}

static void rms_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), c->in[0]->rank);
    if (axis >= 0)
        c->out[0] = scale_and_shift(c, with_epsilon(c, "rms_norm", c->in[0], axes_from(axis, c->in[0]->rank)),
                                    c->in[1], NULL);
}

/* Normalizes each channel of each image separately. */
static void instance_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    int rank = c->in[0]->rank;
    if (rank < 3) onnx_refuse(c, "the input is %s; use [n][c][..]", tensor_shape_text(c->cx, c->in[0]));
    else {
        Tensor *shift = onnx_append_ones(c, c->in[2], rank - 2), *scale = onnx_append_ones(c, c->in[1], rank - 2);
        c->out[0] = scale_and_shift(c, with_epsilon(c, "standardize", c->in[0], axes_from(2, rank)), scale, shift);
    }
}

/* Normalizes groups of channels. Scale and bias are per channel; before operator set 21, they are per group. */
static void group_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    Tensor *x = c->in[0];
    int64_t groups = onnx_int(c, "num_groups", 0), channels = x->rank > 2 ? tensor_dim(x, 1) : 0,
            params[3] = { groups, 1, 1 };
    if (!onnx_holds(c, channels >= 1 && x->rank < MAX_RANK, "the input is %s; use [n][c][..] of 3 to %d dimensions",
                    tensor_shape_text(c->cx, x), MAX_RANK - 1)
        || !onnx_holds(c, groups >= 1 && channels % groups == 0, "'num_groups' is %lld; use a divisor of the %lld "
                       "channels", (long long)groups, (long long)channels))
        return;
    bool by_group = tensor_elems(c->in[1]) == groups && groups != channels;
    const Expr *const shape[4] = { x->shape[0], expr_index(c->cx, groups), expr_index(c->cx, channels / groups),
                                   expr_index(c->cx, -1) };
    if (!by_group) params[1] = channels / groups;
    Tensor *y = with_epsilon(c, "standardize", onnx_view(c, x, shape, 4), axes_from(2, 4));
    Tensor *view = onnx_reshape(c, c->in[2], params, 3);
    y = scale_and_shift(c, y, onnx_reshape(c, c->in[1], params, 3), view);
    c->out[0] = y ? view_call(c->cx, c->name, y, x) : NULL;
}

/* Computes (x - mean) / (sqrt(var) + 1e-9). */
static void mean_variance_norm(OnnxCall *c)
{
    Axes axes = { { 0, 2, 3 }, 3 };
    if (!onnx_requires(c, 1)) return;
    const int count = onnx_ints(c, "axes", -1, axes.at, MAX_RANK);
    if (count >= 0) axes.count = count;
    Tensor *x = c->in[0], *centred = onnx_call2(c, "sub", x, mean_of(c, x, &axes));
    Tensor *spread = onnx_call(c, "sqrt", mean_of(c, onnx_call(c, "square", centred), &axes));
    c->out[0] = onnx_call2(c, "div", centred, onnx_call2(c, "add", spread, onnx_scalar_like(c, x, 1e-9)));
}

/* Divides x by the norm; the result is zero if the norm is zero. */
static void lp_norm(OnnxCall *c)
{
    int64_t p = onnx_int(c, "p", 2);
    if (!onnx_requires(c, 1)) return;
    if (p != 1 && p != 2) onnx_refuse(c, "'p' is %lld; use 1 or 2", (long long)p);
    if (!dtype_is_float(c->in[0]->type))
        onnx_refuse(c, "the input is %s; use floats", dtype_info(c->in[0]->type)->spelling);
    Tensor *size = onnx_call(c, p == 1 ? "reduce_l1" : "reduce_l2", c->in[0],
                             attr_list("axes", onnx_int(c, "axis", -1)), attr_flag("keepdims", true));
    Tensor *zero = onnx_scalar_like(c, size, 0), *y = onnx_call2(c, "div", c->in[0], size);
    if (size && y) y = onnx_select(c, onnx_call2(c, "equal", size, zero), zero, y);
    c->out[0] = y;
}

static void lrn(OnnxCall *c)
{
    if (onnx_requires(c, 1))
        c->out[0] = onnx_call(c, "lrn", c->in[0], attr_int("axis", 1), attr_int("size", onnx_int(c, "size", 0)),
                              attr_real("alpha", onnx_real(c, "alpha", 1e-4)),
                              attr_real("beta", onnx_real(c, "beta", 0.75)),
                              attr_real("bias", onnx_real(c, "bias", 1)));
}

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

/* Returns -weight[t] * x[n,t,..] at the target t of each element, and 0 at ignored targets. The weighted mean divides
 * by the sum of the weights. x: logarithms of probabilities, [n][c][..]; target: [n][..]. */
static Tensor *loss(OnnxCall *c, Tensor *x, Tensor *target, Tensor *weight)
{
    const char *reduction = onnx_text(c, "reduction", "mean");
    const Expr *shape[MAX_RANK], *one = expr_index(c->cx, 1);
    int rank = 0;
    if (!x || !target || x->rank < 2 || target->rank != x->rank - 1) {
        onnx_refuse(c, "the scores are %s and the targets %s; use scores [n][classes][..] and targets [n][..]",
                    x ? tensor_shape_text(c->cx, x) : "missing",
                    target ? tensor_shape_text(c->cx, target) : "missing");
        return NULL;
    }
    const OnnxAttr *ignored = onnx_attr(c, "ignore_index");
    Tensor *is_ignored = ignored ? onnx_call2(c, "equal", target, onnx_scalar_like(c, target, (double)ignored->i))
                                 : NULL;
    for (int d = 0; d < target->rank; d++) {
        if (d == 1) shape[rank++] = one;
        shape[rank++] = target->shape[d];
    }
    if (target->rank == 1) shape[rank++] = one;
    Tensor *index = onnx_view(c, target, shape, rank);
    Tensor *y = index ? call(c->cx, "gather_elements", c->name, (Tensor *[]){ x, index }, 2,
                             ATTRS(attr_int("axis", 1))) : NULL;
    y = y ? view_call(c->cx, c->name, onnx_call(c, "neg", y), target) : NULL;
    Tensor *counted = weight ? onnx_call2(c, "gather", weight, target) : NULL;
    if (!counted && is_ignored)
        counted = onnx_call(c, "cast", onnx_call(c, "not", is_ignored), attr_type("to", x->type));
    else if (is_ignored) counted = onnx_select(c, is_ignored, onnx_scalar_like(c, x, 0), counted);
    if (counted) y = onnx_call2(c, "mul", y, counted);
    if (is_ignored && y) y = onnx_select(c, is_ignored, onnx_scalar_like(c, x, 0), y);
    if (strcmp(reduction, "none") == 0) return y;
    if (strcmp(reduction, "sum") == 0) return onnx_call(c, "reduce_sum", y);
    if (strcmp(reduction, "mean") == 0 && !counted) return onnx_call(c, "reduce_mean", y);
    if (strcmp(reduction, "mean") == 0) {
        Tensor *total = onnx_call(c, "reduce_sum", counted);
        return onnx_call2(c, "div", onnx_call(c, "reduce_sum", y), total);
    }
    onnx_refuse(c, "'reduction' is \"%s\"; use none, sum or mean", reduction);
    return NULL;
}

static void nll_loss(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = loss(c, c->in[0], c->in[1], onnx_in(c, 2));
}

static void softmax_loss(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *log_of = onnx_call(c, "log_softmax", c->in[0], attr_int("axis", 1));
    c->out[0] = loss(c, log_of, c->in[1], onnx_in(c, 2));
    c->out[1] = log_of;
}

const OnnxOp onnx_rows_norm[] = {
    { ONNX_ROW("GroupNormalization", 3, "epsilon num_groups stash_type", group_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("InstanceNormalization", 3, "epsilon", instance_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("LRN", 1, "alpha beta bias size", lrn), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("LayerNormalization", 3, "axis epsilon stash_type", layer_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("LpNormalization", 1, "axis p", lp_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("MeanVarianceNormalization", 1, "axes", mean_variance_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("NegativeLogLikelihoodLoss", 3, "ignore_index reduction", nll_loss), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("RMSNormalization", 2, "axis epsilon stash_type", rms_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("SimplifiedLayerNormalization", 2, "axis epsilon stash_type", rms_norm), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("SoftmaxCrossEntropyLoss", 3, "ignore_index reduction", softmax_loss), .open.keeps = KEEPS_ALL },
    { 0 }
};
