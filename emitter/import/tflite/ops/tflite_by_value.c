/* SPDX-License-Identifier: MIT */
/* Translates begins, ends and counts of STRIDED_SLICE, SLICE and TOPK_V2, and sizes of FILL, TILE, BROADCAST_TO, PAD,
 * ONE_HOT and RESHAPE, if the run decides them. Ordinary calls compute the count; the result has a size with this value
 * (tflite_decided.h). */
#include <string.h>

#include "import/tflite/ops/tflite_decided.h"
#include "ir/algebra/algebra.h"

static Tensor *number(TfliteCall *c, int64_t v) { return tensor_constant(c->cx, c->name, I64, 0, NULL, &v); }

static Decided *sizes_of(TfliteCall *c) { return &c->sizes->decided; }

static Attr like(TfliteCall *c, const Expr *size) { return attr_like(c->cx, c->name, I64, 1, &size); }

/* Element `at` of a list; if `list` is NULL, the number `at`. */
typedef struct Element { Tensor *list; int64_t at; } Element;

/* Returns element i of a list, in row-major order; looks through PACK, CONCATENATION and views. */
static Element element_of(Tensor *list, int64_t i)
{
    list = decided_origin(list, &i);
    return tensor_is_constant(list) ? (Element){ NULL, dtype_load(list->type, list->data, i).i } : (Element){ list, i };
}

/* Returns the element as an i64 without dimensions. */
static Tensor *value_of(TfliteCall *c, Element e)
{
    if (!e.list) return number(c, e.at);
    Tensor *flat = e.list->rank == 1 ? e.list : tflite_reshape(c, e.list, (int64_t[]){ -1 }, 1),
           *one = !flat || tensor_elems(flat) == 1 ? flat : tflite_part(c, flat, 0, e.at, e.at + 1);
    return one ? tflite_cast(c, tflite_reshape(c, one, NULL, 0), I64) : NULL;
}

/* ---- Spans of a dimension ---------------------------------------------------------------------------------------- */

/* The key of a span's size: spans with the same bounds over equal dimensions have one size. */
typedef struct SpanKey { Element begin, end; int64_t size; bool has_count; } SpanKey;

/* Returns `count` elements along the axis, starting at `from`. */
static Tensor *span(TfliteCall *c, Tensor *x, int axis, int output_axis, const SpanKey *key, Tensor *from,
                    Tensor *count)
{
    Decided *d = sizes_of(c);
    const Expr *size = decided_find(d, key, sizeof *key);
    if (!size) size = tflite_decided(c, 0, output_axis, count, 0, key->size);
    if (!size || ctx_failed(c->cx)) return NULL;
    decided_keep(d, key, sizeof *key, size);
    if (tensor_is_integer(from, 0)) return tflite_cut(c, x, axis, size);
    Tensor *first = decided_after(d, c->name, from, &size, 1), *one = number(c, 1);
    return tflite_call2(c, "gather", x, tflite_call2(c, "ramp", first, one, like(c, size)), attr_int("axis", axis));
}

static SpanKey key_of(Tensor *begins, Tensor *ends, int i, int64_t size, bool has_count)
{
    SpanKey key;
    /* sets the bytes between members as well, because keys are compared as bytes */
    memset(&key, 0, sizeof key);
    const Element begin = begins ? element_of(begins, i) : (Element){ NULL, 0 },
                  end = ends ? element_of(ends, i) : (Element){ NULL, size };
    key.begin.list = begin.list, key.begin.at = begin.at, key.end.list = end.list, key.end.at = end.at;
    key.size = size, key.has_count = has_count;
    return key;
}

/* Returns an index in [0, size]; a negative index counts from the end. */
static Tensor *within(TfliteCall *c, Element e, int64_t size)
{
    Tensor *at = value_of(c, e), *zero = number(c, 0), *all = number(c, size);
    if (!e.list) {
        const int64_t placed = e.at < 0 ? e.at + size : e.at;
        return number(c, placed < 0 ? 0 : placed > size ? size : placed);
    }
    Tensor *is_below = tflite_call2(c, "less", at, zero), *from_end = tflite_call2(c, "add", at, all);
    Tensor *placed = tflite_call2(c, "max", tflite_select(c, is_below, from_end, at), zero);
    return tflite_call2(c, "min", placed, all);
}

