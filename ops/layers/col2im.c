/* SPDX-License-Identifier: MIT */
/* Adds windows x [n][c*K][L] into an image of S dimensions; overlapping taps accumulate. K counts the taps of a
 * window, L the windows; both are in row-major order. The formula gathers: each image element sums its taps, with
 * kernel k, strides s, dilations d and padding p:
 *
 *   y[n,c,h,w] = sum(i<kh,j<kw) x[n, (c*kh + i)*kw + j, a*Lw + b]
 *                where a*sh + i*dh - ph = h and b*sw + j*dw - pw = w */
#include "graph/dag/op_build.h"

typedef struct Columns { Sliding w; int64_t taps, windows; } Columns;

static bool read_columns(Ctx *cx, const Node *n, Columns *c)
{
    const Attr *image = node_attr(n, "image");
    Sliding *w = &c->w;
    w->spatial = image ? image->count : 0;
    c->taps = c->windows = 1;
    if (w->spatial < 1 || w->spatial > MOST_SPATIAL) {
        op_refuse(cx, n, "'image' has %d sizes; 1 to %d are accepted", w->spatial, MOST_SPATIAL);
        return false;
    }
    if (!op_ints(cx, n, "image", w->spatial, 1, GREATEST_STRIDE, 1, w->size)
        || !op_ints(cx, n, "kernel", w->spatial, 1, GREATEST_STRIDE, 1, w->kernel) || !op_sliding(cx, n, w))
        return false;
    for (int d = 0; d < w->spatial && c->taps <= INT32_MAX && c->windows <= INT32_MAX; d++)
        c->taps *= w->kernel[d], c->windows *= w->count[d];
    const Tensor *x = n->in[0];
    if (x->rank == 3 && c->windows >= 1 && tensor_dim(x, 2) == c->windows && tensor_dim(x, 1) >= 1
        && tensor_dim(x, 1) % c->taps == 0 && x->type != BOOL)
        return true;
    op_refuse(cx, n, "the input is %s%s; numbers [n][c * %lld][%lld] are expected", dtype_info(x->type)->spelling,
              tensor_shape_text(cx, x), (long long)c->taps, (long long)c->windows);
    return false;
}

static int col2im(Ctx *cx, const Node *n, Tensor **out)
{
    Columns c;
    if (!read_columns(cx, n, &c)) return 0;
    const Sliding *w = &c.w;
    Text lhs = text_new(cx), over = text_new(cx), condition = text_new(cx);
    const char *tap = "c", *window = "0";
    for (int d = 0; d < w->spatial; d++) {
        const char *from = text_format(cx, "(p%d+%lld-i%d*%lld)", d, (long long)w->pad[d], d,
                                       (long long)w->dilation[d]);
        const char *at = text_format(cx, "%s/%lld", from, (long long)w->stride[d]);
        text_printf(&lhs, ",p%d<%lld", d, (long long)w->size[d]);
        text_printf(&over, "%si%d<%lld", d ? "," : "", d, (long long)w->kernel[d]);
        text_printf(&condition, "%s%s%%%lld == 0 && %s >= 0 && %s < %lld", d ? " && " : "", from,
                    (long long)w->stride[d], at, at, (long long)w->count[d]);
        tap = text_format(cx, "(%s)*%lld+i%d", tap, (long long)w->kernel[d], d);
        window = text_format(cx, "(%s)*%lld+%s", window, (long long)w->count[d], at);
    }
    out[0] = OP_FORMULA(cx, n,
                        text_format(cx, "y[n,c<%lld%s] = sum(%s) (select(%s, x[n,%s,%s]?, 0) : 0)",
                                    (long long)(tensor_dim(n->in[0], 1) / c.taps), text_string(&lhs),
                                    text_string(&over), text_string(&condition), tap, window),
                        BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static const AttrRow col2im_attrs[] = {
    { "image",    ATTR_INTS, "the sizes of the image", NULL },
    { "kernel",   ATTR_INTS, "window sizes, one per dimension or one for all", NULL },
    { "stride",   ATTR_INTS, "distance between adjacent windows, likewise", NULL },
    { "dilation", ATTR_INTS, "distance between adjacent taps, likewise", NULL },
    { "pad",      ATTR_INTS, "padding before each dimension, then after each", NULL },
    { 0 }
};
static const OpCase col2im_cases[] = {
    { "image=5,5 kernel=1,5", "f32[1][5][5]", "f32[1][1][5][5]", NULL },
    { "image=4,5 kernel=2,3 stride=2,1 pad=0,1,0,1", "f32[2][12][10]", "f32[2][2][4][5]", NULL },
    { "image=7 kernel=3 dilation=2", "i32[1][3][3]", "i32[1][1][7]", NULL },
    { "image=3,4,5 kernel=1,2,5 stride=1,2,1", "f64[1][20][6]", "f64[1][2][3][4][5]", NULL },
    { "image=5,5 kernel=1,5", "f32[1][5][6]", NULL, "[n][c * 5][5]" },
    { "kernel=3", "f32[1][3][3]", NULL, "'image' has 0 sizes" },
    { 0 }
};

const Op ops_col2im[] = {
    { .name = "col2im", .summary = "y[n,c,h,w] = sum of the windows' taps at h,w: x[n, (c*kh+i)*kw+j, window]",
      .level = 5, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = col2im_attrs, .meaning.compute = col2im,
      .fusion.pattern = PATTERN_REDUCTION, .cases = col2im_cases },
    { 0 }
};
