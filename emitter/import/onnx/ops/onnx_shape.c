/* SPDX-License-Identifier: MIT */
/* Translates views and index maps. Inputs of int64 (shapes, axes, pads) must be constant; chains of Shape, Gather,
 * Concat and so on over fixed shapes are folded before their consumer is translated. */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_sizes.h"
#include "import/onnx/ops/onnx_rows.h"
#include "ir/algebra/algebra.h"

/* limit of operands of one concatenation; more operands are concatenated in stages */
enum { MOST_OPERANDS = 32 };

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* Gives a tensor without elements a new shape, one of whose sizes is 0. If a size is inferred, that size is 0; other
 * sizes of 0 leave the inferred size undefined. Returns false if the operator refuses the shape. */
static bool reshape_empty(OnnxCall *c, const int64_t *given, int count)
{
    const Tensor *x = c->in[0];
    const Expr *shape[MAX_RANK];
    int inferred = 0;
    bool is_empty = false, has_zero = false;
    for (int d = 0; d < count; d++) {
        if (given[d] < -1 || (given[d] == 0 && d >= x->rank)) return false;
        shape[d] = given[d] == 0 ? x->shape[d] : expr_index(c->cx, given[d] < 0 ? 0 : given[d]);
        inferred += given[d] < 0;
        has_zero = has_zero || (given[d] == 0 && interval_of(c->cx, x->shape[d], NULL).least < 1);
        is_empty = is_empty || interval_of(c->cx, shape[d], NULL).greatest == 0;
    }
    if (!is_empty || inferred > 1 || (inferred && has_zero)) return false;
    c->out[0] = onnx_empty_of(c, x->type, shape, count);
    return true;
}

static void reshape(OnnxCall *c)
{
    int64_t shape[MAX_RANK];
    if (!onnx_requires(c, 1) || onnx_reshape_by_value(c)) return;
    int count = onnx_ints(c, NULL, 1, shape, MAX_RANK);
    if (onnx_is_missing(c, count, "shape")) return;
    bool is_empty = false;
    for (int d = 0; d < count; d++) is_empty = is_empty || (shape[d] == 0 && onnx_int(c, "allowzero", 0));
    if (is_empty && !onnx_is_empty(c->cx, c->in[0]))
        onnx_refuse(c, "the input is %s, but with 'allowzero' the shape %s has no elements; use a shape with as many "
                       "elements as the input",
                    tensor_shape_text(c->cx, c->in[0]), ints_text(c->cx, shape, count));
    else if (is_empty) c->out[0] = onnx_empty(c, c->in[0]->type, shape, count);
    else if (onnx_is_empty(c->cx, c->in[0]) && count >= 0 && reshape_empty(c, shape, count)) return;
    else c->out[0] = onnx_call(c, "reshape", c->in[0], attr_ints("shape", shape, count));
}

static void flatten(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    const Tensor *x = c->in[0];
    const int64_t axis = onnx_int(c, "axis", 1), from = axis < 0 ? axis + x->rank : axis;
    if (!onnx_is_empty(c->cx, x) || from < 0 || from > x->rank) {
        c->out[0] = onnx_call(c, "flatten", c->in[0], attr_int("axis", axis));
        return;
    }
    const Expr *shape[2] = { size_product(c->cx, x->shape, (int)from),
                             size_product(c->cx, x->shape + from, x->rank - (int)from) };
    c->out[0] = onnx_empty_of(c, x->type, shape, 2);
}

/* Removes the listed dimensions of 1; without a list (-1), removes all dimensions of 1. Returns false if the operator
 * refuses the list. */
static bool squeeze_empty(OnnxCall *c, const int64_t *axes, int count)
{
    const Tensor *x = c->in[0];
    bool drops[MAX_RANK] = { false };
    const Expr *shape[MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank && count < 0; d++) drops[d] = tensor_dim(x, d) == 1;
    for (int i = 0; i < count; i++) {
        const int64_t d = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (d < 0 || d >= x->rank || tensor_dim(x, (int)d) != 1) return false;
        drops[d] = true;
    }
    for (int d = 0; d < x->rank; d++)
        if (!drops[d]) shape[rank++] = x->shape[d];
    c->out[0] = onnx_empty_of(c, x->type, shape, rank);
    return true;
}

static bool unsqueeze_empty(OnnxCall *c, const int64_t *axes, int count)
{
    const Tensor *x = c->in[0];
    const int rank = x->rank + count;
    bool is_new[MAX_RANK] = { false };
    const Expr *shape[MAX_RANK];
    if (rank > MAX_RANK) return false;
    for (int i = 0; i < count; i++) {
        const int64_t d = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (d < 0 || d >= rank || is_new[d]) return false;
        is_new[d] = true;
    }
    for (int d = 0, from = 0; d < rank; d++) shape[d] = is_new[d] ? expr_index(c->cx, 1) : x->shape[from++];
    c->out[0] = onnx_empty_of(c, x->type, shape, rank);
    return true;
}

