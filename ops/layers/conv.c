/* SPDX-License-Identifier: MIT */
/* Defines convolutions over one to three spatial dimensions, with the channels last. For two, with strides s, dilations
 * d and padding p:
 *
 *   conv2d            y[n,h,w,o] = sum(i,j,c) x[n, h*sh+i*dh-ph, w*sw+j*dw-pw, c] * k[i,j,c,o]     0 outside x
 *   conv2d, g groups  x's channel is o / (O/g) * (C/g) + c
 *   depthwise_conv2d  y[n,h,w,o] = sum(i,j)   x[n, .., .., o / m] * k[i,j,o]                       m = O / C
 *
 *   conv2d_transpose  y[n,h,w,o] = sum(i,j,c) x[n, (h+ph-i)/sh, (w+pw-j)/sw, c] * k[i,j,c,o]
 *                     over the taps whose quotients are exact
 *
 *   conv2d_transpose_hybrid   the same of integers x - zero and k as TensorFlow Lite adds them: each product in floats,
 *                     (x * k) * sk[o] * sx[n], by descending i, then j, then by c
 *
 * With 8-bit integers the result is the i32 sum of (x[...] - zero) * (k[...] - zero_w), where `zero` and `zero_w` are
 * the zero points; outside x the product is 0. A 16-bit x with an 8-bit k is summed in the same way. A bias is a
 * separate addition.
 *
 * x: [n][h][w][c]   k: [kh][kw][c/g][o], depthwise [kh][kw][c*m], transpose [kh][kw][c][o/g] */

/* Decision: a padded value guards the whole product. A convolution reads `(x[...]? * k[...] : 0)`: outside the
 * image the product is zero, not the operand. For finite weights both give the same value. Reading zero makes the
 * padded update the identity of the sum, so it may be skipped. Lowering turns the guard into bounds of the tap loops;
 * no multiplication by zero is executed. An accumulator that starts at +0 never becomes -0 by adding zeros, so skipping
 * is exact to the bit. */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

enum { MAX_SPATIAL = 3, GREATEST = 1 << 20 };

typedef struct ConvWindows {
    int spatial;
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[2 * MAX_SPATIAL];
    const Expr *extent[MAX_SPATIAL];     /* the extents of the output */
    bool leaves_input;                   /* true if a window extends beyond x */
} ConvWindows;

/* Returns the number of windows, floor((n + pads - ((kernel - 1) * dilation + 1)) / stride) + 1. */
static const Expr *windows_along(Ctx *cx, const ConvWindows *w, int d, const Expr *size)
{
    int64_t taken = (w->kernel[d] - 1) * w->dilation[d] + 1 - w->pad[d] - w->pad[w->spatial + d];
    if (taken) size = expr_sub(cx, size, expr_index(cx, taken));
    if (w->stride[d] != 1) size = expr_binary(cx, EXPR_FLOORDIV, size, expr_index(cx, w->stride[d]));
    return expr_add(cx, size, expr_index(cx, 1));
}

static bool read_windows(Ctx *cx, const Node *n, ConvWindows *w)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    int s = w->spatial = x->rank - 2;
    if (!op_ints(cx, n, "stride", s, 1, GREATEST, 1, w->stride)) return false;
    if (!op_ints(cx, n, "dilation", s, 1, GREATEST, 1, w->dilation)) return false;
    if (!op_ints(cx, n, "pad", 2 * s, 0, GREATEST, 0, w->pad)) return false;
    for (int d = 0; d < s; d++) {
        int64_t size = tensor_dim(x, 1 + d), count;
        w->kernel[d] = tensor_dim(k, d);
        w->extent[d] = windows_along(cx, w, d, x->shape[1 + d]);
        count = w->extent[d]->kind == EXPR_INT ? w->extent[d]->integer : -1;
        int64_t last = (count - 1) * w->stride[d] - w->pad[d] + (w->kernel[d] - 1) * w->dilation[d];
        w->leaves_input = w->leaves_input || w->pad[d] > 0 || (size < 0 ? w->pad[s + d] > 0 : last >= size);
        if (op_least(cx, w->extent[d]) < 1) {
            op_refuse(
                cx, n,
                "a kernel of %lld with dilation %lld does not fit into %lld elements with padding %lld and %lld%s",
                (long long)w->kernel[d], (long long)w->dilation[d], (long long)op_least(cx, x->shape[1 + d]),
                (long long)w->pad[d], (long long)w->pad[s + d], size < 0 ? op_greater_least : "");
            return false;
        }
    }
    return true;
}

