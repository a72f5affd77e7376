/* SPDX-License-Identifier: MIT */
/* Defines index maps that repeat, dilate or reverse elements, or relate them to coordinates.
 *
 *   repeat          y[i] = x[i/times]                                  along one axis
 *   dilate          y[i] = x[i/s] where s divides i, else value        s per dimension
 *   reverse         y[i] = x[n-1-i]                                    along the listed axes
 *   unravel_index   y[d,i] = coordinate d of element x[i] of a tensor of shape `shape`
 *   set_diagonal    y[i,j] = d[..] where j - i = k, else x[i,j]
 *   frames          y[f,i] = x[f*step + i]                             frames of the last axis that overlap */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

static bool is_small(Ctx *cx, const Node *n, int64_t growth)
{
    const Tensor *x = n->in[0];
    const int64_t most = tensor_most_elems(cx, x);
    return op_holds(cx, n, tensor_elems(x) != 0 && most >= 1, "the input is %s; use at least one element",
                    tensor_shape_text(cx, x))
           && op_holds(cx, n, growth >= 1, "it repeats the input %lld times; use 1 or more", (long long)growth)
           && op_holds(cx, n, most <= INT32_MAX / growth, "it repeats the input %s %lld times; use fewer than 2^31 "
                       "results", tensor_shape_text(cx, x), (long long)growth);
}

static int repeat(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t times = node_int(n, "times", 1);
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0 || !is_small(cx, n, times)) return 0;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++)
        at[d] = index_axis(&m, axis_letter(x->rank, d), d == axis ? op_size(cx, x->shape[d], times, 0) : x->shape[d]);
    at[axis] = index_simplified(&m, index_over(cx, at[axis], times));
    out[0] = index_result(&m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

static int dilate(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int64_t stride[MAX_RANK], growth = 1;
    if (!op_ints(cx, n, "stride", x->rank, 1, 1 << 20, 1, stride)) return 0;
    for (int d = 0; d < x->rank && growth < INT32_MAX; d++) growth *= stride[d];
    if (!is_small(cx, n, growth)) return 0;
    const Expr *at[MAX_RANK], *meets = NULL;
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++) {
        const Expr *i = index_axis(&m, axis_letter(x->rank, d), op_size(cx, x->shape[d], stride[d], 1 - stride[d]));
        at[d] = index_simplified(&m, index_over(cx, i, stride[d]));
        if (stride[d] == 1) continue;
        const Expr *is_multiple = expr_binary(cx, EXPR_EQ, index_modulo(cx, i, stride[d]), expr_index(cx, 0));
        meets = meets ? expr_and(cx, meets, is_multiple) : is_multiple;
    }
    const Expr *read = tensor_read(cx, x, at, x->rank);
    out[0] = index_result(&m, meets ? expr_select(cx, meets, read, op_value(cx, n, "value", x->type)) : read);
    return out[0] ? 1 : 0;
}

