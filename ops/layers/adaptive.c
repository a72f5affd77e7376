/* SPDX-License-Identifier: MIT */
/* Adaptive pools, [n][..][c] -> [n][size..][c], derive their windows from the result's size: from n elements to m,
 * window i is floor(i*n/m) .. ceil((i+1)*n/m). Morphological dilation by a structuring element:
 *
 *   dilation2d   y[n,h,w,c] = max(i,j) x[n, h*sh + i*dh - ph, w*sw + j*dw - pw, c] + k[i,j,c]          -inf outside */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

static char axis_of(int spatial, int d) { return "dhw"[MOST_SPATIAL - spatial + d]; }
static const char *tap_of(int spatial, int d)
{
    static const char *const taps[MOST_SPATIAL] = { "t", "i", "j" };
    return taps[MOST_SPATIAL - spatial + d];
}

/* These return the first element of window i, i*from/to, and the element after its last one, ((i+1)*from + to-1)/to. */
static const Expr *window_begin(Ctx *cx, const Expr *i, int64_t from, int64_t to)
{
    return index_over(cx, expr_mul(cx, i, expr_index(cx, from)), to);
}

static const Expr *window_end(Ctx *cx, const Expr *i, int64_t from, int64_t to)
{
    const Expr *next = expr_mul(cx, index_plus(cx, i, 1), expr_index(cx, from));
    return index_over(cx, expr_add(cx, next, expr_index(cx, to - 1)), to);
}

/* Opens the axes of the result, whose windows have the variables at[1], ... */
static void window_axes(IndexMap *m, const int64_t *size, const Expr **at)
{
    const Tensor *x = m->call->in[0];
    const int spatial = x->rank - 2;
    at[0] = index_axis(m, 'n', x->shape[0]);
    for (int d = 0; d < spatial; d++) at[1 + d] = index_axis(m, axis_of(spatial, d), expr_index(m->cx, size[d]));
    at[1 + spatial] = index_axis(m, 'c', x->shape[1 + spatial]);
}

/* Reduces the windows, which have up to ceil(from/to) + 1 taps; `otherwise` is the value of taps beyond the end. */
static Tensor *adaptive_reduced(Ctx *cx, const Node *n, const int64_t *size, const char *word, Reducer by,
                                const Expr *otherwise)
{
    const Tensor *x = n->in[0];
    const int spatial = x->rank - 2;
    const Expr *at[MAX_RANK], *inside = NULL;
    IndexMap m = { .cx = cx, .call = n, .word = word };
    window_axes(&m, size, at);
    const Expr *tap[MOST_SPATIAL];
    for (int d = 0; d < spatial; d++) {
        const int64_t from = tensor_dim(x, 1 + d), to = size[d];
        tap[d] = index_tap(&m, tap_of(spatial, d), expr_index(cx, (from + to - 1) / to + (from % to != 0)));
    }
    for (int d = 0; d < spatial; d++) {
        const int64_t from = tensor_dim(x, 1 + d), to = size[d];
        const Expr *here = expr_add(cx, window_begin(cx, at[1 + d], from, to), tap[d]);
        const Expr *is_in = expr_binary(cx, EXPR_LT, here, window_end(cx, at[1 + d], from, to));
        inside = inside ? expr_binary(cx, EXPR_AND, inside, is_in) : is_in;
        at[1 + d] = index_simplified(&m, expr_binary(cx, EXPR_MIN, expr_index(cx, from - 1), here));
    }
    return index_reduced(&m, by, expr_select(cx, inside, tensor_read(cx, x, at, x->rank), otherwise));
}

static Tensor *adaptive_mean(Ctx *cx, const Node *n, const int64_t *size)
{
    const Tensor *x = n->in[0];
    const Tensor *sum = adaptive_reduced(cx, n, size, "sum", REDUCE_SUM, expr_int(cx, x->type, 0));
    IndexMap m = { .cx = cx, .call = n };
    const Expr *at[MAX_RANK], *count = NULL;
    window_axes(&m, size, at);
    for (int d = 0; d + 2 < x->rank; d++) {
        const int64_t from = tensor_dim(x, 1 + d), to = size[d];
        const Expr *taps = expr_sub(cx, window_end(cx, at[1 + d], from, to), window_begin(cx, at[1 + d], from, to));
        count = count ? expr_mul(cx, count, taps) : taps;
    }
    if (!sum || ctx_failed(cx)) return NULL;
    const Expr *total = tensor_read(cx, sum, at, x->rank);
    return index_result(&m, expr_binary(cx, EXPR_DIV, total, expr_cast(cx, x->type, count)));
}

static int adaptive(Ctx *cx, const Node *n, bool is_max, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int spatial = x->rank - 2;
    int64_t size[MOST_SPATIAL];
    if (!op_float(cx, n)) return 0;
    if (spatial < 1 || spatial > MOST_SPATIAL || !tensor_is_fixed(x) || tensor_elems(x) < 1) {
        op_refuse(cx, n, "the input is %s; use fixed sizes above 0 and 1 to %d spatial dimensions",
                  tensor_shape_text(cx, x), MOST_SPATIAL);
        return 0;
    }
    if (!op_ints(cx, n, "size", spatial, 1, GREATEST_STRIDE, 1, size)) return 0;
    for (int d = 0; d < spatial; d++)
        if (tensor_dim(x, 1 + d) > INT32_MAX / (size[d] + 1) - 1) {
            op_refuse(cx, n, "'size' is %lld along %lld elements; use a product below 2^31", (long long)size[d],
                      (long long)tensor_dim(x, 1 + d));
            return 0;
        }
    out[0] = is_max ? adaptive_reduced(cx, n, size, NULL, REDUCE_MAX, expr_real(cx, x->type, -1.0 / 0.0))
                    : adaptive_mean(cx, n, size);
    return out[0] ? 1 : 0;
}
static int adaptive_avg_pool(Ctx *cx, const Node *n, Tensor **out) { return adaptive(cx, n, false, out); }
static int adaptive_max_pool(Ctx *cx, const Node *n, Tensor **out) { return adaptive(cx, n, true, out); }

