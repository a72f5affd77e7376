/* SPDX-License-Identifier: MIT */
/* Calls of C functions from outside (ir/nest/external.h): each argument becomes an address, a number or a stride of the
 * chosen storage. */
#include "ir/nest/external.h"

#include "ir/check/external_view.h"
#include "lower/expand/storage.h"

typedef struct ExternalCall { const Stmt *const *above; int depth; const Stmt *tile; } ExternalCall;

static ExternalView view_of(Storages *s, const ExternalCall *c, const Tensor *t)
{
    ExternalView v;
    const char *why;
    if (!external_view(s->cx, c->above, c->depth, c->tile, t, &v, &why)) {
        diag_internal(s->cx, t->name, "%s", why);
        for (int d = 0; d < t->rank; d++) v.begin[d] = v.count[d] = expr_index(s->cx, 0);
    }
    return v;
}

/* Returns true if the elements of the view are stored in row-major order without gaps. */
static bool is_dense(Ctx *cx, const Storage *st, const Tensor *t, const ExternalView *v)
{
    const Expr *inner = expr_index(cx, 1);
    for (int d = t->rank - 1; d >= 0; d--) {
        const bool is_apart = simplify(cx, st->stride[d], NULL) != inner && !expr_is_int(v->count[d], 1);
        if (is_apart || st->tile[d] || st->ring[d]) return false;
        inner = simplify(cx, expr_mul(cx, inner, v->count[d]), NULL);
    }
    return true;
}

static bool has_rows(const Storage *st, const Tensor *t)
{
    return t->rank == 0 || tensor_dim(t, t->rank - 1) == 1 || expr_is_int(st->stride[t->rank - 1], 1);
}

static const Expr *address(Storages *s, const ExternalCall *c, const Tensor *t)
{
    Ctx *cx = s->cx;
    const External *e = c->tile->external;
    const Storage *st = storage_of(s, t);
    const Expr *first[MAX_RANK];
    if (!st) {
        diag_internal(cx, t->name, "an argument of %s has no storage in scope of the call", e->function);
        return expr_index(cx, 0);
    }
    const ExternalView v = view_of(s, c, t);
    if (!is_dense(cx, st, t, &v) && !(has_rows(st, t) && external_knows_strides(e, t)))
        diag_error(cx, t->name,
                   "%s reads this tensor as contiguous elements, but its rows are not adjacent; use a call that "
                   "receives stride(%s, N) for all dimensions except the last", e->function, t->name);
    const bool is_in_loop = external_is_in_loop(c->above, c->depth);
    for (int d = 0; d < t->rank; d++) first[d] = is_in_loop ? v.begin[d] : st->begin[d];
    const Expr *load = load_expr(cx, st->memory, simplify(cx, storage_index(cx, st, t, first), NULL));
    return expr_new(cx, EXPR_AT, load->type, NULL, &load, 1);
}

static const Expr *workspace(Storages *s, const External *e, const Expr *bytes)
{
    const Interval size = interval_of(s->cx, bytes, NULL);
    if (size.least < 0 || size.greatest >= INT32_MAX)
        diag_error(s->cx, e->function, "its workspace has %s; declare the ranges of its sizes",
                   size.least < 0 ? "a negative number of bytes" : "no bound");
    const Memory *m = storage_workspace(s, bytes);
    const Expr *load = load_expr(s->cx, m, expr_index(s->cx, 0));
    return expr_new(s->cx, EXPR_AT, load->type, NULL, &load, 1);
}

static const Expr *argument(Storages *s, const ExternalCall *c, const ExternalArg *a)
{
    if (a->kind == EXTERNAL_TENSOR) return address(s, c, a->tensor);
    if (a->kind == EXTERNAL_WORKSPACE) return workspace(s, c->tile->external, a->value);
    if (a->kind == EXTERNAL_VALUE) return simplify(s->cx, a->value, NULL);
    if (a->kind == EXTERNAL_DIM) return simplify(s->cx, view_of(s, c, a->tensor).count[a->dimension], NULL);
    if (a->kind == EXTERNAL_FIRST) return simplify(s->cx, view_of(s, c, a->tensor).begin[a->dimension], NULL);
    const Storage *st = storage_of(s, a->tensor);
    return st ? simplify(s->cx, st->stride[a->dimension], NULL) : expr_index(s->cx, 0);
}

/* Returns a condition under which the call computes elements, because a guard may leave nothing of a part. NULL means
 * always. */
static const Expr *is_not_empty(Storages *s, const ExternalCall *c)
{
    const Bounds *scope = NULL;
    const Expr *all = NULL;
    for (int i = 0; i < c->depth; i++)
        if (c->above[i]->kind == STMT_FOR) scope = bounds_var(s->cx, scope, c->above[i]->var, c->above[i]->extent);
    for (int i = 0; i < c->tile->external->arg_count; i++) {
        const ExternalArg *a = &c->tile->external->arg[i];
        if (a->kind != EXTERNAL_TENSOR || !a->is_written) continue;
        const ExternalView v = view_of(s, c, a->tensor);
        for (int d = 0; d < a->tensor->rank; d++) {
            const Expr *some = expr_binary(s->cx, EXPR_LT, expr_index(s->cx, 0), v.count[d]);
            if (!provably(s->cx, some, scope)) all = all ? expr_and(s->cx, all, some) : some;
        }
    }
    return all ? simplify(s->cx, all, scope) : NULL;
}

const Code *expand_external(Storages *s, const Stmt *const *above, int depth, const Stmt *tile)
{
    const ExternalCall c = { above, depth, tile };
    const External *e = tile->external;
    const Expr *arg[MAX_EXTERNAL_ARGS];
    for (int i = 0; i < e->arg_count; i++) arg[i] = argument(s, &c, &e->arg[i]);
    const Code *call = code_external(s->cx, e, e->function, arg, e->arg_count);
    return external_is_in_loop(above, depth) ? code_if(s->cx, is_not_empty(s, &c), call, NULL) : call;
}
