/* SPDX-License-Identifier: MIT */
/* Defines operators that move elements; each is an index map.
 *
 *   transpose   y[i_perm..] = x[i..]
 *   concat      y[i] = select(i < n0, a[i], b[i - n0])
 *   slice       y[i] = x[begin + i*step]
 *   pad         y[i] = x[i - p]; outside x, by mode: the value (constant), the nearest element (edge),
 *               mirrored (reflect, symmetric), modulo the size (wrap)
 *   gather      y[..,j,..] = x[..,index[j],..]
 *   expand      y[*] = x[*] in a larger shape
 *   tile        y[i] = x[i % n] */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

#include <string.h>

/* ---- transpose -------------------------------------------------------------------------------------------------- */

static bool read_perm(Ctx *cx, const Node *n, int *perm)
{
    int rank = n->in[0]->rank;
    const Attr *a = node_attr(n, "perm");
    bool seen[MAX_RANK] = { false };
    for (int d = 0; d < rank; d++) perm[d] = rank - 1 - d;
    if (!a) return true;
    bool fits = a->count == rank;
    for (int d = 0; fits && d < rank; d++) {
        fits = a->ints[d] >= 0 && a->ints[d] < rank && !seen[a->ints[d]];
        if (!fits) break;
        perm[d] = (int)a->ints[d];
        seen[perm[d]] = true;
    }
    if (!fits)
        op_refuse(cx, n, "'perm' is %s, which is not an order of %d dimensions; name each axis once",
                  ints_text(cx, a->ints, a->count), rank);
    return fits;
}

/* Emits the read of x at the indices `at`. */
static int read_of(Ctx *cx, IndexMap *m, const Tensor *x, const Expr *const *at, Tensor **out)
{
    out[0] = index_result(m, tensor_read(cx, x, at, x->rank));
    return out[0] ? 1 : 0;
}

static int transpose(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    int perm[MAX_RANK], rank = x->rank;
    const Expr *at[MAX_RANK];
    if (!read_perm(cx, n, perm)) return 0;
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < rank; d++) at[perm[d]] = index_axis(&m, axis_letter(rank, perm[d]), x->shape[perm[d]]);
    return read_of(cx, &m, x, at, out);
}

/* ---- concat ----------------------------------------------------------------------------------------------------- */

static bool fit_side_by_side(Ctx *cx, const Node *n, int axis)
{
    const Tensor *a = n->in[0];
    for (int i = 0; i < n->in_count; i++) {
        const Tensor *b = n->in[i];
        bool fits = b && b->rank == a->rank;
        for (int d = 0; fits && d < a->rank; d++) fits = d == axis || a->shape[d] == b->shape[d];
        if (fits) continue;
        op_refuse(cx, n, "input %d is %s, which does not fit beside %s along axis %d; use equal sizes except along the "
                         "axis",
                  i, b ? tensor_shape_text(cx, b) : "absent", tensor_shape_text(cx, a), axis);
        return false;
    }
    return op_same_type(cx, n);
}

static int concat(Ctx *cx, const Node *n, Tensor **out)
{
    int rank = n->in[0]->rank, axis = op_axis(cx, n, node_int(n, "axis", 0), rank);
    if (axis < 0 || !fit_side_by_side(cx, n, axis)) return 0;
    const Expr **end = NEW_ARRAY(cx->arena, const Expr *, n->in_count), *at[MAX_RANK];
    for (int i = 0; i < n->in_count; i++) {
        const Expr *size = n->in[i]->shape[axis];
        end[i] = i ? simplify(cx, expr_add(cx, end[i - 1], size), NULL) : simplify(cx, size, NULL);
    }
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < rank; d++)
        at[d] = index_axis(&m, axis_letter(rank, d), d == axis ? end[n->in_count - 1] : n->in[0]->shape[d]);
    const Expr *value = NULL, *c = at[axis];
    for (int i = n->in_count - 1; i >= 0; i--) {
        at[axis] = i ? expr_sub(cx, c, end[i - 1]) : c;
        const Expr *element = tensor_read(cx, n->in[i], at, rank);
        value = value ? expr_select(cx, expr_binary(cx, EXPR_LT, c, end[i]), element, value) : element;
    }
    out[0] = index_result(&m, value);
    return out[0] ? 1 : 0;
}

