/* SPDX-License-Identifier: MIT */
/* The reads of a stage, each with the conditions around it. */
#include "ir/algebra/algebra.h"

typedef struct Reads {
    Ctx *cx; const Bounds *scope; ReadVisit *visit; void *user; int steps; Map has_read, seen;
} Reads;
enum { MAX_CONDITIONAL_STEPS = 3000 };

static bool has_read(Reads *r, const Expr *e)
{
    static const char yes, no;
    const char *known = map_get_const_ptr(&r->has_read, e);
    if (known) return known == &yes;
    bool found = e->kind == EXPR_READ;
    for (int i = 0; i < e->arg_count && !found; i++) found = has_read(r, e->arg[i]);
    map_put_const_ptr(&r->has_read, e, (found ? &yes : &no));
    return found;
}

/* Returns the scope of an operand: a side of a select, and the second operand of && and ||, are evaluated only where
 * the first operand requires it. */
static const Bounds *scope_of(Ctx *cx, const Expr *e, int operand, const Bounds *scope)
{
    const bool if_true = (e->kind == EXPR_SELECT && operand == SELECT_YES) || (e->kind == EXPR_AND && operand == 1);
    const bool if_false = (e->kind == EXPR_SELECT && operand == SELECT_NO) || (e->kind == EXPR_OR && operand == 1);
    if (if_true) return bounds_fact(cx, scope, e->arg[0]);
    return if_false ? bounds_fact(cx, scope, expr_unary(cx, EXPR_NOT, e->arg[0])) : scope;
}

/* Visits the reads in e. A node below a condition is visited again, because its facts differ. After
 * MAX_CONDITIONAL_STEPS visits the facts are dropped, which is conservative. */
static void find_reads(Reads *r, const Expr *e, const Bounds *scope)
{
    if (scope != r->scope && r->steps++ > MAX_CONDITIONAL_STEPS) scope = r->scope;
    if (!has_read(r, e) || (scope == r->scope && map_get_ptr(&r->seen, e))) return;
    if (scope == r->scope) map_put_ptr(&r->seen, e, r);
    if (e->kind == EXPR_READ) r->visit(r->cx, e, scope, r->user);
    for (int i = 0; i < e->arg_count; i++) find_reads(r, e->arg[i], scope_of(r->cx, e, i, scope));
}

void stage_visit_reads(Ctx *cx, const Stage *s, const Bounds *scope, ReadVisit *visit, void *user)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Reads r = { cx, scope, visit, user, 0, map_new(cx->scratch), map_new(cx->scratch) };
    for (int i = 0; i < s->out_count; i++) {
        find_reads(&r, s->value[i], scope);
        if (s->init) find_reads(&r, s->init[i], scope);
    }
    arena_reset(cx->scratch, mark);
}

const Bounds *stage_scope(Ctx *cx, const Stage *s)
{
    const Bounds *b = NULL;
    for (int a = 0; a < s->axis_count; a++) b = bounds_var(cx, b, s->axis[a].var, s->axis[a].extent);
    return b;
}

bool never_holds(Ctx *cx, const Bounds *facts, const Bounds *outer, const Bounds *scope)
{
    for (const Bounds *f = facts; f != outer; f = f->outer)
        if (provably(cx, expr_unary(cx, EXPR_NOT, f->fact), scope)) return true;
    return false;
}

bool ranges_prove_inside(Ranges *r, const Expr *index, const Expr *size)
{
    Ctx *cx = r->cx;
    return ranges_prove(r, expr_binary(cx, EXPR_LE, expr_index(cx, 0), index))
           && ranges_prove(r, expr_binary(cx, EXPR_LT, index, size));
}

/* ---- Point by point ---------------------------------------------------------------------------------------------- */

enum { MOST_POINTS = 4096 };

/* The axes that an index and the facts around it use, and a point of them. */
typedef struct Points {
    int count;
    int64_t points, size[MAX_AXES];
    const Expr *axis[MAX_AXES], *value[MAX_AXES];
} Points;

static bool uses_axis(const Expr *index, const Bounds *facts, const Bounds *outer, const Expr *axis)
{
    bool uses = expr_uses(index, axis);
    for (const Bounds *f = facts; f != outer; f = f->outer) uses = uses || expr_uses(f->fact, axis);
    return uses;
}

static bool add_axis(Points *p, const Axis *axis)
{
    const int64_t size = axis->extent->kind == EXPR_INT ? axis->extent->integer : 0;
    if (size < 1 || size > MOST_POINTS / p->points) return false;
    p->points *= size;
    p->size[p->count] = size;
    p->axis[p->count++] = axis->var;
    return true;
}

static void go_to(Ctx *cx, Points *p, int64_t point)
{
    for (int a = 0; a < p->count; point /= p->size[a++]) p->value[a] = expr_index(cx, point % p->size[a]);
}

static const Expr *value_at(Ctx *cx, const Points *p, const Expr *e)
{
    return simplify(cx, expr_substitute(cx, e, p->axis, p->value, p->count), NULL);
}

static bool is_inside_at(Ctx *cx, const Points *p, const Expr *index, const Expr *size, const Bounds *facts,
                         const Bounds *outer)
{
    const Bounds *scope = NULL;
    for (const Bounds *f = facts; f != outer; f = f->outer) {
        const Expr *fact = value_at(cx, p, f->fact);
        if (expr_is_int(fact, 0)) return true;
        scope = bounds_fact(cx, scope, fact);
    }
    const Expr *at = value_at(cx, p, index);
    Ranges r = ranges_new(cx, scope);
    const bool is_inside = ranges_prove_inside(&r, at, size);
    ranges_free(&r);
    return is_inside;
}

bool is_inside_at_points(Ctx *cx, const Stage *s, const Expr *index, const Expr *size, const Bounds *facts,
                         const Bounds *outer)
{
    Points p = { .points = 1 };
    for (int a = 0; a < s->axis_count; a++)
        if (uses_axis(index, facts, outer, s->axis[a].var) && !add_axis(&p, &s->axis[a])) return false;
    for (int64_t i = 0; i < p.points; i++) {
        go_to(cx, &p, i);
        if (!is_inside_at(cx, &p, index, size, facts, outer)) return false;
    }
    return true;
}
