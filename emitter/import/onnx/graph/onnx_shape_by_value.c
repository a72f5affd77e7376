/* SPDX-License-Identifier: MIT */
/* Translates Expand, Tile, ConstantOfShape, Reshape, Pad and OneHot with sizes that the run computes. Each element of
 * the list becomes a size of the result (onnx_listed.c), whose dimension is then open. */
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_listed.h"
#include "import/onnx/graph/onnx_sizes.h"

#include <string.h>

static Tensor *both(OnnxCall *c, const char *op, Tensor *a, Tensor *b) { return onnx_call2(c, op, a, b); }
static int64_t greatest(OnnxCall *c, const Expr *size) { return interval_of(c->cx, size, NULL).greatest; }

static const Expr *product(OnnxCall *c, const Expr *a, const Expr *b)
{
    return simplify(c->cx, expr_mul(c->cx, a, b), NULL);
}

/* Returns true if an input is a list that the run computes, and stores its number of elements. Returns false for other
 * inputs, or if the node is refused. */
static bool is_list_of_run(OnnxCall *c, int input, int *count)
{
    if (!onnx_is_of_run(c, input)) return false;
    const int64_t elems = tensor_elems(c->in[input]);
    if (elems > MAX_RANK)
        onnx_unsupported(c, "the shape has %lld dimensions; use at most %d dimensions", (long long)elems, MAX_RANK);
    *count = (int)elems;
    return !ctx_failed(c->cx);
}

/* ---- Expand, ConstantOfShape ------------------------------------------------------------------------------------- */

/* Returns the size along dimension `d` of the result, given x's own size and an element of the list. If x's size is not
 * 1, the run tests that the element is x's size or 1. If the run decides x's size, which may be 1, the result has the
 * element's size if a maximum of it is known. */
static const Expr *broadcast_size(OnnxCall *c, Tensor **x, int own, int d, Tensor *element)
{
    const Expr *size = own >= 0 ? (*x)->shape[own] : expr_index(c->cx, 1), *asked = onnx_size_behind(c, element);
    if (!element) return size;
    if (expr_is_int(size, 1)) return onnx_listed_size(c, 0, d, element, -1);
    if (asked == size || (asked && expr_is_int(asked, 1))) return size;
    const bool may_give_way = size_is_decided(c->cx, size) && onnx_may_be_one(c, size);
    if (!asked && may_give_way && onnx_maximum(c, 0, d, -1) >= 0) asked = onnx_listed_size(c, 0, d, element, -1);
    if (asked && size_is_decided(c->cx, size)) {
        const Expr *common = onnx_broadcast_size(c, d, size, asked);
        *x = onnx_broadcast_to(c, *x, own, common);
        return common;
    }
    Tensor *own_size = onnx_dimension(c, size), *one = onnx_integer(c, 1);
    Tensor *is_own = both(c, "equal", element, own_size), *is_one = both(c, "equal", element, one),
           *fits = both(c, "or", is_own, is_one);
    *x = onnx_provided(c, *x, onnx_cast(c, fits, I64), 1, 1);
    return size;
}

static Tensor *expanded(OnnxCall *c, Tensor *x, int list)
{
    const Expr *shape[MAX_RANK];
    const int count = (int)tensor_elems(c->in[list]), rank = count > x->rank ? count : x->rank;
    if (rank > MAX_RANK) return NULL;
    for (int d = 0; d < rank && !ctx_failed(c->cx); d++) {
        const int own = d - (rank - x->rank), asked = d - (rank - count);
        Tensor *element = asked >= 0 ? onnx_element(c, c->in[list], asked) : NULL;
        shape[d] = broadcast_size(c, &x, own, d, element);
    }
    return ctx_failed(c->cx) ? NULL : onnx_expand(c, x, shape, rank);
}

bool onnx_expand_by_value(OnnxCall *c)
{
    int count;
    if (!is_list_of_run(c, 1, &count)) return ctx_failed(c->cx);
    c->out[0] = expanded(c, c->in[0], 1);
    return true;
}

bool onnx_constant_of_shape_by_value(OnnxCall *c, Tensor *value)
{
    int count;
    if (!is_list_of_run(c, 0, &count)) return ctx_failed(c->cx);
    c->out[0] = expanded(c, onnx_reshape(c, value, NULL, 0), 0);
    return true;
}

/* ---- Tile -------------------------------------------------------------------------------------------------------- */

