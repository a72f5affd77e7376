/* SPDX-License-Identifier: MIT */
/* Defines functions of an element's index. No index expression reads a tensor, except for the lengths of sequences.
 *
 *   cumsum, cumprod   y[i] = sum(j) x[j] over j <= i           exclusive: j < i; reverse: j >= i or j > i
 *   trilu             y[i,j] = x[i,j] where j - i >= k (upper) or <= k, else 0
 *   one_hot           y[i,j] = off + [index[i] = j] * (on - off)
 *   sequence_mask     y[t,b] = x[t,b] where t < length[b], else value
 *   searchsorted      y[i] = the count of j with sorted[j] < x[i]      right: <=
 *   reverse_sequence  y[t,b] = x[length[b] - 1 - t, b] where t < length[b], else x[t,b] */
#include "graph/dag/op_build.h"

static int cumulate(Ctx *cx, const Node *n, const char *reducer, const char *neutral, Tensor **out)
{
    const Tensor *x = n->in[0];
    int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank);
    if (axis < 0) return 0;
    bool is_exclusive = node_int(n, "exclusive", 0) != 0, is_reverse = node_int(n, "reverse", 0) != 0;
    const char *order = is_reverse ? is_exclusive ? ">" : ">=" : is_exclusive ? "<" : "<=";
    const char at[] = { axis_letter(x->rank, axis), '\0' };
    const char *text = OP_TEXT(cx, "y[axes] = reducer(q<extent) select(q order at, x[from], neutral)",
                               { "axes", axes_with(cx, x->rank, axis, OP_TEXT(cx, "at<extent", { "at", at })) },
                               { "from", axes_with(cx, x->rank, axis, "q") }, { "at", at }, { "reducer", reducer },
                               { "order", order }, { "neutral", neutral });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_V("extent", x->shape[axis]));
    return out[0] ? 1 : 0;
}
static int cumsum(Ctx *cx, const Node *n, Tensor **out) { return cumulate(cx, n, "sum", "0", out); }
static int cumprod(Ctx *cx, const Node *n, Tensor **out) { return cumulate(cx, n, "prod", "1", out); }

static int trilu(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int64_t k = node_int(n, "k", 0);
    if (x->rank < 2) {
        op_refuse(cx, n, "the input is %s; use matrices", tensor_shape_text(cx, x));
        return 0;
    }
    if (k > INT32_MAX / 2) k = INT32_MAX / 2;
    if (k < INT32_MIN / 2) k = INT32_MIN / 2;
    int64_t rows = tensor_dim(x, x->rank - 2), columns = tensor_dim(x, x->rank - 1);
    bool upper = node_int(n, "upper", 1) != 0, is_fixed = rows >= 0 && columns >= 0;
    if (is_fixed && (upper ? k >= columns : k <= -rows)) {                 /* keeps no element */
        out[0] = OP_FORMULA(cx, n, "y[*] = select(x[*] == x[*], zero, zero)", BIND_T("x", n->in[0]),
                            BIND_V("zero", expr_int(cx, x->type, 0)));
        return out[0] ? 1 : 0;
    }
    const char i[] = { axis_letter(x->rank, x->rank - 2), '\0' }, j[] = { axis_letter(x->rank, x->rank - 1), '\0' };
    const char *text = OP_TEXT(cx, "y[all] = select(j-i order k, x[all], zero)", { "i", i }, { "j", j },
                               { "k", op_number(cx, k) }, { "order", upper ? ">=" : "<=" },
                               { "all", axes_with(cx, x->rank, -1, "") });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_V("zero", expr_int(cx, x->type, 0)));
    return out[0] ? 1 : 0;
}

/* Adds dimension `axis` to the result. Negative indices count from the end; indices out of range match no element. */
static int one_hot(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *values = n->in[1];
    const Attr *like = node_attr(n, "like");
    const bool is_open = like && like->tensor->rank == 1;
    const int64_t depth = is_open ? INT32_MAX : node_int(n, "depth", 0);
    int rank = x->rank + 1, axis = rank <= MAX_RANK ? op_axis(cx, n, node_int(n, "axis", -1), rank) : -1;
    if (axis < 0) return 0;
    if (!op_holds(cx, n, dtype_is_integer(x->type), "the index is %s; use integers", dtype_info(x->type)->spelling)
        || !op_holds(cx, n, depth >= 1 && depth <= INT32_MAX, "'depth' is %lld; use 1 to 2^31-1", (long long)depth)
        || !op_holds(cx, n, values->rank == 1 && tensor_dim(values, 0) == 2, "the values are %s; use two values [2]",
                       tensor_shape_text(cx, values)))
        return 0;
    const char c[] = { axis_letter(rank, axis), '\0' };
    bool chosen[MAX_RANK] = { false };
    chosen[axis] = true;
    const char *text = OP_TEXT(cx, "y[axes] = values[select(x[kept] == t(at) || x[kept] == t(at-depth), 1, 0)]",
                               { "axes", axes_with(cx, rank, axis, OP_TEXT(cx, "at<depth", { "at", c })) },
                               { "kept", axis_text(cx, rank, chosen).kept }, { "t", dtype_info(x->type)->spelling },
                               { "at", c });
    const Expr *size = is_open ? like->tensor->shape[0] : expr_index(cx, depth);
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("values", n->in[1]), BIND_V("depth", size));
    return out[0] ? 1 : 0;
}

