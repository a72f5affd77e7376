/* SPDX-License-Identifier: MIT */
/* Translates Gather and Scatter by indices, and operators that use an element's own index. */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/ops/onnx_rows.h"
#include "ir/algebra/algebra.h"

/* ---- By data-dependent indices ----------------------------------------------------------------------------------- */

/* Refuses constant indices out of range; the operator clamps other indices. */
static void check_range(OnnxCall *c, const Tensor *index, int64_t size)
{
    int64_t count = tensor_is_constant(index) && dtype_is_integer(index->type) ? tensor_elems(index) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = dtype_load(index->type, index->data, i).i;
        if (at >= -size && at < size) continue;
        onnx_refuse(c, "index %lld is out of range for %lld elements; %s", (long long)at, (long long)size,
                    indices_accepted_text(c->cx, size));
        return;
    }
}

/* Returns a tensor of t's shape, without elements. */
static Tensor *empty_like(OnnxCall *c, DType type, const Tensor *t)
{
    return onnx_empty_of(c, type, t->shape, t->rank);
}

/* Translates an update of no elements; index and update are the node's inputs 1 and 2. */
static bool updates_nothing(const OnnxCall *c)
{
    return tensor_elems(c->in[2]) == 0 && (tensor_elems(c->in[1]) == 0 || tensor_elems(c->in[0]) == 0);
}

static void gather_elements(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    if (onnx_is_empty(c->cx, c->in[1]) && c->in[1]->rank == c->in[0]->rank) {
        c->out[0] = empty_like(c, c->in[0]->type, c->in[1]);
        return;
    }
    int axis = onnx_axis(c, onnx_int(c, "axis", 0), c->in[0]->rank);
    if (axis < 0) return;
    check_range(c, c->in[1], interval_of(c->cx, c->in[0]->shape[axis], NULL).greatest);
    Tensor *x = onnx_indexed(c, c->in[0], axis, c->in[1]->shape, c->in[1]->rank);
    c->out[0] = onnx_call2(c, "gather_elements", x, c->in[1], attr_int("axis", axis));
}

static bool gathers_nothing(OnnxCall *c, int64_t batch)
{
    const Tensor *x = c->in[0], *index = c->in[1];
    const int lead = index->rank - 1;
    const int64_t q = lead >= 0 ? tensor_dim(index, lead) : -1;
    const Expr *shape[MAX_RANK];
    int rank = 0;
    if (!onnx_is_empty(c->cx, index) || q < 1 || batch < 0 || batch + q > x->rank
        || lead + x->rank - batch - q > MAX_RANK)
        return false;
    for (int d = 0; d < lead; d++) shape[rank++] = index->shape[d];
    for (int d = (int)(batch + q); d < x->rank; d++) shape[rank++] = x->shape[d];
    c->out[0] = onnx_empty_of(c, x->type, shape, rank);
    return true;
}

static void gather_nd(OnnxCall *c)
{
    if (!onnx_requires(c, 2) || gathers_nothing(c, onnx_int(c, "batch_dims", 0))) return;
    const int64_t batch = onnx_int(c, "batch_dims", 0), rank = c->in[0]->rank, last = c->in[1]->rank - 1,
                  indexed = last < 0 ? 0 : tensor_dim(c->in[1], (int)last);
    for (int64_t d = batch < 0 ? 0 : batch; d < batch + indexed && d < rank; d++)
        c->in[0] = onnx_indexed(c, c->in[0], (int)d, c->in[1]->shape, c->in[1]->rank);
    if (!ctx_failed(c->cx))
        c->out[0] = onnx_call2(c, "gather_nd", c->in[0], c->in[1], attr_int("batch", onnx_int(c, "batch_dims", 0)));
}

static void scatter_elements(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    if (updates_nothing(c)) {
        c->out[0] = c->in[0];
        return;
    }
    const Tensor *x = c->in[0], *index = c->in[1];
    const int axis = onnx_axis(c, onnx_int(c, "axis", 0), x->rank);
    if (axis < 0) return;
    check_range(c, index, interval_of(c->cx, x->shape[axis], NULL).greatest);
    Tensor *in[3] = { onnx_indexed(c, c->in[0], axis, index->shape, index->rank), c->in[1], c->in[2] };
    for (int d = 0; d < index->rank && in[2] && in[2]->rank == index->rank; d++)
        if (size_is_decided(c->cx, index->shape[d]) || size_is_decided(c->cx, in[2]->shape[d]))
            in[2] = onnx_equal_size(c, in[2], d, index->shape[d]);
    if (!ctx_failed(c->cx))
        c->out[0] = call(c->cx, "scatter_elements", c->name, in, 3,
                         ATTRS(attr_int("axis", axis), attr_word("reduction", onnx_text(c, "reduction", "none"))));
}

