/* SPDX-License-Identifier: MIT */
/* Pooling, channels last, over one to three spatial dimensions. With kernel k, strides s, dilations d and padding p:
 *
 *   max_pool2d   y[n,h,w,c] = max(i,j) x[n, h*sh+i*dh-ph, w*sw+j*dw-pw, c]         -inf outside of x
 *   avg_pool2d   y[n,h,w,c] = (sum(i,j) x[...]) / taps(h) / taps(w)                   0 outside of x
 *
 *   lp_pool2d    y[n,h,w,c] = (sum(i,j) |x[...]|^p)^(1/p)                              0 outside of x
 *
 * Averages of 8-bit integers are rounded to nearest, ties away from zero; with `total` the result is the sum.
 * The divisor counts the taps of a window inside of x, or with count_pad inside of x and its padding. With ceil_mode
 * the last window may extend beyond the padding, where no tap is counted. A window that would start beyond x and the
 * leading padding is dropped. */
#include "graph/dag/op_build.h"
#include "ir/algebra/algebra.h"

enum { MAX_SPATIAL = 3, GREATEST = 1 << 20 };

typedef struct PoolWindows {
    int spatial;
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[2 * MAX_SPATIAL];
    const Expr *size[MAX_SPATIAL], *extent[MAX_SPATIAL];   /* of the input, of the output; one may be open */
    bool leaves_input, leaves_padding[MAX_SPATIAL], leaves[MAX_SPATIAL];
} PoolWindows;

/* Returns the number of windows, floor((size + pads - reach) / stride) + 1. With ceil_mode the quotient is rounded up,
 * but at most ceil((size + pad) / stride) windows start inside of x and the leading padding. */
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

