/* SPDX-License-Identifier: MIT */
/* Handles lists of open sizes and the arithmetic on them: chains of Shape, Gather, Concat and so on. */
#include "import/onnx/graph/onnx_sizes.h"

#include "import/onnx/graph/onnx_graph.h"
#include "ir/algebra/algebra.h"

/* ---- Lists of sizes ---------------------------------------------------------------------------------------------- */

static Map *lists(const OnnxCall *c) { return &c->scope->import->sizes; }

bool onnx_is_list(const OnnxCall *c, const Tensor *t) { return t && map_get_ptr(lists(c), t); }

bool onnx_list(const OnnxCall *c, int input, OnnxSizes *out)
{
    const Tensor *t = onnx_in(c, input);
    const OnnxSizes *known = t ? map_get_ptr(lists(c), t) : NULL;
    if (known) *out = *known;
    if (known || !t || !tensor_is_constant(t) || t->rank > 1 || tensor_elems(t) > ONNX_MOST_SIZES) return known != NULL;
    *out = (OnnxSizes){ .count = (int)tensor_elems(t), .rank = t->rank, .type = t->type };
    for (int i = 0; i < out->count; i++) {
        const Scalar v = dtype_load(t->type, t->data, i);
        const double real = dtype_is_float(t->type) ? v.f : (double)v.i;
        const bool is_near = real >= -INT32_MAX && real <= INT32_MAX;
        if (dtype_is_float(t->type) && (!is_near || real != (double)(int64_t)real)) return false;
        out->at[i] = expr_index(c->cx, is_near ? (int64_t)real : real < 0 ? -INT32_MAX : INT32_MAX);
    }
    return true;
}

void onnx_set_list(OnnxCall *c, const OnnxSizes *s)
{
    int64_t count = s->count;
    bool is_constant = true;
    for (int i = 0; i < s->count; i++) is_constant = is_constant && s->at[i]->kind == EXPR_INT;
    if (!is_constant) {
        c->out[0] = tensor_new_fixed(c->cx, c->name, s->type, s->rank, &count);
        map_put_ptr(lists(c), c->out[0], arena_copy(c->cx->arena, s, sizeof *s));
        return;
    }
    void *data;
    c->out[0] = tensor_zeros(c->cx, c->name, s->type, s->rank, &count, &data);
    for (int i = 0; i < s->count && c->out[0]; i++) {
        const int64_t size = s->at[i]->integer;
        const Scalar v = dtype_is_float(s->type) ? (Scalar){ .f = (double)size } : (Scalar){ .i = size };
        dtype_store(s->type, data, i, v);
    }
}

/* Returns a tensor without dimensions that computes an open size at run time. */
static Tensor *materialize_size(OnnxImport *im, const Tensor *t, const Expr *size)
{
    Ctx *cx = im->cx;
    if (size->kind == EXPR_INT) return tensor_scalar(cx, t->name, t->type, (double)size->integer);
    if (size_is_decided(cx, size)) return decided_value(&im->decided, t->name, size, t->type);
    Tensor *like = tensor_new(cx, t->name, t->type, 1, &size), *zero = tensor_scalar(cx, t->name, t->type, 0);
    return call_on(cx, "extent", t->name, zero, ATTRS(attr_tensor("like", like)));
}

/* Returns a tensor that computes a list at run time: one element per size, concatenated. */
static Tensor *materialize_sizes(OnnxImport *im, const Tensor *t, const OnnxSizes *s)
{
    Ctx *cx = im->cx;
    Tensor **part = NEW_ARRAY(cx->arena, Tensor *, s->count + 1);
    for (int i = 0; i < s->count; i++) {
        part[i] = materialize_size(im, t, s->at[i]);
        if (s->rank) part[i] = call_on(cx, "unsqueeze", t->name, part[i], ATTRS(attr_list("axes", 0)));
    }
    if (ctx_failed(cx)) return NULL;
    return s->count > 1 ? call(cx, "concat", t->name, part, s->count, ATTRS(attr_int("axis", 0))) : part[0];
}

Tensor *onnx_materialize_sizes(OnnxImport *im, Tensor *t)
{
    const OnnxSizes *s = t ? map_get_ptr(&im->sizes, t) : NULL;
    Tensor *materialized = s ? map_get_ptr(&im->sizes_materialized, t) : t;
    if (!materialized && s) map_put_ptr(&im->sizes_materialized, t, materialized = materialize_sizes(im, t, s));
    return materialized;
}

