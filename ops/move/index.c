/* SPDX-License-Identifier: MIT */
/* Reads and writes at indices that are data of a tensor. Negative indices count from the end. Reads clamp indices out
 * of range: no input can make the program read out of bounds.
 *
 *   gather_elements   y[i,j] = x[i, index[i,j]]                     along one axis
 *   gather_nd         y[b,i,r] = x[b, index[b,i,0], index[b,i,1], .., r]
 *   scatter_elements  y[i,j] = the last update[i,k] with index[i,k] = j, else x[i,j]
 *   scatter_nd        y[i,r] = the last update[k,r] with index[k] = i, else x[i,r]
 *   scatter_rows      y[b,i,r] = update[b, i - at[b], r] where i - at[b] is in range, else x[b,i,r]
 *   topk              y[k] = the index of the element with k predecessors in the order
 *
 * A scatter is expressed per output element: each element scans the updates for those with its own index. The cost is
 * elements times updates. No order of writes is needed, and indices out of range have no effect. */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

#include <string.h>

static bool check_index(Ctx *cx, const Node *n, const Tensor *index)
{
    return op_holds(cx, n, dtype_is_integer(index->type), "the index is %s%s; use integers",
                    dtype_info(index->type)->spelling, tensor_shape_text(cx, index))
           && op_holds(cx, n, tensor_elems(n->in[0]) != 0, "the input is %s; use at least one element",
                       tensor_shape_text(cx, n->in[0]));
}

/* ---- Along an axis ---------------------------------------------------------------------------------------------- */

/* Returns true if the index has x's rank and, except along the axis, sizes of at most those of x. */
static bool check_elements(Ctx *cx, const Node *n, int *axis)
{
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_index(cx, n, index)) return false;
    *axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    bool fits = index->rank == x->rank && tensor_elems(index) != 0;
    for (int d = 0; fits && d < x->rank; d++)
        fits = d == *axis || index->shape[d] == x->shape[d]
               || op_greatest(cx, index->shape[d]) <= op_least(cx, x->shape[d]);
    if (*axis >= 0 && !fits)
        op_refuse(
            cx, n,
            "it has an index of %s into %s along axis %d; use the same rank, and no larger sizes beside the axis",
            tensor_shape_text(cx, index), tensor_shape_text(cx, x), *axis);
    return fits && *axis >= 0;
}