/* ---- slice ------------------------------------------------------------------------------------------------------ */

typedef struct Range { const Expr *begin, *count; int64_t step; } Range;

static const Expr *least_of(Ctx *cx, const Expr *a, const Expr *b)
{
    return simplify(cx, expr_binary(cx, EXPR_MIN, a, b), NULL);
}
static const Expr *greatest_of(Ctx *cx, const Expr *a, const Expr *b)
{
    return simplify(cx, expr_binary(cx, EXPR_MAX, a, b), NULL);
}

/* Returns an index clamped to [least, size + over], as in ONNX and Python. A negative constant counts from the end; an
 * index that is an open size is never negative. */
static const Expr *axis_index(Ctx *cx, const Expr *at, const Expr *size, int64_t least, int64_t over)
{
    const bool from_end = at->kind == EXPR_INT && at->integer < 0;
    const Expr *greatest = op_size(cx, size, 1, over);
    if (at->kind == EXPR_INT && at->integer > op_greatest(cx, size)) return greatest;
    if (at->kind == EXPR_INT && at->integer < -op_greatest(cx, size)) return expr_index(cx, least);
    return greatest_of(cx, expr_index(cx, least),
                       least_of(cx, greatest, from_end ? op_size(cx, size, 1, at->integer) : at));
}

static Range range_of(Ctx *cx, const Expr *begin, const Expr *end, int64_t step, const Expr *size)
{
    begin = axis_index(cx, begin, size, 0, step < 0 ? -1 : 0);
    end = axis_index(cx, end, size, step < 0 ? -1 : 0, 0);
    const Expr *length = step > 0 ? expr_sub(cx, end, begin) : expr_sub(cx, begin, end);
    const Expr *before_last = expr_binary(cx, EXPR_FLOORDIV, op_size(cx, length, 1, -1),
                                          expr_index(cx, step > 0 ? step : -step));
    return (Range){ begin, greatest_of(cx, expr_index(cx, 0), op_size(cx, before_last, 1, 1)), step };
}

/* Returns the begin, count and step of a slice along an axis whose size is known only at run time. The count may be 0;
 * interval analysis can bound its expression. An index counts elements from the first one or from the end. */
static Range decided_range(Ctx *cx, const Expr *begin, const Expr *end, int64_t step, const Expr *size)
{
    const Expr *zero = expr_index(cx, 0);
    const int64_t most = op_greatest(cx, size);
    if (begin->kind == EXPR_INT && (begin->integer < -most || begin->integer > most))
        begin = expr_index(cx, begin->integer < 0 ? 0 : most);
    if (step > 0 && end->kind == EXPR_INT && end->integer < -most) end = expr_index(cx, -most);
    const bool is_number = begin->kind == EXPR_INT && end->kind == EXPR_INT && step > 0;
    Range r = range_of(cx, begin, end, step, size);
    if (!is_number) {
        r.count = greatest_of(cx, zero, least_of(cx, r.count, size));
        return r;
    }
    const bool to_end = end->integer < 0 || end->integer > most;
    const int64_t b = begin->integer, e = end->integer < 0 ? -end->integer : to_end ? 0 : end->integer;
    const Expr *before_end = greatest_of(cx, zero, op_size(cx, size, 1, -e)), *count;     /* if `to_end` */
    if (b >= 0) count = greatest_of(cx, zero, op_size(cx, to_end ? size : least_of(cx, size, end), 1, to_end ? -b - e
                                                                                                            : -b));
    else if (to_end) count = least_of(cx, before_end, expr_index(cx, -b > e ? -b - e : 0));
    else count = greatest_of(cx, zero, expr_sub(cx, least_of(cx, size, end), r.begin));
    const Expr *up = op_size(cx, count, 1, step - 1);
    r.count = step == 1 ? count : simplify(cx, expr_binary(cx, EXPR_FLOORDIV, up, expr_index(cx, step)), NULL);
    if (b >= 0) r.begin = begin;
    return r;
}

