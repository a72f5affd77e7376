/* SPDX-License-Identifier: MIT */
/* Defines searches over all elements.
 *
 *   nonzero       y[d,k] = coordinate d of the k-th nonzero element, -1 beyond the last; and their count
 *   unique        y[k] = index of the first occurrence of the k-th distinct row of x; inverse[i] = k of row i;
 *                 counts[k] = the number of its occurrences; count = the number of distinct rows
 *   ngram_count   y[n,o] = occurrences of gram[o,:] in x[n,:], with up to `skips` elements between adjacent ones
 *
 * A running count is a recurrence: each element adds to the count of the elements before it. The k-th match is the
 * element at which the count reaches k + 1. */
#include "graph/dag/op_build.h"
#include "ir/algebra/algebra.h"

/* ---- Nonzero ---------------------------------------------------------------------------------------------------- */

/* Returns the text of coordinate d of element q; x of one dimension may have an open size. */
static const char *coordinate(Ctx *cx, const Tensor *x, int d)
{
    int64_t behind = 1;
    if (x->rank == 1) return "q";
    for (int k = d + 1; k < x->rank; k++) behind *= tensor_dim(x, k);
    return OP_TEXT(cx, d == 0 ? "whole" : "whole%size", { "behind", op_number(cx, behind) },
                   { "size", op_number(cx, tensor_dim(x, d)) }, { "whole", behind == 1 ? "q" : "q/behind" });
}

static int nonzero(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t capacity = node_int(n, "capacity", 0);
    const Expr *size = size_product(cx, x->shape, x->rank);
    if (!op_holds(cx, n, capacity >= 1 && capacity <= INT32_MAX, "'capacity' is %lld; use 1 to 2^31-1",
                  (long long)capacity)
        || !op_holds(cx, n, op_greatest(cx, size) >= 1 && x->rank >= 1, "the input is %s; use at least one dimension "
                     "and one element", tensor_shape_text(cx, x))
        || !op_holds(cx, n, x->rank == 1 || size->kind == EXPR_INT, "the input is %s; use fixed sizes, or one "
                     "dimension", tensor_shape_text(cx, x)))
        return 0;
    Text at = text_new(cx);
    const char *place = coordinate(cx, x, x->rank - 1);
    for (int d = 0; d < x->rank; d++) text_printf(&at, "%s%s", d ? "," : "", coordinate(cx, x, d));
    for (int d = x->rank - 2; d >= 0; d--)
        place = OP_TEXT(cx, "select(d == number, own, others)", { "number", op_number(cx, d) },
                        { "own", coordinate(cx, x, d) }, { "others", place });
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_V("N", size));
    formulas_phrase(&f, "at", text_string(&at));
    formulas_phrase(&f, "steps", expr_is_int(size, 1) ? "q<N" : "q<N ordered");
    formulas_compute(&f, x->type == BOOL ? "hit[q<N] = select(x[at], 1, 0)" : "hit[q<N] = select(x[at] != 0, 1, 0)");
    Tensor *number = formulas_promise(&f, "number", I32, 1, &size);
    formulas_define(&f, number, "number[steps] = (number[q-1]? : 0) + hit[q]");
    formulas_phrase(&f, "rank", op_number(cx, x->rank));
    formulas_phrase(&f, "capacity", op_number(cx, capacity));
    formulas_phrase(&f, "place", place);
    formulas_phrase(&f, "to", node_int(n, "rows", 0) ? "k<capacity,d<rank" : "d<rank,k<capacity");
    out[0] = formulas_compute(&f, "y[to] = max(q<N; -1) select(hit[q] > 0 && number[q] == k + 1, i64(place), -1)");
    out[1] = formulas_compute(&f, op_least(cx, size) < 1 ? "count = i64((number[N-1]? : 0))"
                                                         : "count = i64(number[N-1])");
    return out[0] && out[1] ? 2 : 0;
}

/* ---- Distinct --------------------------------------------------------------------------------------------------- */

