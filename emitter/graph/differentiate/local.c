/* SPDX-License-Identifier: MIT */
/* Computes derivatives by reverse accumulation over one expression. Every node has a flow: the adjoint of its value,
 * and the condition under which the node is evaluated at all. The flow of the root is the adjoint of the compute's
 * element. From the flow of a node, the rows of derivatives.def give the flows of its operands. Equal subexpressions
 * are one node, so their flows are added.
 *
 *   select(c, a, b)   a receives the flow under the condition && c, b under && !c
 *
 * The condition is separate from the adjoint, because an operand's value, a padded read, exists only under the
 * condition. */
#include "graph/differentiate/local.h"

#include "graph/differentiate/summands.h"
#include "ir/text/formula.h"

typedef struct DerivativeRow { const char *of[3]; } DerivativeRow;
static const DerivativeRow rows[EXPR_KIND_COUNT] = {
#define DERIVATIVE(kind, a, b, c) [EXPR_##kind] = { { a, b, c } },
#include "graph/differentiate/derivatives.def"
#undef DERIVATIVE
};

typedef struct Flow { const Expr *adjoint, *condition; } Flow;

typedef struct Accumulation {
    Ctx *cx;
    const Local *of;
    int count, capacity;
    const Expr **node;               /* the active nodes, operands first */
    Map index;                       /* maps a node to its flow */
    int term_count; Term *term;
} Accumulation;

/* ---- Active nodes ------------------------------------------------------------------------------------------------ */

static Flow *flow_of(const Accumulation *a, const Expr *e) { return map_get_ptr(&a->index, e); }

/* A node is active if an adjoint can reach a read through it. Adjoints pass through floats only. */
static bool is_active(const Accumulation *a, const Expr *e)
{
    if (!dtype_is_float(e->type)) return false;
    if (e->kind == EXPR_READ) return map_get_ptr(a->of->is_active, e->ref) != NULL;
    for (int i = 0; i < e->arg_count; i++)
        if (flow_of(a, e->arg[i])) return true;
    return false;
}

static void collect(const Expr *e, void *user)
{
    Accumulation *a = user;
    if (!is_active(a, e)) return;
    if (a->count == a->capacity) {
        const Expr **more = NEW_ARRAY(a->cx->arena, const Expr *, a->capacity = 2 * a->capacity + 16);
        for (int i = 0; i < a->count; i++) more[i] = a->node[i];
        a->node = more;
    }
    a->node[a->count++] = e;
    map_put_ptr(&a->index, e, NEW(a->cx->arena, Flow));
}

/* ---- Flows ------------------------------------------------------------------------------------------------------- */

static const Expr *zero(Ctx *cx, DType t) { return expr_real(cx, t, 0); }

static const Expr *under(Ctx *cx, const Expr *condition, const Expr *value)
{
    return condition ? expr_select(cx, condition, value, zero(cx, value->type)) : value;
}

static const Expr *both(Ctx *cx, const Expr *p, const Expr *q) { return p && q ? expr_and(cx, p, q) : p ? p : q; }

/* Adds an adjoint that exists under the condition. */
static void add_flow(Accumulation *a, const Expr *to, const Expr *adjoint, const Expr *condition)
{
    Flow *f = flow_of(a, to);
    Ctx *cx = a->cx;
    if (!f) return;
    adjoint = expr_cast(cx, adjoint_type(to->type), adjoint);
    if (!f->adjoint) {
        *f = (Flow){ adjoint, condition };
    } else if (f->condition == condition) {
        f->adjoint = expr_add(cx, f->adjoint, adjoint);
    } else {
        f->adjoint = expr_add(cx, under(cx, f->condition, f->adjoint), under(cx, condition, adjoint));
        f->condition = f->condition && condition ? expr_binary(cx, EXPR_OR, f->condition, condition) : NULL;
    }
}

/* Returns the derivative of x to a constant power, without pow where that is possible. */
static const char *power_derivative(const Expr *e)
{
    const double exponent = e->arg[1]->kind == EXPR_REAL ? e->arg[1]->real : 0;
    return exponent == 1 ? "g" : exponent == 2 ? "g * 2 * a" : exponent == 3 ? "g * 3 * a * a"
        : exponent == 0.5 ? "g * 0.5 / y" : exponent == -1 ? "-(g * y * y)" : NULL;
}

/* Returns the text of the derivative. The derivative of max(a, 0) is 0 on the tie, and follows from the result. */
static const char *derivative(const Expr *e, int operand)
{
    const char *special = e->kind == EXPR_POW && operand == 0 ? power_derivative(e) : NULL;
    const bool is_relu = e->kind == EXPR_MAX && e->arg[1]->kind == EXPR_REAL && e->arg[1]->real == 0;
    if (is_relu && operand == 0) return "select(y > 0, g, 0)";
    return special ? special : operand < 3 ? rows[e->kind].of[operand] : NULL;
}

static void pass_on_by_row(Accumulation *a, const Expr *e, const Flow *f)
{
    static const char *const names[] = { "a", "b", "c" };
    const Expr *y = e == a->of->value && a->of->stored ? a->of->stored : e;
    for (int i = 0; i < e->arg_count; i++) {
        const char *text = flow_of(a, e->arg[i]) ? derivative(e, i) : NULL;
        Bind bind[6] = { BIND_V("g", f->adjoint), BIND_V("y", y) };
        for (int k = 0; k < e->arg_count; k++) bind[2 + k] = (Bind)BIND_V(names[k], e->arg[k]);
        if (text) add_flow(a, e->arg[i], expr_read(a->cx, text, bind, e->type), f->condition);
    }
}

static void pass_on(Accumulation *a, const Expr *e)
{
    Ctx *cx = a->cx;
    const Flow f = *flow_of(a, e);
    if (!f.adjoint) return;
    if (e->kind == EXPR_READ) {
        a->term[a->term_count++] = (Term){ e, f.adjoint, f.condition };
    } else if (e->kind == EXPR_SELECT) {
        const Expr *holds = e->arg[SELECT_COND];
        add_flow(a, e->arg[SELECT_YES], f.adjoint, both(cx, f.condition, holds));
        add_flow(a, e->arg[SELECT_NO], f.adjoint, both(cx, f.condition, expr_unary(cx, EXPR_NOT, holds)));
    } else if (e->kind == EXPR_CAST) add_flow(a, e->arg[0], f.adjoint, f.condition);
    else pass_on_by_row(a, e, &f);
}

int local_terms(Ctx *cx, const Local *l, Term **out)
{
    Accumulation a = { .cx = cx, .of = l, .index = map_new(cx->arena) };
    expr_walk(cx, l->value, collect, &a);
    *out = a.term = NEW_ARRAY(cx->arena, Term, a.count);
    add_flow(&a, l->value, l->adjoint, l->condition);
    for (int i = a.count - 1; i >= 0 && !ctx_failed(cx); i--) pass_on(&a, a.node[i]);
    for (int i = 0; i < a.term_count / 2; i++) {
        const Term last = a.term[a.term_count - 1 - i];
        a.term[a.term_count - 1 - i] = a.term[i];
        a.term[i] = last;
    }
    return a.term_count;
}