static int dilation2d(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    if (!op_same_type(cx, n) || !op_float(cx, n)) return 0;
    if (x->rank != 4 || k->rank != 3 || x->shape[3] != k->shape[2] || !tensor_is_fixed(x) || !tensor_is_fixed(k)
        || tensor_elems(x) < 1 || tensor_elems(k) < 1) {
        op_refuse(cx, n, "the input is %s and the kernel %s; use fixed sizes above 0: [n][h][w][c] and [kh][kw][c]",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, k));
        return 0;
    }
    Sliding w = { .spatial = 2,
                  .size = { tensor_dim(x, 1), tensor_dim(x, 2) },
                  .kernel = { tensor_dim(k, 0), tensor_dim(k, 1) } };
    if (!op_sliding(cx, n, &w)) return 0;
    if (w.count[0] < 1 || w.count[1] < 1) {
        op_refuse(cx, n, "a kernel of %s does not fit into the input %s; use at most its padded sizes",
                  tensor_shape_text(cx, k), tensor_shape_text(cx, x));
        return 0;
    }
    const Expr *at[4], *tap[3], *least = expr_real(cx, x->type, -1.0 / 0.0);
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < 4; d++)
        at[d] = index_axis(&m, "nhwc"[d], d == 1 || d == 2 ? expr_index(cx, w.count[d - 1]) : x->shape[d]);
    tap[0] = index_tap(&m, "i", k->shape[0]), tap[1] = index_tap(&m, "j", k->shape[1]), tap[2] = at[3];
    for (int d = 0; d < 2; d++)
        at[1 + d] = index_sliding(&m, at[1 + d], w.stride[d], tap[d], w.dilation[d], -w.pad[d]);
    const Expr *sum = expr_add(cx, index_read(&m, x, at), tensor_read(cx, k, tap, 3));
    out[0] = index_reduced(&m, REDUCE_MAX, index_guarded(&m, sum, least));
    return out[0] ? 1 : 0;
}

static const AttrRow adaptive_attrs[] = {
    { "size", ATTR_INTS, "of the result, one for each spatial dimension or one for all", NULL }, { 0 }
};
static const AttrRow dilation_attrs[] = {
    { "stride",   ATTR_INTS, "vertical and horizontal distance between windows, or one for both", NULL },
    { "dilation", ATTR_INTS, "distance between taps, likewise", NULL },
    { "pad",      ATTR_INTS, "rows above, columns left, rows below, columns right", NULL },
    { 0 }
};
static const OpCase adaptive_cases[] = {
    { "size=3,2", "f32[1][5][7][2]", "f32[1][3][2][2]", NULL },
    { "size=4", "f32[2][4][3]", "f32[2][4][3]", NULL },
    { "size=5", "f64[1][3][2]", "f64[1][5][2]", NULL },
    { "size=2,3,1", "f32[1][3][4][2][2]", "f32[1][2][3][1][2]", NULL },
    { "size=0", "f32[1][3][2]", NULL, "'size' is 0" },
    { "size=1", "f32[3][2]", NULL, "1 to 3 spatial dimensions" },
    { 0 }
};
static const OpCase dilation_cases[] = {
    { "", "f32[1][4][5][2] f32[2][3][2]", "f32[1][3][3][2]", NULL },
    { "stride=2 pad=1,1,1,1 dilation=1,2", "f32[2][5][5][1] f32[3][2][1]", "f32[2][3][3][1]", NULL },
    { "", "f32[1][2][2][2] f32[3][3][2]", NULL, "does not fit" },
    { "", "f32[1][2][2][2] f32[3][3]", NULL, "[kh][kw][c]" },
    { 0 }
};

#define ROW(fn, text, its_level, count, names, attrs, case_rows) \
    { .name = #fn, .summary = text, .level = its_level, .least_inputs = count, .most_inputs = count, .inputs = names, \
      .attr = attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.has_windows = true, \
      .cases = case_rows }

const Op ops_adaptive[] = {
    ROW(adaptive_avg_pool,
        "y[n,i,j,c] = the mean of x[n,h,w,c] over floor(i*H/m) <= h < ceil((i+1)*H/m), and w likewise",
        10, 1, "x", adaptive_attrs, adaptive_cases),
    ROW(adaptive_max_pool,
        "y[n,i,j,c] = the largest x[n,h,w,c] over floor(i*H/m) <= h < ceil((i+1)*H/m), and w likewise",
        10, 1, "x", adaptive_attrs, adaptive_cases),
    ROW(dilation2d, "y[n,h,w,c] = max(i,j) x[n,h*sh+i*dh-ph,w*sw+j*dw-pw,c] + k[i,j,c]",
        5, 2, "x k", dilation_attrs, dilation_cases),
    { 0 }
};