/* Expands [..][k][..] as [..][1][k][..] to [..][times][k][..], and views it as [..][times * k][..]. */
static Tensor *repeated(OnnxCall *c, Tensor *x, int axis, const Expr *times)
{
    const Expr *apart[MAX_RANK], *wide[MAX_RANK], *joined[MAX_RANK];
    if (x->rank == MAX_RANK && !expr_is_int(x->shape[axis], 1))
        onnx_unsupported(c, "axis %d of a tensor of %d dimensions is repeated a number of times that the run decides; "
                         "use at most %d dimensions, or an axis of size 1", axis, MAX_RANK, MAX_RANK - 1);
    if (ctx_failed(c->cx)) return NULL;
    memcpy(joined, x->shape, sizeof *joined * (size_t)x->rank);
    joined[axis] = product(c, times, x->shape[axis]);
    if (expr_is_int(x->shape[axis], 1)) return onnx_expand(c, x, joined, x->rank);
    for (int d = 0; d <= x->rank; d++) apart[d] = wide[d] = d < axis ? x->shape[d] : d == axis ? NULL : x->shape[d - 1];
    apart[axis] = expr_index(c->cx, 1);
    wide[axis] = times;
    Tensor *y = onnx_view(c, x, apart, x->rank + 1);
    return onnx_view(c, onnx_expand(c, y, wide, x->rank + 1), joined, x->rank);
}

bool onnx_tile_by_value(OnnxCall *c)
{
    int count;
    if (!is_list_of_run(c, 1, &count)) return ctx_failed(c->cx);
    Tensor *x = c->in[0];
    if (count != x->rank) {
        onnx_refuse(c, "there are %d repetitions for %d dimensions; use one per dimension", count, x->rank);
        return true;
    }
    for (int d = 0; d < count && x && !ctx_failed(c->cx); d++) {
        Tensor *element = onnx_element(c, c->in[1], d);
        const Expr *known = onnx_size_behind(c, element);
        if (known && expr_is_int(known, 1)) continue;
        const int64_t each = greatest(c, x->shape[d]), most = known || !element ? 0 : onnx_most(c, 0, d, -1);
        const Expr *times = ctx_failed(c->cx) ? NULL
                          : onnx_listed_size(c, 0, d, element, known ? -1 : most / (each > 0 ? each : 1));
        x = times ? repeated(c, x, d, times) : NULL;
    }
    c->out[0] = x;
    return true;
}

/* ---- Reshape ----------------------------------------------------------------------------------------------------- */

/* The elements of a shape that the run computes: 0 stands for x's own size, and one -1 stands for the remaining
 * size. */
typedef struct NewShape { int rank, rest /* a number of -1; else -1 */; Tensor *at[MAX_RANK]; Tensor *total; } NewShape;

static Tensor *times_all(OnnxCall *c, const NewShape *s)
{
    Tensor *all = onnx_integer(c, 1), *one = onnx_integer(c, 1), *zero = onnx_integer(c, 0);
    for (int d = 0; d < s->rank; d++)
        if (d != s->rest) {
            Tensor *is_left = onnx_size_behind(c, s->at[d]) ? NULL : both(c, "less", s->at[d], zero);
            all = both(c, "mul", all, is_left ? onnx_select(c, is_left, one, s->at[d]) : s->at[d]);
        }
    return all;
}

/* Reads the elements of the shape. total: the number of elements of the input. */
static void read_shape(OnnxCall *c, const Expr *total, NewShape *s)
{
    const Tensor *x = c->in[0];
    Tensor *zero = onnx_integer(c, 0), *left = onnx_integer(c, -1), *one = onnx_integer(c, 1);
    s->total = onnx_dimension(c, total);
    for (int d = 0; d < s->rank; d++) {
        Tensor *own = d < x->rank ? onnx_dimension(c, x->shape[d]) : NULL, *v = onnx_element(c, c->in[1], d);
        const Expr *known = onnx_size_behind(c, v);
        const bool copies = own && !onnx_int(c, "allowzero", 0);
        if (known && expr_is_int(known, -1)) s->rest = d;
        else if (known && expr_is_int(known, 0) && copies) v = own;
        else if (!known && copies) v = onnx_select(c, both(c, "equal", v, zero), own, v);
        s->at[d] = v;
    }
    Tensor *known = both(c, "max", times_all(c, s), one), *rest = both(c, "floor_div", s->total, known);
    for (int d = 0; d < s->rank; d++)
        if (d == s->rest) s->at[d] = rest;
        else if (s->rest < 0 && !onnx_size_behind(c, s->at[d]))
            s->at[d] = onnx_select(c, both(c, "equal", s->at[d], left), rest, s->at[d]);
}

/* A product of a number and some sizes. */
typedef struct Factors { int64_t number; int count; const Expr *size[2 * MAX_RANK]; } Factors;

static void add_factors(Factors *f, const Expr *e)
{
    if (e->kind == EXPR_MUL) add_factors(f, e->arg[0]), add_factors(f, e->arg[1]);
    else if (e->kind == EXPR_INT) f->number = sat_mul(f->number, e->integer);
    else if (f->count < 2 * MAX_RANK) f->size[f->count++] = e;
}

