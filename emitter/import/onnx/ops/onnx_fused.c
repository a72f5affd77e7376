/* SPDX-License-Identifier: MIT */
/* Translates operators of ONNX Runtime (domain com.microsoft) that combine several operators of the default domain:
 * products with an activation, activations with a bias, normalization of a sum, products with packed weights. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Activations of fused operators: the IR operator, and the attributes that the two parameters give it. */
static const struct { const char *name, *op, *alpha, *beta; double alpha_default, beta_default; } activations[] = {
    { "Clip", "clip", "min", "max", -3.402823466e38, 3.402823466e38 },
    { "HardSigmoid", "hard_sigmoid", "alpha", "beta", 0.2, 0.5 },
    { "LeakyRelu", "leaky_relu", "alpha", NULL, 0.01, 0 },
    { "Relu", "relu", NULL, NULL, 0, 0 },
    { "Sigmoid", "sigmoid", NULL, NULL, 0, 0 },
    { "Tanh", "tanh", NULL, NULL, 0, 0 },
};

/* Applies the node's activation. params: up to two, in the order of the activation's attributes; defaults replace
 * absent ones. */
static Tensor *activated(OnnxCall *c, Tensor *y, const double *params, int count)
{
    const char *word = onnx_text(c, "activation", "");
    if (!*word) return y;
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        if (strcmp(activations[i].name, word) != 0) continue;
        const double alpha = count > 0 ? params[0] : activations[i].alpha_default,
                     beta = count > 1 ? params[1] : activations[i].beta_default;
        return onnx_call(c, activations[i].op, y, attr_if(activations[i].alpha, attr_real(activations[i].alpha, alpha)),
                         attr_if(activations[i].beta, attr_real(activations[i].beta, beta)));
    }
    onnx_refuse(c, "'activation' is \"%s\"; use one of Clip, HardSigmoid, LeakyRelu, Relu, Sigmoid, Tanh", word);
    return NULL;
}

/* Computes activation(convolution + z). */
static void fused_conv(OnnxCall *c)
{
    const OnnxAttr *params = onnx_attr(c, "activation_params");
    if (!onnx_requires(c, 2)) return;
    Tensor *y = onnx_convolve(c, c->in[0], c->in[1], onnx_in(c, 2));
    if (onnx_in(c, 3)) y = onnx_call2(c, "add", y, c->in[3]);
    c->out[0] = activated(c, y, params ? params->reals : NULL, params ? params->real_count : 0);
}

static void fused_gemm(OnnxCall *c)
{
    static const char *const names[2] = { "activation_alpha", "activation_beta" };
    double params[2];
    int count = 0;
    if (!onnx_requires(c, 2)) return;
    for (; count < 2 && onnx_attr(c, names[count]); count++) params[count] = onnx_real(c, names[count], 0);
    c->out[0] = activated(c, onnx_translate_as(c, "Gemm", 13, c->in, c->in_count, NULL), params, count);
}

/* Transposes an operand as its attributes state: `matrix` swaps the last two dimensions; `batch` moves the first
 * dimension in front of the last one. */
static Tensor *turned(OnnxCall *c, Tensor *x, bool matrix, bool batch)
{
    int64_t perm[MAX_RANK];
    if (!x || x->rank < 2 || (!matrix && !batch)) return x;
    for (int d = 0; d < x->rank; d++) perm[d] = d;
    /* with `batch` the operand is [m][..][k]: its first dimension has the rows */
    if (batch)
        for (int d = 0; d + 1 < x->rank; d++) perm[d] = d + 2 < x->rank ? d + 1 : 0;
    if (matrix) {
        const int64_t last = perm[x->rank - 1];
        perm[x->rank - 1] = perm[x->rank - 2];
        perm[x->rank - 2] = last;
    }
    return onnx_call(c, "transpose", x, attr_ints("perm", perm, x->rank));
}

