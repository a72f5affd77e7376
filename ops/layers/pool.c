/* SPDX-License-Identifier: MIT */
/* Defines pooling, which reduces windows over one to three spatial dimensions; channels are last. With kernel k,
 * strides s, dilations d and padding p:
 *
 *   max_pool2d   y[n,h,w,c] = max(i,j) x[n, h*sh+i*dh-ph, w*sw+j*dw-pw, c]         -inf outside x
 *   avg_pool2d   y[n,h,w,c] = (sum(i,j) x[...]) / taps(h) / taps(w)                   0 outside x
 *
 *   lp_pool2d    y[n,h,w,c] = (sum(i,j) |x[...]|^p)^(1/p)                              0 outside x
 *
 * Averages of 8- and 16-bit integers are rounded to nearest, ties away from zero; with `total` the result is the sum.
 * The divisor counts the taps of a window inside x, or with count_pad inside x and its padding. With ceil_mode
 * the last window may extend beyond the padding, where no tap is counted. A window that would start beyond x and the
 * leading padding is dropped. */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

enum { MAX_SPATIAL = 3, GREATEST = 1 << 20 };

typedef struct PoolWindows {
    int spatial;
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[2 * MAX_SPATIAL];
    /* sizes of the input and of the output; a size may be open */
    const Expr *size[MAX_SPATIAL], *extent[MAX_SPATIAL];
    bool leaves_input, leaves_padding[MAX_SPATIAL], leaves[MAX_SPATIAL];
} PoolWindows;

/* Returns the number of windows, floor((size + pads - reach) / stride) + 1. With ceil_mode the quotient is rounded up,
 * but at most ceil((size + pad) / stride) windows start inside x and the leading padding. */
static const Expr *windows_along(Ctx *cx, const PoolWindows *w, int d, bool ceil_mode)
{
    int64_t s = w->stride[d], taken = (w->kernel[d] - 1) * w->dilation[d] + 1 - w->pad[d] - w->pad[w->spatial + d]
                                      - (ceil_mode ? s - 1 : 0);
    const Expr *stride = expr_index(cx, s), *capacity = expr_sub(cx, w->size[d], expr_index(cx, taken));
    const Expr *count = simplify(cx, expr_add(cx, expr_binary(cx, EXPR_FLOORDIV, capacity, stride), expr_index(cx, 1)),
                                 NULL);
    if (!ceil_mode || (w->kernel[d] - 1) * w->dilation[d] + 1 >= s + w->pad[w->spatial + d]) return count;
    const Expr *begun = expr_binary(cx, EXPR_FLOORDIV, op_size(cx, w->size[d], 1, w->pad[d] + s - 1), stride);
    return simplify(cx, expr_binary(cx, EXPR_MIN, count, begun), NULL);
}

/* Refuses a dimension d into which no window fits, or an open dimension with a size into which no window fits. A size
 * that the run decides is not refused: the result has no elements if no window fits. */
static bool window_fits(Ctx *cx, const Node *n, const PoolWindows *w, int d)
{
    if (op_least(cx, w->extent[d]) >= !size_is_decided(cx, w->size[d])) return true;
    op_refuse(cx, n,
              "a window of %lld with dilation %lld does not fit into %lld elements of the input %s with padding %lld "
              "and %lld%s",
              (long long)w->kernel[d], (long long)w->dilation[d], (long long)op_least(cx, w->size[d]),
              tensor_shape_text(cx, n->in[0]), (long long)w->pad[d], (long long)w->pad[w->spatial + d],
              w->size[d]->kind == EXPR_INT ? "" : op_greater_least);
    return false;
}

