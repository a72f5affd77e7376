/* SPDX-License-Identifier: MIT */
/* Interpolates from tables, by a ratio of sizes, and at positions that are data.
 *
 *   resample     y[i] = sum(t) x[index[i,t]] * weight[i,t]              along one axis
 *   interpolate  y[i] = x at i * n / m, nearest, linear or cubic           along one axis, sizes may be open
 *   grid_sample  y[n,h,w,c] = x at grid[n,h,w] in (x, y) from -1 to 1   nearest, bilinear or cubic */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

#include <string.h>

/* Opens the axes of x; one axis has a different extent. */
static void axes_resized(IndexMap *m, const Tensor *x, int axis, const Expr *extent, const Expr **at)
{
    for (int d = 0; d < x->rank; d++)
        at[d] = index_axis(m, axis_letter(x->rank, d), d == axis ? extent : x->shape[d]);
}

static int resample(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1], *weight = n->in[2];
    int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0 || !op_float(cx, n)) return 0;
    int64_t size = tensor_dim(x, axis), count = index->rank == 2 ? tensor_dim(index, 0) : -1,
            taps = index->rank == 2 ? tensor_dim(index, 1) : -1;
    const bool fits = weight->type == x->type && weight->rank == 2 && tensor_dim(weight, 0) == count
                      && tensor_dim(weight, 1) == taps;
    if (!op_holds(cx, n, size >= 1, "the input is %s; use at least one element along axis %d",
                  tensor_shape_text(cx, x), axis)
        || !op_holds(cx, n, index->type == I32 && count >= 1 && taps >= 1, "the index is %s%s; use "
                     "i32[positions][taps]", dtype_info(index->type)->spelling, tensor_shape_text(cx, index))
        || !op_holds(cx, n, fits, "the weights are %s%s and the index %s; use %s and the shape of the index",
                     dtype_info(weight->type)->spelling, tensor_shape_text(cx, weight), tensor_shape_text(cx, index),
                     dtype_info(x->type)->spelling))
        return 0;
    const Expr *at[MAX_RANK], *position[2];
    IndexMap m = { .cx = cx, .call = n };
    axes_resized(&m, x, axis, expr_index(cx, count), at);
    position[0] = at[axis];
    position[1] = index_tap(&m, "tap", expr_index(cx, taps));
    at[axis] = index_simplified(&m, index_clamped(cx, tensor_read(cx, index, position, 2), expr_index(cx, size - 1)));
    out[0] = index_reduced(&m, REDUCE_SUM, expr_mul(cx, tensor_read(cx, x, at, x->rank),
                                                    tensor_read(cx, weight, position, 2)));
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

/* The size of the result for `size` elements of x: `extent` elements, in the ratio p / q. */
typedef struct Ratio { const Expr *size, *extent, *p, *q; } Ratio;
/* The position num / den in x of an element of the result. A quotient of integers is exact for all sizes. */
typedef struct Position { const Expr *num, *den; } Position;

/* Sets the result's size to size * times / per, or to the first size of `like`, whose ratio is then the ratio of the
 * two sizes. */