static bool is_byte(const Tensor *x) { return x->type == I8 || x->type == U8; }

static bool check_zero(Ctx *cx, const Node *n)
{
    static const char *const attrs[] = { "zero", "zero_w" };
    for (int i = 0; i < 2; i++) {
        int64_t zero = node_int(n, attrs[i], 0);
        if (!zero || (is_byte(n->in[i]) && zero >= -255 && zero <= 255)) continue;
        if (n->in[i]->type == I16 && zero >= INT16_MIN && zero <= INT16_MAX) continue;
        const char *accepted = is_byte(n->in[i]) ? "use -255 to 255" : n->in[i]->type == I16 ? "use a 16-bit number"
                               : "use i8, u8 or i16 with a zero point";
        op_refuse(cx, n, "'%s' is %lld and the %s is %s; %s", attrs[i], (long long)zero, i ? "kernel" : "input",
                  dtype_info(n->in[i]->type)->spelling, accepted);
        return false;
    }
    return true;
}

static bool check_ranks(Ctx *cx, const Node *n, int spatial, bool is_depthwise)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    int kernel_rank = spatial + (is_depthwise ? 1 : 2);
    if ((!op_sums_integers(n) && !op_same_type(cx, n)) || !check_zero(cx, n)) return false;
    if (x->rank != spatial + 2 || k->rank != kernel_rank) {
        op_refuse(cx, n, "the input is %s and the kernel %s; use ranks %d and %d", tensor_shape_text(cx, x),
                  tensor_shape_text(cx, k), spatial + 2, kernel_rank);
        return false;
    }
    if (tensor_is_fixed(k) && tensor_dim(x, x->rank - 1) >= 1 && tensor_elems(k) > 0) return true;
    op_refuse(cx, n, "the input is %s and the kernel %s; use fixed sizes above 0 of channels and kernel",
              tensor_shape_text(cx, x), tensor_shape_text(cx, k));
    return false;
}

/* Returns an element as a factor of the product. For 8-bit integers and 16-bit x, it is the i32 difference from the
 * zero point. */
static const Expr *factor_of(Ctx *cx, const Node *n, const Expr *element, int64_t zero)
{
    if (!op_sums_integers(n)) return element;
    const Expr *wide = expr_cast(cx, I32, element);
    return zero ? expr_sub(cx, wide, expr_int(cx, I32, zero)) : wide;
}

static const Expr *product_of(Ctx *cx, const Node *n, const Expr *x, const Expr *k)
{
    const Expr *product = expr_mul(cx, factor_of(cx, n, x, node_int(n, "zero", 0)),
                                   factor_of(cx, n, k, node_int(n, "zero_w", 0)));
    return node_int(n, "wide", 0) && op_sums_integers(n) ? expr_cast(cx, I64, product) : product;
}

static bool check_depthwise(Ctx *cx, const Node *n, int64_t in, int64_t out)
{
    if (out % in == 0) return true;
    op_refuse(cx, n, "the kernel has %lld channels; use a multiple of the input's %lld", (long long)out,
              (long long)in);
    return false;
}

static bool check_groups(Ctx *cx, const Node *n, int64_t in, int64_t out, int64_t each)
{
    int64_t groups = node_int(n, "groups", 1);
    if (groups < 1 || in % groups != 0 || out % groups != 0)
        op_refuse(cx, n, "'groups' is %lld; use a divisor of the %lld input and the %lld output channels",
                  (long long)groups, (long long)in, (long long)out);
    else if (each != in / groups)
        op_refuse(cx, n, "the kernel has %lld input channels; use %lld: the input has %lld in %lld group%s",
                  (long long)each, (long long)(in / groups), (long long)in, (long long)groups, groups == 1 ? "" : "s");
    return !ctx_failed(cx);
}

/* Returns the channel of x. c counts within the group of the output channel o; each group has `outs` output
 * channels. */