static bool read_windows(Ctx *cx, const Node *n, int spatial, PoolWindows *w)
{
    const Tensor *x = n->in[0];
    w->spatial = spatial;
    if (x->rank != spatial + 2) {
        op_refuse(cx, n, "the input is %s; use rank %d", tensor_shape_text(cx, x), spatial + 2);
        return false;
    }
    if (!op_ints(cx, n, "kernel", spatial, 1, GREATEST, 0, w->kernel)) return false;
    if (!op_ints(cx, n, "stride", spatial, 1, GREATEST, 1, w->stride)) return false;
    if (!op_ints(cx, n, "dilation", spatial, 1, GREATEST, 1, w->dilation)) return false;
    if (!op_ints(cx, n, "pad", 2 * spatial, 0, GREATEST, 0, w->pad)) return false;
    for (int d = 0; d < spatial; d++) {
        bool ceil_mode = node_int(n, "ceil_mode", 0) != 0;
        w->size[d] = x->shape[1 + d];
        w->extent[d] = windows_along(cx, w, d, ceil_mode);
        if (!window_fits(cx, n, w, d)) return false;
        bool is_fixed = w->size[d]->kind == EXPR_INT;
        int64_t end = is_fixed ? (w->extent[d]->integer - 1) * w->stride[d] - w->pad[d]
                                     + (w->kernel[d] - 1) * w->dilation[d] + 1
                               : 0;
        bool may_be_cut = !is_fixed && ceil_mode && w->stride[d] > 1;
        w->leaves[d] = w->pad[d] > 0 || (is_fixed ? end > w->size[d]->integer : w->pad[spatial + d] > 0) || may_be_cut;
        w->leaves_padding[d] = may_be_cut || (is_fixed && end > w->size[d]->integer + w->pad[spatial + d]);
        w->leaves_input = w->leaves_input || w->leaves[d];
    }
    return true;
}

/* Return the letters of dimension d and of its taps: w for one dimension, h w for two, d h w for three. */
static char axis_of(int spatial, int d) { return "dhw"[MAX_SPATIAL - spatial + d]; }
static const char *tap_of(int spatial, int d)
{
    static const char *const taps[MAX_SPATIAL] = { "t", "i", "j" };
    return taps[MAX_SPATIAL - spatial + d];
}

/* Opens the axes n, h, w, c of the result; returns h and w. */
static const Expr *const *pool_axes(IndexMap *m, const PoolWindows *w, const Expr **at)
{
    const Tensor *x = m->call->in[0];
    at[0] = index_axis(m, 'n', x->shape[0]);
    for (int d = 0; d < w->spatial; d++)
        at[1 + d] = index_axis(m, axis_of(w->spatial, d), index_simplified(m, w->extent[d]));
    at[1 + w->spatial] = index_axis(m, 'c', x->shape[1 + w->spatial]);
    return at + 1;
}

/* Reads the windows' elements, over new axes of the result and taps. */
static const Expr *read_window(IndexMap *m, const PoolWindows *w)
{
    const Tensor *x = m->call->in[0];
    const Expr *at[MAX_RANK], *tap[MAX_SPATIAL];
    pool_axes(m, w, at);
    for (int d = 0; d < w->spatial; d++) tap[d] = index_tap(m, tap_of(w->spatial, d), expr_index(m->cx, w->kernel[d]));
    for (int d = 0; d < w->spatial; d++)
        at[1 + d] = index_sliding(m, at[1 + d], w->stride[d], tap[d], w->dilation[d], -w->pad[d]);
    return w->leaves_input ? index_read(m, x, at) : tensor_read(m->cx, x, at, x->rank);
}

/* Reads the windows' elements; elements outside x are the minimum of the type. */
static const Expr *read_or_least(IndexMap *m, const PoolWindows *w)
{
    return index_guarded(m, read_window(m, w), reducer_identity(m->cx, REDUCE_MAX, m->call->in[0]->type, 0));
}

static int max_pool(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    PoolWindows w = { 0 };
    if (!read_windows(cx, n, spatial, &w)) return 0;
    IndexMap m = { .cx = cx, .call = n };
    out[0] = index_reduced(&m, REDUCE_MAX, read_or_least(&m, &w));
    return out[0] ? 1 : 0;
}

/* Returns the number of taps before `end` of a window that starts at h*s-p and has no last tap: ceil((end - (h*s-p)) /
 * d). `end` is relative to the input's first element or, with `of_input`, to the element after its last. */
static const Expr *taps_before(Ctx *cx, const PoolWindows *w, int d, const Expr *axis, bool of_input, int64_t end)
{
    const int64_t step = w->dilation[d], shift = end + w->pad[d] + step - 1;
    const Expr *left = expr_index(cx, shift);
    if (of_input) left = expr_add(cx, w->size[d], left);
    left = expr_sub(cx, left, index_times(cx, axis, w->stride[d]));
    return step == 1 ? left : index_over(cx, left, step);
}