/* Returns begin or end i: a number, or size i of the tensor `begin_sizes` or `end_sizes`. */
static const Expr *listed_place(Ctx *cx, const Node *n, const char *attr, int i)
{
    const Attr *sizes = node_attr(n, text_format(cx, "%s_sizes", attr));
    const int64_t at = node_attr(n, attr)->ints[i];
    return sizes && i < sizes->tensor->rank ? sizes->tensor->shape[i]
                                            : expr_index(cx, at > INT32_MAX    ? INT32_MAX
                                                             : at < -INT32_MAX ? -INT32_MAX
                                                                               : at);
}

static int slice(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Attr *begin = node_attr(n, "begin"), *end = node_attr(n, "end"), *axes = node_attr(n, "axes");
    int count = begin ? begin->count : 0;
    int64_t step[MAX_RANK];
    Range ranges[MAX_RANK];
    bool listed[MAX_RANK] = { false }, any_decided = false;
    if (count > x->rank || !end || end->count != count || (axes && axes->count != count)) {
        op_refuse(cx, n, "'begin' has %d values, 'end' %d and 'axes' %d, for the input %s; use one value of each per "
                         "axis that is sliced, or omit 'axes'", count, end ? end->count : 0, axes ? axes->count : 0,
                  tensor_shape_text(cx, x));
        return 0;
    }
    if (!op_ints(cx, n, "step", count, INT32_MIN + 1, INT32_MAX, 1, step)) return 0;
    for (int i = 0; i < count; i++) {
        int d = op_axis(cx, n, axes ? axes->ints[i] : i, x->rank);
        if (d < 0) return 0;
        const Expr *from = listed_place(cx, n, "begin", i), *to = listed_place(cx, n, "end", i);
        const bool is_decided = size_is_decided(cx, x->shape[d]) || size_is_decided(cx, from)
                                || size_is_decided(cx, to);
        if (step[i]) ranges[d] = (is_decided ? decided_range : range_of)(cx, from, to, step[i], x->shape[d]);
        if (listed[d])
            op_refuse(cx, n, "axis %d of %s is sliced twice; use each axis once", d, tensor_shape_text(cx, x));
        else if (!step[i] || op_least(cx, ranges[d].count) < !is_decided)
            op_refuse(cx, n,
                      "the slice from %lld to %lld by %lld along axis %d of %s is empty; use a step other than 0, and "
                      "a result with elements%s",
                      (long long)begin->ints[i], (long long)end->ints[i], (long long)step[i], d,
                      tensor_shape_text(cx, x), tensor_dim(x, d) < 0 ? op_greater_least : "");
        if (ctx_failed(cx)) return 0;
        listed[d] = true;
        any_decided = any_decided || is_decided;
    }
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++) {
        at[d] = index_axis(&m, axis_letter(x->rank, d), listed[d] ? ranges[d].count : x->shape[d]);
        if (!listed[d]) continue;
        if (ranges[d].step != 1) at[d] = expr_mul(cx, at[d], expr_index(cx, ranges[d].step));
        if (!expr_is_int(ranges[d].begin, 0)) at[d] = expr_add(cx, at[d], ranges[d].begin);
    }
    if (!any_decided) return read_of(cx, &m, x, at, out);
    out[0] = index_result(&m, index_read_padded(&m, x, at, op_value(cx, n, "", x->type)));
    return out[0] ? 1 : 0;
}

static bool slice_box(Ctx *cx, const Node *n, int64_t *begin)
{
    const Tensor *x = n->in[0];
    const Attr *given = node_attr(n, "begin"), *axes = node_attr(n, "axes"), *step = node_attr(n, "step");
    if (!tensor_is_fixed(x) || !tensor_is_fixed(n->out[0])) return false;
    for (int d = 0; d < x->rank; d++) begin[d] = 0;
    for (int i = 0; given && i < given->count; i++) {
        const int64_t d = axes ? axes->ints[i] + (axes->ints[i] < 0 ? x->rank : 0) : i;
        const Expr *at = axis_index(cx, listed_place(cx, n, "begin", i), x->shape[d], 0, 0);
        if (at->kind != EXPR_INT || (step && step->ints[i] != 1)) return false;
        begin[d] = at->integer;
    }
    return true;
}

