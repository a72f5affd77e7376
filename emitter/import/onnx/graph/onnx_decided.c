/* SPDX-License-Identifier: MIT */
/* Determines the maxima of sizes that the run decides, from the user, the file, or the operator. */
#include "import/onnx/graph/onnx_graph.h"

#include <string.h>

#include "import/model/model.h"
#include "ir/algebra/algebra.h"
#include "support/text.h"

/* Returns the file's declaration of a value, or NULL. */
static const OnnxValue *declaration(const OnnxGraph *g, const char *value_name)
{
    for (int i = 0; i < g->output_count; i++)
        if (text_equal(g->output[i].name, value_name)) return &g->output[i];
    for (int i = 0; i < g->value_count; i++)
        if (text_equal(g->value[i].name, value_name)) return &g->value[i];
    return NULL;
}

int onnx_declared_rank(const OnnxCall *c, int output)
{
    const OnnxValue *v = output < c->node->out_count ? declaration(c->scope->graph, c->node->out[output]) : NULL;
    return v && v->is_tensor && v->has_shape ? v->rank : -1;
}

/* Returns the --dim option of this name and marks it as used, or returns NULL. */
static const ImportDim *option(const OnnxCall *c, const char *dim_name)
{
    const ImportOptions *o = c->scope->import->options;
    for (int i = 0; i < o->dim_count; i++) {
        if (!text_equal(o->dim[i].name, dim_name)) continue;
        if (o->is_dim_used) o->is_dim_used[i] = true;
        return &o->dim[i];
    }
    return NULL;
}

/* Returns the maximum of a dimension of a value: by --dim or as the file declares it, or -1 if neither states one. */
static int64_t stated_maximum(OnnxCall *c, const char *value_name, int axis)
{
    const OnnxValue *v = declaration(c->scope->graph, value_name);
    const bool has_dim = v && v->is_tensor && v->has_shape && axis < v->rank;
    const char *symbol = has_dim && v->dim[axis].symbol ? v->dim[axis].symbol : "";
    const int64_t declared = has_dim ? v->dim[axis].size : -1;
    const ImportDim *given = option(c, text_format(c->cx, "%s.%d", value_name, axis));
    if (!given && *symbol) given = option(c, symbol);
    if (given && !given->is_maximum)
        onnx_refuse(c, "--dim %s=%lld fixes a size that data decide; use a maximum, --dim '%s<=%lld'",
                    given->name, (long long)given->value, given->name, (long long)given->value);
    return given ? given->value : declared;
}

/* Returns true if the node's result has the sizes of input 0, except that sizes of 1 may be broadcast. */
static bool keeps_sizes(OnnxCall *c, const OnnxNode *n, const char *value_name)
{
    if (n->out_count != 1 || n->in_count < 1 || !text_equal(n->in[0], value_name)) return false;
    const OnnxOp *row = *n->domain ? NULL : onnx_op_find(c->cx, c->rows, n->type);
    const Op *op = row && row->op ? op_find(c->cx, row->op) : NULL;
    return op ? op->fusion.pattern <= PATTERN_BROADCAST : text_equal(n->type, "Expand")
                                                          || text_equal(n->type, "Identity");
}

/* Returns the stated maximum of a result that is computed from the value by operators that keep sizes. */
static int64_t stated_for_readers(OnnxCall *c, const char *value_name, int axis, int depth)
{
    const OnnxGraph *g = c->scope->graph;
    int64_t most = stated_maximum(c, value_name, axis);
    for (int i = 0; most < 0 && depth > 0 && *value_name && i < g->node_count; i++)
        if (keeps_sizes(c, &g->node[i], value_name)) {
            most = stated_for_readers(c, g->node[i].out[0], axis, depth - 1);
            most = most == 0 ? 1 : most;
        }
    return most;
}

int64_t onnx_maximum(OnnxCall *c, int output, int axis, int64_t natural)
{
    enum { DEEPEST_READER = 8 };
    const char *value_name = output < c->node->out_count ? c->node->out[output] : "";
    const int64_t most = natural >= 0 ? stated_maximum(c, value_name, axis)
                                      : stated_for_readers(c, value_name, axis, DEEPEST_READER);
    return most < 0 || (natural >= 0 && natural < most) ? natural : most;
}

int64_t onnx_most(OnnxCall *c, int output, int axis, int64_t natural)
{
    const char *value_name = output < c->node->out_count ? c->node->out[output] : "";
    const int64_t most = onnx_maximum(c, output, axis, natural);
    if (most < 0 || most > INT32_MAX)
        onnx_unsupported(c, "the run decides the number of elements of \"%s\" along dimension %d, and no maximum "
                         "follows; use --dim '%s.%d<=N'", value_name, axis, value_name, axis);
    return most;
}

