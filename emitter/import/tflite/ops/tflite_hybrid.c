/* SPDX-License-Identifier: MIT */
/* Computes dynamic range: floats times 8-bit weights, on integers. The input of each sample (a row of a dense layer, an
 * image of a convolution) is rounded to 8 bits by its own range, as the reference kernels of TensorFlow Lite do:
 *
 *   symmetric    q = clamp(round(x * (127 / r)), -127, 127), the scale r / 127, r = max |x|
 *   asymmetric   q = clamp(zero + round(x * (1 / scale)), -128, 127), scale = (high - low) / 255,
 *                low = min(x, 0), high = max(x, 0)
 *
 * Rounding before the zero point is added is the order of the reference's vector code, on x86 and ARM. The reference's
 * portable code rounds the sum instead, which has other ties and loses bits of x to the zero point.
 *
 * Weights with a scale for each block of a row (4 bits) have a kernel only in XNNPACK. XNNPACK rounds the rows by the
 * inverse of their scale, ties to even, and adds the blocks' integer sums in floats:
 *
 *   by inverse   q = clamp(zero + nearbyint(x * inverse), -128, 127), inverse = 255 / (high - low)
 *                y[r,o] = (sum(n) scale[o,n] * sum(k) (q[r,n,k] - zero[r]) * w[o,n,k]) * (1 / inverse[r])
 *
 * In the forms with a zero point, the integers are q - zero in 16 bits, so padding is 0. */
#include "import/tflite/ops/tflite_ops.h"

/* Values of the attribute `asymmetric` of dynamic_grid. */
typedef enum Form { SYMMETRIC, ASYMMETRIC, BY_INVERSE } Form;

static Tensor *as(TfliteCall *c, Tensor *x, DType to) { return tflite_call(c, "cast", x, attr_type("to", to)); }

/* The grid of each sample of x (dynamic_grid); the dimensions of a sample have size 1. */
typedef struct Grid { Tensor *scale, *inverse, *zero; } Grid;

static Grid grid_of(TfliteCall *c, Tensor *x, int first_axis, Form form)
{
    int64_t shape[MAX_RANK];
    Tensor *t = tflite_call(c, "dynamic_grid", x, attr_int("first", first_axis),
                            attr_int("asymmetric", form)), *part[3] = { NULL };
    for (int d = 0; d < x->rank; d++) shape[d] = d < first_axis ? tensor_dim(x, d) : 1;
    if (first_axis > 0 && shape[0] < 0) shape[0] = -1;                     /* an open batch */
    for (int i = 0; t && i < t->producer->out_count; i++)
        part[i] = tflite_reshape(c, t->producer->out[i], shape, x->rank);
    return (Grid){ part[0], part[1], part[2] };
}

static Tensor *bounded(TfliteCall *c, Tensor *x, double least, double greatest)
{
    return tflite_call(c, "clip", x, attr_real("min", least), attr_real("max", greatest));
}

bool tflite_is_hybrid(const TfliteCall *c, int x, int w, int channels)
{
    const TfliteTensor *info = tflite_in_info(c, w);
    const Quant *q = info ? info->quant : NULL;
    if (c->file->has_float_hybrid || !q || info->is_blockwise || c->in[x]->type != F32 || c->in[w]->type != I8)
        return false;
    if (q->count > 1 && (q->axis != channels || q->count != tensor_dim(c->in[w], channels))) return false;
    for (int i = 0; i < q->count; i++)
        if (q->zero_point[i]) return false;
    return true;
}

static bool round_rows(TfliteCall *c, Tensor *x, int first_axis, Form form, TfliteHybrid *out)
{
    if (ctx_failed(c->cx)) return false;
    const Grid g = grid_of(c, x, first_axis, form);
    if (ctx_failed(c->cx)) return false;
    Tensor *q = tflite_call(c, form == BY_INVERSE ? "nearbyint" : "round", tflite_call2(c, "mul", x, g.inverse));
    if (g.zero) q = tflite_call2(c, "add", q, g.zero);
    q = bounded(c, q, g.zero ? -128 : -127, 127);
    out->x = g.zero ? as(c, tflite_call2(c, "sub", q, g.zero), I16) : as(c, q, I8);
    out->scale = g.scale;
    return !ctx_failed(c->cx);
}

bool tflite_hybrid_round(TfliteCall *c, Tensor *x, int first_axis, bool is_asymmetric, TfliteHybrid *out)
{
    return round_rows(c, x, first_axis, is_asymmetric ? ASYMMETRIC : SYMMETRIC, out);
}

Tensor *tflite_hybrid_real(TfliteCall *c, Tensor *sums, const TfliteHybrid *h, const Quant *w, bool has_weights_first)
{
    const int64_t count = w->count;
    Tensor *weights = tensor_constant(c->cx, c->name, F32, count > 1 ? 1 : 0, &count, w->scale),
           *real = as(c, sums, F32);
    return has_weights_first ? tflite_call2(c, "mul", tflite_call2(c, "mul", real, weights), h->scale)
                             : tflite_call2(c, "mul", real, tflite_call2(c, "mul", h->scale, weights));
}

bool tflite_is_blockwise_hybrid(const TfliteCall *c, int x, int w)
{
    const TfliteTensor *info = tflite_in_info(c, w);
    return info && info->is_blockwise && !c->file->has_float_hybrid && c->in[x]->type == F32 && c->in[w]->type == I8;
}

Tensor *tflite_blockwise_dense(TfliteCall *c, Tensor *x)
{
    const TfliteTensor *w = tflite_in_info(c, 1);
    const int64_t outs = w->dim[0], each = w->block_size, blocks = w->dim[1] / each;
    int64_t shape[MAX_RANK];
    TfliteHybrid h = { NULL, NULL };
    Tensor *scales = tflite_block_scales(c, 1), *rows = tflite_reshape(c, x, (int64_t[]){ -1, w->dim[1] }, 2);
    if (!scales || !rows || !round_rows(c, rows, 1, BY_INVERSE, &h)) return NULL;
    Tensor *q = tflite_reshape(c, h.x, (int64_t[]){ -1, blocks, each }, 3),
           *k = tflite_reshape(c, c->in[1], (int64_t[]){ outs, blocks, each }, 3);
    q = as(c, tflite_call(c, "transpose", q, attr_list("perm", 1, 0, 2)), I32);
    k = as(c, tflite_call(c, "transpose", k, attr_list("perm", 1, 2, 0)), I32);
    scales = tflite_call(c, "transpose", scales, attr_list("perm", 1, 2, 0));
    if (ctx_failed(c->cx)) return NULL;
    Tensor *sums = tflite_call2(c, "mul", as(c, tflite_call2(c, "matmul", q, k), F32), scales);
    sums = tflite_call2(c, "mul", tflite_call(c, "reduce_sum", sums, attr_list("axes", 0)), h.scale);
    for (int d = 0; d < x->rank; d++) shape[d] = d + 1 < x->rank ? tensor_dim(x, d) : outs;
    if (shape[0] < 0) shape[0] = -1;                                       /* an open batch */
    return tflite_reshape(c, sums, shape, x->rank);
}
