/* SPDX-License-Identifier: MIT */
/* Begins, ends and counts of STRIDED_SLICE, SLICE and TOPK_V2, sizes of FILL and TILE that the run decides. The
 * count is computed by ordinary calls; the result has a size with that value (tflite_decided.h). */
#include <string.h>

#include "import/tflite/ops/tflite_decided.h"

static Tensor *number(TfliteCall *c, int64_t v) { return tensor_constant(c->cx, c->name, I64, 0, NULL, &v); }

static bool is_number(const Tensor *t, int64_t v)
{
    return t && tensor_is_constant(t) && dtype_load(t->type, t->data, 0).i == v;
}

/* Element `at` of a list; without list the number `at`. */
typedef struct Element { Tensor *list; int64_t at; } Element;

/* Element i of a list, behind PACK and RESHAPE. */
static Element element_of(Tensor *list, int64_t i)
{
    const Node *n = list->producer;
    bool is_packed = n && strcmp(n->op->name, "concat") == 0 && list->rank == 1;
    if (tensor_is_constant(list)) return (Element){ NULL, dtype_load(list->type, list->data, i).i };
    if (n && strcmp(n->op->name, "reshape") == 0 && tensor_elems(list) == 1) return element_of(n->in[0], 0);
    for (int k = 0; is_packed && k < n->in_count; k++) is_packed = tensor_elems(n->in[k]) == 1;
    return is_packed ? element_of(n->in[i], 0) : (Element){ list, i };
}

/* As i64 without dimensions. */
static Tensor *value_of(TfliteCall *c, Element e)
{
    if (!e.list) return number(c, e.at);
    Tensor *one = tensor_elems(e.list) == 1 ? e.list : tflite_part(c, e.list, 0, e.at, e.at + 1);
    return one ? tflite_cast(c, tflite_reshape(c, one, NULL, 0), I64) : NULL;
}

/* ---- Spans of a dimension ---------------------------------------------------------------------------------------- */

/* Two spans by the same bounds over equal dimensions have one size. */
typedef struct SpanKey { Element begin, end; int64_t size; bool has_count; } SpanKey;

/* Returns elements from on along the axis, as many as the count. */
static Tensor *span(TfliteCall *c, Tensor *x, int axis, int output_axis, const SpanKey *key, Tensor *from,
                    Tensor *count)
{
    Decided *d = &c->sizes->decided;
    const Expr *size = decided_find(d, key, sizeof *key);
    if (!size) size = tflite_decided(c, 0, output_axis, count, 0, key->size);
    if (!size || ctx_failed(c->cx)) return NULL;
    decided_keep(d, key, sizeof *key, size);
    if (is_number(from, 0)) return tflite_cut(c, x, axis, size);
    const Attr like = attr_tensor("like", tensor_new(c->cx, c->name, I64, 1, &size));
    Tensor *first = decided_after(d, c->name, from, &size, 1), *one = number(c, 1);
    return tflite_call2(c, "gather", x, tflite_call2(c, "ramp", first, one, like), attr_int("axis", axis));
}

static SpanKey key_of(Tensor *begins, Tensor *ends, int i, int64_t size, bool has_count)
{
    SpanKey key;
    memset(&key, 0, sizeof key);                         /* also the bytes between members: it is compared as bytes */
    const Element begin = begins ? element_of(begins, i) : (Element){ NULL, 0 },
                  end = ends ? element_of(ends, i) : (Element){ NULL, size };
    key.begin.list = begin.list, key.begin.at = begin.at, key.end.list = end.list, key.end.at = end.at;
    key.size = size, key.has_count = has_count;
    return key;
}

/* An index that counts from the end if it is negative, in [0, size]. */
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
    Tensor *count = is_number(from, 0) ? to : tflite_call2(c, "max", tflite_call2(c, "sub", to, from), zero);
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
    /* A span that is not within x has -1 elements, which ends the run. */
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
    if (tensor_elems(c->in[1]) != 1 || last < 0 || !tensor_is_fixed(x)) {
        tflite_unsupported(c, "%s of the elements of %s, known by the run; one number, and fixed sizes, are accepted",
                           tensor_shape_text(c->cx, c->in[1]), tensor_shape_text(c->cx, x));
        return NULL;
    }
    const Expr *size = tflite_decided(c, 0, last, value_of(c, element_of(c->in[1], 0)), 0, tensor_dim(x, last));
    if (!size) return NULL;
    const Attr like = attr_tensor("like", tensor_new(c->cx, c->name, I64, 1, &size));
    x = decided_after(&c->sizes->decided, c->name, x, &size, 1);
    return tflite_call(c, "topk", x, attr_int("axis", last), like);
}

/* ---- SHAPE, FILL and TILE ---------------------------------------------------------------------------------------- */

/* The size whose value the element is, as SHAPE gives it; NULL: it is another number. */
static const Expr *known_size(Element e)
{
    const Node *n = e.list && tensor_elems(e.list) == 1 ? e.list->producer : NULL;
    while (n && (strcmp(n->op->name, "cast") == 0 || strcmp(n->op->name, "reshape") == 0)) n = n->in[0]->producer;
    return n && strcmp(n->op->name, "bind_size") == 0 ? node_attr(n, "like")->tensor->shape[0] : NULL;
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
    if (rank < 0 || rank > MAX_RANK || tensor_elems(value) != 1) {
        tflite_unsupported(c, "sizes %s and a value %s; a list of at most %d, and one value, are accepted",
                           tensor_shape_text(c->cx, sizes), tensor_shape_text(c->cx, value), MAX_RANK);
        return NULL;
    }
    for (int d = 0; d < rank; d++) {
        const Element e = element_of(sizes, d);
        if (!e.list && e.at < 1)
            tflite_unsupported(c, "%lld elements along dimension %d; 1 or more are accepted", (long long)e.at, d);
        size[d] = e.list ? known_size(e) : expr_index(c->cx, e.at);
        if (!size[d]) size[d] = tflite_decided(c, 0, d, value_of(c, e), 0, -1);
        if (!size[d] || ctx_failed(c->cx)) return NULL;
    }
    Tensor *one = decided_after(&c->sizes->decided, c->name, tflite_reshape(c, value, NULL, 0), size, (int)rank);
    return tflite_call(c, "expand", one, attr_tensor("like", tensor_new(c->cx, c->name, value->type, (int)rank, size)));
}

/* Element i is element i modulo its size of the input. */
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
    const Attr like = attr_tensor("like", tensor_new(c->cx, c->name, I64, 1, &size));
    Tensor *places = tflite_call2(c, "ramp", decided_after(&c->sizes->decided, c->name, zero, &size, 1), one, like);
    return tflite_call2(c, "gather", x, tflite_call2(c, "mod", places, own), attr_int("axis", axis));
}