const Expr *onnx_decided(OnnxCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural)
{
    const char *value_name = output < c->node->out_count ? c->node->out[output] : c->name;
    enum { MOST_PROVED = 1 << 24 };          /* larger bounds are only the type's bounds */
    const Interval proved = count ? onnx_range_of(c->scope->import, count) : (Interval){ 0, 0 };
    if (proved.greatest >= 0 && proved.greatest <= MOST_PROVED && (natural < 0 || proved.greatest < natural))
        natural = proved.greatest;
    if (proved.least > least) least = proved.least;
    const int64_t most = ctx_failed(c->cx) ? -1 : onnx_most(c, output, axis, natural);
    if (!count || ctx_failed(c->cx)) return NULL;
    return decided_size(&c->scope->import->decided, text_format(c->cx, "%s_size", value_name),
                        text_format(c->cx, "dimension %d of \"%s\"", axis, value_name), count,
                        least < most ? least : most, most);
}

Tensor *onnx_cut(OnnxCall *c, Tensor *x, int axis, const Expr *size)
{
    return decided_cut(&c->scope->import->decided, c->name, x, axis, size);
}

Tensor *onnx_after(OnnxCall *c, Tensor *x, const Expr *const *size, int count)
{
    return decided_after(&c->scope->import->decided, c->name, x, size, count);
}

Tensor *onnx_expand(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank)
{
    if (!x || rank > MAX_RANK) return NULL;
    Tensor *like = tensor_new(c->cx, c->name, x->type, rank, shape), *behind = onnx_after(c, x, shape, rank);
    return onnx_call(c, "expand", behind, attr_tensor("like", like));
}

bool onnx_is_empty(Ctx *cx, const Tensor *x)
{
    for (int d = 0; d < x->rank; d++)
        if (interval_of(cx, x->shape[d], NULL).greatest == 0) return true;
    return false;
}

Tensor *onnx_empty_of(OnnxCall *c, DType t, const Expr *const *shape, int rank)
{
    const Tensor *wanted = ctx_failed(c->cx) ? NULL : tensor_new(c->cx, c->name, t, rank, shape);
    int64_t sizes[MAX_RANK];
    if (!wanted) return NULL;
    if (!tensor_is_fixed(wanted)) return onnx_expand(c, tensor_scalar(c->cx, c->name, t, 0), shape, rank);
    for (int d = 0; d < rank; d++) sizes[d] = tensor_dim(wanted, d);
    return onnx_empty(c, t, sizes, rank);
}

Tensor *onnx_empty_slice(OnnxCall *c, const Tensor *x, int axis)
{
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < x->rank; d++) shape[d] = d == axis ? expr_index(c->cx, 0) : x->shape[d];
    return onnx_empty_of(c, x->type, shape, x->rank);
}

Tensor *onnx_provided(OnnxCall *c, Tensor *x, Tensor *value, int64_t least, int64_t greatest)
{
    return value ? decided_provided(&c->scope->import->decided, c->name, x, value, least, greatest) : NULL;
}

Tensor *onnx_dimension(OnnxCall *c, const Expr *size)
{
    return decided_value(&c->scope->import->decided, c->name, size, I64);
}

Tensor *onnx_at_least(OnnxCall *c, Tensor *x, int axis, int64_t least)
{
    return decided_at_least(&c->scope->import->decided, c->name, x, axis, least);
}

Tensor *onnx_indexed(OnnxCall *c, Tensor *x, int axis, const Expr *const *shape, int rank)
{
    Ctx *cx = c->cx;
    const Interval room = x ? interval_of(cx, x->shape[axis], NULL) : (Interval){ 1, 1 };
    if (room.least >= 1) return x;
    const Expr *count = size_product(cx, shape, rank);
    if (room.greatest == 0 && size_is_decided(cx, count)) return onnx_provided(c, x, onnx_dimension(c, count), 0, 0);
    if (!size_is_decided(cx, x->shape[axis])) return x;
    if (expr_is_int(count, 0)) return x;
    if (interval_of(cx, count, NULL).least >= 1) return onnx_at_least(c, x, axis, 1);
    Tensor *have = onnx_dimension(c, x->shape[axis]), *need = onnx_dimension(c, count),
           *one = onnx_dimension(c, expr_index(cx, 1));
    Tensor *has_elements = onnx_call2(c, "min", have, one), *has_indices = onnx_call2(c, "min", need, one);
    return onnx_provided(c, x, onnx_call2(c, "sub", has_indices, has_elements), -1, 0);
}

Tensor *onnx_as(OnnxCall *c, Tensor *x, int axis, const Expr *size)
{
    return decided_as(&c->scope->import->decided, c->name, x, axis, size);
}

