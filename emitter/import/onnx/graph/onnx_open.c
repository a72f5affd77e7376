/* SPDX-License-Identifier: MIT */
/* Handles open dimensions. A model input with a maximum size for a dimension becomes a tensor of symbolic size, and
 * tensors computed from it have shapes over such sizes. Two rules follow:
 *
 *   - an operator must be independent of sizes, or depend on fixed dimensions only: its row declares which dimensions
 *     may stay open (OnnxOp.open). Any other operator is refused by name; the user then fixes the dimension
 *   - chains of shape arithmetic (Shape, Gather, Concat, ..) are no longer constants but short lists of sizes,
 *     evaluated symbolically here. Translations read a list as a shape, an end or an element count (onnx_sizes); for
 *     any other consumer, a tensor computes the list at run time */

/* Decision: an open dimension is a variable in every shape. `--dim 'n<=16'` creates a `VAR_SIZE` in the importer.
 * Formulas, proofs and emitted loops support such sizes in any case, because `.te` files have them.
 *
 *   - A row of the ONNX importer states which dimensions its operator keeps open; other operators are refused by
 *     name. `import/onnx/graph/onnx_open.c` applies these facts and evaluates chains of Shape, Gather and Concat as
 *     lists of sizes.
 *   - A translation that requires a shape, an end or a count calls `onnx_sizes` and passes the result on as the
 *     shape of an attribute tensor (`like`). Other arithmetic receives sizes as values (`extent` and `ramp`,
 *     `ops/move/sizes.c`).
 *   - A view compares products of sizes; a symbolic size counts as a prime (`ops/move/shape.c`). Resizing by a ratio
 *     of sizes computes positions as integer quotients (`interpolate`).
 *   - The memory plan takes sizes at their maximum, and plans no slices of tensors with such shapes.
 *   - `verify` compares with the model compiled for fixed sizes. `tests/open.py` has a row per operator and kind of
 *     dimension, compared with onnxruntime; SUPPORT.md's table follows from it. */
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_sizes.h"
#include "ir/algebra/algebra.h"

/* ---- Operators over tensors with open dimensions ----------------------------------------------------------------- */

static bool may_be_open(const OnnxCall *c, OnnxKeeps keeps, const Tensor *x, int d)
{
    int64_t axis = onnx_int(c, "axis", 0);
    if (axis < 0) axis += x->rank;
    switch (keeps) {
    case KEEPS_NONE:     return false;
    case KEEPS_ALL:      return true;
    case KEEPS_OTHERS:   return d != axis || size_is_decided(c->cx, x->shape[d]);
    case KEEPS_IMAGE:    return d != 1;
    case KEEPS_SEQUENCE: return d < 2;
    }
    return false;
}

static bool is_elementwise(Ctx *cx, const OnnxOp *op)
{
    const Op *row = op->op ? op_find(cx, op->op) : NULL;
    return row && row->fusion.pattern <= PATTERN_BROADCAST;
}

/* Returns an open dimension that the operator requires to be fixed, or NULL if there is none. */
static const Expr *unsupported_size(const OnnxCall *c, const OnnxOp *op)
{
    if (op->open.keeps == KEEPS_NONE && is_elementwise(c->cx, op)) return NULL;
    for (int i = 0; i < c->in_count; i++)
        for (int d = 0; c->in[i] && d < c->in[i]->rank; d++) {
            const Expr *size = c->in[i]->shape[d];
            if (size->kind != EXPR_INT && !may_be_open(c, op->open.keeps, c->in[i], d)) return size;
        }
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
    if (v && v->is_decided)
        onnx_unsupported(c, "data decide a size that it reads, %s; use a size that is known at compile time", v->what);
    else
        onnx_unsupported(c, "the dimension \"%s\" cannot stay open here; fix it, as in --dim %s=%lld",
                         v ? v->name : "?", v ? v->name : "?", v ? (long long)v->greatest : 1LL);
}

/* ---- Translations over sizes ------------------------------------------------------------------------------------- */

/* Reshapes to a list of sizes: 0 copies the size of x's dimension at that index, -1 is inferred. */
bool onnx_open_reshape(OnnxCall *c)
{
    const Tensor *x = onnx_in(c, 0);
    OnnxSizes shape;
    if (!x || onnx_is_list(c, x) || !onnx_is_list(c, onnx_in(c, 1)) || !onnx_list(c, 1, &shape)) return false;
    if (shape.count > MAX_RANK)
        onnx_unsupported(c, "the shape has %d dimensions; use at most %d dimensions", shape.count, MAX_RANK);
    for (int i = 0; i < shape.count && i < x->rank; i++)
        if (expr_is_int(shape.at[i], 0)) shape.at[i] = x->shape[i];
    if (onnx_reshape_by_value(c)) return true;
    if (!ctx_failed(c->cx)) c->out[0] = onnx_view(c, c->in[0], shape.at, shape.count);
    for (int i = 0; i < shape.count && !ctx_failed(c->cx); i++)
        if (shape.at[i]->kind != EXPR_INT && !provably_equal(c->cx, c->out[0]->shape[i], shape.at[i], NULL))
            refuse(c, shape.at[i]);
    return true;
}

