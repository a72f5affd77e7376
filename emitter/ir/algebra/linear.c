/* SPDX-License-Identifier: MIT */
/* Computes linear forms of integer sums: sum of coef * term + constant. Opening a sum, adding forms and writing a form
 * as an expression are exact modulo 2^bits, like integer addition. ranges_linear returns a form over the integers: it
 * opens a node only if its bounds prove that the node cannot wrap.
 *
 * The digits of a split are joined: (v / a) * a + v % a is v, for either sign of v. */
#include "ir/algebra/algebra.h"

int64_t sat_add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

static bool mul_overflows(int64_t a, int64_t b)
{
    if (a > 0) return b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    if (b > 0) return a < INT64_MIN / b;
    return a != 0 && b < INT64_MAX / a;
}

int64_t sat_mul(int64_t a, int64_t b)
{
    if (mul_overflows(a, b)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return a * b;
}

int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- Linear forms --------------------------------------------------------------------------------------------- */

static bool is_finite(int64_t v) { return v != INT64_MIN && v != INT64_MAX; }

void linear_drop(Linear *l, int at)
{
    l->count--;
    for (int i = at; i < l->count; i++) {
        l->term[i] = l->term[i + 1];
        l->coef[i] = l->coef[i + 1];
    }
}

static bool add_constant(Linear *l, int64_t v)
{
    l->constant = sat_add(l->constant, v);
    return is_finite(l->constant) && is_finite(v);
}

static uint32_t serial_of_ref(const Expr *e)
{
    switch (e->kind) {
    case EXPR_VAR:  return ((const Var *)e->ref)->serial;
    case EXPR_READ: return ((const Tensor *)e->ref)->serial;
    default:        return e->serial;
    }
}

/* Orders terms by structure and by the age of their variables. The order in which nodes were created does not matter,
 * so the result does not depend on other expressions of the context. Equal interned operands end the descent. */
static bool comes_before(const Expr *a, const Expr *b)
{
    for (;;) {
        if (a->kind != b->kind) return a->kind < b->kind;
        if (a->type != b->type) return a->type < b->type;
        if (a->integer != b->integer) return a->integer < b->integer;
        if (a->arg_count != b->arg_count) return a->arg_count < b->arg_count;
        int i = 0;
        while (i < a->arg_count && a->arg[i] == b->arg[i]) i++;
        if (a->ref != b->ref || i == a->arg_count) return serial_of_ref(a) < serial_of_ref(b);
        const Expr *next = a->arg[i];
        b = b->arg[i];
        a = next;
    }
}

static bool add_term(Linear *l, const Expr *term, int64_t coef)
{
    int at = 0;
    while (at < l->count && l->term[at] != term && comes_before(l->term[at], term)) at++;
    if (at < l->count && l->term[at] == term) {
        l->coef[at] = sat_add(l->coef[at], coef);
        if (l->coef[at] == 0) linear_drop(l, at);
        return at >= l->count || is_finite(l->coef[at]);
    }
    if (coef == 0) return true;
    if (l->count == MAX_TERMS || !is_finite(coef)) return false;
    for (int i = l->count++; i > at; i--) {
        l->term[i] = l->term[i - 1];
        l->coef[i] = l->coef[i - 1];
    }
    l->term[at] = term;
    l->coef[at] = coef;
    return true;
}

bool linear_add(Linear *l, const Linear *more, int64_t factor)
{
    for (int i = 0; i < more->count; i++)
        if (!add_term(l, more->term[i], sat_mul(more->coef[i], factor))) return false;
    return add_constant(l, sat_mul(more->constant, factor));
}

int64_t linear_coef(const Linear *l, const Expr *term)
{
    for (int i = 0; i < l->count; i++)
        if (l->term[i] == term) return l->coef[i];
    return 0;
}

/* ---- From expressions ------------------------------------------------------------------------------------------ */

enum { MAX_STEPS = 400 };   /* limits the opening of sums with much sharing */

typedef struct Opening { Ctx *cx; Ranges *ranges; Linear *out; int steps; } Opening;

static bool open_sum(Opening *o, const Expr *e, int64_t factor);

static bool is_sum(const Expr *e) { return e->kind == EXPR_ADD || e->kind == EXPR_SUB || e->kind == EXPR_NEG; }

/* Opens (x + y) * n for a variable n: x * n and y * n become separate terms. */
static bool open_product(Opening *o, const Expr *e, int64_t factor)
{
    const Expr *sum = e->arg[0], *by = e->arg[1];
    if (!is_sum(sum)) { sum = e->arg[1]; by = e->arg[0]; }
    Linear inner = { .type = e->type };
    Opening inside = { o->cx, o->ranges, &inner, 0 };
    if (!is_sum(sum) || by->kind != EXPR_VAR || !open_sum(&inside, sum, 1)) return add_term(o->out, e, factor);
    for (int i = 0; i < inner.count; i++) {
        const Expr *product = expr_mul(o->cx, inner.term[i], by);
        if (o->ranges && !ranges_exact(o->ranges, product)) return add_term(o->out, e, factor);
    }
    for (int i = 0; i < inner.count; i++)
        if (!add_term(o->out, expr_mul(o->cx, inner.term[i], by), sat_mul(inner.coef[i], factor))) return false;
    return add_term(o->out, by, sat_mul(inner.constant, factor));
}

static bool open_sum(Opening *o, const Expr *e, int64_t factor)
{
    if (o->steps++ > MAX_STEPS) return false;
    if (e->kind == EXPR_INT && !(o->ranges && e->type == U64 && e->integer < 0))
        return add_constant(o->out, sat_mul(e->integer, factor));
    if (o->ranges && e->kind != EXPR_VAR && !ranges_exact(o->ranges, e)) return add_term(o->out, e, factor);
    switch (e->kind) {
    case EXPR_ADD: return open_sum(o, e->arg[0], factor) && open_sum(o, e->arg[1], factor);
    case EXPR_SUB: return open_sum(o, e->arg[0], factor) && open_sum(o, e->arg[1], sat_mul(factor, -1));
    case EXPR_NEG: return open_sum(o, e->arg[0], sat_mul(factor, -1));
    case EXPR_MUL:
        if (e->arg[1]->kind == EXPR_INT) return open_sum(o, e->arg[0], sat_mul(factor, e->arg[1]->integer));
        return open_product(o, e, factor);
    default: return add_term(o->out, e, factor);
    }
}

/* Finds the term (v / a) * a that matches coef * (v % a), or returns -1. */
static int find_quotient(const Linear *l, const Expr *v, const Expr *a, int64_t coef)
{
    for (int i = 0; i < l->count; i++) {
        const Expr *t = l->term[i];
        int64_t required = coef;
        if (a->kind == EXPR_INT) required = sat_mul(coef, a->integer);
        else if (t->kind != EXPR_MUL) continue;
        else if (t->arg[0] == a) t = t->arg[1];
        else if (t->arg[1] == a) t = t->arg[0];
        else continue;
        if (t->kind == EXPR_FLOORDIV && t->arg[0] == v && t->arg[1] == a && l->coef[i] == required) return i;
    }
    return -1;
}

/* Returns true if a is never 0. If a is 0, both v / a and v % a are 0, and the digits do not join to v. */
static bool never_zero(Opening *o, const Expr *a)
{
    if (a->kind == EXPR_INT) return a->integer != 0;
    return interval_of(o->cx, a, NULL).least > 0;
}

static bool join_digits(Opening *o)
{
    Linear *l = o->out;
    for (int i = 0; i < l->count; i++) {
        const Expr *t = l->term[i];
        if (t->kind != EXPR_FLOORMOD || !never_zero(o, t->arg[1])) continue;
        int64_t coef = l->coef[i];
        int quotient = find_quotient(l, t->arg[0], t->arg[1], coef);
        if (quotient < 0) continue;
        linear_drop(l, quotient > i ? quotient : i);
        linear_drop(l, quotient > i ? i : quotient);
        if (!open_sum(o, t->arg[0], coef)) return false;
        i = -1;
    }
    return true;
}

static bool open_all(Ctx *cx, Ranges *ranges, const Expr *e, Linear *out)
{
    *out = (Linear){ .type = e->type };
    if (!dtype_is_integer(e->type)) return false;
    Opening o = { cx, ranges, out, 0 };
    return open_sum(&o, e, 1) && join_digits(&o);
}

bool linear_of(Ctx *cx, const Expr *e, Linear *out) { return open_all(cx, NULL, e, out); }

bool solved_for(Ctx *cx, const Expr *condition, const Expr *var, const Expr **low, const Expr **high)
{
    Linear l;
    const bool is_strict = condition->kind == EXPR_LT;
    *low = *high = NULL;
    if (!is_strict && condition->kind != EXPR_LE) return false;
    if (!linear_of(cx, expr_sub(cx, condition->arg[1], condition->arg[0]), &l)) return false;
    const int64_t coef = linear_coef(&l, var);
    for (int t = 0; t < l.count; t++)
        if (l.term[t] == var) linear_drop(&l, t--);
    const Expr *rest = linear_expr(cx, &l);
    if ((coef != 1 && coef != -1) || expr_uses(rest, var)) return false;
    /* coef * var + rest > 0, or >= 0 */
    if (coef > 0) *low = expr_sub(cx, expr_index(cx, is_strict), rest);
    else *high = expr_add(cx, rest, expr_index(cx, !is_strict));
    return true;
}

bool ranges_linear(Ranges *r, const Expr *e, Linear *out)
{
    if (open_all(r->cx, r, e, out)) return true;
    *out = (Linear){ .type = e->type, .count = 1, .term = { e }, .coef = { 1 } };
    return dtype_is_integer(e->type);
}

/* ---- To expressions -------------------------------------------------------------------------------------------- */

/* Returns the coefficient if its magnitude fits the type, otherwise the coefficient wrapped to the type. */
static int64_t wrapped(DType t, int64_t v)
{
    const DTypeInfo *d = dtype_info(t);
    if (t == U64 || (v >= -d->greatest && v <= d->greatest)) return v;
    return dtype_wrap(t, (Scalar){ .i = v }).i;
}

static const Expr *plus(Ctx *cx, const Expr *sum, const Expr *term, bool minus)
{
    if (!sum) return minus ? expr_unary(cx, EXPR_NEG, term) : term;
    return expr_binary(cx, minus ? EXPR_SUB : EXPR_ADD, sum, term);
}

static const Expr *times(Ctx *cx, const Expr *term, int64_t size)
{
    return size == 1 ? term : expr_mul(cx, term, expr_int(cx, term->type, size));
}

static int64_t size_of(int64_t v) { return v < 0 ? -v : v; }

/* Fills `order` with the terms' indices, the largest coefficient first. */
static void writing_order(const Linear *l, const int64_t *coef, int *order)
{
    for (int i = 0; i < l->count; i++) {
        int at = i;
        for (; at > 0 && size_of(coef[order[at - 1]]) < size_of(coef[i]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

const Expr *linear_expr(Ctx *cx, const Linear *l)
{
    const Expr *sum = NULL;
    int64_t constant = wrapped(l->type, l->constant), coef[MAX_TERMS];
    int order[MAX_TERMS];
    for (int i = 0; i < l->count; i++) coef[i] = wrapped(l->type, l->coef[i]);
    writing_order(l, coef, order);
    for (int negative = 0; negative < 2; negative++) {
        if (negative && !sum && constant > 0) {          /* prints 5 - x rather than -x + 5 */
            sum = expr_int(cx, l->type, constant);
            constant = 0;
        }
        for (int i = 0; i < l->count; i++) {
            int64_t c = coef[order[i]];
            if (c == 0 || (c < 0) != negative) continue;
            sum = plus(cx, sum, times(cx, l->term[order[i]], negative ? -c : c), negative);
        }
    }
    if (!sum) return expr_int(cx, l->type, constant);
    if (constant == 0) return sum;
    bool minus = constant < 0 && constant != INT64_MIN;
    return plus(cx, sum, expr_int(cx, l->type, minus ? -constant : constant), minus);
}