static void squeeze(OnnxCall *c)
{
    int64_t axes[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    int count = onnx_ints_since(c, 13, "axes", 1, axes, MAX_RANK);
    if (count >= -1 && !(onnx_is_empty(c->cx, c->in[0]) && squeeze_empty(c, axes, count)))
        c->out[0] = onnx_call(c, "squeeze", c->in[0], attr_ints("axes", axes, count < 0 ? 0 : count));
}

static void unsqueeze(OnnxCall *c)
{
    int64_t axes[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    int count = onnx_ints_since(c, 13, "axes", 1, axes, MAX_RANK);
    if (!onnx_is_missing(c, count, "axes") && !(onnx_is_empty(c->cx, c->in[0]) && unsqueeze_empty(c, axes, count)))
        c->out[0] = onnx_call(c, "unsqueeze", c->in[0], attr_ints("axes", axes, count));
}

/* ---- Index maps -------------------------------------------------------------------------------------------------- */

static void transpose(OnnxCall *c)
{
    int64_t perm[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    int count = onnx_ints(c, "perm", -1, perm, MAX_RANK);
    if (count == -1) c->out[0] = onnx_call(c, "transpose", c->in[0]);
    else if (count >= 0) c->out[0] = onnx_call(c, "transpose", c->in[0], attr_ints("perm", perm, count));
}

/* Concatenates operands of which none has elements. */
static void concat_empty(OnnxCall *c)
{
    int64_t shape[MAX_RANK], total = 0;
    const Tensor *first = c->in_count ? c->in[0] : NULL;
    if (!first) {
        onnx_refuse(c, "input 0 is missing");
        return;
    }
    const int axis = onnx_axis(c, onnx_int(c, "axis", 0), first->rank);
    for (int d = 0; d < first->rank; d++) shape[d] = tensor_dim(first, d);
    for (int i = 0; i < c->in_count && axis >= 0; i++) {
        const Tensor *x = c->in[i];
        bool fits = x && x->rank == first->rank && x->type == first->type;
        for (int d = 0; fits && d < x->rank; d++) fits = d == axis || tensor_dim(x, d) == shape[d];
        if (!fits) {
            onnx_refuse(c, "inputs 0 and %d are %s and %s; use equal types, and equal sizes except along the axis", i,
                        tensor_shape_text(c->cx, first), x ? tensor_shape_text(c->cx, x) : "missing");
            return;
        }
        total += tensor_dim(x, axis);
    }
    if (axis < 0) return;
    shape[axis] = total;
    c->out[0] = onnx_empty(c, first->type, shape, first->rank);
}

/* Translates Concat; drops operands without elements. */
static void concat(OnnxCall *c)
{
    int count = 0;
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, c->in_count);
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && tensor_elems(c->in[i]) != 0) in[count++] = c->in[i];
    const int64_t axis = onnx_int(c, "axis", 0);
    for (int i = 1; i < count; i++)
        for (int d = 0; d < in[0]->rank && d < in[i]->rank && !ctx_failed(c->cx); d++)
            if (d != (axis < 0 ? axis + in[0]->rank : axis)) onnx_match(c, &in[0], d, &in[i], d);
    if (!count) concat_empty(c);
    while (count > 0 && !ctx_failed(c->cx)) {
        int stages = 0;
        for (int i = 0; i < count; i += MOST_OPERANDS)
            in[stages++] = call(c->cx, "concat", c->name, in + i,
                                count - i < MOST_OPERANDS ? count - i : MOST_OPERANDS,
                                ATTRS(attr_int("axis", onnx_int(c, "axis", 0))));
        count = stages > 1 ? stages : 0;
        c->out[0] = in[0];
    }
}

/* Returns the sizes along the axis: the given sizes, or equal parts, of which the last may be smaller. */
static int split_sizes(OnnxCall *c, int64_t size, int64_t *sizes)
{
    int count = onnx_ints_since(c, 13, "split", 1, sizes, ONNX_OUTPUTS), outputs = c->node->out_count;
    if (count != -1) return count;
    int64_t each = (size + outputs - 1) / outputs;
    for (int i = 0; i < outputs; i++) {
        int64_t left = size - i * each;
        sizes[i] = left < each ? left : each;
    }
    return outputs;
}

/* Splits a dimension that the run decides into equal parts; the run tests that the dimension is a multiple of their
 * number. */
static void split_equally(OnnxCall *c, int axis)
{
    Ctx *cx = c->cx;
    const Tensor *x = c->in[0];
    const Expr *apart[MAX_RANK], *part[MAX_RANK], *parts = expr_index(cx, c->node->out_count),
               *each = simplify(cx, expr_binary(cx, EXPR_FLOORDIV, x->shape[axis], parts), NULL);
    if (x->rank == MAX_RANK)
        onnx_unsupported(c, "it has %d dimensions, one of which the run decides; use fewer dimensions", MAX_RANK);
    if (ctx_failed(cx)) return;
    const Expr *all = simplify(cx, expr_mul(cx, parts, each), NULL);
    for (int d = 0; d <= x->rank; d++) apart[d] = d < axis ? x->shape[d] : d == axis ? parts : x->shape[d - 1];
    for (int d = 0; d < x->rank; d++) part[d] = d == axis ? each : x->shape[d];
    apart[axis + 1] = each;
    Tensor *whole = onnx_view(c, onnx_equal_size(c, c->in[0], axis, all), apart, x->rank + 1);
    for (int i = 0; i < c->node->out_count; i++)
        c->out[i] = onnx_view(c, onnx_call(c, "slice", whole, attr_list("axes", axis), attr_list("begin", i),
                                           attr_list("end", i + 1)), part, x->rank);
}

/* Splits a dimension that the run decides into parts whose sizes are known, or equal. */
static bool split_decided(OnnxCall *c, int axis)
{
    int64_t sizes[ONNX_OUTPUTS], total = 0;
    if (!size_is_decided(c->cx, c->in[0]->shape[axis])) return false;
    const int count = onnx_ints_since(c, 13, "split", 1, sizes, ONNX_OUTPUTS);
    for (int i = 0; i < count; i++) total += sizes[i] > 0 ? sizes[i] : 0;
    if (count == -1) (c->opset < 18 ? split_equally : onnx_split_by_value)(c, axis);
    if (count < 0 || total > interval_of(c->cx, c->in[0]->shape[axis], NULL).greatest) return count < 0;
    c->in[0] = onnx_equal_size(c, c->in[0], axis, expr_index(c->cx, total));
    return false;
}

static void split(OnnxCall *c)
{
    int64_t sizes[ONNX_OUTPUTS], at = 0;
    if (!onnx_requires(c, 1) || c->node->out_count < 1) return;
    const Tensor *x = c->in[0];
    int64_t axis = onnx_int(c, "axis", 0);
    if (axis < 0) axis += x->rank;
    if (!onnx_holds(c, axis >= 0 && axis < x->rank, "it splits axis %lld of %s; use an axis within the rank",
                    (long long)axis, tensor_shape_text(c->cx, x))
        || !onnx_holds(c, c->node->out_count <= ONNX_OUTPUTS, "it has %d outputs; use at most %d outputs",
                       c->node->out_count, ONNX_OUTPUTS))
        return;
    if (split_decided(c, (int)axis) || ctx_failed(c->cx)) return;
    x = c->in[0];
    int count = split_sizes(c, tensor_dim(x, (int)axis), sizes);
    for (int i = 0; i < count && i < c->node->out_count && !ctx_failed(c->cx); at += sizes[i++]) {
        if (sizes[i] < 0)
            onnx_refuse(c, "part %d would have %lld elements; use 0 or more", i, (long long)sizes[i]);
        else if (sizes[i] == 0) c->out[i] = onnx_empty_slice(c, x, (int)axis);
        else
            c->out[i] = onnx_call(c, "slice", c->in[0], attr_list("axes", axis), attr_list("begin", at),
                                  attr_list("end", at + sizes[i]));
    }
    if (count >= 0 && (count != c->node->out_count || at != tensor_dim(x, (int)axis)))
        onnx_refuse(c, "the parts have %lld of %lld elements; use parts that cover the axis", (long long)at,
                    (long long)tensor_dim(x, (int)axis));
}

static int64_t limited(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }

/* Returns the number of elements of a slice from `from` to before `to` with the step `by`. */
static int64_t slice_length(int64_t from, int64_t to, int64_t by, int64_t size)
{
    const int64_t below = by < 0 ? -1 : 0;
    from = limited(from < 0 ? from + size : from, below, size + below);
    to = limited(to < 0 ? to + size : to, below, size + below);
    const int64_t length = by < 0 ? from - to : to - from, step = by < 0 ? -by : by;
    return length > 0 ? (length + step - 1) / step : 0;
}

/* Makes a slice without elements a constant, even if its operand is computed, because shape arithmetic contains such
 * slices. */
static bool is_empty_slice(OnnxCall *c, const int64_t *begin, const int64_t *end, const int64_t *axes,
                           const int64_t *step, int count)
{
    const Tensor *x = c->in[0];
    int64_t shape[MAX_RANK];
    bool listed[MAX_RANK] = { false }, is_empty = false;
    if (!tensor_is_fixed(x)) return false;
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    for (int i = 0; i < count; i++) {
        const int64_t d = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (d < 0 || d >= x->rank || listed[d] || step[i] == 0) return false;       /* the operator refuses these */
        listed[d] = true;
        shape[d] = slice_length(begin[i], end[i], step[i], shape[d]);
    }
    for (int d = 0; d < x->rank; d++) is_empty = is_empty || shape[d] == 0;
    if (is_empty) c->out[0] = onnx_empty(c, x->type, shape, x->rank);
    return c->out[0] != NULL;
}

/* Reads the indices of an attribute or, since operator set 10, of an input. If some of them are open sizes, *sizes
 * becomes a tensor with these sizes as its shape. */
static int read_indices(OnnxCall *c, const char *attr, int input, int64_t *out, const Tensor **sizes)
{
    const Expr *at[MAX_RANK];
    if (c->opset < 10 || !onnx_in(c, input) || tensor_is_constant(c->in[input]))
        return onnx_ints_since(c, 10, attr, input, out, MAX_RANK);
    const int count = onnx_sizes(c, input, at, MAX_RANK);
    for (int i = 0; i < count; i++) out[i] = at[i]->kind == EXPR_INT ? at[i]->integer : 0;
    if (count >= 0) *sizes = tensor_new(c->cx, c->name, I64, count, at);
    return count;
}

/* Sets a start before the first element to the first element, even for backward steps (ONNX, Slice); Python would give
 * no elements. */
static void starts_inside(OnnxCall *c, int64_t *begin, const int64_t *axes, const int64_t *step, int count)
{
    const Tensor *x = c->in[0];
    for (int i = 0; i < count; i++) {
        const int64_t d = axes[i] < 0 ? axes[i] + x->rank : axes[i],
                      size = d < 0 || d >= x->rank ? -1 : tensor_dim(x, (int)d);
        if (size >= 0 && step[i] < 0 && begin[i] < -size) begin[i] = -size;
    }
}

/* Removes from the lists the axes of fixed size along which no element is left, for an x with a size that the run
 * decides. *empty becomes the list of these axes; returns their number. */
static int take_empty_axes(OnnxCall *c, int64_t *begin, int64_t *end, int64_t *axes, int64_t *step, int *count,
                           int *empty)
{
    const Tensor *x = c->in[0];
    int taken = 0, left = 0;
    for (int i = 0; i < *count; i++) {
        const int64_t d = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        const int64_t size = d < 0 || d >= x->rank ? -1 : tensor_dim(x, (int)d);
        if (size >= 0 && step[i] != 0 && slice_length(begin[i], end[i], step[i], size) == 0) empty[taken++] = (int)d;
        else begin[left] = begin[i], end[left] = end[i], axes[left] = axes[i], step[left] = step[i], left++;
    }
    *count = left;
    return taken;
}

/* Slices a tensor with a size that the run decides, if nothing is left along an axis of a fixed size; returns false for
 * other tensors. */
static bool slice_to_nothing(OnnxCall *c, int64_t *begin, int64_t *end, int64_t *axes, int64_t *step, int count)
{
    int empty[MAX_RANK];
    const Expr *shape[MAX_RANK];
    const int taken = take_empty_axes(c, begin, end, axes, step, &count, empty);
    if (!taken) return false;
    Tensor *rest = !count ? c->in[0]
                 : onnx_call(c, "slice", c->in[0], attr_ints("begin", begin, count), attr_ints("end", end, count),
                             attr_ints("axes", axes, count), attr_ints("step", step, count));
    for (int d = 0; rest && d < rest->rank; d++) shape[d] = rest->shape[d];
    for (int i = 0; i < taken; i++) shape[empty[i]] = expr_index(c->cx, 0);
    c->out[0] = rest ? onnx_empty_of(c, rest->type, shape, rest->rank) : NULL;
    return true;
}

static void slice(OnnxCall *c)
{
    int64_t begin[MAX_RANK], end[MAX_RANK], axes[MAX_RANK], step[MAX_RANK];
    const Tensor *sizes[2] = { NULL, NULL };
    if (!onnx_requires(c, 1) || onnx_slice_by_value(c)) return;
    int count = read_indices(c, "starts", 1, begin, &sizes[0]), ends = read_indices(c, "ends", 2, end, &sizes[1]);
    int axis_count = onnx_ints_since(c, 10, "axes", 3, axes, MAX_RANK),
        steps = c->opset < 10 ? -1 : onnx_ints(c, NULL, 4, step, MAX_RANK);
    if (onnx_is_missing(c, count, "starts") || onnx_is_missing(c, ends, "ends") || axis_count == -2 || steps == -2)
        return;
    if (ends != count || (axis_count >= 0 && axis_count != count) || (steps >= 0 && steps != count)) {
        onnx_refuse(c, "there are %d starts, %d ends, %d axes and %d steps (-1: absent); use equal counts",
                    count, ends, axis_count, steps);
        return;
    }
    for (int i = 0; i < count; i++) axes[i] = axis_count >= 0 ? axes[i] : i, step[i] = steps >= 0 ? step[i] : 1;
    if (!sizes[0]) starts_inside(c, begin, axes, step, count);
    if (!sizes[0] && !sizes[1] && is_empty_slice(c, begin, end, axes, step, count)) return;
    if (!sizes[0] && !sizes[1] && !tensor_is_fixed(c->in[0]) && slice_to_nothing(c, begin, end, axes, step, count))
        return;
    c->out[0] = onnx_call(c, "slice", c->in[0], attr_ints("begin", begin, count), attr_ints("end", end, count),
                          attr_if(axis_count >= 0, attr_ints("axes", axes, count)),
                          attr_if(steps >= 0, attr_ints("step", step, count)),
                          attr_if(sizes[0], attr_tensor("begin_sizes", sizes[0])),
                          attr_if(sizes[1], attr_tensor("end_sizes", sizes[1])));
}

/* Gathers one constant index as a slice; a scalar index also removes the dimension. */
static void gather_one(OnnxCall *c, int64_t axis, int64_t at)
{
    const Tensor *x = c->in[0];
    const Expr *shape[MAX_RANK];
    int rank = 0;
    if (at < 0 && tensor_dim(x, (int)axis) >= 0) at += tensor_dim(x, (int)axis);
    Tensor *y = onnx_call(c, "slice", c->in[0], attr_list("axes", axis), attr_list("begin", at),
                          attr_list("end", at == -1 ? INT32_MAX : at + 1));
    for (int d = 0; d < x->rank; d++)
        if (d != axis) shape[rank++] = x->shape[d];
    c->out[0] = c->in[1]->rank == 0 ? onnx_view(c, y, shape, rank) : y;
}

/* Gathers along a dimension that the run decides. Constant indices require that the dimension has enough elements. */
static void gather_from_decided(OnnxCall *c, int axis)
{
    Tensor *x = c->in[0], *index = c->in[1];
    const Expr *size = x->shape[axis];
    int64_t need = 0;
    for (int64_t i = 0; tensor_is_constant(index) && i < tensor_elems(index); i++) {
        const int64_t at = dtype_load(index->type, index->data, i).i, own = at < 0 ? -at : at + 1;
        if (own > need) need = own;
    }
    if (need > interval_of(c->cx, size, NULL).greatest)
        onnx_refuse(c, "an index needs %lld elements along axis %d of %s, which has at most %lld; use a smaller index",
                       (long long)need,
                    axis, tensor_shape_text(c->cx, x), (long long)interval_of(c->cx, size, NULL).greatest);
    x = need ? onnx_at_least(c, x, axis, need) : onnx_indexed(c, x, axis, index->shape, index->rank);
    c->out[0] = onnx_call2(c, "gather", x, index, attr_int("axis", axis));
}

static void gather(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    const Tensor *x = c->in[0], *index = c->in[1];
    int64_t axis = onnx_int(c, "axis", 0), size;
    if (axis < 0) axis += x->rank;
    if (!onnx_holds(c, axis >= 0 && axis < x->rank, "it reads axis %lld of %s; use an axis within the rank",
                    (long long)axis, tensor_shape_text(c->cx, x))
        || !onnx_holds(c, dtype_is_integer(index->type), "the index is %s; use integers",
                       dtype_info(index->type)->spelling))
        return;
    if (size_is_decided(c->cx, x->shape[axis])) {
        gather_from_decided(c, (int)axis);
        return;
    }
    size = interval_of(c->cx, x->shape[axis], NULL).least;
    int64_t count = tensor_is_constant(index) ? tensor_elems(index) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = dtype_load(index->type, index->data, i).i;
        if (at >= -size && at < size) continue;
        onnx_refuse(c, "index %lld is outside axis %lld of %s%s; %s%s", (long long)at, (long long)axis,
                    tensor_shape_text(c->cx, x), tensor_dim(x, (int)axis) < 0 ? " at its least size" : "",
                    indices_accepted_text(c->cx, size),
                    tensor_dim(x, (int)axis) < 0
                        ? ", or a greater least size, as in --dim 'LEAST<=NAME<=MOST'"
                        : "");
        return;
    }
    if (count == 1 && index->rank <= 1) gather_one(c, axis, dtype_load(index->type, index->data, 0).i);
    else c->out[0] = call(c->cx, "gather", c->name, c->in, 2, ATTRS(attr_int("axis", axis)));
}