/* Removes the sizes of `part` from f. Returns false if f lacks one of these factors, or if its number is not a
 * multiple. */
static bool take_factors(Factors *f, const Factors *part)
{
    for (int i = 0; i < part->count; i++) {
        int k = 0;
        while (k < f->count && f->size[k] != part->size[i]) k++;
        if (k == f->count) return false;
        f->size[k] = f->size[--f->count];
    }
    return part->number != 0 && f->number % part->number == 0;
}

/* Returns true if the run decides the number of elements of x, and must test it against a known shape. */
static bool needs_test(OnnxCall *c)
{
    const Tensor *x = c->in[0];
    OnnxSizes s;
    Factors has = { .number = 1 }, asked = { .number = 1 };
    bool has_rest = false, any = false;
    if (!onnx_list(c, 1, &s) || s.count > MAX_RANK) return false;
    for (int d = 0; d < x->rank; d++) add_factors(&has, x->shape[d]), any = any || size_is_decided(c->cx, x->shape[d]);
    for (int d = 0; d < s.count; d++) {
        const bool copies = expr_is_int(s.at[d], 0) && d < x->rank && !onnx_int(c, "allowzero", 0);
        any = any || size_is_decided(c->cx, s.at[d]);
        if (expr_is_int(s.at[d], -1)) has_rest = true;
        else add_factors(&asked, copies ? x->shape[d] : s.at[d]);
    }
    if (!any || asked.number <= 0) return false;
    return !take_factors(&has, &asked) || (!has_rest && (has.count || has.number != asked.number));
}

/* Reshapes to a shape that the run computes. If there are no elements, only a shape that is known at compile time
 * states which sizes are 0. */
bool onnx_reshape_by_value(OnnxCall *c)
{
    NewShape s = { .rest = -1 };
    if (onnx_is_empty(c->cx, c->in[0])) return false;
    if (!needs_test(c) && !is_list_of_run(c, 1, &s.rank)) return ctx_failed(c->cx);
    s.rank = (int)tensor_elems(c->in[1]);
    Tensor *x = c->in[0];
    const Expr *shape[MAX_RANK], *total = size_product(c->cx, x->shape, x->rank);
    read_shape(c, total, &s);
    for (int d = 0; d < s.rank && !ctx_failed(c->cx); d++)
        shape[d] = onnx_listed_size(c, 0, d, s.at[d], greatest(c, total));
    if (ctx_failed(c->cx)) return true;
    const Expr *all = size_product(c->cx, shape, s.rank);
    Tensor *difference = both(c, "sub", onnx_dimension(c, all), s.total), *flat = onnx_view(c, x, &total, 1);
    flat = onnx_after(c, onnx_provided(c, flat, difference, 0, 0), shape, s.rank);
    c->out[0] = onnx_view(c, onnx_as(c, flat, 0, all), shape, s.rank);
    return true;
}

/* ---- Pad --------------------------------------------------------------------------------------------------------- */

/* Padding along an axis. Negative pads keep `count` elements, starting at `begin`; positive pads repeat these elements.
 * The run ends if an axis without elements is padded, or if mode reflect pads by as many elements as the axis has. */
typedef struct Padding { Tensor *begin, *count, *before, *after; } Padding;

static Padding padding_of(OnnxCall *c, Tensor **x, int axis, Tensor *before, Tensor *after, bool reflects)
{
    Tensor *one = onnx_integer(c, 1), *size = onnx_dimension(c, (*x)->shape[axis]);
    Tensor *begin = onnx_not_negative(c, call_on(c->cx, "neg", c->name, before, NULL)),
           *end = onnx_not_negative(c, call_on(c->cx, "neg", c->name, after, NULL));
    Padding p = { .begin = begin };
    p.count = both(c, "sub", both(c, "sub", size, begin), end);
    p.before = onnx_not_negative(c, before);
    p.after = onnx_not_negative(c, after);
    Tensor *most = both(c, "max", p.before, p.after),
           *room = reflects ? onnx_not_negative(c, both(c, "sub", p.count, one)) : both(c, "min", p.count, one),
           *used = reflects ? most : both(c, "min", most, one);
    *x = onnx_provided(c, *x, p.count, 0, INT32_MAX);
    *x = onnx_provided(c, *x, both(c, "sub", room, used), 0, INT32_MAX);
    return p;
}

/* Returns which of the `count` elements is at each position, which may be before the first or after the last
 * element. */
static Tensor *repeated_place(OnnxCall *c, const char *mode, Tensor *place, Tensor *count)
{
    Tensor *one = onnx_integer(c, 1), *last = both(c, "sub", count, one);
    if (strcmp(mode, "edge") == 0) return both(c, "min", onnx_not_negative(c, place), last);
    if (strcmp(mode, "wrap") == 0) return both(c, "mod", place, both(c, "max", count, one));
    Tensor *from_first = onnx_call(c, "abs", place), *twice = both(c, "add", last, last);
    return both(c, "min", from_first, both(c, "sub", twice, from_first));
}