static int gather_elements(Ctx *cx, const Node *n, Tensor **out)
{
    int axis;
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_elements(cx, n, &axis)) return 0;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    index_axes(&m, index, at);
    at[axis] = index_from_data(&m, tensor_read(cx, index, at, index->rank), x->shape[axis]);
    out[0] = index_result(&m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

/* ---- Scattering ------------------------------------------------------------------------------------------------- */

/* The ways to combine updates of one element. The row `none` reduces over the update indices, so that the last update
 * wins. */
typedef struct Combination { const char *name; Reducer by, by_of_bools; bool replaces; } Combination;
static const Combination combinations[] = {
    { "none", REDUCE_MAX,  REDUCE_MAX, true  },
    { "add",  REDUCE_SUM,  REDUCE_ANY, false },
    { "mul",  REDUCE_PROD, REDUCE_ALL, false },
    { "max",  REDUCE_MAX,  REDUCE_ANY, false },
    { "min",  REDUCE_MIN,  REDUCE_ALL, false },
};

static const Combination *combination_of(Ctx *cx, const Node *n)
{
    const char *wanted = node_text(n, "reduction", "none");
    for (size_t i = 0; i < sizeof combinations / sizeof combinations[0]; i++)
        if (strcmp(combinations[i].name, wanted) == 0) return &combinations[i];
    op_refuse(cx, n, "'reduction' is \"%s\"; use none, add, mul, max or min", wanted);
    return NULL;
}

/* The parts in which scatter_elements and scatter_nd differ. m: the map over the axes of the output; at: the output's
 * element. */
typedef struct Scatter Scatter;
struct Scatter {
    const Expr *count;           /* number of update indices */
    int axis;                    /* axis of scatter_elements */
    bool is_padded;              /* true if some elements have no update, so that reads may be outside */
    /* returns an expression that is true if update k addresses the element */
    const Expr *(*is_match)(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k);
    const Expr *(*update)(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k);      /* update k */
};

static const Expr *read_of(const Scatter *s, IndexMap *m, const Tensor *t, const Expr *const *at)
{
    return s->is_padded ? index_read(m, t, at) : tensor_read(m->cx, t, at, t->rank);
}

/* Emits the last update that matches, otherwise x. */
static Tensor *replaced(Ctx *cx, const Node *n, const Scatter *s)
{
    const Tensor *x = n->in[0];
    const Expr *at[MAX_RANK], *none = expr_int(cx, I32, -1);
    IndexMap scan = { .cx = cx, .call = n, .word = "last" }, m = { .cx = cx, .call = n };
    index_axes(&scan, x, at);
    const Expr *k = index_tap(&scan, "k", s->count);
    const Expr *mine = expr_select(cx, s->is_match(s, &scan, at, k), k, none);
    const Tensor *last = index_reduced_from(&scan, REDUCE_MAX, none, index_guarded(&scan, mine, none));
    if (!last) return NULL;
    index_axes(&m, x, at);
    const Expr *own = tensor_read(cx, x, at, x->rank), *zero = expr_int(cx, I32, 0),
               *found = tensor_read(cx, last, at, last->rank);
    const Expr *taken = s->update(s, &m, at, index_simplified(&m, expr_binary(cx, EXPR_MAX, zero, found)));
    taken = expr_select(cx, expr_binary(cx, EXPR_LT, found, zero), own, taken);
    return index_result(&m, index_guarded(&m, taken, own));
}

static int scatter(Ctx *cx, const Node *n, const Scatter *s, Tensor **out)
{
    const Combination *c = combination_of(cx, n);
    const Tensor *x = n->in[0];
    if (!c) return 0;
    if (c->replaces) {
        out[0] = replaced(cx, n, s);
        return out[0] ? 1 : 0;
    }
    const Reducer by = x->type == BOOL ? c->by_of_bools : c->by;
    const Expr *at[MAX_RANK], *none = reducer_identity(cx, by, x->type, 0);
    IndexMap m = { .cx = cx, .call = n };
    index_axes(&m, x, at);
    const Expr *own = tensor_read(cx, x, at, x->rank), *k = index_tap(&m, "k", s->count),
               *is_match = s->is_match(s, &m, at, k), *taken = expr_select(cx, is_match, s->update(s, &m, at, k), none);
    out[0] = index_reduced_from(&m, by, own, index_guarded(&m, taken, none));
    return out[0] ? 1 : 0;
}

/* Returns an expression that is true if the index is the element's, counted from either end of the axis. */
static const Expr *is_index_of(Ctx *cx, const Expr *index, const Expr *axis, const Expr *size)
{
    const Expr *from_end = expr_sub(cx, axis, size);
    return expr_binary(cx, EXPR_OR, expr_binary(cx, EXPR_EQ, index, expr_cast(cx, index->type, axis)),
                       expr_binary(cx, EXPR_EQ, index, expr_cast(cx, index->type, from_end)));
}

static bool check_update(Ctx *cx, const Node *n, const Tensor *like, int from, int rank)
{
    const Tensor *u = n->in[2];
    if (!op_holds(cx, n, u->type == n->in[0]->type, "the update is %s and the input %s; use one type",
                  dtype_info(u->type)->spelling, dtype_info(n->in[0]->type)->spelling)
        || !op_holds(cx, n, u->rank == rank && tensor_elems(u) != 0, "the update is %s; use %d dimensions, none of 0",
                     tensor_shape_text(cx, u), rank))
        return false;
    for (int d = from; d < rank; d++)
        if (!op_holds(cx, n, u->shape[d] == like->shape[like->rank - rank + d], "dimension %d of the update %s differs "
                      "from the input %s and the index %s; use equal sizes", d, tensor_shape_text(cx, u),
                      tensor_shape_text(cx, n->in[0]), tensor_shape_text(cx, n->in[1])))
            return false;
    return true;
}

/* Reads t at `at`, with k as the index along the axis. */
static const Expr *read_along(const Scatter *s, IndexMap *m, const Tensor *t, const Expr *const *at, const Expr *k)
{
    const Expr *moved[MAX_RANK];
    for (int d = 0; d < t->rank; d++) moved[d] = d == s->axis ? k : at[d];
    return read_of(s, m, t, moved);
}

static const Expr *matches_element(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k)
{
    return is_index_of(m->cx, read_along(s, m, m->call->in[1], at, k), at[s->axis],
                       m->call->in[0]->shape[s->axis]);
}

static const Expr *update_of_element(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k)
{
    return read_along(s, m, m->call->in[2], at, k);
}

static int scatter_elements(Ctx *cx, const Node *n, Tensor **out)
{
    int axis, rank = n->in[0]->rank;
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_elements(cx, n, &axis) || !check_update(cx, n, index, 0, rank)) return 0;
    Scatter s = { .count = index->shape[axis], .axis = axis, .is_match = matches_element,
                  .update = update_of_element };
    for (int d = 0; d < rank; d++) s.is_padded = s.is_padded || (d != axis && index->shape[d] != x->shape[d]);
    return scatter(cx, n, &s, out);
}

