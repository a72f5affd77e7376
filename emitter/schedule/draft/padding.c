/* SPDX-License-Identifier: MIT */
#include "schedule/draft/padding.h"

#include "schedule/draft/margin.h"

/* ---- The width --------------------------------------------------------------------------------------------------- */

typedef struct Widen { Draft *d; const Tensor *tensor; const Stage *stage; Padding *padding; bool fine; } Widen;

static bool widen_dimension(Widen *w, const Expr *index, int d)
{
    enum { MOST = INT16_MAX };
    Ctx *cx = w->d->cx;
    const Bounds *axes = stage_scope(cx, w->stage);
    const Expr *inner[MAX_AXES];
    Reach reached;
    const char *why;
    for (int a = 0; a < w->stage->axis_count; a++) inner[a] = w->stage->axis[a].var;
    index = simplify(cx, index, axes);
    if (expr_reads(cx, index) || !reach(cx, index, axes, inner, w->stage->axis_count, &reached, &why))
        return refuse_unproved(w->d, FAULT_INDEX, "indices over loops",
                               "the read of %s along dimension %d in %s has no bounds", w->tensor->name, d,
                               w->stage->name);
    const Expr *past = expr_sub(cx, reached.high, expr_sub(cx, w->tensor->shape[d], expr_index(cx, 1)));
    const int64_t below = -interval_of(cx, reached.low, NULL).least,
                  above = interval_of(cx, simplify(cx, past, NULL), NULL).greatest;
    if (below > MOST || above > MOST)
        return refuse_unproved(w->d, FAULT_INDEX, "a halo of fixed width",
                               "%s reads %s along dimension %d more than %d elements outside", w->stage->name,
                               w->tensor->name, d, MOST);
    if (below > w->padding->below[d]) w->padding->below[d] = below;
    if (above > w->padding->above[d]) w->padding->above[d] = above;
    return true;
}

static void widen(const Expr *e, void *user)
{
    Widen *w = user;
    if (e->kind != EXPR_READ || e->ref != w->tensor) return;
    for (int d = 0; d < e->arg_count && w->fine; d++) w->fine = widen_dimension(w, e->arg[d], d);
}

/* ---- The value --------------------------------------------------------------------------------------------------- */

/* The selects that read outside the tensor. The first one decides the value, unless the step states it. */
typedef struct Uncover {
    Draft *d;
    const Stage *reader;
    Margin margin;
    bool is_decided;
    const char *why;                     /* the first condition that stays */
} Uncover;

typedef struct OutsideRead { const Margin *m; bool found; } OutsideRead;

static void find_outside(const Expr *e, void *user)
{
    OutsideRead *o = user;
    const Margin *m = o->m;
    if (e->kind != EXPR_READ || e->ref != m->tensor) return;
    for (int d = 0; d < e->arg_count; d++)
        o->found = o->found
                   || !provably(m->cx, expr_binary(m->cx, EXPR_LE, expr_index(m->cx, 0), e->arg[d]), m->scope)
                   || !provably(m->cx, expr_binary(m->cx, EXPR_LT, e->arg[d], m->shape[d]), m->scope);
}

enum { MOST_VALUES = 32 };
typedef struct Values { Ctx *cx; DType type; int count; const Expr *value[MOST_VALUES]; } Values;

static bool type_holds(DType type, int64_t number)
{
    return !dtype_is_integer(type) || (number >= dtype_info(type)->least && number <= dtype_info(type)->greatest);
}

static void add_value(Values *v, int64_t number)
{
    if (v->count < MOST_VALUES && type_holds(v->type, number)) v->value[v->count++] = expr_int(v->cx, v->type, number);
}

static void find_constant(const Expr *e, void *user)
{
    if (e->kind != EXPR_INT || e->integer == INT64_MIN) return;
    add_value(user, e->integer);
    add_value(user, -e->integer);
}

