/* SPDX-License-Identifier: MIT */
/* Every equation is an expression that equals 0. The solver takes the easiest equation first, by the number of unknown
 * variables in its linear form:
 *
 *   none         a condition
 *   one          v = rest / coef, without remainder
 *   digits       coefficients that are a mixed radix: each is at least the range of the smaller ones
 *   phases       s*v + p, where p has more than s values: p = rest % s + s*q, v = rest / s - q, over the free q
 *   overlapping  the variable with the largest range follows from the others, which stay free for now
 *
 * Terms E / n and E % n become unknown digits themselves, and E = sum(digit * low) is one more equation; then a view
 * needs no special case. An index with data, a clamp or another term is never solved: its equation is a condition. */
#include "graph/differentiate/solve.h"

enum { MOST_EQUATIONS = MAX_RANK + 16, MOST_DIGITS = 16, MOST_NUMBERS = 8 };

/* A variable to solve for; `value` is NULL until it is known. */
typedef struct Unknown { const Expr *var, *extent, *value; } Unknown;

/* A digit of a number: (number / low) % count = var + shift. If count is 0, there is no remainder. */
typedef struct Digit { int64_t low, count, shift; const Expr *term, *var; } Digit;
typedef struct Number { const Expr *value; int count; Digit digit[MOST_DIGITS]; } Number;

typedef struct Solver {
    Ctx *cx;
    const Bounds *scope;
    int count; Unknown unknown[MOST_UNKNOWNS];
    int solved_count, solved[MOST_UNKNOWNS];            /* the indices of the unknowns in the order of solution */
    /* An entry becomes NULL when the equation is solved. */
    int equation_count; const Expr *equation[MOST_EQUATIONS];
    int number_count; Number number[MOST_NUMBERS];
    const Expr *condition;
    bool is_full;
} Solver;

static const Expr *number(const Solver *s, int64_t v) { return expr_int(s->cx, I32, v); }
static const Expr *plus(const Solver *s, const Expr *a, const Expr *b) { return expr_add(s->cx, a, b); }
static const Expr *minus(const Solver *s, const Expr *a, const Expr *b) { return expr_sub(s->cx, a, b); }
static const Expr *times(const Solver *s, const Expr *a, int64_t b) { return expr_mul(s->cx, a, number(s, b)); }
static const Expr *over(const Solver *s, const Expr *a, int64_t b)
{
    return b == 1 ? a : expr_binary(s->cx, EXPR_FLOORDIV, a, number(s, b));
}
static const Expr *rest_of(const Solver *s, const Expr *a, int64_t b)
{
    return expr_binary(s->cx, EXPR_FLOORMOD, a, number(s, b));
}

static void require(Solver *s, const Expr *condition)
{
    s->condition = s->condition ? expr_and(s->cx, s->condition, condition) : condition;
}

/* ---- Unknowns ---------------------------------------------------------------------------------------------------- */

static int unknown_index(const Solver *s, const Expr *e)
{
    for (int i = 0; i < s->count; i++)
        if (s->unknown[i].var == e) return s->unknown[i].value ? -1 : i;
    return -1;
}

static bool uses_unknown(const Solver *s, const Expr *e)
{
    for (int i = 0; i < s->count; i++)
        if (!s->unknown[i].value && expr_uses(e, s->unknown[i].var)) return true;
    return false;
}

static void add_unknown(Solver *s, const Expr *var, const Expr *extent)
{
    s->is_full = s->is_full || s->count == MOST_UNKNOWNS;
    if (s->is_full) return;
    s->unknown[s->count++] = (Unknown){ var, extent, NULL };
    s->scope = bounds_var(s->cx, s->scope, var, extent);
}

static const Expr *new_unknown(Solver *s, const char *name, const Expr *extent)
{
    const Expr *var = axis_var(s->cx, name, extent);
    add_unknown(s, var, extent);
    return var;
}

/* Gives unknown i the value. Other equations then contain the value instead of the variable; the condition checks the
 * value's range. */
static void solve_for(Solver *s, int i, const Expr *value)
{
    Unknown *u = &s->unknown[i];
    u->value = simplify(s->cx, value, s->scope);
    s->solved[s->solved_count++] = i;
    for (int k = 0; k < s->equation_count; k++)
        if (s->equation[k]) s->equation[k] = expr_substitute(s->cx, s->equation[k], &u->var, &u->value, 1);
    require(s, expr_binary(s->cx, EXPR_LE, number(s, 0), u->var));
    require(s, expr_binary(s->cx, EXPR_LT, u->var, u->extent));
}

