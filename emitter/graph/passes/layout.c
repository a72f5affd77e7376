/* SPDX-License-Identifier: MIT */
/* Gives the graph one internal layout. Importers of channels-first formats wrap an operator in transposes. This pass
 * sinks them towards the outputs until they cancel against their inverse. With T a transpose by P (result dimension d
 * is operand dimension P[d]):
 *
 *      op(T(x), T(y), const)     =  T(op'(x, y, T^-1(const)))      op' from the operator's `permute`
 *      T2(T1(x))                 =  one transpose, or x
 *      T(op(const))              =  op'(T(const))
 *      T(x)                      =  a view, if only unit dimensions move
 *      view[n][k](T(x)) . w      =  view[n][k](x) . w'             w' permutes the rows of the constant w */
#include "graph/dag/op_build.h"
#include "graph/passes/passes.h"

#include <string.h>

static Node *transpose_of(const Tensor *t)
{
    return t && t->producer && t->producer->kind == NODE_CALL && t->producer->op->layout.is_transpose ? t->producer
                                                                                                      : NULL;
}

static void invert(const int *perm, int rank, int *inverse)
{
    for (int d = 0; d < rank; d++) inverse[perm[d]] = d;
}

static bool moves_only_ones(const Tensor *x, const int *perm)
{
    int before = -1;
    for (int d = 0; d < x->rank; d++) {
        if (tensor_dim(x, perm[d]) == 1) continue;
        if (perm[d] < before) return false;
        before = perm[d];
    }
    return true;
}

/* Returns a tensor without elements that has x's dimensions permuted. */
static Tensor *permuted_shape(Ctx *cx, const Tensor *x, const int *perm)
{
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < x->rank; d++) shape[d] = x->shape[perm[d]];
    return tensor_new(cx, x->name, x->type, x->rank, shape);
}

/* Returns x with its dimensions permuted: a view if no element moves, else a transpose. */
static Tensor *transposed(Ctx *cx, const char *label, Tensor *x, const int *perm)
{
    Tensor *permuted = permuted_shape(cx, x, perm);
    if (moves_only_ones(x, perm) && can_view(x, permuted)) return view_call(cx, label, x, permuted);
    int64_t wide[MAX_RANK];
    for (int d = 0; d < x->rank; d++) wide[d] = perm[d];
    return call(cx, "transpose", label, &x, 1, ATTRS(attr_ints("perm", wide, x->rank)));
}

static Tensor *merge_transposes(Ctx *cx, Node *node)
{
    int perm[MAX_RANK], inner[MAX_RANK];
    Tensor *x = node->in[0];
    transpose_perm(node, perm);
    Node *before = transpose_of(x);
    if (before) {
        transpose_perm(before, inner);
        for (int d = 0; d < x->rank; d++) perm[d] = inner[perm[d]];
        x = before->in[0];
    }
    bool identity = true;
    for (int d = 0; d < x->rank; d++) identity = identity && perm[d] == d;
    if (identity) return x;
    return before || moves_only_ones(x, perm) ? transposed(cx, node->name, x, perm) : NULL;
}

static bool all_constant(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return true;
}

/* Rewrites T(op(const)) to op'(T(const)). The transpose of the constant folds, so a call that is not folded stores its
 * result in its consumer's order. */
static Tensor *into_constants(Ctx *cx, const Node *node)
{
    Node *made = node->in[0]->producer, *now;
    int perm[MAX_RANK], inverse[MAX_RANK];
    if (!made || made->kind != NODE_CALL || !made->op->layout.permute || made->out_count != 1 ||
        !all_constant(made)) return NULL;
    transpose_perm(node, perm);
    invert(perm, node->in[0]->rank, inverse);
    now = made->op->layout.permute(cx, made, inverse, NEW_ARRAY(cx->arena, Tensor *, made->in_count));
    return now ? now->out[0] : NULL;
}

static bool is_transposed_by(const Tensor *t, const int *perm, int rank)
{
    int own[MAX_RANK];
    const Node *n = transpose_of(t);
    if (!n || t->rank != rank) return false;
    transpose_perm(n, own);
    return memcmp(own, perm, (size_t)rank * sizeof *own) == 0;
}

/* Returns the operand t of `node` with the transpose by perm undone. An operand without that transpose becomes a view
 * if only unit dimensions move. Returns NULL if the operand would need a transpose. */