static bool read_ratio(Ctx *cx, const Node *n, const Expr *size, Ratio *r)
{
    const Attr *like = node_attr(n, "like");
    const int64_t times = node_int(n, "times", 1), per = node_int(n, "per", 1);
    const Expr *p = like ? like->tensor->shape[0] : expr_index(cx, times), *q = like ? size : expr_index(cx, per);
    const Expr *extent = like ? p : simplify(cx, expr_binary(cx, EXPR_FLOORDIV, op_size(cx, size, times, 0), q), NULL);
    const double most = 4.0 * ((double)op_greatest(cx, extent) + 1)
                            * ((double)op_greatest(cx, q) + (double)op_greatest(cx, size))
                        + 4.0 * (double)op_greatest(cx, p);
    *r = (Ratio){ size, extent, op_least(cx, p) < 1 ? expr_binary(cx, EXPR_MAX, p, expr_index(cx, 1)) : p, q };
    /* for sizes that the run decides, the importer's calls test that x has elements if the result has */
    const bool has_elements = size_is_decided(cx, extent) || (op_least(cx, size) >= 1 && op_least(cx, extent) >= 1);
    const char *greater = size->kind == EXPR_INT ? "" : op_greater_least, *x = tensor_shape_text(cx, n->in[0]);
    return op_holds(cx, n, times >= 1, "'times' is %lld; use 1 or more", (long long)times)
           && op_holds(cx, n, per >= 1, "'per' is %lld; use 1 or more", (long long)per)
           && op_holds(cx, n, has_elements, "the input is %s; use sizes of input and result of at least 1%s", x,
                         greater)
           && op_holds(cx, n, most <= INT32_MAX || !like, "the input is %s and 'like' is %s; use sizes with "
                         "2 * (result + 1) * input + result below 2^29%s", x, tensor_shape_text(cx, like->tensor),
                         greater)
           && op_holds(cx, n, most <= INT32_MAX, "the input is %s, 'times' is %lld and 'per' is %lld; use numbers "
                         "with (result + 1) * (input + 'per') + 'times' below 2^29%s", x, (long long)times,
                         (long long)per, greater);
}

static const Expr *twice(Ctx *cx, const Expr *e) { return expr_mul(cx, expr_index(cx, 2), e); }

static Position position_of(Ctx *cx, const Node *n, const Ratio *r, const Expr *i)
{
    const char *word = node_text(n, "coordinates", "half_pixel");
    const Expr *one = expr_index(cx, 1), *middle = expr_mul(cx, expr_add(cx, twice(cx, i), one), r->q),
               *centred = expr_sub(cx, middle, r->p), *is_one = expr_binary(cx, EXPR_EQ, r->extent, one);
    if (strcmp(word, "asymmetric") == 0) return (Position){ expr_mul(cx, i, r->q), r->p };
    if (strcmp(word, "half_pixel") == 0) return (Position){ centred, twice(cx, r->p) };
    if (strcmp(word, "pytorch_half_pixel") == 0)
        return (Position){ expr_select(cx, is_one, expr_index(cx, 0), centred), twice(cx, r->p) };
    if (strcmp(word, "tf_half_pixel_for_nn") == 0) return (Position){ middle, twice(cx, r->p) };
    if (strcmp(word, "align_corners") == 0)
        return (Position){ expr_mul(cx, i, expr_sub(cx, r->size, one)),
                           expr_binary(cx, EXPR_MAX, one, expr_sub(cx, r->extent, one)) };
    op_refuse(cx, n,
              "'coordinates' is \"%s\"; use asymmetric, half_pixel, pytorch_half_pixel, tf_half_pixel_for_nn or "
              "align_corners",
              word);
    return (Position){ one, one };
}

/* Returns num / den, rounded as `nearest` states. */
static const Expr *nearest_to(Ctx *cx, const Node *n, Position at)
{
    const char *word = node_text(n, "nearest", "round_prefer_floor");
    const Expr *one = expr_index(cx, 1), *num = at.num, *den = at.den;
    if (strcmp(word, "ceil") == 0) num = expr_sub(cx, expr_add(cx, num, den), one);
    else if (strcmp(word, "round_prefer_floor") == 0)
        num = expr_sub(cx, expr_add(cx, twice(cx, num), den), one), den = twice(cx, den);
    else if (strcmp(word, "round_prefer_ceil") == 0) num = expr_add(cx, twice(cx, num), den), den = twice(cx, den);
    else if (strcmp(word, "floor") != 0)
        op_refuse(cx, n, "'nearest' is \"%s\"; use floor, ceil, round_prefer_floor or round_prefer_ceil", word);
    return expr_binary(cx, EXPR_FLOORDIV, num, den);
}

static const Expr *last_of(Ctx *cx, const Expr *size) { return op_size(cx, size, 1, -1); }