bool onnx_open_expand(OnnxCall *c)
{
    OnnxSizes shape;
    Tensor *x = onnx_in(c, 0);
    if (!x || onnx_is_list(c, x) || !onnx_list(c, 1, &shape)) return false;
    const int rank = shape.count > x->rank ? shape.count : x->rank;
    for (int d = 0; d < x->rank; d++) {
        const int at = d + shape.count - x->rank;
        const Expr *asked = at >= 0 && at < shape.count ? shape.at[at] : NULL;
        if (!asked || (!size_is_decided(c->cx, x->shape[d]) && !size_is_decided(c->cx, asked))) continue;
        shape.at[at] = onnx_broadcast_size(c, d + rank - x->rank, x->shape[d], asked);
        x = onnx_broadcast_to(c, x, d, shape.at[at]);
        if (!x) return true;
    }
    c->out[0] = onnx_expand(c, x, shape.at, shape.count);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

bool onnx_open_constant_of_shape(OnnxCall *c)
{
    OnnxSizes shape;
    const OnnxAttr *a = onnx_attr(c, "value");
    if (!onnx_list(c, 0, &shape)) return false;
    Tensor *value = a && a->tensor ? onnx_tensor_read(c->cx, a->tensor, c->folder)
                                   : tensor_scalar(c->cx, "zero", F32, 0);
    if (!value || tensor_elems(value) != 1) return false;
    c->out[0] = onnx_expand(c, value, shape.at, shape.count);
    return c->out[0] != NULL || ctx_failed(c->cx);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* Returns true if the operator accepts lists of sizes as inputs. `size` is an element of these lists that is not
 * constant, or NULL. If the operator computes with the elements, replaces each list by a tensor that computes it. */
static bool accepts_lists(OnnxCall *c, const OnnxOp *op, const Expr *size)
{
    if (op->open.lists == LISTS_READ) c->in[0] = onnx_materialize_sizes(c->scope->import, c->in[0]);      /* data */
    if (op->open.lists == LISTS_READ || op->open.lists == LISTS_ORDERED) return true;
    if (op->open.lists == LISTS_REFUSED && !is_elementwise(c->cx, op) && !size_is_decided(c->cx, size)) return false;
    for (int i = 0; i < c->in_count; i++) c->in[i] = onnx_materialize_sizes(c->scope->import, c->in[i]);
    return true;
}

/* Makes input 0 depend on the sizes that the other inputs list, so that it is computed after them. */
static void order_after_lists(OnnxCall *c)
{
    OnnxSizes s;
    for (int i = 1; i < c->in_count; i++)
        if (c->in[0] && !onnx_is_list(c, c->in[0]) && onnx_is_list(c, c->in[i]) && onnx_list(c, i, &s))
            c->in[0] = onnx_after(c, c->in[0], s.at, s.count);
}

static const Expr *size_from_last(const Tensor *x, int from_last)
{
    const int d = x ? x->rank - 1 - from_last : -1;
    return d >= 0 ? x->shape[d] : NULL;
}

/* Broadcasts inputs that are combined element by element, along a dimension in which the run decides one of their
 * sizes. */
static void broadcast_sizes(OnnxCall *c, int from_last)
{
    const Expr *common = NULL;
    bool any = false;
    int rank = 0;
    for (int i = 0; i < c->in_count; i++) {
        const Expr *size = size_from_last(c->in[i], from_last);
        any = any || (size && size_is_decided(c->cx, size));
        rank = c->in[i] && c->in[i]->rank > rank ? c->in[i]->rank : rank;
    }
    for (int i = 0; i < c->in_count && any && !ctx_failed(c->cx); i++)
        common = onnx_broadcast_size(c, rank - 1 - from_last, common, size_from_last(c->in[i], from_last));
    for (int i = 0; i < c->in_count && any && !ctx_failed(c->cx); i++)
        if (size_from_last(c->in[i], from_last))
            c->in[i] = onnx_broadcast_to(c, c->in[i], c->in[i]->rank - 1 - from_last, common);
}

bool onnx_translate_open(OnnxCall *c, const OnnxOp *op)
{
    bool has_list = false, has_open = false;
    const Expr *size = NULL;
    for (int i = 0; i < c->in_count; i++) {
        OnnxSizes s;
        has_open = has_open || (c->in[i] && !tensor_is_fixed(c->in[i]));
        if (!onnx_is_list(c, c->in[i]) || !onnx_list(c, i, &s)) continue;
        has_list = true;
        for (int k = 0; k < s.count; k++) size = s.at[k]->kind != EXPR_INT ? s.at[k] : size;
    }
    if (!has_list && !has_open) return false;
    if (op->open.lists == LISTS_READ) order_after_lists(c);
    if (op->open.translate && op->open.translate(c)) return true;
    OnnxListRule *rule = op->open.on_shape ? op->open.on_shape : has_list ? op->open.on_lists : NULL;
    OnnxSizes list;
    if (rule && rule(c, &list)) {
        onnx_set_list(c, &list);
        return true;
    }
    const Expr *open = has_list && !accepts_lists(c, op, size) ? size : unsupported_size(c, op);
    const bool broadcasts = !open && is_elementwise(c->cx, op);
    for (int d = 0; d < MAX_RANK && broadcasts && !ctx_failed(c->cx); d++) broadcast_sizes(c, d);
    if (open && !ctx_failed(c->cx)) refuse(c, open);
    return open != NULL;
}