static const Node *slice_of(Ctx *cx, const Tensor *t, int64_t *begin)
{
    const Node *n = t->producer;
    return n && n->kind == NODE_CALL && n->op->layout.box == slice_box && slice_box(cx, n, begin) ? n : NULL;
}

/* Returns the number of operands, beginning with `first`, that are adjacent boxes of one tensor: each begins where the
 * previous one ends along the axis. */
static int adjacent_slices(Ctx *cx, const Node *concat_call, int first, int axis)
{
    int64_t begin[MAX_RANK], next[MAX_RANK];
    const Node *a = slice_of(cx, concat_call->in[first], begin);
    int count = 1;
    for (; a && first + count < concat_call->in_count; count++) {
        const Tensor *t = concat_call->in[first + count];
        const Node *b = slice_of(cx, t, next);
        if (!b || b->in[0] != a->in[0]) break;
        begin[axis] += tensor_dim(concat_call->in[first + count - 1], axis);
        if (memcmp(begin, next, (size_t)t->rank * sizeof *begin) != 0) break;
    }
    return count;
}

/* Returns the box that `count` adjacent operands cover, or the sliced tensor if the box covers all of it. */
static Tensor *one_slice(Ctx *cx, const Node *n, int first, int count, int axis)
{
    int64_t begin[MAX_RANK], end[MAX_RANK], size = 0;
    Tensor *t = n->in[first], *x = slice_of(cx, t, begin)->in[0];
    bool is_all = true;
    for (int i = 0; i < count; i++) size += tensor_dim(n->in[first + i], axis);
    for (int d = 0; d < t->rank; d++) {
        end[d] = begin[d] + (d == axis ? size : tensor_dim(t, d));
        is_all = is_all && end[d] - begin[d] == tensor_dim(x, d);
    }
    if (is_all) return x;
    return call_on(cx, "slice", n->name, x, ATTRS(attr_ints("begin", begin, t->rank), attr_ints("end", end, t->rank)));
}

/* Folds adjacent slices of one tensor into one operand; returns NULL if there are none. */
static Tensor *concat_of_fewer(Ctx *cx, const Node *n)
{
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    const int rank = n->in[0]->rank;
    int64_t axis = node_int(n, "axis", 0);
    int count = 0;
    if (axis < 0) axis += rank;
    for (int i = 0; i < n->in_count; count++) {
        int joined = adjacent_slices(cx, n, i, (int)axis);
        in[count] = joined > 1 ? one_slice(cx, n, i, joined, (int)axis) : n->in[i];
        i += joined;
    }
    if (count == n->in_count) return NULL;
    return count == 1 ? in[0] : call(cx, "concat", n->name, in, count, ATTRS(attr_int("axis", axis)));
}

/* Maps the axes of begin, end and step; implicit axes are written out first. */
static Node *permute_slice(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    int64_t axes[MAX_RANK];
    const Attr *given = node_attr(n, "axes"), *begin = node_attr(n, "begin");
    int rank = n->in[0]->rank, count = begin->count;
    for (int i = 0; i < count; i++) {
        int64_t d = given ? given->ints[i] : i;
        axes[i] = perm[d < 0 ? d + rank : d];
    }
    Tensor **turned = inputs_untransposed(cx, n, perm, inputs, rank);
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count + 1);
    int attr_count = 0;
    for (int i = 0; i < n->attr_count; i++)
        if (strcmp(n->attr[i].name, "axes") != 0) attr[attr_count++] = n->attr[i];
    attr[attr_count++] = (Attr){
        .name = "axes", .kind = ATTR_INTS, .count = count, .ints = arena_copy(cx->arena, axes, sizeof axes)
    };
    return turned ? op_call(cx, n->op, n->name, turned, n->in_count, attr, attr_count) : NULL;
}

/* ---- pad -------------------------------------------------------------------------------------------------------- */

/* Returns the index into n elements for position j = i - p, by mode:
 *   reflect     (n-1) - |(n-1) - |j||                   symmetric   min(m, 2n-1 - m), m = max(j, -1 - j) */