static const Expr *matches_all(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k)
{
    const Tensor *x = m->call->in[0], *index = m->call->in[1];
    const Expr *all = NULL;
    (void)s;
    for (int d = 0; d < tensor_dim(index, 1); d++) {
        const Expr *place[2] = { k, expr_index(m->cx, d) };
        const Expr *is_same = is_index_of(m->cx, tensor_read(m->cx, index, place, 2), at[d], x->shape[d]);
        all = all ? expr_and(m->cx, all, is_same) : is_same;
    }
    return all;
}

static const Expr *update_of_rest(const Scatter *s, IndexMap *m, const Expr *const *at, const Expr *k)
{
    const Tensor *update = m->call->in[2];
    const int given = m->call->in[0]->rank - (update->rank - 1);
    const Expr *place[MAX_RANK] = { k };
    (void)s;
    for (int d = 1; d < update->rank; d++) place[d] = at[given + d - 1];
    return tensor_read(m->cx, update, place, update->rank);
}

/* Emits scatter_nd; index is [k][q] and update [k][rest..], so the first q dimensions of x are indexed. */
static int scatter_nd(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_index(cx, n, index)) return 0;
    int rank = x->rank, q = index->rank == 2 ? (int)tensor_dim(index, 1) : -1;
    if (!tensor_is_fixed(x)) {
        op_refuse(cx, n, "the update is %s, which has an open size; fix the size with --dim", tensor_shape_text(cx, x));
        return 0;
    }
    /* a size that data decide may have only one value left, and is then equal to a number */
    const bool has_equal = n->in[2]->rank >= 1
                           && simplify(cx, n->in[2]->shape[0], NULL) == simplify(cx, index->shape[0], NULL);
    if (q < 1 || q > rank || tensor_dim(index, 0) == 0 || !has_equal) {
        op_refuse(cx, n, "it has an index of %s and an update of %s into %s; use [updates][dimensions] and "
                         "[updates][rest]", tensor_shape_text(cx, index), tensor_shape_text(cx, n->in[2]),
                  tensor_shape_text(cx, x));
        return 0;
    }
    if (!check_update(cx, n, x, 1, 1 + rank - q)) return 0;
    Scatter s = { .count = index->shape[0], .is_match = matches_all, .update = update_of_rest };
    return scatter(cx, n, &s, out);
}

/* Emits scatter_rows: row i of a batch element is row i - at[batch] of the update. circular: modulo the number of
 * rows. */
static int scatter_rows(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0], *at = n->in[1], *update = n->in[2];
    int axis = op_axis(cx, n, node_int(n, "axis", -2), x->rank);
    if (axis < 0 || !check_index(cx, n, at)) return 0;
    bool fits = update->type == x->type && update->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++)
        fits = d == axis ? tensor_dim(update, d) >= 1 && tensor_dim(update, d) <= tensor_dim(x, d)
                         : tensor_dim(update, d) == tensor_dim(x, d);
    if (!op_holds(cx, n, axis > 0, "the axis is 0, the batch; use another axis")
        || !op_holds(cx, n, at->rank == 1 && tensor_dim(at, 0) == tensor_dim(x, 0), "the offsets are %s; use one for "
                     "each of the %lld batch elements", tensor_shape_text(cx, at), (long long)tensor_dim(x, 0))
        || !op_holds(cx, n, fits, "the update is %s%s and x %s%s; use the type and sizes of x, or a smaller size along "
                     "axis %d", dtype_info(update->type)->spelling, tensor_shape_text(cx, update),
                     dtype_info(x->type)->spelling, tensor_shape_text(cx, x), axis))
        return 0;
    const int64_t rows = tensor_dim(x, axis), last = tensor_dim(update, axis) - 1;
    const Expr *place[MAX_RANK], *moved[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    index_axes(&m, x, place);
    const Expr *own = tensor_read(cx, x, place, x->rank), *start = tensor_read(cx, at, place, 1);
    const bool is_circular = node_int(n, "circular", 0) != 0;
    start = is_circular ? expr_binary(cx, EXPR_FLOORMOD, start, expr_int(cx, at->type, rows))
                        : expr_binary(cx, EXPR_MAX, expr_int(cx, at->type, -last - 1),
                                      expr_binary(cx, EXPR_MIN, expr_int(cx, at->type, rows), start));
    const Expr *k = expr_sub(cx, place[axis], expr_cast(cx, I32, start)), *end = expr_index(cx, last);
    if (is_circular) k = index_modulo(cx, k, rows);
    const Expr *is_inside = expr_and(cx, expr_binary(cx, EXPR_LE, expr_index(cx, 0), k),
                                     expr_binary(cx, EXPR_LE, k, end));
    for (int d = 0; d < x->rank; d++)
        moved[d] = d == axis ? index_simplified(&m, index_clamped(cx, k, end)) : place[d];
    out[0] = index_result(&m, expr_select(cx, is_inside, tensor_read(cx, update, moved, update->rank), own));
    return out[0] ? 1 : 0;
}