/* Finds distinct rows. NaNs compare equal to each other and sort last. */
static int unique(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    int64_t capacity = node_int(n, "capacity", 0);
    const bool fits = x->rank == 2 && op_greatest(cx, x->shape[0]) >= 1 && op_least(cx, x->shape[1]) >= 1;
    if (!op_holds(cx, n, capacity >= 1 && capacity <= INT32_MAX, "'capacity' is %lld; use 1 to 2^31-1",
                  (long long)capacity)
        || !op_holds(cx, n, fits, "the input is %s; use [rows][elements] of at least 1", tensor_shape_text(cx, x))
        || !op_holds(cx, n, x->type != BOOL, "the input is bool; use numbers"))
        return 0;
    const Bind rows = BIND_V("N", x->shape[0]), width = BIND_V("W", x->shape[1]), limit = BIND_I(cx, "K", capacity);
    bool is_float = dtype_is_float(x->type);
    const char *same = is_float ? "(x[i,q] == x[j,q] || (isnan(x[i,q]) && isnan(x[j,q])))" : "x[i,q] == x[j,q]";
    const char *less = is_float ? "(x[j,m] < x[i,m] || (isnan(x[i,m]) && !isnan(x[j,m])))" : "x[j,m] < x[i,m]";
    Tensor *split = OP_FORMULA(cx, n, OP_TEXT(cx, "split[i<N,j<N] = min(q<W; W) select(same, W, q)", { "same", same }),
                               BIND_T("x", x), rows, width);
    Tensor *first = OP_FORMULA(cx, n, "first[i<N] = min(j<N; i) select(split[i,j] == W, j, i)", BIND_T("split", split),
                               rows, width);
    Tensor *order;
    if (node_int(n, "sorted", 1)) {
        const char *text = OP_TEXT(cx, "order[i<N] = sum(j<N) select(first[j] == j && split[i,j] < W && less, 1, 0)",
                                   { "m", "min(W-1, split[i,j])" }, { "less", less });
        order = OP_FORMULA(cx, n, text, BIND_T("x", x), BIND_T("split", split), BIND_T("first", first), rows, width);
    } else {
        order = OP_FORMULA(cx, n, "order[i<N] = sum(j<N) select(first[j] == j && j < first[i], 1, 0)",
                           BIND_T("first", first), rows);
    }
    out[0] = OP_FORMULA(cx, n, "y[k<K] = max(i<N; -1) select(first[i] == i && order[i] == k, i64(i), -1)",
                        BIND_T("first", first), BIND_T("order", order), rows, limit);
    out[1] = OP_FORMULA(cx, n, "inverse[*] = i64(order[*])", BIND_T("order", order));
    out[2] = OP_FORMULA(cx, n, "counts[k<K] = sum(i<N) select(order[i] == k, i64(1), 0)", BIND_T("order", order), rows,
                        limit);
    out[3] = OP_FORMULA(cx, n, "count = sum(i<N) select(first[i] == i, i64(1), 0)", BIND_T("first", first), rows);
    return out[0] && out[1] && out[2] && out[3] ? 4 : 0;
}

/* ---- Grams ------------------------------------------------------------------------------------------------------ */