static Tensor *untransposed(Ctx *cx, const Node *node, Tensor *t, const int *perm)
{
    int inverse[MAX_RANK], rank = node->out[0]->rank;
    if (is_transposed_by(t, perm, rank)) return t->producer->in[0];
    const Expr *shape[MAX_RANK];
    bool may_widen = node->op->fusion.pattern <= PATTERN_BROADCAST;
    if (t->rank > rank || (t->rank < rank && !may_widen)) return NULL;
    for (int d = 0; d < rank; d++) shape[d] = d < rank - t->rank ? expr_index(cx, 1) : t->shape[d - (rank - t->rank)];
    Tensor *wide = tensor_new(cx, t->name, t->type, rank, shape);
    invert(perm, rank, inverse);
    Tensor *permuted = permuted_shape(cx, wide, inverse);
    return moves_only_ones(wide, inverse) && can_view(t, permuted) ? view_call(cx, t->name, t, permuted) : NULL;
}

/* Returns the first operand's transpose that has the result's rank. */
static Node *first_transpose(const Node *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (transpose_of(node->in[i]) && node->in[i]->rank == node->out[0]->rank) return transpose_of(node->in[i]);
    return NULL;
}

/* Sinks the operands' common transpose below the call. The operator's hook transposes constant operands, which fold. */
static Tensor *sink(Ctx *cx, Node *node)
{
    Node *first = node->op->layout.permute && node->out_count == 1 ? first_transpose(node) : NULL;
    if (!first) return NULL;
    int perm[MAX_RANK];
    transpose_perm(first, perm);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, node->in_count);
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tensor_is_constant(node->in[i])) continue;
        in[i] = untransposed(cx, node, node->in[i], perm);
        if (!in[i]) return NULL;
    }
    Node *now = node->op->layout.permute(cx, node, perm, in);
    return now ? transposed(cx, node->name, now->out[0], perm) : NULL;
}

/* Rewrites view[n][k](T(x)) . w: permutes the rows of w into the order of x's own dimensions. */
static Tensor *absorb(Ctx *cx, Node *node)
{
    if (!node->op->layout.contracts_last || !tensor_is_constant(node->in[1]) || node->in[1]->rank != 2) return NULL;
    Node *view = node->in[0]->producer;
    Node *t = view && view->kind == NODE_CALL && view->op->layout.is_view ? transpose_of(view->in[0]) : NULL;
    if (!t) return NULL;
    Tensor *x = t->in[0], *w = node->in[1], *flat = node->in[0];
    int perm[MAX_RANK], inverse[MAX_RANK], order[MAX_RANK], rank = x->rank;
    int64_t shape[MAX_RANK];
    transpose_perm(t, perm);
    if (perm[0] != 0 || rank < 3 || flat->rank != 2 || flat->shape[0] != x->shape[0] || !can_view(x, flat))
        return NULL;
    invert(perm, rank, inverse);
    for (int d = 1; d < rank; d++) {
        shape[d - 1] = tensor_dim(view->in[0], d);
        if (shape[d - 1] < 0) return NULL;
        order[d - 1] = inverse[d] - 1;
    }
    shape[rank - 1] = tensor_dim(w, 1);
    order[rank - 1] = rank - 1;
    Tensor *split = view_call(cx, w->name, w, tensor_new_fixed(cx, w->name, w->type, rank, shape));
    Tensor *permuted = split ? transposed(cx, w->name, split, order) : NULL;
    Tensor **in = arena_copy(cx->arena, node->in, (size_t)node->in_count * sizeof *in);
    in[0] = view_call(cx, view->name, x, flat);
    in[1] = permuted ? view_call(cx, w->name, permuted, w) : NULL;
    Node *now = in[1] ? op_call(cx, node->op, node->name, in, node->in_count, node->attr, node->attr_count) : NULL;
    return now ? now->out[0] : NULL;
}

static void rewrite_layout(Ctx *cx, Node *node, Tensor **out, const Uses *uses)
{
    (void)uses;
    Tensor *better = node->op->layout.is_transpose ? into_constants(cx, node) : NULL;
    if (!better && node->op->layout.is_transpose) better = merge_transposes(cx, node);
    else if (!better && node->op->layout.contracts_last) better = absorb(cx, node);
    if (!better && !node->op->layout.is_transpose) better = sink(cx, node);
    if (better) out[0] = better;
}

Graph graph_layout(Ctx *cx, Graph g) { return graph_rewrite(cx, g, rewrite_layout); }