static void fused_matmul(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const double alpha = onnx_real(c, "alpha", 1);
    Tensor *a = turned(c, c->in[0], onnx_int(c, "transA", 0) != 0, onnx_int(c, "transBatchA", 0) != 0),
           *b = turned(c, c->in[1], onnx_int(c, "transB", 0) != 0, onnx_int(c, "transBatchB", 0) != 0);
    Tensor *y = b ? onnx_call2(c, b->rank == 2 ? "dense" : "matmul", a, b) : NULL;
    c->out[0] = y && alpha != 1 ? onnx_call2(c, "mul", y, onnx_scalar_like(c, y, alpha)) : y;
}

/* ---- Weights in 2, 4 or 8 bits ----------------------------------------------------------------------------------- */

/* Packed weights: n rows of k numbers of `bits` bits, in blocks that each have a scale and a zero point. */
typedef struct Packed { int64_t n, k, bits, block, blocks; } Packed;

static int64_t packed_at(const uint8_t *row, int64_t bits, int64_t i)
{
    const int64_t bit = i * bits;
    return row[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
}

static bool read_packed(OnnxCall *c, Packed *p)
{
    *p = (Packed){ onnx_int(c, "N", 0), onnx_int(c, "K", 0), onnx_int(c, "bits", 4), onnx_int(c, "block_size", 0), 0 };
    if (!onnx_holds(c, p->n > 0 && p->n <= 1 << 24, "'N' is %lld; use 1 to 2^24", (long long)p->n)
        || !onnx_holds(c, p->k > 0 && p->k <= 1 << 24, "'K' is %lld; use 1 to 2^24", (long long)p->k)
        || !onnx_holds(c, p->bits == 2 || p->bits == 4 || p->bits == 8, "'bits' is %lld; use 2, 4 or 8",
                       (long long)p->bits)
        || !onnx_holds(c, p->block >= 16 && p->block <= 1 << 16 && !(p->block & (p->block - 1)),
                       "'block_size' is %lld; use a power of two from 16 to 2^16", (long long)p->block))
        return false;
    p->blocks = (p->k + p->block - 1) / p->block;
    return true;
}

/* Returns the weights as [k][n] bytes minus the middle of the range, so that they are signed. */
static Tensor *unpacked(OnnxCall *c, const Packed *p, const Tensor *b)
{
    const int64_t row = p->blocks * (p->block * p->bits / 8);
    if (!tensor_is_constant(b) || b->type != U8 || tensor_elems(b) != p->n * row) {
        onnx_unsupported(c, "the weights are %s of %s; use constant bytes [%lld][%lld][%lld]",
                         tensor_shape_text(c->cx, b), dtype_info(b->type)->spelling, (long long)p->n,
                         (long long)p->blocks, (long long)(p->block * p->bits / 8));
        return NULL;
    }
    void *data;
    Tensor *w = tensor_zeros(c->cx, b->name, I8, 2, (int64_t[]){ p->k, p->n }, &data);
    const uint8_t *bytes = b->data;
    for (int64_t n = 0; w && n < p->n; n++)
        for (int64_t k = 0; k < p->k; k++)
            ((int8_t *)data)[k * p->n + n] = (int8_t)(packed_at(bytes + n * row, p->bits, k) - (1 << (p->bits - 1)));
    return w;
}

/* Expands values per block, [n][blocks], to [k][n]. */
static Tensor *spread(OnnxCall *c, const Packed *p, Tensor *t)
{
    if (!t) return NULL;
    t = onnx_call(c, "transpose", onnx_reshape(c, t, (int64_t[]){ p->n, p->blocks }, 2), attr_list("perm", 1, 0));
    t = p->block > 1 ? onnx_call(c, "repeat", t, attr_int("axis", 0), attr_int("times", p->block)) : t;
    return p->blocks * p->block == p->k ? t : onnx_call(c, "slice", t, attr_list("axes", 0), attr_list("begin", 0),
                                                        attr_list("end", p->k));
}

/* Returns zero points minus the middle of the range, of type i8. The zero points are packed as the weights are; each
 * row begins at a byte. */
static Tensor *packed_points(OnnxCall *c, const Packed *p, const Tensor *t)
{
    const int64_t row = (p->blocks * p->bits + 7) / 8;
    if (!t) return NULL;
    if (!tensor_is_constant(t) || t->type != U8 || tensor_elems(t) != p->n * row) {
        onnx_unsupported(c, "the zero points are %s of %s; use constant bytes [%lld][%lld], or numbers of the scale's "
                            "type",
                         tensor_shape_text(c->cx, t), dtype_info(t->type)->spelling, (long long)p->n, (long long)row);
        return NULL;
    }
    void *data;
    Tensor *z = tensor_zeros(c->cx, t->name, I8, 2, (int64_t[]){ p->n, p->blocks }, &data);
    for (int64_t i = 0; z && i < p->n * p->blocks; i++)
        ((int8_t *)data)[i] = (int8_t)(packed_at((const uint8_t *)t->data + i / p->blocks * row, p->bits, i % p->blocks)
                                       - (1 << (p->bits - 1)));
    return z;
}

/* Handles zero points that are real numbers, which are not on the grid of the weights: computes scale * (w - zero) in
 * the scale's type. The middle of the range is added to w first, so that w is exact. */
static Tensor *with_real_points(OnnxCall *c, const Packed *p, Tensor *w, Tensor *scale, Tensor *point)
{
    if (!tensor_is_constant(point) || tensor_elems(point) != p->n * p->blocks || scale->type != point->type) {
        onnx_unsupported(c, "the zero points are %s of %s; use constant zero points [%lld][%lld] of %s, the type of "
                            "the scale",
                         tensor_shape_text(c->cx, point), dtype_info(point->type)->spelling, (long long)p->n,
                         (long long)p->blocks, dtype_info(scale->type)->spelling);
        return NULL;
    }
    Tensor *code = onnx_cast(c, w, scale->type);
    code = onnx_call2(c, "add", code, onnx_scalar_like(c, code, 1 << (p->bits - 1)));
    Tensor *scales = spread(c, p, scale);
    return onnx_call2(c, "mul", onnx_call2(c, "sub", code, spread(c, p, point)), scales);
}

static Tensor *with_packed_points(OnnxCall *c, const Packed *p, Tensor *w, Tensor *scale, const Tensor *points)
{
    Tensor *point = packed_points(c, p, points);
    if (ctx_failed(c->cx)) return NULL;
    Tensor *spread3 = point ? spread(c, p, point) : tensor_scalar(c->cx, c->name, I8, 0);
    return onnx_dequantized(c, w, spread(c, p, scale), spread3);
}

/* Computes y = a * (scale * (w - zero))' + bias */
static void matmul_bits(OnnxCall *c)
{
    Packed p;
    if (!onnx_requires(c, 3) || !read_packed(c, &p)) return;
    if (onnx_in(c, 4)) onnx_unsupported(c, "it has 'g_idx', which reorders the groups; use groups in their natural "
                                           "order");
    Tensor *w = unpacked(c, &p, c->in[1]), *point = onnx_in(c, 3);
    if (ctx_failed(c->cx)) return;
    const bool is_real = point && dtype_is_float(point->type);
    Tensor *real = is_real ? with_real_points(c, &p, w, c->in[2], point)
                           : with_packed_points(c, &p, w, c->in[2], point),
           *y = onnx_call2(c, "dense", c->in[0], real);
    c->out[0] = onnx_in(c, 5) ? onnx_call2(c, "add", y, c->in[5]) : y;
}

/* ---- Activations ------------------------------------------------------------------------------------------------- */

static void gelu(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    c->out[0] = onnx_call(c, c->op_name, onnx_in(c, 1) ? onnx_call2(c, "add", c->in[0], c->in[1]) : c->in[0]);
}

/* Computes x * sigmoid(alpha * x). */
static void quick_gelu(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0], *scaled = onnx_call2(c, "mul", x, onnx_scalar_like(c, x, onnx_real(c, "alpha", 1.702)));
    c->out[0] = onnx_call2(c, "mul", x, onnx_call(c, "sigmoid", scaled));
}

