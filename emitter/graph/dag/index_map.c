/* SPDX-License-Identifier: MIT */
#include "graph/dag/index_map.h"

#include "support/names.h"

const Expr *index_axis(IndexMap *m, char letter, const Expr *size)
{
    const Expr *var = axis_var(m->cx, name_n(m->cx, &letter, 1), size);
    m->axis[m->rank++] = (Axis){ var, AXIS_DATA, size };
    m->bounds = bounds_var(m->cx, m->bounds, var, size);
    return var;
}

const Expr *index_plus(Ctx *cx, const Expr *index, int64_t more)
{
    if (!more) return index;
    return more < 0 ? expr_sub(cx, index, expr_index(cx, -more)) : expr_add(cx, index, expr_index(cx, more));
}

const Expr *index_clamped(Ctx *cx, const Expr *index, const Expr *last)
{
    return expr_binary(cx, EXPR_MAX, expr_index(cx, 0), expr_binary(cx, EXPR_MIN, last, index));
}

static const Expr *conjoined(IndexMap *m, const Expr *all, const Expr *condition)
{
    if (condition->kind == EXPR_POISON || provably(m->cx, condition, m->bounds)) return all;
    return all ? expr_and(m->cx, all, condition) : condition;
}

const Expr *index_read_padded(IndexMap *m, const Tensor *x, const Expr *const *index, const Expr *otherwise)
{
    const Expr *inside = NULL, *zero = expr_index(m->cx, 0);
    for (int d = 0; d < x->rank; d++) {
        inside = conjoined(m, inside, expr_binary(m->cx, EXPR_LE, zero, index[d]));
        inside = conjoined(m, inside, expr_binary(m->cx, EXPR_LT, index[d], x->shape[d]));
    }
    const Expr *element = tensor_read(m->cx, x, index, x->rank);
    return inside ? expr_select(m->cx, inside, element, otherwise) : element;
}

Tensor *index_result(IndexMap *m, const Expr *value)
{
    StageSpec spec = { .name = m->call->op->name, .axis_count = m->rank, .out_count = 1, .value = { value } };
    for (int d = 0; d < m->rank; d++) spec.axis[d] = m->axis[d];
    Node *n = ctx_failed(m->cx) ? NULL : compute_new(m->cx, &spec);
    return n && tensor_fits_index(m->cx, n->out[0]) ? n->out[0] : NULL;
}