/* True if a window fits into dimension d; of an open dimension, into every size. Refuses otherwise. */
static bool window_fits(Ctx *cx, const Node *n, const PoolWindows *w, int d)
{
    if (op_least(cx, w->extent[d]) >= 1) return true;
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
        op_refuse(cx, n, "the input is %s; rank %d is expected", tensor_shape_text(cx, x), spatial + 2);
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

/* The letters of dimension d and of its taps: w for one dimension, h w for two, d h w for three. */
static char axis_of(int spatial, int d) { return "dhw"[MAX_SPATIAL - spatial + d]; }
static char tap_of(int spatial, int d) { return "tij"[MAX_SPATIAL - spatial + d]; }

/* Builds REDUCER(i,j) of a function of x ("@", "abs(@)") over the windows; outside of x the term is `outside`. */
static Tensor *reduce_windows(Ctx *cx, const Node *n, const PoolWindows *w, const char *stage, const char *reducer,
                              const char *of, const Expr *outside)
{
    Text lhs = text_new(cx), over = text_new(cx), at = text_new(cx);
    for (int d = 0; d < w->spatial; d++) {
        char axis = axis_of(w->spatial, d), tap = tap_of(w->spatial, d);
        text_printf(&lhs, "%c<extent_%c,", axis, axis);
        text_printf(&over, "%s%c<%lld", d ? "," : "", tap, (long long)w->kernel[d]);
        text_printf(&at, "%s,", affine_text(cx, axis, w->stride[d], tap, w->dilation[d], -w->pad[d]));
    }
    const char *read = text_format(cx, w->leaves_input ? "x[n,%sc]?" : "x[n,%sc]", at.at);
    Text text = text_new(cx);
    text_printf(&text, w->leaves_input ? "%s[n,%sc] = %s(%s) (" : "%s[n,%sc] = %s(%s) ", stage, lhs.at, reducer,
                over.at);
    for (; *of; of++) {
        if (*of == '@') text_add(&text, read);
        else text_char(&text, *of);
    }
    if (w->leaves_input) text_add(&text, " : outside)");
    const Expr *power = dtype_is_float(n->in[0]->type) ? expr_real(cx, n->in[0]->type, node_real(n, "p", 2)) : NULL;
    Bind binds[MAX_SPATIAL + 4] = { BIND_T("x", n->in[0]), BIND_V("outside", outside), BIND_V("p", power) };
    for (int d = 0; d < w->spatial; d++)
        binds[3 + d] = (Bind)BIND_V(text_format(cx, "extent_%c", axis_of(w->spatial, d)), w->extent[d]);
    return op_formula(cx, n, text.at, binds);
}

static int max_pool(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    PoolWindows w = { 0 };
    if (!read_windows(cx, n, spatial, &w)) return 0;
    out[0] = reduce_windows(cx, n, &w, "y", "max", "@", reducer_identity(cx, REDUCE_MAX, n->in[0]->type, 0));
    return out[0] ? 1 : 0;
}

/* Returns the number of taps before `end` of a window that starts at h*s-p and has no last tap: ceil((end - (h*s-p)) /
 * d). `end` is relative to the input's first element or, with `of_input`, to the element after its last. */
static const char *taps_before(Ctx *cx, const PoolWindows *w, int d, bool of_input, int64_t end)
{
    char axis = axis_of(w->spatial, d);
    int64_t s = w->stride[d], step = w->dilation[d], shift = end + w->pad[d] + step - 1;
    const char *start = s == 1 ? text_format(cx, "%c", axis) : text_format(cx, "%c*%lld", axis, (long long)s);
    bool is_open = of_input && w->size[d]->kind != EXPR_INT;
    if (of_input && !is_open) shift += w->size[d]->integer;
    const char *left = is_open ? text_format(cx, "size_%c + %lld-%s", axis, (long long)shift, start)
                               : text_format(cx, "%lld-%s", (long long)shift, start);
    return step == 1 ? left : text_format(cx, "(%s)/%lld", left, (long long)step);
}

/* Returns the number of counted taps along dimension d as text; NULL if every window counts all of them. */
static const char *taps_text(Ctx *cx, const PoolWindows *w, int d, bool count_pad)
{
    if (count_pad ? !w->leaves_padding[d] : !w->leaves[d]) return NULL;
    int64_t behind = count_pad ? w->pad[w->spatial + d] : 0;
    const char *before_end = text_format(cx, "min(%lld, %s)", (long long)w->kernel[d],
                                         taps_before(cx, w, d, true, behind));
    if (count_pad || w->pad[d] == 0) return before_end;
    return text_format(cx, "(%s-max(0, %s))", before_end, taps_before(cx, w, d, false, 0));
}

/* Binds the names that a divisor may read: the sum and the input's sizes. */
static void bind_sizes(Ctx *cx, const PoolWindows *w, Tensor *sum, Bind *binds)
{
    *binds++ = (Bind)BIND_T("s", sum);
    for (int d = 0; d < w->spatial; d++)
        *binds++ = (Bind)BIND_V(text_format(cx, "size_%c", axis_of(w->spatial, d)), w->size[d]);
    *binds = (Bind){ NULL, NULL, NULL };
}

/* Divides a sum of integers, rounded to nearest, ties away from zero. `same` is the divisor if it is constant, else
 * 0. */
static Tensor *rounded_quotient(Ctx *cx, const Node *n, const char *axes, const char *divisor, int64_t same,
                                const Bind *binds)
{
    int log = 0;
    while (log < 30 && (int64_t)1 << log < same) log++;
    if (log > 0 && (int64_t)1 << log == same)
        return op_formula(
            cx, n,
            text_format(cx, "y[%s] = %s(roundshift(s[%s], %d))", axes, dtype_info(n->in[0]->type)->spelling, axes, log),
            binds);
    const char *half = text_format(cx, "(%s)/2", divisor), *type = dtype_info(n->in[0]->type)->spelling;
    const char *text = text_format(cx, "y[%s] = %s(tdiv(s[%s] + select(s[%s] > 0, %s, -(%s)), %s))", axes, type, axes,
                                   axes, half, half, divisor);
    return op_formula(cx, n, text, binds);
}

static int avg_pool(Ctx *cx, const Node *n, int spatial, Tensor **out)
{
    PoolWindows w = { 0 };
    DType t = n->in[0]->type;
    int64_t zero = node_int(n, "zero", 0);
    bool is_byte = t == I8 || t == U8, is_sum = node_int(n, "total", 0) != 0;
    const DType sums = is_byte ? I32 : t;
    if ((!is_byte && !op_float(cx, n)) || !read_windows(cx, n, spatial, &w)) return 0;
    if ((is_sum || zero) && !is_byte)
        op_refuse(cx, n, "the input is %s; with 'total' or 'zero', i8 or u8 is expected", dtype_info(t)->spelling);
    const char *of = !is_byte ? "@" : zero ? text_format(cx, "(i32(@) - %lld)", (long long)zero) : "i32(@)";
    Tensor *total = reduce_windows(cx, n, &w, is_sum ? "y" : "sum", "sum", of, expr_int(cx, sums, 0));
    if (is_sum) {
        out[0] = total;
        return total ? 1 : 0;
    }
    int64_t same = 1;
    Text varies = text_new(cx);
    for (int d = 0; d < spatial; d++) {
        const char *taps = taps_text(cx, &w, d, node_int(n, "count_pad", 0) != 0);
        if (taps) text_printf(&varies, "%s%s", varies.length ? " * " : "", taps);
        else same *= w.kernel[d];
    }
    const char *axes = spatial == 1 ? "n,w,c" : spatial == 2 ? "n,h,w,c" : "n,d,h,w,c";
    if (same != 1 && varies.length) text_printf(&varies, " * %lld", (long long)same);
    const char *divisor = !varies.length ? text_format(cx, "%lld", (long long)same)
                        : text_format(cx, "%s(max(1, %s))", dtype_info(sums)->spelling, varies.at);
    Bind binds[MAX_SPATIAL + 2];
    bind_sizes(cx, &w, total, binds);
    if (is_byte) out[0] = rounded_quotient(cx, n, axes, divisor, varies.length ? 0 : same, binds);
    else out[0] = op_formula(cx, n, text_format(cx, "y[%s] = s[%s] / %s", axes, axes, divisor), binds);
    return out[0] ? 1 : 0;
}

/* Padding is the real number 0. A sum of stored integers represents it only if each has its zero point subtracted, so a
 * window beyond x subtracts them inside of the sum. */
static Tensor *avg_total(Ctx *cx, const Node *n, Tensor *stored, int64_t *zero, int64_t *count)
{
    PoolWindows w = { 0 };
    int64_t subtracted = 0;
    if (!read_windows(cx, n, n->in[0]->rank - 2, &w)) return NULL;
    *count = 1;
    for (int d = 0; d < w.spatial; d++) {
        if (taps_text(cx, &w, d, node_int(n, "count_pad", 0) != 0)) return NULL;
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
    if (!(p > 0)) op_refuse(cx, n, "'p' is %g; a number above 0 is expected", p);
    const char *of = p == 1   ? "abs(@)"
                     : p == 2 ? "@ * @"
                              : "pow(abs(@), p)",
               *then = p == 1   ? "s[*]"
                       : p == 2 ? "sqrt(s[*])"
                                : "pow(s[*], root)";
    Tensor *total = reduce_windows(cx, n, &w, "sum", "sum", of, expr_int(cx, t, 0));
    out[0] = OP_FORMULA(cx, n, text_format(cx, "y[*] = %s", then), BIND_T("s", total),
                        BIND_V("root", expr_real(cx, t, 1 / p)));
    return out[0] ? 1 : 0;
}

/* The index of a window's largest element in the order [n][c][h][w], or with `columns` in [n][c][w][h]. Padding
 * equals the least value of the type. If all elements of a window equal it, argmax returns the first tap, which may be
 * in the padding. The result is then the first tap inside of x, or -1 if there is none. Therefore the tap is clamped to
 * the first one inside of x; the tap of a larger element is never before x. */
static int max_pool_index(Ctx *cx, const Node *n, Tensor **out)
{
    PoolWindows w = { 0 };
    int spatial = n->in[0]->rank - 2;
    if (spatial < 1 || spatial > MAX_SPATIAL) {
        op_refuse(cx, n, "the input is %s; ranks 3 to %d are expected", tensor_shape_text(cx, n->in[0]),
                  MAX_SPATIAL + 2);
        return 0;
    }
    if (!read_windows(cx, n, spatial, &w)) return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("at", reduce_windows(cx, n, &w, "at, best", "argmax", "@",
                                                        reducer_identity(cx, REDUCE_MAX, n->in[0]->type, 0))));
    bool by_columns = node_int(n, "columns", 0) != 0;
    Text lhs = text_new(cx);
    for (int d = 0; d < spatial; d++) text_printf(&lhs, "%c,", axis_of(spatial, d));
    const char *at = text_format(cx, "at[n,%sc]", lhs.at);
    /* The predicate that a window has a tap inside of x, if dilation or padding do not imply it. */
    Text inside = text_new(cx);
    const char *flat = text_format(cx, "(i64(n) * %lld + i64(c))", (long long)tensor_dim(n->in[0], spatial + 1));
    for (int i = 0; i < spatial; i++) {
        int d = by_columns ? spatial - 1 - i : i;
        int64_t taps = 1;
        for (int after = d + 1; after < spatial; after++) taps *= w.kernel[after];
        const char *own = text_format(cx, "%s/%lld%%%lld", at, (long long)taps, (long long)w.kernel[d]);
        if (w.pad[d] > 0) own = text_format(cx, "max(%s, %s)", own, taps_before(cx, &w, d, false, 0));
        const char *size = formulas_size(&f, w.size[d]);
        const char *position = text_format(cx, "%c*%lld + (%s)*%lld - %lld", axis_of(spatial, d),
                                           (long long)w.stride[d], own, (long long)w.dilation[d], (long long)w.pad[d]);
        if (w.leaves[d] && (w.dilation[d] > 1 || w.pad[d] >= w.kernel[d]))
            text_printf(&inside, "%s%s < %lld && %s < %s", inside.length ? " && " : "", own, (long long)w.kernel[d],
                        position, size);
        flat = text_format(cx, "(%s * i64(%s) + i64(%s))", flat, size, position);
    }
    if (inside.length) flat = text_format(cx, "select(%s, %s, -1)", inside.at, flat);
    out[0] = formulas_compute(&f, "y[n,%sc] = %s", lhs.at, flat);
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
        op_refuse(cx, n, "the input is %s; [n][spatial..][c] with sizes above 0 is expected", tensor_shape_text(cx, x));
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
    out[0] = OP_FORMULA(cx, n, text_format(cx, "y%s = max(%s) x%s", a.ones, a.chosen, a.all), BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static int global_avg_pool(Ctx *cx, const Node *n, Tensor **out)
{
    AxisText a;
    const Expr *count;
    if (!op_float(cx, n) || !spatial_axes(cx, n, &a, &count)) return 0;
    Tensor *total = OP_FORMULA(cx, n, text_format(cx, "sum%s = sum(%s) x%s", a.ones, a.chosen, a.all),
                               BIND_T("x", n->in[0]));
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
                                     { "zero", ATTR_INT, "zero point of 8-bit integers; subtracted inside of x only",
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
    { "kernel=2,2", "f32[6][6][3]", NULL, "rank 4 is expected" },
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
    { "kernel=3,3 stride=2,1 dilation=1,2", "i8[1][5][6][16]", "i8[1][2][2][16]", NULL },
    { "kernel=1,5", "i8[2][2][5][4]", "i8[2][2][1][4]", NULL },
    { "kernel=1,1 stride=2,2", "i8[1][3][3][4]", "i8[1][2][2][4]", NULL },
    { "kernel=3,3 stride=2 pad=1,1,1,1", "u8[1][5][5][2]", "u8[1][3][3][2]", NULL },
    { "kernel=2,2 stride=2 total=1", "i8[1][4][4][2]", "i32[1][2][2][2]", NULL },
    { "kernel=3,2 total=1", "i8[1][4][4][8]", "i32[1][2][3][8]", NULL },
    { "kernel=3,3 pad=1,1,1,1 count_pad=1 total=1 zero=-7", "i8[1][4][4][2]", "i32[1][4][4][2]", NULL },
    { "kernel=2,2", "i32[1][4][4][2]", NULL, "a float type is expected" },
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
    .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE

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