/* Reads the attributes `time` and `batch`, which are axes of x. Input 1 has one length per element of the batch
 * axis. */
static bool read_lengths(Ctx *cx, const Node *n, int *time, int *batch)
{
    const Tensor *x = n->in[0], *length = n->in[1];
    *time = op_axis(cx, n, node_int(n, "time", 0), x->rank);
    *batch = op_axis(cx, n, node_int(n, "batch", 1), x->rank);
    if (*time < 0 || *batch < 0) return false;
    const bool fits = dtype_is_integer(length->type) && length->rank == 1 && length->shape[0] == x->shape[*batch];
    return op_holds(cx, n, *time != *batch, "'time' and 'batch' are both %d; use two different axes", *time)
           && op_holds(cx, n, fits, "the lengths are %s%s and the input is %s; use one integer per index along "
                         "'batch', axis %d", dtype_info(length->type)->spelling, tensor_shape_text(cx, length),
                         tensor_shape_text(cx, x), *batch)
           && op_holds(cx, n, tensor_dim(x, *time) != 0, "the input is %s; use at least one element along 'time', "
                         "axis %d", tensor_shape_text(cx, x), *time);
}

static int reverse_sequence(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int time, batch;
    if (!read_lengths(cx, n, &time, &batch)) return 0;
    const char t[] = { axis_letter(x->rank, time), '\0' }, b[] = { axis_letter(x->rank, batch), '\0' };
    const char *at = OP_TEXT(cx, "select(t < last, max(0, min(end, last-1-t)), t)", { "b", b }, { "t", t },
                             { "last", "i32(length[b])" });
    const char *text = OP_TEXT(cx, "y[axes] = x[from]", { "from", axes_with(cx, x->rank, time, at) },
                               { "axes", axes_with(cx, x->rank, time, OP_TEXT(cx, "t<size", { "t", t })) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("length", n->in[1]), BIND_V("size", x->shape[time]),
                        BIND_V("end", op_size(cx, x->shape[time], 1, -1)));
    return out[0] ? 1 : 0;
}

static int sequence_mask(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *length = n->in[1];
    int time, batch;
    if (!read_lengths(cx, n, &time, &batch)) return 0;
    const char t[] = { axis_letter(x->rank, time), '\0' }, b[] = { axis_letter(x->rank, batch), '\0' };
    const char *text = OP_TEXT(cx, "y[all] = select(type(t) < length[b], x[all], value)", { "t", t }, { "b", b },
                               { "type", dtype_info(length->type)->spelling },
                               { "all", axes_with(cx, x->rank, -1, "") });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("length", n->in[1]),
                        BIND_V("value", op_value(cx, n, "value", x->type)));
    return out[0] ? 1 : 0;
}

/* Counts the sorted values below each x; with `right`, also counts values equal to x. */
static int searchsorted(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *sorted = n->in[0], *x = n->in[1];
    if (!op_same_type(cx, n)) return 0;
    if (sorted->rank != 1 || x->type == BOOL) {
        op_refuse(cx, n, "it searches %s%s in %s; use a sorted list of numbers [n]", dtype_info(x->type)->spelling,
                  tensor_shape_text(cx, x), tensor_shape_text(cx, sorted));
        return 0;
    }
    const char *text = OP_TEXT(cx, "y[all] = sum(q<extent) select(sorted[q] order x[all], i64(1), 0)",
                               { "all", axes_with(cx, x->rank, -1, "") },
                               { "order", node_int(n, "right", 0) ? "<=" : "<" });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("sorted", n->in[0]), BIND_T("x", n->in[1]),
                        BIND_V("extent", sorted->shape[0]));
    return out[0] ? 1 : 0;
}

static const AttrRow cumulate_attrs[] = {
    { "axis", ATTR_INT, "the axis of the prefix", "0" },
    { "exclusive", ATTR_INT, "1: without the element itself", "0" },
    { "reverse", ATTR_INT, "1: from the end", "0" },
    { 0 }
};
static const AttrRow trilu_attrs[] = {
    { "k", ATTR_INT, "the diagonal; positive values shift it to the right", "0" },
    { "upper", ATTR_INT, "1: keeps the diagonal and above; 0: the diagonal and below", "1" },
    { 0 }
};
static const AttrRow one_hot_attrs[] = {
    { "axis", ATTR_INT, "the new dimension, counted in the result", "-1" },
    { "depth", ATTR_INT, "its size", NULL },
    { "like", ATTR_TENSOR, "a tensor of this size, instead of the attribute; its values are not read", NULL },
    { 0 }
};
static const AttrRow reverse_sequence_attrs[] = {
    { "time", ATTR_INT, "the axis that is reversed", "0" },
    { "batch", ATTR_INT, "the axis with one length per element", "1" },
    { 0 }
};

