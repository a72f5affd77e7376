/* SPDX-License-Identifier: MIT */
/* Computes values from sizes, and sizes from values. An open size is read at run time.
 *
 *   extent      y = x + count
 *   ramp        y[i] = start + i * step,  i < count
 *   bind_size   y = count, which is from then on the value of a size that the run decides
 *   sized       y = the first elements of x along an axis, as many as a size; or all, where the size equals x's own
 *   window      y[i] = x[first + i], i < count; a value outside x
 *   stretch     y[i] = x[i], or x[0] where x has one element along the axis; a test before it excludes other sizes
 *   after       y = x
 *
 * Only bind_size introduces a size that the run decides, and its output is that size as a value. A call whose shapes
 * have such a size depends on that output, either by its operands or by an input that it does not read: sized and after
 * have such inputs. So order, dead code, fusion and regions follow from ordinary edges. */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"
#include "ir/algebra/algebra.h"

/* Returns the attribute `count` or the first size of the tensor `like`. */
static const Expr *wanted_size(Ctx *cx, const Node *n)
{
    const Attr *like = node_attr(n, "like");
    const int64_t count = node_int(n, "count", 0);
    return like && like->tensor->rank > 0 ? like->tensor->shape[0] : expr_index(cx, count);
}

/* Returns the wanted size, or NULL if it is refused. */
static const Expr *count_of(Ctx *cx, const Node *n)
{
    const Attr *like = node_attr(n, "like");
    const int64_t count = node_int(n, "count", 0);
    const Expr *size = wanted_size(cx, n);
    /* a number of elements that the run decides may be 0 */
    const bool is_decided = like && size_is_decided(cx, size);
    if ((like || (count >= 1 && count <= INT32_MAX)) && op_least(cx, size) >= !is_decided) return size;
    op_refuse(cx, n, "'count' is %lld; use at least 1%s", (long long)(like ? op_least(cx, size) : count),
              size->kind == EXPR_INT ? "" : op_greater_least);
    return NULL;
}

static int extent(Ctx *cx, const Node *n, Tensor **out)
{
    const Expr *count = count_of(cx, n);
    if (!count || n->in[0]->rank != 0) return 0;
    out[0] = OP_FORMULA(cx, n, "y = x + count", BIND_T("x", n->in[0]),
                        BIND_V("count", expr_cast(cx, n->in[0]->type, count)));
    return out[0] ? 1 : 0;
}

static int ramp(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *start = n->in[0], *step = n->in[1];
    const Expr *count = count_of(cx, n);
    if (!count || !op_same_type(cx, n)) return 0;
    if (start->rank || step->rank || start->type == BOOL) {
        op_refuse(cx, n, "the start is %s%s and the step %s; use numbers without dimensions, not of bool",
                  dtype_info(start->type)->spelling, tensor_shape_text(cx, start), tensor_shape_text(cx, step));
        return 0;
    }
    const char *text = OP_TEXT(cx, "y[i<count] = start + type(i) * step",
                               { "type", dtype_info(start->type)->spelling });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("start", start), BIND_T("step", step), BIND_V("count", count));
    return out[0] ? 1 : 0;
}

static int bind_size(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *count = n->in[0];
    const Attr *like = node_attr(n, "like");
    if (count->rank || count->type != I64)
        op_refuse(cx, n, "the count is %s%s; use an i64 scalar", dtype_info(count->type)->spelling,
                  tensor_shape_text(cx, count));
    if (like && like->tensor->rank != 1)
        op_refuse(cx, n, "'like' is %s; use a tensor of one dimension", tensor_shape_text(cx, like->tensor));
    if (ctx_failed(cx)) return 0;
    out[0] = OP_FORMULA(cx, n, "y = count", BIND_T("count", n->in[0]));
    return out[0] ? 1 : 0;
}

/* Emits elements of x with the size `size` along the axis. last: the index of the last element of x that is read, or
 * NULL if x's own size has the value of `size`. Reads no element outside x. */
static int sized_alike(Ctx *cx, const Node *n, int axis, const Expr *size, const Expr *last, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++) at[d] = index_axis(&m, axis_letter(x->rank, d), d == axis ? size : x->shape[d]);
    if (last) at[axis] = expr_binary(cx, EXPR_MIN, at[axis], last);
    out[0] = index_result(&m, index_read_padded(&m, x, at, op_value(cx, n, "", x->type)));
    return out[0] ? 1 : 0;
}

