/* SPDX-License-Identifier: MIT */
/* Translates sliding windows over images. ONNX has channels second and kernels [o][c][kh][kw]; the IR has channels last
 * and [kh][kw][c][o]. Transposes surround each call; the layout pass cancels most of them in pairs. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

enum { MAX_SPATIAL = 3 };

typedef struct OnnxWindows {
    int spatial;
    int64_t size[MAX_SPATIAL], kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[2 * MAX_SPATIAL];
    bool is_transposed;                  /* true for transposed convolutions, for which SAME has a different meaning */
} OnnxWindows;

static bool read_list(OnnxCall *c, const char *attr, int64_t *out, int count)
{
    int found = onnx_ints(c, attr, -1, out, count);
    if (found == -1 || found == count) return true;
    if (found >= 0) onnx_refuse(c, "'%s' has %d values; use %d values", attr, found, count);
    return false;
}

/* Sets the pads of SAME: the number of windows is the input size divided by the stride, rounded up. Both ends of the
 * dimension are padded; an odd element is at the end (UPPER) or at the start (LOWER). With a stride of 1 the padding is
 * independent of the size, so the size may be open. */
static void pad_same(OnnxCall *c, OnnxWindows *w, int d, bool upper)
{
    if (w->size[d] < 0 && w->stride[d] > 1)
        onnx_unsupported(
            c, "'auto_pad' is SAME with a stride of %lld over an open dimension; use 'pads' or a stride of 1",
            (long long)w->stride[d]);
    int64_t size = w->size[d] < 0 ? 1 : w->size[d], count = (size + w->stride[d] - 1) / w->stride[d];
    int64_t total = (count - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - size;
    if (total < 0) total = 0;
    int64_t less = total / 2;
    w->pad[d] = upper ? less : total - less;
    w->pad[w->spatial + d] = total - w->pad[d];
}

static bool read_windows(OnnxCall *c, const Tensor *x, OnnxWindows *w)
{
    const char *automatic = onnx_text(c, "auto_pad", "NOTSET");
    bool is_same = strcmp(automatic, "SAME_UPPER") == 0 || strcmp(automatic, "SAME_LOWER") == 0;
    if (!is_same && strcmp(automatic, "VALID") != 0 && strcmp(automatic, "NOTSET") != 0 && *automatic) {
        onnx_refuse(c, "'auto_pad' is \"%s\"; use NOTSET, SAME_UPPER, SAME_LOWER or VALID", automatic);
        return false;
    }
    if (!read_list(c, "kernel_shape", w->kernel, w->spatial) || !read_list(c, "strides", w->stride, w->spatial)
        || !read_list(c, "dilations", w->dilation, w->spatial) || !read_list(c, "pads", w->pad, 2 * w->spatial))
        return false;
    for (int d = 0; d < w->spatial; d++) {
        w->size[d] = tensor_dim(x, 2 + d);
        static const char *const names[] = { "kernel", "stride", "dilation" };
        const int64_t of[] = { w->kernel[d], w->stride[d], w->dilation[d] };
        for (int i = 0; i < 3; i++)
            if (!onnx_holds(c, of[i] >= 1 && of[i] <= 1 << 20, "the %s is %lld; use 1 to %d", names[i],
                            (long long)of[i], 1 << 20))
                return false;
        if (is_same && !w->is_transposed) pad_same(c, w, d, strcmp(automatic, "SAME_UPPER") == 0);
        else if (strcmp(automatic, "VALID") == 0) w->pad[d] = w->pad[w->spatial + d] = 0;
    }
    return !ctx_failed(c->cx);
}

static int64_t at_least_one(int64_t v) { return v < 1 ? 1 : v; }

/* Returns the smallest size of dimension d into which one window fits. */
static int64_t reach_of(const OnnxWindows *w, int d)
{
    return (w->kernel[d] - 1) * w->dilation[d] + 1 - w->pad[d] - w->pad[w->spatial + d];
}

/* Returns x; the run tests that one window of a convolution fits into the sizes that it decides. */
static Tensor *fit_kernel(OnnxCall *c, Tensor *x, const OnnxWindows *w)
{
    for (int d = 0; d < w->spatial; d++) x = onnx_at_least(c, x, 2 + d, at_least_one(reach_of(w, d)));
    return x;
}

/* Returns x after a test by the run that at least one window of the pooling fits. With stride 1, a size that is one
 * element too small is allowed and gives an empty result. With a larger stride such a size is not allowed, because ONNX
 * Runtime then deviates from the definition. `ceil_mode` allows a last window with only one element. */
static Tensor *fit_pool(OnnxCall *c, Tensor *x, const OnnxWindows *w, bool ceil_mode)
{
    for (int d = 0; d < w->spatial; d++) {
        const int64_t less = ceil_mode ? w->stride[d] - 1 : w->stride[d] == 1;
        x = onnx_at_least(c, x, 2 + d, at_least_one(reach_of(w, d) - less));
    }
    return x;
}

/* Begins with the windows' defaults; refuses images without one to three spatial dimensions. */
static bool start_windows(OnnxCall *c, const Tensor *x, OnnxWindows *w)
{
    *w = (OnnxWindows){ .spatial = x->rank - 2, .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 } };
    if (w->spatial >= 1 && w->spatial <= MAX_SPATIAL) return true;
    onnx_unsupported(c, "the input is %s; use [n][c][w], [n][c][h][w] or [n][c][d][h][w]",
                     tensor_shape_text(c->cx, x));
    return false;
}

