/* SPDX-License-Identifier: MIT */
/* Interpolation from tables, by a ratio of sizes, and at positions that are data.
 *
 *   resample     y[i] = sum(t) x[index[i,t]] * weight[i,t]              along one axis
 *   interpolate  y[i] = x at i * n / m, nearest, linear or cubic           along one axis, sizes may be open
 *   grid_sample  y[n,h,w,c] = x at grid[n,h,w] in (x, y) from -1 to 1   nearest, bilinear or cubic */
#include "graph/dag/op_build.h"

#include <string.h>

#include "ir/algebra/algebra.h"

static int resample(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1], *weight = n->in[2];
    int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0 || !op_float(cx, n)) return 0;
    int64_t size = tensor_dim(x, axis), count = index->rank == 2 ? tensor_dim(index, 0) : -1,
            taps = index->rank == 2 ? tensor_dim(index, 1) : -1;
    if (size < 1 || count < 1 || taps < 1 || index->type != I32 || weight->type != x->type || weight->rank != 2
        || tensor_dim(weight, 0) != count || tensor_dim(weight, 1) != taps) {
        op_refuse(cx, n,
                  "the index is %s%s, the weights %s, the input %s; i32[positions][taps] and as many weights of the "
                  "input's type are expected",
                  dtype_info(index->type)->spelling, tensor_shape_text(cx, index), tensor_shape_text(cx, weight),
                  tensor_shape_text(cx, x));
        return 0;
    }
    char c = axis_letter(x->rank, axis);
    const char *at = text_format(cx, "max(0, min(%lld, index[%c,tap]))", (long long)size - 1, c);
    out[0] = OP_FORMULA(cx, n,
                        text_format(cx, "y[%s] = sum(tap) x[%s] * weight[%c,tap]",
                                    axes_with(cx, x->rank, axis, text_format(cx, "%c<%lld", c, (long long)count)),
                                    axes_with(cx, x->rank, axis, at), c),
                        BIND_T("x", n->in[0]), BIND_T("index", n->in[1]), BIND_T("weight", n->in[2]));
    return out[0] ? 1 : 0;
}

static Node *permute_resample(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    if (inputs[1] || inputs[2] || !inputs[0]) return NULL;
    Attr attr = *node_attr(n, "axis");
    attr.integer = perm[attr.integer < 0 ? attr.integer + n->in[0]->rank : attr.integer];
    return op_call(cx, n->op, n->name, (Tensor *[]){ inputs[0], n->in[1], n->in[2] }, 3, &attr, 1);
}

/* ---- By a ratio of sizes ----------------------------------------------------------------------------------------- */

/* Element i of the result is at position num / den of x, a quotient of integers and therefore exact for all sizes. */
typedef struct Ratio { const Expr *extent; const char *num, *den; } Ratio;