static int sized(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0) return 0;
    const Expr *size = wanted_size(cx, n);
    const bool is_equal = node_int(n, "equal", 0) != 0;
    if (op_least(cx, size) < 0 || (!is_equal && op_greatest(cx, size) > op_greatest(cx, x->shape[axis]))) {
        op_refuse(cx, n, "it takes the first %lld elements along axis %d of %s; use at most %lld",
                  (long long)op_greatest(cx, size), axis, tensor_shape_text(cx, x),
                  (long long)op_greatest(cx, x->shape[axis]));
        return 0;
    }
    if (is_equal) return sized_alike(cx, n, axis, size, NULL, out);
    const char *at = text_format(cx, "%c<count", axis_letter(x->rank, axis)),
               *text = OP_TEXT(cx, "y[to] = x[all]", { "to", axes_with(cx, x->rank, axis, at) },
                               { "all", axes_with(cx, x->rank, -1, "") });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_V("count", size));
    return out[0] ? 1 : 0;
}

/* Emits stretch, which reads no element outside x for any size. */
static int stretch(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0) return 0;
    const Expr *size = wanted_size(cx, n), *last = expr_sub(cx, x->shape[axis], expr_index(cx, 1));
    return sized_alike(cx, n, axis, size, last, out);
}

/* Emits window, whose index is data, so that each read is tested. */
static int window(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *first = n->in[1];
    const int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    const Expr *size = wanted_size(cx, n);
    if (axis < 0) return 0;
    if (first->rank || first->type != I64 || op_least(cx, size) < 0) {
        op_refuse(cx, n, "the first index is %s%s; use an i64 scalar, and a known number of elements",
                  dtype_info(first->type)->spelling, tensor_shape_text(cx, first));
        return 0;
    }
    const Expr *at[MAX_RANK], *far = expr_int(cx, I64, INT32_MAX / 2), *near = expr_int(cx, I64, -(INT32_MAX / 2));
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++) at[d] = index_axis(&m, axis_letter(x->rank, d), d == axis ? size : x->shape[d]);
    const Expr *from = expr_binary(cx, EXPR_MAX, expr_binary(cx, EXPR_MIN, tensor_read(cx, first, NULL, 0), far), near);
    at[axis] = expr_add(cx, at[axis], expr_cast(cx, I32, from));
    out[0] = index_result(&m, index_read_padded(&m, x, at, op_value(cx, n, "value", x->type)));
    return out[0] ? 1 : 0;
}