/* ---- Normalization ----------------------------------------------------------------------------------------------- */

/* Normalizes over the last dimension; op is standardize, or rms_norm if there is no mean. */
static Tensor *normalized(OnnxCall *c, const char *op, Tensor *x, Tensor *scale, Tensor *shift, double epsilon)
{
    if (!x) return NULL;
    Tensor *y = onnx_call(c, op, x, attr_list("axes", -1),
                          attr_real("epsilon", (double)(float)onnx_real(c, "epsilon", epsilon)));
    y = onnx_call2(c, "mul", y, scale);
    return shift ? onnx_call2(c, "add", y, shift) : y;
}

/* Normalizes input + skip + bias; output 3 is this sum. The bias is the input after the scale or, if the mean is
 * removed, after the shift. */
static void skip_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    const bool has_mean = strcmp(c->op_name, "standardize") == 0;
    Tensor *sum = onnx_call2(c, "add", c->in[0], c->in[1]), *bias = onnx_in(c, has_mean ? 4 : 3);
    if (bias) sum = onnx_call2(c, "add", sum, bias);
    c->out[0] = normalized(c, c->op_name, sum, c->in[2], has_mean ? onnx_in(c, 3) : NULL, 1e-12);
    c->out[3] = sum;
}

static Tensor *looked_up(OnnxCall *c, Tensor *table, Tensor *index)
{
    return onnx_call2(c, "gather", table, index, attr_int("axis", 0));
}

