/* SPDX-License-Identifier: MIT */
/* Each distinct node is a site in one array, operands before users. A site stores its value and the number of the
 * point at which it was computed; a new point is a new number. */
#include "ir/interpret/point.h"

#include <string.h>

#include "support/map.h"
#include "support/text.h"

typedef struct PointSite {
    const Expr *expr;
    const int *arg;           /* the sites of the operands */
    Scalar value;
    uint64_t computed_at;     /* the point at which `value` was computed; ALWAYS for constants and variables */
} PointSite;

static const uint64_t ALWAYS = UINT64_MAX;

struct Point {
    Ctx *cx;
    PointRead *read;
    void *user;
    Map site_of;              /* maps an Expr to its index + 1, stored as a pointer into `tokens` */
    PointSite *site;
    int count, capacity;
    uint64_t now;
};

Point *point_new(Ctx *cx, PointRead *read, void *user)
{
    Point *p = NEW(cx->arena, Point);
    *p = (Point){ .cx = cx, .read = read, .user = user, .site_of = map_new(cx->arena), .now = 1 };
    return p;
}

static void grow(Point *p)
{
    PointSite *more = NEW_ARRAY(p->cx->arena, PointSite, p->capacity = p->capacity ? 2 * p->capacity : 64);
    if (p->count) memcpy(more, p->site, (size_t)p->count * sizeof *more);
    p->site = more;
}

int point_site(Point *p, const Expr *e)
{
    const int *found = map_get_ptr(&p->site_of, e);
    if (found) return *found;
    int *arg = NEW_ARRAY(p->cx->arena, int, e->arg_count);
    for (int i = 0; i < e->arg_count; i++) arg[i] = point_site(p, e->arg[i]);
    if (p->count == p->capacity) grow(p);
    int *number = NEW(p->cx->arena, int);
    *number = p->count++;
    p->site[*number] = (PointSite){ .expr = e, .arg = arg };
    if (expr_is_const(e)) {
        p->site[*number].value = expr_scalar(e);
        p->site[*number].computed_at = ALWAYS;
    }
    map_put_ptr(&p->site_of, e, number);
    return *number;
}

typedef struct SizeValues { Point *point; const Env *env; } SizeValues;

static void set_size(const Expr *e, void *user)
{
    const SizeValues *s = user;
    int64_t value;
    if (e->kind == EXPR_VAR && env_size(s->env, e, &value)) point_set_int(s->point, e, value);
}

int point_site_in(Point *p, const Env *sizes, const Expr *e)
{
    const int *found = map_get_ptr(&p->site_of, e);
    SizeValues s = { p, sizes };
    if (found) return *found;
    expr_walk(p->cx, e, set_size, &s);
    return point_site(p, e);
}

void point_set(Point *p, const Expr *var, Scalar value)
{
    int number = point_site(p, var);     /* may reallocate p->site */
    PointSite *s = &p->site[number];
    s->value = value;
    s->computed_at = ALWAYS;
    p->now++;
}

void point_set_int(Point *p, const Expr *var, int64_t value)
{
    Scalar s = { .i = value };
    point_set(p, var, s);
}

void point_invalidate(Point *p) { p->now++; }

static Scalar read_element(Point *p, const PointSite *s)
{
    const Tensor *t = s->expr->ref;
    int64_t index[MAX_RANK] = { 0 };
    for (int d = 0; d < t->rank; d++) index[d] = point_value(p, s->arg[d]).i;
    return p->read(p->user, t, index);
}

static Scalar no_value(Point *p, const Expr *e)
{
    Scalar zero = { 0 };
    const Var *v = expr_as_var(e);
    if (v && v->role == VAR_SIZE) 
        diag_error(p->cx, NULL, "the size \"%s\" has no value; pass an input whose shape has it", v->name);
    else diag_internal(p->cx, NULL, "'%s' has no value here", v ? v->name : expr_info(e->kind)->spelling);
    return zero;
}

static Scalar apply(Point *p, const PointSite *s)
{
    const Expr *e = s->expr;
    Scalar v[3] = { { 0 } };
    for (int i = 0; i < e->arg_count; i++) v[i] = point_value(p, s->arg[i]);
    return scalar_apply(e->kind, e->type, e->arg[e->arg_count - 1]->type, v);
}

static Scalar compute(Point *p, const PointSite *s)
{
    Scalar left;
    switch (s->expr->kind) {
    case EXPR_READ:   return read_element(p, s);
    case EXPR_SELECT: return point_value(p, s->arg[point_value(p, s->arg[SELECT_COND]).i ? SELECT_YES : SELECT_NO]);
    case EXPR_AND:    left = point_value(p, s->arg[0]); return left.i ? point_value(p, s->arg[1]) : left;
    case EXPR_OR:     left = point_value(p, s->arg[0]); return left.i ? left : point_value(p, s->arg[1]);
    case EXPR_RUNTIME: return point_value(p, s->arg[RUNTIME_VALUE]);
    case EXPR_POISON:
    case EXPR_VAR:
    case EXPR_LOAD:
    case EXPR_AT:  return no_value(p, s->expr);
    default:          return apply(p, s);
    }
}

Scalar point_value(Point *p, int site)
{
    PointSite *s = &p->site[site];
    if (s->computed_at == ALWAYS || s->computed_at == p->now) return s->value;
    s->value = compute(p, s);
    s->computed_at = p->now;
    return s->value;
}

const char *index_text(Ctx *cx, int rank, const int64_t *index)
{
    Text t = text_new(cx);
    for (int d = 0; d < rank; d++) text_printf(&t, "[%lld]", (long long)index[d]);
    return rank ? text_string(&t) : "[]";
}