Tensor *tflite_span_to(TfliteCall *c, Tensor *x, int axis, int output_axis, Tensor *begins, Tensor *ends, int i)
{
    if (!x || ctx_failed(c->cx)) return NULL;
    const SpanKey key = key_of(begins, ends, i, tensor_dim(x, axis), false);
    Tensor *from = within(c, key.begin, key.size), *to = within(c, key.end, key.size), *zero = number(c, 0);
    Tensor *count = tensor_is_integer(from, 0) ? to : tflite_call2(c, "max", tflite_call2(c, "sub", to, from), zero);
    return span(c, x, axis, output_axis, &key, from, count);
}

Tensor *tflite_span_of(TfliteCall *c, Tensor *x, int axis, Tensor *begins, Tensor *counts)
{
    if (!x || ctx_failed(c->cx)) return NULL;
    const SpanKey key = key_of(begins, counts, axis, tensor_dim(x, axis), true);
    Tensor *from = value_of(c, key.begin), *given = value_of(c, key.end), *zero = number(c, 0),
           *all = number(c, key.size);
    Tensor *rest = tflite_call2(c, "sub", all, from);
    if (!key.end.list) given = key.end.at < 0 ? rest : given;
    else {
        Tensor *is_rest = tflite_call2(c, "equal", given, number(c, -1));
        given = tflite_select(c, is_rest, rest, given);
    }
    /* a span outside x gets -1 elements, which ends the run */
    Tensor *is_after = tflite_call2(c, "less_equal", zero, from),
           *is_before = tflite_call2(c, "less_equal", given, rest);
    Tensor *is_inside = tflite_call2(c, "and", is_after, is_before);
    return span(c, x, axis, axis, &key, from, tflite_select(c, is_inside, given, number(c, -1)));
}

/* ---- TOPK_V2 ----------------------------------------------------------------------------------------------------- */

Tensor *tflite_topk_indices(TfliteCall *c)
{
    Tensor *x = c->in[0];
    const int last = x->rank - 1;
    if (tensor_elems(c->in[1]) != 1)
        tflite_unsupported(c, "the number of selected elements is a tensor %s; use one number",
                           tensor_shape_text(c->cx, c->in[1]));
    if (last < 0 || !tensor_is_fixed(x))
        tflite_unsupported(c, "the run decides how many elements of %s are selected; use fixed sizes and at least one "
                              "dimension", tensor_shape_text(c->cx, x));
    if (ctx_failed(c->cx)) return NULL;
    const Expr *size = tflite_decided(c, 0, last, value_of(c, element_of(c->in[1], 0)), 0, tensor_dim(x, last));
    if (!size) return NULL;
    x = decided_after(sizes_of(c), c->name, x, &size, 1);
    return tflite_call(c, "topk", x, attr_int("axis", last), like(c, size));
}

/* ---- SHAPE, FILL and TILE ---------------------------------------------------------------------------------------- */

/* Returns the size whose value the element is, such as an element of SHAPE, or NULL for other elements. */
static const Expr *known_size(Element e)
{
    const Node *n = e.list && tensor_elems(e.list) == 1 ? e.list->producer : NULL;
    while (n && n->kind == NODE_CALL && (n->op->layout.converts || n->op->layout.is_view)) n = n->in[0]->producer;
    return bound_size(n);
}

/* Returns the element as the size of dimension d of the result, or NULL if it is refused. */
static const Expr *asked_size(TfliteCall *c, Element e, int d, int64_t natural)
{
    const Expr *known = e.list ? known_size(e) : expr_index(c->cx, e.at);
    return known ? known : tflite_decided(c, 0, d, value_of(c, e), 0, natural);
}

Tensor *tflite_sizes_of(TfliteCall *c, const Tensor *x, DType type)
{
    Tensor *part[MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        Tensor *size = tflite_dim_value(c, x->shape[d], type);
        part[d] = size ? tflite_reshape(c, size, (int64_t[]){ 1 }, 1) : NULL;
    }
    if (ctx_failed(c->cx)) return NULL;
    return x->rank == 1 ? part[0] : call(c->cx, "concat", c->name, part, x->rank, ATTRS(attr_int("axis", 0)));
}

Tensor *tflite_filled(TfliteCall *c, Tensor *value, Tensor *sizes)
{
    const Expr *size[MAX_RANK];
    const int64_t rank = sizes->rank == 1 ? tensor_elems(sizes) : -1;
    if (rank < 0 || rank > MAX_RANK)
        tflite_unsupported(c, "the sizes are %s; use a list of at most %d sizes", tensor_shape_text(c->cx, sizes),
                           MAX_RANK);
    if (tensor_elems(value) != 1)
        tflite_unsupported(c, "the value is %s; use a single value", tensor_shape_text(c->cx, value));
    if (ctx_failed(c->cx)) return NULL;
    for (int d = 0; d < rank; d++) {
        const Element e = element_of(sizes, d);
        if (!e.list && e.at < 1)
            tflite_unsupported(c, "it has %lld elements along dimension %d; use at least one element",
                                  (long long)e.at, d);
        size[d] = asked_size(c, e, d, -1);
        if (!size[d] || ctx_failed(c->cx)) return NULL;
    }
    Tensor *one = decided_after(sizes_of(c), c->name, tflite_reshape(c, value, NULL, 0), size, (int)rank);
    return tflite_call(c, "expand", one, attr_like(c->cx, c->name, value->type, (int)rank, size));
}