static bool counts_all_taps(const PoolWindows *w, int d, bool count_pad)
{
    return count_pad ? !w->leaves_padding[d] : !w->leaves[d];
}

/* Returns the number of counted taps along dimension d, for a window that counts some of them. */
static const Expr *taps_of(Ctx *cx, const PoolWindows *w, int d, const Expr *axis, bool count_pad)
{
    const int64_t behind = count_pad ? w->pad[w->spatial + d] : 0;
    const Expr *before_end = expr_binary(cx, EXPR_MIN, expr_index(cx, w->kernel[d]),
                                         taps_before(cx, w, d, axis, true, behind));
    if (count_pad || w->pad[d] == 0) return before_end;
    return expr_sub(cx, before_end,
                    expr_binary(cx, EXPR_MAX, expr_index(cx, 0), taps_before(cx, w, d, axis, false, 0)));
}

/* Returns the product of the counted taps, at least 1. *same becomes the product if it is constant, otherwise 0. */
static const Expr *divisor_of(Ctx *cx, const Node *n, const PoolWindows *w, const Expr *const *axis, int64_t *same)
{
    const bool count_pad = node_int(n, "count_pad", 0) != 0;
    const Expr *varies = NULL;
    *same = 1;
    for (int d = 0; d < w->spatial; d++) {
        if (counts_all_taps(w, d, count_pad)) *same *= w->kernel[d];
        else {
            const Expr *taps = taps_of(cx, w, d, axis[d], count_pad);
            varies = varies ? expr_mul(cx, varies, taps) : taps;
        }
    }
    if (!varies) return expr_index(cx, *same);
    varies = index_times(cx, varies, *same);
    *same = 0;
    return expr_binary(cx, EXPR_MAX, expr_index(cx, 1), varies);
}

/* Divides a sum of integers, rounded to nearest, ties away from zero. same: the divisor if it is constant, otherwise
 * 0. */
static const Expr *rounded_quotient(Ctx *cx, const Expr *sum, const Expr *divisor, int64_t same)
{
    int log = 0;
    while (log < 30 && (int64_t)1 << log < same) log++;
    if (log > 0 && (int64_t)1 << log == same)
        return expr_binary(cx, EXPR_ROUNDSHIFT, sum, expr_int(cx, I32, log));
    const Expr *half = index_over(cx, divisor, 2), *zero = expr_int(cx, I32, 0);
    const Expr *nudge = expr_select(cx, expr_binary(cx, EXPR_LT, zero, sum), half, expr_unary(cx, EXPR_NEG, half));
    return expr_binary(cx, EXPR_TDIV, expr_add(cx, sum, nudge), divisor);
}

/* Returns true for stored integers, whose sums are i32. */
static bool is_small(DType t) { return t == I8 || t == U8 || t == I16; }

/* Emits the sums of the windows; sums of bytes are i32, without the zero point. word: the name of the stage, or NULL
 * for the result. */
static Tensor *window_sums(Ctx *cx, const Node *n, const PoolWindows *w, const char *word)
{
    IndexMap m = { .cx = cx, .call = n, .word = word };
    const DType t = n->in[0]->type;
    const int64_t zero = node_int(n, "zero", 0);
    const Expr *term = read_window(&m, w);
    if (is_small(t)) term = expr_cast(cx, I32, term);
    if (zero) term = expr_sub(cx, term, expr_int(cx, I32, zero));
    return index_reduced(&m, REDUCE_SUM, index_or_zero(&m, term));
}

static int avg_pool(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    PoolWindows w = { 0 };
    DType t = n->in[0]->type;
    bool is_byte = is_small(t), is_sum = node_int(n, "total", 0) != 0;
    if ((!is_byte && !op_float(cx, n)) || !read_windows(cx, n, spatial, &w)) return 0;
    if ((is_sum || node_int(n, "zero", 0)) && (!is_byte || t == I16))
        op_refuse(cx, n, "the input is %s; use i8 or u8 with 'total' or 'zero'", dtype_info(t)->spelling);
    Tensor *total = ctx_failed(cx) ? NULL : window_sums(cx, n, &w, is_sum ? NULL : "sum");
    out[0] = total;
    if (is_sum || !total) return total ? 1 : 0;
    int64_t same;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    const Expr *const *axis = pool_axes(&m, &w, at), *divisor = divisor_of(cx, n, &w, axis, &same),
               *sum = tensor_read(cx, total, at, total->rank);
    out[0] = index_result(&m, is_byte ? expr_cast(cx, t, rounded_quotient(cx, sum, divisor, same))
                                      : expr_binary(cx, EXPR_DIV, sum, expr_cast(cx, t, divisor)));
    return out[0] ? 1 : 0;
}