static const Expr *grouped_channel(Ctx *cx, int64_t groups, const Expr *o, int64_t outs, const Expr *c, int64_t each)
{
    return groups == 1 ? c : expr_add(cx, index_times(cx, index_over(cx, o, outs), each), c);
}

/* Return the letters of dimension d and of its taps: w for one dimension, h w for two, d h w for three. */
static char axis_of(int spatial, int d) { return "dhw"[MAX_SPATIAL - spatial + d]; }
static const char *tap_of(int spatial, int d)
{
    static const char *const taps[MAX_SPATIAL] = { "t", "i", "j" };
    return taps[MAX_SPATIAL - spatial + d];
}

/* Emits y[n,h,w,o] = sum(i,j,c) (x[n, h*s+i*d-p, .., channel]? * k[i,j,c,o] : 0); depthwise without c. */
static Tensor *sum_of_products(Ctx *cx, const Node *n, const ConvWindows *w, bool is_depthwise)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    const int spatial = w->spatial;
    const int64_t in = tensor_dim(x, x->rank - 1), outs = tensor_dim(k, k->rank - 1), groups = node_int(n, "groups", 1);
    const Expr *at[MAX_RANK], *tap[MAX_RANK], *axis[MAX_SPATIAL];
    IndexMap m = { .cx = cx, .call = n };
    at[0] = index_axis(&m, 'n', x->shape[0]);
    for (int d = 0; d < spatial; d++) axis[d] = index_axis(&m, axis_of(spatial, d), index_simplified(&m, w->extent[d]));
    const Expr *o = tap[k->rank - 1] = index_axis(&m, 'o', k->shape[k->rank - 1]);
    for (int d = 0; d < spatial; d++) tap[d] = index_tap(&m, tap_of(spatial, d), k->shape[d]);
    for (int d = 0; d < spatial; d++)
        at[1 + d] = index_sliding(&m, axis[d], w->stride[d], tap[d], w->dilation[d], -w->pad[d]);
    if (is_depthwise) at[1 + spatial] = outs == in ? o : index_over(cx, o, outs / in);
    else {
        tap[spatial] = index_tap(&m, "c", k->shape[spatial]);
        at[1 + spatial] = grouped_channel(cx, groups, o, outs / groups, tap[spatial], tensor_dim(k, spatial));
    }
    at[1 + spatial] = index_simplified(&m, at[1 + spatial]);
    const Expr *read = w->leaves_input ? index_read(&m, x, at) : tensor_read(cx, x, at, x->rank);
    return index_reduced(&m, REDUCE_SUM,
                         index_or_zero(&m, product_of(cx, n, read, tensor_read(cx, k, tap, k->rank))));
}

static int conv(Ctx *cx, const Node *n, int spatial, bool is_depthwise, Tensor **out)
{
    ConvWindows w = { 0 };
    if (!check_ranks(cx, n, spatial, is_depthwise) || !read_windows(cx, n, &w)) return 0;
    const Tensor *x = n->in[0], *k = n->in[1];
    const int64_t in = tensor_dim(x, x->rank - 1), channels = tensor_dim(k, k->rank - 1);
    const bool fits = is_depthwise ? check_depthwise(cx, n, in, channels)
                                   : check_groups(cx, n, in, channels, tensor_dim(k, spatial));
    out[0] = fits ? sum_of_products(cx, n, &w, is_depthwise) : NULL;
    return out[0] ? 1 : 0;
}

/* ---- Transposed -------------------------------------------------------------------------------------------------- */

/* Reads the windows of a transposed convolution. The extent is (n - 1) * stride + (kernel - 1) * dilation + 1 + extra -
 * pads. */