/* Transposes [o][c][kh][kw] to [kh][kw][c][o]. */
static Tensor *kernel_last(OnnxCall *c, Tensor *k)
{
    int64_t perm[MAX_RANK] = { 0 };
    for (int d = 2; d < k->rank; d++) perm[d - 2] = d;
    perm[k->rank - 2] = 1;
    return onnx_call(c, "transpose", k, attr_ints("perm", perm, k->rank));
}

/* Reads the attributes of all operators with windows. */
#define KERNEL(w) attr_ints("kernel", (w)->kernel, (w)->spatial)
#define WINDOWS(w) attr_ints("stride", (w)->stride, (w)->spatial), \
                   attr_ints("dilation", (w)->dilation, (w)->spatial), attr_ints("pad", (w)->pad, 2 * (w)->spatial)

Tensor *onnx_convolve(OnnxCall *c, Tensor *x, Tensor *k, Tensor *bias)
{
    Ctx *cx = c->cx;
    OnnxWindows w;
    if (!x || !k || !start_windows(c, x, &w)) return NULL;
    if (k->rank != x->rank) {
        onnx_refuse(c, "the input is %s but the kernel is %s; use equal ranks", tensor_shape_text(cx, x),
                    tensor_shape_text(cx, k));
        return NULL;
    }
    for (int d = 0; d < w.spatial; d++) w.kernel[d] = tensor_dim(k, 2 + d);
    if (!read_windows(c, x, &w)) return NULL;
    for (int d = 0; d < w.spatial; d++)
        if (w.kernel[d] != tensor_dim(k, 2 + d)) {
            onnx_refuse(c, "'kernel_shape' is %s but the kernel is %s; use the kernel's sizes after the first two",
                        ints_text(cx, w.kernel, w.spatial), tensor_shape_text(cx, k));
            return NULL;
        }
    int64_t groups = onnx_int(c, "group", 1), channels = tensor_dim(x, 1);
    if (groups < 1 || channels % groups != 0) {
        onnx_refuse(c, "'group' is %lld but the input has %lld channels; use a divisor of the channels",
                    (long long)groups, (long long)channels);
        return NULL;
    }
    x = fit_kernel(c, x, &w);
    bool is_depthwise = w.spatial <= 2 && groups > 1 && groups == channels && tensor_dim(k, 1) == 1;
    k = kernel_last(c, k);
    if (is_depthwise && k) {
        int64_t shape[MAX_SPATIAL + 1] = { 0 };
        memcpy(shape, w.kernel, sizeof w.kernel);
        shape[w.spatial] = tensor_dim(k, k->rank - 1);
        k = onnx_reshape(c, k, shape, w.spatial + 1);
    }
    const char *op = text_format(cx, "%sconv%dd", is_depthwise ? "depthwise_" : "", w.spatial);
    Tensor *y = onnx_call2(c, op, onnx_channels_last(c, x), k, WINDOWS(&w),
                           attr_if(!is_depthwise, attr_int("groups", groups)));
    if (bias) y = onnx_call2(c, "add", y, bias);
    return onnx_channels_second(c, y);
}