int onnx_sizes(OnnxCall *c, int input, const Expr **out, int most)
{
    OnnxSizes s;
    if (!onnx_in(c, input)) return -1;
    if (!onnx_list(c, input, &s)) {
        onnx_unsupported(
            c, "input %d (\"%s\") is not constant; use a list of integers or sizes that is known at compile time",
            input, c->in[input]->name);
        return -2;
    }
    if (s.count > most)
        onnx_refuse(c, "there are %d values in %s; use at most %d values", s.count, c->in[input]->name, most);
    for (int i = 0; i < s.count && i < most; i++) out[i] = s.at[i];
    return s.count > most ? -2 : s.count;
}

bool onnx_sizes_of_shape(OnnxCall *c, OnnxSizes *out)
{
    const Tensor *x = c->in[0];
    int64_t begin = onnx_int(c, "start", 0), end = onnx_int(c, "end", x->rank);
    if (begin < 0) begin += x->rank;
    if (end < 0) end += x->rank;
    *out = (OnnxSizes){ .rank = 1, .type = I64 };
    for (int64_t d = begin < 0 ? 0 : begin; d < end && d < x->rank; d++) out->at[out->count++] = x->shape[d];
    return true;
}

bool onnx_sizes_of_count(OnnxCall *c, OnnxSizes *out)
{
    const Expr *count = size_product(c->cx, c->in[0]->shape, c->in[0]->rank);
    *out = (OnnxSizes){ .count = 1, .type = I64, .at = { count } };
    return true;
}

bool onnx_sizes_gather(OnnxCall *c, OnnxSizes *out)
{
    OnnxSizes x, at;
    if (!onnx_list(c, 0, &x) || !onnx_list(c, 1, &at) || x.rank != 1) return false;
    *out = (OnnxSizes){ .count = at.count, .rank = at.rank, .type = x.type };
    for (int i = 0; i < at.count; i++) {
        int64_t k = at.at[i]->kind == EXPR_INT ? at.at[i]->integer : INT32_MAX;
        if (k < 0) k += x.count;
        if (k < 0 || k >= x.count) return false;
        out->at[i] = x.at[k];
    }
    return true;
}

bool onnx_sizes_slice(OnnxCall *c, OnnxSizes *out)
{
    OnnxSizes x, at;
    int64_t begin, end, axis = 0, step = 1;
    if (!onnx_list(c, 0, &x) || x.rank != 1) return false;
    for (int i = 1; i < 3 && c->opset >= 10; i++)
        if (!onnx_list(c, i, &at) || at.count != 1 || at.at[0]->kind != EXPR_INT) return false;
    if (onnx_ints_since(c, 10, "starts", 1, &begin, 1) != 1 || onnx_ints_since(c, 10, "ends", 2, &end, 1) != 1)
        return false;
    if (onnx_ints_since(c, 10, "axes", 3, &axis, 1) == -2 || (c->opset >= 10 && onnx_ints(c, NULL, 4, &step, 1) == -2)
        || step != 1)
        return false;
    if (begin < 0) begin += x.count;
    if (end < 0) end += x.count;
    *out = (OnnxSizes){ .rank = 1, .type = x.type };
    for (int64_t i = begin < 0 ? 0 : begin; i < end && i < x.count; i++) out->at[out->count++] = x.at[i];
    return true;
}

bool onnx_sizes_concat(OnnxCall *c, OnnxSizes *out)
{
    *out = (OnnxSizes){ .rank = 1, .type = c->in[0] ? c->in[0]->type : I64 };
    for (int i = 0; i < c->in_count; i++) {
        OnnxSizes x;
        if (!onnx_list(c, i, &x) || x.rank != 1 || out->count + x.count > ONNX_MOST_SIZES) return false;
        for (int k = 0; k < x.count; k++) out->at[out->count++] = x.at[k];
    }
    return true;
}

static bool with_rank(OnnxCall *c, OnnxSizes *out, int rank)
{
    if (!onnx_list(c, 0, out) || (rank == 0 && out->count != 1)) return false;
    out->rank = rank;
    return true;
}

bool onnx_sizes_as_list(OnnxCall *c, OnnxSizes *out) { return with_rank(c, out, 1); }
bool onnx_sizes_as_scalar(OnnxCall *c, OnnxSizes *out) { return with_rank(c, out, 0); }
bool onnx_sizes_same(OnnxCall *c, OnnxSizes *out) { return onnx_list(c, 0, out); }