/* Sets the result's size to size * times / per, or to the first size of `like`; then the two sizes are the ratio. */
static bool read_ratio(Ctx *cx, const Node *n, Formulas *f, const Expr *size, Ratio *r)
{
    const Attr *like = node_attr(n, "like");
    const int64_t times = node_int(n, "times", 1), per = node_int(n, "per", 1);
    const char *word = node_text(n, "coordinates", "half_pixel");
    const Expr *p = like ? like->tensor->shape[0] : expr_index(cx, times), *q = like ? size : expr_index(cx, per);
    r->extent = like ? p : simplify(cx, expr_binary(cx, EXPR_FLOORDIV, op_size(cx, size, times, 0), q), NULL);
    const double most = 4.0 * ((double)op_greatest(cx, r->extent) + 1)
                            * ((double)op_greatest(cx, q) + (double)op_greatest(cx, size))
                        + 4.0 * (double)op_greatest(cx, p);
    if (times < 1 || per < 1 || op_least(cx, size) < 1 || op_least(cx, r->extent) < 1 || most > INT32_MAX) {
        op_refuse(cx, n,
                  "the input is %s, 'times' %lld, 'per' %lld; a result with sizes above 0, and products of sizes below "
                  "2^31, are expected%s",
                  tensor_shape_text(cx, n->in[0]), (long long)times, (long long)per,
                  size->kind == EXPR_INT ? "" : op_greater_least);
        return false;
    }
    const char *P = formulas_size(f, p), *Q = formulas_size(f, q), *E = formulas_size(f, r->extent);
    const char *centred = text_format(cx, "((2*i+1)*%s-%s)", Q, P);
    if (strcmp(word, "asymmetric") == 0) r->num = text_format(cx, "(i*%s)", Q), r->den = P;
    else if (strcmp(word, "half_pixel") == 0) r->num = centred, r->den = text_format(cx, "(2*%s)", P);
    else if (strcmp(word, "pytorch_half_pixel") == 0)
        r->num = text_format(cx, "select(%s == 1, 0, %s)", E, centred), r->den = text_format(cx, "(2*%s)", P);
    else if (strcmp(word, "tf_half_pixel_for_nn") == 0)
        r->num = text_format(cx, "((2*i+1)*%s)", Q), r->den = text_format(cx, "(2*%s)", P);
    else if (strcmp(word, "align_corners") == 0)
        r->num = text_format(cx, "(i*(%s-1))", formulas_size(f, size)), r->den = text_format(cx, "max(1, %s-1)", E);
    else
        op_refuse(cx, n,
                  "'coordinates' is \"%s\"; asymmetric, half_pixel, pytorch_half_pixel, tf_half_pixel_for_nn or "
                  "align_corners is expected",
                  word);
    return r->num != NULL;
}

/* Returns num / den, rounded as `nearest` states. NULL: refused. */
static const char *nearest_text(Ctx *cx, const Node *n, const Ratio *r)
{
    const char *word = node_text(n, "nearest", "round_prefer_floor");
    if (strcmp(word, "floor") == 0) return text_format(cx, "%s/%s", r->num, r->den);
    if (strcmp(word, "ceil") == 0) return text_format(cx, "(%s+%s-1)/%s", r->num, r->den, r->den);
    if (strcmp(word, "round_prefer_floor") == 0) return text_format(cx, "(2*%s+%s-1)/(2*%s)", r->num, r->den, r->den);
    if (strcmp(word, "round_prefer_ceil") == 0) return text_format(cx, "(2*%s+%s)/(2*%s)", r->num, r->den, r->den);
    op_refuse(cx, n, "'nearest' is \"%s\"; floor, ceil, round_prefer_floor or round_prefer_ceil is expected", word);
    return NULL;
}

/* The weights of the taps around each position, whose fraction above its floor is `part`. Cubic: Keys 1981. */
static void make_weights(Formulas *f, bool is_cubic, double a)
{
    const DType t = f->call->in[0]->type;
    if (!is_cubic) formulas_compute(f, "weight[i,t<2] = select(t == 0, 1 - part[i], part[i])");
    else {
        formulas_name(f, (Bind)BIND_V("a", expr_real(f->cx, t, a)));
        formulas_compute(f, "z[i,t<4] = abs(part[i] + 1 - %s(t))", dtype_info(t)->spelling);
        formulas_compute(f, "weight[*] = select(z[*] <= 1, ((a+2)*z[*] - (a+3))*z[*]*z[*] + 1, ((a*z[*] - 5*a)*z[*] + "
                         "8*a)*z[*] - 4*a)");
    }
}