static void add_equation(Solver *s, const Expr *zero)
{
    s->is_full = s->is_full || s->equation_count == MOST_EQUATIONS;
    if (!s->is_full) s->equation[s->equation_count++] = zero;
}

/* ---- Digits ------------------------------------------------------------------------------------------------------ */

static bool is_positive(const Expr *e) { return e->kind == EXPR_INT && e->integer > 0; }

static Number *number_of(Solver *s, const Expr *e)
{
    for (int i = 0; i < s->number_count; i++)
        if (s->number[i].value == e) return &s->number[i];
    if (s->number_count == MOST_NUMBERS) return NULL;
    s->number[s->number_count] = (Number){ .value = e };
    return &s->number[s->number_count++];
}

/* Returns var + shift for a term that is a digit, and other terms unchanged. */
static const Expr *digit_in_place(Solver *s, const Expr *term)
{
    const Expr *e = term;
    Digit d = { .low = 1, .term = term };
    if (e->kind == EXPR_FLOORMOD && is_positive(e->arg[1])) d.count = e->arg[1]->integer, e = e->arg[0];
    if (e->kind == EXPR_FLOORDIV && is_positive(e->arg[1])) d.low = e->arg[1]->integer, e = e->arg[0];
    if (e == term) return term;
    const Interval i = interval_of(s->cx, e, s->scope);
    const int64_t least = floor_div(i.least, d.low), most = floor_div(i.greatest, d.low) - least + 1;
    Number *n = i.least > INT32_MIN / 2 && i.greatest < INT32_MAX / 2 ? number_of(s, e) : NULL;
    if (!n || n->count >= MOST_DIGITS / 2) return term;
    for (int k = 0; k < n->count; k++)
        if (n->digit[k].term == term) return plus(s, n->digit[k].var, number(s, n->digit[k].shift));
    d.shift = d.count ? 0 : least;
    d.var = new_unknown(s, "digit", number(s, d.count ? d.count : most));
    n->digit[n->count++] = d;
    return plus(s, d.var, number(s, d.shift));
}

static void introduce_digits(Solver *s, int equation)
{
    Linear l;
    const Expr *e = simplify(s->cx, s->equation[equation], s->scope), *sum;
    if (!linear_of(s->cx, e, &l)) return;
    sum = number(s, l.constant);
    for (int i = 0; i < l.count; i++) {
        const bool is_term = uses_unknown(s, l.term[i]) && unknown_index(s, l.term[i]) < 0;
        const Expr *term = is_term ? digit_in_place(s, l.term[i]) : l.term[i];
        sum = plus(s, sum, times(s, term, l.coef[i]));
    }
    s->equation[equation] = sum;
}

static void add_digit(Solver *s, Number *n, int at, int64_t low, int64_t count, int64_t shift)
{
    for (int k = n->count++; k > at; k--) n->digit[k] = n->digit[k - 1];
    n->digit[at] = (Digit){ .low = low, .shift = shift, .var = new_unknown(s, "digit", number(s, count)) };
}

/* Sorts the digits and fills the gaps between them. Returns false if they overlap. */
static bool complete_number(Solver *s, Number *n)
{
    for (int i = 1; i < n->count; i++)
        for (int k = i; k > 0 && n->digit[k].low < n->digit[k - 1].low; k--) {
            const Digit d = n->digit[k];
            n->digit[k] = n->digit[k - 1];
            n->digit[k - 1] = d;
        }
    int64_t next = 1;
    for (int i = 0; i < n->count; i++) {
        const Digit d = n->digit[i];
        if (!next || d.low % next || d.low < next) return false;
        if (d.low > next) add_digit(s, n, i++, next, d.low / next, 0);
        next = d.count ? d.low * d.count : 0;
    }
    if (!next) return true;
    const Interval i = interval_of(s->cx, n->value, s->scope);
    const int64_t least = floor_div(i.least, next);
    add_digit(s, n, n->count, next, floor_div(i.greatest, next) - least + 1, least);
    return true;
}

/* Equates the number with the sum of its digits. If the digits overlap, equates every digit with its term instead. */
static void equate_number(Solver *s, Number *n)
{
    const int given = n->count;
    const Expr *sum = n->value;
    if (complete_number(s, n))
        for (int i = 0; i < n->count; i++)
            sum = minus(s, sum, times(s, plus(s, n->digit[i].var, number(s, n->digit[i].shift)), n->digit[i].low));
    else
        for (int i = 0; i < given; i++)
            if (n->digit[i].term)
                add_equation(s, minus(s, n->digit[i].term, plus(s, n->digit[i].var, number(s, n->digit[i].shift))));
    if (sum != n->value) add_equation(s, sum);
}