static bool read_transposed(Ctx *cx, const Node *n, int spatial, ConvWindows *w)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    int64_t extra[MAX_SPATIAL];
    w->spatial = spatial;
    if (!op_ints(cx, n, "stride", spatial, 1, GREATEST, 1, w->stride)) return false;
    if (!op_ints(cx, n, "dilation", spatial, 1, GREATEST, 1, w->dilation)) return false;
    if (!op_ints(cx, n, "pad", 2 * spatial, 0, GREATEST, 0, w->pad)) return false;
    if (!op_ints(cx, n, "extra", spatial, 0, GREATEST, 0, extra)) return false;
    for (int d = 0; d < spatial; d++) {
        const Expr *size = x->shape[1 + d];
        w->kernel[d] = tensor_dim(k, d);
        w->extent[d] = op_size(cx, size, w->stride[d],
                               (w->kernel[d] - 1) * w->dilation[d] + 1 + extra[d] - w->pad[d] - w->pad[spatial + d]
                                   - w->stride[d]);
        if (op_least(cx, size) < 1 || op_least(cx, w->extent[d]) < 1
            || op_greatest(cx, size) > INT32_MAX / w->stride[d] / 2) {
            op_refuse(cx, n,
                      "the input is %s, the kernel %lld elements, 'stride' %lld, 'pad' %lld and %lld; use 1 to 2^30 "
                      "output elements along each dimension%s",
                      tensor_shape_text(cx, x), (long long)w->kernel[d], (long long)w->stride[d], (long long)w->pad[d],
                      (long long)w->pad[spatial + d], size->kind == EXPR_INT ? "" : op_greater_least);
            return false;
        }
    }
    return true;
}

/* The indices of x and k at a tap, along one dimension of a transposed convolution; condition: true if the tap
 * contributes, or NULL if all taps do. Without dilation, every s-th tap starting at (h+p) % s contributes to output
 * h. */
typedef struct TapAccess { const Expr *x, *k, *condition; } TapAccess;

static int64_t tap_count(const ConvWindows *w, int d)
{
    const int64_t s = w->stride[d];
    return s > 1 && w->dilation[d] == 1 ? (w->kernel[d] + s - 1) / s : w->kernel[d];
}

static TapAccess tap_access(Ctx *cx, const ConvWindows *w, int d, const Expr *axis, const Expr *tap)
{
    const int64_t s = w->stride[d];
    const Expr *at = index_plus(cx, axis, w->pad[d]);
    if (s > 1 && w->dilation[d] == 1)
        return (TapAccess){ expr_sub(cx, index_over(cx, at, s), tap),
                            expr_add(cx, index_modulo(cx, at, s), index_times(cx, tap, s)), NULL };
    const Expr *distance = expr_sub(cx, at, index_times(cx, tap, w->dilation[d]));
    if (s == 1) return (TapAccess){ distance, tap, NULL };
    return (TapAccess){ index_over(cx, distance, s), tap,
                        expr_binary(cx, EXPR_EQ, index_modulo(cx, distance, s), expr_index(cx, 0)) };
}

static bool check_transposed(Ctx *cx, const Node *n, int spatial)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    int64_t groups = node_int(n, "groups", 1);
    if (!op_same_type(cx, n)) return false;
    if (!check_ranks(cx, n, spatial, false)) return false;
    const int64_t channels = tensor_dim(k, spatial);
    return op_holds(cx, n, channels == tensor_dim(x, spatial + 1), "the input is %s and the kernel %s; use [..][c] "
                      "and [..][c][o/groups]", tensor_shape_text(cx, x), tensor_shape_text(cx, k))
           && op_holds(cx, n, groups >= 1 && channels % groups == 0,
                         "'groups' is %lld; use a divisor of the input's %lld channels", (long long)groups,
                         (long long)channels);
}

/* Checks that x and k are integers, and that sk and sx are floats, one per output channel and one per sample. */
static bool check_scaled(Ctx *cx, const Node *n, int spatial)
{
    const Tensor *x = n->in[0], *k = n->in[1], *sk = n->in[2], *sx = n->in[3];
    const bool fits = x->type == I16 && k->type == I8 && sk->type == F32 && sx->type == F32 && x->rank == spatial + 2
                      && k->rank == spatial + 2 && tensor_is_fixed(k) && tensor_elems(k) > 0 && sk->rank == 1
                      && sx->rank == 1 && tensor_dim(k, spatial) == tensor_dim(x, spatial + 1)
                      && tensor_dim(sk, 0) == tensor_dim(k, spatial + 1) && sx->shape[0] == x->shape[0];
    if (!fits)
        op_refuse(cx, n,
                  "the operands are %s, %s, %s and %s; use i16 [n][..][c], i8 [..][c][o], f32 [o] and f32 [n]",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, k), tensor_shape_text(cx, sk),
                  tensor_shape_text(cx, sx));
    return fits;
}

