/* SPDX-License-Identifier: MIT */
/* Adds windows x [n][c*K][L] into an image of S dimensions; overlapping taps accumulate. K counts the taps of a
 * window, L the windows; both are in row-major order. The formula gathers: each image element sums its taps, with
 * kernel k, strides s, dilations d and padding p:
 *
 *   y[n,c,h,w] = sum(i<kh,j<kw) x[n, (c*kh + i)*kw + j, a*Lw + b]
 *                where a*sh + i*dh - ph = h and b*sw + j*dw - pw = w */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

typedef struct Columns { Sliding w; int64_t taps, windows; } Columns;

static bool read_columns(Ctx *cx, const Node *n, Columns *c)
{
    const Attr *image = node_attr(n, "image");
    Sliding *w = &c->w;
    w->spatial = image ? image->count : 0;
    c->taps = c->windows = 1;
    if (w->spatial < 1 || w->spatial > MOST_SPATIAL) {
        op_refuse(cx, n, "'image' has %d sizes; use 1 to %d", w->spatial, MOST_SPATIAL);
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
    op_refuse(cx, n, "the input is %s%s; use a numeric tensor [n][c * %lld][%lld]", dtype_info(x->type)->spelling,
              tensor_shape_text(cx, x), (long long)c->taps, (long long)c->windows);
    return false;
}

static const Expr *both(Ctx *cx, const Expr *a, const Expr *b) { return a ? expr_binary(cx, EXPR_AND, a, b) : b; }

static int col2im(Ctx *cx, const Node *n, Tensor **out)
{
    Columns c;
    if (!read_columns(cx, n, &c)) return 0;
    static const char *const pixels[MOST_SPATIAL] = { "p0", "p1", "p2" }, *const taps[] = { "i0", "i1", "i2" };
    const Sliding *w = &c.w;
    const Tensor *x = n->in[0];
    IndexMap m = { .cx = cx, .call = n };
    const Expr *pixel[MOST_SPATIAL], *tap[MOST_SPATIAL], *inside = NULL, *window = expr_index(cx, 0);
    const Expr *image = index_axis(&m, 'n', x->shape[0]),
               *at = index_axis(&m, 'c', expr_index(cx, tensor_dim(x, 1) / c.taps));
    for (int d = 0; d < w->spatial; d++) pixel[d] = index_axis_named(&m, pixels[d], expr_index(cx, w->size[d]));
    for (int d = 0; d < w->spatial; d++) tap[d] = index_tap(&m, taps[d], expr_index(cx, w->kernel[d]));
    for (int d = 0; d < w->spatial; d++) {
        const Expr *step = expr_mul(cx, tap[d], expr_index(cx, w->dilation[d])),
                   *from = expr_sub(cx, expr_add(cx, pixel[d], expr_index(cx, w->pad[d])), step);
        const Expr *own = index_over(cx, from, w->stride[d]);
        inside = both(cx, inside, expr_binary(cx, EXPR_EQ, index_modulo(cx, from, w->stride[d]), expr_index(cx, 0)));
        inside = both(cx, inside, expr_binary(cx, EXPR_LE, expr_index(cx, 0), own));
        inside = both(cx, inside, expr_binary(cx, EXPR_LT, own, expr_index(cx, w->count[d])));
        at = expr_add(cx, expr_mul(cx, at, expr_index(cx, w->kernel[d])), tap[d]);
        window = expr_add(cx, expr_mul(cx, window, expr_index(cx, w->count[d])), own);
    }
    at = index_simplified(&m, at), window = index_simplified(&m, window);
    const Expr *read = index_read(&m, x, (const Expr *[]){ image, at, window });
    out[0] = index_reduced(&m, REDUCE_SUM, index_or_zero(&m, expr_select(cx, inside, read, expr_int(cx, x->type, 0))));
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