bool onnx_sizes_cast(OnnxCall *c, OnnxSizes *out)
{
    DType to;
    if (!onnx_dtype(onnx_int(c, "to", 0), &to) || !onnx_list(c, 0, out)) return false;
    out->type = to;
    return to == I32 || to == I64 || to == F32 || to == F64;
}

/* Combines two lists element by element. The operands of a division are proved nonnegative and the divisor positive, so
 * truncating and floor division agree. */
static bool combined(OnnxCall *c, ExprKind kind, OnnxSizes *out)
{
    OnnxSizes a, b;
    if (!onnx_list(c, 0, &a) || !onnx_list(c, 1, &b) || (a.count != b.count && a.count != 1 && b.count != 1))
        return false;
    *out = a.count >= b.count ? a : b;
    out->type = a.type;
    out->rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 0; i < out->count; i++) {
        const Expr *x = a.at[a.count > 1 ? i : 0], *y = b.at[b.count > 1 ? i : 0];
        if (kind == EXPR_FLOORDIV && (interval_of(c->cx, x, NULL).least < 0 || interval_of(c->cx, y, NULL).least < 1))
            return false;
        out->at[i] = simplify(c->cx, expr_binary(c->cx, kind, x, y), NULL);
    }
    return true;
}

bool onnx_sizes_add(OnnxCall *c, OnnxSizes *out) { return combined(c, EXPR_ADD, out); }
bool onnx_sizes_sub(OnnxCall *c, OnnxSizes *out) { return combined(c, EXPR_SUB, out); }
bool onnx_sizes_mul(OnnxCall *c, OnnxSizes *out) { return combined(c, EXPR_MUL, out); }
bool onnx_sizes_div(OnnxCall *c, OnnxSizes *out)
{
    return !dtype_is_float(c->in[0]->type) && combined(c, EXPR_FLOORDIV, out);
}
bool onnx_sizes_mod(OnnxCall *c, OnnxSizes *out)
{
    OnnxSizes b;
    if (!onnx_list(c, 1, &b) || !combined(c, EXPR_FLOORMOD, out)) return false;
    for (int i = 0; i < b.count; i++)
        if (interval_of(c->cx, b.at[i], NULL).least < 1) return false;
    return true;
}
bool onnx_sizes_min(OnnxCall *c, OnnxSizes *out) { return c->in_count == 2 && combined(c, EXPR_MIN, out); }
bool onnx_sizes_max(OnnxCall *c, OnnxSizes *out) { return c->in_count == 2 && combined(c, EXPR_MAX, out); }

/* Compares two lists. Accepts comparisons that hold or fail for all sizes; the result is a list of 0 and 1. */
bool onnx_sizes_equal(OnnxCall *c, OnnxSizes *out)
{
    if (!combined(c, EXPR_SUB, out)) return false;
    out->type = BOOL;
    for (int i = 0; i < out->count; i++) {
        const Interval difference = interval_of(c->cx, out->at[i], NULL);
        if (difference.least <= 0 && difference.greatest >= 0 && difference.least != difference.greatest) return false;
        out->at[i] = expr_index(c->cx, difference.least == 0 && difference.greatest == 0);
    }
    return true;
}

bool onnx_sizes_where(OnnxCall *c, OnnxSizes *out)
{
    OnnxSizes condition, a, b;
    if (!onnx_list(c, 0, &condition) || !onnx_list(c, 1, &a) || !onnx_list(c, 2, &b) || a.count != condition.count
        || b.count != condition.count)
        return false;
    *out = a;
    for (int i = 0; i < a.count; i++) {
        if (condition.at[i]->kind != EXPR_INT) return false;
        out->at[i] = condition.at[i]->integer ? a.at[i] : b.at[i];
    }
    return true;
}

bool onnx_sizes_reduce_prod(OnnxCall *c, OnnxSizes *out)
{
    OnnxSizes x;
    if (!onnx_list(c, 0, &x)) return false;
    *out = (OnnxSizes){
        .count = 1, .rank = onnx_int(c, "keepdims", 1) != 0, .type = x.type, .at = { expr_index(c->cx, 1) }
    };
    for (int i = 0; i < x.count; i++) out->at[0] = simplify(c->cx, expr_mul(c->cx, out->at[0], x.at[i]), NULL);
    return true;
}