/* Returns (x * k) * sk[o] * sx[n], which is rounded twice, because the product of the integers is below 2^24. */
static const Expr *scaled_product(const IndexMap *m, const Expr *x, const Expr *k, const Expr *o, const Expr *sample)
{
    Ctx *cx = m->cx;
    const Expr *product = expr_mul(cx, expr_cast(cx, I32, x), expr_cast(cx, I32, k));
    const Expr *scaled = expr_mul(cx, expr_cast(cx, F32, product), tensor_read(cx, m->call->in[2], &o, 1));
    return expr_mul(cx, scaled, tensor_read(cx, m->call->in[3], &sample, 1));
}

static int transposed(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    ConvWindows w = { 0 };
    const bool is_scaled = n->in_count == 4;
    if (!(is_scaled ? check_scaled : check_transposed)(cx, n, spatial) || !read_transposed(cx, n, spatial, &w))
        return 0;
    const Tensor *x = n->in[0], *k = n->in[1];
    const int64_t groups = node_int(n, "groups", 1), each = tensor_dim(k, spatial) / groups,
                  outs = tensor_dim(k, spatial + 1);
    const Expr *at[MAX_RANK], *tap[MAX_RANK], *axis[MAX_SPATIAL], *applies = NULL;
    IndexMap m = { .cx = cx, .call = n };
    at[0] = index_axis(&m, 'n', x->shape[0]);
    for (int d = 0; d < spatial; d++) axis[d] = index_axis(&m, axis_of(spatial, d), index_simplified(&m, w.extent[d]));
    const Expr *o = index_axis(&m, 'o', expr_index(cx, outs * groups));
    for (int d = 0; d < spatial; d++) tap[d] = index_tap(&m, tap_of(spatial, d), expr_index(cx, tap_count(&w, d)));
    const Expr *c = index_tap(&m, "c", expr_index(cx, each));
    for (int d = 0; d < spatial; d++) {
        const Expr *from_last = expr_sub(cx, expr_index(cx, tap_count(&w, d) - 1), tap[d]);
        const TapAccess t = tap_access(cx, &w, d, axis[d], is_scaled ? from_last : tap[d]);
        at[1 + d] = index_simplified(&m, t.x);
        tap[d] = index_simplified(&m, t.k);
        if (t.condition) applies = applies ? expr_and(cx, applies, t.condition) : t.condition;
    }
    at[1 + spatial] = tap[spatial] = index_simplified(&m, grouped_channel(cx, groups, o, outs, c, each));
    tap[1 + spatial] = groups == 1 ? o : index_simplified(&m, index_modulo(cx, o, outs));
    const Expr *read = index_read(&m, x, at), *by = index_read(&m, k, tap),
               *product = is_scaled ? scaled_product(&m, read, by, o, at[0]) : expr_mul(cx, read, by);
    product = index_or_zero(&m, product);
    if (applies) product = expr_select(cx, applies, product, expr_int(cx, product->type, 0));
    out[0] = index_reduced(&m, REDUCE_SUM, product);
    return out[0] ? 1 : 0;
}

static Tensor *fold_zero(Ctx *cx, const Node *n)
{
    ConvWindows w = { 0 };
    return !node_int(n, "zero_w", 0) && read_windows(cx, n, &w) && !w.leaves_input ? zero_hoisted(cx, n, n->in[1])
                                                                                   : NULL;
}

static int conv1d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 1, false, out); }
static int conv2d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 2, false, out); }
static int conv3d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 3, false, out); }
static int depthwise_conv1d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 1, true, out); }
static int depthwise_conv2d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 2, true, out); }
static int conv1d_transpose(Ctx *cx, const Node *n, Tensor **out) { return transposed(cx, n, 1, out); }
static int conv2d_transpose(Ctx *cx, const Node *n, Tensor **out) { return transposed(cx, n, 2, out); }
static int conv2d_transpose_hybrid(Ctx *cx, const Node *n, Tensor **out) { return transposed(cx, n, 2, out); }
static int conv3d_transpose(Ctx *cx, const Node *n, Tensor **out) { return transposed(cx, n, 3, out); }

