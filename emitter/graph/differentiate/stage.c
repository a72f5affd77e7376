/* SPDX-License-Identifier: MIT */
/* Computes the adjoint of y[i] = R(k) e(i, k). For a read x[f(i, k)] under the condition g, with the local derivative
 * w:
 *
 *   xbar[a] = sum(free) select(f(i, k) = a && g, ybar[i] * w, 0)
 *
 * solve.c gives i and k as functions of a and of the free variables. The adjoint of e is
 *
 *   none, sum            ybar[i]
 *   max, min, argmax     ybar[i] at the first extremum k, whose number is computed again
 *   product              ybar[i] times the product of the other factors, without a division */
#include "graph/differentiate/stage.h"

#include "graph/dag/op_build.h"
#include "graph/differentiate/local.h"
#include "graph/differentiate/solve.h"
#include "support/names.h"

typedef struct Reads { Ctx *cx; const StageAdjoint *of; Summands *to; } Reads;

static bool is_of_cycle(const Reads *r, const Tensor *t) { return r->of->back && map_get_ptr(r->of->back, t); }

/* ---- Values that the adjoint reads ------------------------------------------------------------------------------- */

static const Expr *read_stored(Ctx *cx, const Expr *e, void *user)
{
    const Map *stored = user;
    Tensor *t = e->kind == EXPR_READ ? map_get_ptr(stored, e->ref) : NULL;
    return t ? tensor_read(cx, t, e->arg, e->arg_count) : e;
}