Tensor *onnx_equal_size(OnnxCall *c, Tensor *x, int axis, const Expr *size)
{
    if (!x || x->shape[axis] == size) return x;
    Tensor *wanted = onnx_dimension(c, size), *have = onnx_dimension(c, x->shape[axis]);
    return onnx_as(c, onnx_provided(c, x, onnx_call2(c, "sub", have, wanted), 0, 0), axis, size);
}

/* ---- Broadcasting ------------------------------------------------------------------------------------------------ */

bool onnx_may_be_one(OnnxCall *c, const Expr *size)
{
    const Interval i = interval_of(c->cx, size, NULL);
    return i.least <= 1 && i.greatest >= 1;
}

/* Returns one of two sizes that must be equal: the fixed one, or the one with the smaller maximum. */
static const Expr *narrower(OnnxCall *c, const Expr *a, const Expr *b)
{
    const Interval p = interval_of(c->cx, a, NULL), q = interval_of(c->cx, b, NULL);
    return a->kind == EXPR_INT || (b->kind != EXPR_INT && p.greatest <= q.greatest) ? a : b;
}

typedef struct PairKey { const Expr *a, *b; } PairKey;

/* Returns the size of the result if the run decides which of the two sizes is broadcast. */
static const Expr *size_of_pair(OnnxCall *c, int axis, const Expr *a, const Expr *b)
{
    Decided *d = &c->scope->import->decided;
    const PairKey key = { a, b }, swapped = { b, a };
    const Expr *size = decided_find(d, &key, sizeof key);
    if (!size) size = decided_find(d, &swapped, sizeof swapped);
    if (size) return size;
    const Interval p = interval_of(c->cx, a, NULL), q = interval_of(c->cx, b, NULL);
    Tensor *first = onnx_dimension(c, a), *one = onnx_dimension(c, expr_index(c->cx, 1)),
           *is_one = onnx_call2(c, "equal", first, one),
           *count = onnx_select(c, is_one, onnx_dimension(c, b), first);
    size = onnx_decided(c, 0, axis, count, p.least < q.least ? p.least : q.least,
                        p.greatest > q.greatest ? p.greatest : q.greatest);
    if (size) decided_keep(d, &key, sizeof key, size);
    return size;
}

const Expr *onnx_broadcast_size(OnnxCall *c, int axis, const Expr *a, const Expr *b)
{
    if (!a || !b || a == b) return a ? a : b;
    if (expr_is_int(a, 1) || expr_is_int(b, 1)) return expr_is_int(a, 1) ? b : a;
    const bool may_a = onnx_may_be_one(c, a), may_b = onnx_may_be_one(c, b);
    if (may_a && may_b && (size_is_decided(c->cx, a) || size_is_decided(c->cx, b))) return size_of_pair(c, axis, a, b);
    return may_a == may_b ? narrower(c, a, b) : may_a ? b : a;
}

Tensor *onnx_broadcast_to(OnnxCall *c, Tensor *x, int axis, const Expr *size)
{
    const Expr *own = x && size ? x->shape[axis] : NULL;
    if (!own || own == size || expr_is_int(own, 1)) return x;
    if (!size_is_decided(c->cx, own) && !size_is_decided(c->cx, size)) return x;      /* the operator compares them */
    if (!onnx_may_be_one(c, own)) return onnx_equal_size(c, x, axis, size);
    Tensor *have = onnx_dimension(c, own), *differs = onnx_call2(c, "sub", have, onnx_dimension(c, size)),
           *is_more = onnx_call2(c, "sub", have, onnx_dimension(c, expr_index(c->cx, 1)));
    Tensor *behind = onnx_provided(c, x, onnx_call2(c, "mul", differs, is_more), 0, 0);
    return decided_stretched(&c->scope->import->decided, c->name, behind, axis, size);
}

void onnx_match(OnnxCall *c, Tensor **a, int axis_a, Tensor **b, int axis_b)
{
    const bool fits = *a && *b && axis_a >= 0 && axis_b >= 0 && axis_a < (*a)->rank && axis_b < (*b)->rank;
    const Expr *x = fits ? (*a)->shape[axis_a] : NULL, *y = fits ? (*b)->shape[axis_b] : NULL;
    if (x == y || (!size_is_decided(c->cx, x) && !size_is_decided(c->cx, y))) return;
    const Interval p = interval_of(c->cx, x, NULL), q = interval_of(c->cx, y, NULL);
    const Expr *common = narrower(c, x, y);
    /* the operator refuses sizes that cannot be equal */
    if (p.least > q.greatest || q.least > p.greatest) return;
    *a = onnx_equal_size(c, *a, axis_a, common);
    *b = onnx_equal_size(c, *b, axis_b, common);
}