static void conv(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = onnx_convolve(c, c->in[0], c->in[1], onnx_in(c, 2));
}

/* Translates Col2Im. Inputs 1 and 2 are the sizes of the image and of the window. */
static void col2im(OnnxCall *c)
{
    int64_t image[MAX_SPATIAL];
    OnnxWindows w = { .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 } };
    if (!onnx_requires(c, 3)) return;
    w.spatial = onnx_ints(c, NULL, 1, image, MAX_SPATIAL);
    if (ctx_failed(c->cx)) return;
    if (onnx_ints(c, NULL, 2, w.kernel, MAX_SPATIAL) != w.spatial)
        onnx_refuse(c, "there are %d sizes of the image; use the same number of window sizes", w.spatial);
    if (ctx_failed(c->cx) || !read_list(c, "strides", w.stride, w.spatial)
        || !read_list(c, "dilations", w.dilation, w.spatial) || !read_list(c, "pads", w.pad, 2 * w.spatial))
        return;
    c->out[0] = onnx_call(c, "col2im", c->in[0], attr_ints("image", image, w.spatial), KERNEL(&w), WINDOWS(&w));
}

/* Translates DeformConv. The second dimension of offsets and mask has the taps, where x has the channels. */
static void deform_conv(OnnxCall *c)
{
    OnnxWindows w;
    if (!onnx_requires(c, 3) || !start_windows(c, c->in[0], &w)) return;
    if (w.spatial != 2 || c->in[1]->rank != 4) {
        onnx_unsupported(c, "the input is %s and the kernel %s; use an input [n][c][h][w] and a kernel of four "
                            "dimensions",
                         tensor_shape_text(c->cx, c->in[0]), tensor_shape_text(c->cx, c->in[1]));
        return;
    }
    for (int d = 0; d < 2; d++) w.kernel[d] = tensor_dim(c->in[1], 2 + d);
    if (!read_windows(c, c->in[0], &w)) return;
    Tensor *mask = onnx_in(c, 4), *x = onnx_channels_last(c, c->in[0]), *k = kernel_last(c, c->in[1]),
           *offset = onnx_channels_last(c, c->in[2]),
           *in[] = { x, k, offset, mask ? onnx_channels_last(c, mask) : NULL };
    Tensor *y = call(c->cx, "deform_conv2d", c->name, in, mask ? 4 : 3,
                     ATTRS(WINDOWS(&w), attr_int("groups", onnx_int(c, "group", 1)),
                           attr_int("offset_groups", onnx_int(c, "offset_group", 1))));
    if (onnx_in(c, 3)) y = onnx_call2(c, "add", y, c->in[3]);
    c->out[0] = onnx_channels_second(c, y);
}

/* y[.., h*s + i*d - p, .., o] += x[.., h, .., c] * k[c, o, i, ..]. The output's size follows from the pads, or the pads
 * from the size; with auto_pad the output size is the input size times the stride. */
