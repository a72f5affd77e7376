/* SPDX-License-Identifier: MIT */
/* Translates convolutions, pools, and dense layers. Channels are last, as in the file; kernels are [o][kh][kw][c],
 * depthwise [1][kh][kw][c*m], dense [o][k]. */
#include <string.h>

#include "import/tflite/ops/tflite_rows.h"

enum { PADDING_SAME, PADDING_VALID };
enum { CONV_PADDING, CONV_STRIDE_W, CONV_STRIDE_H, CONV_ACTIVATION, CONV_DILATION_W, CONV_DILATION_H };
enum { DEPTHWISE_MULTIPLIER = 3, DEPTHWISE_ACTIVATION, DEPTHWISE_DILATION_W, DEPTHWISE_DILATION_H };
enum { POOL_PADDING, POOL_STRIDE_W, POOL_STRIDE_H, POOL_WIDTH, POOL_HEIGHT, POOL_ACTIVATION };
enum { DENSE_ACTIVATION, DENSE_FORMAT, DENSE_KEEPS_DIMS, DENSE_ASYMMETRIC };
enum { OPTIONS_CONV = 1, OPTIONS_DEPTHWISE = 2, OPTIONS_POOL = 5, OPTIONS_DENSE = 8 };
enum { MOST = 1 << 20 };

/* Windows over the dimensions h and w; pad: top, left, bottom, right. */
typedef struct TfliteWindows { int64_t kernel[2], stride[2], dilation[2], pad[4]; } TfliteWindows;

static int64_t option(const TfliteCall *c, int field, int64_t otherwise)
{
    return flat_int(&c->op->options, field, 4, otherwise);
}
static int activation(const TfliteCall *c, int field) { return (int)flat_int(&c->op->options, field, 1, ACT_NONE); }

/* Computes the padding along one dimension, of windows that span `span` elements. SAME has ceil(size / stride) windows
 * and pads both sides equally, with an odd element at the end. */
static void window_pads(bool is_same, int64_t size, int64_t span, int64_t stride, int64_t *before, int64_t *after)
{
    const int64_t total = is_same ? ((size + stride - 1) / stride - 1) * stride + span - size : 0;
    *before = total > 0 ? total / 2 : 0;
    *after = total > 0 ? total - total / 2 : 0;
}

static bool finish_windows(TfliteCall *c, TfliteWindows *w)
{
    int64_t padding = flat_int(&c->op->options, CONV_PADDING, 1, PADDING_SAME);
    for (int d = 0; d < 2; d++) {
        int64_t size = tensor_dim(c->in[0], 1 + d), k = w->kernel[d], s = w->stride[d], step = w->dilation[d];
        if (!tflite_holds(c, k >= 1 && k <= MOST, "it has a kernel of %lld; use 1 to %d", (long long)k, MOST)
            || !tflite_holds(c, s >= 1 && s <= MOST, "it has a stride of %lld; use 1 to %d", (long long)s, MOST)
            || !tflite_holds(c, step >= 1 && step <= MOST, "it has a dilation of %lld; use 1 to %d", (long long)step,
                             MOST)
            || !tflite_holds(c, padding == PADDING_SAME || padding == PADDING_VALID, "it has the padding %lld; use "
                             "SAME (0) or VALID (1)", (long long)padding))
            return false;
        window_pads(padding == PADDING_SAME, size, (k - 1) * step + 1, s, &w->pad[d], &w->pad[2 + d]);
    }
    return true;
}

/* ---- From sums to the output ------------------------------------------------------------------------------------- */

static bool check_bias(TfliteCall *c, int64_t channels, DType sums)
{
    const Tensor *b = tflite_in(c, 2);
    const bool may_be_wide = sums == I32 && tflite_is_int16(c);
    if (!b || ((b->type == sums || (may_be_wide && b->type == I64)) && tensor_elems(b) == channels)) return true;
    tflite_refuse(c, "the bias is %s%s; use %s[%lld]%s", dtype_info(b->type)->spelling,
                  tensor_shape_text(c->cx, b), dtype_info(sums)->spelling, (long long)channels,
                  may_be_wide ? ", or i64" : "");
    return false;
}

/* ---- 64-bit sums --------------------------------------------------------------------------------------------- */

/* Returns true if the reference has 64-bit sums: 16-bit inputs without a bias, or with a 64-bit bias. */
static bool has_wide_bias(const TfliteCall *c)
{
    return tflite_is_int16(c) && (!tflite_in(c, 2) || c->in[2]->type == I64);
}

bool tflite_sums_fit(const Tensor *w, const Tensor *bias, int64_t channels, int64_t stride)
{
    if (!tensor_is_constant(w) || w->type != I8 || channels < 1) return false;
    if (bias && (!tensor_is_constant(bias) || tensor_elems(bias) != channels)) return false;
    const int64_t each = tensor_elems(w) / channels;
    for (int64_t o = 0; o < channels; o++) {
        const int64_t b = bias ? dtype_load(bias->type, bias->data, o).i : 0;
        int64_t sum = 0;
        if (b > INT32_MAX || b < -INT32_MAX) return false;
        for (int64_t i = 0; i < each; i++) {
            const int64_t v = dtype_load(I8, w->data, stride == 1 ? o * each + i : o + i * stride).i;
            sum += v < 0 ? -v : v;
        }
        if (sum > (INT32_MAX - (b < 0 ? -b : b)) / -INT16_MIN) return false;
    }
    return true;
}

