/* SPDX-License-Identifier: MIT */
/* Defines the last operators of detectors.
 *
 *   roi_align             the mean, or the largest term, of bilinear samples in the cells of boxes on a feature map
 *                         (He et al., Mask R-CNN, 2017)
 *   roi_pool              the largest pixel of each cell (Girshick, Fast R-CNN, 2015); a box is (image, x, y, x, y)
 *   non_max_suppression   boxes in descending order of their scores, without those that overlap a selected one
 *   soft_suppression      the same of one image and class, where an overlap below the bound may lower the score (Bodla
 *                         et al., Soft-NMS, 2017), and one that equals it suppresses
 *
 * Suppression iterates over the ranks t of the boxes of each image b and class c, an ordered axis:
 *
 *   rank[b,c,i]           the number of boxes with a greater score than box i, or an equal one and a lower index; NaN
 *                         is the smallest score, so that each rank has one box
 *   ranked[t,b,c]         the box of rank t
 *   selected[t,b,c]       1 if the box is selected: not suppressed, score > least, less than `most` selected before
 *   number[t,b,c]         the number of selected boxes up to rank t
 *   suppressed[t,b,c,i]   1 if box i is suppressed: a selected box up to rank t overlaps it, intersection / union >
 *                         overlap
 *
 * The rows (image, class, box) of the result list the selected boxes by image, then by class; unused rows are -1. */

/* Decision: searches are stages. Non-maximum suppression, the indices of nonzero elements and elimination for a
 * determinant (`ops/layers/boxes.c`, `ops/move/find.c`, `ops/layers/linear_algebra.c`) are recurrences and
 * reductions, not opaque bodies: the checker, the evaluator and two-slot storage apply unchanged. Only the data
 * decide the number of results: the capacity is the model's declaration, and unused rows are -1. */
#include <string.h>

#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"
#include "ir/algebra/algebra.h"

/* ---- Suppression ------------------------------------------------------------------------------------------------- */

static bool check_boxes(Ctx *cx, const Node *n)
{
    const Tensor *box = n->in[0], *score = n->in[1];
    const bool fits = box->rank == 3 && score->rank == 3 && tensor_dim(box, 2) == 4 && box->shape[0] == score->shape[0]
                      && box->shape[1] == score->shape[2] && tensor_most_elems(cx, score) > 0
                      && box->type == score->type && op_least(cx, score->shape[0]) > 0
                      && op_least(cx, score->shape[1]) > 0;
    if (!fits)
        op_refuse(cx, n, "the boxes are %s%s and the scores %s%s; use [images][boxes][4] and [images][classes][boxes] "
                  "of one type", dtype_info(box->type)->spelling, tensor_shape_text(cx, box),
                  dtype_info(score->type)->spelling, tensor_shape_text(cx, score));
    for (int i = 2; i < 5 && !ctx_failed(cx); i++) {
        const DType type = i == 2 ? I64 : box->type;
        if (n->in[i]->rank || n->in[i]->type != type)
            op_refuse(cx, n, "input %d, %s, is %s%s; use a scalar of type %s", i, i == 2 ? "the limit" : "a threshold",
                      dtype_info(n->in[i]->type)->spelling, tensor_shape_text(cx, n->in[i]),
                      dtype_info(type)->spelling);
    }
    return !ctx_failed(cx);
}

