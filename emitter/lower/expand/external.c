/* SPDX-License-Identifier: MIT */
/* Calls of C functions from outside (ir/nest/external.h): each argument becomes an address, a number or a stride of the
 * chosen storage. */
#include "ir/nest/external.h"

#include "lower/expand/storage.h"

/* Returns true if the elements are stored in row-major order without gaps. */
static bool is_dense(Ctx *cx, const Storage *st, const Tensor *t)
{
    const Expr *inner = expr_index(cx, 1);
    for (int d = t->rank - 1; d >= 0; d--) {
        const bool is_apart = simplify(cx, st->stride[d], NULL) != inner && tensor_dim(t, d) != 1;
        if (is_apart || st->tile[d] || st->ring[d]) return false;
        inner = simplify(cx, expr_mul(cx, inner, t->shape[d]), NULL);
    }
    return true;
}

static bool has_rows(const Storage *st, const Tensor *t)
{
    return t->rank == 0 || tensor_dim(t, t->rank - 1) == 1 || expr_is_int(st->stride[t->rank - 1], 1);
}

static const Expr *address(const Storages *s, const External *e, const Tensor *t)
{
    Ctx *cx = s->cx;
    const Storage *st = storage_of(s, t);
    const Expr *first[MAX_RANK];
    if (!st) {
        diag_internal(cx, t->name, "an argument of %s has no storage in scope of the call", e->function);
        return expr_index(cx, 0);
    }
    if (!is_dense(cx, st, t) && !(has_rows(st, t) && external_knows_strides(e, t)))
        diag_error(cx, t->name,
                   "%s takes this tensor as row-major elements, and its rows are apart; use a call that takes "
                   "stride(%s, N) for all dimensions but the last", e->function, t->name);
    for (int d = 0; d < t->rank; d++) first[d] = st->begin[d];
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

static const Expr *argument(Storages *s, const External *e, const ExternalArg *a)
{
    if (a->kind == EXTERNAL_TENSOR) return address(s, e, a->tensor);
    if (a->kind == EXTERNAL_WORKSPACE) return workspace(s, e, a->value);
    if (a->kind == EXTERNAL_VALUE) return simplify(s->cx, a->value, NULL);
    const Storage *st = storage_of(s, a->tensor);
    return st ? simplify(s->cx, st->stride[a->dimension], NULL) : expr_index(s->cx, 0);
}

const Code *expand_external(Storages *s, const External *e)
{
    const Expr *arg[MAX_EXTERNAL_ARGS];
    for (int i = 0; i < e->arg_count; i++) arg[i] = argument(s, e, &e->arg[i]);
    return code_external(s->cx, e, e->function, arg, e->arg_count);
}