/* Returns a 64-bit constant whose elements fit 32 bits as i32. */
static Tensor *narrow_bias(TfliteCall *c, const Tensor *b)
{
    int64_t count = tensor_elems(b);
    int32_t *value = NEW_ARRAY(c->cx->arena, int32_t, count);
    for (int64_t i = 0; i < count; i++) value[i] = (int32_t)dtype_load(I64, b->data, i).i;
    return tensor_constant(c->cx, b->name, I32, 1, &count, value);
}

/* fits: true if the sums with the bias fit 32 bits. A 64-bit bias is then narrowed; otherwise the sums are widened. */
static Tensor *add_bias(TfliteCall *c, Tensor *sums, bool fits)
{
    Tensor *b = tflite_in(c, 2);
    const bool is_wider = b && b->type == I64 && sums && sums->type != I64;
    if (is_wider && fits) b = narrow_bias(c, b);
    else if (is_wider) sums = tflite_call(c, "cast", sums, attr_type("to", I64));
    return b ? tflite_call2(c, "add", sums,
                            b->rank == 1 ? b : tflite_call(c, "reshape", b, attr_list("shape", tensor_elems(b))))
             : sums;
}

/* Returns the product of the scales. The UINT8 reference computes this product in floats; the references of the other
 * types compute it in doubles. */
static double product_of_scales(const TfliteCall *c, float x, float w)
{
    return c->is_unsigned ? (double)(x * w) : (double)x * (double)w;
}