/* Translates ScatterND. Flattens the leading dimensions of the index into one, and the leading dimensions of the
 * updates into one. */
static void scatter_nd(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    const Tensor *x = c->in[0], *index = c->in[1];
    int64_t q = index->rank ? tensor_dim(index, index->rank - 1) : -1, shape[MAX_RANK];
    if (updates_nothing(c)) {
        c->out[0] = c->in[0];
        return;
    }
    const bool is_decided = index->rank == 2 && size_is_decided(c->cx, index->shape[0]) && tensor_is_fixed(x);
    if (!onnx_holds(c, q >= 1 && q <= x->rank, "it has indices %s for a tensor %s; use a last dimension from 1 to %d",
                    tensor_shape_text(c->cx, index), tensor_shape_text(c->cx, x), x->rank)
        || !onnx_holds(c, tensor_elems(index) >= 1 || is_decided, "it has indices %s for a tensor %s; use fixed sizes, "
                       "or a number of updates that the run decides", tensor_shape_text(c->cx, index),
                       tensor_shape_text(c->cx, x)))
        return;
    if (is_decided) {
        Tensor *given[3] = { c->in[0], c->in[1], onnx_equal_size(c, c->in[2], 0, index->shape[0]) };
        if (!ctx_failed(c->cx))
            c->out[0] = call(c->cx, "scatter_nd", c->name, given, 3,
                             ATTRS(attr_word("reduction", onnx_text(c, "reduction", "none"))));
        return;
    }
    int rank = 0;
    shape[rank++] = tensor_elems(index) / q;
    for (int d = (int)q; d < x->rank; d++) shape[rank++] = tensor_dim(x, d);
    Tensor *view = onnx_reshape(c, c->in[1], (int64_t[]){ shape[0], q }, 2);
    Tensor *in[3] = { c->in[0], view, onnx_reshape(c, c->in[2], shape, rank) };
    if (!ctx_failed(c->cx))
        c->out[0] = call(c->cx, "scatter_nd", c->name, in, 3,
                         ATTRS(attr_word("reduction", onnx_text(c, "reduction", "none"))));
}

static void topk(OnnxCall *c)
{
    double k = (double)onnx_int(c, "k", 0);
    if (onnx_requires(c, 1) && onnx_topk_by_value(c)) return;
    if (!onnx_requires(c, 1) || (c->opset >= 10 && (!onnx_requires(c, 2) || !onnx_scalar(c, 1, &k)))) return;
    const Tensor *x = c->in[0];
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), x->rank);
    if (axis >= 0 && tensor_dim(x, axis) >= k && (k == 0 || onnx_is_empty(c->cx, x))) {
        const Expr *shape[MAX_RANK];
        for (int d = 0; d < x->rank; d++) shape[d] = d == axis ? expr_index(c->cx, (int64_t)k) : x->shape[d];
        c->out[0] = onnx_empty_of(c, x->type, shape, x->rank);
        c->out[1] = onnx_empty_of(c, I64, shape, x->rank);
        return;
    }
    Tensor *index = onnx_call(c, "topk", c->in[0], attr_int("axis", axis), attr_int("k", (int64_t)k),
                              attr_flag("largest", onnx_int(c, "largest", 1)));
    c->out[0] = onnx_call2(c, "gather_elements", c->in[0], index, attr_int("axis", axis));
    c->out[1] = index;
}

/* Replaces rows of x by the update's rows, starting at row `at[batch]`, or at row 0 if `at` is absent. */
static void tensor_scatter(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const char *mode = onnx_text(c, "mode", "linear");
    int64_t batch = c->in[0]->rank ? tensor_dim(c->in[0], 0) : 0;
    Tensor *at = onnx_in(c, 2) ? c->in[2] : batch > 0 ? tensor_constant(c->cx, c->name, I64, 1, &batch, NULL) : NULL;
    if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
        onnx_refuse(c, "'mode' is \"%s\"; use linear or circular", mode);
    else if (at)
        c->out[0] = call(c->cx, "scatter_rows", c->name, (Tensor *[]){ c->in[0], at, c->in[1] }, 3,
                         ATTRS(attr_int("axis", onnx_int(c, "axis", -2)),
                               attr_flag("circular", strcmp(mode, "circular") == 0)));
}

/* If the condition is constant, the selected indices are constant as well. */
/* Returns the part of a condition for which an axis has elements. */
static Tensor *condition_within(OnnxCall *c, Tensor *condition, const Expr *size)
{
    const Expr *own = condition->shape[0];
    if (own == size || interval_of(c->cx, own, NULL).greatest <= interval_of(c->cx, size, NULL).least) return condition;
    if (own->kind != EXPR_INT || size->kind != EXPR_INT)
        return onnx_cut(c, condition, 0, simplify(c->cx, expr_binary(c->cx, EXPR_MIN, own, size), NULL));
    return onnx_call(c, "slice", condition, attr_list("axes", 0), attr_list("begin", 0),
                     attr_list("end", size->integer));
}