/* Sets the result to a tensor without elements if one of the sizes is 0; otherwise returns false. */
static bool gives_nothing(OnnxCall *c, const Expr *const *shape, int rank)
{
    bool has_zero = false;
    for (int d = 0; d < rank; d++) has_zero = has_zero || expr_is_int(shape[d], 0);
    if (has_zero) c->out[0] = onnx_empty_of(c, c->in[0]->type, shape, rank);
    return has_zero;
}

static bool pad_to_nothing(OnnxCall *c, const int64_t *pads)
{
    const Tensor *x = c->in[0];
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        const int64_t more = pads[d] + pads[x->rank + d];
        shape[d] = simplify(c->cx, expr_add(c->cx, x->shape[d], expr_index(c->cx, more)), NULL);
        /* the operator refuses a negative size */
        if (interval_of(c->cx, shape[d], NULL).greatest < 0) return false;
    }
    return gives_nothing(c, shape, x->rank);
}

/* Crops by the negative pads and sets them to 0, because the remaining modes copy only elements that the crop keeps. */
static Tensor *cropped(OnnxCall *c, int64_t *pads)
{
    const int ends = 2 * c->in[0]->rank;
    int64_t crop[2 * MAX_RANK];
    bool has_crop = false, has_pad = false;
    for (int i = 0; i < ends; i++) {
        crop[i] = pads[i] < 0 ? pads[i] : 0;
        has_crop = has_crop || pads[i] < 0;
        has_pad = has_pad || pads[i] > 0;
    }
    if (!has_crop || !has_pad || strcmp(onnx_text(c, "mode", "constant"), "constant") == 0) return c->in[0];
    for (int i = 0; i < ends; i++) pads[i] -= crop[i];
    return onnx_call(c, "pad", c->in[0], attr_ints("pad", crop, ends), attr_word("mode", "constant"));
}