static const AttrRow conv_attrs[] = {
    { "stride",   ATTR_INTS, "distance of adjacent windows, one for each spatial dimension or one for all", NULL },
    { "dilation", ATTR_INTS, "distance of adjacent taps, likewise", NULL },
    { "pad",      ATTR_INTS, "zeros before each spatial dimension, then after each: top,left,bottom,right", NULL },
    { "groups",   ATTR_INT,  "number of independent groups of channels", "1" },
    { "zero",     ATTR_INT,  "zero point of x (8-bit or 16-bit integers); subtracted inside the image only", NULL },
    { "zero_w",   ATTR_INT,  "zero point of k", NULL },
    { "wide",     ATTR_INT,  "1: sums of integers are i64", NULL },
    { 0 }
};
static const AttrRow depthwise_attrs[] = {
    { "stride",   ATTR_INTS, "distance of adjacent windows, one for each spatial dimension or one for all", NULL },
    { "dilation", ATTR_INTS, "distance of adjacent taps, likewise", NULL },
    { "pad",      ATTR_INTS, "zeros before each spatial dimension, then after each: top,left,bottom,right", NULL },
    { "zero",     ATTR_INT,  "zero point of x (8-bit or 16-bit integers); subtracted inside the image only", NULL },
    { "zero_w",   ATTR_INT,  "zero point of k", NULL },
    { "wide",     ATTR_INT,  "1: sums of integers are i64", NULL },
    { 0 }
};

#define TRANSPOSE_ATTRS                                                                                                \
    { "stride",   ATTR_INTS,                                                                                           \
      "distance in the result of adjacent elements of x, one for each spatial dimension or one for all", NULL },       \
    { "dilation", ATTR_INTS, "distance of adjacent taps, likewise", NULL },                                            \
    { "pad",      ATTR_INTS, "elements cropped before each spatial dimension, then after each", NULL },                \
    { "extra",    ATTR_INTS, "elements added after each spatial dimension", NULL }

static const AttrRow transpose_attrs[] = {
    TRANSPOSE_ATTRS,
    { "groups",   ATTR_INT,  "number of independent groups of channels", "1" },
    { 0 }
};
static const AttrRow transpose_hybrid_attrs[] = { TRANSPOSE_ATTRS, { 0 } };