static void compress(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const Tensor *condition = c->in[1];
    Tensor *x = c->in[0];
    if (condition->type != BOOL || condition->rank != 1) {
        onnx_refuse(c, "the condition \"%s\" is %s%s; use bool [n]", condition->name,
                    dtype_info(condition->type)->spelling, tensor_shape_text(c->cx, condition));
        return;
    }
    int axis = 0;
    if (onnx_attr(c, "axis")) axis = onnx_axis(c, onnx_int(c, "axis", 0), x->rank);
    else x = onnx_view(c, x, (const Expr *[]){ expr_index(c->cx, -1) }, 1);
    if (axis < 0 || !x) return;
    const Expr *size = x->shape[axis];
    if (!tensor_is_constant(condition) || size->kind != EXPR_INT) {
        Tensor *within = condition_within(c, c->in[1], size);
        if (within && !tensor_is_constant(within)) {
            c->out[0] = onnx_selected(c, x, within, axis);
            return;
        }
    }
    int64_t count = 0, length = tensor_elems(condition), *selected = NEW_ARRAY(c->cx->arena, int64_t, length);
    for (int64_t i = 0; i < length; i++)
        if (dtype_load(BOOL, condition->data, i).i) selected[count++] = i;
    Tensor *index = tensor_constant(c->cx, c->name, I64, 1, &count, selected);
    if (axis < 0 || ctx_failed(c->cx)) return;
    check_range(c, index, interval_of(c->cx, size, NULL).least);
    if (count) c->out[0] = onnx_call2(c, "gather", x, index, attr_int("axis", axis));
    else c->out[0] = onnx_empty_slice(c, x, axis);
}

static void one_hot(OnnxCall *c)
{
    double depth;
    if (!onnx_requires(c, 3)) return;
    Tensor *index = dtype_is_integer(c->in[0]->type) ? c->in[0] : onnx_cast(c, c->in[0], I64);
    if (onnx_one_hot_by_value(c, index) || !onnx_scalar(c, 1, &depth)) return;
    c->out[0] = onnx_call2(c, "one_hot", index, c->in[2], attr_int("depth", (int64_t)depth),
                           attr_int("axis", onnx_int(c, "axis", -1)));
}

/* ---- By element index -------------------------------------------------------------------------------------------- */

static Tensor *cumulate_along(OnnxCall *c, int64_t axis)
{
    return onnx_call(c, c->op_name, c->in[0], attr_int("axis", axis),
                     attr_flag("exclusive", onnx_int(c, "exclusive", 0)),
                     attr_flag("reverse", onnx_int(c, "reverse", 0)));
}

/* Translates a cumulative operator. If the run decides the axis, selects among the results along all axes. */
static void cumulate(OnnxCall *c)
{
    double known;
    if (!onnx_requires(c, 2)) return;
    const int rank = c->in[0]->rank;
    if (tensor_is_constant(c->in[1])) {
        if (onnx_scalar(c, 1, &known)) c->out[0] = cumulate_along(c, (int64_t)known);
        return;
    }
    if (!onnx_holds(c, rank >= 1, "the input is a scalar; use at least one dimension")
        || !onnx_holds(c, tensor_elems(c->in[1]) == 1 && dtype_is_integer(c->in[1]->type),
                       "the axis is %s%s; use one integer", dtype_info(c->in[1]->type)->spelling,
                       tensor_shape_text(c->cx, c->in[1])))
        return;
    Tensor *axis = onnx_reshape(c, c->in[1], NULL, 0), *y = cumulate_along(c, 0);
    axis = onnx_call2(c, "mod", axis, onnx_scalar_like(c, axis, rank));
    for (int d = 1; d < rank; d++) {
        Tensor *along = cumulate_along(c, d);
        y = onnx_select(c, onnx_call2(c, "equal", axis, onnx_scalar_like(c, axis, d)), along, y);
    }
    c->out[0] = y;
}

/* Returns the column index minus the row index of each element of the last two dimensions, or NULL if it is refused. */
static Tensor *diagonals(OnnxCall *c, const Tensor *x)
{
    enum { MOST_TABLE = 1 << 20 };
    const int64_t rows = x->rank > 1 ? tensor_dim(x, x->rank - 2) : -1,
                  columns = x->rank > 1 ? tensor_dim(x, x->rank - 1) : -1;
    if (rows < 1 || columns < 1 || rows > MOST_TABLE / columns) {
        onnx_unsupported(c, "the run decides the diagonal of %s; use matrices of 1 to %d elements, or a constant "
                            "diagonal",
                         tensor_shape_text(c->cx, x), MOST_TABLE);
        return NULL;
    }
    int64_t *at = NEW_ARRAY(c->cx->arena, int64_t, rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) at[i] = i % columns - i / columns;
    return tensor_constant(c->cx, c->name, I64, 2, (int64_t[]){ rows, columns }, at);
}

