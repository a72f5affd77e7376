/* SPDX-License-Identifier: MIT */
/* Dimensions that stay open. A model input whose dimension has a declared maximum is a tensor of a symbolic size, and what
 * is computed from it has shapes over such sizes. Two things follow:
 *
 *   - an operator must either know nothing of sizes, or only of dimensions that are fixed; the rows below say which ones.
 *     All others are refused by name: then the dimension has to be fixed
 *   - chains of shape arithmetic (Shape, Gather, Concat, ..) are no longer constants but short lists of sizes. They are
 *     computed here, and have to come out as numbers or as the shape of a Reshape, an Expand or a ConstantOfShape */
#include <string.h>

#include "import/onnx_graph.h"
#include "ir/algebra.h"
#include "support/text.h"

enum { MOST_SIZES = 64 };

typedef struct Sizes { int count, rank; const Expr *at[MOST_SIZES]; } Sizes;         /* of a tensor of integers: rank 0 or 1 */

/* ---- Lists of sizes ---------------------------------------------------------------------------------------------- */

static Map *lists(const OnnxCall *c) { return &c->scope->import->sizes; }

static bool is_sizes(const OnnxCall *c, const Tensor *t) { return t && map_get_ptr(lists(c), t); }

/* Of an input that is a list of sizes, or constant integers. */
static bool sizes_of(const OnnxCall *c, int input, Sizes *out)
{
    const Tensor *t = onnx_in(c, input);
    const Sizes *known = t ? map_get_ptr(lists(c), t) : NULL;
    if (known) *out = *known;
    if (known || !t || !tensor_is_constant(t) || !dtype_is_integer(t->type) || t->rank > 1 || tensor_elems(t) > MOST_SIZES) return known != NULL;
    *out = (Sizes){ .count = (int)tensor_elems(t), .rank = t->rank };
    for (int i = 0; i < out->count; i++) {
        int64_t v = dtype_load(t->type, t->data, i).i;
        if (v < -INT32_MAX || v > INT32_MAX) return false;
        out->at[i] = expr_index(c->cx, v);
    }
    return true;
}

/* The result: a constant where all are numbers, else a tensor that stands for the list. */
static void give(OnnxCall *c, const Sizes *s, DType type)
{
    int64_t count = s->count;
    bool is_constant = true;
    for (int i = 0; i < s->count; i++) is_constant = is_constant && s->at[i]->kind == EXPR_INT;
    c->out[0] = is_constant ? tensor_constant(c->cx, c->name, type, s->rank, &count, NULL) : tensor_new_fixed(c->cx, c->name, type, s->rank, &count);
    for (int i = 0; i < s->count && is_constant && c->out[0]; i++)
        dtype_store(type, (void *)(uintptr_t)c->out[0]->data, i, (Scalar){ .i = s->at[i]->integer });
    if (!is_constant) map_put_ptr(lists(c), c->out[0], arena_copy(c->cx->arena, s, sizeof *s));
}

static bool shape_of(OnnxCall *c, Sizes *out)
{
    const Tensor *x = c->in[0];
    int64_t begin = onnx_int(c, "start", 0), end = onnx_int(c, "end", x->rank);
    if (begin < 0) begin += x->rank;
    if (end < 0) end += x->rank;
    *out = (Sizes){ .rank = 1 };
    for (int64_t d = begin < 0 ? 0 : begin; d < end && d < x->rank; d++) out->at[out->count++] = x->shape[d];
    return true;
}

static bool size_of(OnnxCall *c, Sizes *out)
{
    *out = (Sizes){ .count = 1, .at = { expr_index(c->cx, 1) } };
    for (int d = 0; d < c->in[0]->rank; d++) out->at[0] = simplify(c->cx, expr_mul(c->cx, out->at[0], c->in[0]->shape[d]), NULL);
    return true;
}

static bool gathered(OnnxCall *c, Sizes *out)
{
    Sizes x, at;
    if (!sizes_of(c, 0, &x) || !sizes_of(c, 1, &at) || x.rank != 1) return false;
    *out = (Sizes){ .count = at.count, .rank = at.rank };
    for (int i = 0; i < at.count; i++) {
        int64_t k = at.at[i]->kind == EXPR_INT ? at.at[i]->integer : INT32_MAX;
        if (k < 0) k += x.count;
        if (k < 0 || k >= x.count) return false;
        out->at[i] = x.at[k];
    }
    return true;
}

