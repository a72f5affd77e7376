/* SPDX-License-Identifier: MIT */
/* Translates Slice, TopK and Range if the run decides starts, ends and counts. Ordinary calls compute the count; the
 * result has a size with this value (onnx_decided.c). */
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_listed.h"
#include "import/onnx/graph/onnx_sizes.h"

static Tensor *both(OnnxCall *c, const char *op, Tensor *a, Tensor *b) { return onnx_call2(c, op, a, b); }

/* ---- Slice ------------------------------------------------------------------------------------------------------- */

/* Returns an index in [least, greatest]; a negative index counts from the end of the dimension, which has `size`
 * elements. */
static Tensor *within(OnnxCall *c, Tensor *at, Tensor *size, Tensor *least, Tensor *greatest)
{
    if (tensor_is_integer(at, 0) && tensor_is_integer(least, 0) && greatest == size) return at;
    Tensor *zero = onnx_integer(c, 0), *added = both(c, "add", at, size), *is_negative = both(c, "less", at, zero);
    Tensor *from_end = onnx_select(c, is_negative, added, at);
    return both(c, "min", both(c, "max", from_end, least), greatest);
}

/* The step of an axis: the number `known`, or a value of the run. */
typedef struct Stride { int64_t known; Tensor *value; } Stride;       /* value: NULL if known */

/* The key of a slice's size: slices with the same starts, ends and steps over equal dimensions have one size. */
typedef struct SpanKey { const Tensor *starts, *ends, *steps; const Expr *size; int64_t at, step, most; } SpanKey;

static const Expr *span_size(OnnxCall *c, int axis, const SpanKey *key, Tensor *count, int64_t natural)
{
    Decided *d = &c->scope->import->decided;
    const Expr *size = decided_find(d, key, sizeof *key);
    if (size) return size;
    size = onnx_decided(c, 0, axis, count, 0, natural);
    if (size) decided_keep(d, key, sizeof *key, size);
    return size;
}

static Tensor *is_forward(OnnxCall *c, const Stride *s) { return both(c, "less", onnx_integer(c, 0), s->value); }

/* Returns `forwards` if the step is positive, otherwise `backwards`. */
static Tensor *by_direction(OnnxCall *c, const Stride *s, Tensor *forwards, Tensor *backwards)
{
    if (!s->value) return s->known > 0 ? forwards : backwards;
    return onnx_select(c, is_forward(c, s), forwards, backwards);
}

/* Returns the number of steps that start at `from` and end before `to`. */
static Tensor *steps_between(OnnxCall *c, Tensor *from, Tensor *to, const Stride *s)
{
    if (tensor_is_integer(from, 0) && s->known == 1) return to;
    Tensor *forwards = s->value || s->known > 0 ? both(c, "sub", to, from) : NULL,
           *backwards = s->value || s->known <= 0 ? both(c, "sub", from, to) : NULL;
    Tensor *way = by_direction(c, s, forwards, backwards);
    way = onnx_not_negative(c, way);
    const int64_t by = s->known > 0 ? s->known : -s->known;
    if (by == 1) return way;
    Tensor *one = onnx_integer(c, 1),
           *divisor = s->value ? both(c, "max", onnx_call(c, "abs", s->value), one) : onnx_integer(c, by);
    return both(c, "floor_div", both(c, "add", way, both(c, "sub", divisor, one)), divisor);
}

/* Returns `size` elements along the axis, starting at `from`. */
static Tensor *part_from(OnnxCall *c, Tensor *x, int axis, Tensor *from, Tensor *by, const Expr *size)
{
    const Attr like = attr_like(c->cx, c->name, I64, 1, &size);
    Tensor *first = onnx_after(c, from, &size, 1), *places = onnx_call2(c, "ramp", first, by, like);
    return onnx_call2(c, "gather", x, places, attr_int("axis", axis));
}