/* Emits the sums of an average pool. Padding is the real number 0. Stored integers represent it only after subtracting
 * the zero point, so if windows extend beyond x, the zero point is subtracted inside the sum. */
static Tensor *avg_total(Ctx *cx, const Node *n, Tensor *stored, int64_t *zero, int64_t *count)
{
    PoolWindows w = { 0 };
    int64_t subtracted = 0;
    if (!read_windows(cx, n, n->in[0]->rank - 2, &w)) return NULL;
    *count = 1;
    for (int d = 0; d < w.spatial; d++) {
        if (!counts_all_taps(&w, d, node_int(n, "count_pad", 0) != 0)) return NULL;
        *count *= w.kernel[d];
    }
    if (w.leaves_input) subtracted = *zero;
    *zero = w.leaves_input ? 0 : *zero * *count;
    return call(cx, n->op->name, n->name, &stored, 1,
                ATTRS(attr_ints("kernel", w.kernel, w.spatial), attr_ints("stride", w.stride, w.spatial),
                      attr_ints("dilation", w.dilation, w.spatial), attr_ints("pad", w.pad, 2 * w.spatial),
                      attr_int("ceil_mode", node_int(n, "ceil_mode", 0)),
                      attr_int("count_pad", node_int(n, "count_pad", 0)), attr_flag("total", true),
                      attr_int("zero", subtracted)));
}

static int lp_pool(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    PoolWindows w = { 0 };
    if (!op_float(cx, n) || !read_windows(cx, n, spatial, &w)) return 0;
    double p = node_real(n, "p", 2);
    DType t = n->in[0]->type;
    if (!(p > 0)) op_refuse(cx, n, "'p' is %g; use a number above 0", p);
    if (ctx_failed(cx)) return 0;
    IndexMap m = { .cx = cx, .call = n, .word = "sum" };
    const Expr *x = read_window(&m, &w), *size = p == 2 ? x : expr_unary(cx, EXPR_ABS, x);
    if (p == 2) size = expr_mul(cx, x, x);
    else if (p != 1) size = expr_binary(cx, EXPR_POW, size, expr_real(cx, t, p));
    Tensor *total = index_reduced(&m, REDUCE_SUM, index_or_zero(&m, size));
    const char *then = p == 1 ? "y[*] = s[*]" : p == 2 ? "y[*] = sqrt(s[*])" : "y[*] = pow(s[*], root)";
    out[0] = OP_FORMULA(cx, n, then, BIND_T("s", total),
                        BIND_V("root", expr_real(cx, t, 1 / p)));
    return out[0] ? 1 : 0;
}

/* Returns a tap's index along dimension d, clamped to taps that are not before x. */
static const Expr *own_tap(Ctx *cx, const PoolWindows *w, int d, const Expr *axis, const Expr *tap)
{
    int64_t behind = 1;
    for (int after = d + 1; after < w->spatial; after++) behind *= w->kernel[after];
    const Expr *own = index_modulo(cx, index_over(cx, tap, behind), w->kernel[d]);
    return w->pad[d] > 0 ? expr_binary(cx, EXPR_MAX, own, taps_before(cx, w, d, axis, false, 0)) : own;
}

/* Emits the index of a window's largest element in the order [n][c][h][w] or, with `columns`, [n][c][w][h]. Padding
 * equals the smallest value of the type. If all elements of a window equal it, argmax returns the first tap, which may
 * be in the padding. The result is then the first tap inside x, or -1 if there is none. Therefore the tap is clamped to
 * the first one inside x; the tap of a larger element is never before x. */