static bool sliced(OnnxCall *c, Sizes *out)
{
    Sizes x;
    int64_t begin, end, axis = 0, step = 1;
    if (!sizes_of(c, 0, &x) || x.rank != 1) return false;
    if (onnx_ints_since(c, 10, "starts", 1, &begin, 1) != 1 || onnx_ints_since(c, 10, "ends", 2, &end, 1) != 1) return false;
    if (onnx_ints_since(c, 10, "axes", 3, &axis, 1) == -2 || (c->opset >= 10 && onnx_ints(c, NULL, 4, &step, 1) == -2) || step != 1) return false;
    if (begin < 0) begin += x.count;
    if (end < 0) end += x.count;
    *out = (Sizes){ .rank = 1 };
    for (int64_t i = begin < 0 ? 0 : begin; i < end && i < x.count; i++) out->at[out->count++] = x.at[i];
    return true;
}

static bool joined(OnnxCall *c, Sizes *out)
{
    *out = (Sizes){ .rank = 1 };
    for (int i = 0; i < c->in_count; i++) {
        Sizes x;
        if (!sizes_of(c, i, &x) || x.rank != 1 || out->count + x.count > MOST_SIZES) return false;
        for (int k = 0; k < x.count; k++) out->at[out->count++] = x.at[k];
    }
    return true;
}

static bool with_rank(OnnxCall *c, Sizes *out, int rank)
{
    if (!sizes_of(c, 0, out) || (rank == 0 && out->count != 1)) return false;
    out->rank = rank;
    return true;
}

static bool as_list(OnnxCall *c, Sizes *out) { return with_rank(c, out, 1); }
static bool as_one(OnnxCall *c, Sizes *out) { return with_rank(c, out, 0); }
static bool as_it_is(OnnxCall *c, Sizes *out) { return sizes_of(c, 0, out); }

static bool cast(OnnxCall *c, Sizes *out)
{
    DType to;
    return onnx_dtype(onnx_int(c, "to", 0), &to) && (to == I32 || to == I64) && sizes_of(c, 0, out);
}

/* Sizes are not negative, so that rounding to zero and to minus infinity are the same where the divisor is positive. */
static bool combined(OnnxCall *c, ExprKind kind, Sizes *out)
{
    Sizes a, b;
    if (!sizes_of(c, 0, &a) || !sizes_of(c, 1, &b) || (a.count != b.count && a.count != 1 && b.count != 1)) return false;
    *out = a.count >= b.count ? a : b;
    out->rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 0; i < out->count; i++) {
        const Expr *x = a.at[a.count > 1 ? i : 0], *y = b.at[b.count > 1 ? i : 0];
        if (kind == EXPR_FLOORDIV && (interval_of(c->cx, x, NULL).least < 0 || interval_of(c->cx, y, NULL).least < 1)) return false;
        out->at[i] = simplify(c->cx, expr_binary(c->cx, kind, x, y), NULL);
    }
    return true;
}

static bool sum(OnnxCall *c, Sizes *out) { return combined(c, EXPR_ADD, out); }
static bool difference(OnnxCall *c, Sizes *out) { return combined(c, EXPR_SUB, out); }
static bool product(OnnxCall *c, Sizes *out) { return combined(c, EXPR_MUL, out); }
static bool quotient(OnnxCall *c, Sizes *out) { return combined(c, EXPR_FLOORDIV, out); }

typedef struct Arithmetic { const char *op; bool (*list)(OnnxCall *c, Sizes *out); } Arithmetic;
static const Arithmetic arithmetic[] = {
    { "Shape", shape_of }, { "Size", size_of }, { "Gather", gathered }, { "Slice", sliced }, { "Concat", joined }, { "Unsqueeze", as_list },
    { "Reshape", as_list }, { "Squeeze", as_one }, { "Identity", as_it_is }, { "Cast", cast }, { "Add", sum }, { "Sub", difference },
    { "Mul", product }, { "Div", quotient },
};

/* ---- Operators over tensors that have open dimensions ------------------------------------------------------------ */

/* Which dimensions of the inputs may be open. */
typedef enum May { MAY_ALL, MAY_FIRST, MAY_OTHERS /* than the attribute axis */, MAY_IMAGE /* all but the channels, the second */,
                   MAY_SEQUENCE /* of three all but the last */ } May;
