/* SPDX-License-Identifier: MIT */
/* Dimensions that stay open. A model input whose dimension has a declared maximum is a tensor of a symbolic size, and what
 * is computed from it has shapes over such sizes. Two things follow:
 *
 *   - an operator must either know nothing of sizes, or only of dimensions that are fixed; the rows below say which ones.
 *     All others are refused by name: then the dimension has to be fixed
 *   - chains of shape arithmetic (Shape, Gather, Concat, ..) are no longer constants but short lists of sizes. They are
 *     computed here. Translations ask for them where they want a shape, an end or a number of elements (onnx_sizes); what
 *     calculates with them otherwise gets a tensor that is made of them when the program runs */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "ir/algebra/algebra.h"
#include "support/text.h"

enum { MOST_SIZES = 64 };

typedef struct Sizes { int count, rank; const Expr *at[MOST_SIZES]; } Sizes;         /* of a tensor of integers: rank 0 or 1 */

/* ---- Lists of sizes ---------------------------------------------------------------------------------------------- */

static Map *lists(const OnnxCall *c) { return &c->scope->import->sizes; }

static bool is_sizes(const OnnxCall *c, const Tensor *t) { return t && map_get_ptr(lists(c), t); }

/* Of an input that is a list of sizes, or constant whole numbers. */
static bool sizes_of(const OnnxCall *c, int input, Sizes *out)
{
    const Tensor *t = onnx_in(c, input);
    const Sizes *known = t ? map_get_ptr(lists(c), t) : NULL;
    if (known) *out = *known;
    if (known || !t || !tensor_is_constant(t) || t->rank > 1 || tensor_elems(t) > MOST_SIZES) return known != NULL;
    *out = (Sizes){ .count = (int)tensor_elems(t), .rank = t->rank };
    for (int i = 0; i < out->count; i++) {
        const Scalar v = dtype_load(t->type, t->data, i);
        const double real = dtype_is_float(t->type) ? v.f : (double)v.i;
        const bool is_near = real >= -INT32_MAX && real <= INT32_MAX;
        if (dtype_is_float(t->type) && (!is_near || real != (double)(int64_t)real)) return false;
        out->at[i] = expr_index(c->cx, is_near ? (int64_t)real : real < 0 ? -INT32_MAX : INT32_MAX);
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
        dtype_store(type, (void *)(uintptr_t)c->out[0]->data, i, dtype_is_float(type) ? (Scalar){ .f = (double)s->at[i]->integer } : (Scalar){ .i = s->at[i]->integer });
    if (!is_constant) map_put_ptr(lists(c), c->out[0], arena_copy(c->cx->arena, s, sizeof *s));
}

/* A list as a tensor that the program makes: each size by itself, side by side. */
static Tensor *made_of_sizes(Ctx *cx, const Tensor *t, const Sizes *s)
{
    Tensor **part = NEW_ARRAY(cx->arena, Tensor *, s->count + 1), *zero = tensor_scalar(cx, t->name, t->type, 0);
    for (int i = 0; i < s->count; i++) {
        const Attr like = { .name = "like", .kind = ATTR_TENSOR, .tensor = tensor_new(cx, t->name, t->type, 1, &s->at[i]) };
        Node *n = s->at[i]->kind == EXPR_INT || !zero ? NULL : op_call(cx, op_find(cx, "extent"), t->name, &zero, 1, &like, 1);
        part[i] = n ? n->out[0] : tensor_scalar(cx, t->name, t->type, (double)s->at[i]->integer);
        if (s->rank) part[i] = call_on(cx, "unsqueeze", t->name, part[i], "axes=0");
    }
    if (ctx_failed(cx)) return NULL;
    return s->count > 1 ? call(cx, "concat", t->name, part, s->count, "axis=0") : part[0];
}

Tensor *onnx_made_of_sizes(OnnxImport *im, Tensor *t)
{
    const Sizes *s = t ? map_get_ptr(&im->sizes, t) : NULL;
    Tensor *made = s ? map_get_ptr(&im->sizes_made, t) : t;
    if (!made && s) map_put_ptr(&im->sizes_made, t, made = made_of_sizes(im->cx, t, s));
    return made;
}

int onnx_sizes(OnnxCall *c, int input, const Expr **out, int most)
{
    Sizes s;
    if (!onnx_in(c, input)) return -1;
    if (!sizes_of(c, input, &s)) {
        onnx_unsupported(c, "input %d (\"%s\") is not constant; a list of integers known when compiling, or of sizes, is accepted", input, c->in[input]->name);
        return -2;
    }
    if (s.count > most) onnx_refuse(c, "there are %d values in %s; at most %d are accepted", s.count, c->in[input]->name, most);
    for (int i = 0; i < s.count && i < most; i++) out[i] = s.at[i];
    return s.count > most ? -2 : s.count;
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
    return onnx_dtype(onnx_int(c, "to", 0), &to) && (to == I32 || to == I64 || to == F32 || to == F64) && sizes_of(c, 0, out);
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
static bool quotient(OnnxCall *c, Sizes *out) { return !dtype_is_float(c->in[0]->type) && combined(c, EXPR_FLOORDIV, out); }
static bool remainder_of(OnnxCall *c, Sizes *out)
{
    Sizes b;
    if (!sizes_of(c, 1, &b) || !combined(c, EXPR_FLOORMOD, out)) return false;
    for (int i = 0; i < b.count; i++)
        if (interval_of(c->cx, b.at[i], NULL).least < 1) return false;
    return true;
}
static bool lesser(OnnxCall *c, Sizes *out) { return c->in_count == 2 && combined(c, EXPR_MIN, out); }
static bool greater(OnnxCall *c, Sizes *out) { return c->in_count == 2 && combined(c, EXPR_MAX, out); }

/* What is decided for all sizes: a list of 0 and 1. */
static bool equal(OnnxCall *c, Sizes *out)
{
    if (!combined(c, EXPR_SUB, out)) return false;
    for (int i = 0; i < out->count; i++) {
        const Interval apart = interval_of(c->cx, out->at[i], NULL);
        if (apart.least <= 0 && apart.greatest >= 0 && apart.least != apart.greatest) return false;
        out->at[i] = expr_index(c->cx, apart.least == 0 && apart.greatest == 0);
    }
    return true;
}

static bool chosen(OnnxCall *c, Sizes *out)
{
    Sizes condition, a, b;
    if (!sizes_of(c, 0, &condition) || !sizes_of(c, 1, &a) || !sizes_of(c, 2, &b) || a.count != condition.count || b.count != condition.count) return false;
    *out = a;
    for (int i = 0; i < a.count; i++) {
        if (condition.at[i]->kind != EXPR_INT) return false;
        out->at[i] = condition.at[i]->integer ? a.at[i] : b.at[i];
    }
    return true;
}

static bool multiplied(OnnxCall *c, Sizes *out)
{
    Sizes x;
    if (!sizes_of(c, 0, &x)) return false;
    *out = (Sizes){ .count = 1, .rank = onnx_int(c, "keepdims", 1) != 0, .at = { expr_index(c->cx, 1) } };
    for (int i = 0; i < x.count; i++) out->at[0] = simplify(c->cx, expr_mul(c->cx, out->at[0], x.at[i]), NULL);
    return true;
}

typedef struct Arithmetic { const char *op; bool (*list)(OnnxCall *c, Sizes *out); } Arithmetic;
static const Arithmetic arithmetic[] = {
    { "Shape", shape_of }, { "Size", size_of }, { "Gather", gathered }, { "Slice", sliced }, { "Concat", joined }, { "Unsqueeze", as_list },
    { "Reshape", as_list }, { "Squeeze", as_one }, { "Identity", as_it_is }, { "Cast", cast }, { "Add", sum }, { "Sub", difference },
    { "Mul", product }, { "Div", quotient }, { "Mod", remainder_of }, { "Min", lesser }, { "Max", greater }, { "Equal", equal }, { "Where", chosen },
    { "ReduceProd", multiplied }, { "Floor", as_it_is }, { "Ceil", as_it_is },
};

/* ---- Operators over tensors that have open dimensions ------------------------------------------------------------ */

/* Which dimensions of the inputs may be open; all others of ONNX's operators keep none, but for those that are one of ours by elements. */
typedef enum May { MAY_ALL, MAY_OTHERS /* than the attribute axis */, MAY_IMAGE /* all but the channels, the second */,
                   MAY_SEQUENCE /* of three all but the last */, MAY_COUNT } May;
static const char *const keepers[MAY_COUNT] = {
    [MAY_ALL] = "ArgMax ArgMin Attention BitCast Cast Clip Compress Concat CumProd CumSum DequantizeLinear Dropout DynamicQuantizeLinear Einsum Expand Flatten Gather "
                "GatherElements GatherND Gelu Gemm GlobalLpPool GridSample GroupNormalization Hardmax Identity InstanceNormalization LRN LayerNormalization LogSoftmax LpNormalization "
                "MatMul MatMulInteger Max Mean MeanVarianceNormalization Min Mod NegativeLogLikelihoodLoss OneHot PRelu Pad Pow QuantizeLinear RMSNormalization Range ReduceL1 ReduceL2 "
                "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Reshape Resize ReverseSequence RotaryEmbedding Shrink "
                "Slice Softmax SoftmaxCrossEntropyLoss Squeeze Sum SwiGLU Tile TopK Transpose Trilu Unsqueeze Upsample",
    [MAY_OTHERS] = "Split",
    [MAY_IMAGE] = "AveragePool BatchNormalization Conv ConvTranspose DepthToSpace GlobalAveragePool GlobalMaxPool LpPool MaxPool SpaceToDepth",
    [MAY_SEQUENCE] = "GRU LSTM RNN",
};

static bool may_be_open(const OnnxCall *c, May may, const Tensor *x, int d)
{
    int64_t axis = onnx_int(c, "axis", 0);
    if (axis < 0) axis += x->rank;
    switch (may) {
    case MAY_ALL:      return true;
    case MAY_OTHERS:   return d != axis;
    case MAY_IMAGE:    return d != 1;
    case MAY_SEQUENCE: return d < 2;
    case MAY_COUNT:    break;
    }
    return false;
}

/* The open dimension that the operator cannot keep; NULL: there is none. What is a call of one of ours by elements knows no sizes. */
static const Expr *not_kept(const OnnxCall *c, const OnnxOp *op)
{
    const Op *ours = op->op ? op_find(c->cx, op->op) : NULL;
    int may = 0;
    while (may < MAY_COUNT && !text_has_word(keepers[may], op->name)) may++;
    if (may == MAY_COUNT && ours && ours->fusion.pattern <= PATTERN_BROADCAST) return NULL;
    for (int i = 0; i < c->in_count; i++)
        for (int d = 0; c->in[i] && d < c->in[i]->rank; d++)
            if (c->in[i]->shape[d]->kind != EXPR_INT && !may_be_open(c, (May)may, c->in[i], d)) return c->in[i]->shape[d];
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

/* A shape of sizes, where 0 is x's at the same place and -1 what is left. */
static void reshape(OnnxCall *c, Sizes *shape)
{
    const Tensor *x = c->in[0];
    if (shape->count > MAX_RANK) onnx_unsupported(c, "a shape of %d dimensions; at most %d are accepted", shape->count, MAX_RANK);
    for (int i = 0; i < shape->count && i < x->rank; i++)
        if (expr_is_int(shape->at[i], 0)) shape->at[i] = x->shape[i];
    if (!ctx_failed(c->cx)) c->out[0] = onnx_view(c, c->in[0], shape->at, shape->count);
    for (int i = 0; i < shape->count && !ctx_failed(c->cx); i++)
        if (shape->at[i]->kind != EXPR_INT && !provably_equal(c->cx, c->out[0]->shape[i], shape->at[i], NULL)) refuse(c, shape->at[i]);
}

/* ---- Tensors whose shape is a list of sizes ------------------------------------------------------------------------ */

Tensor *onnx_expand(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank)
{
    if (!x || rank > MAX_RANK) return NULL;
    const Attr like = { .name = "like", .kind = ATTR_TENSOR, .tensor = tensor_new(c->cx, c->name, x->type, rank, shape) };
    Node *n = op_call(c->cx, op_find(c->cx, "expand"), c->name, &x, 1, &like, 1);
    return n ? n->out[0] : NULL;
}

static bool expand(OnnxCall *c, Sizes *shape)
{
    Tensor *x = onnx_in(c, 0);
    if (!x || is_sizes(c, x) || !sizes_of(c, 1, shape)) return false;
    c->out[0] = onnx_expand(c, x, shape->at, shape->count);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

static bool constant_of_shape(OnnxCall *c, Sizes *shape)
{
    const OnnxAttr *a = onnx_attr(c, "value");
    Tensor *value = a && a->tensor ? onnx_tensor_read(c->cx, a->tensor, c->folder) : tensor_scalar(c->cx, "zero", F32, 0);
    if (!value || tensor_elems(value) != 1 || !sizes_of(c, 0, shape)) return false;
    c->out[0] = onnx_expand(c, value, shape->at, shape->count);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

/* Operators whose translation asks for sizes; and those that calculate with them when the program runs, which all by elements do. */
static const char askers[] = "Range Resize Slice Tile", readers[] = "Cast Concat Gather Loop Max Mean Min Mod Pow ReduceMax ReduceMean ReduceMin ReduceSum Reshape Squeeze Sum Unsqueeze";

static bool takes_sizes(OnnxCall *c, const OnnxOp *op)
{
    const Op *ours = op->op ? op_find(c->cx, op->op) : NULL;
    if (text_has_word(askers, op->name)) return true;
    if (!text_has_word(readers, op->name) && (!ours || ours->fusion.pattern > PATTERN_BROADCAST)) return false;
    for (int i = 0; i < c->in_count; i++) c->in[i] = onnx_made_of_sizes(c->scope->import, c->in[i]);
    return true;
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
    const bool is_shape = strcmp(op->name, "Shape") == 0 || strcmp(op->name, "Size") == 0;
    for (size_t i = 0; (has_sizes || is_shape) && i < sizeof arithmetic / sizeof arithmetic[0]; i++)
        if (strcmp(arithmetic[i].op, op->name) == 0 && arithmetic[i].list(c, &list)) {
            DType type = is_shape ? I64 : strcmp(op->name, "Equal") == 0 ? BOOL : c->in[strcmp(op->name, "Where") == 0 ? 1 : 0]->type;
            if (strcmp(op->name, "Cast") == 0) onnx_dtype(onnx_int(c, "to", 0), &type);
            give(c, &list, type);
            return true;
        }
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if ((has_sizes || strcmp(op->name, "Expand") == 0) && strcmp(makers[i].op, op->name) == 0 && makers[i].list(c, &list)) return true;
    const Expr *open = has_sizes && !takes_sizes(c, op) ? size : not_kept(c, op);
    if (open && !ctx_failed(c->cx)) refuse(c, open);
    return open != NULL;
}