static int interpolate(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const char *mode = node_text(n, "mode", "nearest");
    const bool is_cubic = strcmp(mode, "cubic") == 0, is_nearest = strcmp(mode, "nearest") == 0;
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    Formulas f = { .cx = cx, .call = n };
    Ratio r = { 0 };
    if (!is_cubic && !is_nearest && strcmp(mode, "linear") != 0)
        op_refuse(cx, n, "'mode' is \"%s\"; nearest, linear or cubic is expected", mode);
    if (axis < 0 || ctx_failed(cx) || (!is_nearest && !op_float(cx, n)) || !read_ratio(cx, n, &f, x->shape[axis], &r))
        return 0;
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    const char *extent = formulas_size(&f, r.extent), *last = formulas_size(&f, op_size(cx, x->shape[axis], 1, -1)),
               *t = dtype_info(x->type)->spelling;
    const char c = axis_letter(x->rank, axis), *lhs = axes_with(cx, x->rank, axis, text_format(cx, "%c<%s", c, extent));
    if (is_nearest) {
        const char *at = nearest_text(cx, n, &r);
        if (!at) return 0;
        formulas_compute(&f, "place[i<%s] = max(0, min(%s, %s))", extent, last, at);
        out[0] = formulas_compute(&f, "y[%s] = x[%s]", lhs,
                               axes_with(cx, x->rank, axis, text_format(cx, "max(0, min(%s, place[%c]))", last, c)));
        return out[0] ? 1 : 0;
    }
    formulas_compute(&f, "below[i<%s] = %s/%s", extent, r.num, r.den);
    formulas_compute(&f, "part[i<%s] = %s(%s %% %s) / %s(%s)", extent, t, r.num, r.den, t, r.den);
    make_weights(&f, is_cubic, node_real(n, "cubic", -0.75));
    const char *at = text_format(cx, "max(0, min(%s, below[%c]+tap%s))", last, c, is_cubic ? "-1" : "");
    out[0] = formulas_compute(&f, "y[%s] = sum(tap<%d) x[%s] * weight[%c,tap]", lhs, is_cubic ? 4 : 2,
                           axes_with(cx, x->rank, axis, at), c);
    return out[0] ? 1 : 0;
}

/* ---- At positions that are data ---------------------------------------------------------------------------------- */

/* Returns size * times + more as text, converted to the coordinates' type. */
static const char *real_size(Formulas *f, const Expr *size, int64_t times, int64_t more)
{
    const char *text = formulas_size(f, op_size(f->cx, size, times, more));
    return size->kind == EXPR_INT ? text
                                  : text_format(f->cx, "%s(%s)", dtype_info(f->call->in[1]->type)->spelling, text);
}

/* Maps -1..1 to pixels. -1 and 1 are the outer pixels' centres (align), or the image's edges. */
static const char *pixel_text(Formulas *f, const char *g, const Expr *size, bool align)
{
    return align ? text_format(f->cx, "(%s + 1) * %s * 0.5", g, real_size(f, size, 1, -1))
                 : text_format(f->cx, "((%s + 1) * %s - 1) * 0.5", g, real_size(f, size, 1, 0));
}

/* Mirrors a position at both ends of the image until it is inside. The ends are the outer pixels' centres (align), or
 * half a pixel further. */
static const char *reflected_text(Formulas *f, const char *p, const Expr *size, bool align)
{
    Ctx *cx = f->cx;
    if (align && expr_is_int(size, 1)) return text_format(cx, "%s * 0", p);
    const char *low = align ? "0" : "0.5", *period = real_size(f, size, 2, align ? -2 : 0);
    period = size->kind == EXPR_INT ? text_format(cx, "%s.0", period) : text_format(cx, "max(1, %s)", period);
    const char *folded = text_format(cx, "fmod(abs(%s + %s), %s)", p, low, period);
    return text_format(cx, "min(%s, %s - %s) - %s", folded, period, folded, low);
}

/* Mirrors one tap of a cubic sample, or clamps it to the image: taps are treated separately. */
static const char *tap_text(Formulas *f, const char *k, const Expr *size, bool align, bool reflects)
{
    Ctx *cx = f->cx;
    const char *last = formulas_size(f, op_size(cx, size, 1, -1));
    if (!reflects) return text_format(cx, "max(0, min(%s, %s))", last, k);
    const Expr *period = simplify(
        cx, expr_binary(cx, EXPR_MAX, expr_index(cx, 1), op_size(cx, size, 2, align ? -2 : 0)), NULL);
    const char *all = formulas_size(f, period), *end = formulas_size(f, op_size(cx, period, 1, align ? 0 : -1));
    const char *mirrored = text_format(cx, "min((%s)%%%s, %s - (%s)%%%s)", k, all, end, k, all);
    /* With an open size the clamp proves that the index is inside. */
    return size->kind == EXPR_INT ? mirrored : text_format(cx, "max(0, min(%s, %s))", last, mirrored);
}

typedef struct Sampling { bool align, reflects, is_clamped, is_nearest, is_cubic; } Sampling;