typedef struct Keeper { const char *op; May may; int axis; /* by default */ } Keeper;
static const Keeper keepers[] = {
    { "AveragePool", MAY_IMAGE, 0 }, { "BatchNormalization", MAY_IMAGE, 0 }, { "Cast", MAY_ALL, 0 }, { "Clip", MAY_ALL, 0 }, { "Concat", MAY_OTHERS, 0 },
    { "Conv", MAY_IMAGE, 0 }, { "DequantizeLinear", MAY_ALL, 0 }, { "Dropout", MAY_ALL, 0 }, { "Flatten", MAY_ALL, 0 }, { "Gather", MAY_OTHERS, 0 },
    { "GRU", MAY_SEQUENCE, 0 }, { "Gelu", MAY_ALL, 0 }, { "Gemm", MAY_ALL, 0 }, { "GlobalAveragePool", MAY_IMAGE, 0 }, { "GlobalMaxPool", MAY_IMAGE, 0 }, { "Identity", MAY_ALL, 0 },
    { "LayerNormalization", MAY_OTHERS, -1 }, { "LSTM", MAY_SEQUENCE, 0 }, { "LogSoftmax", MAY_ALL, 0 }, { "MatMul", MAY_ALL, 0 }, { "MaxPool", MAY_IMAGE, 0 }, { "Mean", MAY_ALL, 0 },
    { "Pow", MAY_ALL, 0 }, { "PRelu", MAY_FIRST, 0 }, { "QuantizeLinear", MAY_ALL, 0 }, { "RNN", MAY_SEQUENCE, 0 }, { "ReduceMax", MAY_ALL, 0 }, { "ReduceMean", MAY_ALL, 0 },
    { "ReduceMin", MAY_ALL, 0 }, { "ReduceSum", MAY_ALL, 0 }, { "Reshape", MAY_ALL, 0 }, { "Slice", MAY_ALL, 0 }, { "Softmax", MAY_ALL, 0 },
    { "Split", MAY_OTHERS, 0 }, { "Squeeze", MAY_ALL, 0 }, { "Sum", MAY_ALL, 0 }, { "Max", MAY_ALL, 0 }, { "Min", MAY_ALL, 0 }, { "Transpose", MAY_ALL, 0 },
    { "Unsqueeze", MAY_ALL, 0 },
};

static bool may_be_open(const OnnxCall *c, const Keeper *k, const Tensor *x, int d)
{
    int64_t axis = onnx_int(c, "axis", k->axis);
    if (axis < 0) axis += x->rank;
    switch (k->may) {
    case MAY_ALL:      return true;
    case MAY_FIRST:    return d == 0;
    case MAY_OTHERS:   return d != axis;
    case MAY_IMAGE:    return d != 1;
    case MAY_SEQUENCE: return d < 2;
    }
    return false;
}

/* The open dimension that the operator cannot keep; NULL: there is none. What is a call of one of ours by elements knows no sizes. */
static const Expr *not_kept(const OnnxCall *c, const OnnxOp *op)
{
    const Keeper *k = NULL;
    const Op *ours = op->op ? op_find(c->cx, op->op) : NULL;
    for (size_t i = 0; i < sizeof keepers / sizeof keepers[0]; i++)
        if (strcmp(keepers[i].op, op->name) == 0) k = &keepers[i];
    if (!k && ours && ours->pattern <= PATTERN_BROADCAST) return NULL;
    for (int i = 0; i < c->in_count; i++)
        for (int d = 0; c->in[i] && d < c->in[i]->rank; d++)
            if (c->in[i]->shape[d]->kind != EXPR_INT && !(k && may_be_open(c, k, c->in[i], d))) return c->in[i]->shape[d];
    return NULL;
}

static void find_size(const Expr *e, void *user)
{
    const Var *v = expr_as_var(e);
    if (v && v->role == VAR_SIZE) *(const Var **)user = v;
}

static void refuse(OnnxCall *c, const Expr *open)
{
    const Var *v = NULL;
    expr_walk(c->cx, open, find_size, &v);
    onnx_unsupported(c, "the dimension \"%s\" cannot stay open here; fix it, as in --dim %s=%lld", v ? v->name : "?", v ? v->name : "?", v ? (long long)v->greatest : 1LL);
}