static int max_pool_index(Ctx *cx, const Node *n, Tensor **out)
{
    PoolWindows w = { 0 };
    int spatial = n->in[0]->rank - 2;
    if (spatial < 1 || spatial > MAX_SPATIAL) {
        op_refuse(cx, n, "the input is %s; use ranks 3 to %d", tensor_shape_text(cx, n->in[0]),
                  MAX_SPATIAL + 2);
        return 0;
    }
    if (!read_windows(cx, n, spatial, &w)) return 0;
    IndexMap taps = { .cx = cx, .call = n, .word = "at" };
    const Tensor *greatest = index_of_greatest(&taps, read_or_least(&taps, &w));
    if (!greatest) return 0;
    const bool by_columns = node_int(n, "columns", 0) != 0;
    const Expr *at[MAX_RANK], *inside = NULL;
    IndexMap m = { .cx = cx, .call = n };
    const Expr *const *axis = pool_axes(&m, &w, at), *tap = tensor_read(cx, greatest, at, greatest->rank);
    const Expr *flat = expr_mul(cx, expr_cast(cx, I64, at[0]), expr_int(cx, I64, tensor_dim(n->in[0], spatial + 1)));
    flat = expr_add(cx, flat, expr_cast(cx, I64, at[spatial + 1]));
    for (int i = 0; i < spatial; i++) {
        const int d = by_columns ? spatial - 1 - i : i;
        const Expr *own = own_tap(cx, &w, d, axis[d], tap);
        const Expr *position = expr_add(cx, expr_mul(cx, axis[d], expr_index(cx, w.stride[d])),
                                        expr_mul(cx, own, expr_index(cx, w.dilation[d])));
        position = expr_sub(cx, position, expr_index(cx, w.pad[d]));
        if (w.leaves[d] && (w.dilation[d] > 1 || w.pad[d] >= w.kernel[d])) {
            const Expr *has_tap = expr_binary(cx, EXPR_LT, own, expr_index(cx, w.kernel[d])),
                       *is_in = expr_binary(cx, EXPR_LT, position, w.size[d]);
            inside = inside ? expr_and(cx, inside, has_tap) : has_tap;
            inside = expr_and(cx, inside, is_in);
        }
        flat = expr_add(cx, expr_mul(cx, flat, expr_cast(cx, I64, w.size[d])), expr_cast(cx, I64, position));
    }
    out[0] = index_result(&m, inside ? expr_select(cx, inside, flat, expr_int(cx, I64, -1)) : flat);
    return out[0] ? 1 : 0;
}

static int max_pool1d(Ctx *cx, const Node *n, Tensor **out) { return max_pool(cx, n, 1, out); }
static int max_pool2d(Ctx *cx, const Node *n, Tensor **out) { return max_pool(cx, n, 2, out); }
static int max_pool3d(Ctx *cx, const Node *n, Tensor **out) { return max_pool(cx, n, 3, out); }
static int avg_pool1d(Ctx *cx, const Node *n, Tensor **out) { return avg_pool(cx, n, 1, out); }
static int avg_pool2d(Ctx *cx, const Node *n, Tensor **out) { return avg_pool(cx, n, 2, out); }
static int avg_pool3d(Ctx *cx, const Node *n, Tensor **out) { return avg_pool(cx, n, 3, out); }
static int lp_pool1d(Ctx *cx, const Node *n, Tensor **out) { return lp_pool(cx, n, 1, out); }
static int lp_pool2d(Ctx *cx, const Node *n, Tensor **out) { return lp_pool(cx, n, 2, out); }
static int lp_pool3d(Ctx *cx, const Node *n, Tensor **out) { return lp_pool(cx, n, 3, out); }

/* ---- Global pooling: over all dimensions but the first and the last ---------------------------------------------- */

static bool spatial_axes(Ctx *cx, const Node *n, AxisText *axes, const Expr **count)
{
    const Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    *count = expr_index(cx, 1);
    for (int d = 1; d + 1 < x->rank; d++) {
        chosen[d] = true;
        *count = expr_is_int(*count, 1) ? x->shape[d] : expr_mul(cx, *count, x->shape[d]);
    }
    if (x->rank < 3 || tensor_elems(x) == 0 || interval_of(cx, *count, NULL).least < 1) {
        op_refuse(cx, n, "the input is %s; use [n][spatial..][c] with sizes above 0", tensor_shape_text(cx, x));
        return false;
    }
    *axes = axis_text(cx, x->rank, chosen);
    return true;
}