/* Makes the run test, for sizes that it decides, that x has the elements that are cut off or copied into the
 * padding. */
static void require_padded(OnnxCall *c, const int64_t *pads)
{
    const char *mode = onnx_text(c, "mode", "constant");
    const int rank = c->in[0]->rank;
    for (int d = 0; d < rank; d++) {
        const int64_t before = pads[d], after = pads[rank + d], more = before > after ? before : after;
        int64_t least = before + after < 0 ? -before - after : 0;
        if (strcmp(mode, "constant") != 0 && more > 0) {
            const int64_t cut = (before < 0 ? -before : 0) + (after < 0 ? -after : 0);
            least = cut + (strcmp(mode, "reflect") == 0 ? more + 1 : 1);
        }
        c->in[0] = onnx_at_least(c, c->in[0], d, least);
    }
}

static void pad(OnnxCall *c)
{
    int64_t given[2 * MAX_RANK], pads[2 * MAX_RANK] = { 0 }, axes[MAX_RANK];
    if (!onnx_requires(c, 1) || onnx_pad_by_value(c)) return;
    int rank = c->in[0]->rank, count = onnx_ints_since(c, 11, "pads", 1, given, 2 * MAX_RANK);
    int axis_count = c->opset < 18 ? -1 : onnx_ints(c, NULL, 3, axes, MAX_RANK);
    if (onnx_is_missing(c, count, "pads") || axis_count == -2) return;
    if (axis_count == -1) {
        axis_count = rank;
        for (int d = 0; d < rank; d++) axes[d] = d;
    }
    if (count != 2 * axis_count) {
        onnx_refuse(c, "there are %d pads; use %d pads", count, 2 * axis_count);
        return;
    }
    for (int i = 0; i < axis_count; i++) {
        int64_t d = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (d < 0 || d >= rank) {
            onnx_refuse(c, "axis %lld is out of range for %d dimensions; %s", (long long)axes[i], rank,
                        indices_accepted_text(c->cx, rank));
            return;
        }
        pads[d] = given[i];
        pads[rank + d] = given[axis_count + i];
    }
    double value = onnx_real(c, "value", 0);
    if (c->opset >= 11) onnx_scalar(c, 2, &value);
    require_padded(c, pads);
    if (ctx_failed(c->cx) || pad_to_nothing(c, pads)) return;
    Tensor *x = cropped(c, pads);
    c->out[0] = onnx_call(c, "pad", x, attr_ints("pad", pads, 2 * rank),
                          attr_word("mode", onnx_text(c, "mode", "constant")), attr_real("value", value));
}