static int non_max_suppression(Ctx *cx, const Node *n, Tensor **out)
{
    int64_t capacity = node_int(n, "capacity", 0);
    if (!check_boxes(cx, n) || !op_float(cx, n)) return 0;
    if (capacity < 1 || capacity > INT32_MAX) {
        op_refuse(cx, n, "'capacity' is %lld; use 1 to 2^31-1 rows", (long long)capacity);
        return 0;
    }
    const Expr *images = n->in[1]->shape[0], *classes = n->in[1]->shape[1], *count = n->in[1]->shape[2];
    const Expr *shape[] = { count, images, classes, count };
    Formulas f = { .cx = cx, .call = n };
    formulas_phrase(&f, "steps", expr_is_int(count, 1) ? "t<N" : "t<N ordered");
    formulas_phrase(&f, "by_rank", "steps,b<B,c<C");
    formulas_phrase(&f, "by_box", "steps,b<B,c<C,i<N");
    formulas_phrase(&f, "capacity", op_number(cx, capacity));
    static const char *const words[] = { "box", "score", "most", "overlap", "least" };
    for (int i = 0; i < 5; i++) formulas_name(&f, (Bind)BIND_T(words[i], n->in[i]));
    formulas_name(&f, (Bind)BIND_V("B", images));
    formulas_name(&f, (Bind)BIND_V("C", classes));
    formulas_name(&f, (Bind)BIND_V("N", count));
    formulas_phrase(&f, "own", "score[b,c,i]");
    formulas_phrase(&f, "theirs", "score[b,c,o]");
    formulas_compute(&f, "rank[b<B,c<C,i<N] = sum(o<N) select(theirs > own || (isnan(own) && !isnan(theirs)) || "
                         "(o < i && (theirs == own || (isnan(own) && isnan(theirs)))), 1, 0)");
    formulas_compute(&f, "ranked[t<N,b<B,c<C] = sum(i<N) select(rank[b,c,i] == t, i, 0)");
    formulas_compute(&f, node_int(n, "center", 0)
        ? "edges[b<B,i<N,k<4] = select(k < 2, box[b,i,k%2] - box[b,i,k%2+2] * 0.5, box[b,i,k%2] + box[b,i,k%2+2] * 0.5)"
        : "edges[b<B,i<N,k<4] = "
          "select(k < 2, min(box[b,i,k%2], box[b,i,k%2+2]), max(box[b,i,k%2], box[b,i,k%2+2]))");
    formulas_compute(&f, "area[b<B,i<N] = (edges[b,i,2] - edges[b,i,0]) * (edges[b,i,3] - edges[b,i,1])");
    Tensor *selected = formulas_promise(&f, "selected", I32, 3, shape),
           *number = formulas_promise(&f, "number", I32, 3, shape),
           *suppressed = formulas_promise(&f, "suppressed", I32, 4, shape);
    formulas_compute(&f, "before[by_rank] = (number[t-1,b,c]? : 0)");
    formulas_compute(&f, "left[by_box] = (suppressed[t-1,b,c,i]? : 0)");
    formulas_define(&f, selected,
                  "selected[by_rank] = select(left[t,b,c,ranked[t,b,c]] == 0 && i64(before[t,b,c]) < most && "
                  "score[b,c,ranked[t,b,c]] > least, 1, 0)");
    formulas_define(&f, number, "number[by_rank] = before[t,b,c] + selected[t,b,c]");
    formulas_compute(&f,
                  "intersection[by_box] = select(selected[t,b,c] > 0, "
                  "max(0, min(edges[b,ranked[t,b,c],2], edges[b,i,2]) - max(edges[b,ranked[t,b,c],0], edges[b,i,0])) * "
                  "max(0, min(edges[b,ranked[t,b,c],3], edges[b,i,3]) - max(edges[b,ranked[t,b,c],1], edges[b,i,1])), "
                  "0)");
    formulas_phrase(&f, "ratio",
                  "intersection[t,b,c,i] / (area[b,ranked[t,b,c]] + area[b,i] - intersection[t,b,c,i])");
    formulas_define(&f, suppressed, "suppressed[by_box] = "
                    "select(left[t,b,c,i] > 0 || (intersection[t,b,c,i] > 0 && ratio > overlap), 1, 0)");
    formulas_phrase(&f, "found", op_least(cx, count) < 1 ? "(number[N-1,p,q]? : 0)" : "number[N-1,p,q]");
    formulas_compute(&f, "first[b<B,c<C] = sum(p<B,q<C) select(p < b || (p == b && q < c), found, 0)");
    formulas_compute(&f, "at[t<N,b<B,c<C] = select(selected[t,b,c] > 0, first[b,c] + number[t,b,c] - 1, -1)");
    out[0] = formulas_compute(&f,
                              "y[k<capacity,d<3] = max(t<N,b<B,c<C; -1) select(at[t,b,c] == k, "
                              "i64(select(d == 0, b, select(d == 1, c, ranked[t,b,c]))), -1)");
    formulas_phrase(&f, "all", op_least(cx, count) < 1 ? "(number[N-1,b,c]? : 0)" : "number[N-1,b,c]");
    out[1] = formulas_compute(&f, "count = sum(b<B,c<C) i64(all)");
    return out[0] && out[1] ? 2 : 0;
}

/* Step t selects the best remaining score, and multiplies the scores of boxes that overlap its box by exp(scale *
 * ratio^2). Boxes that are not candidates have the score `least`. As in the reference, a selected box is also compared
 * with itself, which lowers its own score. A box without area does not overlap itself, so it is selected again, until
 * the number of candidates is reached. */