static Tensor *slice_axis(OnnxCall *c, Tensor *x, int axis, int i, const Stride *s)
{
    const Expr *full = x->shape[axis];
    const int64_t by = s->known > 0 ? s->known : -s->known, all = interval_of(c->cx, full, NULL).greatest,
                  natural = s->value ? all : (all + by - 1) / by, most = onnx_maximum(c, 0, axis, natural);
    Tensor *size = onnx_dimension(c, full), *zero = onnx_integer(c, 0), *before = onnx_integer(c, -1),
           *none = by_direction(c, s, zero, before),
           *last = s->known > 0 ? size : by_direction(c, s, size, both(c, "add", size, before));
    Tensor *from = within(c, onnx_element(c, c->in[1], i), size, zero, last),
           *to = within(c, onnx_element(c, c->in[2], i), size, none, last);
    const SpanKey key = { c->in[1], c->in[2], s->value ? c->in[4] : NULL, full, i, s->known, most };
    Tensor *count = steps_between(c, from, to, s);
    const Expr *span = count ? span_size(c, axis, &key, count, natural) : NULL;
    if (!span) return NULL;
    if (tensor_is_integer(from, 0) && s->known == 1) return onnx_cut(c, x, axis, span);
    return part_from(c, x, axis, from, s->value ? s->value : onnx_integer(c, s->known), span);
}

/* Returns the step of axis i, clamped to the largest size; *x is computed after a test that the step is not 0. */
static Stride step_of_run(OnnxCall *c, int i, Tensor **x)
{
    enum { FAR = 1 << 30 };
    Tensor *s = onnx_element(c, c->in[4], i), *one = onnx_integer(c, 1),
           *near = both(c, "min", s, onnx_integer(c, FAR));
    s = both(c, "max", near, onnx_integer(c, -FAR));
    *x = onnx_provided(c, *x, both(c, "min", onnx_call(c, "abs", s), one), 1, 1);
    return (Stride){ 0, s };
}

/* Returns true for constants, and for sizes that cannot be negative, because a negative index counts from the end. */
static bool is_known_index(OnnxCall *c, int input)
{
    OnnxSizes s;
    if (tensor_is_constant(c->in[input])) return true;
    if (!onnx_is_list(c, c->in[input]) || !onnx_list(c, input, &s)) return false;
    for (int i = 0; i < s.count; i++)
        if (s.at[i]->kind != EXPR_INT && interval_of(c->cx, s.at[i], NULL).least < 0) return false;
    return true;
}

bool onnx_slice_by_value(OnnxCall *c)
{
    int64_t axes[MAX_RANK], step[MAX_RANK];
    const Tensor *starts = onnx_in(c, 1), *ends = onnx_in(c, 2);
    const bool steps_of_run = onnx_in(c, 4) && !tensor_is_constant(c->in[4]);
    if (c->opset < 10 || !starts || !ends) return false;
    if (!steps_of_run && is_known_index(c, 1) && is_known_index(c, 2)) return false;
    c->in[0] = onnx_materialize_sizes(c->scope->import, c->in[0]);
    const int64_t count = tensor_elems(starts);
    const int axis_count = onnx_ints(c, NULL, 3, axes, MAX_RANK), steps = steps_of_run ? (int)tensor_elems(c->in[4])
                                                                                : onnx_ints(c, NULL, 4, step, MAX_RANK);
    if (axis_count == -2 || steps == -2) return true;
    if (count < 1 || count > c->in[0]->rank || tensor_elems(ends) != count || (axis_count >= 0 && axis_count != count)
        || (steps >= 0 && steps != count)) {
        onnx_refuse(c, "there are %lld starts, %lld ends, %d axes and %d steps (-1: absent) for an input of %d "
                       "dimensions; use equal counts of 1 to the number of dimensions",
                    (long long)count, (long long)tensor_elems(ends), axis_count, steps, c->in[0]->rank);
        return true;
    }
    Tensor *x = c->in[0];
    for (int i = 0; i < count && x && !ctx_failed(c->cx); i++) {
        const int axis = onnx_axis(c, axis_count >= 0 ? axes[i] : i, x->rank);
        const Stride by = steps_of_run ? step_of_run(c, i, &x) : (Stride){ steps >= 0 ? step[i] : 1, NULL };
        if (!by.value && by.known == 0) onnx_refuse(c, "a step is 0; use a positive or negative step");
        x = axis < 0 || ctx_failed(c->cx) ? NULL : slice_axis(c, x, axis, i, &by);
    }
    c->out[0] = x;
    return true;
}

