/* SPDX-License-Identifier: MIT */
/* Interpolation from tables, and at places that are data.
 *
 *   resample     y[i] = sum(t) x[index[i,t]] * weight[i,t]              along one axis
 *   grid_sample  y[n,h,w,c] = x at grid[n,h,w] in (x, y) from -1 to 1   nearest, bilinear or cubic */
#include "graph/op_build.h"

#include <string.h>

static int resample(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1], *weight = n->in[2];
    int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0 || !op_float(cx, n)) return 0;
    int64_t size = tensor_dim(x, axis), count = index->rank == 2 ? tensor_dim(index, 0) : -1, taps = index->rank == 2 ? tensor_dim(index, 1) : -1;
    if (size < 1 || count < 1 || taps < 1 || index->type != I32 || weight->type != x->type || weight->rank != 2 || tensor_dim(weight, 0) != count || tensor_dim(weight, 1) != taps) {
        op_refuse(cx, n, "index %s%s and weight %s for %s; i32[places][taps] and weights of the input's type are wanted", dtype_info(index->type)->spelling,
                  tensor_shape_text(cx, index), tensor_shape_text(cx, weight), tensor_shape_text(cx, x));
        return 0;
    }
    char c = axis_letter(x->rank, axis);
    const char *at = text_format(cx, "max(0, min(%lld, index[%c,tap]))", (long long)size - 1, c);
    out[0] = OP_FORMULA(cx, n, text_format(cx, "y[%s] = sum(tap) x[%s] * weight[%c,tap]", axes_with(cx, x->rank, axis, text_format(cx, "%c<%lld", c, (long long)count)),
                                           axes_with(cx, x->rank, axis, at), c), BIND_T("x", n->in[0]), BIND_T("index", n->in[1]), BIND_T("weight", n->in[2]));
    return out[0] ? 1 : 0;
}

static Node *permute_resample(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    if (inputs[1] || inputs[2] || !inputs[0]) return NULL;
    Attr attr = *node_attr(n, "axis");
    attr.integer = perm[attr.integer < 0 ? attr.integer + n->in[0]->rank : attr.integer];
    return op_call(cx, n->op, n->name, (Tensor *[]){ inputs[0], n->in[1], n->in[2] }, 3, &attr, 1);
}

/* ---- At places that are data --------------------------------------------------------------------------------------- */

/* From -1..1 to pixels: the ends are the outer pixels' centres, or the image's edges. */
static const char *pixel_text(Ctx *cx, const char *g, int64_t size, bool align)
{
    return align ? text_format(cx, "(%s + 1) * %lld * 0.5", g, (long long)size - 1) : text_format(cx, "((%s + 1) * %lld - 1) * 0.5", g, (long long)size);
}

/* Mirrored at both ends until it lies inside; the ends are the outer pixels' centres, or half a pixel further. */
static const char *reflected_text(Ctx *cx, const char *p, int64_t size, bool align)
{
    long long last = (long long)size - 1;
    if (align && size == 1) return text_format(cx, "%s * 0", p);
    const char *low = align ? "0" : "0.5", *period = text_format(cx, "%lld.0", align ? 2 * last : 2 * (long long)size);
    const char *folded = text_format(cx, "fmod(abs(%s + %s), %s)", p, low, period);
    return text_format(cx, "min(%s, %s - %s) - %s", folded, period, folded, low);
}

/* Of a cubic sample each tap is mirrored, or brought to the edge, by itself. */
static const char *tap_text(Ctx *cx, const char *k, int64_t size, bool align, bool reflects)
{
    long long last = (long long)size - 1, period = align ? 2 * last : 2 * (long long)size;
    if (!reflects) return text_format(cx, "max(0, min(%lld, %s))", last, k);
    return size == 1 ? "0" : text_format(cx, "min((%s)%%%lld, %lld - (%s)%%%lld)", k, period, align ? period : period - 1, k, period);
}