static const OpCase conv1d_cases[] = {
    { "", "f32[1][9][2] f32[3][2][4]", "f32[1][7][4]", NULL },
    { "stride=2 pad=1,2 dilation=2", "f32[2][9][2] f32[3][2][4]", "f32[2][4][4]", NULL },
    { "groups=2", "f32[1][5][4] f32[1][2][6]", "f32[1][5][6]", NULL },
    { "", "f32[1][2][2] f32[3][2][4]", NULL, "does not fit" },
    { 0 }
};
static const OpCase conv2d_cases[] = {
    { "", "f32[2][3][5][4] f32[1][1][4][8]", "f32[2][3][5][8]", NULL },
    { "", "f32[1][5][6][4] f32[1][1][4][8]", "f32[1][5][6][8]", NULL },
    { "", "f32[1][5][6][3] f32[3][3][3][4]", "f32[1][3][4][4]", NULL },
    { "stride=2,2 pad=1,1,1,1", "f32[1][8][8][3] f32[3][3][3][4]", "f32[1][4][4][4]", NULL },
    { "stride=2,1 pad=0,2,1,0 dilation=1,2", "f32[2][5][7][2] f32[3][2][2][3]", "f32[2][2][7][3]", NULL },
    { "groups=2 pad=1,1,1,1", "f32[1][4][4][4] f32[3][3][2][6]", "f32[1][4][4][6]", NULL },
    { "", "f32[1][2][2][3] f32[1][1][3][2]", "f32[1][2][2][2]", NULL },
    { "", "f64[1][3][3][1] f64[2][2][1][1]", "f64[1][2][2][1]", NULL },
    { "groups=3", "f32[1][4][4][16] f32[3][3][5][6]", NULL, "'groups' is 3; use a divisor of the 16 input" },
    { "", "f32[1][4][4][3] f32[3][3][4][6]", NULL, "the kernel has 4 input channels; use 3" },
    { "", "f32[4][4][3] f32[3][3][3][6]", NULL, "use ranks 4 and 4" },
    { "", "f32[1][4][4][3] f64[3][3][3][6]", NULL, "input 1 is f64, but input 0 is f32" },
    { "stride=0,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "'stride' is 0,1" },
    { "stride=1,1,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "'stride' has 3 values, but 2 are needed" },
    { "pad=1,1,1,1 zero=-7", "i8[1][4][4][3] i8[3][3][3][6]", "i32[1][4][4][6]", NULL },
    { "stride=2 zero=128", "u8[1][5][5][2] u8[2][2][2][3]", "i32[1][2][2][3]", NULL },
    { "pad=1,1,1,1 zero=-7 zero_w=5 groups=2", "i8[1][4][4][4] i8[3][3][2][6]", "i32[1][4][4][6]", NULL },
    { "pad=1,1,1,1", "i16[1][4][4][3] i8[3][3][3][6]", "i32[1][4][4][6]", NULL },
    { "pad=1,1,1,1 wide=1", "i16[1][4][4][3] i8[3][3][3][6]", "i64[1][4][4][6]", NULL },
    { "zero=-3000 pad=1,1,1,1", "i16[1][4][4][3] i8[3][3][3][6]", "i32[1][4][4][6]", NULL },
    { "", "i8[1][4][4][3] i16[3][3][3][6]", NULL, "input 1 is i16, but input 0 is i8" },
    { "zero_w=1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "'zero_w' is 1 and the kernel is f32" },
    { "zero=1", "i32[1][4][4][3] i32[3][3][3][6]", NULL, "'zero' is 1 and the input is i32" },
    { "strides=1,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "did you mean 'stride'?" },
    { 0 }
};
static const OpCase depthwise_conv1d_cases[] = {
    { "pad=1,1", "f32[1][6][3] f32[3][3]", "f32[1][6][3]", NULL },
    { "", "f32[1][6][3] f32[3][4]", NULL, "a multiple of the input's 3" },
    { 0 }
};
static const OpCase depthwise_conv2d_cases[] = {
    { "pad=1,1,1,1", "f32[1][4][5][3] f32[3][3][3]", "f32[1][4][5][3]", NULL },
    { "stride=2", "f32[1][5][5][2] f32[3][3][6]", "f32[1][2][2][6]", NULL },
    { "pad=1,1,0,0 zero=5", "i8[1][4][4][2] i8[2][2][4]", "i32[1][4][4][4]", NULL },
    { "pad=1,1,0,0 zero_w=-100", "i8[1][4][4][2] i8[2][2][4]", "i32[1][4][4][4]", NULL },
    { "", "f32[1][4][5][3] f32[3][3][4]", NULL, "a multiple of the input's 3" },
    { 0 }
};
static const OpCase conv3d_cases[] = {
    { "", "f32[1][3][4][5][2] f32[2][2][3][2][3]", "f32[1][2][3][3][3]", NULL },
    { "stride=2,1,2 pad=1,1,1,1,1,1 groups=2", "f32[1][3][3][4][2] f32[3][3][3][1][4]", "f32[1][2][3][2][4]", NULL },
    { "", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "use ranks 5 and 5" },
    { 0 }
};
static const OpCase conv1d_transpose_cases[] = {
    { "stride=2", "f32[1][4][2] f32[3][2][3]", "f32[1][9][3]", NULL },
    { "stride=3 extra=1 pad=1,0", "f32[2][3][1] f32[2][1][2]", "f32[2][8][2]", NULL },
    { "stride=2 dilation=3", "f32[1][3][1] f32[2][1][1]", "f32[1][8][1]", NULL },
    { "pad=9,9", "f32[1][4][2] f32[3][2][3]", NULL, "1 to 2^30 output elements" },
    { "", "f32[1][4][2] f32[3][3][3]", NULL, "; use [..][c]" },
    { 0 }
};
static const OpCase conv2d_transpose_cases[] = {
    { "", "f32[1][3][3][1] f32[3][3][1][2]", "f32[1][5][5][2]", NULL },
    { "stride=3,2 extra=1,1", "f32[1][3][3][1] f32[3][3][1][2]", "f32[1][10][8][2]", NULL },
    { "stride=2,3 pad=1,2,1,2 dilation=2,2", "f32[1][3][4][2] f32[3][2][2][3]", "f32[1][7][8][3]", NULL },
    { "stride=2 groups=2", "f32[1][2][2][4] f32[2][2][4][3]", "f32[1][4][4][6]", NULL },
    { 0 }
};
static const OpCase conv2d_transpose_hybrid_cases[] = {
    { "", "i16[1][3][3][1] i8[3][3][1][2] f32[2] f32[1]", "f32[1][5][5][2]", NULL },
    { "stride=2,3 pad=1,2,1,2", "i16[2][3][4][2] i8[3][2][2][3] f32[3] f32[2]", "f32[2][5][7][3]", NULL },
    { "", "i16[1][3][3][1] i8[3][3][1][2] f32[1] f32[1]", NULL, "f32 [o] and f32 [n]" },
    { 0 }
};
static const OpCase conv3d_transpose_cases[] = {
    { "stride=2", "f32[1][2][2][3][1] f32[2][3][2][1][2]", "f32[1][4][5][6][2]", NULL },
    { 0 }
};

#define ROW(fn, formula_text, attrs) \
    .name = #fn, .summary = formula_text, .level = 2, .least_inputs = 2, .most_inputs = 2, .inputs = "x k", \
    .attr = attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.has_windows = true, \
    .quantization.is_bilinear = true, .cases = fn##_cases
#define CONV(fn, formula_text, attrs) ROW(fn, formula_text, attrs), .fold.weights = 1, .meaning.simplify = fold_zero

const Op ops_conv[] = {
    { CONV(conv1d, "y[n,w,o] = sum(j,c) x[n,w*sw+j*dw-pw,c] * k[j,c,o]", conv_attrs) },
    { CONV(conv2d, "y[n,h,w,o] = sum(i,j,c) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c] * k[i,j,c,o]", conv_attrs) },
    { CONV(conv3d, "y[n,d,h,w,o] = sum(t,i,j,c) x[n,d*sd+t*dd-pd,h*sh+i*dh-ph,w*sw+j*dw-pw,c] * k[t,i,j,c,o]",
      conv_attrs) },
    { CONV(depthwise_conv1d, "y[n,w,o] = sum(j) x[n,w*sw+j*dw-pw,o/m] * k[j,o]", depthwise_attrs) },
    { CONV(depthwise_conv2d, "y[n,h,w,o] = sum(i,j) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,o/m] * k[i,j,o]", depthwise_attrs) },
    { ROW(conv1d_transpose, "y[n,w,o] = sum(j,c) x[n,(w+pw-j)/sw,c] * k[j,c,o] where the quotient is exact",
      transpose_attrs) },
    { ROW(conv2d_transpose,
      "y[n,h,w,o] = sum(i,j,c) x[n,(h+ph-i)/sh,(w+pw-j)/sw,c] * k[i,j,c,o] where the quotients are exact",
      transpose_attrs) },
    { .name = "conv2d_transpose_hybrid",
      .summary = "y[n,h,w,o] = sum(i,j,c) f32(x[n,(h+ph-i)/sh,(w+pw-j)/sw,c] * k[i,j,c,o]) * sk[o] * sx[n], i and j "
                 "descending, where the quotients are exact",
      .level = 11, .least_inputs = 4, .most_inputs = 4, .inputs = "x k sk sx", .attr = transpose_hybrid_attrs,
      .meaning.compute = conv2d_transpose_hybrid, .fusion.pattern = PATTERN_OUT_FUSABLE,
      .gradient.refusal = "of inputs that are rounded to 8 bits; conv2d_transpose in floats is accepted "
                          "(of a TFLite network: --hybrid float)",
      .cases = conv2d_transpose_hybrid_cases },
    { ROW(conv3d_transpose, "y[n,d,h,w,o] = sum(t,i,j,c) x[n,(d+pd-t)/sd,(h+ph-i)/sh,(w+pw-j)/sw,c] * k[t,i,j,c,o]",
      transpose_attrs) },
    { 0 }
};