/* ---- Equations --------------------------------------------------------------------------------------------------- */

typedef enum FormKind { FORM_KNOWN, FORM_ONE, FORM_DIGITS, FORM_PHASES, FORM_OVERLAPPING, FORM_NONE } FormKind;

/* The equation sum(coef * unknown) = rest, with the largest coefficient first, and positive. */
typedef struct Form {
    FormKind kind;
    int count, at[MAX_TERMS];
    int64_t coef[MAX_TERMS];
    const Expr *rest;
} Form;

static int64_t extent_of(const Solver *s, int i)
{
    const Expr *e = s->unknown[i].extent;
    return e->kind == EXPR_INT ? e->integer : INT32_MAX;
}

static bool is_radix(const Solver *s, const Form *f)
{
    for (int i = 0; i < f->count; i++) {
        if (f->coef[i] <= 0) return false;
        if (i + 1 == f->count) return true;
        const int64_t below = f->coef[i + 1];
        if (f->coef[i] % below || f->coef[i] < sat_mul(below, extent_of(s, f->at[i + 1]))) return false;
    }
    return true;
}

static bool is_phases(const Solver *s, const Form *f)
{
    if (f->count != 2 || f->coef[0] < 2 || (f->coef[1] != 1 && f->coef[1] != -1)) return false;
    const int64_t taps = extent_of(s, f->at[1]);
    return taps < INT32_MAX && taps / f->coef[0] < extent_of(s, f->at[0]);
}

static void sort_form(Form *f)
{
    for (int i = 1; i < f->count; i++)
        for (int k = i; k > 0 && (f->coef[k] < 0 ? -f->coef[k] : f->coef[k])
                                 > (f->coef[k - 1] < 0 ? -f->coef[k - 1] : f->coef[k - 1]); k--) {
            const int64_t coef = f->coef[k];
            const int at = f->at[k];
            f->coef[k] = f->coef[k - 1], f->at[k] = f->at[k - 1];
            f->coef[k - 1] = coef, f->at[k - 1] = at;
        }
}

static Form form_of(const Solver *s, const Expr *equation)
{
    Linear l;
    Form f = { .kind = FORM_NONE };
    if (!linear_of(s->cx, simplify(s->cx, equation, s->scope), &l)) return f;
    for (int i = 0; i < l.count; i++) {
        const int at = unknown_index(s, l.term[i]);
        if (at < 0 && uses_unknown(s, l.term[i])) return f;
        if (at >= 0) f.at[f.count] = at, f.coef[f.count++] = l.coef[i];
    }
    sort_form(&f);
    const int64_t sign = f.count && f.coef[0] < 0 ? 1 : -1;
    f.rest = number(s, sign * l.constant);
    for (int i = 0; i < l.count; i++)
        if (unknown_index(s, l.term[i]) < 0) f.rest = plus(s, f.rest, times(s, l.term[i], sign * l.coef[i]));
    for (int i = 0; i < f.count; i++) f.coef[i] *= -sign;
    f.kind = f.count == 0 ? FORM_KNOWN : f.count == 1 ? FORM_ONE : is_radix(s, &f) ? FORM_DIGITS
           : is_phases(s, &f) ? FORM_PHASES : FORM_OVERLAPPING;
    return f;
}

static void divides(Solver *s, const Expr *e, int64_t by)
{
    if (by > 1) require(s, expr_binary(s->cx, EXPR_EQ, rest_of(s, e, by), number(s, 0)));
}

static void solve_digits(Solver *s, const Form *f)
{
    const int64_t least = f->coef[f->count - 1];
    divides(s, f->rest, least);
    for (int i = 0; i < f->count; i++) {
        const Expr *above = over(s, f->rest, f->coef[i]);
        solve_for(s, f->at[i], i ? rest_of(s, above, f->coef[i - 1] / f->coef[i]) : above);
    }
}