/* Sets a result without elements. Returns false if the result has elements, or if the operator refuses the shape. */
static bool expand_to_nothing(OnnxCall *c, const int64_t *shape, int count)
{
    const Tensor *x = c->in[0];
    const int rank = count > x->rank ? count : x->rank;
    int64_t sizes[MAX_RANK];
    bool has_zero = false;
    for (int d = 0; d < rank; d++) {
        const int own = d - (rank - x->rank), given = d - (rank - count);
        const int64_t a = own >= 0 ? tensor_dim(x, own) : 1, b = given >= 0 ? shape[given] : 1;
        if (a < 0 || b < 0 || (a != b && a != 1 && b != 1)) return false;
        sizes[d] = a == 1 ? b : a;
        has_zero = has_zero || sizes[d] == 0;
    }
    if (has_zero) c->out[0] = onnx_empty(c, x->type, sizes, rank);
    return has_zero;
}

static void expand(OnnxCall *c)
{
    int64_t shape[MAX_RANK];
    if (!onnx_requires(c, 2) || onnx_expand_by_value(c)) return;
    int count = onnx_ints(c, NULL, 1, shape, MAX_RANK);
    if (count >= 0 && !expand_to_nothing(c, shape, count))
        c->out[0] = onnx_call(c, "expand", c->in[0], attr_ints("shape", shape, count));
}