static int nearest(Ctx *cx, const Node *n, int axis, const Ratio *r, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Expr *at[MAX_RANK];
    IndexMap along = { .cx = cx, .call = n, .word = "nearest" }, m = { .cx = cx, .call = n };
    const Position position = position_of(cx, n, r, index_axis(&along, 'i', r->extent));
    const Tensor *found = index_result(&along, index_clamped(cx, nearest_to(cx, n, position), last_of(cx, r->size)));
    if (!found) return 0;
    axes_resized(&m, x, axis, r->extent, at);
    at[axis] = index_simplified(&m, index_clamped(cx, tensor_read(cx, found, &at[axis], 1), last_of(cx, r->size)));
    out[0] = index_result(&m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

/* Emits the weights of the taps around each position; part: the position minus its floor. Cubic: Keys 1981. */
static Tensor *weights_of(Ctx *cx, const Node *n, Tensor *part)
{
    const DType t = n->in[0]->type;
    if (strcmp(node_text(n, "mode", "nearest"), "cubic") != 0)
        return OP_FORMULA(cx, n, "weight[i,t<2] = select(t == 0, 1 - part[i], part[i])", BIND_T("part", part));
    IndexMap m = { .cx = cx, .call = n, .word = "z" };
    const Expr *i = index_axis(&m, 'i', part->shape[0]), *tap = index_axis(&m, 't', expr_index(cx, 4));
    const Expr *z = expr_add(cx, tensor_read(cx, part, &i, 1), expr_int(cx, t, 1));
    Tensor *distance = index_result(&m, expr_unary(cx, EXPR_ABS, expr_sub(cx, z, expr_cast(cx, t, tap))));
    return OP_FORMULA(cx, n, "weight[*] = select(z[*] <= 1, ((a+2)*z[*] - (a+3))*z[*]*z[*] + 1, "
                      "((a*z[*] - 5*a)*z[*] + 8*a)*z[*] - 4*a)", BIND_T("z", distance),
                      BIND_V("a", expr_real(cx, t, node_real(n, "cubic", -0.75))));
}

static Tensor *along_position(Ctx *cx, const Node *n, const Ratio *r, bool is_part)
{
    const DType t = n->in[0]->type;
    IndexMap m = { .cx = cx, .call = n, .word = is_part ? "part" : "below" };
    const Position p = position_of(cx, n, r, index_axis(&m, 'i', r->extent));
    if (!is_part) return index_result(&m, expr_binary(cx, EXPR_FLOORDIV, p.num, p.den));
    const Expr *rest = expr_cast(cx, t, expr_binary(cx, EXPR_FLOORMOD, p.num, p.den));
    return index_result(&m, expr_binary(cx, EXPR_DIV, rest, expr_cast(cx, t, p.den)));
}

static int interpolate(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const char *mode = node_text(n, "mode", "nearest");
    const bool is_cubic = strcmp(mode, "cubic") == 0, is_nearest = strcmp(mode, "nearest") == 0;
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    Ratio r;
    if (!is_cubic && !is_nearest && strcmp(mode, "linear") != 0)
        op_refuse(cx, n, "'mode' is \"%s\"; use nearest, linear or cubic", mode);
    if (axis < 0 || ctx_failed(cx) || (!is_nearest && !op_float(cx, n)) || !read_ratio(cx, n, x->shape[axis], &r))
        return 0;
    if (is_nearest) return nearest(cx, n, axis, &r, out);
    Tensor *below = along_position(cx, n, &r, false), *part = along_position(cx, n, &r, true),
           *weight = part ? weights_of(cx, n, part) : NULL;
    if (!below || !weight) return 0;
    const Expr *at[MAX_RANK], *position[2];
    IndexMap m = { .cx = cx, .call = n };
    axes_resized(&m, x, axis, r.extent, at);
    position[0] = at[axis];
    position[1] = index_tap(&m, "tap", expr_index(cx, is_cubic ? 4 : 2));
    const Expr *tap = expr_add(cx, tensor_read(cx, below, position, 1), position[1]);
    at[axis] = index_simplified(&m, index_clamped(cx, index_plus(cx, tap, is_cubic ? -1 : 0), last_of(cx, r.size)));
    const bool has_elements = op_least(cx, r.size) >= 1;
    const Expr *read = has_elements ? tensor_read(cx, x, at, x->rank) : index_read(&m, x, at),
               *product = expr_mul(cx, read, tensor_read(cx, weight, position, 2));
    out[0] = index_reduced(&m, REDUCE_SUM, has_elements ? product : index_or_zero(&m, product));
    return out[0] ? 1 : 0;
}

/* ---- At positions that are data ---------------------------------------------------------------------------------- */

/* Returns size * times + more in the type of the coordinates. */
static const Expr *real_size(Ctx *cx, DType t, const Expr *size, int64_t times, int64_t more)
{
    return expr_cast(cx, t, op_size(cx, size, times, more));
}

/* Maps -1..1 to pixels. -1 and 1 are the outer pixels' centres (align), or the image's edges. */
static const Expr *pixel_of(Ctx *cx, const Expr *g, const Expr *size, bool align)
{
    const Expr *one = expr_int(cx, g->type, 1), *half = expr_real(cx, g->type, 0.5);
    const Expr *p = expr_mul(cx, expr_add(cx, g, one), real_size(cx, g->type, size, 1, align ? -1 : 0));
    return expr_mul(cx, align ? p : expr_sub(cx, p, one), half);
}

/* Mirrors a position at both ends of the image until it is inside. The ends of the range are the centres of the outer
 * pixels (align), or half a pixel further out. */
static const Expr *reflected(Ctx *cx, const Expr *p, const Expr *size, bool align)
{
    const DType t = p->type;
    if (align && expr_is_int(size, 1)) return expr_mul(cx, p, expr_int(cx, t, 0));
    const Expr *low = expr_real(cx, t, align ? 0 : 0.5), *period = real_size(cx, t, size, 2, align ? -2 : 0);
    if (size->kind != EXPR_INT) period = expr_binary(cx, EXPR_MAX, expr_int(cx, t, 1), period);
    const Expr *folded = expr_binary(cx, EXPR_FMOD, expr_unary(cx, EXPR_ABS, expr_add(cx, p, low)), period);
    return expr_sub(cx, expr_binary(cx, EXPR_MIN, folded, expr_sub(cx, period, folded)), low);
}

/* Mirrors one tap of a cubic sample, or clamps it to the image: taps are treated separately. */
static const Expr *tap_inside(Ctx *cx, const Expr *k, const Expr *size, bool align, bool reflects)
{
    const Expr *last = last_of(cx, size);
    if (!reflects) return index_clamped(cx, k, last);
    const Expr *period = simplify(
        cx, expr_binary(cx, EXPR_MAX, expr_index(cx, 1), op_size(cx, size, 2, align ? -2 : 0)), NULL);
    const Expr *rest = expr_binary(cx, EXPR_FLOORMOD, k, period),
               *mirrored = expr_binary(cx, EXPR_MIN, rest, expr_sub(cx, op_size(cx, period, 1, align ? 0 : -1), rest));
    /* the clamp proves that the index is inside an open size */
    return size->kind == EXPR_INT ? mirrored : index_clamped(cx, mirrored, last);
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
    return op_holds(cx, n, s->is_nearest || s->is_cubic || strcmp(mode, "linear") == 0,
                    "'mode' is \"%s\"; use nearest, linear or cubic", mode)
           && op_holds(cx, n, s->is_clamped || strcmp(padding, "zeros") == 0,
                       "'padding' is \"%s\"; use zeros, border or reflection", padding);
}

/* The names of stages and axes for each component of the grid, from x's last spatial dimension to its first. The names
 * are those of the stage of positions, of the stages of a cubic sample's distances and weights, and of the axis of the
 * taps. */
static const char *const coordinate_words[] = { "right", "down", "behind" },
                  *const distance_words[] = { "distance_0", "distance_1", "distance_2" },
                  *const weight_words[] = { "taps_0", "taps_1", "taps_2" }, *const tap_names[] = { "j", "i", "t" };

/* A grid sample over 2 or 3 spatial dimensions, with coordinates and weights of each dimension. */
typedef struct Grid {
    Ctx *cx;
    const Node *call;
    Sampling s;
    int spatial;
    const Tensor *coordinate[3], *weight[3];
} Grid;

static const Expr *extent_of(const Grid *g, int k) { return g->call->in[0]->shape[g->spatial - k]; }

/* Opens the grid's axes, n,h,w or n,d,h,w. */
static void grid_axes(const Grid *g, IndexMap *m, const Expr **at)
{
    const Tensor *grid = g->call->in[1];
    for (int d = 0; d + 1 < grid->rank; d++) at[d] = index_axis(m, axis_letter(grid->rank, d), grid->shape[d]);
}

/* Adds the stage of pixel coordinates of one dimension, for each element of the grid. A nearest sample is rounded
 * before it is mirrored, as in ONNX, so that ties are resolved outside the image. */
static Tensor *coordinate_of(const Grid *g, int k)
{
    Ctx *cx = g->cx;
    const Sampling *s = &g->s;
    const Tensor *grid = g->call->in[1];
    const Expr *at[MAX_RANK], *size = extent_of(g, k);
    IndexMap m = { .cx = cx, .call = g->call, .word = coordinate_words[k] };
    grid_axes(g, &m, at);
    at[grid->rank - 1] = expr_index(cx, k);
    const Expr *p = pixel_of(cx, tensor_read(cx, grid, at, grid->rank), size, s->align);
    if (s->is_nearest) p = expr_unary(cx, EXPR_NEARBYINT, p);
    if (s->reflects && !s->is_cubic) p = reflected(cx, p, size, s->align);
    if (s->is_clamped && !s->is_cubic)
        p = expr_binary(cx, EXPR_MAX, expr_int(cx, p->type, 0),
                        expr_binary(cx, EXPR_MIN, real_size(cx, p->type, size, 1, -1), p));
    return index_result(&m, p);
}

static const Expr *times_plus(Ctx *cx, const Expr *a, const Expr *z, double b)
{
    return expr_add(cx, expr_mul(cx, a, z), expr_real(cx, z->type, b));
}

/* Emits Keys' kernel at the distances z: (1.25 z - 2.25) z z + 1 up to 1, ((3.75 - 0.75 z) z - 6) z + 3 beyond. */
static Tensor *kernel_of(const Grid *g, int k, const Tensor *distance)
{
    Ctx *cx = g->cx;
    const DType t = distance->type;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = g->call, .word = weight_words[k] };
    index_axes(&m, distance, at);
    const Expr *z = tensor_read(cx, distance, at, distance->rank), *one = expr_real(cx, t, 1);
    const Expr *near = expr_sub(cx, expr_mul(cx, expr_real(cx, t, 1.25), z), expr_real(cx, t, 2.25)),
               *far = expr_sub(cx, expr_real(cx, t, 3.75), expr_mul(cx, expr_real(cx, t, 0.75), z));
    near = times_plus(cx, expr_mul(cx, near, z), z, 1);
    far = times_plus(cx, expr_sub(cx, expr_mul(cx, far, z), expr_real(cx, t, 6)), z, 3);
    return index_result(&m, expr_select(cx, expr_binary(cx, EXPR_LE, z, one), near, far));
}

/* Emits the weights of the four taps around each coordinate (Keys 1981, with a = -0.75). */
static Tensor *cubic_weights_of(const Grid *g, int k)
{
    Ctx *cx = g->cx;
    const Tensor *coordinate = g->coordinate[k];
    const DType t = coordinate->type;
    const Expr *axis[MAX_RANK];
    IndexMap m = { .cx = cx, .call = g->call, .word = distance_words[k] };
    grid_axes(g, &m, axis);
    const Expr *q = index_axis(&m, 'q', expr_index(cx, 4)), *at = tensor_read(cx, coordinate, axis, coordinate->rank);
    const Expr *part = expr_add(cx, expr_sub(cx, at, expr_unary(cx, EXPR_FLOOR, at)), expr_int(cx, t, 1));
    Tensor *z = index_result(&m, expr_unary(cx, EXPR_ABS, expr_sub(cx, part, expr_cast(cx, t, q))));
    return z ? kernel_of(g, k, z) : NULL;
}

/* Returns the index in x of one tap, and its weight. The tap of a nearest sample is NULL. */
static const Expr *tap_of(const Grid *g, int k, const Expr *const *axis, const Expr *tap, const Expr **weight)
{
    Ctx *cx = g->cx;
    const Tensor *coordinate = g->coordinate[k];
    const Expr *at = tensor_read(cx, coordinate, axis, coordinate->rank), *floor = expr_unary(cx, EXPR_FLOOR, at),
               *index = expr_cast(cx, I32, floor);
    if (!tap) return index;
    if (g->s.is_cubic) {
        const Expr *place[MAX_RANK];
        for (int d = 0; d < coordinate->rank; d++) place[d] = axis[d];
        place[coordinate->rank] = tap;
        index = expr_add(cx, index_plus(cx, index, -1), tap);
        if (g->s.is_clamped) index = tap_inside(cx, index, extent_of(g, k), g->s.align, g->s.reflects);
        *weight = tensor_read(cx, g->weight[k], place, coordinate->rank + 1);
    } else {
        const Expr *distance = expr_sub(cx, expr_sub(cx, at, floor), expr_cast(cx, at->type, tap));
        index = expr_add(cx, index, tap);
        *weight = expr_sub(cx, expr_int(cx, at->type, 1), expr_unary(cx, EXPR_ABS, distance));
    }
    return index;
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
                  "the input is %s and the grid %s; use [n][h][w][c] and [n][h][w][2], or [n][d][h][w][c] and "
                  "[n][d][h][w][3], with sizes above 0",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, grid));
    return fits;
}

