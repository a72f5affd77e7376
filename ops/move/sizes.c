/* SPDX-License-Identifier: MIT */
/* Values computed from sizes. An open size is read at run time.
 *
 *   extent   y = x + count
 *   ramp     y[i] = start + i * step,  i < count */
#include "graph/dag/op_build.h"

/* Returns the attribute `count` or the first size of the tensor `like`; NULL if refused. */
static const Expr *count_of(Ctx *cx, const Node *n)
{
    const Attr *like = node_attr(n, "like");
    const int64_t count = node_int(n, "count", 0);
    const Expr *size = like && like->tensor->rank > 0 ? like->tensor->shape[0] : expr_index(cx, count);
    if ((like || (count >= 1 && count <= INT32_MAX)) && op_least(cx, size) >= 1) return size;
    op_refuse(cx, n, "'count' is %lld; at least 1 is expected%s", (long long)(like ? op_least(cx, size) : count),
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
        op_refuse(cx, n, "from %s%s on by %s; numbers without dimensions are expected",
                  dtype_info(start->type)->spelling, tensor_shape_text(cx, start), tensor_shape_text(cx, step));
        return 0;
    }
    const char *text = OP_TEXT(cx, "y[i<count] = start + type(i) * step",
                               { "type", dtype_info(start->type)->spelling });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("start", start), BIND_T("step", step), BIND_V("count", count));
    return out[0] ? 1 : 0;
}

static const AttrRow count_attrs[] = {
    { "count", ATTR_INT, "the size", NULL },
    { "like", ATTR_TENSOR, "alternatively a tensor with this first size; its values are not read", NULL },
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
    { 0 }
};