/* Counts grams [o][m]. A gram whose `length` is below m repeats its last element. */
static int ngram_count(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *gram = n->in[1], *length = n->in[2];
    int64_t skips = node_int(n, "skips", 0);
    if (!op_holds(cx, n, x->rank == 2 && tensor_dim(x, 1) >= 1, "x is %s; use [n][l], l at least 1",
                  tensor_shape_text(cx, x))
        || !op_holds(cx, n, gram->type == x->type && gram->rank == 2 && tensor_elems(gram) >= 1
                            && tensor_dim(gram, 1) <= 16,
                     "the n-grams are %s%s; use %s[o][m], o at least 1 and m from 1 to 16",
                     dtype_info(gram->type)->spelling, tensor_shape_text(cx, gram), dtype_info(x->type)->spelling)
        || !op_holds(cx, n, length->type == I32 && length->rank == 1 && length->shape[0] == gram->shape[0],
                     "the lengths are %s%s; use one i32 per n-gram", dtype_info(length->type)->spelling,
                     tensor_shape_text(cx, length))
        || !op_holds(cx, n, skips >= 0 && skips <= INT32_MAX / 2, "'skips' is %lld; use 0 to 2^30-1",
                     (long long)skips))
        return 0;
    Text all = text_new(cx);
    for (int j = 0; j < tensor_dim(gram, 1); j++)
        text_printf(&all, "%s%s", j ? " && " : "",
                    OP_TEXT(cx, "x[n,p+min(j, length[o]-1)*(s+1)]? == gram[o,j]", { "j", op_number(cx, j) }));
    const char *text = OP_TEXT(
        cx, "y[n,o<grams] = sum(p<starts,s<strides) (select((s == 0 || length[o] > 1) && matches, f32(1), 0) : 0)",
        { "grams", op_number(cx, tensor_dim(gram, 0)) }, { "starts", op_number(cx, tensor_dim(x, 1)) },
        { "strides", op_number(cx, skips + 1) }, { "matches", text_string(&all) });
    out[0] = OP_FORMULA(
        cx, n, text, BIND_T("x", n->in[0]), BIND_T("gram", n->in[1]), BIND_T("length", n->in[2]));
    return out[0] ? 1 : 0;
}

static const AttrRow nonzero_attrs[] = {
    { "capacity", ATTR_INT, "the largest number of results", NULL },
    { "rows", ATTR_INT, "1: y[k,d], a row of coordinates per element; 0: y[d,k]", "0" },
    { 0 }
};
static const AttrRow unique_attrs[] = {
    { "capacity", ATTR_INT, "the largest number of results", NULL },
    { "sorted", ATTR_INT, "1: in ascending order; 0: in order of first occurrence", "1" },
    { 0 }
};
static const AttrRow ngram_attrs[] = {
    { "skips", ATTR_INT, "the largest number of elements between two of a gram", "0" },
    { 0 }
};

static const OpCase nonzero_cases[] = {
    { "capacity=5", "f32[2][3]={1,0,2,0,0,-1}", "i64[2][5]", NULL },
    { "capacity=2", "bool[4]={0,1,1,1}", "i64[1][2]", NULL },
    { "capacity=5 rows=1", "f32[2][3]={1,0,2,0,0,-1}", "i64[5][2]", NULL },
    { "capacity=3", "i32[2][1][2]={0,1,5,0}", "i64[3][3]", NULL },
    { "capacity=0", "f32[4]", NULL, "'capacity' is 0" },
    { 0 }
};
static const OpCase unique_cases[] = {
    { "capacity=4", "f32[6][1]={2,1,1,3,4,3}", "i64[4]", NULL },
    { "capacity=4 sorted=0", "i32[6][1]={2,1,1,3,4,3}", "i64[4]", NULL },
    { "capacity=3", "f32[4][3]={1,0,0,1,0,0,2,3,4,1,0,-1}", "i64[3]", NULL },
    { "capacity=3", "f32[4]", NULL, "[rows][elements]" },
    { 0 }
};
static const OpCase ngram_count_cases[] = {
    { "skips=1", "i64[2][6]={1,1,3,3,3,7,8,6,7,5,6,8} i64[3][2]={5,6,7,8,3,3} i32[3]={2,2,1}", "f32[2][3]", NULL },
    { "", "i32[1][3] f32[2][2] i32[2]", NULL, "the n-grams are f32[2][2]" },
    { 0 }
};

#define ROW(fn, text, count, names, attrs) \
    { .name = #fn, .summary = text, .level = 10, .least_inputs = count, .most_inputs = count, .inputs = names, \
      .attr = attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = fn##_cases }

const Op ops_find[] = {
    ROW(nonzero, "y[d,k] = coordinate d of the k-th nonzero element; count = their number", 1, "x", nonzero_attrs),
    ROW(unique, "y[k] = index of the k-th distinct row; inverse[i] = the distinct row of row i; counts[k], count", 1,
        "x", unique_attrs),
    ROW(ngram_count, "y[n,o] = occurrences of gram[o,:] in x[n,:]", 3, "x gram length", ngram_attrs),
    { 0 }
};