static bool read_sampling(Ctx *cx, const Node *n, Sampling *s)
{
    const char *mode = node_text(n, "mode", "linear"), *padding = node_text(n, "padding", "zeros");
    *s = (Sampling){ .align = node_int(n, "align", 0) != 0,
                     .reflects = strcmp(padding, "reflection") == 0,
                     .is_nearest = strcmp(mode, "nearest") == 0,
                     .is_cubic = strcmp(mode, "cubic") == 0 };
    s->is_clamped = s->reflects || strcmp(padding, "border") == 0;
    if ((s->is_nearest || s->is_cubic || strcmp(mode, "linear") == 0)
        && (s->is_clamped || strcmp(padding, "zeros") == 0))
        return true;
    op_refuse(cx, n,
              "'mode' is \"%s\" and 'padding' \"%s\"; nearest, linear or cubic, and zeros, border or reflection are "
              "expected",
              mode, padding);
    return false;
}

/* For each component of the grid, from x's last spatial dimension to its first: the name of the stage with positions,
 * and the letter of its taps. */
static const char *const coordinate_words[] = { "right", "down", "behind" }, coordinate_taps[] = "jit";

/* Samples over 2 or 3 spatial dimensions. axes: the letters of the grid's axes, n,h,w or n,d,h,w. */
typedef struct Grid { Formulas *f; Sampling s; int spatial; const char *axes; } Grid;

static const Expr *extent_of(const Grid *g, int k) { return g->f->call->in[0]->shape[g->spatial - k]; }

/* The stage of pixel coordinates of one dimension, for each element of the grid. */
static void make_coordinate(const Grid *g, int k)
{
    Ctx *cx = g->f->cx;
    const Sampling *s = &g->s;
    const Expr *size = extent_of(g, k);
    const char *p = pixel_text(g->f, text_format(cx, "grid[%s,%d]", g->axes, k), size, s->align);
    if (s->reflects && !s->is_cubic) p = reflected_text(g->f, text_format(cx, "(%s)", p), size, s->align);
    if (s->is_nearest) p = text_format(cx, "nearbyint(%s)", p);
    if (s->is_clamped && !s->is_cubic) p = text_format(cx, "max(0, min(%s, %s))", real_size(g->f, size, 1, -1), p);
    formulas_compute(g->f, "%s[%s] = %s", coordinate_words[k], g->axes, p);
}

/* The stage of weights of the four taps around each coordinate (Keys 1981, with a = -0.75). */
static void make_cubic_weights(const Grid *g, int k)
{
    const char *at = text_format(g->f->cx, "%s[%s]", coordinate_words[k], g->axes),
               *t = dtype_info(g->f->call->in[1]->type)->spelling;
    formulas_compute(g->f, "distance_%d[%s,q<4] = abs(%s - floor(%s) + 1 - %s(q))", k, g->axes, at, at, t);
    formulas_compute(g->f,
                  "taps_%d[*] = select(distance_%d[*] <= 1, (1.25 * distance_%d[*] - 2.25) * distance_%d[*] * "
                  "distance_%d[*] + 1, "
                  "((3.75 - 0.75 * distance_%d[*]) * distance_%d[*] - 6) * distance_%d[*] + 3)",
                  k, k, k, k, k, k, k, k);
}

/* Returns the index in x of one tap, and its weight; an empty weight is 1. */
static void tap_of(const Grid *g, int k, const char **index, const char **weight)
{
    Ctx *cx = g->f->cx;
    const char *at = text_format(cx, "%s[%s]", coordinate_words[k], g->axes),
               *t = dtype_info(g->f->call->in[1]->type)->spelling;
    const char tap = coordinate_taps[k];
    *index = text_format(cx, "i32(floor(%s))", at);
    *weight = "";
    if (g->s.is_cubic) {
        *index = text_format(cx, "%s-1+%c", *index, tap);
        if (g->s.is_clamped) *index = tap_text(g->f, *index, extent_of(g, k), g->s.align, g->s.reflects);
        *weight = text_format(cx, " * taps_%d[%s,%c]", k, g->axes, tap);
    } else if (!g->s.is_nearest) {
        *index = text_format(cx, "%s+%c", *index, tap);
        *weight = text_format(cx, " * (1 - abs(%s - floor(%s) - %s(%c)))", at, at, t, tap);
    }
}

