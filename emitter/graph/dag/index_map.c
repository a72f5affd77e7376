/* SPDX-License-Identifier: MIT */
#include "graph/dag/index_map.h"

#include "graph/dag/op_build.h"
#include "ir/text/read.h"
#include "support/names.h"
#include "support/text.h"

static const Expr *add_axis(IndexMap *m, const char *axis, AxisKind kind, const Expr *size)
{
    const Expr *var = axis_var(m->cx, axis, size);
    m->axis[m->axis_count++] = (Axis){ var, kind, size };
    m->bounds = bounds_var(m->cx, m->bounds, var, size);
    return var;
}

const Expr *index_axis(IndexMap *m, char letter, const Expr *size)
{
    return add_axis(m, name_n(m->cx, &letter, 1), AXIS_DATA, size);
}

const Expr *index_axis_named(IndexMap *m, const char *axis, const Expr *size)
{
    return add_axis(m, name(m->cx, axis), AXIS_DATA, size);
}

const Expr *index_tap(IndexMap *m, const char *axis, const Expr *size)
{
    return add_axis(m, name(m->cx, axis), AXIS_REDUCE, size);
}

const Expr *index_plus(Ctx *cx, const Expr *index, int64_t more)
{
    if (!more) return index;
    return more < 0 ? expr_sub(cx, index, expr_index(cx, -more)) : expr_add(cx, index, expr_index(cx, more));
}

const Expr *index_times(Ctx *cx, const Expr *index, int64_t by)
{
    return by == 1 ? index : expr_mul(cx, index, expr_index(cx, by));
}

const Expr *index_over(Ctx *cx, const Expr *index, int64_t by)
{
    return expr_binary(cx, EXPR_FLOORDIV, index, expr_index(cx, by));
}

const Expr *index_modulo(Ctx *cx, const Expr *index, int64_t by)
{
    return expr_binary(cx, EXPR_FLOORMOD, index, expr_index(cx, by));
}

const Expr *index_simplified(IndexMap *m, const Expr *index)
{
    return index->kind == EXPR_VAR || index->kind == EXPR_POISON ? index : simplify(m->cx, index, m->bounds);
}

const Expr *index_sliding(IndexMap *m, const Expr *axis, int64_t stride, const Expr *tap, int64_t step, int64_t shift)
{
    const Expr *sum = expr_add(m->cx, index_times(m->cx, axis, stride), index_times(m->cx, tap, step));
    return index_simplified(m, index_plus(m->cx, sum, shift));
}

const Expr *index_clamped(Ctx *cx, const Expr *index, const Expr *last)
{
    return expr_binary(cx, EXPR_MAX, expr_index(cx, 0), expr_binary(cx, EXPR_MIN, last, index));
}

void index_axes(IndexMap *m, const Tensor *like, const Expr **at)
{
    for (int d = 0; d < like->rank; d++) at[d] = index_axis(m, axis_letter(like->rank, d), like->shape[d]);
}

const Expr *index_from_data(IndexMap *m, const Expr *index, const Expr *size)
{
    Ctx *cx = m->cx;
    const Expr *is_negative = expr_binary(cx, EXPR_LT, index, expr_int(cx, index->type, 0)),
               *at = expr_cast(cx, I32, index);
    at = expr_select(cx, is_negative, expr_add(cx, at, size), at);
    return index_simplified(m, index_clamped(cx, at, op_size(cx, size, 1, -1)));
}

static void add_condition(IndexMap *m, const Expr *condition)
{
    if (condition->kind == EXPR_POISON || provably(m->cx, condition, m->bounds)) return;
    for (int i = 0; i < m->condition_count; i++)
        if (m->condition[i] == condition) return;
    if (m->condition_count < MOST_CONDITIONS) m->condition[m->condition_count++] = condition;
    else diag_internal(m->cx, op_where(m->cx, m->call), "more than %d conditions of reads", MOST_CONDITIONS);
}

const Expr *index_read(IndexMap *m, const Tensor *x, const Expr *const *index)
{
    const Expr *zero = expr_index(m->cx, 0);
    for (int d = 0; d < x->rank; d++) {
        add_condition(m, expr_binary(m->cx, EXPR_LE, zero, index[d]));
        add_condition(m, expr_binary(m->cx, EXPR_LT, index[d], x->shape[d]));
    }
    return tensor_read(m->cx, x, index, x->rank);
}

const Expr *index_guarded(IndexMap *m, const Expr *value, const Expr *otherwise)
{
    const Expr *inside = NULL;
    for (int i = 0; i < m->condition_count; i++)
        inside = inside ? expr_and(m->cx, inside, m->condition[i]) : m->condition[i];
    m->condition_count = 0;
    return inside ? expr_select(m->cx, inside, value, otherwise) : value;
}

const Expr *index_or_zero(IndexMap *m, const Expr *value)
{
    return index_guarded(m, value, expr_int(m->cx, value->type, 0));
}

const Expr *index_read_padded(IndexMap *m, const Tensor *x, const Expr *const *index, const Expr *otherwise)
{
    return index_guarded(m, index_read(m, x, index), otherwise);
}

Tensor *index_result(IndexMap *m, const Expr *value) { return index_reduced(m, REDUCE_NONE, value); }

static Tensor *stage_of(IndexMap *m, StageSpec *spec)
{
    const char *op = m->call->op->name;
    spec->name = m->word ? text_format(m->cx, "%s_%s", op, m->word) : op;
    spec->axis_count = m->axis_count;
    for (int d = 0; d < m->axis_count; d++) spec->axis[d] = m->axis[d];
    Node *n = ctx_failed(m->cx) ? NULL : compute_new(m->cx, spec);
    if (!n || !tensor_fits_index(m->cx, n->out[0])) return NULL;
    if (m->word) n->out[0]->word = m->word;
    return n->out[0];
}

Tensor *index_reduced(IndexMap *m, Reducer by, const Expr *value) { return index_reduced_from(m, by, NULL, value); }

Tensor *index_reduced_from(IndexMap *m, Reducer by, const Expr *first, const Expr *value)
{
    return stage_of(m, &(StageSpec){ .out_count = 1, .value = { value }, .reducer = by, .init = { first } });
}

Tensor *index_of_greatest(IndexMap *m, const Expr *value)
{
    const Expr *index = argument_index(m->cx, m->axis, m->axis_count);
    return stage_of(m, &(StageSpec){ .out_count = 2, .value = { index, value }, .reducer = REDUCE_ARGMAX });
}