static int soft_suppression(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const words[] = { "box", "score", "overlap", "least" };
    const int64_t capacity = node_int(n, "capacity", 0);
    const Tensor *box = n->in[0], *score = n->in[1];
    const double scale = node_real(n, "scale", 0);
    const bool fits = box->rank == 2 && score->rank == 1 && tensor_dim(box, 1) == 4 && box->shape[0] == score->shape[0]
                      && tensor_elems(score) > 0;
    if (!op_holds(cx, n, fits, "the boxes are %s and the scores %s; use [boxes][4] and [boxes]",
                    tensor_shape_text(cx, box), tensor_shape_text(cx, score))
        || !op_holds(cx, n, capacity > 0 && capacity <= INT32_MAX, "'capacity' is %lld; use 1 to 2^31-1",
                       (long long)capacity))
        return 0;
    for (int i = 1; i < n->in_count; i++)
        if (!op_holds(cx, n, n->in[i]->type == box->type && (i < 2 || !n->in[i]->rank),
                        "input %d is %s%s; use %s of type %s, like the boxes", i, dtype_info(n->in[i]->type)->spelling,
                        tensor_shape_text(cx, n->in[i]), i < 2 ? "scores" : "a scalar",
                        dtype_info(box->type)->spelling))
            return 0;
    if (!op_float(cx, n)) return 0;
    Formulas f = { .cx = cx, .call = n };
    const Expr *shape[] = { expr_index(cx, capacity), score->shape[0] };
    for (int i = 0; i < 4; i++) formulas_name(&f, (Bind)BIND_T(words[i], n->in[i]));
    formulas_name(&f, (Bind)BIND_V("K", shape[0]));
    formulas_name(&f, (Bind)BIND_V("N", shape[1]));
    formulas_name(&f, (Bind)BIND_V("scale", op_value(cx, n, "scale", box->type)));
    formulas_phrase(&f, "steps", capacity == 1 ? "t<K" : "t<K ordered");
    formulas_compute(&f, "edges[i<N,k<4] = "
                         "select(k < 2, min(box[i,k%2], box[i,k%2+2]), max(box[i,k%2], box[i,k%2+2]))");
    formulas_compute(&f, "area[i<N] = (edges[i,2] - edges[i,0]) * (edges[i,3] - edges[i,1])");
    formulas_compute(&f, "candidates = sum(i<N) select(score[i] > least, 1, 0)");
    Tensor *rest = formulas_promise(&f, "rest", box->type, 2, shape);
    formulas_compute(&f, "left[steps,i<N] = (rest[t-1,i]? : select(score[i] > least, score[i], least))");
    formulas_compute(&f, "top[steps] = max(i<N) left[t,i]");
    formulas_compute(&f, "best[steps] = min(i<N; N-1) select(left[t,i] == top[t], i, N-1)");
    formulas_compute(&f, "shared[steps,i<N] = "
                         "max(0, min(edges[best[t],2], edges[i,2]) - max(edges[best[t],0], edges[i,0])) * "
                         "max(0, min(edges[best[t],3], edges[i,3]) - max(edges[best[t],1], edges[i,1]))");
    formulas_compute(&f, "ratio[steps,i<N] = select(area[best[t]] > 0 && area[i] > 0, "
                         "shared[t,i] / (area[best[t]] + area[i] - shared[t,i]), 0)");
    formulas_compute(&f, scale < 0 ? "lower[steps,i<N] = left[t,i] * exp(scale * ratio[t,i] * ratio[t,i])"
                                   : "lower[steps,i<N] = left[t,i]");
    formulas_define(&f, rest, "rest[steps,i<N] = select(left[t,i] > least && ratio[t,i] < overlap && "
                              "lower[t,i] > least, lower[t,i], least)");
    formulas_phrase(&f, "is_selected", "top[t] > least && t < candidates");
    out[0] = formulas_compute(&f, "y[t<K] = i64(select(is_selected, best[t], -1))");
    out[1] = formulas_compute(&f, "scores[t<K] = select(is_selected, top[t], 0)");
    return out[0] && out[1] ? 2 : 0;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* Samples along one dimension: sample s of cell i of box r is the weighted sum of elements low and low+1. The weights
 * are 0 outside the image. */
typedef struct Samples { Tensor *low, *weight; } Samples;

/* Returns corner `k` of box r, in elements of x. */
static const Expr *corner_of(Ctx *cx, const Node *n, const Expr *r, int k)
{
    const Tensor *roi = n->in[1];
    const Expr *at[2] = { r, expr_index(cx, k) };
    return expr_mul(cx, tensor_read(cx, roi, at, 2), expr_real(cx, roi->type, node_real(n, "scale", 1)));
}

/* Returns the extent of box r along dimension d, which is at least 1 without half pixels. */
static const Expr *extent_of(Ctx *cx, const Node *n, const Expr *r, int d)
{
    const Tensor *roi = n->in[1];
    const Expr *end[2] = { r, expr_index(cx, 3 - d) }, *begin[2] = { r, expr_index(cx, 1 - d) };
    const Expr *extent = expr_sub(cx, tensor_read(cx, roi, end, 2), tensor_read(cx, roi, begin, 2));
    extent = expr_mul(cx, extent, expr_real(cx, roi->type, node_real(n, "scale", 1)));
    return node_int(n, "half", 1) ? extent : expr_binary(cx, EXPR_MAX, expr_int(cx, roi->type, 1), extent);
}

/* Returns the begin of box r along dimension d. With half pixels it is half an element before the corner. */
static const Expr *begin_of(Ctx *cx, const Node *n, const Expr *r, int d)
{
    const Expr *begin = corner_of(cx, n, r, 1 - d);
    return node_int(n, "half", 1) ? expr_sub(cx, begin, expr_real(cx, begin->type, 0.5)) : begin;
}

static Tensor *sample_positions(Ctx *cx, const Node *n, int d, int64_t cells)
{
    const DType t = n->in[1]->type;
    const int64_t ratio = node_int(n, "ratio", 1);
    IndexMap m = { .cx = cx, .call = n, .word = d ? "right" : "down" };
    const Expr *r = index_axis(&m, 'r', n->in[1]->shape[0]), *i = index_axis(&m, 'i', expr_index(cx, cells)),
               *s = index_axis(&m, 's', expr_index(cx, ratio));
    const Expr *part = expr_add(cx, expr_cast(cx, t, s), expr_real(cx, t, 0.5)),
               *cell = expr_add(cx, expr_cast(cx, t, i), expr_binary(cx, EXPR_DIV, part, expr_int(cx, t, ratio)));
    cell = expr_binary(cx, EXPR_DIV, expr_mul(cx, cell, extent_of(cx, n, r, d)), expr_int(cx, t, cells));
    return index_result(&m, expr_add(cx, begin_of(cx, n, r, d), cell));
}

/* Emits the weights of elements low (p = 0) and low + 1 (p = 1) of the samples at `at`. */
static Tensor *sample_weights(Ctx *cx, const Node *n, const Tensor *at, const Tensor *low, int64_t size)
{
    const DType t = at->type;
    const Expr *place[3], *zero = expr_int(cx, t, 0);
    IndexMap m = { .cx = cx, .call = n, .word = "weight" };
    for (int d = 0; d < 3; d++) place[d] = index_axis(&m, "ris"[d], at->shape[d]);
    const Expr *p = index_axis(&m, 'p', expr_index(cx, 2)), *v = tensor_read(cx, at, place, 3),
               *below = tensor_read(cx, low, place, 3);
    const Expr *part = expr_sub(cx, expr_binary(cx, EXPR_MAX, zero, v), expr_cast(cx, t, below));
    part = expr_select(cx, expr_binary(cx, EXPR_EQ, below, expr_index(cx, size - 1)), zero, part);
    const Expr *either = expr_select(cx, expr_binary(cx, EXPR_EQ, p, expr_index(cx, 0)),
                                     expr_sub(cx, expr_int(cx, t, 1), part), part);
    const Expr *is_outside = expr_binary(cx, EXPR_OR, expr_binary(cx, EXPR_LT, v, expr_int(cx, t, -1)),
                                         expr_binary(cx, EXPR_LT, expr_int(cx, t, size), v));
    return index_result(&m, expr_select(cx, is_outside, zero, either));
}

static Samples samples(Ctx *cx, const Node *n, int d, int64_t cells, int64_t size)
{
    Tensor *at = sample_positions(cx, n, d, cells);
    Tensor *low = OP_FORMULA(cx, n, "low[r,i,s] = max(0, min(last, i32(floor(at[r,i,s]))))", BIND_T("at", at),
                             BIND_I(cx, "last", size - 1));
    return (Samples){ low, low ? sample_weights(cx, n, at, low, size) : NULL };
}

/* ---- The number of samples depends on the input: `ratio` 0 ------------------------------------------------------- */

/* Along one dimension a cell of a box has ceil(extent / cells) samples. Several samples are more than half an element
 * apart. Therefore the samples that read row p of x, and their two neighbours, are among NEAR consecutive ones:
 *
 *   count[r]          number of samples of a cell
 *   first[r,i,p]      the first of the NEAR samples of row p
 *   touch[r,i,p,k,e]  the weight of sample first + k on row p, if p is its lower (e = 0) or upper row; else -1, also
 *                     for a sample beyond the last. A sample outside x has weight 0 on the boundary row
 *
 * The weight of an element is the product of its row's and its column's weights. A mean requires their sums; a maximum
 * requires the largest for elements above 0 and the smallest for elements below 0. */
enum { NEAR = 8 };
typedef struct BoxOverlap { Tensor *count, *sum, *most, *least; } BoxOverlap;

static Tensor *cell_extents(Ctx *cx, const Node *n, int d, int64_t cells)
{
    IndexMap m = { .cx = cx, .call = n, .word = "cell" };
    const Expr *extent = extent_of(cx, n, index_axis(&m, 'r', n->in[1]->shape[0]), d);
    return index_result(&m, expr_binary(cx, EXPR_DIV, extent, expr_int(cx, extent->type, cells)));
}

static Tensor *cell_begins(Ctx *cx, const Node *n, int d, int64_t cells, const Tensor *cell)
{
    IndexMap m = { .cx = cx, .call = n, .word = "begin" };
    const Expr *r = index_axis(&m, 'r', n->in[1]->shape[0]), *i = index_axis(&m, 'i', expr_index(cx, cells));
    return index_result(&m, expr_add(cx, begin_of(cx, n, r, d),
                                     expr_mul(cx, expr_cast(cx, cell->type, i), tensor_read(cx, cell, &r, 1))));
}

static BoxOverlap touches(Ctx *cx, const Node *n, int d, int64_t cells, int64_t size, bool is_max)
{
    Formulas f = { .cx = cx, .call = n };
    formulas_phrase(&f, "type", dtype_info(n->in[1]->type)->spelling);
    formulas_phrase(&f, "near", op_number(cx, NEAR));
    formulas_name(&f, (Bind)BIND_V("R", n->in[1]->shape[0]));
    formulas_name(&f, (Bind)BIND_I(cx, "cells", cells));
    formulas_name(&f, (Bind)BIND_I(cx, "size", size));
    Tensor *cell = cell_extents(cx, n, d, cells), *begin = cell ? cell_begins(cx, n, d, cells, cell) : NULL;
    formulas_name(&f, (Bind)BIND_T("cell", cell));
    formulas_name(&f, (Bind)BIND_T("begin", begin));
    Tensor *count = formulas_compute(&f, "count[r<R] = max(0, ceil(cell[r]))");
    formulas_compute(&f, "step[r<R] = cell[r] / count[r]");
    formulas_compute(&f, "first[r<R,i<cells,p<size] = "
                      "max(0, min(count[r] - 1, floor((type(p) - 1 - begin[r,i]) / step[r] - 0.5) - 1))");
    formulas_compute(&f, "at[r<R,i<cells,p<size,k<near] = begin[r,i] + (first[r,i,p] + type(k) + 0.5) * step[r]");
    formulas_compute(&f, "low[r<R,i<cells,p<size,k<near] = max(0, min(size-1, i32(floor(at[r,i,p,k]))))");
    formulas_compute(&f, "part[r<R,i<cells,p<size,k<near] = "
                      "select(low[r,i,p,k] == size-1, 0, max(0, at[r,i,p,k]) - type(low[r,i,p,k]))");
    formulas_compute(&f, "touch[r<R,i<cells,p<size,k<near,e<2] = "
                      "select(first[r,i,p] + type(k) < count[r] && min(size-1, low[r,i,p,k] + e) == p, "
                      "select(at[r,i,p,k] < -1 || at[r,i,p,k] > type(size), 0, select(e == 0, 1 - part[r,i,p,k], "
                      "part[r,i,p,k])), -1)");
    BoxOverlap t = { .count = count };
    if (!is_max) t.sum = formulas_compute(&f, "sum[r<R,i<cells,p<size] = sum(k<near,e<2) max(0, touch[r,i,p,k,e])");
    else {
        t.most = formulas_compute(&f, "most[r<R,i<cells,p<size] = max(k<near,e<2) touch[r,i,p,k,e]");
        t.least = formulas_compute(&f, "least[r<R,i<cells,p<size] = "
                                    "min(k<near,e<2) select(touch[r,i,p,k,e] < 0, inf, touch[r,i,p,k,e])");
    }
    return t;
}

/* Emits the sum or maximum over the elements of x that a sample reads. Elements outside a cell are skipped instead of
 * multiplied by 0, because they may be infinite. A cell without samples is 0. */
static Tensor *adaptive_align(Ctx *cx, const Node *n, int64_t h, int64_t w, bool is_max)
{
    const Tensor *x = n->in[0];
    const BoxOverlap down = touches(cx, n, 0, h, tensor_dim(x, 1), is_max);
    const BoxOverlap right = touches(cx, n, 1, w, tensor_dim(x, 2), is_max);
    const Bind binds[] = {
        BIND_T("x", n->in[0]), BIND_T("image", n->in[2]), BIND_T("rows", down.count), BIND_T("columns", right.count),
        BIND_I(cx, "last", tensor_dim(x, 0) - 1), BIND_I(cx, "H", tensor_dim(x, 1)), BIND_I(cx, "W", tensor_dim(x, 2)),
        BIND_I(cx, "C", tensor_dim(x, 3)),
    };
    Formulas f = { .cx = cx, .call = n };
    for (size_t i = 0; i < sizeof binds / sizeof binds[0]; i++) formulas_name(&f, binds[i]);
    formulas_phrase(&f, "pixel", "x[max(0, min(last, i32(image[r]))),p,q,c]");
    if (!is_max) {
        formulas_name(&f, (Bind)BIND_T("down", down.sum));
        formulas_name(&f, (Bind)BIND_T("right", right.sum));
        formulas_compute(&f, "total[r,i,j,c<C] = sum(p<H,q<W) "
                          "select(down[r,i,p] > 0 && right[r,j,q] > 0, pixel * down[r,i,p] * right[r,j,q], 0)");
        return formulas_compute(&f, "y[r,i,j,c] = total[r,i,j,c] / max(1, rows[r] * columns[r])");
    }
    formulas_name(&f, (Bind)BIND_T("down", down.most));
    formulas_name(&f, (Bind)BIND_T("right", right.most));
    formulas_name(&f, (Bind)BIND_T("least_down", down.least));
    formulas_name(&f, (Bind)BIND_T("least_right", right.least));
    formulas_compute(&f, "greatest[r,i,j,c<C] = max(p<H,q<W) select(down[r,i,p] >= 0 && right[r,j,q] >= 0, "
                         "pixel * select(pixel > 0, down[r,i,p] * right[r,j,q], "
                         "least_down[r,i,p] * least_right[r,j,q]), -inf)");
    return formulas_compute(&f, "y[r,i,j,c] = select(rows[r] > 0 && columns[r] > 0, greatest[r,i,j,c], 0)");
}

#define SAMPLES \
    "s<S,t<S,p<2,q<2) x[max(0, min(last_image, i32(image[r]))), min(last_row, top[r,i,s]+p), " \
    "min(last_column, left[r,j,t]+q), c] * down[r,i,s,p] * right[r,j,t,q]"

/* Checks x and the boxes, which have `numbers` numbers each. */
static bool check_image(Ctx *cx, const Node *n, int64_t numbers)
{
    const Tensor *x = n->in[0], *roi = n->in[1];
    const bool fits = roi->rank == 2 && tensor_dim(roi, 1) == numbers && tensor_elems(roi) >= 1 && roi->type == x->type;
    return op_holds(cx, n, x->rank == 4 && tensor_elems(x) >= 1, "x is %s; use [n][h][w][c] of fixed sizes above 0",
                      tensor_shape_text(cx, x))
           && op_holds(cx, n, fits, "the boxes are %s%s; use %s[boxes][%lld], and at least one box",
                         dtype_info(roi->type)->spelling, tensor_shape_text(cx, roi), dtype_info(x->type)->spelling,
                         (long long)numbers);
}

static bool check_cells(Ctx *cx, const Node *n, int64_t h, int64_t w)
{
    enum { MOST = 1 << 12 };
    return op_holds(cx, n, h >= 1 && h <= MOST, "'height' is %lld; use 1 to %d cells", (long long)h, MOST)
           && op_holds(cx, n, w >= 1 && w <= MOST, "'width' is %lld; use 1 to %d cells", (long long)w, MOST);
}

static int roi_align(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *roi = n->in[1], *image = n->in[2];
    int64_t h = node_int(n, "height", 1), w = node_int(n, "width", 1), ratio = node_int(n, "ratio", 1);
    const char *mode = node_text(n, "mode", "avg");
    bool is_max = strcmp(mode, "max") == 0;
    if (!op_float(cx, n)) return 0;
    if (!check_image(cx, n, 4) || !check_cells(cx, n, h, w)
        || !op_holds(cx, n, dtype_is_integer(image->type) && image->rank == 1 && image->shape[0] == roi->shape[0],
                       "the images of the boxes are %s%s; use one integer per box", dtype_info(image->type)->spelling,
                       tensor_shape_text(cx, image))
        || !op_holds(cx, n, ratio >= 0 && ratio <= 1 << 8, "'ratio' is %lld; use 0 to 256 samples", (long long)ratio)
        || !op_holds(cx, n, is_max || strcmp(mode, "avg") == 0, "'mode' is \"%s\"; use avg or max", mode))
        return 0;
    if (ratio == 0) return (out[0] = adaptive_align(cx, n, h, w, is_max)) != NULL;
    Samples down = samples(cx, n, 0, h, tensor_dim(x, 1)), right = samples(cx, n, 1, w, tensor_dim(x, 2));
    static const char greatest[] = "y[r<R,i<H,j<W,c<C] = max(" SAMPLES, sum[] = "sum[r<R,i<H,j<W,c<C] = sum(" SAMPLES;
    out[0] = OP_FORMULA(cx, n, is_max ? greatest : sum, BIND_T("x", n->in[0]), BIND_T("image", n->in[2]),
                        BIND_T("top", down.low), BIND_T("left", right.low), BIND_T("down", down.weight),
                        BIND_T("right", right.weight), BIND_I(cx, "R", tensor_dim(roi, 0)), BIND_I(cx, "H", h),
                        BIND_I(cx, "W", w), BIND_I(cx, "C", tensor_dim(x, 3)), BIND_I(cx, "S", ratio),
                        BIND_I(cx, "last_image", tensor_dim(x, 0) - 1), BIND_I(cx, "last_row", tensor_dim(x, 1) - 1),
                        BIND_I(cx, "last_column", tensor_dim(x, 2) - 1));
    if (!is_max)
        out[0] = OP_FORMULA(cx, n, "y[*] = r[*] / count", BIND_T("r", out[0]),
                            BIND_V("count", expr_int(cx, x->type, ratio * ratio)));
    return out[0] ? 1 : 0;
}

/* Emits the first pixel of each cell or, with `at_end`, the pixel after its last one. Both ends of a cell are rounded
 * outwards, so adjacent cells may share a pixel. Pixels outside x belong to no cell; a cell without pixels is 0. */
static Tensor *cell_edge(Ctx *cx, const Node *n, int d, bool at_end, int64_t cells, int64_t size)
{
    static const char *const words[2][2] = { { "begin0", "end0" }, { "begin1", "end1" } };
    const DType t = n->in[1]->type;
    IndexMap m = { .cx = cx, .call = n, .word = words[d][at_end] };
    const Expr *r = index_axis(&m, 'r', n->in[1]->shape[0]), *i = index_axis(&m, 'i', expr_index(cx, cells)),
               *one = expr_index(cx, 1);
    const Expr *low = expr_cast(cx, I32, expr_unary(cx, EXPR_ROUND, corner_of(cx, n, r, 2 - d))),
               *high = expr_cast(cx, I32, expr_unary(cx, EXPR_ROUND, corner_of(cx, n, r, 4 - d)));
    const Expr *extent = expr_binary(cx, EXPR_MAX, one, expr_add(cx, expr_sub(cx, high, low), one)),
               *edge = expr_mul(cx, expr_cast(cx, t, index_plus(cx, i, at_end)), expr_cast(cx, t, extent));
    edge = expr_unary(cx, at_end ? EXPR_CEIL : EXPR_FLOOR, expr_binary(cx, EXPR_DIV, edge, expr_int(cx, t, cells)));
    return index_result(&m, index_clamped(cx, expr_add(cx, expr_cast(cx, I32, edge), low), expr_index(cx, size)));
}

static int roi_pool(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t h = node_int(n, "height", 1), w = node_int(n, "width", 1);
    if (!op_float(cx, n) || !op_same_type(cx, n)) return 0;
    if (!check_image(cx, n, 5) || !check_cells(cx, n, h, w)) return 0;
    Tensor *top = cell_edge(cx, n, 0, false, h, tensor_dim(x, 1)),
           *bottom = cell_edge(cx, n, 0, true, h, tensor_dim(x, 1));
    Tensor *left = cell_edge(cx, n, 1, false, w, tensor_dim(x, 2)),
           *right = cell_edge(cx, n, 1, true, w, tensor_dim(x, 2));
    Tensor *most = OP_FORMULA(cx, n,
                              "most[r,i,j,c<C] = max(p<H,q<W) select(p >= top[r,i] && p < bottom[r,i] && "
                              "q >= left[r,j] && q < right[r,j], x[max(0, min(last, i32(roi[r,0]))),p,q,c], -inf)",
                              BIND_T("x", n->in[0]), BIND_T("roi", n->in[1]), BIND_T("top", top),
                              BIND_T("bottom", bottom), BIND_T("left", left), BIND_T("right", right),
                              BIND_I(cx, "C", tensor_dim(x, 3)), BIND_I(cx, "H", tensor_dim(x, 1)),
                              BIND_I(cx, "W", tensor_dim(x, 2)), BIND_I(cx, "last", tensor_dim(x, 0) - 1));
    out[0] = OP_FORMULA(cx, n,
                        "y[r,i,j,c] = select(bottom[r,i] > top[r,i] && right[r,j] > left[r,j], most[r,i,j,c], 0)",
                        BIND_T("most", most), BIND_T("top", top), BIND_T("bottom", bottom), BIND_T("left", left),
                        BIND_T("right", right));
    return out[0] ? 1 : 0;
}

static const AttrRow suppression_attrs[] = {
    { "capacity", ATTR_INT, "rows of the result", NULL },
    { "center", ATTR_INT, "1: boxes are (x, y, width, height) around their centre; 0: two opposite corners", "0" },
    { 0 }
};
static const AttrRow soft_attrs[] = {
    { "capacity", ATTR_INT, "number of results; unused ones are -1, with a score of 0", NULL },
    { "scale", ATTR_REAL, "the factor of the squared ratio, -1 / (2 sigma); 0: scores do not decay", "0" },
    { 0 }
};
static const AttrRow roi_attrs[] = {
    { "height", ATTR_INT, "number of cells of a box, vertically", "1" },
    { "width", ATTR_INT, "and horizontally", "1" },
    { "ratio", ATTR_INT, "samples of a cell along each dimension; 0: the cell's extent in pixels, rounded up", "1" },
    { "scale", ATTR_REAL, "factor from the boxes' coordinates to pixels", "1" },
    { "half", ATTR_INT, "1: pixel centres are at half-integers; 0: at integers, and a box has at least size 1", "1" },
    { "mode", ATTR_TEXT, "avg, or max: the largest weighted corner of all samples", "avg" },
    { 0 }
};
static const AttrRow pool_attrs[] = {
    { "height", ATTR_INT, "number of cells of a box, vertically", "1" },
    { "width", ATTR_INT, "and horizontally", "1" },
    { "scale", ATTR_REAL, "factor from the boxes' coordinates to pixels", "1" },
    { 0 }
};
static const OpCase pool_cases[] = {
    { "height=2 width=3", "f32[2][6][5][2] f32[2][5]={0,0,0,3,4, 1,1,2,9,5}", "f32[2][2][3][2]", NULL },
    { "height=3 width=2 scale=0.5", "f64[1][4][6][1] f64[3][5]={0,2,1,9,8, 0,-7,-9,-3,-3, 0,3,3,3,3}",
      "f64[3][3][2][1]", NULL },
    { "", "f32[1][6][5][2] f32[1][4]", NULL, "[boxes][5]" },
    { "height=0", "f32[1][6][5][2] f32[1][5]", NULL, "'height' is 0" },
    { 0 }
};
static const OpCase suppression_cases[] = {
    { "capacity=4",
      "f32[1][4][4]={0,0,1,1,0,0.1,1,1.1,0,-0.1,1,0.9,0,10,1,11} f32[1][2][4]={0.9,0.75,0.6,0.95,0.5,0.6,0.7,0.2} "
      "i64={2} f32={0.5} f32={0}",
      "i64[4][3]", NULL },
    { "capacity=9 center=1", "f32[2][3][4] f32[2][1][3] i64={3} f32={0.5} f32={0.1}", "i64[9][3]", NULL },
    { "capacity=4", "f32[1][3][4]={0,0,1,1,0,0,1,0.5,2,2,2,3} f32[1][1][3] i64={3} f32={0.5} f32={-9}",
      "i64[4][3]", NULL },
    { "capacity=1", "f32[1][1][4] f32[1][1][1] i64={1} f32={0.5} f32={-1}", "i64[1][3]", NULL },
    { "capacity=0", "f32[1][4][4] f32[1][2][4] i64={2} f32={0.5} f32={0}", NULL, "'capacity' is 0" },
    { "capacity=2", "f32[1][4][3] f32[1][2][4] i64={2} f32={0.5} f32={0}", NULL, "[images][boxes][4]" },
    { 0 }
};
static const OpCase soft_cases[] = {
    { "capacity=4 scale=-1",
      "f32[4][4]={0,0,1,1,0,0.1,1,1.1,0,-0.1,1,0.9,0,10,1,11} f32[4]={0.9,0.75,0.6,0.2} f32={0.85} f32={0}", "i64[4]",
      NULL },
    { "capacity=5 scale=-0.5", "f32[3][4] f32[3] f32={0.5} f32={-9}", "i64[5]", NULL },
    { "capacity=1", "f64[2][4] f64[2] f64={0.5} f64={-9}", "i64[1]", NULL },
    { "capacity=0", "f32[2][4] f32[2] f32={0.5} f32={0}", NULL, "'capacity' is 0" },
    { 0 }
};
static const OpCase roi_cases[] = {
    { "height=2 width=3 ratio=2", "f32[2][6][5][2] f32[2][4]={0,0,4,5,1.5,-2,3,9} i64[2]={0,1}", "f32[2][2][3][2]",
      NULL },
    { "height=2 width=2 half=0 scale=0.5 mode=max", "f32[1][6][5][2] f32[1][4]={2,1,9,8} i64[1]={0}",
      "f32[1][2][2][2]", NULL },
    { "height=2 width=3 ratio=0", "f32[2][6][5][2] f32[3][4]={0,0,4,5,1.5,-2,30,9,2,3,1,1} i64[3]={0,1,0}",
      "f32[3][2][3][2]", NULL },
    { "height=1 width=2 ratio=0 half=0 scale=0.5 mode=max",
      "f32[1][6][5][2] f32[2][4]={2,1,9,8,-40,-3,1,4} i64[2]={0,0}", "f32[2][1][2][2]", NULL },
    { "ratio=-1", "f32[1][6][5][2] f32[1][4] i64[1]={0}", NULL, "'ratio' is -1" },
    { "mode=sum", "f32[1][6][5][2] f32[1][4] i64[1]={0}", NULL, "avg or max" },
    { "", "f32[1][6][5][2] f32[1][3] i64[1]={0}", NULL, "[boxes][4]" },
    { 0 }
};

const Op ops_boxes[] = {
    { .name = "soft_suppression",
      .summary = "y[t] = the best box that is left; overlaps lower the scores by exp(scale * ratio^2); the scores",
      .level = 5, .least_inputs = 4, .most_inputs = 4, .inputs = "box score overlap least", .attr = soft_attrs,
      .meaning.compute = soft_suppression, .fusion.pattern = PATTERN_OPAQUE, .cases = soft_cases },
    { .name = "non_max_suppression",
      .summary = "y[k] = (image, class, box) of the selected boxes, best first; count = their number", .level = 5,
      .least_inputs = 5, .most_inputs = 5, .inputs = "box score most overlap least", .attr = suppression_attrs,
      .meaning.compute = non_max_suppression, .fusion.pattern = PATTERN_OPAQUE, .cases = suppression_cases },
    { .name = "roi_align",
      .summary = "y[r,i,j,c] = the mean of bilinear samples of x[image[r],:,:,c] in cell i,j of box r", .level = 5,
      .least_inputs = 3, .most_inputs = 3, .inputs = "x roi image", .attr = roi_attrs, .meaning.compute = roi_align,
      .fusion.pattern = PATTERN_OPAQUE, .cases = roi_cases },
    { .name = "roi_pool", .summary = "y[r,i,j,c] = the largest x[image of r,:,:,c] in cell i,j of box r", .level = 5,
      .least_inputs = 2, .most_inputs = 2, .inputs = "x roi", .attr = pool_attrs, .meaning.compute = roi_pool,
      .fusion.pattern = PATTERN_OPAQUE, .cases = pool_cases },
    { 0 }
};