/* A shape of sizes: each is a number, or x's at the same place, or one is what is left. */
static void reshape(OnnxCall *c, const Sizes *shape)
{
    const Tensor *x = c->in[0];
    Text attr = text_new(c->cx);
    int others = 0;
    for (int i = 0; i < shape->count; i++) {
        bool is_same = i < x->rank && shape->at[i] == x->shape[i], is_number = shape->at[i]->kind == EXPR_INT;
        others += !is_number && !is_same;
        text_printf(&attr, "%s%lld", i ? "," : "", is_number ? (long long)shape->at[i]->integer : is_same ? 0LL : -1LL);
    }
    c->out[0] = others > 1 ? NULL : onnx_call(c, "reshape", c->in[0], "shape=%s", text_string(&attr));
    for (int i = 0; i < shape->count && !ctx_failed(c->cx); i++) {
        bool is_open = shape->at[i]->kind != EXPR_INT;
        if (is_open && (others > 1 || !provably_equal(c->cx, c->out[0]->shape[i], shape->at[i], NULL))) refuse(c, shape->at[i]);
    }
}

/* ---- Tensors whose shape is a list of sizes ------------------------------------------------------------------------ */

static Tensor *expanded(OnnxCall *c, Tensor *x, const Sizes *shape)
{
    if (!x || shape->count > MAX_RANK) return NULL;
    const Attr like = { .name = "like", .kind = ATTR_TENSOR, .tensor = tensor_new(c->cx, c->name, x->type, shape->count, shape->at) };
    Node *n = op_call(c->cx, op_find(c->cx, "expand"), c->name, &x, 1, &like, 1);
    return n ? n->out[0] : NULL;
}

static bool expand(OnnxCall *c, Sizes *shape)
{
    Tensor *x = onnx_in(c, 0);
    if (!x || is_sizes(c, x) || !sizes_of(c, 1, shape)) return false;
    c->out[0] = expanded(c, x, shape);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

static bool constant_of_shape(OnnxCall *c, Sizes *shape)
{
    const OnnxAttr *a = onnx_attr(c, "value");
    Tensor *value = a && a->tensor ? onnx_tensor_read(c->cx, a->tensor, c->folder) : tensor_scalar(c->cx, "zero", F32, 0);
    if (!value || tensor_elems(value) != 1 || !sizes_of(c, 0, shape)) return false;
    c->out[0] = expanded(c, value, shape);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

static const Arithmetic makers[] = { { "ConstantOfShape", constant_of_shape }, { "Expand", expand } };

bool onnx_keeps_open(OnnxCall *c, const OnnxOp *op)
{
    bool has_sizes = false, has_open = false;
    const Expr *size = NULL;
    for (int i = 0; i < c->in_count; i++) {
        has_open = has_open || (c->in[i] && !tensor_is_fixed(c->in[i]));
        has_sizes = has_sizes || is_sizes(c, c->in[i]);
        const Sizes *s = c->in[i] ? map_get_ptr(lists(c), c->in[i]) : NULL;
        for (int k = 0; s && k < s->count; k++) size = s->at[k]->kind != EXPR_INT ? s->at[k] : size;
    }
    if (!has_sizes && !has_open) return false;
    Sizes list;
    if (strcmp(op->name, "Reshape") == 0 && !is_sizes(c, onnx_in(c, 0)) && is_sizes(c, onnx_in(c, 1)) && sizes_of(c, 1, &list)) {
        reshape(c, &list);
        return true;
    }
    bool is_shape = strcmp(op->name, "Shape") == 0 || strcmp(op->name, "Size") == 0;
    for (size_t i = 0; (has_sizes || is_shape) && i < sizeof arithmetic / sizeof arithmetic[0]; i++)
        if (strcmp(arithmetic[i].op, op->name) == 0 && arithmetic[i].list(c, &list)) {
            DType type = is_shape || c->in[0]->type != I32 ? I64 : I32;
            if (strcmp(op->name, "Cast") == 0) onnx_dtype(onnx_int(c, "to", 0), &type);
            give(c, &list, type);
            return true;
        }
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if ((has_sizes || strcmp(op->name, "Expand") == 0) && strcmp(makers[i].op, op->name) == 0 && makers[i].list(c, &list)) return true;
    const Expr *open = has_sizes ? size : not_kept(c, op);
    if (open && !ctx_failed(c->cx)) refuse(c, open);
    return open != NULL;
}