static const AttrRow sequence_mask_attrs[] = {
    { "time", ATTR_INT, "the axis that is masked", "0" },
    { "batch", ATTR_INT, "the axis with one length per element", "1" },
    { "value", ATTR_REAL, "the value from the length on", "0" },
    { 0 }
};
static const AttrRow searchsorted_attrs[] = {
    { "right", ATTR_INT, "1: the index after equal values; 0: before them", "0" }, { 0 }
};

static const OpCase cumulate_cases[] = {
    { "", "f32[5]", "f32[5]", NULL },
    { "axis=-1 exclusive=1", "f32[2][5]", "f32[2][5]", NULL },
    { "axis=1 reverse=1", "i32[2][3][2]", "i32[2][3][2]", NULL },
    { "axis=1 reverse=1 exclusive=1", "f64[2][3]", "f64[2][3]", NULL },
    { "axis=2", "f32[2][3]", NULL, "axis 2 is out of range" },
    { 0 }
};
static const OpCase trilu_cases[] = {
    { "", "f32[3][4]", "f32[3][4]", NULL },
    { "k=-1 upper=0", "i64[2][3][3]", "i64[2][3][3]", NULL },
    { "k=7", "f32[2][2]", "f32[2][2]", NULL },
    { "k=-7", "f32[2][2]", "f32[2][2]", NULL },
    { "", "f32[3]", NULL, "use matrices" },
    { 0 }
};
static const OpCase one_hot_cases[] = {
    { "depth=4", "i64[3]={1,-1,9} f32[2]={0,5}", "f32[3][4]", NULL },
    { "depth=3 axis=1", "i32[2][2]={0,1,2,-3} i32[2]={1,3}", "i32[2][3][2]", NULL },
    { "depth=0", "i64[3] f32[2]", NULL, "'depth' is 0" },
    { 0 }
};
static const OpCase reverse_sequence_cases[] = {
    { "", "f32[4][3] i64[3]={4,1,2}", "f32[4][3]", NULL },
    { "time=1 batch=0", "f32[2][4][2] i32[2]={3,2}", "f32[2][4][2]", NULL },
    { "time=1 batch=1", "f32[2][4] i32[4]", NULL, "'time' and 'batch' are both 1" },
    { 0 }
};

static const OpCase sequence_mask_cases[] = {
    { "value=-1", "f32[4][3] i64[3]={4,0,2}", "f32[4][3]", NULL },
    { "time=1 batch=0", "i32[2][4][2] i32[2]={3,9}", "i32[2][4][2]", NULL },
    { "time=1 batch=0 value=1e30", "i8[2][3] i32[2]={1,2}", "i8[2][3]", NULL },
    { "", "f32[4][3] i64[4]", NULL, "the lengths are i64[4]" },
    { 0 }
};
static const OpCase searchsorted_cases[] = {
    { "", "f32[5]={-1,0,0,2,3} f32[2][3]={-2,0,1,2,3,4}", "i64[2][3]", NULL },
    { "right=1", "i32[4]={1,1,2,5} i32={1}", "i64", NULL },
    { "", "f32[2][2] f32[3]", NULL, "numbers [n]" },
    { 0 }
};

#define ROW(fn, text, its_pattern, count, names, its_attrs, its_cases) \
    .name = #fn, .summary = text, .level = 3, .least_inputs = count, .most_inputs = count, .inputs = names, \
    .attr = its_attrs, .meaning.compute = fn, .fusion.pattern = its_pattern, .cases = its_cases

const Op ops_scan[] = {
    { ROW(cumsum, "y[i] = sum(j) x[j] over j <= i", PATTERN_REDUCTION, 1, "x", cumulate_attrs, cumulate_cases),
      .layout.permute = permute_axis },
    { ROW(cumprod, "y[i] = prod(j) x[j] over j <= i", PATTERN_REDUCTION, 1, "x", cumulate_attrs, cumulate_cases),
      .layout.permute = permute_axis },
    { ROW(trilu, "y[i,j] = select(j - i >= k, x[i,j], 0), or <= k for the lower triangle", PATTERN_INJECTIVE, 1, "x",
      trilu_attrs, trilu_cases) },
    { ROW(one_hot, "y[i,j] = values[x[i] == j]", PATTERN_INJECTIVE, 2, "x values", one_hot_attrs, one_hot_cases) },
    { ROW(reverse_sequence, "y[t,b] = x[length[b]-1-t,b] where t < length[b], else x[t,b]", PATTERN_INJECTIVE, 2,
      "x length", reverse_sequence_attrs, reverse_sequence_cases) },
    { ROW(sequence_mask, "y[t,b] = select(t < length[b], x[t,b], value)", PATTERN_INJECTIVE, 2, "x length",
      sequence_mask_attrs, sequence_mask_cases) },
    { ROW(searchsorted, "y[i] = sum(k) select(sorted[k] < x[i], 1, 0)", PATTERN_REDUCTION, 2, "sorted x",
      searchsorted_attrs, searchsorted_cases) },
    { 0 }
};