static bool read_transposed(OnnxCall *c, const Tensor *x, OnnxWindows *w, int64_t *extra)
{
    int64_t size[MAX_SPATIAL + 2] = { 0 };      /* the attribute may be the whole shape, with batch and channels */
    const char *automatic = onnx_text(c, "auto_pad", "NOTSET");
    bool is_upper = strcmp(automatic, "SAME_UPPER") == 0, is_same = is_upper || strcmp(automatic, "SAME_LOWER") == 0;
    bool has_size = onnx_attr(c, "output_shape") != NULL;
    if (!read_list(c, "output_padding", extra, w->spatial)) return false;
    int given = onnx_ints(c, "output_shape", -1, size, MAX_SPATIAL + 2);
    if (given == w->spatial + 2) memmove(size, size + 2, sizeof *size * (size_t)w->spatial);
    else if (given != -1 && given != w->spatial)
        onnx_refuse(c, "'output_shape' has %d values; use %d values", given, w->spatial);
    if (ctx_failed(c->cx) || !read_windows(c, x, w)) return false;
    for (int d = 0; d < w->spatial && (has_size || is_same); d++) {
        /* with auto_pad, the padding does not depend on the size */
        const int64_t own = has_size ? tensor_dim(x, 2 + d) : 1;
        if (!has_size) size[d] = own * w->stride[d];
        if (own < 0)
            onnx_unsupported(c, "'output_shape' is given for %s, which is open; use 'pads' or SAME",
                             tensor_shape_text(c->cx, x));
        int64_t total = (own - 1) * w->stride[d] + extra[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - size[d];
        if (total < 0) extra[d] -= total, total = 0;
        w->pad[d] = is_upper ? total / 2 : total - total / 2;
        w->pad[w->spatial + d] = total - w->pad[d];
    }
    return true;
}

static void conv_transpose(OnnxCall *c)
{
    Ctx *cx = c->cx;
    OnnxWindows w;
    int64_t extra[MAX_SPATIAL] = { 0 };
    if (!onnx_requires(c, 2) || !start_windows(c, c->in[0], &w)) return;
    w.is_transposed = true;
    Tensor *x = c->in[0], *k = c->in[1];
    if (k->rank != x->rank) {
        onnx_refuse(c, "the input is %s but the kernel is %s; use equal ranks", tensor_shape_text(cx, x),
                    tensor_shape_text(cx, k));
        return;
    }
    for (int d = 0; d < w.spatial; d++) w.kernel[d] = tensor_dim(k, 2 + d);
    if (!read_transposed(c, x, &w, extra)) return;
    /* requires the smallest size for which the result has an element */
    for (int d = 0; d < w.spatial; d++) {
        const int64_t more = w.pad[d] + w.pad[w.spatial + d] - extra[d] - (w.kernel[d] - 1) * w.dilation[d];
        x = onnx_at_least(c, x, 2 + d, more > 0 ? (more + w.stride[d] - 1) / w.stride[d] + 1 : 1);
    }
    int64_t perm[MAX_RANK] = { 0 };                            /* [c][o][kh][kw] -> [kh][kw][c][o] */
    for (int d = 0; d < k->rank; d++) perm[d] = (d + 2) % k->rank;
    k = onnx_call(c, "transpose", k, attr_ints("perm", perm, k->rank));
    Tensor *y = onnx_call2(c, text_format(cx, "conv%dd_transpose", w.spatial), onnx_channels_last(c, x), k, WINDOWS(&w),
                           attr_ints("extra", extra, w.spatial), attr_int("groups", onnx_int(c, "group", 1)));
    if (onnx_in(c, 2)) y = onnx_call2(c, "add", y, c->in[2]);
    c->out[0] = onnx_channels_second(c, y);
}

/* Translates a pool; `more`: an attribute that only this pool has. */
static void pool(OnnxCall *c, const char *op, Attr more)
{
    OnnxWindows w;
    if (!onnx_requires(c, 1) || !start_windows(c, c->in[0], &w)) return;
    if (!onnx_attr(c, "kernel_shape")) onnx_refuse(c, "'kernel_shape' is missing");
    if (ctx_failed(c->cx) || !read_windows(c, c->in[0], &w)) return;
    const bool ceil_mode = onnx_int(c, "ceil_mode", 0) != 0;
    c->in[0] = fit_pool(c, c->in[0], &w, ceil_mode);
    Tensor *y = onnx_call(c, text_format(c->cx, "%s%dd", op, w.spatial), onnx_channels_last(c, c->in[0]), KERNEL(&w),
                          WINDOWS(&w), attr_flag("ceil_mode", ceil_mode), more);
    c->out[0] = onnx_channels_second(c, y);
}

static void max_pool(OnnxCall *c)
{
    OnnxWindows w;
    pool(c, "max_pool", NO_ATTR);
    if (c->node->out_count < 2 || !*c->node->out[1] || ctx_failed(c->cx) || !start_windows(c, c->in[0], &w)
        || !read_windows(c, c->in[0], &w))
        return;
    Tensor *index = onnx_call(c, "max_pool_index", onnx_channels_last(c, c->in[0]),
                              KERNEL(&w), WINDOWS(&w),
                              attr_flag("ceil_mode", onnx_int(c, "ceil_mode", 0)),
                              attr_flag("columns", onnx_int(c, "storage_order", 0)));
    c->out[1] = onnx_channels_second(c, index);
}

/* Scatters each element to its index. The index is flat in the smallest shape from which pooling gives the input's
 * shape. The end of each axis is then padded up to the requested shape. */
static void max_unpool(OnnxCall *c)
{
    OnnxWindows w;
    int64_t shape[MAX_RANK], requested[MAX_RANK], pads[2 * MAX_RANK] = { 0 }, flat = -1, total = 1;
    if (!onnx_requires(c, 2) || !start_windows(c, c->in[0], &w) || !read_windows(c, c->in[0], &w)) return;
    int rank = c->in[0]->rank, given = onnx_ints(c, NULL, 2, requested, MAX_RANK);
    for (int d = 0; d < rank; d++) {
        shape[d] = tensor_dim(c->in[0], d);
        if (d >= 2)
            shape[d] = (shape[d] - 1) * w.stride[d - 2] + w.kernel[d - 2] - w.pad[d - 2] - w.pad[w.spatial + d - 2];
        if (shape[d] < 1 || total > INT32_MAX / shape[d])
            onnx_refuse(c, "dimension %d of the result would be %lld; use sizes of at least 1, and fewer than 2^31 "
                           "elements in total", d, (long long)shape[d]);
        else if (given == rank && requested[d] < shape[d])
            onnx_refuse(c, "dimension %d of the result is %lld, but 'output_shape' requests %lld; request at least the "
                           "size of the result", d, (long long)shape[d], (long long)requested[d]);
        if (ctx_failed(c->cx)) return;
        total *= shape[d];
        if (given == rank) pads[rank + d] = requested[d] - shape[d];
    }
    Tensor *none = onnx_call(c, "expand", onnx_scalar_like(c, c->in[0], 0), attr_list("shape", total));
    Tensor *view = onnx_reshape(c, c->in[1], &flat, 1);
    Tensor *in[3] = { none, view, onnx_reshape(c, c->in[0], &flat, 1) };
    if (ctx_failed(c->cx)) return;
    Tensor *y = onnx_reshape(c, call(c->cx, "scatter_elements", c->name, in, 3, NULL), shape, rank);
    c->out[0] = given == rank ? onnx_call(c, "pad", y, attr_ints("pad", pads, 2 * rank)) : y;
}

static void average_pool(OnnxCall *c)
{
    pool(c, "avg_pool", attr_if(onnx_int(c, "count_include_pad", 0), attr_flag("count_pad", true)));
}

/* Returns p, which is an integer, or a float in operator set 1. */
static double norm_power(OnnxCall *c)
{
    const OnnxAttr *a = onnx_attr(c, "p");
    return !a ? 2 : a->i ? (double)a->i : a->f;
}

static void lp_pool(OnnxCall *c)
{
    pool(c, "lp_pool", attr_real("p", norm_power(c)));
}

static void global_lp_pool(OnnxCall *c)
{
    double p = norm_power(c);
    if (!onnx_requires(c, 1)) return;
    int64_t image[MAX_RANK];
    for (int d = 2; d < c->in[0]->rank; d++) image[d - 2] = d;
    const Attr axes = attr_ints("axes", image, c->in[0]->rank < 2 ? 0 : c->in[0]->rank - 2),
               keeps = attr_flag("keepdims", true);
    if (p == 1 || p == 2) {
        c->out[0] = onnx_call(c, p == 1 ? "reduce_l1" : "reduce_l2", c->in[0], axes, keeps);
        return;
    }
    Tensor *number = onnx_scalar_like(c, c->in[0], p);
    Tensor *powers = onnx_call2(c, "pow", onnx_call(c, "abs", c->in[0]), number);
    Tensor *exponent = onnx_scalar_like(c, powers, 1 / p);
    c->out[0] = onnx_call2(c, "pow", onnx_call(c, "reduce_sum", powers, axes, keeps), exponent);
}

static void global(OnnxCall *c, const char *op)
{
    if (!onnx_requires(c, 1)) return;
    for (int d = 2; d < c->in[0]->rank; d++) c->in[0] = onnx_at_least(c, c->in[0], d, 1);
    c->out[0] = onnx_channels_second(c, onnx_call(c, op, onnx_channels_last(c, c->in[0])));
}
static void global_average_pool(OnnxCall *c) { global(c, "global_avg_pool"); }
static void global_max_pool(OnnxCall *c) { global(c, "global_max_pool"); }

/* Normalizes by the batch's moments, and updates the running moments. */
static void batch_norm_trained(OnnxCall *c, double epsilon)
{
    Tensor *x = c->in[0];
    int64_t others[MAX_RANK] = { 0 };
    for (int d = 2; d < x->rank; d++) others[d - 1] = d;
    const Attr axes = attr_ints("axes", others, x->rank > 2 ? x->rank - 1 : x->rank > 0);
    double momentum = (double)(float)onnx_real(c, "momentum", 0.9);
    Tensor *mean = onnx_call(c, "reduce_mean", x, axes, attr_flag("keepdims", true));
    Tensor *var = onnx_call(c, "reduce_mean", onnx_call(c, "square", onnx_call2(c, "sub", x, mean)), axes);
    Tensor *y = onnx_call(c, "standardize", x, axes, attr_real("epsilon", epsilon));
    y = onnx_call2(c, "mul", y, onnx_append_ones(c, c->in[1], x->rank - 2));
    c->out[0] = onnx_call2(c, "add", y, onnx_append_ones(c, c->in[2], x->rank - 2));
    Tensor *own[2] = { onnx_call(c, "reduce_mean", x, axes), var };
    for (int i = 0; i < 2; i++) c->out[3 + i] = own[i];
    for (int i = 0; i < 2; i++) {
        Tensor *product = onnx_call2(c, "mul", own[i], onnx_scalar_like(c, x, 1 - momentum));
        c->out[1 + i] = onnx_call2(c, "add", onnx_call2(c, "mul", c->in[3 + i], onnx_scalar_like(c, x, momentum)),
                                   product);
    }
}

/* Returns true if the batch's statistics are used; in operator sets 7 to 13, further outputs request them. */
static bool is_trained(const OnnxCall *c)
{
    bool has_statistics = false;
    for (int i = 1; i < c->node->out_count; i++) has_statistics = has_statistics || *c->node->out[i];
    return c->opset < 14 ? has_statistics : onnx_int(c, "training_mode", 0) != 0;
}

static void batch_norm(OnnxCall *c)
{
    if (!onnx_requires(c, 5)) return;
    if (!onnx_int(c, "spatial", 1) || (c->opset < 7 && !onnx_int(c, "is_test", 0))) {
        onnx_unsupported(c, "spatial=0, or training in an old operator set; use the form over channels");
        return;
    }
    const double epsilon = (double)(float)onnx_real(c, "epsilon", 1e-5);
    if (is_trained(c)) {
        batch_norm_trained(c, epsilon);
        return;
    }
    Tensor *in[5];
    for (int i = 0; i < 5; i++) in[i] = c->in[i];
    in[0] = onnx_channels_last(c, c->in[0]);
    c->out[0] = onnx_channels_second(c, call(c->cx, "batch_norm", c->name, in, 5,
                                             ATTRS(attr_real("epsilon", epsilon),
                                                   attr_real("momentum", onnx_real(c, "momentum", 0.9)))));
}

const OnnxOp onnx_rows_window[] = {
    { ONNX_ROW("AveragePool", 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
      average_pool), .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("BatchNormalization", 5, "epsilon is_test momentum spatial training_mode", batch_norm),
      .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("Col2Im", 3, "dilations pads strides", col2im) },
    { ONNX_ROW("Conv", 3, "auto_pad dilations group kernel_shape pads strides", conv), .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("ConvTranspose", 3, "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
      conv_transpose),
      .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("DeformConv", 5, "dilations group kernel_shape offset_group pads strides", deform_conv) },
    { ONNX_ROW("GlobalAveragePool", 1, "", global_average_pool), .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("GlobalLpPool", 1, "p", global_lp_pool), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("MaxUnpool", 3, "kernel_shape pads strides", max_unpool) },
    { ONNX_ROW("LpPool", 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", lp_pool),
      .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("GlobalMaxPool", 1, "", global_max_pool), .open.keeps = KEEPS_IMAGE },
    { ONNX_ROW("MaxPool", 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", max_pool),
      .open.keeps = KEEPS_IMAGE },
    { 0 }
};