/* ---- Several indices -------------------------------------------------------------------------------------------- */

static int gather_nd(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_index(cx, n, index)) return 0;
    int64_t batch = node_int(n, "batch", 0), q = index->rank ? tensor_dim(index, index->rank - 1) : -1;
    int lead = index->rank - 1;
    bool fits = batch >= 0 && batch <= lead && q >= 1 && q <= x->rank - batch && lead + x->rank - batch - q <= MAX_RANK
                && tensor_elems(index) != 0;
    for (int d = 0; fits && d < batch; d++) fits = x->shape[d] == index->shape[d];
    if (!fits) {
        op_refuse(cx, n,
                  "it has an index of %s into %s with %lld batch dimensions; use equal batch sizes, and a last "
                  "dimension of 1 to the other dimensions of the input",
                  tensor_shape_text(cx, index), tensor_shape_text(cx, x), (long long)batch);
        return 0;
    }
    int rank = lead + x->rank - (int)(batch + q);
    const Expr *axis[MAX_RANK], *at[MAX_RANK], *place[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < rank; d++) {
        const Expr *size = d < lead ? index->shape[d] : x->shape[d - lead + (int)(batch + q)];
        axis[d] = index_axis(&m, axis_letter(rank, d), size);
        if (d < lead) place[d] = axis[d];
    }
    for (int d = 0; d < x->rank; d++) {
        place[lead] = expr_index(cx, d - (int)batch);
        if (d < batch) at[d] = axis[d];
        else if (d >= batch + q) at[d] = axis[d - (int)(batch + q) + lead];
        else at[d] = index_from_data(&m, tensor_read(cx, index, place, index->rank), x->shape[d]);
    }
    out[0] = index_result(&m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

/* Returns an expression that is true if a is below b; NaN counts as the largest value. */
static const Expr *is_below(Ctx *cx, const Expr *a, const Expr *b)
{
    const Expr *less = expr_binary(cx, EXPR_LT, a, b);
    if (!dtype_is_float(a->type)) return less;
    const Expr *is_number = expr_unary(cx, EXPR_NOT, expr_unary(cx, EXPR_ISNAN, a));
    return expr_binary(cx, EXPR_OR, less, expr_and(cx, expr_unary(cx, EXPR_ISNAN, b), is_number));
}

static const Expr *is_equal(Ctx *cx, const Expr *a, const Expr *b)
{
    const Expr *equal = expr_binary(cx, EXPR_EQ, a, b);
    if (!dtype_is_float(a->type)) return equal;
    return expr_binary(cx, EXPR_OR, equal, expr_and(cx, expr_unary(cx, EXPR_ISNAN, a), expr_unary(cx, EXPR_ISNAN, b)));
}

/* Computes the index of the element at each rank. The rank of i is the count of its predecessors, ordered by value,
 * then by index. The order is total, so that each rank has one element. */
static int topk(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int rank = x->rank, axis = op_axis(cx, n, node_int(n, "axis", -1), rank);
    if (axis < 0) return 0;
    const Attr *like = node_attr(n, "like");        /* the importer's calls test that x has enough elements */
    const int64_t k = node_int(n, "k", 1), fewest = op_least(cx, x->shape[axis]);
    const Expr *count = like && like->tensor->rank == 1 ? like->tensor->shape[0] : expr_index(cx, k);
    if (!like && (k < 1 || k > fewest)) {
        op_refuse(cx, n, "'k' is %lld; use 1 to %lld, the elements along axis %d%s", (long long)k,
                  (long long)fewest, axis, tensor_dim(x, axis) < 0 ? op_greater_least : "");
        return 0;
    }
    const Expr *at[MAX_RANK] = { NULL }, *other[MAX_RANK], *one = expr_int(cx, I32, 1), *zero = expr_int(cx, I32, 0);
    IndexMap order = { .cx = cx, .call = n, .word = "rank" }, m = { .cx = cx, .call = n };
    index_axes(&order, x, at);
    memcpy(other, at, sizeof at);
    const Expr *o = other[axis] = index_tap(&order, "o", x->shape[axis]);
    const Expr *own = tensor_read(cx, x, at, rank), *theirs = tensor_read(cx, x, other, rank),
               *is_ahead = node_int(n, "largest", 1) ? is_below(cx, own, theirs) : is_below(cx, theirs, own),
               *is_tie = expr_and(cx, expr_binary(cx, EXPR_LT, o, at[axis]), is_equal(cx, theirs, own));
    const Expr *precedes = expr_binary(cx, EXPR_OR, is_ahead, is_tie);
    const Tensor *ranks = index_reduced(&order, REDUCE_SUM, expr_select(cx, precedes, one, zero));
    if (!ranks) return 0;
    const Expr *wanted = NULL;
    for (int d = 0; d < rank; d++) {
        at[d] = index_axis(&m, d == axis ? 'k' : axis_letter(rank, d), d == axis ? count : x->shape[d]);
        if (d == axis) wanted = at[d];
    }
    o = at[axis] = index_tap(&m, "o", x->shape[axis]);
    const Expr *is_it = expr_binary(cx, EXPR_EQ, tensor_read(cx, ranks, at, rank), wanted);
    out[0] = index_reduced(&m, REDUCE_SUM, expr_select(cx, is_it, expr_cast(cx, I64, o), expr_int(cx, I64, 0)));
    return out[0] ? 1 : 0;
}

static const AttrRow axis_attrs[] = { { "axis", ATTR_INT, "the indexed axis", "0" }, { 0 } };
static const AttrRow scatter_elements_attrs[] = {
    { "axis", ATTR_INT, "the indexed axis", "0" },
    { "reduction", ATTR_TEXT,
      "how updates combine with the element: none (the last one replaces it), add, mul, max or min", "none" },
    { 0 }
};
static const AttrRow scatter_nd_attrs[] = {
    { "reduction", ATTR_TEXT,
      "how updates combine with the element: none (the last one replaces it), add, mul, max or min", "none" },
    { 0 }
};
static const AttrRow scatter_rows_attrs[] = {
    { "axis", ATTR_INT, "the axis of the rows, not the first", "-2" },
    { "circular", ATTR_INT, "1: indices wrap around after the last row", "0" },
    { 0 }
};
static const AttrRow gather_nd_attrs[] = {
    { "batch", ATTR_INT, "leading dimensions that x and index share", "0" },
    { 0 }
};
static const AttrRow topk_attrs[] = {
    { "axis", ATTR_INT, "the ranked axis", "-1" },
    { "k", ATTR_INT, "the number of results", "1" },
    { "like", ATTR_TENSOR, "a tensor whose first dimension has this size, instead of `k`; its values are not read",
      NULL },
    { "largest", ATTR_INT, "1: the largest values; 0: the smallest", "1" },
    { 0 }
};

static const OpCase gather_elements_cases[] = {
    { "axis=1", "f32[2][3] i64[2][4]={0,2,1,-1,-3,0,1,2}", "f32[2][4]", NULL },
    { "", "f32[3][3] i32[2][2]={0,1,2,-1}", "f32[2][2]", NULL },
    { "axis=0", "f32[2][3] i64[2][4]", NULL, "no larger sizes beside the axis" },
    { "axis=0", "f32[2][3] f32[2][3]", NULL, "; use integers" },
    { 0 }
};
static const OpCase scatter_elements_cases[] = {
    { "axis=1", "f32[1][5] i64[1][2]={1,3} f32[1][2]={9,8}", "f32[1][5]", NULL },
    { "axis=1", "f32[2][5] i64[1][2]={-1,-1} f32[1][2]={9,8}", "f32[2][5]", NULL },
    { "reduction=add", "f32[3][2] i32[2][2]={1,0,1,2} f32[2][2]={1,2,3,4}", "f32[3][2]", NULL },
    { "reduction=mul axis=1", "i32[1][5] i64[1][2]={1,1} i32[1][2]={2,3}", "i32[1][5]", NULL },
    { "reduction=max", "f32[5] i64[3]={0,0,4} f32[3]={2,-3,-2}", "f32[5]", NULL },
    { "reduction=min", "f32[5] i64[3]={0,0,4} f32[3]={2,-3,-2}", "f32[5]", NULL },
    { "reduction=mean", "f32[5] i64[1] f32[1]", NULL, "'reduction' is \"mean\"" },
    { "", "f32[5] i64[2] f32[3]", NULL, "dimension 0 of the update [3] differs" },
    { 0 }
};
static const OpCase scatter_nd_cases[] = {
    { "", "f32[4][2] i64[2][1]={3,-4} f32[2][2]={1,2,3,4}", "f32[4][2]", NULL },
    { "reduction=add", "f32[2][3] i64[3][2]={0,1,1,2,0,1} f32[3]={1,2,4}", "f32[2][3]", NULL },
    { "", "f32[4][2] i64[2] f32[2][2]", NULL, "[updates][dimensions]" },
    { 0 }
};
static const OpCase scatter_rows_cases[] = {
    { "", "f32[2][4][2] i64[2]={0,2} f32[2][2][2]", "f32[2][4][2]", NULL },
    { "axis=1 circular=1", "i32[2][5] i32[2]={4,11} i32[2][3]", "i32[2][5]", NULL },
    { "axis=1", "f32[2][5] i32[2]={4,-1} f32[2][3]", "f32[2][5]", NULL },
    { "axis=1", "f32[2][3] i64[2] f32[2][4]", NULL, "the update is f32[2][4] and x f32[2][3]" },
    { "axis=0", "f32[3][3] i64[3] f32[2][3]", NULL, "the axis is 0, the batch" },
    { 0 }
};
static const OpCase gather_nd_cases[] = {
    { "", "f32[2][2] i64[2][2]={0,0,1,-1}", "f32[2]", NULL },
    { "", "f32[2][2][3] i64[2][1]={1,0}", "f32[2][2][3]", NULL },
    { "batch=1", "f32[2][2][3] i64[2][1]={1,0}", "f32[2][3]", NULL },
    { "batch=2", "f32[2][2][3] i64[2][1]={1,0}", NULL, "2 batch dimensions" },
    { 0 }
};
static const OpCase topk_cases[] = {
    { "k=3", "f32[2][5]", "i64[2][3]", NULL },
    { "k=2 axis=0 largest=0", "i32[5]={3,1,3,1,1}", "i64[2]", NULL },
    { "k=3", "f32[2][4]={nan,1,nan,2,nan,nan,nan,nan}", "i64[2][3]", NULL },
    { "k=6", "f32[2][5]", NULL, "'k' is 6; use 1 to 5" },
    { 0 }
};

#define ROW(fn, text, its_pattern, count, names, attrs) \
    { .name = #fn, .summary = text, .level = 3, .least_inputs = count, .most_inputs = count, .inputs = names, \
      .attr = attrs, .meaning.compute = fn, .fusion.pattern = its_pattern, .cases = fn##_cases }

const Op ops_index[] = {
    ROW(gather_elements, "y[i,j] = x[i,index[i,j]] along the axis", PATTERN_INJECTIVE, 2, "x index", axis_attrs),
    ROW(gather_nd, "y[b,i,r] = x[b,index[b,i,0],index[b,i,1],..,r]", PATTERN_INJECTIVE, 2, "x index", gather_nd_attrs),
    ROW(scatter_elements, "y[i,j] = update[i,k] where index[i,k] = j, else x[i,j]", PATTERN_OPAQUE, 3, "x index update",
        scatter_elements_attrs),
    ROW(scatter_nd, "y[i,r] = update[k,r] where index[k] = i, else x[i,r]", PATTERN_OPAQUE, 3, "x index update",
        scatter_nd_attrs),
    ROW(scatter_rows, "y[b,i,r] = update[b,i-at[b],r] where i-at[b] is in range, else x[b,i,r]", PATTERN_OPAQUE, 3,
        "x at update", scatter_rows_attrs),
    ROW(topk, "y[k] = the i with k predecessors, by value, then by index", PATTERN_OPAQUE, 1, "x", topk_attrs),
    { 0 }
};