static int after(Ctx *cx, const Node *n, Tensor **out)
{
    out[0] = OP_FORMULA(cx, n, "y[*] = x[*]", BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static const AttrRow sized_attrs[] = {
    { "axis", ATTR_INT, "the axis along which the first elements are taken", "0" },
    { "count", ATTR_INT, "their number", NULL },
    { "like", ATTR_TENSOR, "a tensor whose first dimension has this size, instead of `count`; its values are not read",
      NULL },
    { "equal", ATTR_INT, "1: the number has the value of x's own size, by a test of the run", NULL },
    { 0 }
};
static const AttrRow stretch_attrs[] = {
    { "axis", ATTR_INT, "the axis whose size changes", "0" },
    { "count", ATTR_INT, "the size of the result", NULL },
    { "like", ATTR_TENSOR, "a tensor whose first dimension has this size, instead of `count`; its values are not read",
      NULL },
    { 0 }
};
static const AttrRow window_attrs[] = {
    { "axis", ATTR_INT, "the axis along which the elements are taken", "0" },
    { "count", ATTR_INT, "their number", NULL },
    { "like", ATTR_TENSOR, "a tensor whose first dimension has this size, instead of `count`; its values are not read",
      NULL },
    { "value", ATTR_REAL, "the value outside x", "0" },
    { 0 }
};
static const AttrRow bind_attrs[] = {
    { "like", ATTR_TENSOR, "a tensor whose only size is the one that gets the value", NULL },
    { 0 }
};
static const OpCase bind_size_cases[] = {
    { "", "i64={3}", "i64", NULL },
    { "", "f32={3}", NULL, "use an i64 scalar" },
    { 0 }
};
static const OpCase sized_cases[] = {
    { "count=2", "f32[5][3] i64={2}", "f32[2][3]", NULL },
    { "count=2 axis=1", "i8[2][5]", "i8[2][2]", NULL },
    { "count=0", "f32[5]", "f32[0]", NULL },
    { "count=3 axis=1 equal=1", "f32[2][3]", "f32[2][3]", NULL },
    { "count=6", "f32[5]", NULL, "the first 6 elements" },
    { 0 }
};
static const OpCase window_cases[] = {
    { "count=6 value=1.5", "f32[3] i64={-2}", "f32[6]", NULL },
    { "count=2 axis=1", "i8[2][5] i64={2}", "i8[2][2]", NULL },
    { "count=2", "f32[3] i32={1}", NULL, "use an i64 scalar" },
    { 0 }
};
static const OpCase stretch_cases[] = {
    { "count=4", "f32[1]", "f32[4]", NULL },
    { "count=3 axis=1", "i8[2][3]", "i8[2][3]", NULL },
    { "count=3 axis=1", "i8[2][1] i64={2}", "i8[2][3]", NULL },
    { "axis=2", "f32[3]", NULL, "axis" },
    { 0 }
};
static const OpCase after_cases[] = {
    { "", "f32[3][4] i64={2}", "f32[3][4]", NULL },
    { "axis=1", "f32[3]", NULL, "axis" },
    { 0 }
};
static const AttrRow count_attrs[] = {
    { "count", ATTR_INT, "the size", NULL },
    { "like", ATTR_TENSOR, "a tensor whose first dimension has this size, instead of `count`; its values are not read",
      NULL },
    { 0 }
};
static const OpCase extent_cases[] = {
    { "count=5", "i64={0}", "i64", NULL },
    { "count=0", "i64={0}", NULL, "'count' is 0" },
    { 0 }
};
static const OpCase ramp_cases[] = {
    { "count=5", "i64={3} i64={-2}", "i64[5]", NULL },
    { "count=4", "f32={0.5} f32={0.25}", "f32[4]", NULL },
    { "count=4", "f32[2] f32={1}", NULL, "numbers without dimensions" },
    { 0 }
};

const Op ops_sizes[] = {
    { .name = "extent", .summary = "y = x + count; the count may be an open size", .level = 10, .least_inputs = 1,
      .most_inputs = 1, .inputs = "x", .attr = count_attrs, .meaning.compute = extent,
      .fusion.pattern = PATTERN_INJECTIVE, .cases = extent_cases },
    { .name = "ramp", .summary = "y[i] = start + i * step", .level = 10, .least_inputs = 2, .most_inputs = 2,
      .inputs = "start step", .attr = count_attrs, .meaning.compute = ramp, .fusion.pattern = PATTERN_INJECTIVE,
      .cases = ramp_cases },
    { .name = "bind_size", .summary = "y = count, which becomes the value of a size", .level = 10, .least_inputs = 1,
      .most_inputs = 1, .inputs = "count", .attr = bind_attrs, .meaning.compute = bind_size,
      .fusion.pattern = PATTERN_OPAQUE, .layout.binds_size = true, .cases = bind_size_cases },
    { .name = "sized", .summary = "y = the first elements of x along an axis; `after` are not read", .level = 10,
      .least_inputs = 1, .most_inputs = -1, .inputs = "x after", .attr = sized_attrs, .meaning.compute = sized,
      .fusion.pattern = PATTERN_INJECTIVE, .layout.cuts = true, .cases = sized_cases },
    { .name = "window", .summary = "y[i] = x[first + i], i < count; a value outside x", .level = 10,
      .least_inputs = 2, .most_inputs = 2, .inputs = "x first", .attr = window_attrs, .meaning.compute = window,
      .fusion.pattern = PATTERN_INJECTIVE, .cases = window_cases },
    { .name = "stretch", .summary = "y = x, with its only element along an axis repeated; `after` are not read",
      .level = 10, .least_inputs = 1, .most_inputs = -1, .inputs = "x after", .attr = stretch_attrs,
      .meaning.compute = stretch, .fusion.pattern = PATTERN_INJECTIVE, .cases = stretch_cases },
    { .name = "after", .summary = "y = x; `after` are computed before it, and not read", .level = 10,
      .least_inputs = 1, .most_inputs = -1, .inputs = "x after", .meaning.compute = after,
      .fusion.pattern = PATTERN_ELEMENTWISE, .cases = after_cases },
    { 0 }
};