static const Expr *padded_index(Ctx *cx, const char *mode, const Expr *c, int64_t before, const Expr *size)
{
    const Expr *at = index_plus(cx, c, -before), *last = op_size(cx, size, 1, -1);
    if (strcmp(mode, "edge") == 0) return index_clamped(cx, at, last);
    if (strcmp(mode, "reflect") == 0) {
        const Expr *from_last = expr_unary(cx, EXPR_ABS, expr_sub(cx, last, expr_unary(cx, EXPR_ABS, at)));
        const Expr *mirrored = expr_sub(cx, last, from_last);
        /* the clamp proves the bound for an open size */
        return size->kind == EXPR_INT ? mirrored : index_clamped(cx, mirrored, last);
    }
    if (strcmp(mode, "symmetric") == 0) {
        const Expr *m = expr_binary(cx, EXPR_MAX, at, expr_sub(cx, expr_index(cx, -1), at));
        const Expr *mirrored = expr_binary(cx, EXPR_MIN, m, expr_sub(cx, op_size(cx, size, 2, -1), m));
        return index_clamped(cx, mirrored, last);
    }
    return strcmp(mode, "wrap") == 0 ? expr_binary(cx, EXPR_FLOORMOD, at, size) : at;
}

static int pad(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const char *mode = node_text(n, "mode", "constant");
    int64_t pads[2 * MAX_RANK];
    bool is_constant = strcmp(mode, "constant") == 0, is_reflected = strcmp(mode, "reflect") == 0;
    bool is_symmetric = strcmp(mode, "symmetric") == 0;
    if (!is_constant && !is_reflected && !is_symmetric && strcmp(mode, "edge") != 0 && strcmp(mode, "wrap") != 0) {
        op_refuse(cx, n, "'mode' is \"%s\"; use constant, edge, reflect, symmetric or wrap", mode);
        return 0;
    }
    if (!op_ints(cx, n, "pad", 2 * x->rank, INT32_MIN / 4, INT32_MAX / 4, 0, pads)) return 0;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < x->rank; d++) {
        int64_t before = pads[d], after = pads[x->rank + d], fewest = op_least(cx, x->shape[d]);
        const int64_t most = is_reflected ? fewest - 1 : is_symmetric ? fewest : INT32_MAX / 4;
        if (fewest + before + after < !size_is_decided(cx, x->shape[d]) || before > most || after > most) {
            op_refuse(cx, n,
                      "axis %d of the input %s cannot be padded by %lld and %lld in mode %s; use at most %lld each, "
                      "and a result with elements%s",
                      d, tensor_shape_text(cx, x), (long long)before, (long long)after, mode, (long long)most,
                      tensor_dim(x, d) < 0 ? op_greater_least : "");
            return 0;
        }
        bool stays = before == 0 && after == 0;
        const Expr *size = stays ? x->shape[d] : op_size(cx, x->shape[d], 1, before + after);
        at[d] = index_axis(&m, axis_letter(x->rank, d), size);
        if (!stays) at[d] = padded_index(cx, mode, at[d], before, x->shape[d]);
    }
    if (!is_constant) return read_of(cx, &m, x, at, out);
    out[0] = index_result(&m, index_read_padded(&m, x, at, op_value(cx, n, "value", x->type)));
    return out[0] ? 1 : 0;
}

static Node *permute_pad(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    int rank = n->in[0]->rank;
    int64_t pads[2 * MAX_RANK], moved[2 * MAX_RANK];
    if (!op_ints(cx, n, "pad", 2 * rank, INT32_MIN / 4, INT32_MAX / 4, 0, pads)) return NULL;
    for (int d = 0; d < rank; d++) {
        moved[perm[d]] = pads[d];
        moved[rank + perm[d]] = pads[rank + d];
    }
    Tensor **turned = inputs_untransposed(cx, n, perm, inputs, rank);
    if (!turned) return NULL;
    return op_call(cx, n->op, n->name, turned, 1, attrs_with_ints(cx, n, "pad", moved, 2 * rank), n->attr_count);
}