static int global_max_pool(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    const Expr *count;
    if (!spatial_axes(cx, n, &a, &count)) return 0;
    out[0] = OP_FORMULA(cx, n, AXES_TEXT(cx, "y[ones] = max(chosen) x[all]", a), BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static int global_avg_pool(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    const Expr *count;
    if (!op_float(cx, n) || !spatial_axes(cx, n, &a, &count)) return 0;
    Tensor *total = OP_FORMULA(cx, n, AXES_TEXT(cx, "sum[ones] = sum(chosen) x[all]", a), BIND_T("x", n->in[0]));
    out[0] = OP_FORMULA(cx, n, "y[*] = s[*] / count", BIND_T("s", total),
                        BIND_V("count", expr_cast(cx, n->in[0]->type, count)));
    return out[0] ? 1 : 0;
}

static Tensor *global_total(Ctx *cx, const Node *n, Tensor *stored, int64_t *zero, int64_t *count)
{
    AxisText a;
    int64_t axes[MAX_RANK];
    const Expr *all;
    if (!spatial_axes(cx, n, &a, &all) || all->kind != EXPR_INT) return NULL;
    *count = all->integer;
    *zero *= *count;
    const int spatial = n->in[0]->rank - 2;
    for (int i = 0; i < spatial; i++) axes[i] = 1 + i;
    Tensor *wide = call(cx, "cast", n->name, &stored, 1, ATTRS(attr_type("to", I32)));
    return call_on(cx, "reduce_sum", n->name, wide,
                   ATTRS(attr_ints("axes", axes, spatial), attr_flag("keepdims", true)));
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

#define WINDOW_ATTRS \
    { "kernel",    ATTR_INTS, "size of the window, one for each spatial dimension or one for all", NULL }, \
    { "stride",    ATTR_INTS, "distance of adjacent windows, likewise", NULL }, \
    { "dilation",  ATTR_INTS, "distance of adjacent taps, likewise", NULL }, \
    { "pad",       ATTR_INTS, "padding before each spatial dimension, then after each: top,left,bottom,right", NULL }, \
    { "ceil_mode", ATTR_INT,  "1: the last window may extend beyond the padding", "0" }
static const AttrRow max_attrs[] = { WINDOW_ATTRS, { 0 } };
static const AttrRow avg_attrs[] = { WINDOW_ATTRS,
                                     { "count_pad", ATTR_INT, "1: the divisor counts the padding too", "0" },
                                     { "total", ATTR_INT, "1: 8-bit integers are summed in i32, not averaged", NULL },
                                     { "zero", ATTR_INT, "zero point of 8-bit integers; subtracted inside x only",
                                       NULL },
                                     { 0 } };
static const AttrRow lp_attrs[] = { WINDOW_ATTRS, { "p", ATTR_REAL, "the norm's power", "2" }, { 0 } };
static const AttrRow index_attrs[] = {
    WINDOW_ATTRS, { "columns", ATTR_INT, "1: indices count the spatial dimensions in reverse order", "0" },
    { 0 }
};
static const OpCase index_cases[] = {
    { "kernel=2,2 stride=2,2", "f32[1][4][4][2]", "i64[1][2][2][2]", NULL },
    { "kernel=3 pad=1,1", "f32[2][5][2]", "i64[2][5][2]", NULL },
    { "kernel=3 pad=2,1", "u8[1][2][2]={0,0,0,7}", "i64[1][3][2]", NULL },
    { "kernel=2,2 stride=2 dilation=2,1 pad=3,1,1,1", "i8[1][4][3][2]", "i64[1][3][2][2]", NULL },
    { "kernel=2,3 dilation=2,1 pad=0,1,1,1 columns=1", "f32[1][4][4][1]", "i64[1][3][4][1]", NULL },
    { "kernel=2", "f32[2][5]", NULL, "ranks 3 to" },
    { 0 }
};

static const OpCase max_pool1d_cases[] = {
    { "kernel=2 stride=2", "f32[1][7][3]", "f32[1][3][3]", NULL },
    { "kernel=3 stride=2 pad=1,0 ceil_mode=1", "f32[1][6][2]", "f32[1][3][2]", NULL },
    { 0 }
};
static const OpCase max_pool2d_cases[] = {
    { "kernel=2,2 stride=2,2", "f32[1][6][6][3]", "f32[1][3][3][3]", NULL },
    { "kernel=3,3 stride=2,2 pad=1,1,1,1", "f32[1][7][6][2]", "f32[1][4][3][2]", NULL },
    { "kernel=3,3 stride=2,2 ceil_mode=1", "f32[1][6][6][2]", "f32[1][3][3][2]", NULL },
    { "kernel=2,3 dilation=2,1", "f32[1][6][6][2]", "f32[1][4][4][2]", NULL },
    { "kernel=2,2 stride=2,2", "i8[1][4][4][2]", "i8[1][2][2][2]", NULL },
    { "kernel=2,2 stride=2,2", "i8[2][4][4][8]", "i8[2][2][2][8]", NULL },
    { "kernel=3,1 dilation=2,1", "i8[1][7][3][4]", "i8[1][3][3][4]", NULL },
    { "kernel=3,3 stride=2,2 pad=1,0,1,1", "i8[1][5][5][8]", "i8[1][3][2][8]", NULL },
    { "kernel=9,9", "f32[1][6][6][3]", NULL, "does not fit" },
    { "", "f32[1][6][6][3]", NULL, "'kernel' is 0,0" },
    { "kernel=2,2", "f32[6][6][3]", NULL, "use rank 4" },
    { 0 }
};
static const OpCase avg_pool1d_cases[] = {
    { "kernel=3 stride=2 pad=1,1", "f32[1][7][2]", "f32[1][4][2]", NULL },
    { 0 }
};
static const OpCase avg_pool2d_cases[] = {
    { "kernel=2,2 stride=2,2", "f32[1][4][6][3]", "f32[1][2][3][3]", NULL },
    { "kernel=3,3 pad=1,1,1,1", "f32[1][5][4][2]", "f32[1][5][4][2]", NULL },
    { "kernel=3,3 pad=1,1,1,1 count_pad=1", "f32[1][5][4][2]", "f32[1][5][4][2]", NULL },
    { "kernel=3,3 stride=2,2 pad=1,1,0,0 ceil_mode=1", "f32[1][6][6][2]", "f32[1][3][3][2]", NULL },
    { "kernel=3,3 stride=2,2 pad=0,0,1,1 ceil_mode=1 count_pad=1", "f32[1][5][6][2]", "f32[1][3][3][2]", NULL },
    { "kernel=2,3 dilation=2,2 pad=1,2,1,2", "f32[1][6][6][2]", "f32[1][6][6][2]", NULL },
    { "kernel=2,2", "i8[1][4][4][2]", "i8[1][3][3][2]", NULL },
    { "kernel=2,4", "i8[1][4][4][8]", "i8[1][3][1][8]", NULL },
    { "kernel=3,2 stride=2,1 pad=1,0,0,1", "i16[1][5][4][3]", "i16[1][2][4][3]", NULL },
    { "kernel=3,3 stride=2,1 dilation=1,2", "i8[1][5][6][16]", "i8[1][2][2][16]", NULL },
    { "kernel=1,5", "i8[2][2][5][4]", "i8[2][2][1][4]", NULL },
    { "kernel=1,1 stride=2,2", "i8[1][3][3][4]", "i8[1][2][2][4]", NULL },
    { "kernel=3,3 stride=2 pad=1,1,1,1", "u8[1][5][5][2]", "u8[1][3][3][2]", NULL },
    { "kernel=2,2 stride=2 total=1", "i8[1][4][4][2]", "i32[1][2][2][2]", NULL },
    { "kernel=3,2 total=1", "i8[1][4][4][8]", "i32[1][2][3][8]", NULL },
    { "kernel=3,3 pad=1,1,1,1 count_pad=1 total=1 zero=-7", "i8[1][4][4][2]", "i32[1][4][4][2]", NULL },
    { "kernel=2,2", "i32[1][4][4][2]", NULL, "use a float type" },
    { "kernel=2,2 total=1", "f32[1][4][4][2]", NULL, "'total' or 'zero'" },
    { 0 }
};
static const OpCase max_pool3d_cases[] = {
    { "kernel=2,2,2 stride=2,1,2 pad=0,1,0,0,0,1", "f32[1][4][3][5][2]", "f32[1][2][3][3][2]", NULL },
    { 0 }
};
static const OpCase avg_pool3d_cases[] = {
    { "kernel=2,3,2 pad=1,1,1,1,1,1 dilation=1,1,2", "f32[1][3][3][4][2]", "f32[1][4][3][4][2]", NULL },
    { "kernel=2,2,2 stride=2 ceil_mode=1 count_pad=1", "f32[1][3][3][4][2]", "f32[1][2][2][2][2]", NULL },
    { 0 }
};
static const OpCase lp_pool1d_cases[] = { { "kernel=3 p=3", "f32[1][7][2]", "f32[1][5][2]", NULL }, { 0 } };
static const OpCase lp_pool2d_cases[] = {
    { "kernel=2,2 stride=2 pad=1,0,1,0", "f32[1][4][4][2]", "f32[1][3][2][2]", NULL },
    { "kernel=2,2 p=1", "f32[1][3][3][2]", "f32[1][2][2][2]", NULL },
    { "kernel=2,2 p=0", "f32[1][3][3][2]", NULL, "'p' is 0" },
    { 0 }
};
static const OpCase lp_pool3d_cases[] = { { "kernel=2 p=2", "f32[1][2][3][3][2]", "f32[1][1][2][2][2]", NULL }, { 0 } };
static const OpCase global_cases[] = {
    { "", "f32[2][3][4][5]", "f32[2][1][1][5]", NULL },
    { "", "f32[2][3][5]", "f32[2][1][5]", NULL },
    { "", "f32[2][3]", NULL, "[n][spatial..][c]" },
    { 0 }
};

#define POOL(fn, formula_text) \
    .name = #fn, .summary = formula_text, .level = 2, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
    .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.has_windows = true

const Op ops_pool[] = {
    { POOL(max_pool1d, "y[n,w,c] = max(j) x[n,w*sw+j*dw-pw,c]"), .attr = max_attrs, .quantization.moves_elements = true,
      .cases = max_pool1d_cases },
    { POOL(max_pool2d, "y[n,h,w,c] = max(i,j) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c]"), .attr = max_attrs,
      .quantization.moves_elements = true, .cases = max_pool2d_cases },
    { POOL(max_pool3d, "y[n,d,h,w,c] = max(t,i,j) x[n,d*sd+t*dd-pd,h*sh+i*dh-ph,w*sw+j*dw-pw,c]"), .attr = max_attrs,
      .quantization.moves_elements = true, .cases = max_pool3d_cases },
    { POOL(max_pool_index, "y[n,h,w,c] = the index in [n][c][h][w] of the largest x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c]"),
      .attr = index_attrs, .cases = index_cases },
    { POOL(avg_pool1d, "y[n,w,c] = (sum(j) x[n,w*sw+j*dw-pw,c]) / taps(w)"), .attr = avg_attrs,
      .quantization.total = avg_total, .cases = avg_pool1d_cases },
    { POOL(avg_pool2d, "y[n,h,w,c] = (sum(i,j) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c]) / (taps(h) * taps(w))"),
      .attr = avg_attrs, .quantization.total = avg_total, .cases = avg_pool2d_cases },
    { POOL(avg_pool3d, "y[n,d,h,w,c] = (sum(t,i,j) x[n,..,c]) / (taps(d) * taps(h) * taps(w))"), .attr = avg_attrs,
      .quantization.total = avg_total, .cases = avg_pool3d_cases },
    { POOL(lp_pool1d, "y[n,w,c] = (sum(j) |x[n,w*sw+j*dw-pw,c]|^p)^(1/p)"), .attr = lp_attrs,
      .cases = lp_pool1d_cases },
    { POOL(lp_pool2d, "y[n,h,w,c] = (sum(i,j) |x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c]|^p)^(1/p)"), .attr = lp_attrs,
      .cases = lp_pool2d_cases },
    { POOL(lp_pool3d, "y[n,d,h,w,c] = (sum(t,i,j) |x[n,..,c]|^p)^(1/p)"), .attr = lp_attrs, .cases = lp_pool3d_cases },
    { POOL(global_max_pool, "y[n,0,0,c] = max(h,w) x[n,h,w,c]"), .quantization.moves_elements = true,
      .cases = global_cases },
    { POOL(global_avg_pool, "y[n,0,0,c] = (sum(h,w) x[n,h,w,c]) / (H * W)"), .quantization.total = global_total,
      .cases = global_cases },
    { 0 }
};