/* Tries 0, the other branch, and the constants of the select, such as a zero point. */
static const Expr *decide(Uncover *u, const Expr *select)
{
    Ctx *cx = u->d->cx;
    const Expr *no = select->arg[SELECT_NO];
    Values v = { .cx = cx, .type = u->margin.tensor->type };
    add_value(&v, 0);
    if (expr_is_const(no) && no->type == v.type) v.value[v.count++] = no;
    expr_walk(cx, select->arg[SELECT_YES], find_constant, &v);
    for (int i = 0; i < v.count; i++) {
        u->margin.value = v.value[i];
        const Expr *yes = margin_without_condition(&u->margin, select);
        if (!yes && !u->margin.waits) continue;
        u->is_decided = true;
        return yes;
    }
    u->margin.value = v.value[0];
    return margin_without_condition(&u->margin, select);
}

/* ---- Elements that nothing reads --------------------------------------------------------------------------------- */

typedef struct UnreadElements { const Stage *stage; const Expr *cond; bool holds; } UnreadElements;

static void require_condition(Ctx *cx, const Expr *read, const Bounds *facts, void *user)
{
    UnreadElements *u = user;
    const Expr *axis[MAX_RANK];
    if (!stage_produces(u->stage, read->ref)) return;
    for (int d = 0; d < u->stage->data_count; d++) axis[d] = u->stage->axis[d].var;
    const Expr *there = expr_substitute(cx, u->cond, axis, read->arg, u->stage->data_count);
    u->holds = u->holds && provably(cx, there, facts);
}

/* Returns true if nothing reads the elements of the stage for which the condition fails, such as those that `pad`
 * adds. The value of such elements is then free. */
static bool is_unread_outside(Draft *d, const Stage *s, const Expr *cond)
{
    UnreadElements u = { s, cond, !stage_is_output(&d->next, s) && !expr_reads(d->cx, cond) };
    for (int a = s->data_count; a < s->axis_count; a++) u.holds = u.holds && !expr_uses(cond, s->axis[a].var);
    for (int i = 0; i < d->next.stage_count && u.holds; i++)
        stage_visit_reads(d->cx, d->next.stage[i], stage_scope(d->cx, d->next.stage[i]), require_condition, &u);
    return u.holds;
}

static const Expr *uncover(Ctx *cx, const Expr *e, void *user)
{
    Uncover *u = user;
    OutsideRead o = { &u->margin, false };
    if (e->kind == EXPR_SELECT) expr_walk(cx, e->arg[SELECT_YES], find_outside, &o);
    if (!o.found) return e;
    if (is_unread_outside(u->d, u->reader, e->arg[SELECT_COND]))
        return margin_others_exist(&u->margin, e->arg[SELECT_YES]) ? e->arg[SELECT_YES] : e;
    const Expr *yes = u->is_decided ? margin_without_condition(&u->margin, e) : decide(u, e);
    /* A condition over several tensors goes when the last of them has its copy. */
    if (!yes && !u->margin.waits && !u->why) u->why = u->margin.why;
    return yes ? yes : e;
}

static bool value_fits(Draft *d, const Tensor *t)
{
    const int64_t value = d->args.padded.value;
    const DTypeInfo *type = dtype_info(t->type);
    return !d->args.padded.has_value || type_holds(t->type, value)
           || refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "a value of %s", type->spelling),
                             "%s is %s, and does not hold %lld", t->name, type->spelling, (long long)value);
}

bool padding_of(Draft *d, const Tensor *t, const Stage **reader, int count, Padding *out)
{
    Ctx *cx = d->cx;
    *out = (Padding){ .value = NULL };
    if (!value_fits(d, t)) return false;
    Uncover u = { .d = d, .is_decided = d->args.padded.has_value,
                  .margin = { .cx = cx, .tensor = t, .shape = t->shape, .holds_all = true } };
    u.margin.value = expr_int(cx, t->type, d->args.padded.value);
    for (int i = 0; i < count; i++) {
        Widen w = { d, t, reader[i], out, true };
        for (int k = 0; k < reader[i]->out_count; k++) expr_walk(cx, reader[i]->value[k], widen, &w);
        if (!w.fine) return false;
        u.margin.scope = stage_scope(cx, reader[i]);
        u.reader = reader[i];
        reader[i] = stage_with_values(cx, reader[i], uncover, &u);
        if (u.why)
            return refuse_unproved(d, FAULT_INDEX, "padded=V with the value that the condition stands for, or a copy "
                                                   "without `padded`",
                                   "%s keeps its condition: %s", reader[i]->name, u.why);
    }
    out->value = u.margin.value;
    return true;
}