/* The inputs are ids, segments, words, positions, segment_table, gamma, beta, mask and position_ids. */
static void embed_norm(OnnxCall *c)
{
    static const struct { int index; const char *what; } needed[] = {
        { 0, "the ids" }, { 2, "the table of words" }, { 3, "the table of positions" }, { 5, "gamma" }, { 6, "beta" }
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!onnx_in(c, needed[i].index))
            onnx_refuse(c, "input %d is missing; pass %s", needed[i].index, needed[i].what);
    if (ctx_failed(c->cx)) return;
    Tensor *ids = c->in[0], *sum = looked_up(c, c->in[2], ids);
    if (onnx_in(c, 8)) sum = onnx_call2(c, "add", sum, looked_up(c, c->in[3], c->in[8]));
    else sum = onnx_call2(c, "add", sum, onnx_call(c, "slice", c->in[3], attr_list("axes", 0), attr_list("begin", 0),
                                                   attr_list("end", ids->rank == 2 ? tensor_dim(ids, 1) : 0)));
    if (onnx_in(c, 1) && onnx_in(c, 4)) sum = onnx_call2(c, "add", sum, looked_up(c, c->in[4], c->in[1]));
    c->out[0] = normalized(c, "standardize", sum, c->in[5], c->in[6], 1e-12);
    if (onnx_in(c, 7))
        c->out[1] = onnx_call(c, "reduce_sum", onnx_cast(c, c->in[7], I32), attr_list("axes", 1),
                              attr_flag("keepdims", false));
    c->out[2] = sum;
}

#define MICROSOFT(its_name, most, attrs, ir_op, fn) \
    { ONNX_AS("com.microsoft." its_name, most, attrs, ir_op, fn), .open.keeps = KEEPS_ALL }
#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides "
#define MATMUL_ATTRS "alpha transA transB transBatchA transBatchB"
const OnnxOp onnx_rows_fused[] = {
    MICROSOFT("BiasGelu", 2, "", "gelu", gelu),
    MICROSOFT("EmbedLayerNormalization", 9, "epsilon mask_index_type", NULL, embed_norm),
    MICROSOFT("FastGelu", 2, "", "gelu_tanh", gelu),
    { ONNX_ROW("com.microsoft.FusedConv", 4, CONV_ATTRS "activation activation_params", fused_conv) },
    MICROSOFT("FusedGemm", 3, "activation activation_alpha activation_beta alpha beta transA transB", NULL, fused_gemm),
    MICROSOFT("FusedMatMul", 2, MATMUL_ATTRS, NULL, fused_matmul),
    MICROSOFT("Gelu", 1, "", "gelu", gelu),
    MICROSOFT("MatMulNBits", 6, "K N accuracy_level bits block_size", NULL, matmul_bits),
    MICROSOFT("QuickGelu", 1, "alpha", NULL, quick_gelu),
    MICROSOFT("SkipLayerNormalization", 5, "epsilon", "standardize", skip_norm),
    MICROSOFT("SkipSimplifiedLayerNormalization", 4, "epsilon", "rms_norm", skip_norm),
    MICROSOFT("TransposeMatMul", 2, "alpha transA transB", NULL, fused_matmul),
    { 0 }
};