static int reverse(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    if (!op_axes(cx, n, "axes", x->rank, chosen) || !is_small(cx, n, 1)) return 0;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    index_axes(&m, x, at);
    for (int d = 0; d < x->rank; d++)
        if (chosen[d]) at[d] = index_simplified(&m, expr_sub(cx, op_size(cx, x->shape[d], 1, -1), at[d]));
    out[0] = index_result(&m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

static int unravel_index(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Attr *shape = node_attr(n, "shape");
    int64_t behind = 1;
    if (!op_holds(cx, n, shape && shape->count >= 1 && shape->count <= MAX_RANK, "'shape' has %d sizes; use 1 to %d",
                  shape ? shape->count : 0, MAX_RANK)
        || !op_holds(cx, n, x->rank == 1 && dtype_is_integer(x->type) && x->type != BOOL, "the index is %s%s; use "
                     "integers [n]", dtype_info(x->type)->spelling, tensor_shape_text(cx, x)))
        return 0;
    const char *value = "";
    for (int d = shape->count - 1; d >= 0; d--) {
        if (shape->ints[d] < 1 || shape->ints[d] > INT32_MAX / behind) {
            op_refuse(cx, n, "'shape' is %s; use sizes of at least 1, and fewer than 2^31 elements",
                      ints_text(cx, shape->ints, shape->count));
            return 0;
        }
        value = OP_TEXT(cx, *value ? "select(d == number, own, others)" : "own", { "others", value },
                        { "number", op_number(cx, d) }, { "behind", op_number(cx, behind) },
                        { "size", op_number(cx, shape->ints[d]) }, { "own", "i64(x[i])/behind%size" });
        behind *= shape->ints[d];
    }
    out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, "y[d<count,i] = value", { "count", op_number(cx, shape->count) },
                                       { "value", value }), BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static int set_diagonal(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *diagonal = n->in[1];
    const int rank = x->rank;
    int64_t k = node_int(n, "k", 0);
    if (k > INT32_MAX / 2) k = INT32_MAX / 2;
    if (k < INT32_MIN / 2) k = INT32_MIN / 2;
    const int64_t below = k < 0 ? -k : 0, right = k > 0 ? k : 0;
    if (!op_same_type(cx, n)) return 0;
    const int64_t rows = rank >= 2 ? tensor_dim(x, rank - 2) - below : 0,
                  columns = rank >= 2 ? tensor_dim(x, rank - 1) - right : 0,
                  length = rows < columns ? rows : columns;
    bool fits = rank >= 2 && tensor_is_fixed(x) && diagonal->rank == rank - 1 && length >= 1
                && tensor_dim(diagonal, rank - 2) == length;
    for (int d = 0; fits && d < rank - 2; d++) fits = diagonal->shape[d] == x->shape[d];
    if (!fits) {
        op_refuse(cx, n, "it sets diagonal %lld of %s to %s; use [..][rows][columns] and a diagonal [..][length]",
                  (long long)k, tensor_shape_text(cx, x), tensor_shape_text(cx, diagonal));
        return 0;
    }
    const char i[] = { axis_letter(rank, rank - 2), '\0' }, j[] = { axis_letter(rank, rank - 1), '\0' };
    bool is_matrix[MAX_RANK] = { false };
    is_matrix[rank - 2] = is_matrix[rank - 1] = true;
    const AxisText axes = axis_text(cx, rank, is_matrix);
    const char *text = OP_TEXT(cx, "y[axes] = select(j-i == k, d[kept,max(0, min(last, i-below))], x[all])",
                               { "axes", sized_axes(cx, x) }, AXES(axes), { "i", i }, { "j", j },
                               { "k", op_number(cx, k) }, { "last", op_number(cx, length - 1) },
                               { "below", op_number(cx, below) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("d", n->in[1]));
    return out[0] ? 1 : 0;
}

static int frames(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t length = node_int(n, "length", 1), step = node_int(n, "step", 1),
                  size = x->rank == 2 ? tensor_dim(x, 1) : 0;
    if (!op_holds(cx, n, size >= 1, "the input is %s; use [rows][points]", tensor_shape_text(cx, x))
        || !op_holds(cx, n, length >= 1 && length <= size, "'length' is %lld; use 1 to %lld, the points of a row",
                     (long long)length, (long long)size)
        || !op_holds(cx, n, step >= 1, "'step' is %lld; use 1 or more", (long long)step))
        return 0;
    const char *count = op_number(cx, (size - length) / step + 1);
    const char *text = OP_TEXT(cx, "y[n,f<count,i<length] = x[n,f*step+i]", { "count", count },
                               { "length", op_number(cx, length) },
                               { "step", op_number(cx, step < size ? step : size) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static const AttrRow repeat_attrs[] = {
    { "times", ATTR_INT, "the number of copies of each element", "1" },
    { "axis", ATTR_INT, "the axis of repetition", "0" },
    { 0 }
};
static const AttrRow dilate_attrs[] = {
    { "stride", ATTR_INTS, "distance between adjacent elements, one per dimension or one for all", NULL },
    { "value", ATTR_REAL, "the value between the elements", "0" },
    { 0 }
};
static const AttrRow reverse_attrs[] = { { "axes", ATTR_INTS, "the reversed axes; none: all", NULL }, { 0 } };
static const AttrRow unravel_index_attrs[] = {
    { "shape", ATTR_INTS, "the shape of the indexed tensor", NULL },
    { 0 }
};
static const AttrRow set_diagonal_attrs[] = {
    { "k", ATTR_INT, "the diagonal; positive values shift it to the right", "0" },
    { 0 }
};
static const AttrRow frames_attrs[] = {
    { "length", ATTR_INT, "points of a frame", "1" },
    { "step", ATTR_INT, "distance between adjacent frames", "1" },
    { 0 }
};

static const OpCase repeat_cases[] = {
    { "times=3 axis=1", "f32[2][3][2]", "f32[2][9][2]", NULL },
    { "times=2", "i8[4]", "i8[8]", NULL },
    { "times=0", "f32[4]", NULL, "0 times; use 1 or more" },
    { "axis=1", "f32[4]", NULL, "axis 1 is out of range" },
    { 0 }
};
static const OpCase dilate_cases[] = {
    { "stride=2,1,3 value=0.5", "f32[2][3][2]", "f32[3][3][4]", NULL },
    { "stride=1", "i32[3]", "i32[3]", NULL },
    { "stride=4 value=-1", "i8[3]", "i8[9]", NULL },
    { "stride=0", "f32[3]", NULL, "'stride' is 0" },
    { 0 }
};
static const OpCase reverse_cases[] = {
    { "axes=1", "f32[2][3][2]", "f32[2][3][2]", NULL },
    { "", "u8[5]", "u8[5]", NULL },
    { "axes=2", "f32[2][2]", NULL, "axis 2 is out of range" },
    { 0 }
};
static const OpCase unravel_index_cases[] = {
    { "shape=2,3,4", "i64[4]={0,5,12,23}", "i64[3][4]", NULL },
    { "shape=7", "i32[2]={3,6}", "i64[1][2]", NULL },
    { "shape=0", "i32[2]", NULL, "sizes of at least 1" },
    { "shape=3", "f32[2]", NULL, "use integers [n]" },
    { 0 }
};
static const OpCase set_diagonal_cases[] = {
    { "", "f32[3][4] f32[3]", "f32[3][4]", NULL },
    { "k=-1", "f32[2][3][2] f32[2][2]", "f32[2][3][2]", NULL },
    { "k=2", "i32[3][4] i32[2]", "i32[3][4]", NULL },
    { "k=4", "f32[3][4] f32[1]", NULL, "diagonal 4" },
    { "k=-900000000000000000", "f32[3][4] f32[1]", NULL, "a diagonal [..][length]" },
    { "", "f32[3][4] f32[4]", NULL, "a diagonal [..][length]" },
    { 0 }
};
static const OpCase frames_cases[] = {
    { "length=4 step=3", "f32[2][11]", "f32[2][3][4]", NULL },
    { "length=3 step=1000000000000", "i8[1][3]", "i8[1][1][3]", NULL },
    { "length=4", "f32[2][3]", NULL, "'length' is 4; use 1 to 3" },
    { "step=0", "f32[2][3]", NULL, "'step' is 0" },
    { 0 }
};

#define ROW(fn, text, its_level, count, names) \
    { .name = #fn, .summary = text, .level = its_level, .least_inputs = count, .most_inputs = count, .inputs = names, \
      .attr = fn##_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_INJECTIVE, .cases = fn##_cases }

const Op ops_spread[] = {
    ROW(repeat, "y[i] = x[i / times] along the axis", 3, 1, "x"),
    ROW(dilate, "y[i] = select(i % stride == 0, x[i / stride], value)", 10, 1, "x"),
    ROW(reverse, "y[i] = x[n - 1 - i] along the axes", 3, 1, "x"),
    ROW(unravel_index, "y[d,i] = coordinate d of element x[i] of the shape", 3, 1, "x"),
    ROW(frames, "y[n,f,i] = x[n, f*step + i], i < length", 10, 1, "x"),
    ROW(set_diagonal, "y[i,j] = select(j - i == k, d[i], x[i,j])", 10, 2, "x d"),
    { 0 }
};