/* Requantizes a convolution per channel. */
static Tensor *requantize_channels(TfliteCall *c, Tensor *sums, int64_t channels, int act)
{
    const TfliteTensor *x = tflite_in_info(c, 0), *k = tflite_in_info(c, 1), *y = tflite_out_info(c, 0);
    int count = k->quant->count;
    double *scales = NEW_ARRAY(c->cx->arena, double, count);
    if (count != 1 && count != channels) {
        tflite_refuse(c, "the weights have %d scales for %lld channels; use one scale, or one per channel", count,
                      (long long)channels);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        scales[i] = product_of_scales(c, tflite_scale(x), k->quant->scale[i]) / (double)tflite_scale(y);
    return (has_wide_bias(c) ? tflite_requantize_wide : tflite_requantize)(c, sums, scales, count, act);
}

static bool has_quants(TfliteCall *c)
{
    return tflite_has_factor(c, 0) && tflite_has_quant(c, tflite_in_info(c, 1), true)
           && tflite_has_quant(c, tflite_out_info(c, 0), false);
}

/* Refuses weights of convolutions whose zero points are not 0; the older quantization allows any zero point. */
static bool has_symmetric_weights(TfliteCall *c)
{
    const Quant *q = tflite_in_info(c, 1)->quant;
    if (c->is_unsigned && q->count == 1) return true;
    for (int i = 0; i < q->count; i++)
        if (q->zero_point[i]) {
            tflite_unsupported(c, "it has weights with the zero point %ld; use zero points of 0",
                                  (long)q->zero_point[i]);
            return false;
        }
    return true;
}

/* Rounds the floats of an image to 8 bits. If the weights are not multiplied on integers, dequantizes them instead. */
static bool begin_hybrid(TfliteCall *c, int channels, bool is_asymmetric, TfliteHybrid *h)
{
    *h = (TfliteHybrid){ NULL, NULL };
    if (!tflite_is_hybrid(c, 0, 1, channels)) return tflite_real_weights(c);
    return tflite_hybrid_round(c, c->in[0], 1, is_asymmetric, h);
}

/* Computes the sums with `op`, adds the bias, and applies the activation or requantizes. k is in the layout of `op`;
 * groups is 0 if there are none. */
static void finish_convolution(TfliteCall *c, const char *op, Tensor *k, const TfliteWindows *w, int64_t groups,
                               int act, const TfliteHybrid *h)
{
    bool is_int = tflite_is_quantized(c);
    int64_t channels = k ? tensor_dim(k, k->rank - 1) : 0;
    if (!k || !check_bias(c, channels, is_int ? I32 : F32)) return;
    if (is_int && (!has_quants(c) || !has_symmetric_weights(c))) return;
    const int zero = is_int ? tflite_zero(tflite_in_info(c, 0)) : 0,
              zero_w = c->is_unsigned ? tflite_zero(tflite_in_info(c, 1)) : 0;
    const bool is_wide = has_wide_bias(c) && !tflite_sums_fit(c->in[1], NULL, channels, groups ? 1 : channels);
    Tensor *sums = tflite_call2(c, op, h->x ? h->x : c->in[0], k, attr_ints("stride", w->stride, 2),
                                attr_ints("dilation", w->dilation, 2), attr_ints("pad", w->pad, 4),
                                attr_if(groups, attr_int("groups", groups)),
                                attr_if(tflite_is_int8(c), attr_int("zero", zero)),
                                attr_if(zero_w, attr_int("zero_w", zero_w)),
                                attr_if(is_wide, attr_flag("wide", true)));
    const Quant *weights = tflite_in_info(c, 1)->quant;
    if (h->x) sums = tflite_hybrid_real(c, sums, h, weights, groups && weights->count > 1);
    sums = add_bias(c, sums, is_int && tflite_sums_fit(c->in[1], tflite_in(c, 2), channels, groups ? 1 : channels));
    c->out[0] = is_int ? requantize_channels(c, sums, channels, act) : tflite_activate(c, sums, act);
}

/* ---- Convolutions ------------------------------------------------------------------------------------------------ */

static bool is_image(TfliteCall *c)
{
    if (c->in[0]->rank == 4 && c->in[1]->rank == 4 && tensor_elems(c->in[0]) != 0 && tensor_elems(c->in[1]) > 0)
        return true;
    tflite_refuse(c, "the input is %s and the kernel %s; use four dimensions each",
                  tensor_shape_text(c->cx, c->in[0]), tensor_shape_text(c->cx, c->in[1]));
    return false;
}

static TfliteWindows conv_windows(const TfliteCall *c, int dilation_w)
{
    return (TfliteWindows){ .kernel = { tensor_dim(c->in[1], 1), tensor_dim(c->in[1], 2) },
                      .stride = { option(c, CONV_STRIDE_H, 0), option(c, CONV_STRIDE_W, 0) },
                      .dilation = { option(c, dilation_w + 1, 1), option(c, dilation_w, 1) } };
}

static void conv_2d(TfliteCall *c)
{
    TfliteHybrid h;
    if (!tflite_needs(c, 2) || !is_image(c)) return;
    const TfliteTensor *info = tflite_in_info(c, 1);
    if (!begin_hybrid(c, 0, info->quant && info->quant->count > 1, &h)) return;
    TfliteWindows w = conv_windows(c, CONV_DILATION_W);
    int64_t channels = tensor_dim(c->in[0], 3), each = tensor_dim(c->in[1], 3);
    if (!finish_windows(c, &w)) return;
    Tensor *k = tflite_call(c, "transpose", c->in[1], attr_list("perm", 1, 2, 3, 0));
    finish_convolution(c, "conv2d", k, &w, channels / each > 0 ? channels / each : 1, activation(c, CONV_ACTIVATION),
                       &h);
}

static void depthwise_conv_2d(TfliteCall *c)
{
    TfliteHybrid h;
    if (!tflite_needs(c, 2) || !is_image(c) || !begin_hybrid(c, 3, true, &h)) return;
    TfliteWindows w = conv_windows(c, DEPTHWISE_DILATION_W);
    int64_t shape[3] = { w.kernel[0], w.kernel[1], tensor_dim(c->in[1], 3) };
    if (tensor_dim(c->in[1], 0) != 1)
        tflite_refuse(c, "the kernel is %s; use a kernel [1][kh][kw][c]", tensor_shape_text(c->cx, c->in[1]));
    if (ctx_failed(c->cx) || !finish_windows(c, &w)) return;
    finish_convolution(c, "depthwise_conv2d", tflite_reshape(c, c->in[1], shape, 3), &w, 0,
                       activation(c, DEPTHWISE_ACTIVATION), &h);
}

/* ---- Dense ------------------------------------------------------------------------------------------------------- */

/* Flattens all dimensions but the last to rows, unless the output keeps them. */
static Tensor *as_rows(TfliteCall *c, int64_t each)
{
    Tensor *x = c->in[0];
    bool keeps = flat_int(&c->op->options, DENSE_KEEPS_DIMS, 1, 0) != 0;
    if (keeps || x->rank == 2 || each < 1) return x;
    return tflite_reshape(c, x, (int64_t[]){ -1, each }, 2);
}

/* Requantizes a dense layer; the product of the scales is computed in floats, or in doubles if it is per channel. The
 * UINT8 reference also multiplies the sum in doubles, and rounds once, ties away from zero. */
static Tensor *requantize_dense(TfliteCall *c, Tensor *sums, int64_t channels, int act, bool is_wide)
{
    const TfliteTensor *x = tflite_in_info(c, 0), *w = tflite_in_info(c, 1), *y = tflite_out_info(c, 0);
    if (w->quant->count > 1) return requantize_channels(c, sums, channels, act);
    if (c->is_unsigned)
        return tflite_requantize_once(c, sums, (double)tflite_scale(x) * (double)tflite_scale(w)
                                               / (double)tflite_scale(y), act);
    const float product = tflite_scale(x) * tflite_scale(w);
    const double scale = (double)product / (double)tflite_scale(y);
    return (is_wide ? tflite_requantize_wide : tflite_requantize)(c, sums, &scale, 1, act);
}

static void blockwise_dense(TfliteCall *c, int act)
{
    Tensor *x = as_rows(c, tensor_dim(c->in[1], 1));
    if (!x || !check_bias(c, tensor_dim(c->in[1], 0), F32)) return;
    if (tensor_dim(x, x->rank - 1) != tensor_dim(c->in[1], 1)) {
        tflite_refuse(c, "the input is %s, the weights %s; use equal last dimensions",
                      tensor_shape_text(c->cx, x), tensor_shape_text(c->cx, c->in[1]));
        return;
    }
    Tensor *sums = tflite_blockwise_dense(c, x);
    if (sums) c->out[0] = tflite_activate(c, add_bias(c, sums, false), act);
}

static void fully_connected(TfliteCall *c)
{
    Ctx *cx = c->cx;
    int act = activation(c, DENSE_ACTIVATION);
    if (!tflite_needs(c, 2)) return;
    if (flat_int(&c->op->options, DENSE_FORMAT, 1, 0) != 0)
        tflite_unsupported(c, "it has weights of the format SHUFFLED4x16INT8; use DEFAULT");
    if (c->in[1]->rank != 2) tflite_refuse(c, "the weights are %s; use weights [o][k]",
                                              tensor_shape_text(cx, c->in[1]));
    TfliteHybrid h = { NULL, NULL };
    if (!ctx_failed(cx) && tflite_is_blockwise_hybrid(c, 0, 1)) {
        blockwise_dense(c, act);
        return;
    }
    const bool is_hybrid = !ctx_failed(cx) && tflite_is_hybrid(c, 0, 1, 0);
    if (ctx_failed(cx) || (!is_hybrid && !tflite_real_weights(c))) return;
    const bool is_int = tflite_is_quantized(c), is_int8 = tflite_is_int8(c), has_wide = has_wide_bias(c);
    int64_t channels = tensor_dim(c->in[1], 0);
    Tensor *x = as_rows(c, tensor_dim(c->in[1], 1)), *w = tflite_call(c, "transpose", c->in[1],
                                                                      attr_list("perm", 1, 0));
    if (!x || !w || !check_bias(c, channels, is_int ? I32 : F32) || (is_int && !has_quants(c))) return;
    const bool is_per_channel = is_int && tflite_in_info(c, 1)->quant->count > 1;
    if ((tflite_is_int16(c) || is_per_channel) && !has_symmetric_weights(c)) return;
    if (is_hybrid
        && !tflite_hybrid_round(c, x, x->rank - 1, flat_int(&c->op->options, DENSE_ASYMMETRIC, 1, 0) != 0, &h))
        return;
    const int zero = is_int ? tflite_zero(tflite_in_info(c, 0)) : 0,
              zero_w = is_int ? tflite_zero(tflite_in_info(c, 1)) : 0;
    const bool is_wide = has_wide && !tflite_sums_fit(c->in[1], NULL, channels, 1);
    Tensor *sums = tflite_call2(c, "dense", h.x ? h.x : x, w, attr_if(is_int8, attr_int("zero", zero)),
                                attr_if(is_int8, attr_int("zero_w", zero_w)),
                                attr_if(is_wide, attr_flag("wide", true)));
    if (h.x) sums = tflite_hybrid_real(c, sums, &h, tflite_in_info(c, 1)->quant, false);
    sums = add_bias(c, sums, is_int && tflite_sums_fit(c->in[1], tflite_in(c, 2), channels, 1));
    c->out[0] = is_int ? requantize_dense(c, sums, channels, act, has_wide) : tflite_activate(c, sums, act);
}

/* Translates BATCH_MATMUL. Leading dimensions broadcast; an adjoint operand is transposed. Sums of 16-bit products have
 * 64 bits. Rows of floats are rounded to 8 bits if the other operand is stored in 8 bits. */
static void batch_matmul(TfliteCall *c)
{
    enum { ADJ_X, ADJ_Y };
    Tensor *side[2];
    TfliteHybrid h = { NULL, NULL };
    if (!tflite_needs(c, 2)) return;
    const bool is_int = tflite_is_quantized(c), is_int16 = tflite_is_int16(c);
    if (is_int && c->in[1]->type != c->in[0]->type)
        tflite_unsupported(c, "the inputs have the types %s and %s; use one type",
                           dtype_info(c->in[0]->type)->spelling, dtype_info(c->in[1]->type)->spelling);
    if (ctx_failed(c->cx) || (is_int && !tflite_has_quants(c, 2))) return;
    const bool is_hybrid = !is_int && tflite_is_hybrid(c, 0, 1, -1);
    if (!is_int && !is_hybrid && !tflite_real_weights(c)) return;
    for (int i = 0; i < 2; i++) {
        int64_t perm[MAX_RANK];
        int rank = c->in[i]->rank;
        if (rank < 2) {
            tflite_refuse(c, "operand %d is %s; use matrices", i, tensor_shape_text(c->cx, c->in[i]));
            return;
        }
        for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
        side[i] = is_int16 ? tflite_call(c, "cast", c->in[i], attr_type("to", I64))
                  : is_int ? tflite_difference(c, i) : c->in[i];
        if (flat_int(&c->op->options, i ? ADJ_Y : ADJ_X, 1, 0))
            side[i] = tflite_call(c, "transpose", side[i], attr_ints("perm", perm, rank));
    }
    if (is_hybrid) {
        enum { ASYMMETRIC = 2 };
        const bool is_asymmetric = flat_int(&c->op->options, ASYMMETRIC, 1, 0) != 0;
        if (!side[0] || !side[1] || !tflite_hybrid_round(c, side[0], side[0]->rank - 1, is_asymmetric, &h)) return;
        side[0] = tflite_call(c, "cast", h.x, attr_type("to", I32));
        side[1] = tflite_call(c, "cast", side[1], attr_type("to", I32));
    }
    Tensor *sums = tflite_call2(c, "matmul", side[0], side[1]);
    if (is_hybrid) c->out[0] = tflite_hybrid_real(c, sums, &h, tflite_in_info(c, 1)->quant, false);
    else c->out[0] = is_int ? requantize_dense(c, sums, 1, ACT_NONE, is_int16) : sums;
}

/* ---- Transposed -------------------------------------------------------------------------------------------------- */

/* Reads the result's shape. An operand that is not constant has the layout of the file; TensorFlow Lite Micro requires
 * this. */
static bool result_shape(TfliteCall *c, int64_t *shape)
{
    const TfliteTensor *y = tflite_out_info(c, 0);
    bool is_stored = !tensor_is_constant(c->in[0]) && y->rank == 4;
    for (int d = 0; d < 4 && is_stored; d++) {
        shape[d] = y->dim[d];
        is_stored = !y->is_open[d] && shape[d] > 0;
    }
    return is_stored || tflite_ints(c, 0, shape, 4) == 4;
}

/* Computes, for one dimension, the number of elements that are cut before and after the whole result, and the number of
 * missing elements after it. */
static bool transposed_pads(TfliteCall *c, bool is_same, int64_t stride, int64_t size, int64_t kernel, int64_t out,
                            int64_t *before, int64_t *after, int64_t *extra)
{
    if (!tflite_holds(c, stride >= 1 && stride <= MOST, "it has a stride of %lld; use 1 to %d", (long long)stride, MOST)
        || !tflite_holds(c, out >= 1, "it has an output size of %lld; use 1 or more", (long long)out))
        return false;
    const int64_t count = is_same ? (out + stride - 1) / stride : (out - kernel + stride) / stride,
                  total = (count - 1) * stride + kernel - out;
    *before = total > 0 ? total / 2 : 0;
    const int64_t rest = (size - 1) * stride + kernel - *before - out;
    *after = rest > 0 ? rest : 0;
    *extra = rest < 0 ? -rest : 0;
    return true;
}

/* Convolves rounded floats with 8-bit weights. The reference adds products in floats, so the order of the sums
 * determines the bits. */
static Tensor *transposed_hybrid(TfliteCall *c, const TfliteHybrid *h, Tensor *k, const Attr *attrs)
{
    const Quant *q = tflite_in_info(c, 1)->quant;
    const int64_t count = tensor_dim(k, 3), samples = tensor_dim(h->x, 0);
    float *scale = NEW_ARRAY(c->cx->arena, float, (int)count);
    for (int64_t o = 0; o < count; o++) scale[o] = q->scale[q->count > 1 ? o : 0];
    Tensor *constant = tensor_constant(c->cx, c->name, F32, 1, &count, scale);
    Tensor *in[] = { h->x, k, constant, tflite_reshape(c, h->scale, (int64_t[]){ samples < 0 ? -1 : samples }, 1) };
    return ctx_failed(c->cx) ? NULL : call(c->cx, "conv2d_transpose_hybrid", c->name, in, 4, attrs);
}

/* The inputs are the shape of the result, k [o][kh][kw][c], x, and a bias that may be absent. The inputs are reordered
 * to the inputs of a convolution, which lowers the remainder. */
static void transpose_conv(TfliteCall *c)
{
    enum { PADDING, STRIDE_W, STRIDE_H, ACTIVATION };
    int64_t shape[4], pad[4], extra[2];
    if (!tflite_needs(c, 3) || c->in[1]->rank != 4 || c->in[2]->rank != 4 || !result_shape(c, shape)) {
        if (!ctx_failed(c->cx))
            tflite_refuse(c, "its operands have unsupported shapes; use four integers as operand 0, and weights and an "
                             "input of four dimensions");
        return;
    }
    TfliteHybrid h = { NULL, NULL };
    if (tflite_is_hybrid(c, 2, 1, 0)) tflite_hybrid_round(c, c->in[2], 1, true, &h);
    else if (c->in[2]->type == F32 && c->in[1]->type == I8) c->in[1] = tflite_real(c, 1);
    if (ctx_failed(c->cx)) return;
    Tensor *x = c->in[2], *k = c->in[1], *bias = tflite_in(c, 3);
    if (!k) return;
    TfliteOperator op = *c->op;
    int order[3] = { op.in[2], op.in[1], op.in_count > 3 ? op.in[3] : -1 };
    TfliteCall as_conv = *c;
    as_conv.op = &op;
    op.in = order;
    op.in_count = 3;
    as_conv.in = (Tensor *[]){ x, k, bias };
    as_conv.in_count = 3;
    const bool is_int16 = tflite_is_int16(&as_conv) && k->type == I8, is_int = tflite_is_int8(&as_conv) || is_int16;
    if (!h.x && !is_int16 && (x->type != k->type || (x->type != F32 && x->type != I8)))
        tflite_unsupported(c, "it has an input of %s and weights of %s; use FLOAT32, INT8 or UINT8 with a scale, or "
                              "INT16 with weights of INT8",
                           dtype_info(x->type)->spelling, dtype_info(k->type)->spelling);
    if (ctx_failed(c->cx)) return;
    if (is_int && (!has_quants(&as_conv) || !has_symmetric_weights(&as_conv))) return;
    for (int d = 0; d < 2; d++) {
        const bool is_same = flat_int(&c->op->options, PADDING, 1, PADDING_SAME) == PADDING_SAME;
        if (!transposed_pads(c, is_same, option(c, d ? STRIDE_W : STRIDE_H, 0), tensor_dim(x, 1 + d),
                             tensor_dim(k, 1 + d), shape[1 + d], &pad[d], &pad[2 + d], &extra[d]))
            return;
    }
    const bool fits = tflite_sums_fit(k, tflite_in(&as_conv, 2), tensor_dim(k, 0), 1);
    const bool is_wide = is_int16 && has_wide_bias(&as_conv) && !tflite_sums_fit(k, NULL, tensor_dim(k, 0), 1);
    k = tflite_call(c, "transpose", k, attr_list("perm", 1, 2, 3, 0));
    if (is_int) k = tflite_call(c, "cast", k, attr_type("to", is_wide ? I64 : I32));
    if (is_int) x = is_int16 ? tflite_call(c, "cast", x, attr_type("to", is_wide ? I64 : I32))
                             : tflite_difference(&as_conv, 0);
    if (is_int && tflite_zero(tflite_in_info(&as_conv, 1)))
        k = tflite_call2(c, "sub", k, tensor_scalar(c->cx, c->name, I32, tflite_zero(tflite_in_info(&as_conv, 1))));
    int64_t stride[2] = { option(c, STRIDE_H, 1), option(c, STRIDE_W, 1) };
    if (!k || !x || !check_bias(&as_conv, tensor_dim(k, 3), is_int ? I32 : F32)) return;
    const Attr *attrs = ATTRS(attr_ints("stride", stride, 2), attr_ints("pad", pad, 4), attr_ints("extra", extra, 2));
    Tensor *sums = h.x ? transposed_hybrid(c, &h, k, attrs)
                       : call(c->cx, "conv2d_transpose", c->name, (Tensor *[]){ x, k }, 2, attrs);
    sums = sums ? add_bias(&as_conv, sums, is_int && fits) : NULL;
    if (sums)
        c->out[0] = is_int ? requantize_channels(&as_conv, sums, tensor_dim(k, 3), activation(c, ACTIVATION))
                           : tflite_activate(c, sums, activation(c, ACTIVATION));
}

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

static void max_pool(TfliteCall *c);

/* Translates a pool. Input and output of a quantized pool have one scale, so the activation is a clamp of stored
 * values. Averages round ties away from zero, which is up for UINT8 as it is stored. */
static void pool(TfliteCall *c, const char *op, int act)
{
    if (!tflite_needs(c, 1)) return;
    if (c->in[0]->rank != 4 || tensor_elems(c->in[0]) == 0)
        tflite_refuse(c, "the input is %s; use four dimensions", tensor_shape_text(c->cx, c->in[0]));
    TfliteWindows w = { .kernel = { option(c, POOL_HEIGHT, 0), option(c, POOL_WIDTH, 0) },
                        .stride = { option(c, POOL_STRIDE_H, 0), option(c, POOL_STRIDE_W, 0) },
                        .dilation = { 1, 1 } };
    if (ctx_failed(c->cx) || !finish_windows(c, &w)) return;
    const bool is_average = c->is_unsigned && c->row->lower != max_pool;
    Tensor *x = is_average ? tflite_call(c, "recentered", c->in[0]) : c->in[0];
    c->out[0] = tflite_call(c, op, x, attr_ints("kernel", w.kernel, 2), attr_ints("stride", w.stride, 2),
                            attr_ints("pad", w.pad, 4));
    if (is_average) c->out[0] = tflite_call(c, "recentered", c->out[0]);
    if (!tflite_is_quantized(c)) c->out[0] = tflite_activate(c, c->out[0], act);
    else if (act != ACT_NONE && tflite_has_quant(c, tflite_out_info(c, 0), false)) {
        int64_t least, greatest;
        tflite_clamp(tflite_out_info(c, 0), act, &least, &greatest);
        const DTypeInfo *type = dtype_info(c->in[0]->type);
        if (least > type->least || greatest < type->greatest)
            c->out[0] = tflite_call(c, "clip", c->out[0], attr_real("min", (double)least),
                                    attr_real("max", (double)greatest));
    }
}

static void average_pool(TfliteCall *c) { pool(c, "avg_pool2d", activation(c, POOL_ACTIVATION)); }
static void max_pool(TfliteCall *c) { pool(c, "max_pool2d", activation(c, POOL_ACTIVATION)); }

/* Computes the root of the mean square of each window's elements. */
static void l2_pool(TfliteCall *c)
{
    const int act = activation(c, POOL_ACTIVATION);
    if (!tflite_needs(c, 1)) return;
    TfliteCall squares = *c;
    squares.in = (Tensor *[]){ tflite_call(c, "square", c->in[0]) };
    if (!squares.in[0]) return;
    pool(&squares, "avg_pool2d", ACT_NONE);
    if (squares.out[0]) c->out[0] = tflite_activate(c, tflite_call(c, "sqrt", squares.out[0]), act);
}

static Tensor *reversed_channels(TfliteCall *c, Tensor *x)
{
    return tflite_call(c, "slice", x, attr_list("axes", x->rank - 1), attr_list("begin", -1),
                       attr_list("end", INT32_MIN), attr_list("step", -1));
}

/* Computes x * (bias + alpha * sum)^-beta; sum adds the squares of channels c - radius to c + radius - 1, because the
 * reference omits the last channel. The operator `lrn` has the odd channel of an even window on the opposite side, so
 * the channels are reversed. */
static void local_response(TfliteCall *c)
{
    enum { RADIUS, BIAS, ALPHA, BETA };
    const int64_t radius = option(c, RADIUS, 0), size = 2 * radius;
    if (!tflite_needs(c, 1)) return;
    if (radius < 1 || radius > MOST)
        tflite_unsupported(c, "the radius is %lld; use 1 to %d", (long long)radius, MOST);
    if (c->in[0]->rank < 1) tflite_unsupported(c, "the input is a scalar; use at least one dimension");
    if (ctx_failed(c->cx)) return;
    Tensor *y = tflite_call(c, "lrn", reversed_channels(c, c->in[0]), attr_int("size", size),
                            attr_real("bias", (double)flat_float(&c->op->options, BIAS, 0)),
                            attr_real("alpha", (double)flat_float(&c->op->options, ALPHA, 0) * (double)size),
                            attr_real("beta", (double)flat_float(&c->op->options, BETA, 0)));
    if (y) c->out[0] = reversed_channels(c, y);
}

/* ---- Volumes ----------------------------------------------------------------------------------------------------- */

enum { VOLUME_STRIDE_D = 1, VOLUME_STRIDE_W, VOLUME_STRIDE_H, VOLUME_ACTIVATION, VOLUME_DILATION_D, VOLUME_DILATION_W,
       VOLUME_DILATION_H, VOLUME_DIMS = 3 };

/* Reads strides and dilations of d, h, w; k is [d][h][w][c][o] or [d][h][w][o][c]. */
static bool is_volume(TfliteCall *c, const Tensor *x, const Tensor *k, int64_t *stride, int64_t *dilation)
{
    static const int strides[] = { VOLUME_STRIDE_D, VOLUME_STRIDE_H, VOLUME_STRIDE_W },
                     dilations[] = { VOLUME_DILATION_D, VOLUME_DILATION_H, VOLUME_DILATION_W };
    if (x->rank != 5 || k->rank != 5 || tensor_elems(x) < 1 || tensor_elems(k) < 1) {
        tflite_refuse(c, "the input is %s and the kernel %s; use five dimensions each, with fixed sizes above 0",
                      tensor_shape_text(c->cx, x), tensor_shape_text(c->cx, k));
        return false;
    }
    for (int d = 0; d < VOLUME_DIMS; d++) {
        stride[d] = option(c, strides[d], 0);
        dilation[d] = option(c, dilations[d], 1);
        if (stride[d] < 1 || stride[d] > MOST)
            tflite_refuse(c, "it has a stride of %lld; use 1 to %d", (long long)stride[d], MOST);
        if (dilation[d] < 1 || dilation[d] > MOST)
            tflite_refuse(c, "it has a dilation of %lld; use 1 to %d", (long long)dilation[d], MOST);
    }
    return !ctx_failed(c->cx);
}

static void finish_volume(TfliteCall *c, Tensor *sums, Tensor *bias)
{
    if (sums && bias) sums = tflite_call2(c, "add", sums, bias);
    if (sums) c->out[0] = tflite_activate(c, sums, activation(c, VOLUME_ACTIVATION));
}

static void conv_3d(TfliteCall *c)
{
    int64_t stride[VOLUME_DIMS], dilation[VOLUME_DIMS], pad[2 * VOLUME_DIMS];
    if (!tflite_needs(c, 2) || !is_volume(c, c->in[0], c->in[1], stride, dilation)) return;
    const bool is_same = flat_int(&c->op->options, CONV_PADDING, 1, PADDING_SAME) == PADDING_SAME;
    for (int d = 0; d < VOLUME_DIMS; d++) {
        const int64_t size = tensor_dim(c->in[0], 1 + d), span = (tensor_dim(c->in[1], d) - 1) * dilation[d] + 1;
        window_pads(is_same, size, span, stride[d], &pad[d], &pad[VOLUME_DIMS + d]);
    }
    finish_volume(c, tflite_call2(c, "conv3d", c->in[0], c->in[1], attr_ints("stride", stride, VOLUME_DIMS),
                                  attr_ints("dilation", dilation, VOLUME_DIMS),
                                  attr_ints("pad", pad, 2 * VOLUME_DIMS)), tflite_in(c, 2));
}

/* The inputs are the shape of the result, k [d][h][w][o][c], x, and a bias that may be absent. */
static void conv_3d_transpose(TfliteCall *c)
{
    int64_t shape[2 + VOLUME_DIMS], stride[VOLUME_DIMS], dilation[VOLUME_DIMS], pad[2 * VOLUME_DIMS],
            extra[VOLUME_DIMS];
    if (!tflite_needs(c, 3) || !tflite_list(c, 0, shape, 2 + VOLUME_DIMS)) return;
    Tensor *x = c->in[2], *k = c->in[1];
    if (x->type != F32 || k->type != F32)
        tflite_refuse(c, "its operands are not FLOAT32; use operands of type FLOAT32");
    if (ctx_failed(c->cx) || !is_volume(c, x, k, stride, dilation)) return;
    const bool is_same = flat_int(&c->op->options, CONV_PADDING, 1, PADDING_SAME) == PADDING_SAME;
    for (int d = 0; d < VOLUME_DIMS; d++) {
        if (dilation[d] != 1)
            tflite_unsupported(c, "it has a dilation of %lld; use a dilation of 1", (long long)dilation[d]);
        if (!transposed_pads(c, is_same, stride[d], tensor_dim(x, 1 + d), tensor_dim(k, d), shape[1 + d], &pad[d],
                             &pad[VOLUME_DIMS + d], &extra[d]))
            return;
    }
    finish_volume(c, tflite_call2(c, "conv3d_transpose", x,
                                  tflite_call(c, "transpose", k, attr_list("perm", 0, 1, 2, 4, 3)),
                                  attr_ints("stride", stride, VOLUME_DIMS), attr_ints("pad", pad, 2 * VOLUME_DIMS),
                                  attr_ints("extra", extra, VOLUME_DIMS)), tflite_in(c, 3));
}

enum { OPTIONS_LRN = 13, OPTIONS_CONV_3D = 106 };
enum { OPTIONS_TRANSPOSE_CONV = 49, OPTIONS_BATCH_MATMUL = 101 };

const TfliteRow tflite_rows_window[] = {
    { 1, "AVERAGE_POOL_2D", 3, OPTIONS_POOL, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, average_pool,
      TFLITE_KEEPS_FIRST },
    { 3, "CONV_2D", 8, OPTIONS_CONV, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | HAS_STORED_WEIGHTS, 2, NULL, conv_2d,
      TFLITE_KEEPS_FIRST },
    { 4, "DEPTHWISE_CONV_2D", 7, OPTIONS_DEPTHWISE, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | HAS_STORED_WEIGHTS, 2, NULL,
      depthwise_conv_2d, TFLITE_KEEPS_FIRST },
    { 9, "FULLY_CONNECTED", 13, OPTIONS_DENSE, OF_F32 | OF_I8 | AS_INT8 | OF_I16 | HAS_STORED_WEIGHTS, 2, NULL,
      fully_connected, TFLITE_KEEPS_ALL },
    { 67, "TRANSPOSE_CONV", 5, OPTIONS_TRANSPOSE_CONV, OF_I32 | AS_INT8, 1, NULL, transpose_conv, TFLITE_KEEPS_NONE },
    { 126, "BATCH_MATMUL", 7, OPTIONS_BATCH_MATMUL, OF_F32 | OF_I8 | OF_I16 | HAS_STORED_WEIGHTS, 2, NULL,
      batch_matmul, TFLITE_KEEPS_ALL },
    { 12, "L2_POOL_2D", 1, OPTIONS_POOL, OF_F32, 1, NULL, l2_pool, TFLITE_KEEPS_FIRST },
    { 13, "LOCAL_RESPONSE_NORMALIZATION", 1, OPTIONS_LRN, OF_F32, 1, NULL, local_response, TFLITE_KEEPS_FIRST },
    { 132, "CONV_3D", 1, OPTIONS_CONV_3D, OF_F32, 2, NULL, conv_3d, TFLITE_KEEPS_NONE },
    { 141, "CONV_3D_TRANSPOSE", 1, OPTIONS_CONV_3D, OF_I32, 1, NULL, conv_3d_transpose, TFLITE_KEEPS_NONE },
    { 17, "MAX_POOL_2D", 3, OPTIONS_POOL, OF_F32 | OF_I8 | AS_INT8 | OF_I16, 1, NULL, max_pool, TFLITE_KEEPS_FIRST },
    { 0 }
};
