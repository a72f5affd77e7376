/* SPDX-License-Identifier: MIT */
/* Convolutions, channels last, over one or two spatial dimensions. For two, with strides s, dilations d and padding p:
 *
 *   conv2d            y[n,h,w,o] = sum(i,j,c) x[n, h*sh+i*dh-ph, w*sw+j*dw-pw, c] * k[i,j,c,o]     0 outside of x
 *   conv2d, g groups  x's channel is o / (O/g) * (C/g) + c
 *   depthwise_conv2d  y[n,h,w,o] = sum(i,j)   x[n, .., .., o / m] * k[i,j,o]                       m = O / C
 *
 * x: [n][h][w][c]   k: [kh][kw][c/g][o], depthwise [kh][kw][c*m]. A bias is an addition of its own. */
#include "graph/op_build.h"

enum { MAX_SPATIAL = 2, GREATEST = 1 << 20 };

typedef struct Windows {
    int spatial;
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[2 * MAX_SPATIAL];
    const Expr *extent[MAX_SPATIAL];     /* of the output */
    bool leaves_input;                   /* some window reaches outside of x */
} Windows;

/* floor((n + pads - ((kernel - 1) * dilation + 1)) / stride) + 1 */
static const Expr *windows_along(Ctx *cx, const Windows *w, int d, const Expr *size)
{
    int64_t taken = (w->kernel[d] - 1) * w->dilation[d] + 1 - w->pad[d] - w->pad[w->spatial + d];
    if (taken) size = expr_sub(cx, size, expr_index(cx, taken));
    if (w->stride[d] != 1) size = expr_binary(cx, EXPR_FLOORDIV, size, expr_index(cx, w->stride[d]));
    return expr_add(cx, size, expr_index(cx, 1));
}

static bool read_windows(Ctx *cx, const Node *n, Windows *w)
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
        if (size >= 0 && count < 1) {
            op_refuse(cx, n, "a kernel of %lld with dilation %lld does not fit into %lld elements with padding %lld and %lld",
                      (long long)w->kernel[d], (long long)w->dilation[d], (long long)size, (long long)w->pad[d], (long long)w->pad[s + d]);
            return false;
        }
    }
    return true;
}

static bool check_ranks(Ctx *cx, const Node *n, int spatial, bool is_depthwise)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    int kernel_rank = spatial + (is_depthwise ? 1 : 2);
    if (!op_same_type(cx, n)) return false;
    if (x->rank != spatial + 2 || k->rank != kernel_rank) {
        op_refuse(cx, n, "the input is %s and the kernel %s; ranks %d and %d are wanted", tensor_shape_text(cx, x),
                  tensor_shape_text(cx, k), spatial + 2, kernel_rank);
        return false;
    }
    if (tensor_is_fixed(k) && tensor_dim(x, x->rank - 1) >= 1 && tensor_elems(k) > 0) return true;
    op_refuse(cx, n, "the kernel %s and the input's channels must be fixed and not empty, but the input is %s",
              tensor_shape_text(cx, k), tensor_shape_text(cx, x));
    return false;
}

/* How the channel of x follows from the output channel o (and c). NULL: refused. */
static const char *depthwise_channel(Ctx *cx, const Node *n, int64_t in, int64_t out)
{
    if (out % in == 0) return out == in ? "o" : text_format(cx, "o/%lld", (long long)(out / in));
    op_refuse(cx, n, "the kernel has %lld channels, which is no multiple of the input's %lld", (long long)out, (long long)in);
    return NULL;
}

static const char *grouped_channel(Ctx *cx, const Node *n, int64_t in, int64_t out, int64_t each)
{
    int64_t groups = node_int(n, "groups", 1);
    if (groups < 1 || in % groups != 0 || out % groups != 0)
        op_refuse(cx, n, "'groups' is %lld but there are %lld input and %lld output channels", (long long)groups, (long long)in, (long long)out);
    else if (each != in / groups)
        op_refuse(cx, n, "the kernel has %lld input channels, but the input has %lld in %lld group%s", (long long)each,
                  (long long)in, (long long)groups, groups == 1 ? "" : "s");
    else return groups == 1 ? "c" : text_format(cx, "o/%lld*%lld+c", (long long)(out / groups), (long long)each);
    return NULL;
}

static int conv(Ctx *cx, const Node *n, int spatial, bool is_depthwise, Tensor **out)
{
    static const char axes[] = "hw", taps[] = "ij";
    Windows w = { 0 };
    if (!check_ranks(cx, n, spatial, is_depthwise) || !read_windows(cx, n, &w)) return 0;
    Tensor *x = n->in[0], *k = n->in[1];
    int64_t in = tensor_dim(x, x->rank - 1), channels = tensor_dim(k, k->rank - 1);
    const char *channel = is_depthwise ? depthwise_channel(cx, n, in, channels)
                                       : grouped_channel(cx, n, in, channels, tensor_dim(k, spatial));
    if (!channel) return 0;

    Text lhs = text_new(cx), over = text_new(cx), at = text_new(cx);
    for (int d = 0; d < spatial; d++) {
        char axis = axes[MAX_SPATIAL - spatial + d], tap = taps[MAX_SPATIAL - spatial + d];
        text_printf(&lhs, "%c<extent_%c,", axis, axis);
        text_printf(&over, "%s%c", d ? "," : "", tap);
        text_printf(&at, "%s,", affine_text(cx, axis, w.stride[d], tap, w.dilation[d], -w.pad[d]));
    }
    const char *c = is_depthwise ? "" : ",c";
    const char *read = text_format(cx, "x[n,%s%s]%s * k[%s%s,o]", at.at, channel, w.leaves_input ? "?" : "", over.at, c);
    const char *body = w.leaves_input ? text_format(cx, "(%s : 0)", read) : read;
    const char *text = text_format(cx, "y[n,%so] = sum(%s%s) %s", lhs.at, over.at, c, body);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", x), BIND_T("k", k), BIND_V("extent_h", w.extent[0]),
                        BIND_V("extent_w", w.extent[spatial - 1]));
    return out[0] ? 1 : 0;
}