static bool tile_to_nothing(OnnxCall *c, const int64_t *times)
{
    const Tensor *x = c->in[0];
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        if (times[d] < 0) return false;
        shape[d] = simplify(c->cx, expr_mul(c->cx, x->shape[d], expr_index(c->cx, times[d])), NULL);
    }
    return gives_nothing(c, shape, x->rank);
}

static void tile(OnnxCall *c)
{
    const Expr *requested[MAX_RANK];
    int64_t times[MAX_RANK];
    bool is_open = false;
    if (!onnx_requires(c, 2) || onnx_tile_by_value(c)) return;
    const Tensor *x = c->in[0];
    const int count = onnx_sizes(c, 1, requested, MAX_RANK);
    if (count < 0) return;
    if (count != x->rank)
        onnx_refuse(c, "there are %d repetitions for %d dimensions; use one repetition per dimension", count, x->rank);
    for (int d = 0; d < count && !ctx_failed(c->cx); d++) {
        times[d] = requested[d]->kind == EXPR_INT ? requested[d]->integer : 1;
        if (requested[d]->kind == EXPR_INT) requested[d] = x->shape[d];
        else if (tensor_dim(x, d) == 1) is_open = true;
        else
            onnx_unsupported(c, "dimension %d of %s is repeated an open number of times; use a dimension of 1",
                             d, tensor_shape_text(c->cx, x));
    }
    if (!ctx_failed(c->cx) && !is_open && tile_to_nothing(c, times)) return;
    Tensor *y = ctx_failed(c->cx) ? NULL : is_open ? onnx_expand(c, c->in[0], requested, count) : c->in[0];
    c->out[0] = onnx_call(c, "tile", y, attr_ints("times", times, count));
}

