/* SPDX-License-Identifier: MIT */
#include "schedule/draft/margin.h"

#include "ir/text/formula.h"

static const char *text_of(Ctx *cx, const Expr *e)
{
    Text t = text_new(cx);
    print_expr(&t, e);
    return text_string(&t);
}

static bool is_read(const Margin *m, const Expr *e) { return e->kind == EXPR_READ && e->ref == m->tensor; }

static const Expr *by_value(Ctx *cx, const Expr *e, void *user)
{
    const Margin *m = user;
    (void)cx;
    return is_read(m, e) ? m->value : e;
}

const Expr *margin_value(Margin *m, const Expr *e)
{
    return simplify(m->cx, expr_rewrite(m->cx, e, by_value, m), m->scope);
}

typedef struct MarginReads { Margin *m; const Expr *condition; bool fine, fails_inside; } MarginReads;

static const Expr *in_range(Ctx *cx, const Expr *index, const Expr *size)
{
    return expr_and(cx, expr_binary(cx, EXPR_LE, expr_index(cx, 0), index), expr_binary(cx, EXPR_LT, index, size));
}

/* Returns true if a read inside the old shape implies the condition. */
static bool implies(Margin *m, const Expr *read, const Expr *condition)
{
    Ctx *cx = m->cx;
    const Bounds *inside = m->scope;
    const Expr *part[MAX_CONJUNCTS];
    const int parts = conjuncts_of(condition, part);
    for (int d = 0; d < read->arg_count; d++) {
        const Expr *index = read->arg[d];
        inside = bounds_fact(cx, inside, expr_binary(cx, EXPR_LE, expr_index(cx, 0), index));
        inside = bounds_fact(cx, inside, expr_binary(cx, EXPR_LT, index, m->shape[d]));
    }
    for (int i = 0; i < parts; i++)
        if (!provably(cx, part[i], inside)) return false;
    return true;
}

static bool exists(Margin *m, const Expr *read)
{
    const Tensor *t = read->ref;
    for (int d = 0; d < read->arg_count; d++)
        if (!provably(m->cx, in_range(m->cx, read->arg[d], t->shape[d]), m->scope)) return false;
    return true;
}

static void visit_read(const Expr *e, void *user)
{
    MarginReads *r = user;
    Margin *m = r->m;
    if (e->kind != EXPR_READ || r->fails_inside) return;
    if (is_read(m, e) && !implies(m, e, r->condition)) {
        m->why = text_format(m->cx, "the condition %s also fails inside %s, at %s", text_of(m->cx, r->condition),
                             m->tensor->name, text_of(m->cx, e));
        r->fine = false;
        r->fails_inside = true;
    } else if ((!is_read(m, e) || !m->holds_all) && !exists(m, e)) {
        m->why = text_format(m->cx, "the condition %s also keeps the read %s inside its tensor",
                             text_of(m->cx, r->condition), text_of(m->cx, e));
        r->fine = false;
    }
}

static void visit_other(const Expr *e, void *user)
{
    MarginReads *r = user;
    if (e->kind == EXPR_READ && !is_read(r->m, e)) r->fine = r->fine && exists(r->m, e);
}

bool margin_others_exist(Margin *m, const Expr *e)
{
    MarginReads r = { m, NULL, true, false };
    expr_walk(m->cx, e, visit_other, &r);
    return r.fine;
}

const Expr *margin_without_condition(Margin *m, const Expr *select)
{
    Ctx *cx = m->cx;
    const Expr *yes = select->arg[SELECT_YES], *no = simplify(cx, select->arg[SELECT_NO], m->scope);
    const Expr *outside = margin_value(m, yes);
    const bool fits = outside == no || (dtype_is_integer(no->type) && provably_equal(cx, outside, no, m->scope));
    MarginReads r = { m, select->arg[SELECT_COND], true, false };
    m->why = NULL;
    expr_walk(cx, yes, visit_read, &r);
    m->waits = fits && !r.fine && !r.fails_inside;
    if (!r.fine) return NULL;
    if (fits) return yes;
    m->why = text_format(cx, "outside %s, the value is %s with %s in place of the element, and %s by the condition",
                         m->tensor->name, text_of(cx, outside), text_of(cx, m->value), text_of(cx, no));
    return NULL;
}

static void find_read(const Expr *e, void *user)
{
    MarginReads *r = user;
    r->fine = r->fine || is_read(r->m, e);
}

static const Expr *without_condition(Ctx *cx, const Expr *e, void *user)
{
    Margin *m = user;
    MarginReads r = { m, NULL, false, false };
    if (e->kind == EXPR_SELECT) expr_walk(cx, e->arg[SELECT_YES], find_read, &r);
    const Expr *yes = r.fine ? margin_without_condition(m, e) : NULL;
    return yes ? yes : e;
}

const Stage *margin_simplify(Margin *m, const Stage *s)
{
    m->scope = stage_scope(m->cx, s);
    return stage_with_values(m->cx, s, without_condition, m);
}