typedef struct Sampling { bool align, reflects, stays, is_nearest, is_cubic; } Sampling;

static bool read_sampling(Ctx *cx, const Node *n, Sampling *s)
{
    const char *mode = node_text(n, "mode", "linear"), *padding = node_text(n, "padding", "zeros");
    *s = (Sampling){ .align = node_int(n, "align", 0) != 0, .reflects = strcmp(padding, "reflection") == 0, .is_nearest = strcmp(mode, "nearest") == 0,
                      .is_cubic = strcmp(mode, "cubic") == 0 };
    s->stays = s->reflects || strcmp(padding, "border") == 0;
    if ((s->is_nearest || s->is_cubic || strcmp(mode, "linear") == 0) && (s->stays || strcmp(padding, "zeros") == 0)) return true;
    op_refuse(cx, n, "mode \"%s\" and padding \"%s\"; nearest, linear, cubic and zeros, border, reflection are accepted", mode, padding);
    return false;
}

/* The pixel coordinate of one dimension for every place of the grid. */
static Tensor *coordinate(Ctx *cx, const Node *n, const Sampling *s, int d, int64_t size)
{
    const char *p = pixel_text(cx, text_format(cx, "grid[n,h,w,%d]", d), size, s->align);
    if (s->reflects && !s->is_cubic) p = reflected_text(cx, text_format(cx, "(%s)", p), size, s->align);
    if (s->is_nearest) p = text_format(cx, "nearbyint(%s)", p);
    if (s->stays && !s->is_cubic) p = text_format(cx, "max(0, min(%lld, %s))", (long long)size - 1, p);
    const Tensor *g = n->in[1];
    return OP_FORMULA(cx, n, text_format(cx, "%s[n<%lld,h<%lld,w<%lld] = %s", d ? "down" : "right", (long long)tensor_dim(g, 0), (long long)tensor_dim(g, 1),
                                         (long long)tensor_dim(g, 2), p), BIND_T("grid", g));
}

/* Weights of the four taps around each coordinate. (Keys 1981, with a = -0.75) */
static Tensor *cubic_weights(Ctx *cx, const Node *n, Tensor *at)
{
    Tensor *z = OP_FORMULA(cx, n, text_format(cx, "distance[n,h,w,i<4] = abs(at[n,h,w] - floor(at[n,h,w]) + 1 - %s(i))", dtype_info(at->type)->spelling), BIND_T("at", at));
    return OP_FORMULA(cx, n, "taps[*] = select(z[*] <= 1, (1.25 * z[*] - 2.25) * z[*] * z[*] + 1, ((3.75 - 0.75 * z[*]) * z[*] - 6) * z[*] + 3)", BIND_T("z", z));
}

static Tensor *cubic_sample(Ctx *cx, const Node *n, const Sampling *s, Tensor *right, Tensor *down)
{
    Tensor *x = n->in[0], *rise = cubic_weights(cx, n, down), *run = cubic_weights(cx, n, right);
    const char *row = "i32(floor(down[n,h,w]))-1+i", *column = "i32(floor(right[n,h,w]))-1+j";
    if (s->stays) row = tap_text(cx, row, tensor_dim(x, 1), s->align, s->reflects), column = tap_text(cx, column, tensor_dim(x, 2), s->align, s->reflects);
    return OP_FORMULA(cx, n, text_format(cx, "y[n,h,w,c<%lld] = sum(i<4,j<4) (x[n,%s,%s,c]? * rise[n,h,w,i] * run[n,h,w,j] : 0)", (long long)tensor_dim(x, 3), row, column),
                      BIND_T("x", x), BIND_T("down", down), BIND_T("right", right), BIND_T("rise", rise), BIND_T("run", run));
}