/* ---- gather, expand, tile --------------------------------------------------------------------------------------- */

/* Emits gather. A negative index counts from the end. An index out of range is clamped, so no input can make the
 * program read out of bounds. */
static int gather(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *index = n->in[1];
    int axis = op_axis(cx, n, node_int(n, "axis", 0), x->rank), rank = x->rank - 1 + index->rank;
    if (axis < 0) return 0;
    /* if the run decides the size, the importer's calls test that x has elements if there are indices */
    const bool has_elements = size_is_decided(cx, x->shape[axis]) || op_least(cx, x->shape[axis]) >= 1;
    if (!op_holds(cx, n, dtype_is_integer(index->type), "the index is %s%s; use integers",
                  dtype_info(index->type)->spelling, tensor_shape_text(cx, index))
        || !op_holds(cx, n, has_elements, "the input is %s; use at least one element along axis %d",
                     tensor_shape_text(cx, x), axis)
        || !op_holds(cx, n, rank <= MAX_RANK, "the input is %s and the index %s; use a result of at most %d dimensions",
                     tensor_shape_text(cx, x), tensor_shape_text(cx, index), MAX_RANK))
        return 0;
    const Expr *axes[MAX_RANK], *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; d < rank; d++) {
        const int own = d - axis < index->rank ? d : d - index->rank + 1;
        const bool is_index = d >= axis && d < axis + index->rank;
        axes[d] = index_axis(&m, axis_letter(rank, d), is_index ? index->shape[d - axis] : x->shape[own]);
    }
    const Expr *j = tensor_read(cx, index, axes + axis, index->rank), *size = x->shape[axis];
    const Expr *given = expr_cast(cx, I32, j);
    const Expr *is_negative = expr_binary(cx, EXPR_LT, j, expr_int(cx, index->type, 0));
    for (int d = 0; d < x->rank; d++)
        if (d != axis) at[d] = axes[d < axis ? d : d - 1 + index->rank];
    at[axis] = index_clamped(cx, expr_select(cx, is_negative, expr_add(cx, given, size), given),
                             op_size(cx, size, 1, -1));
    return read_of(cx, &m, x, at, out);
}

/* Reads the target shape: the list `shape`, or the shape of the tensor `like`, with sizes that may be open. */
static int wanted_shape(Ctx *cx, const Node *n, const Expr **shape)
{
    const Attr *like = node_attr(n, "like"), *a = node_attr(n, "shape");
    const int count = like ? like->tensor->rank : a ? a->count : 0;
    for (int d = 0; d < count && d < MAX_RANK; d++) {
        if (!like && (a->ints[d] < 0 || a->ints[d] > INT32_MAX)) return MAX_RANK + 1;
        shape[d] = like ? like->tensor->shape[d] : expr_index(cx, a->ints[d]);
    }
    return count;
}