void onnx_split_by_value(OnnxCall *c, int axis)
{
    const Expr *full = c->in[0]->shape[axis];
    const int64_t parts = c->node->out_count, most = interval_of(c->cx, full, NULL).greatest;
    Tensor *size = onnx_dimension(c, full), *up = both(c, "add", size, onnx_integer(c, parts - 1)),
           *each = both(c, "floor_div", up, onnx_integer(c, parts));
    for (int i = 0; i < parts && !ctx_failed(c->cx); i++) {
        Tensor *from = both(c, "min", both(c, "mul", each, onnx_integer(c, i)), size),
               *count = both(c, "min", each, both(c, "sub", size, from));
        const Expr *own = onnx_decided(c, i, axis, count, 0, (most + parts - 1) / parts);
        c->out[i] = own ? part_from(c, c->in[0], axis, from, onnx_integer(c, 1), own) : NULL;
    }
}

/* ---- TopK -------------------------------------------------------------------------------------------------------- */

bool onnx_topk_by_value(OnnxCall *c)
{
    const Tensor *k = onnx_in(c, 1);
    if (c->opset < 10 || !k || (tensor_is_constant(k) && tensor_is_fixed(c->in[0])) || tensor_elems(k) != 1)
        return false;
    const int axis = onnx_axis(c, onnx_int(c, "axis", -1), c->in[0]->rank);
    if (axis < 0) return true;
    const Expr *full = c->in[0]->shape[axis];
    if (!size_is_decided(c->cx, full) && tensor_is_constant(k)) return false;
    const Interval room = interval_of(c->cx, full, NULL);
    Tensor *count = onnx_element(c, c->in[1], 0);
    const Expr *size = onnx_decided(c, 0, axis, count, 0, room.greatest);
    if (!size) return true;
    Tensor *x = onnx_after(c, c->in[0], &size, 1);
    if (room.least < interval_of(c->cx, size, NULL).greatest && full->kind != EXPR_INT) {
        Tensor *used = onnx_dimension(c, size), *there = onnx_dimension(c, full);
        x = onnx_provided(c, x, both(c, "sub", there, used), 0, room.greatest);
    }
    Tensor *index = onnx_call(c, "topk", x, attr_int("axis", axis),
                              attr_like(c->cx, c->name, I64, 1, &size),
                              attr_flag("largest", onnx_int(c, "largest", 1)));
    c->out[0] = onnx_call2(c, "gather_elements", x, index, attr_int("axis", axis));
    c->out[1] = index;
    return true;
}

/* ---- Range ------------------------------------------------------------------------------------------------------- */

bool onnx_range_by_value(OnnxCall *c)
{
    Tensor *in[3];
    bool is_known = true;
    for (int i = 0; i < 3; i++) {
        is_known = is_known && (tensor_is_constant(c->in[i]) || onnx_is_list(c, c->in[i]));
        if (tensor_elems(c->in[i]) != 1) return false;
    }
    if (is_known) return false;
    for (int i = 0; i < 3; i++)
        in[i] = onnx_reshape(c, onnx_materialize_sizes(c->scope->import, c->in[i]), NULL, 0);
    if (ctx_failed(c->cx)) return true;
    const bool is_float = dtype_is_float(in[0]->type);
    /* ceil((limit - start) / step) = -floor((start - limit) / step) */
    Tensor *steps = both(c, is_float ? "div" : "floor_div", both(c, "sub", in[0], in[1]), in[2]);
    if (is_float) steps = onnx_call(c, "floor", steps);
    Tensor *whole = onnx_cast(c, steps, I64), *zero = onnx_integer(c, 0);
    Tensor *count = onnx_not_negative(c, both(c, "sub", zero, whole));
    const Expr *size = count ? onnx_decided(c, 0, 0, count, 0, -1) : NULL;
    if (!size) return true;
    const Attr like = attr_like(c->cx, c->name, in[0]->type, 1, &size);
    c->out[0] = onnx_call2(c, "ramp", onnx_after(c, in[0], &size, 1), in[2], like);
    return true;
}
