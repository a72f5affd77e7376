/* SPDX-License-Identifier: MIT */
/* Reads and writes at indices that are tensor data. Negative indices count from the end. Reads clamp indices out of
 * range: no input can make the program read out of bounds.
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
#include "graph/dag/op_build.h"

#include <string.h>

static void comma(Text *t) { if (t->length) text_char(t, ','); }

/* Returns the text of an index as an i32 clamped to [0, size). */
static const char *inside(Formulas *f, const char *index, const Expr *size)
{
    const char *all = formulas_size(f, size), *last = formulas_size(f, op_size(f->cx, size, 1, -1));
    return text_format(f->cx, "max(0, min(%s, select(%s < 0, i32(%s)+%s, i32(%s))))", last, index, index, all, index);
}

static Formulas of_x_and_index(Ctx *cx, const Node *n)
{
    return (Formulas){ .cx = cx, .call = n, .count = 2, .bind = { BIND_T("x", n->in[0]), BIND_T("index", n->in[1]) } };
}

static bool check_index(Ctx *cx, const Node *n, const Tensor *index)
{
    if (dtype_is_integer(index->type) && tensor_elems(n->in[0]) != 0) return true;
    op_refuse(cx, n, "the input is %s and the index %s%s; an input that is not empty and an integer index are expected",
              tensor_shape_text(cx, n->in[0]), dtype_info(index->type)->spelling, tensor_shape_text(cx, index));
    return false;
}

/* ---- Along an axis ---------------------------------------------------------------------------------------------- */

/* True if the index has x's rank and, except along the axis, sizes of at most those of x. */
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
            "an index of %s into %s along axis %d: the same rank, and no larger sizes beside the axis, are expected",
            tensor_shape_text(cx, index), tensor_shape_text(cx, x), *axis);
    return fits && *axis >= 0;
}

static int gather_elements(Ctx *cx, const Node *n, Tensor **out)
{
    int axis, rank = n->in[0]->rank;
    if (!check_elements(cx, n, &axis)) return 0;
    Formulas f = of_x_and_index(cx, n);
    const char *at = inside(&f, text_format(cx, "index[%s]", axes_with(cx, rank, -1, "")), n->in[0]->shape[axis]);
    Text lhs = text_new(cx);
    for (int d = 0; d < rank; d++)
        text_printf(&lhs, "%s%c<%s", d ? "," : "", axis_letter(rank, d), formulas_size(&f, n->in[1]->shape[d]));
    out[0] = formulas_compute(&f, "y[%s] = x[%s]", lhs.at, axes_with(cx, rank, axis, at));
    return out[0] ? 1 : 0;
}

/* ---- Scattering ------------------------------------------------------------------------------------------------- */

typedef struct Combination { const char *name, *reducer, *of; } Combination;
static const Combination combinations[] = {
    { "none", "max", NULL },      /* over the update indices: the last update wins */
    { "add", "sum", "0" }, { "mul", "prod", "1" }, { "max", "max", NULL }, { "min", "min", NULL },
};

static const Combination *combination_of(Ctx *cx, const Node *n)
{
    const char *wanted = node_text(n, "reduction", "none");
    for (size_t i = 0; i < sizeof combinations / sizeof combinations[0]; i++)
        if (strcmp(combinations[i].name, wanted) == 0) return &combinations[i];
    op_refuse(cx, n, "'reduction' is \"%s\"; none, add, mul, max and min are accepted", wanted);
    return NULL;
}

/* The parts in which scatter_elements and scatter_nd differ. */
typedef struct Scatter {
    const char *all, *sized;     /* axes of the output: n,c and n<2,c<5 */
    const char *over;            /* the range of update indices: k<5 */
    /* True if update k addresses this element; a padded read in it requires is_padded. */
    const char *is_match;
    const char *update;          /* the update at @, a placeholder for k; a padded read if is_padded */
    bool is_padded;
} Scatter;

static const char *with_number(Ctx *cx, const char *pattern, const char *number)
{
    Text t = text_new(cx);
    for (; *pattern; pattern++) {
        if (*pattern == '@') text_add(&t, number);
        else text_char(&t, *pattern);
    }
    return text_string(&t);
}