static int expand(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Expr *shape[MAX_RANK], *one = expr_index(cx, 1);
    int count = wanted_shape(cx, n, shape), rank = count > x->rank ? count : x->rank;
    bool fits = rank <= MAX_RANK;
    const Expr *at[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    for (int d = 0; fits && d < rank; d++) {
        int own = d - (rank - x->rank), asked = d - (rank - count);
        const Expr *size = own >= 0 ? x->shape[own] : one, *wanted = asked >= 0 ? shape[asked] : one;
        fits = size == wanted || size == one || wanted == one;
        const Expr *axis = index_axis(&m, axis_letter(rank, d), size == one ? wanted : size);
        if (own >= 0) at[own] = size == one ? expr_index(cx, 0) : axis;
    }
    if (!fits) {
        const Attr *a = node_attr(n, "shape");
        op_refuse(cx, n, "the input %s cannot be expanded to %s; use equal sizes, or 1 in the input",
                  tensor_shape_text(cx, x), a ? ints_text(cx, a->ints, a->count) : "that shape");
        return 0;
    }
    return read_of(cx, &m, x, at, out);
}

static int tile(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Expr *at[MAX_RANK];
    int64_t times[MAX_RANK];
    IndexMap m = { .cx = cx, .call = n };
    if (!op_ints(cx, n, "times", x->rank, 1, INT32_MAX, 1, times)) return 0;
    for (int d = 0; d < x->rank; d++) {
        const Expr *size = x->shape[d];
        if (op_least(cx, size) < !size_is_decided(cx, size) || op_greatest(cx, size) > INT32_MAX / times[d]) {
            op_refuse(cx, n,
                      "axis %d of the input %s cannot be repeated %lld times; use a product of 1 to 2^31-1", d,
                      tensor_shape_text(cx, x), (long long)times[d]);
            return 0;
        }
        at[d] = index_axis(&m, axis_letter(x->rank, d), op_size(cx, size, times[d], 0));
        if (times[d] != 1) at[d] = expr_binary(cx, EXPR_FLOORMOD, at[d], size);
    }
    return read_of(cx, &m, x, at, out);
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

static const AttrRow transpose_attrs[] = {
    { "perm", ATTR_INTS, "dimension d of the result is dimension perm[d]; absent: reversed", NULL },
    { 0 }
};
static const AttrRow concat_attrs[] = { { "axis", ATTR_INT, "the axis of concatenation", "0" }, { 0 } };
static const AttrRow slice_attrs[] = {
    { "begin", ATTR_INTS, "first index along each axis; negative: from the end", NULL },
    { "end",   ATTR_INTS, "one past the last; negative: from the end", NULL },
    { "begin_sizes", ATTR_TENSOR, "a tensor with sizes that replace `begin`; its values are not read", NULL },
    { "end_sizes", ATTR_TENSOR, "a tensor with sizes that replace `end`; its values are not read", NULL },
    { "axes",  ATTR_INTS, "the sliced axes; absent: the leading ones", NULL },
    { "step",  ATTR_INTS, "distance between elements; negative: backwards", NULL },
    { 0 }
};
static const AttrRow pad_attrs[] = {
    { "pad",   ATTR_INTS, "elements to add before each dimension, then after each; a negative number removes elements",
      NULL },
    { "mode",  ATTR_TEXT, "constant, edge, reflect, symmetric (the boundary element twice) or wrap", "constant" },
    { "value", ATTR_REAL, "the value of constant padding", "0" },
    { 0 }
};
static const AttrRow gather_attrs[] = { { "axis", ATTR_INT, "the indexed axis", "0" }, { 0 } };
static const AttrRow expand_attrs[] = {
    { "shape", ATTR_INTS, "the shape to broadcast to", NULL },
    { "like", ATTR_TENSOR, "a tensor of this shape, instead of the attribute; its values are not read", NULL },
    { 0 }
};
static const AttrRow tile_attrs[] = { { "times", ATTR_INTS, "repetitions of each dimension", NULL }, { 0 } };

static const OpCase transpose_cases[] = {
    { "perm=0,2,3,1", "f32[1][2][3][4]", "f32[1][3][4][2]", NULL },
    { "", "f32[2][3]", "f32[3][2]", NULL },
    { "perm=0,0", "f32[2][3]", NULL, "not an order of 2 dimensions" },
    { "perm=0,1,2", "f32[2][3]", NULL, "not an order of 2 dimensions" },
    { 0 }
};
static const OpCase concat_cases[] = {
    { "axis=3", "f32[1][2][2][3] f32[1][2][2][1] f32[1][2][2][2]", "f32[1][2][2][6]", NULL },
    { "axis=-2", "f32[2][3] f32[4][3]", "f32[6][3]", NULL },
    { "axis=0", "f32[2]", "f32[2]", NULL },
    { "axis=0", "f32[2][3] f32[2][4]", NULL, "does not fit beside [2][3]" },
    { "axis=0", "f32[2] i32[2]", NULL, "input 1 is i32" },
    { 0 }
};
static const OpCase slice_cases[] = {
    { "begin=1 end=3", "f32[4][2]", "f32[2][2]", NULL },
    { "begin=-3,0 end=1000,2 axes=1,0", "f32[4][5]", "f32[2][3]", NULL },
    { "begin=-1 end=-1000 step=-2", "f32[5]", "f32[3]", NULL },
    { "begin=0 end=5 step=2", "f32[5]", "f32[3]", NULL },
    { "begin=3 end=3", "f32[5]", NULL, "is empty" },
    { "begin=0,1 end=2,3 axes=0,0", "f32[5][5]", NULL, "axis 0 of [5][5] is sliced twice" },
    { "begin=0,0 end=1", "f32[5][5]", NULL, "'begin' has 2 values, 'end' 1" },
    { 0 }
};
static const OpCase pad_cases[] = {
    { "pad=0,1,0,2 value=1.5", "f32[2][3]", "f32[2][6]", NULL },
    { "pad=0,1 value=-1e30", "i8[3]", "i8[4]", NULL },
    { "pad=1,2,1,2 mode=edge", "f32[2][3]", "f32[4][7]", NULL },
    { "pad=2,1 mode=reflect", "f32[3]", "f32[6]", NULL },
    { "pad=2,1 mode=wrap", "f32[3]", "f32[6]", NULL },
    { "pad=-1,2", "f32[4]", "f32[5]", NULL },
    { "pad=3,2 mode=symmetric", "f32[3]", "f32[8]", NULL },
    { "pad=1,0,0,2 mode=symmetric", "i8[2][3]", "i8[3][5]", NULL },
    { "pad=4,0 mode=symmetric", "f32[3]", NULL, "cannot be padded by 4 and 0" },
    { "pad=3,0 mode=reflect", "f32[3]", NULL, "cannot be padded by 3 and 0" },
    { "pad=1,1 mode=nowhere", "f32[3]", NULL, "'mode' is \"nowhere\"" },
    { "pad=1,1", "f32[3][3]", NULL, "'pad' has 2 values, but 4 are needed" },
    { 0 }
};
static const OpCase gather_cases[] = {
    { "axis=1", "f32[2][5][3] i64[2]={4,-5}", "f32[2][2][3]", NULL },
    { "", "f32[4] i32", "f32", NULL },
    { "", "f32[4][2] i32[2][3]={0,1,2,3,1,0}", "f32[2][3][2]", NULL },
    { "", "f32[4] f32[2]", NULL, "; use integers" },
    { 0 }
};
static const OpCase expand_cases[] = {
    { "shape=2,3", "f32[3]", "f32[2][3]", NULL },
    { "shape=4,1,3", "f32[2][1]", "f32[4][2][3]", NULL },
    { "shape=2,4", "f32[3]", NULL, "cannot be expanded" },
    { 0 }
};
static const OpCase tile_cases[] = {
    { "times=2,3", "f32[2][2]", "f32[4][6]", NULL }, { "times=2,0", "f32[2][2]", NULL, "'times' is 2,0" }, { 0 }
};

#define MOVE(fn, text, its_level, least, most, names) \
    .name = #fn, .summary = text, .level = its_level, .least_inputs = least, .most_inputs = most, .inputs = names, \
    .attr = fn##_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_INJECTIVE, \
    .quantization.moves_elements = true, .cases = fn##_cases

const Op ops_move[] = {
    { MOVE(transpose, "y[i_perm[0], i_perm[1], ..] = x[i_0, i_1, ..]", 3, 1, 1, "x"), .layout.is_transpose = true },
    { MOVE(concat, "y[i] = select(i < n0, x0[i], x1[i-n0])", 1, 1, -1, "x0 x1"), .meaning.simplify = concat_of_fewer,
      .layout.is_concat = true, .layout.permute = permute_axis },
    { MOVE(slice, "y[i] = x[begin + i*step]", 3, 1, 1, "x"), .layout.permute = permute_slice, .layout.box = slice_box },
    { MOVE(pad, "y[i] = x[i - pad]; outside x, by mode", 2, 1, 1, "x"), .layout.permute = permute_pad },
    { MOVE(gather, "y[..,j,..] = x[..,index[j],..]", 3, 2, 2, "x index") },
    { MOVE(expand, "y[*] = x[*] in a larger shape", 4, 1, 1, "x"), .layout.repeats = true },
    { MOVE(tile, "y[i] = x[i % n]", 3, 1, 1, "x"), .layout.repeats = true },
    { 0 }
};
