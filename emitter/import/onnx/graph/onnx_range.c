/* SPDX-License-Identifier: MIT */
/* Finds bounds of small integer tensors that the run computes, from the formulas of their operators: Min(Max(x, 6), 6)
 * is 6 whatever x is. A tensor with one possible value becomes a constant, so a shape that is computed in such a way is
 * known. */
#include "graph/dag/op.h"
#include "import/onnx/graph/onnx_graph.h"
#include "ir/algebra/algebra.h"

/* MOST_ELEMS: limit of a tensor's elements; DEEPEST: limit of operators between a tensor and known values */
enum { MOST_ELEMS = 64, DEEPEST = 24 };

typedef struct Query { OnnxImport *import; int depth; const Stage *stage; } Query;

static Interval range_of(Query q, const Tensor *t);

/* Returns the range of min or max: the smaller of two values is at most the maximum of either. */
static Interval range_of_extremum(ExprKind kind, Interval a, Interval b)
{
    const bool is_max = kind == EXPR_MAX;
    return (Interval){ (a.least > b.least) == is_max ? a.least : b.least,
                       (a.greatest > b.greatest) == is_max ? a.greatest : b.greatest };
}

static Interval range_of_variable(const Query *q, const Expr *e)
{
    const Expr *extent = NULL;
    for (int i = 0; i < q->stage->axis_count; i++)
        if (q->stage->axis[i].var == e) extent = q->stage->axis[i].extent;
    if (!extent) return interval_of(q->import->cx, e, NULL);
    return (Interval){ 0, interval_of(q->import->cx, extent, NULL).greatest - 1 };
}

static Interval range_of_value(const Query *q, const Expr *e)
{
    Interval v[3];
    if (e->kind == EXPR_READ) return range_of(*q, e->ref);
    if (e->kind == EXPR_VAR) return range_of_variable(q, e);
    if (!e->arg_count || e->arg_count > 3 || dtype_is_float(e->type)) return interval_of(q->import->cx, e, NULL);
    for (int a = 0; a < e->arg_count; a++) v[a] = range_of_value(q, e->arg[a]);
    return e->kind == EXPR_MIN || e->kind == EXPR_MAX ? range_of_extremum(e->kind, v[0], v[1]) : interval_apply(e, v);
}

/* Returns the range of element i of an output. An extremum of at least one value is one of the values. */
static Interval range_of_output(Query q, const Stage *s, int i, Interval whole)
{
    q.stage = s;
    bool is_extremum = s->reducer == REDUCE_MAX || s->reducer == REDUCE_MIN;
    for (int a = s->data_count; a < s->axis_count; a++)
        is_extremum = is_extremum && interval_of(q.import->cx, s->axis[a].extent, NULL).least > 0;
    if (s->reducer != REDUCE_NONE && !is_extremum) return whole;
    const Interval value = range_of_value(&q, s->value[i]);
    const bool is_usual = s->reducer == REDUCE_NONE
                          || s->init[i] == reducer_identity(q.import->cx, s->reducer, s->value[i]->type, i);
    return is_usual ? value : interval_hull(value, range_of_value(&q, s->init[i]));
}

static Interval range_of_elements(const Tensor *t)
{
    const int64_t first = dtype_load(t->type, t->data, 0).i;
    Interval all = { first, first };
    for (int64_t i = 1; i < tensor_elems(t); i++) {
        const int64_t v = dtype_load(t->type, t->data, i).i;
        all = interval_hull(all, (Interval){ v, v });
    }
    return all;
}

static Interval range_of_produced(Query q, const Tensor *t, Interval whole)
{
    const Node *n = t->producer;
    if (!n || q.depth >= DEEPEST || n->kind == NODE_REGION) return whole;
    q.depth++;
    if (n->kind == NODE_COMPUTE) return range_of_output(q, n->stage, t->output, whole);
    Tensor *const *out = n->op->meaning.is_foreign ? NULL : op_expand(q.import->cx, n);
    return out ? range_of(q, out[t->output]) : whole;
}

void onnx_set_range(OnnxImport *im, const Tensor *t, Interval range)
{
    map_put_const_ptr(&im->ranges, t, arena_copy(im->cx->arena, &range, sizeof range));
}

static Interval range_of(Query q, const Tensor *t)
{
    Ctx *cx = q.import->cx;
    const int64_t elems = tensor_elems(t);
    const Expr *at[MAX_RANK];
    const Interval *known = map_get_const_ptr(&q.import->ranges, t);
    if (known) return *known;
    for (int d = 0; d < t->rank; d++) at[d] = expr_index(cx, 0);
    const Interval whole = interval_of(cx, tensor_read(cx, t, at, t->rank), NULL);
    if (dtype_is_float(t->type) || t->type == U64 || elems < 1 || elems > MOST_ELEMS) return whole;
    const Interval found = t->data ? range_of_elements(t) : range_of_produced(q, t, whole);
    if (q.depth < DEEPEST / 2) onnx_set_range(q.import, t, found);
    return found;
}

Interval onnx_range_of(OnnxImport *im, const Tensor *t) { return range_of((Query){ .import = im }, t); }

Tensor *onnx_decided_by_ranges(OnnxImport *im, Tensor *t)
{
    int64_t shape[MAX_RANK];
    void *data;
    if (!t || t->data || dtype_is_float(t->type) || !tensor_is_fixed(t) || ctx_failed(im->cx)) return t;
    const Interval range = range_of((Query){ .import = im }, t);
    if (range.least != range.greatest) return t;
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    Tensor *y = tensor_zeros(im->cx, t->name, t->type, t->rank, shape, &data);
    for (int64_t i = 0; y && i < tensor_elems(y); i++) dtype_store(y->type, data, i, (Scalar){ .i = range.least });
    return y ? y : t;
}