static int scatter(Ctx *cx, const Node *n, const Scatter *s, Tensor **out)
{
    const Combination *c = combination_of(cx, n);
    Tensor *x = n->in[0], *index = n->in[1], *update = n->in[2];
    if (!c) return 0;
    const char *own = text_format(cx, "x[%s]", s->all);
    if (strcmp(c->name, "none") == 0) {
        const char *mine = text_format(cx, s->is_padded ? "(select(%s, k, -1) : -1)" : "select(%s, k, -1)",
                                       s->is_match);
        Tensor *last = OP_FORMULA(cx, n, text_format(cx, "last[%s] = max(%s; -1) %s", s->sized, s->over, mine),
                                  BIND_T("x", x), BIND_T("index", index));
        const char *taken = with_number(cx, s->update, text_format(cx, "max(0, last[%s])", s->all));
        const char *format = s->is_padded ? "y[%s] = (select(last[%s] < 0, %s, %s) : %s)"
                                          : "y[%s] = select(last[%s] < 0, %s, %s)";
        out[0] = OP_FORMULA(cx, n, text_format(cx, format, s->all, s->all, own, taken, own), BIND_T("x", x),
                            BIND_T("update", update), BIND_T("last", last));
        return out[0] ? 1 : 0;
    }
    const char *taken = with_number(cx, s->update, "k");
    const char *format = s->is_padded ? "y[%s] = %s(%s; %s) (select(%s, %s, none) : none)"
                                      : "y[%s] = %s(%s; %s) select(%s, %s, none)";
    Reducer r = strcmp(c->name, "add") == 0   ? REDUCE_SUM
                : strcmp(c->name, "mul") == 0 ? REDUCE_PROD
                : strcmp(c->name, "max") == 0 ? REDUCE_MAX
                                              : REDUCE_MIN;
    out[0] = OP_FORMULA(cx, n, text_format(cx, format, s->all, c->reducer, s->over, own, s->is_match, taken),
                        BIND_T("x", x), BIND_T("index", index), BIND_T("update", update),
                        BIND_V("none", reducer_identity(cx, r, x->type, 0)));
    return out[0] ? 1 : 0;
}

static bool check_update(Ctx *cx, const Node *n, const Tensor *like, int from, int rank)
{
    const Tensor *u = n->in[2];
    bool fits = u->type == n->in[0]->type && u->rank == rank && tensor_elems(u) > 0;
    for (int d = from; fits && d < rank; d++) fits = tensor_dim(u, d) == tensor_dim(like, like->rank - rank + d);
    if (!fits)
        op_refuse(cx, n,
                  "an update of %s%s for %s%s by an index of %s; the type of the input, rank %d and elements are "
                  "expected, with sizes that match input and index",
                  dtype_info(u->type)->spelling, tensor_shape_text(cx, u), dtype_info(n->in[0]->type)->spelling,
                  tensor_shape_text(cx, n->in[0]), tensor_shape_text(cx, n->in[1]), rank);
    return fits;
}

static int scatter_elements(Ctx *cx, const Node *n, Tensor **out)
{
    int axis, rank = n->in[0]->rank;
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_elements(cx, n, &axis) || !check_update(cx, n, index, 0, rank)) return 0;
    Scatter s = { .all = axes_with(cx, rank, -1, ""),
                  .sized = sized_axes(cx, x),
                  .over = text_format(cx, "k<%lld", (long long)tensor_dim(index, axis)) };
    for (int d = 0; d < rank; d++) s.is_padded = s.is_padded || (d != axis && tensor_dim(index, d) < tensor_dim(x, d));
    const char *q = s.is_padded ? "?" : "", *i = text_format(cx, "index[%s]%s", axes_with(cx, rank, axis, "k"), q),
               *t = dtype_info(index->type)->spelling;
    char c = axis_letter(rank, axis);
    s.is_match = text_format(cx, "(%s == %s(%c) || %s == %s(%c-%lld))", i, t, c, i, t, c,
                            (long long)tensor_dim(x, axis));
    s.update = text_format(cx, "update[%s]%s", axes_with(cx, rank, axis, "@"), q);
    return scatter(cx, n, &s, out);
}