static bool check_grid(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[0], *grid = n->in[1];
    const int spatial = x->rank - 2;
    bool fits = (spatial == 2 || spatial == 3) && grid->rank == x->rank && tensor_dim(grid, x->rank - 1) == spatial
                && grid->shape[0] == x->shape[0];
    fits = fits && tensor_dim(x, x->rank - 1) >= 1 && tensor_elems(x) != 0 && tensor_elems(grid) != 0;
    if (!fits)
        op_refuse(cx, n,
                  "the input is %s and the grid %s; [n][h][w][c] and [n][h][w][2], or [n][d][h][w][c] and "
                  "[n][d][h][w][3], with sizes above 0 are expected",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, grid));
    return fits;
}

static int grid_sample(Ctx *cx, const Node *n, Tensor **out)
{
    Formulas f = { .cx = cx, .call = n, .count = 2, .bind = { BIND_T("x", n->in[0]), BIND_T("grid", n->in[1]) } };
    Grid g = { .f = &f, .spatial = n->in[0]->rank - 2, .axes = n->in[0]->rank == 4 ? "n,h,w" : "n,d,h,w" };
    if (!op_float(cx, n) || !op_same_type(cx, n) || !read_sampling(cx, n, &g.s) || !check_grid(cx, n)) return 0;
    Text at = text_new(cx), weights = text_new(cx), over = text_new(cx);
    for (int k = 0; k < g.spatial; k++) {
        make_coordinate(&g, k);
        if (g.s.is_cubic) make_cubic_weights(&g, k);
    }
    for (int k = g.spatial - 1; k >= 0; k--) {
        const char *index, *weight;
        tap_of(&g, k, &index, &weight);
        text_printf(&at, "%s,", index);
        text_add(&weights, weight);
        text_printf(&over, "%s%c<%d", over.length ? "," : "", coordinate_taps[k], g.s.is_cubic ? 4 : 2);
    }
    const char *sum = g.s.is_nearest ? "" : text_format(cx, "sum(%s) ", over.at);
    out[0] = formulas_compute(&f, "y[%s,c<%lld] = %s(x[n,%sc]?%s : 0)", g.axes,
                           (long long)tensor_dim(n->in[0], g.spatial + 1), sum, at.at, text_string(&weights));
    return out[0] ? 1 : 0;
}