static void trilu_of_the_run(OnnxCall *c)
{
    Tensor *x = c->in[0], *k = onnx_reshape(c, onnx_cast(c, c->in[1], I64), NULL, 0), *table = diagonals(c, x);
    if (ctx_failed(c->cx)) return;
    Tensor *is_kept = onnx_call2(c, onnx_int(c, "upper", 1) ? "greater_equal" : "less_equal", table, k);
    c->out[0] = onnx_select(c, is_kept, x, onnx_scalar_like(c, x, 0));
}

static void trilu(OnnxCall *c)
{
    double k = 0;
    if (!onnx_requires(c, 1)) return;
    if (onnx_in(c, 1) && !tensor_is_constant(c->in[1])) {
        trilu_of_the_run(c);
        return;
    }
    if (onnx_in(c, 1) && !onnx_scalar(c, 1, &k)) return;
    if (tensor_elems(c->in[0]) == 0) c->out[0] = c->in[0];
    else
        c->out[0] = onnx_call(c, "trilu", c->in[0], attr_int("k", (int64_t)k),
                              attr_flag("upper", onnx_int(c, "upper", 1)));
}

static void reverse_sequence(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const int64_t time = onnx_int(c, "time_axis", 0);
    Tensor *x = time >= 0 && time < c->in[0]->rank ? onnx_at_least(c, c->in[0], (int)time, 1) : c->in[0];
    c->out[0] = onnx_call2(c, "reverse_sequence", x, c->in[1], attr_int("time", time),
                           attr_int("batch", onnx_int(c, "batch_axis", 1)));
}

static void eye_like(OnnxCall *c)
{
    DType t = F32;
    int64_t to = onnx_int(c, "dtype", 0), k = onnx_int(c, "k", 0), shape[2];
    if (!onnx_requires(c, 1)) return;
    const Tensor *x = c->in[0];
    if (to && !onnx_dtype(to, &t))
        onnx_refuse(c, "'dtype' is %s; use %s", onnx_type_text(c->cx, to), onnx_types_text(c->cx));
    if (x->rank != 2) onnx_refuse(c, "the input is %s; use a matrix", tensor_shape_text(c->cx, x));
    if (ctx_failed(c->cx)) return;
    if (!to) t = x->type;
    for (int d = 0; d < 2; d++) shape[d] = tensor_dim(x, d);
    if (shape[0] < 0 || shape[1] < 0 || (shape[1] > 0 && shape[0] > (1 << 16) / shape[1])) {
        onnx_unsupported(c, "the matrix is %s; use fixed sizes with at most %d elements", tensor_shape_text(c->cx, x),
                         1 << 16);
        return;
    }
    void *data;
    Tensor *y = tensor_zeros(c->cx, c->name, t, 2, shape, &data);
    for (int64_t i = 0; y && i < shape[0]; i++) {
        Scalar one = { .i = 1 };
        if (dtype_is_float(t)) one.f = 1;
        if (i + k >= 0 && i + k < shape[1]) dtype_store(t, data, i * shape[1] + i + k, one);
    }
    c->out[0] = y;
}

const OnnxOp onnx_rows_index[] = {
    { ONNX_MOVE_ANY("Compress", 2, "axis", compress), .open.keeps = KEEPS_ALL },
    { ONNX_AS("CumProd", 2, "exclusive reverse", "cumprod", cumulate), .open.keeps = KEEPS_ALL },
    { ONNX_AS("CumSum", 2, "exclusive reverse", "cumsum", cumulate), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE("EyeLike", 1, "dtype k", eye_like) },
    { ONNX_MOVE_ANY("GatherElements", 2, "axis", gather_elements), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE_ANY("GatherND", 2, "batch_dims", gather_nd), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("OneHot", 3, "axis", one_hot), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE_ANY("ReverseSequence", 2, "batch_axis time_axis", reverse_sequence), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Scatter", 3, "axis", scatter_elements), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("ScatterElements", 3, "axis reduction", scatter_elements), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("ScatterND", 3, "reduction", scatter_nd), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE("TensorScatter", 3, "axis mode", tensor_scatter) },
    { ONNX_ROW("TopK", 2, "axis k largest sorted", topk), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_READ },
    { ONNX_MOVE("Trilu", 2, "upper", trilu), .open.keeps = KEEPS_ALL },
    { 0 }
};