/* index is [k][q] and update [k][rest..]: the first q dimensions of x are indexed. */
static int scatter_nd(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1];
    if (!check_index(cx, n, index)) return 0;
    int rank = x->rank, q = index->rank == 2 ? (int)tensor_dim(index, 1) : -1;
    if (q < 1 || q > rank || tensor_dim(index, 0) < 1 || n->in[2]->rank < 1
        || tensor_dim(n->in[2], 0) != tensor_dim(index, 0)) {
        op_refuse(cx, n, "an index of %s into %s; [updates][dimensions] is expected", tensor_shape_text(cx, index),
                  tensor_shape_text(cx, x));
        return 0;
    }
    if (!check_update(cx, n, x, 1, 1 + rank - q)) return 0;
    Text mine = text_new(cx), update = text_new(cx);
    const char *t = dtype_info(index->type)->spelling;
    text_add(&update, "update[@");
    for (int d = 0; d < rank; d++) {
        char c = axis_letter(rank, d);
        if (d < q)
            text_printf(&mine, "%s(index[k,%d] == %s(%c) || index[k,%d] == %s(%c-%lld))", d ? " && " : "", d, t, c, d,
                        t, c, (long long)tensor_dim(x, d));
        else text_printf(&update, ",%c", c);
    }
    text_char(&update, ']');
    Scatter s = { .all = axes_with(cx, rank, -1, ""),
                  .sized = sized_axes(cx, x),
                  .over = text_format(cx, "k<%lld", (long long)tensor_dim(index, 0)),
                  .is_match = mine.at,
                  .update = update.at };
    return scatter(cx, n, &s, out);
}

/* Row i of a batch element is row i - at[batch] of its update; circular: modulo the number of rows. */
static int scatter_rows(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0], *at = n->in[1], *update = n->in[2];
    int axis = op_axis(cx, n, node_int(n, "axis", -2), x->rank);
    if (axis < 0 || !check_index(cx, n, at)) return 0;
    bool fits = axis > 0 && update->type == x->type && update->rank == x->rank && at->rank == 1
                && tensor_dim(at, 0) == tensor_dim(x, 0);
    for (int d = 0; fits && d < x->rank; d++)
        fits = d == axis ? tensor_dim(update, d) >= 1 && tensor_dim(update, d) <= tensor_dim(x, d)
                         : tensor_dim(update, d) == tensor_dim(x, d);
    if (!fits) {
        op_refuse(cx, n,
                  "an update of %s%s at %s for %s%s along axis %d: the sizes of x except along the axis, an axis "
                  "other than the first, and one offset per batch element are expected",
                  dtype_info(update->type)->spelling, tensor_shape_text(cx, update), tensor_shape_text(cx, at),
                  dtype_info(x->type)->spelling, tensor_shape_text(cx, x), axis);
        return 0;
    }
    long long rows = (long long)tensor_dim(x, axis), last = (long long)tensor_dim(update, axis) - 1;
    char i = axis_letter(x->rank, axis), b = axis_letter(x->rank, 0);
    const char *all = axes_with(cx, x->rank, -1, ""),
               *k = text_format(cx, "(%c - i32(max(%lld, min(%lld, at[%c]))))", i, -last - 1, rows, b);
    if (node_int(n, "circular", 0)) k = text_format(cx, "((%c - i32(at[%c] %% %lld)) %% %lld)", i, b, rows, rows);
    const char *taken = axes_with(cx, x->rank, axis, text_format(cx, "max(0, min(%lld, %s))", last, k));
    out[0] = OP_FORMULA(cx, n,
                        text_format(cx, "y[%s] = select(%s >= 0 && %s <= %lld, update[%s], x[%s])", sized_axes(cx, x),
                                    k, k, last, taken, all),
                        BIND_T("x", x), BIND_T("at", at), BIND_T("update", update));
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
                  "an index of %s into %s with %lld batch dimensions; equal batch sizes, and a last dimension of 1 to "
                  "the other dimensions of the input, are expected",
                  tensor_shape_text(cx, index), tensor_shape_text(cx, x), (long long)batch);
        return 0;
    }
    int rank = lead + x->rank - (int)(batch + q);
    Formulas f = of_x_and_index(cx, n);
    Text lhs = text_new(cx), place = text_new(cx), at = text_new(cx);
    for (int d = 0; d < rank; d++) {
        char c = axis_letter(rank, d);
        const Expr *size = d < lead ? index->shape[d] : x->shape[d - lead + (int)(batch + q)];
        text_printf(&lhs, "%s%c<%s", d ? "," : "", c, formulas_size(&f, size));
        if (d < lead) text_printf(&place, "%c,", c);
    }
    for (int d = 0; d < x->rank; d++) {
        comma(&at);
        if (d < batch) text_char(&at, axis_letter(rank, d));
        else if (d < batch + q)
            text_add(&at, inside(&f, text_format(cx, "index[%s%d]", text_string(&place), d - (int)batch), x->shape[d]));
        else text_char(&at, axis_letter(rank, d - (int)(batch + q) + lead));
    }
    const char *left = rank ? text_format(cx, "y[%s]", lhs.at) : "y";
    out[0] = formulas_compute(&f, "%s = x[%s]", left, at.at);
    return out[0] ? 1 : 0;
}