static const Expr *with_stored(const Reads *r, const Expr *e)
{
    Map stored = *r->of->stored;
    return e ? expr_rewrite(r->cx, e, read_stored, &stored) : NULL;
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

/* The variables over which a term runs: all axes of the stage, or only its data axes. */
typedef struct Domain { int count; const Expr *var[MAX_AXES], *extent[MAX_AXES]; } Domain;

static Domain domain_of(const Stage *s, int count)
{
    Domain d = { .count = count };
    for (int a = 0; a < count; a++) d.var[a] = s->axis[a].var, d.extent[a] = s->axis[a].extent;
    return d;
}

static bool is_taken(const StageSpec *spec, const char *name)
{
    for (int a = 0; a < spec->axis_count; a++)
        if (expr_as_var(spec->axis[a].var)->name == name) return true;
    return false;
}

static const Expr *add_axis(Ctx *cx, StageSpec *spec, const char *base, AxisKind kind, const Expr *extent)
{
    const char *unique = name(cx, base);
    for (int i = 2; is_taken(spec, unique); i++) unique = name_format(cx, "%s%d", base, i);
    if (spec->axis_count == MAX_AXES) {
        diag_unsupported(cx, spec->name, "its gradient has more than %d axes", MAX_AXES);
        return expr_poison(cx);
    }
    const Expr *var = axis_var(cx, unique, extent);
    spec->axis[spec->axis_count++] = (Axis){ var, kind, extent };
    return var;
}

/* Returns the name of the axis for dimension `dim`: the name of the only variable that indexes the dimension, or a
 * letter for the dimension. */
static const char *axis_name(Ctx *cx, const Domain *d, const Expr *read, int dim)
{
    const char *found = NULL;
    int count = 0;
    for (int v = 0; v < d->count; v++)
        if (expr_uses(read->arg[dim], d->var[v])) found = expr_as_var(d->var[v])->name, count++;
    return count == 1 ? found : name_format(cx, "%c", axis_letter(read->arg_count, dim));
}

static bool reads_data(const Expr *e)
{
    if (e->kind == EXPR_READ) return true;
    for (int i = 0; i < e->arg_count; i++)
        if (reads_data(e->arg[i])) return true;
    return false;
}

static const Expr *guarded(Ctx *cx, const Expr *condition, const Expr *value)
{
    return condition ? expr_select(cx, condition, value, expr_real(cx, value->type, 0)) : value;
}

/* Returns the value where the conditions hold, otherwise 0. Index conditions come first, because data are read only
 * where these hold. In a recurrence, the value is simplified without the conditions: an index must stay a distance from
 * the step, even where a condition determines the step. */
static const Expr *gathered(Ctx *cx, const Solution *s, const Expr *condition, const Expr *value, bool is_step)
{
    const Expr *index = s->condition;
    if (condition && index && !reads_data(condition)) index = expr_and(cx, index, condition), condition = NULL;
    else if (!index && condition && !reads_data(condition)) index = condition, condition = NULL;
    const Bounds *inside = is_step ? s->scope : bounds_fact(cx, s->scope, index);
    if (index) index = simplify(cx, index, s->scope);
    if (condition) condition = simplify(cx, condition, inside);
    return simplify(cx, guarded(cx, index, guarded(cx, condition, simplify(cx, value, inside))), s->scope);
}

/* Returns the value with the free variables replaced by reduce axes of the new compute. */
static const Expr *over_free_axes(Ctx *cx, StageSpec *spec, const Solution *s, const Expr *value)
{
    const Expr *axis[MOST_UNKNOWNS];
    int used = 0;
    const Expr *from[MOST_UNKNOWNS];
    for (int i = 0; i < s->free_count; i++) {
        from[used] = s->free[i];
        axis[used++] = add_axis(cx, spec, expr_as_var(s->free[i])->name, AXIS_REDUCE, s->extent[i]);
    }
    return ctx_failed(cx) ? expr_poison(cx) : expr_substitute(cx, value, from, axis, used);
}

/* Computes the summand of one term. */
static Tensor *gather(const Reads *r, const Domain *d, const Term *t)
{
    Ctx *cx = r->cx;
    const Tensor *x = t->read->ref;
    StageSpec spec = { .name = summands_adjoint_name(r->to, x), .out_count = 1 };
    const Expr *at[MAX_RANK];
    Solution *s = NEW(cx->arena, Solution);
    IndexEquations e = { .var_count = d->count, .var = d->var, .extent = d->extent, .dim_count = x->rank,
                         .index = t->read->arg, .at = at };
    for (int i = 0; i < x->rank; i++) {
        const bool is_step = i == 0 && is_of_cycle(r, x);
        at[i] = add_axis(cx, &spec, axis_name(cx, d, t->read, i), is_step ? AXIS_ORDERED : AXIS_DATA, x->shape[i]);
        e.scope = bounds_var(cx, e.scope, at[i], x->shape[i]);
        if (is_step) at[i] = expr_sub(cx, r->of->last_step, at[i]);
    }
    if (!solve_index(cx, &e, s)) {
        diag_unsupported(cx, r->of->stage->name, "the gradient of '%s' has too many variables", x->name);
        return NULL;
    }
    const Expr *value = with_stored(r, expr_substitute(cx, t->value, s->from, s->to, s->solved_count)),
               *holds = t->condition ? expr_substitute(cx, t->condition, s->from, s->to, s->solved_count) : NULL;
    s->condition = with_stored(r, s->condition);
    spec.value[0] = over_free_axes(cx, &spec, s, gathered(cx, s, with_stored(r, holds), value, is_of_cycle(r, x)));
    spec.reducer = s->free_count ? REDUCE_SUM : REDUCE_NONE;
    Node *n = compute_new(cx, &spec);
    return n ? n->out[0] : NULL;
}

static void gather_all(const Reads *r, const Domain *d, const Local *l)
{
    Term *term;
    const int count = local_terms(r->cx, l, &term);
    for (int i = 0; i < count && !ctx_failed(r->cx); i++) {
        const Tensor *x = term[i].read->ref;
        summands_add(is_of_cycle(r, x) ? r->of->inside : r->to, x, gather(r, d, &term[i]));
    }
}

/* ---- Reducers ---------------------------------------------------------------------------------------------------- */

/* Returns the number of the reduction's point, row-major over the reduce axes. */
static const Expr *point_number(Ctx *cx, const Stage *s)
{
    const Expr *number = expr_index(cx, 0);
    for (int a = s->data_count; a < s->axis_count; a++)
        number = expr_add(cx, expr_mul(cx, number, s->axis[a].extent), s->axis[a].var);
    return simplify(cx, number, NULL);
}

static const Expr *data_read(Ctx *cx, const Stage *s, const Tensor *t)
{
    const Expr *at[MAX_AXES];
    for (int a = 0; a < s->data_count; a++) at[a] = s->axis[a].var;
    return tensor_read(cx, t, at, s->data_count);
}

/* Returns the adjoint of the stage's element. */
static const Expr *own_adjoint(const Reads *r, int output)
{
    const Expr *at[MAX_AXES];
    const Stage *s = r->of->stage;
    for (int a = 0; a < s->data_count; a++) at[a] = s->axis[a].var;
    if (r->of->last_step) at[0] = expr_sub(r->cx, r->of->last_step, at[0]);
    return adjoint_read(r->cx, r->of->adjoint[output], at);
}

static const char *name_of(const Reads *r, const char *word)
{
    return summands_name(r->to, name_format(r->cx, "%s_%s", r->of->stage->name, word));
}

/* Builds a compute over fresh copies of the axes. Ordered axes become data axes, because no value of the new compute
 * depends on an earlier step. */
static Node *compute_over_copies(const Reads *r, StageSpec spec)
{
    Ctx *cx = r->cx;
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    for (int a = 0; a < spec.axis_count; a++) {
        from[a] = spec.axis[a].var;
        to[a] = axis_var(cx, expr_as_var(from[a])->name, expr_substitute(cx, spec.axis[a].extent, from, to, a));
        if (spec.axis[a].kind == AXIS_ORDERED) spec.axis[a].kind = AXIS_DATA;
        spec.axis[a] = (Axis){ to[a], spec.axis[a].kind, expr_substitute(cx, spec.axis[a].extent, from, to, a) };
    }
    for (int i = 0; i < spec.out_count; i++) {
        spec.value[i] = with_stored(r, expr_substitute(cx, spec.value[i], from, to, spec.axis_count));
        if (spec.init[i]) spec.init[i] = with_stored(r, expr_substitute(cx, spec.init[i], from, to, spec.axis_count));
    }
    return compute_new(cx, &spec);
}

/* Returns the number of the first extremum of each row, or -1 if the extremum is the initial value. */
static Tensor *extremum(const Reads *r, const Stage *s, int component)
{
    Ctx *cx = r->cx;
    const bool is_max = s->reducer == REDUCE_MAX || s->reducer == REDUCE_ARGMAX;
    StageSpec spec = { .name = name_of(r, "at"), .axis_count = s->axis_count, .out_count = 2,
                       .reducer = is_max ? REDUCE_ARGMAX : REDUCE_ARGMIN };
    for (int a = 0; a < s->axis_count; a++) spec.axis[a] = s->axis[a];
    spec.value[0] = point_number(cx, s);
    spec.value[1] = s->value[component];
    spec.init[0] = expr_index(cx, -1);
    spec.init[1] = s->init[component];
    Node *n = compute_over_copies(r, spec);
    return n ? n->out[0] : NULL;
}

static void of_extremum(const Reads *r, int component)
{
    Ctx *cx = r->cx;
    const Stage *s = r->of->stage;
    const Tensor *at = extremum(r, s, component);
    if (!at) return;
    const Expr *number = data_read(cx, s, at);
    const Domain data = domain_of(s, s->data_count), all = domain_of(s, s->axis_count);
    Local l = { s->value[component], NULL, own_adjoint(r, component),
                expr_binary(cx, EXPR_EQ, number, point_number(cx, s)), r->of->is_active };
    gather_all(r, &all, &l);
    l.value = s->init[component];
    l.condition = expr_binary(cx, EXPR_EQ, number, expr_index(cx, -1));
    gather_all(r, &data, &l);
}

/* Returns others[i, k] = init[i] * prod(j) select(j == k, 1, e(i, j)). */
static Tensor *other_factors(const Reads *r, const Stage *s)
{
    Ctx *cx = r->cx;
    const Expr *from[MAX_AXES], *to[MAX_AXES], *same = NULL;
    const int reduced = s->axis_count - s->data_count;
    StageSpec spec = { .name = name_of(r, "others"), .out_count = 1, .reducer = REDUCE_PROD };
    if (s->axis_count + reduced > MAX_AXES || s->axis_count > MAX_RANK) {
        diag_unsupported(cx, s->name, "the gradient is of a product in a formula with %d axes; use at most %d axes",
                         s->axis_count, MAX_RANK);
        return NULL;
    }
    for (int a = 0; a < s->axis_count; a++)
        spec.axis[spec.axis_count++] = (Axis){ s->axis[a].var, AXIS_DATA, s->axis[a].extent };
    for (int i = 0; i < reduced; i++) {
        const Axis *k = &s->axis[s->data_count + i];
        from[i] = k->var;
        to[i] = axis_var(cx, name_format(cx, "%s_other", expr_as_var(k->var)->name), k->extent);
        spec.axis[spec.axis_count++] = (Axis){ to[i], AXIS_REDUCE, k->extent };
        const Expr *equal = expr_binary(cx, EXPR_EQ, to[i], k->var);
        same = same ? expr_and(cx, same, equal) : equal;
    }
    const Expr *other = expr_substitute(cx, s->value[0], from, to, reduced);
    spec.value[0] = expr_select(cx, same, expr_real(cx, other->type, 1), other);
    spec.init[0] = s->init[0];
    Node *n = compute_over_copies(r, spec);
    return n ? n->out[0] : NULL;
}

static Tensor *all_factors(const Reads *r, const Stage *s)
{
    StageSpec spec = { .name = name_of(r, "factors"), .axis_count = s->axis_count, .out_count = 1,
                       .reducer = REDUCE_PROD, .value = { s->value[0] } };
    for (int a = 0; a < s->axis_count; a++) spec.axis[a] = s->axis[a];
    Node *n = compute_over_copies(r, spec);
    return n ? n->out[0] : NULL;
}

static void of_product(const Reads *r)
{
    Ctx *cx = r->cx;
    const Stage *s = r->of->stage;
    const Tensor *others = other_factors(r, s);
    if (!others) return;
    const Domain data = domain_of(s, s->data_count), all = domain_of(s, s->axis_count);
    const Expr *g = own_adjoint(r, 0);
    const Expr *rest = tensor_read(cx, others, all.var, all.count);
    Local l = { s->value[0], NULL, expr_mul(cx, g, rest), NULL, r->of->is_active };
    gather_all(r, &all, &l);
    if (expr_is_const(s->init[0])) return;
    const Tensor *product = all_factors(r, s);
    if (!product) return;
    l.value = s->init[0];
    l.adjoint = expr_mul(cx, g, data_read(cx, s, product));
    gather_all(r, &data, &l);
}

static void of_sum(const Reads *r)
{
    const Stage *s = r->of->stage;
    const Domain data = domain_of(s, s->data_count), all = domain_of(s, s->axis_count);
    Local l = { s->value[0], NULL, own_adjoint(r, 0), NULL, r->of->is_active };
    gather_all(r, &all, &l);
    l.value = s->init[0];
    gather_all(r, &data, &l);
}

static void of_elements(const Reads *r)
{
    const Stage *s = r->of->stage;
    const Domain all = domain_of(s, s->axis_count);
    for (int o = 0; o < s->out_count; o++) {
        if (!r->of->adjoint[o]) continue;
        const Local l = { s->value[o], data_read(r->cx, s, s->out[o]), own_adjoint(r, o), NULL,
                          r->of->is_active };
        gather_all(r, &all, &l);
    }
}

/* Reduces each value of a sum, product or extremum separately. */
static bool in_components(Ctx *cx, const StageAdjoint *a, Summands *to)
{
    const Stage *s = a->stage;
    if (s->reducer == REDUCE_NONE || reducer_info(s->reducer)->components > 1 || s->out_count == 1) return false;
    for (int i = 0; i < s->out_count; i++) {
        const Stage one = stage_component(s, i);
        StageAdjoint alone = *a;
        alone.stage = &one;
        alone.adjoint += i;
        stage_summands(cx, &alone, to);
    }
    return true;
}

static bool is_zero(const StageAdjoint *a)
{
    for (int i = 0; i < a->stage->out_count; i++)
        if (a->adjoint[i]) return false;
    return true;
}

void stage_summands(Ctx *cx, const StageAdjoint *a, Summands *to)
{
    if (is_zero(a) || in_components(cx, a, to)) return;
    const Reads r = { cx, a, to };
    const int value = reducer_selects(a->stage->reducer);
    switch (a->stage->reducer) {
    case REDUCE_NONE: of_elements(&r); break;
    case REDUCE_SUM: of_sum(&r); break;
    case REDUCE_PROD: of_product(&r); break;
    case REDUCE_MAX: case REDUCE_MIN: case REDUCE_ARGMAX: case REDUCE_ARGMIN:
        if (a->adjoint[value]) of_extremum(&r, value);
        break;
    case REDUCE_OWN:
        diag_unsupported(cx, name_format(cx, "formula \"%s\"", a->stage->name),
                         "the gradient of %s, a reducer that the file declares", stage_reducer(a->stage)->spelling);
        break;
    case REDUCE_ALL: case REDUCE_ANY: case REDUCER_COUNT: break;
    }
}