static int grid_sample(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *grid = n->in[1];
    Sampling s;
    if (!op_float(cx, n) || !op_same_type(cx, n) || !read_sampling(cx, n, &s)) return 0;
    if (x->rank != 4 || grid->rank != 4 || tensor_dim(grid, 3) != 2 || tensor_dim(grid, 0) != tensor_dim(x, 0) || tensor_elems(x) < 1 || tensor_elems(grid) < 1) {
        op_refuse(cx, n, "the input is %s and the grid %s; [n][h][w][c] and [n][h][w][2] are wanted", tensor_shape_text(cx, x), tensor_shape_text(cx, grid));
        return 0;
    }
    Tensor *right = coordinate(cx, n, &s, 0, tensor_dim(x, 2)), *down = coordinate(cx, n, &s, 1, tensor_dim(x, 1));
    const char *rows = "i32(floor(down[n,h,w]))", *columns = "i32(floor(right[n,h,w]))";
    const char *text = text_format(cx, "y[n,h,w,c<%lld] = (x[n,%s,%s,c]? : 0)", (long long)tensor_dim(x, 3), rows, columns);
    if (!s.is_nearest)
        text = text_format(cx, "y[n,h,w,c<%lld] = sum(i<2,j<2) (x[n,%s+i,%s+j,c]? * (1 - abs(down[n,h,w] - floor(down[n,h,w]) - %s(i))) * (1 - abs(right[n,h,w] - floor(right[n,h,w]) - %s(j))) : 0)",
                           (long long)tensor_dim(x, 3), rows, columns, dtype_info(x->type)->spelling, dtype_info(x->type)->spelling);
    out[0] = s.is_cubic ? cubic_sample(cx, n, &s, right, down) : OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("right", right), BIND_T("down", down));
    return out[0] ? 1 : 0;
}

static const AttrRow resample_attrs[] = { { "axis", ATTR_INT, "the axis that is resampled", "0" }, { 0 } };
static const AttrRow grid_attrs[] = {
    { "mode", ATTR_TEXT, "nearest, linear or cubic", "linear" },
    { "padding", ATTR_TEXT, "outside of the image: zeros, border (the nearest pixel) or reflection", "zeros" },
    { "align", ATTR_INT, "1: -1 and 1 are the centres of the outer pixels; 0: the edges", "0" },
    { 0 }
};
static const OpCase resample_cases[] = {
    { "axis=1", "f32[2][3] i32[4][2]={0,0,0,1,1,2,2,2} f32[4][2]={0.75,0.25,0.5,0.5,0.25,0.75,1,0}", "f32[2][4]", NULL },
    { "axis=0", "f32[2][3] i64[4][2] f32[4][2]", NULL, "i32[places][taps]" },
    { 0 }
};
static const OpCase grid_cases[] = {
    { "", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=nearest padding=border align=1", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}", "f32[1][2][2][2]", NULL },
    { "padding=reflection", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}", "f32[1][2][2][2]", NULL },
    { "padding=reflection align=1", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=cubic", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=cubic padding=reflection", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=cubic padding=border align=1", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=sinc", "f32[1][3][4][2] f32[1][2][2][2]", NULL, "mode \"sinc\"" },
    { "", "f32[1][3][4][2] f32[1][2][2][3]", NULL, "[n][h][w][2]" },
    { 0 }
};

const Op ops_resize[] = {
    { .name = "resample", .summary = "y[i] = sum(t) x[index[i,t]] * weight[i,t] along the axis", .level = 5, .pattern = PATTERN_OUT_FUSABLE, .least_inputs = 3,
      .most_inputs = 3, .inputs = "x index weight", .attr = resample_attrs, .compute = resample, .permute = permute_resample, .cases = resample_cases },
    { .name = "grid_sample", .summary = "y[n,h,w,c] = x at the place grid[n,h,w] = (x, y), both from -1 to 1", .level = 5, .pattern = PATTERN_OPAQUE, .least_inputs = 2,
      .most_inputs = 2, .inputs = "x grid", .attr = grid_attrs, .compute = grid_sample, .cases = grid_cases },
    { 0 }
};