static const AttrRow resample_attrs[] = { { "axis", ATTR_INT, "axis to resample", "0" }, { 0 } };
static const AttrRow interpolate_attrs[] = {
    { "axis", ATTR_INT, "axis to resize", "0" },
    { "mode", ATTR_TEXT, "nearest, linear or cubic", "nearest" },
    { "coordinates", ATTR_TEXT, "half_pixel, pytorch_half_pixel, asymmetric, tf_half_pixel_for_nn or align_corners",
      "half_pixel" },
    { "nearest", ATTR_TEXT, "round_prefer_floor, round_prefer_ceil, floor or ceil", "round_prefer_floor" },
    { "cubic", ATTR_REAL, "the coefficient of cubic weights", "-0.75" },
    { "times", ATTR_INT, "the result's size is the operand's size * times / per", "1" },
    { "per", ATTR_INT, "see `times`", "1" },
    { "like", ATTR_TENSOR, "instead: a tensor whose first size is the result's; its values are not read", NULL },
    { 0 }
};
static const OpCase interpolate_cases[] = {
    { "axis=1 times=2", "f32[2][3]", "f32[2][6]", NULL },
    { "times=5 per=2 nearest=ceil coordinates=asymmetric", "i8[4]", "i8[10]", NULL },
    { "times=3 per=2 mode=linear", "f32[5][2]", "f32[7][2]", NULL },
    { "times=3 mode=linear coordinates=align_corners", "f32[4]", "f32[12]", NULL },
    { "times=1 per=4 mode=linear coordinates=pytorch_half_pixel", "f64[4]", "f64[1]", NULL },
    { "axis=1 times=2 mode=cubic", "f32[2][5]", "f32[2][10]", NULL },
    { "times=2 nearest=round_prefer_ceil coordinates=tf_half_pixel_for_nn", "f32[3]", "f32[6]", NULL },
    { "times=2 nearest=floor", "f32[3]", "f32[6]", NULL },
    { "times=1 per=5", "f32[4]", NULL, "sizes above 0" },
    { "times=2 mode=sinc", "f32[4]", NULL, "'mode' is \"sinc\"" },
    { "times=2 coordinates=tf_crop_and_resize", "f32[4]", NULL, "'coordinates' is" },
    { "times=2 nearest=up", "f32[4]", NULL, "'nearest' is \"up\"" },
    { 0 }
};
static const AttrRow grid_attrs[] = {
    { "mode", ATTR_TEXT, "nearest, linear or cubic", "linear" },
    { "padding", ATTR_TEXT, "outside of the image: zeros, border (the nearest pixel) or reflection", "zeros" },
    { "align", ATTR_INT, "1: -1 and 1 are the centres of the outer pixels; 0: the edges of the image", "0" },
    { 0 }
};
static const OpCase resample_cases[] = {
    { "axis=1", "f32[2][3] i32[4][2]={0,0,0,1,1,2,2,2} f32[4][2]={0.75,0.25,0.5,0.5,0.25,0.75,1,0}", "f32[2][4]",
      NULL },
    { "axis=0", "f32[2][3] i64[4][2] f32[4][2]", NULL, "i32[positions][taps]" },
    { 0 }
};
static const OpCase grid_cases[] = {
    { "", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=nearest padding=border align=1", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}",
      "f32[1][2][2][2]", NULL },
    { "padding=reflection", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}", "f32[1][2][2][2]", NULL },
    { "padding=reflection align=1", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}",
      "f32[1][2][2][2]", NULL },
    { "mode=cubic", "f32[1][3][4][2] f32[1][2][2][2]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7}", "f32[1][2][2][2]", NULL },
    { "mode=cubic padding=reflection", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}",
      "f32[1][2][2][2]", NULL },
    { "mode=cubic padding=border align=1", "f32[1][3][4][2] f32[1][2][2][2]={-2.5,-1,0,0.3,1.5,0.2,7,-0.7}",
      "f32[1][2][2][2]", NULL },
    { "mode=sinc", "f32[1][3][4][2] f32[1][2][2][2]", NULL, "'mode' is \"sinc\"" },
    { "", "f32[1][2][3][2][2] f32[1][1][2][2][3]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7,0.5,0,0,1}", "f32[1][1][2][2][2]",
      NULL },
    { "mode=nearest padding=border", "f32[1][2][3][2][2] f32[1][1][2][2][3]={-1,-1,0,0.3,1.5,0.2,0.9,-0.7,0.5,0,0,1}",
      "f32[1][1][2][2][2]", NULL },
    { "", "f32[1][3][4][2] f32[1][2][2][3]", NULL, "[n][h][w][2]" },
    { 0 }
};

const Op ops_resize[] = {
    { .name = "resample", .summary = "y[i] = sum(t) x[index[i,t]] * weight[i,t] along the axis", .level = 5,
      .least_inputs = 3, .most_inputs = 3, .inputs = "x index weight", .attr = resample_attrs,
      .meaning.compute = resample, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_resample,
      .cases = resample_cases },
    { .name = "interpolate",
      .summary = "y = x resized along the axis: the nearest element, or a weighted sum of 2 or 4",
      .level = 5, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = interpolate_attrs,
      .meaning.compute = interpolate, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.permute = permute_axis,
      .cases = interpolate_cases },
    { .name = "grid_sample", .summary = "y[n,h,w,c] = x at the position grid[n,h,w] = (x, y), both from -1 to 1",
      .level = 5, .least_inputs = 2, .most_inputs = 2, .inputs = "x grid", .attr = grid_attrs,
      .meaning.compute = grid_sample, .fusion.pattern = PATTERN_OPAQUE, .cases = grid_cases },
    { 0 }
};