/* Moves patches of b x b pixels into channels, or the inverse, by reshape, transpose, reshape. With DCR, the position
 * in the patch is the slower part of the channel index; with CRD, it is the faster part. */
static bool block_shape(OnnxCall *c, const Expr **d, const Expr **b)
{
    const int64_t size = onnx_int(c, "blocksize", 0);
    if (!onnx_requires(c, 1)) return false;
    bool fits = c->in[0]->rank == 4;
    for (int i = 0; fits && i < 4; i++) fits = !expr_is_int(d[i] = c->in[0]->shape[i], 0);
    fits = onnx_holds(c, fits, "the input is %s; use [n][c][h][w], without sizes of 0",
                      tensor_shape_text(c->cx, c->in[0]))
           && onnx_holds(c, size >= 1 && size <= 1 << 15, "'blocksize' is %lld; use 1 to 32768", (long long)size);
    *b = expr_index(c->cx, fits ? size : 1);
    return fits;
}

static const Expr *part_of(OnnxCall *c, const Expr *size, const Expr *by)
{
    return simplify(c->cx, expr_binary(c->cx, EXPR_FLOORDIV, size, by), NULL);
}

/* Returns true if the channels of a patch have the order [channel][row][column], false for [row][column][channel]. */
static bool is_column_first(OnnxCall *c)
{
    const char *mode = onnx_text(c, "mode", "DCR");
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        onnx_refuse(c, "'mode' is \"%s\"; use DCR or CRD", mode);
    return strcmp(mode, "CRD") == 0;
}