/* Computes the index of the element at each rank. The rank of i is the count of its predecessors, ordered by value,
 * then by index. */
static int topk(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int rank = x->rank, axis = op_axis(cx, n, node_int(n, "axis", -1), rank);
    if (axis < 0) return 0;
    int64_t k = node_int(n, "k", 1), fewest = op_least(cx, x->shape[axis]);
    if (k < 1 || k > fewest) {
        op_refuse(cx, n, "'k' is %lld; 1 to %lld, the elements along axis %d, are expected%s", (long long)k,
                  (long long)fewest, axis, tensor_dim(x, axis) < 0 ? op_greater_least : "");
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    const char *size = formulas_size(&f, x->shape[axis]);
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    char c = axis_letter(rank, axis);
    const char *all = axes_with(cx, rank, -1, ""), *other = axes_with(cx, rank, axis, "o"),
               *lhs = axes_with(cx, rank, axis, text_format(cx, "k<%lld", (long long)k));
    const char *order = node_int(n, "largest", 1) ? ">" : "<";
    formulas_compute(&f, "rank[%s] = sum(o<%s) select(x[%s] %s x[%s] || (x[%s] == x[%s] && o < %c), 1, 0)", all, size,
                  other, order, all, other, all, c);
    Text at = text_new(cx), kept = text_new(cx);
    for (int d = 0; d < rank; d++) {
        text_printf(&at, "%s%c", d ? "," : "", d == axis ? 'o' : axis_letter(rank, d));
        if (d == axis) continue;
        comma(&kept);
        text_char(&kept, axis_letter(rank, d));
    }
    out[0] = formulas_compute(&f, "y[%s] = sum(o<%s) select(rank[%s] == k, i64(o), 0)", lhs, size, at.at);
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
    { "largest", ATTR_INT, "1: the largest values; 0: the smallest", "1" },
    { 0 }
};

static const OpCase gather_elements_cases[] = {
    { "axis=1", "f32[2][3] i64[2][4]={0,2,1,-1,-3,0,1,2}", "f32[2][4]", NULL },
    { "", "f32[3][3] i32[2][2]={0,1,2,-1}", "f32[2][2]", NULL },
    { "axis=0", "f32[2][3] i64[2][4]", NULL, "no larger sizes beside the axis" },
    { "axis=0", "f32[2][3] f32[2][3]", NULL, "an integer index" },
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
    { "", "f32[5] i64[2] f32[3]", NULL, "an update of f32[3]" },
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
    { "axis=1", "f32[2][3] i64[2] f32[2][4]", NULL, "an update of f32[2][4]" },
    { "axis=0", "f32[3][3] i64[3] f32[2][3]", NULL, "along axis 0" },
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
    { "k=6", "f32[2][5]", NULL, "'k' is 6; 1 to 5" },
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