/* Repeats x: element i of the result is element i modulo the input's size. */
Tensor *tflite_tiled(TfliteCall *c, Tensor *x, int axis)
{
    if (!x || ctx_failed(c->cx)) return NULL;
    const Element e = element_of(c->in[1], axis);
    if (!e.list && e.at == 1) return x;
    Tensor *own = number(c, tensor_dim(x, axis)), *zero = number(c, 0), *one = number(c, 1),
           *times = value_of(c, e);
    const Expr *size = !e.list && e.at >= 1 ? expr_index(c->cx, e.at * tensor_dim(x, axis))
                                            : tflite_decided(c, 0, axis, tflite_call2(c, "mul", times, own), 0, -1);
    if (!size) return NULL;
    Tensor *first = decided_after(sizes_of(c), c->name, zero, &size, 1),
           *places = tflite_call2(c, "ramp", first, one, like(c, size));
    return tflite_call2(c, "gather", x, tflite_call2(c, "mod", places, own), attr_int("axis", axis));
}

/* ---- BROADCAST_TO, PAD, ONE_HOT and RESHAPE ---------------------------------------------------------------------- */

Tensor *tflite_broadcasted(TfliteCall *c, Tensor *x, Tensor *sizes)
{
    const Expr *size[MAX_RANK];
    const int rank = sizes->rank == 1 ? (int)tensor_elems(sizes) : -1;
    if (rank < x->rank || rank > MAX_RANK)
        tflite_refuse(c, "it has sizes %s for %s; use one size for each of %d to %d dimensions",
                      tensor_shape_text(c->cx, sizes), tensor_shape_text(c->cx, x), x->rank, MAX_RANK);
    for (int d = 0; d < rank && !ctx_failed(c->cx); d++) {
        const int own = d - (rank - x->rank);
        const Element e = element_of(sizes, d);
        size[d] = own < 0 || expr_is_int(x->shape[own], 1) ? asked_size(c, e, d, -1) : x->shape[own];
        if (own < 0 || expr_is_int(x->shape[own], 1) || (e.list && known_size(e) == size[d])) continue;
        Tensor *asked = value_of(c, e), *there = tflite_dim_value(c, size[d], I64),
               *difference = tflite_call2(c, "sub", asked, there);
        x = decided_provided(sizes_of(c), c->name, x, difference, 0, 0);
    }
    if (ctx_failed(c->cx)) return NULL;
    x = decided_after(sizes_of(c), c->name, x, size, rank);
    return tflite_call(c, "expand", x, attr_like(c->cx, c->name, I64, rank, size));
}

Tensor *tflite_padded(TfliteCall *c, Tensor *x, int axis, Tensor *pairs, double value)
{
    if (!x || ctx_failed(c->cx)) return NULL;
    const Element before = element_of(pairs, 2 * axis), after = element_of(pairs, 2 * axis + 1);
    if (!before.list && !before.at && !after.list && !after.at) return x;
    Tensor *first = value_of(c, before), *last = value_of(c, after), *zero = number(c, 0),
           *own = tflite_dim_value(c, x->shape[axis], I64),
           *count = tflite_call2(c, "add", tflite_call2(c, "add", own, first), last);
    /* a negative padding gets -1 elements, which ends the run */
    Tensor *is_padding = tflite_call2(c, "less_equal", zero, tflite_call2(c, "min", first, last));
    count = tflite_select(c, is_padding, count, number(c, -1));
    const Expr *size = tflite_decided(c, 0, axis, count, 0, -1);
    if (!size) return NULL;
    first = decided_after(sizes_of(c), c->name, tflite_call(c, "neg", first), &size, 1);
    return tflite_call2(c, "window", x, first, attr_int("axis", axis), attr_real("value", value),
                        like(c, size));
}