/* Solves coef * v + sign * p = rest. */
static void solve_phases(Solver *s, const Form *f)
{
    const int64_t step = f->coef[0], taps = extent_of(s, f->at[1]);
    const bool adds = f->coef[1] > 0;
    const Expr *q = new_unknown(s, "phase", number(s, (taps + step - 1) / step));
    if (s->is_full) return;
    const Expr *rest = adds ? f->rest : minus(s, number(s, 0), f->rest);
    const Expr *v = adds ? minus(s, over(s, rest, step), q) : minus(s, q, over(s, rest, step));
    solve_for(s, f->at[1], plus(s, rest_of(s, rest, step), times(s, q, step)));
    solve_for(s, f->at[0], v);
}

/* Solves for the unknown with the largest range. The other unknowns stay unknown, because another equation may
 * determine them. */
static void solve_pivot(Solver *s, const Form *f)
{
    int best = 0;
    for (int i = 1; i < f->count; i++)
        if (extent_of(s, f->at[i]) > extent_of(s, f->at[best])) best = i;
    const Expr *rest = f->rest;
    for (int i = 0; i < f->count; i++)
        if (i != best) rest = minus(s, rest, times(s, s->unknown[f->at[i]].var, f->coef[i]));
    const int64_t coef = f->coef[best];
    if (coef < 0) rest = minus(s, number(s, 0), rest);
    divides(s, rest, coef < 0 ? -coef : coef);
    solve_for(s, f->at[best], over(s, rest, coef < 0 ? -coef : coef));
}

static void solve_form(Solver *s, int equation, const Form *f)
{
    const Expr *zero = s->equation[equation];
    s->equation[equation] = NULL;
    if (f->kind == FORM_KNOWN || f->kind == FORM_NONE)
        require(s, expr_binary(s->cx, EXPR_EQ, zero, number(s, 0)));
    else if (f->kind == FORM_DIGITS) solve_digits(s, f);
    else if (f->kind == FORM_PHASES) solve_phases(s, f);
    else solve_pivot(s, f);
}

static void solve_all(Solver *s)
{
    for (;;) {
        int best = -1;
        Form easiest = { .kind = FORM_NONE };
        for (int i = 0; i < s->equation_count; i++) {
            if (!s->equation[i]) continue;
            const Form f = form_of(s, s->equation[i]);
            if (best >= 0 && f.kind >= easiest.kind) continue;
            best = i;
            easiest = f;
        }
        if (best < 0 || s->is_full) return;
        solve_form(s, best, &easiest);
    }
}

/* ---- The solution ------------------------------------------------------------------------------------------------ */

/* Substitutes the values of the unknowns in e. A value may use variables that were solved later. */
static const Expr *resolved(const Solver *s, const Expr *e)
{
    for (int k = 0; k < s->solved_count; k++) {
        const Unknown *u = &s->unknown[s->solved[k]];
        e = expr_substitute(s->cx, e, &u->var, &u->value, 1);
    }
    return e;
}

static void write_solution(const Solver *s, const IndexEquations *e, Solution *out)
{
    *out = (Solution){ .scope = e->scope };
    for (int i = 0; i < s->count; i++) {
        const Unknown *u = &s->unknown[i];
        if (u->value) continue;
        out->free[out->free_count] = u->var;
        out->extent[out->free_count++] = u->extent;
        out->scope = bounds_var(s->cx, out->scope, u->var, u->extent);
    }
    for (int i = 0; i < s->count; i++) {
        if (!s->unknown[i].value) continue;
        out->from[out->solved_count] = s->unknown[i].var;
        out->to[out->solved_count++] = simplify(s->cx, resolved(s, s->unknown[i].value), out->scope);
    }
    if (!s->condition) return;
    const Expr *holds = simplify(s->cx, resolved(s, s->condition), out->scope);
    out->condition = expr_is_int(holds, 1) ? NULL : holds;
}

bool solve_index(Ctx *cx, const IndexEquations *e, Solution *out)
{
    Solver *s = NEW(cx->arena, Solver);
    s->cx = cx;
    s->scope = e->scope;
    for (int i = 0; i < e->var_count; i++) add_unknown(s, e->var[i], e->extent[i]);
    for (int d = 0; d < e->dim_count; d++) add_equation(s, minus(s, e->index[d], e->at[d]));
    for (int i = 0; i < e->var_count; i++)
        if (expr_is_int(e->extent[i], 1)) solve_for(s, i, number(s, 0));
    for (int i = 0; i < s->equation_count && i < e->dim_count; i++) introduce_digits(s, i);
    for (int i = 0; i < s->number_count; i++) equate_number(s, &s->number[i]);
    solve_all(s);
    if (!s->is_full && !ctx_failed(cx)) write_solution(s, e, out);
    return !s->is_full && !ctx_failed(cx);
}