static int grid_sample(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    Grid g = { .cx = cx, .call = n, .spatial = x->rank - 2 };
    if (!op_float(cx, n) || !op_same_type(cx, n) || !read_sampling(cx, n, &g.s) || !check_grid(cx, n)) return 0;
    for (int k = 0; k < g.spatial; k++) {
        g.coordinate[k] = coordinate_of(&g, k);
        if (g.s.is_cubic && g.coordinate[k]) g.weight[k] = cubic_weights_of(&g, k);
        if (ctx_failed(cx)) return 0;
    }
    const Expr *axis[MAX_RANK], *at[MAX_RANK], *tap[3] = { NULL }, *weights[3] = { NULL };
    IndexMap m = { .cx = cx, .call = n };
    grid_axes(&g, &m, axis);
    at[0] = axis[0];
    at[g.spatial + 1] = index_axis(&m, 'c', x->shape[g.spatial + 1]);
    for (int k = g.spatial - 1; k >= 0 && !g.s.is_nearest; k--)
        tap[k] = index_tap(&m, tap_names[k], expr_index(cx, g.s.is_cubic ? 4 : 2));
    for (int k = g.spatial - 1; k >= 0; k--)
        at[g.spatial - k] = index_simplified(&m, tap_of(&g, k, axis, tap[k], &weights[k]));
    const Expr *value = index_read(&m, x, at);
    for (int k = g.spatial - 1; k >= 0; k--)
        if (weights[k]) value = expr_mul(cx, value, weights[k]);
    out[0] = index_reduced(&m, g.s.is_nearest ? REDUCE_NONE : REDUCE_SUM, index_or_zero(&m, value));
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
    { "times=1 per=5", "f32[4]", NULL, "use sizes of input and result of at least 1" },
    { "times=2 mode=sinc", "f32[4]", NULL, "'mode' is \"sinc\"" },
    { "times=2 coordinates=tf_crop_and_resize", "f32[4]", NULL, "'coordinates' is" },
    { "times=2 nearest=up", "f32[4]", NULL, "'nearest' is \"up\"" },
    { 0 }
};
static const AttrRow grid_attrs[] = {
    { "mode", ATTR_TEXT, "nearest, linear or cubic", "linear" },
    { "padding", ATTR_TEXT, "outside the image: zeros, border (the nearest pixel) or reflection", "zeros" },
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
    { "mode=nearest padding=reflection", "f32[1][3][4][2] f32[1][2][2][2]={2.5,-2.5,0,0.3,1.5,0.2,7,-0.75}",
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