Tensor *tflite_ramp_by_value(TfliteCall *c, DType type, Tensor *depth, int axis, int rank)
{
    const Expr *size = asked_size(c, element_of(depth, 0), axis, -1), *shape[MAX_RANK];
    if (!size || ctx_failed(c->cx)) return NULL;
    for (int d = 0; d < rank; d++) shape[d] = d == axis ? size : expr_index(c->cx, 1);
    Tensor *one = tensor_scalar(c->cx, c->name, type, 1),
           *zero = decided_after(sizes_of(c), c->name, tensor_scalar(c->cx, c->name, type, 0), &size, 1),
           *ramp = tflite_call2(c, "ramp", zero, one, attr_like(c->cx, c->name, type, 1, &size));
    return tflite_call(c, "reshape", ramp, attr_like(c->cx, c->name, type, rank, shape));
}

/* Stores the elements of a shape as i64. Known elements are constants; -1 stands for the remaining size. */
static bool read_shape(TfliteCall *c, const Element *e, int rank, Tensor *total, Tensor **out)
{
    Tensor *known = number(c, 1), *one = number(c, 1), *zero = number(c, 0), *left = number(c, -1);
    for (int d = 0; d < rank; d++) {
        out[d] = value_of(c, e[d]);
        if (!e[d].list && e[d].at == -1) continue;
        Tensor *is_left = e[d].list && !known_size(e[d]) ? tflite_call2(c, "less", out[d], zero) : NULL;
        known = tflite_call2(c, "mul", known, is_left ? tflite_select(c, is_left, one, out[d]) : out[d]);
    }
    Tensor *rest = tflite_call2(c, "floor_div", total, tflite_call2(c, "max", known, one));
    for (int d = 0; d < rank && !ctx_failed(c->cx); d++)
        if (!e[d].list && e[d].at == -1) out[d] = rest;
        else if (e[d].list && !known_size(e[d]))
            out[d] = tflite_select(c, tflite_call2(c, "equal", out[d], left), rest, out[d]);
    return !ctx_failed(c->cx);
}

/* Reshapes x to sizes that the run decides. The run ends if the numbers of elements differ. */
Tensor *tflite_reshaped(TfliteCall *c, Tensor *x, Tensor *sizes)
{
    Element e[MAX_RANK];
    Tensor *value[MAX_RANK];
    const Expr *size[MAX_RANK], *total = size_product(c->cx, x->shape, x->rank);
    const int rank = (int)tensor_elems(sizes);
    for (int d = 0; d < rank; d++) e[d] = element_of(sizes, d);
    Tensor *count = tflite_dim_value(c, total, I64);
    if (!count || !read_shape(c, e, rank, count, value)) return NULL;
    for (int d = 0; d < rank; d++) {
        const bool is_number = !e[d].list && e[d].at >= 0;
        size[d] = is_number ? expr_index(c->cx, e[d].at) : e[d].list ? known_size(e[d]) : NULL;
        if (!size[d]) size[d] = tflite_decided(c, 0, d, value[d], 0, interval_of(c->cx, total, NULL).greatest);
        if (!size[d] || ctx_failed(c->cx)) return NULL;
    }
    const Expr *all = size_product(c->cx, size, rank);
    Tensor *difference = tflite_call2(c, "sub", tflite_dim_value(c, all, I64), count),
           *flat = tflite_call(c, "reshape", x, like(c, total));
    flat = decided_provided(sizes_of(c), c->name, flat, difference, 0, 0);
    flat = decided_as(sizes_of(c), c->name, decided_after(sizes_of(c), c->name, flat, size, rank), 0, all);
    return tflite_call(c, "reshape", flat, attr_like(c->cx, c->name, I64, rank, size));
}

/* Returns true if the run decides whether x has as many elements as the shape. */
bool tflite_is_reshaped_by_run(TfliteCall *c, const Tensor *x, Tensor *sizes)
{
    int64_t each = 1, asked = 1;
    bool any = false, is_known = true, has_rest = false;
    if (!sizes || sizes->rank != 1 || tensor_elems(sizes) < 1 || tensor_elems(sizes) > MAX_RANK) return false;
    for (int d = 0; d < x->rank; d++) {
        any = any || size_is_decided(c->cx, x->shape[d]);
        each *= tensor_dim(x, d) > 0 ? tensor_dim(x, d) : 1;
    }
    for (int d = 0; d < tensor_elems(sizes); d++) {
        const Element e = element_of(sizes, d);
        is_known = is_known && (!e.list || known_size(e));
        has_rest = has_rest || (!e.list && e.at == -1);
        asked *= !e.list && e.at > 0 ? e.at : 1;
    }
    return !is_known || (any && has_rest && tensor_is_constant(sizes) && each % asked != 0);
}