static int conv1d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 1, false, out); }
static int conv2d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 2, false, out); }
static int depthwise_conv1d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 1, true, out); }
static int depthwise_conv2d(Ctx *cx, const Node *n, Tensor **out) { return conv(cx, n, 2, true, out); }

static const AttrRow conv_attrs[] = {
    { "stride",   ATTR_INTS, "distance of neighbouring windows, one for each spatial dimension or one for all", NULL },
    { "dilation", ATTR_INTS, "distance of neighbouring taps, likewise", NULL },
    { "pad",      ATTR_INTS, "zeros before each spatial dimension, then after each: top,left,bottom,right", NULL },
    { "groups",   ATTR_INT,  "groups of channels that do not see each other", "1" },
    { 0 }
};
static const AttrRow depthwise_attrs[] = {
    { "stride",   ATTR_INTS, "distance of neighbouring windows, one for each spatial dimension or one for all", NULL },
    { "dilation", ATTR_INTS, "distance of neighbouring taps, likewise", NULL },
    { "pad",      ATTR_INTS, "zeros before each spatial dimension, then after each: top,left,bottom,right", NULL },
    { 0 }
};

static const OpCase conv1d_cases[] = {
    { "", "f32[1][9][2] f32[3][2][4]", "f32[1][7][4]", NULL },
    { "stride=2 pad=1,2 dilation=2", "f32[2][9][2] f32[3][2][4]", "f32[2][4][4]", NULL },
    { "groups=2", "f32[1][5][4] f32[1][2][6]", "f32[1][5][6]", NULL },
    { "", "f32[1][2][2] f32[3][2][4]", NULL, "does not fit" },
    { 0 }
};
static const OpCase conv2d_cases[] = {
    { "", "f32[1][5][6][3] f32[3][3][3][4]", "f32[1][3][4][4]", NULL },
    { "stride=2,2 pad=1,1,1,1", "f32[1][8][8][3] f32[3][3][3][4]", "f32[1][4][4][4]", NULL },
    { "stride=2,1 pad=0,2,1,0 dilation=1,2", "f32[2][5][7][2] f32[3][2][2][3]", "f32[2][2][7][3]", NULL },
    { "groups=2 pad=1,1,1,1", "f32[1][4][4][4] f32[3][3][2][6]", "f32[1][4][4][6]", NULL },
    { "", "f32[1][2][2][3] f32[1][1][3][2]", "f32[1][2][2][2]", NULL },
    { "", "f64[1][3][3][1] f64[2][2][1][1]", "f64[1][2][2][1]", NULL },
    { "groups=3", "f32[1][4][4][16] f32[3][3][5][6]", NULL, "'groups' is 3 but there are 16 input" },
    { "", "f32[1][4][4][3] f32[3][3][4][6]", NULL, "the kernel has 4 input channels, but the input has 3" },
    { "", "f32[4][4][3] f32[3][3][3][6]", NULL, "ranks 4 and 4 are wanted" },
    { "", "f32[1][4][4][3] f64[3][3][3][6]", NULL, "input 1 is f64, but input 0 is f32" },
    { "stride=0,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "'stride' is 0,1" },
    { "stride=1,1,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "'stride' has 3 values, but 2 are needed" },
    { "strides=1,1", "f32[1][4][4][3] f32[3][3][3][6]", NULL, "did you mean 'stride'?" },
    { 0 }
};
static const OpCase depthwise_conv1d_cases[] = {
    { "pad=1,1", "f32[1][6][3] f32[3][3]", "f32[1][6][3]", NULL },
    { "", "f32[1][6][3] f32[3][4]", NULL, "no multiple" },
    { 0 }
};
static const OpCase depthwise_conv2d_cases[] = {
    { "pad=1,1,1,1", "f32[1][4][5][3] f32[3][3][3]", "f32[1][4][5][3]", NULL },
    { "stride=2", "f32[1][5][5][2] f32[3][3][6]", "f32[1][2][2][6]", NULL },
    { "", "f32[1][4][5][3] f32[3][3][4]", NULL, "no multiple" },
    { 0 }
};

#define CONV(fn, formula_text, attrs) \
    .name = #fn, .summary = formula_text, .level = 2, .pattern = PATTERN_OUT_FUSABLE, .least_inputs = 2, .most_inputs = 2, \
    .inputs = "x k", .attr = attrs, .compute = fn, .weights = 1, .cases = fn##_cases

const Op ops_conv[] = {
    { CONV(conv1d, "y[n,w,o] = sum(j,c) x[n,w*sw+j*dw-pw,c] * k[j,c,o]", conv_attrs) },
    { CONV(conv2d, "y[n,h,w,o] = sum(i,j,c) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c] * k[i,j,c,o]", conv_attrs) },
    { CONV(depthwise_conv1d, "y[n,w,o] = sum(j) x[n,w*sw+j*dw-pw,o/m] * k[j,o]", depthwise_attrs) },
    { CONV(depthwise_conv2d, "y[n,h,w,o] = sum(i,j) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,o/m] * k[i,j,o]", depthwise_attrs) },
    { 0 }
};