static Tensor *padded_by_elements(OnnxCall *c, Tensor *x, int axis, Tensor *before, Tensor *after, const char *mode)
{
    const bool reflects = strcmp(mode, "reflect") == 0;
    const int64_t own = greatest(c, x->shape[axis]), natural = !reflects ? -1 : own > 0 ? 3 * own - 2 : 0;
    const Padding p = padding_of(c, &x, axis, before, after, reflects);
    const Expr *of_result = x ? onnx_decided(c, 0, axis, both(c, "add", both(c, "add", p.count, p.before), p.after), 0,
                                             natural) : NULL;
    if (!of_result) return NULL;
    Tensor *first = onnx_after(c, call_on(c->cx, "neg", c->name, p.before, NULL), &of_result, 1);
    Tensor *one = onnx_integer(c, 1);
    Tensor *place = onnx_call2(c, "ramp", first, one, attr_like(c->cx, c->name, I64, 1, &of_result));
    Tensor *from = both(c, "add", repeated_place(c, mode, place, p.count), p.begin);
    return onnx_call2(c, "gather", x, from, attr_int("axis", axis));
}

/* Returns x padded along an axis. */
static Tensor *padded(OnnxCall *c, Tensor *x, int axis, Tensor *before, Tensor *after)
{
    const char *mode = onnx_text(c, "mode", "constant");
    const Expr *known = onnx_size_behind(c, before), *last = onnx_size_behind(c, after);
    if (known && last && expr_is_int(known, 0) && expr_is_int(last, 0)) return x;
    if (strcmp(mode, "edge") == 0 || strcmp(mode, "reflect") == 0 || strcmp(mode, "wrap") == 0)
        return padded_by_elements(c, x, axis, before, after, mode);
    if (strcmp(mode, "constant") != 0) {
        onnx_refuse(c, "'mode' is \"%s\"; use constant, edge, reflect or wrap", mode);
        return NULL;
    }
    double value = onnx_real(c, "value", 0);
    if (c->opset >= 11) onnx_scalar(c, 2, &value);
    Tensor *size = both(c, "add", both(c, "add", onnx_dimension(c, x->shape[axis]), before), after);
    const Expr *of_result = size ? onnx_decided(c, 0, axis, size, 0, -1) : NULL;
    if (!of_result) return NULL;
    Tensor *first = onnx_after(c, call_on(c->cx, "neg", c->name, before, NULL), &of_result, 1);
    return onnx_call2(c, "window", x, first, attr_int("axis", axis), attr_like(c->cx, c->name, I64, 1, &of_result),
                      attr_real("value", value));
}

bool onnx_pad_by_value(OnnxCall *c)
{
    int count;
    int64_t axes[MAX_RANK];
    if (c->opset < 11 || !onnx_is_of_run(c, 1)) return false;
    const int axis_count = c->opset < 18 ? -1 : onnx_ints(c, NULL, 3, axes, MAX_RANK);
    count = axis_count >= 0 ? axis_count : c->in[0]->rank;
    if (ctx_failed(c->cx)) return true;
    if (tensor_elems(c->in[1]) != 2 * count) {
        onnx_refuse(c, "there are %lld pads; use %d pads", (long long)tensor_elems(c->in[1]), 2 * count);
        return true;
    }
    Tensor *x = c->in[0];
    for (int i = 0; i < count && x && !ctx_failed(c->cx); i++) {
        const int axis = onnx_axis(c, axis_count >= 0 ? axes[i] : i, x->rank);
        Tensor *before = onnx_element(c, c->in[1], i), *after = onnx_element(c, c->in[1], count + i);
        x = axis < 0 ? NULL : padded(c, x, axis, before, after);
    }
    c->out[0] = x;
    return true;
}

/* ---- OneHot ------------------------------------------------------------------------------------------------------ */

bool onnx_one_hot_by_value(OnnxCall *c, Tensor *index)
{
    if (!onnx_is_of_run(c, 1) || tensor_elems(c->in[1]) != 1) return false;
    const int rank = index->rank + 1, axis = onnx_axis(c, onnx_int(c, "axis", -1), rank);
    Tensor *element = axis < 0 ? NULL : onnx_element(c, c->in[1], 0);
    const Expr *known = onnx_size_behind(c, element),
               *depth = known || !element ? known : onnx_decided(c, 0, axis, element, 1, -1);
    if (!depth) return true;
    Tensor *behind = onnx_after(c, index, &depth, 1);
    c->out[0] = onnx_call2(c, "one_hot", behind, c->in[2], attr_int("axis", axis),
                           attr_like(c->cx, c->name, I64, 1, &depth));
    return true;
}
