/* SPDX-License-Identifier: MIT */
/* Versions of a group for a part of its sizes.
 *
 * A condition on sizes, such as n >= 1, restricts each of its sizes to a range. In the version, the group's tensors
 * have new sizes with that range, so every proof about the nest uses the range; lowered code has the group's own sizes
 * again (lower/expand/expand.c). A range with one value is a constant: in the version for n < 1, loops over n
 * vanish. */

/* Decision: a reduction over a size that may be 0 has two versions. Templates fuse the initialization with the first
 * iteration, which a sum over nothing lacks. The version for sizes that are large enough for every reduction has the
 * schedule. The other version is the naive nest, which usually has only the initialization. */
#include "graph/plan/plan.h"

#include "ir/algebra/algebra.h"
#include "ir/nest/nest.h"

/* ---- The group over the sizes that a condition leaves ------------------------------------------------------------ */

typedef struct SizeList { int count, room; const Expr **at; } SizeList;

static void list_size(const Expr *e, void *user)
{
    SizeList *l = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE) return;
    for (int i = 0; l->at && i < l->count; i++)
        if (l->at[i] == e) return;
    if (l->count < l->room) l->at[l->count] = e;
    l->count++;
}

/* Returns the sizes in the expression. A first walk counts them, with repetitions; a second one lists each size
 * once. */
static SizeList sizes_in(Ctx *cx, const Expr *e)
{
    SizeList l = { 0, 0, NULL };
    expr_walk(cx, e, list_size, &l);
    l = (SizeList){ 0, l.count, NEW_ARRAY(cx->arena, const Expr *, l.count + 1) };
    expr_walk(cx, e, list_size, &l);
    return l;
}

Group *group_where(Ctx *cx, const Group *g, const Expr *condition)
{
    Group *version = arena_copy(cx->arena, g, sizeof *g);
    if (!condition) return version;
    const SizeList sizes = sizes_in(cx, condition);
    SizeRange *range = NEW_ARRAY(cx->arena, SizeRange, sizes.count);
    version->range = range;
    version->range_count = 0;
    for (int i = 0; i < sizes.count; i++) {
        const Var *own = expr_as_var(sizes.at[i]);
        const Interval left = interval_of(cx, sizes.at[i], bounds_fact(cx, NULL, condition));
        if (left.least <= own->least && left.greatest >= own->greatest) continue;
        range[version->range_count++] =
            (SizeRange){ sizes.at[i], expr_size_within(cx, sizes.at[i], left.least, left.greatest) };
    }
    return version;
}

static const Expr *in_range(Ctx *cx, const Expr *e, void *user)
{
    const Group *g = user;
    (void)cx;
    for (int i = 0; i < g->range_count; i++)
        if (g->range[i].size == e) return g->range[i].within;
    return e;
}

Tensor *group_stand_in(Ctx *cx, const Group *g, const Tensor *t)
{
    Tensor *x = tensor_stand_in(cx, t);
    for (int d = 0; d < x->rank && g->range_count; d++)
        x->shape[d] = expr_rewrite(cx, x->shape[d], in_range, (void *)g);
    return x;
}

/* Replaces a reduction over an empty axis by its initial value. */
void stage_without_empty_axes(Ctx *cx, Stage *s)
{
    bool is_empty = false;
    for (int a = s->data_count; a < s->axis_count; a++)
        is_empty = is_empty || interval_of(cx, s->axis[a].extent, NULL).greatest < 1;
    if (!is_empty) return;
    s->value = s->init;
    s->init = NULL;
    s->reducer = REDUCE_NONE;
    s->combiner = NULL;
    s->axis_count = s->data_count;
}

/* ---- Sizes at which no reduction is empty ------------------------------------------------------------------------ */

static const Expr *raised(Ctx *cx, const Expr *e, void *user)
{
    const int64_t least = *(const int64_t *)user;
    const Var *v = expr_as_var(e);
    return !v || v->role != VAR_SIZE || v->least >= least ? e : expr_size_within(cx, e, least, v->greatest);
}

enum { MOST_RAISED = 16 };

/* Returns a condition under which the extent is at least 1: each of its sizes has at least the smallest sufficient
 * value. Returns NULL if no such condition is found. */
static const Expr *not_empty(Ctx *cx, const Expr *extent)
{
    const SizeList sizes = sizes_in(cx, extent);
    const Expr *all = NULL;
    int64_t least = 1;
    while (least < MOST_RAISED && interval_of(cx, expr_rewrite(cx, extent, raised, &least), NULL).least < 1) least++;
    for (int i = 0; i < sizes.count; i++) {
        const Var *v = expr_as_var(sizes.at[i]);
        if (least == MOST_RAISED || v->greatest < least) return NULL;
        const Expr *one = expr_binary(cx, EXPR_LE, expr_index(cx, least), sizes.at[i]);
        if (v->least < least) all = all ? expr_and(cx, all, one) : one;
    }
    return all;
}

const Expr *nest_is_full(Ctx *cx, const Nest *n)
{
    const Expr *all = NULL;
    for (int i = 0; i < n->stage_count; i++)
        for (int a = n->stage[i]->data_count; a < n->stage[i]->axis_count; a++) {
            const Expr *extent = n->stage[i]->axis[a].extent,
                       *one = interval_of(cx, extent, NULL).least < 1 ? not_empty(cx, extent) : NULL;
            if (one) all = all ? expr_and(cx, all, one) : one;
        }
    return all ? simplify(cx, all, NULL) : NULL;
}