static void depth_to_space(OnnxCall *c)
{
    const Expr *d[4], *b;
    if (!block_shape(c, d, &b)) return;
    bool is_crd = is_column_first(c);
    const Expr *channels = part_of(c, d[1], expr_mul(c->cx, b, b));
    const Expr *const split_dcr[] = { d[0], b, b, channels, d[2], d[3] }, *const split_crd[] = { d[0], channels, b,
                                                                                                 b,    d[2],     d[3] };
    const Expr *const merged[] = { d[0], channels, expr_mul(c->cx, d[2], b), expr_mul(c->cx, d[3], b) };
    Tensor *t = onnx_view(c, c->in[0], is_crd ? split_crd : split_dcr, 6);
    t = onnx_call(c, "transpose", t, is_crd ? attr_list("perm", 0, 1, 4, 2, 5, 3)
                                            : attr_list("perm", 0, 3, 4, 1, 5, 2));
    c->out[0] = onnx_view(c, t, merged, 4);
}

static void space_to_depth(OnnxCall *c)
{
    const Expr *d[4], *b;
    if (!block_shape(c, d, &b)) return;
    const Expr *rows = part_of(c, d[2], b), *columns = part_of(c, d[3], b);
    const Expr *const split[] = { d[0], d[1], rows, b, columns, b }, *const merged[] = {
        d[0], expr_mul(c->cx, d[1], expr_mul(c->cx, b, b)), rows, columns
    };
    Tensor *t = onnx_view(c, c->in[0], split, 6);
    t = onnx_call(c, "transpose", t, is_column_first(c) ? attr_list("perm", 0, 1, 3, 5, 2, 4)
                                                        : attr_list("perm", 0, 3, 5, 1, 2, 4));
    c->out[0] = onnx_view(c, t, merged, 4);
}

/* ---- Center ------------------------------------------------------------------------------------------------------ */

/* Pads with zeros around the center, or crops to the center; an odd element is added or cropped at the end. */
static void center_crop_pad(OnnxCall *c)
{
    int64_t size[MAX_RANK], axes[MAX_RANK], pads[2 * MAX_RANK] = { 0 };
    if (!onnx_requires(c, 2)) return;
    int rank = c->in[0]->rank, count = onnx_ints(c, NULL, 1, size, MAX_RANK),
        axis_count = onnx_ints(c, "axes", -1, axes, MAX_RANK);
    if (count < 0 || axis_count == -2) return;
    if (count != (axis_count < 0 ? rank : axis_count))
        onnx_refuse(c, "there are %d sizes for %d axes; use one size per axis",
                       count, axis_count < 0 ? rank : axis_count);
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        int d = onnx_axis(c, axis_count < 0 ? i : axes[i], rank);
        if (d < 0) return;
        int64_t more = size[i] - tensor_dim(c->in[0], d);
        if (size[i] < 1) onnx_refuse(c, "it has size %lld along axis %d; use 1 or more", (long long)size[i], d);
        pads[d] = more / 2, pads[rank + d] = more - more / 2;
    }
    c->out[0] = onnx_call(c, "pad", c->in[0], attr_ints("pad", pads, 2 * rank), attr_word("mode", "constant"),
                          attr_real("value", 0));
}

const OnnxOp onnx_rows_shape[] = {
    { ONNX_MOVE("CenterCropPad", 2, "axes", center_crop_pad) },
    { ONNX_MOVE_ANY("Concat", ONNX_ANY, "axis", concat), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_concat },
    { ONNX_MOVE("DepthToSpace", 1, "blocksize mode", depth_to_space), .open.keeps = KEEPS_IMAGE },
    { ONNX_MOVE_ANY("Expand", 2, "", expand), .open.keeps = KEEPS_ALL, .open.translate = onnx_open_expand },
    { ONNX_MOVE_ANY("Flatten", 1, "axis", flatten), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE_ANY("Gather", 2, "axis", gather), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_gather },
    { ONNX_MOVE("Pad", 4, "mode pads value", pad), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE_ANY("Reshape", 2, "allowzero", reshape), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_as_list, .open.translate = onnx_open_reshape },
    { ONNX_MOVE_ANY("Slice", 5, "axes ends starts", slice), .open.keeps = KEEPS_ALL, .open.lists = LISTS_READ,
      .open.on_lists = onnx_sizes_slice },
    { ONNX_MOVE("SpaceToDepth", 1, "blocksize mode", space_to_depth), .open.keeps = KEEPS_IMAGE },
    { ONNX_MOVE_ANY("Split", 2, "axis num_outputs split", split), .open.keeps = KEEPS_OTHERS },
    { ONNX_MOVE_ANY("Squeeze", 2, "axes", squeeze), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_as_scalar },
    { ONNX_MOVE_ANY("Tile", 3, "", tile), .open.keeps = KEEPS_ALL, .open.lists = LISTS_READ },
    { ONNX_MOVE_ANY("Transpose", 1, "perm", transpose), .open.keeps = KEEPS_ALL },
    { ONNX_MOVE_ANY("Unsqueeze", 2, "axes", unsqueeze), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED,
      .open.on_lists = onnx_sizes_as_list },
    { 0 }
};
