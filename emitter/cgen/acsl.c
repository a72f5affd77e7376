/* SPDX-License-Identifier: MIT */
/* Prints annotations in ACSL. Integers of ACSL have no limit, so sums and products are printed unchanged, without the
 * casts of C. A clause of an expression that has no such form, such as a loaded value, is left out. */
#include "cgen/acsl.h"

#include <string.h>

#include "ir/algebra/algebra.h"

/* ---- Terms ------------------------------------------------------------------------------------------------------- */

/* The levels of terms: a sum inside a product needs parentheses. */
typedef enum TermLevel { TERM_SUM, TERM_PRODUCT, TERM_FACTOR } TermLevel;

static const char *term(const Speller *s, const Expr *e, TermLevel least);

static const char *operation(const Speller *s, const Expr *e, const char *operator, TermLevel own, TermLevel least)
{
    const char *x = term(s, e->arg[0], own), *y = term(s, e->arg[1], own + 1);
    if (!x || !y) return NULL;
    return text_format(s->cx, own < least ? "(%s%s%s)" : "%s%s%s", x, operator, y);
}

static const char *extreme(const Speller *s, const Expr *e, const char *function)
{
    const char *x = term(s, e->arg[0], TERM_SUM), *y = term(s, e->arg[1], TERM_SUM);
    return x && y ? text_format(s->cx, "%s(%s, %s)", function, x, y) : NULL;
}

static const char *negative(const Speller *s, const Expr *e, TermLevel least)
{
    const char *x = term(s, e->arg[0], TERM_FACTOR);
    return x ? text_format(s->cx, least > TERM_SUM ? "(-%s)" : "-%s", x) : NULL;
}

static const char *number(Ctx *cx, int64_t v, TermLevel least)
{
    return text_format(cx, v < 0 && least > TERM_SUM ? "(%lld)" : "%lld", (long long)v);
}

/* Prints x + -3 as x - 3. */
static const char *sum(const Speller *s, const Expr *e, TermLevel least)
{
    const Expr *y = e->arg[1];
    if (e->kind != EXPR_ADD || y->kind != EXPR_INT || y->integer >= 0)
        return operation(s, e, e->kind == EXPR_ADD ? " + " : " - ", TERM_SUM, least);
    const char *x = term(s, e->arg[0], TERM_SUM);
    return x ? text_format(s->cx, least > TERM_SUM ? "(%s - %lld)" : "%s - %lld", x, -(long long)y->integer) : NULL;
}

static const char *term(const Speller *s, const Expr *e, TermLevel least)
{
    switch (e->kind) {
    case EXPR_INT:      return number(s->cx, e->integer, least);
    case EXPR_VAR:      return speller_find(s, e);
    case EXPR_CAST:     return dtype_is_float(e->arg[0]->type) ? NULL : term(s, e->arg[0], least);
    case EXPR_RUNTIME:  return term(s, e->arg[RUNTIME_VALUE], least);
    case EXPR_NEG:      return negative(s, e, least);
    case EXPR_ADD:
    case EXPR_SUB:      return sum(s, e, least);
    case EXPR_MUL:      return operation(s, e, " * ", TERM_PRODUCT, least);
    case EXPR_FLOORDIV:
    case EXPR_TDIV:     return operation(s, e, " / ", TERM_PRODUCT, least);
    case EXPR_FLOORMOD:
    case EXPR_TMOD:     return operation(s, e, " % ", TERM_PRODUCT, least);
    case EXPR_MIN:      return extreme(s, e, "\\min");
    case EXPR_MAX:      return extreme(s, e, "\\max");
    default:            return NULL;
    }
}

/* ---- Areas ------------------------------------------------------------------------------------------------------- */

static const char *whole(const Speller *s, const Memory *m)
{
    const char *name = speller_find(s, m), *count = term(s, m->elems, TERM_SUM);
    if (!name || !count || m->kind == MEMORY_SCALAR) return name;
    if (m->elems->kind == EXPR_INT) return text_format(s->cx, "%s[0 .. %lld]", name, (long long)m->elems->integer - 1);
    return text_format(s->cx, "%s[0 .. %s - 1]", name, count);
}

/* Prints the same elements as a set of addresses. */
static const char *addresses(const Speller *s, const Memory *m)
{
    const char *name = speller_find(s, m), *count = term(s, m->elems, TERM_SUM);
    if (!name || !count) return NULL;
    if (m->elems->kind == EXPR_INT)
        return text_format(s->cx, "%s + (0 .. %lld)", name, (long long)m->elems->integer - 1);
    return text_format(s->cx, "%s + (0 .. %s - 1)", name, count);
}

/* Prints the position of element j_ in the period of the digits above `digit`. */
static const char *position(const Speller *s, const Area *r, int digit)
{
    const char *offset = term(s, r->offset, TERM_PRODUCT);
    Text t = text_new(s->cx);
    if (!offset) return NULL;
    if (expr_is_int(r->offset, 0)) text_add(&t, "j_");
    else text_printf(&t, "(j_ - %s)", offset);
    for (int i = 0; i < digit; i++) {
        const bool is_multiple = i + 1 < digit && r->digit[i].coef % r->digit[i + 1].coef == 0;
        if (!is_multiple) text_printf(&t, " %% %lld", (long long)r->digit[i].coef);
    }
    return text_string(&t);
}

/* Prints `low <= j_ % period < high`. */
static const char *in_period(const Speller *s, const Digit *d, int64_t period)
{
    Ctx *cx = s->cx;
    const Expr *span = expr_mul(cx, d->count, expr_int(cx, d->count->type, d->coef));
    const char *from = term(s, d->place, TERM_SUM);
    const char *to = term(s, simplify(cx, expr_add(cx, d->place, span), NULL), TERM_SUM);
    return from && to ? text_format(cx, "%s <= j_ %% %lld < %s", from, (long long)period, to) : NULL;
}

/* Prints `low <= j_ < high` for the elements of the area, and a condition for each digit below the first. */
static const char *condition(const Speller *s, const Area *r)
{
    Ctx *cx = s->cx;
    Text t = text_new(cx);
    const char *from = term(s, r->offset, TERM_SUM);
    if (!from) return NULL;
    if (!r->digit_count) return text_format(cx, "j_ == %s", from);
    const Digit *first = &r->digit[0];
    const Expr *span = expr_mul(cx, first->count, expr_int(cx, first->count->type, first->coef));
    const char *to = term(s, simplify(cx, expr_add(cx, r->offset, span), NULL), TERM_SUM);
    if (!to) return NULL;
    text_printf(&t, "%s <= j_ < %s", from, to);
    for (int i = 1; i < r->digit_count; i++) {
        const Digit *d = &r->digit[i];
        if (d->place) {
            const char *block = in_period(s, d, r->digit[i - 1].coef);
            if (!block) return NULL;
            text_printf(&t, " && %s", block);
            continue;
        }
        const Expr *part = expr_mul(cx, d->count, expr_int(cx, d->count->type, d->coef));
        const char *most = term(s, simplify(cx, part, NULL), TERM_SUM), *at = position(s, r, i);
        if (!most || !at) return NULL;
        text_printf(&t, " && %s < %s", at, most);
    }
    if (r->digit[r->digit_count - 1].coef != 1) {
        const char *at = position(s, r, r->digit_count);
        if (!at) return NULL;
        text_printf(&t, " && %s == 0", at);
    }
    return text_string(&t);
}

/* Prints a statement about each element of a area. */
static const char *for_each(const Speller *s, const Area *r, const char *statement)
{
    const char *where = condition(s, r);
    return where && statement ? text_format(s->cx, "\\forall integer j_; %s ==> %s", where, statement) : NULL;
}

/* ---- Clauses ----------------------------------------------------------------------------------------------------- */

static const char *within(const Speller *s, const Clause *c)
{
    const char *name = speller_find(s, c->memory);
    const char *low = term(s, c->low, TERM_SUM), *high = term(s, c->high, TERM_SUM);
    if (!name || !low || !high) return NULL;
    if (c->memory->kind == MEMORY_SCALAR) return text_format(s->cx, "%s <= %s <= %s", low, name, high);
    return for_each(s, &c->area, text_format(s->cx, "%s <= %s[j_] <= %s", low, name, high));
}

static const char *compared(const Speller *s, const Clause *c)
{
    const char *x = term(s, c->a, TERM_SUM), *y = term(s, c->b, TERM_SUM);
    const char *begin = c->form == FORM_AT_MOST ? "" : term(s, c->low, TERM_SUM);
    if (!x || !y || !begin) return NULL;
    if (c->form == FORM_AT_MOST) return text_format(s->cx, "%s <= %s", x, y);
    if (c->form == FORM_ENTERED) return text_format(s->cx, "%s <= %s || %s == %s", x, y, x, begin);
    begin = term(s, c->low, TERM_PRODUCT);
    if (expr_is_int(c->low, 0)) return text_format(s->cx, "%s %% %lld == 0", x, (long long)c->step);
    return text_format(s->cx, "(%s - %s) %% %lld == 0", x, begin, (long long)c->step);
}

static const char *two_sets(const Speller *s, const Clause *c)
{
    const char *x = addresses(s, c->memory), *y = addresses(s, c->other);
    return x && y ? text_format(s->cx, "\\separated(%s, %s)", x, y) : NULL;
}

static const char *valid(const Speller *s, const Clause *c)
{
    const char *x = addresses(s, c->memory);
    return x ? text_format(s->cx, c->memory->kind == MEMORY_INPUT ? "\\valid_read(%s)" : "\\valid(%s)", x) : NULL;
}

/* A contract names the whole array as a set, from which Eva learns. */
static const char *initialized(const Speller *s, const Clause *c)
{
    const char *name = speller_find(s, c->memory), *all = addresses(s, c->memory);
    if (c->loop == CONTRACT) return all ? text_format(s->cx, "\\initialized(%s)", all) : NULL;
    return name ? for_each(s, &c->area, text_format(s->cx, "\\initialized(&%s[j_])", name)) : NULL;
}

static const char *distance(const Speller *s, const Clause *c)
{
    const char *x = term(s, c->b, TERM_SUM), *y = term(s, c->a, TERM_PRODUCT);
    return x && y ? text_format(s->cx, "%s - %s", x, y) : NULL;
}

static const char *statement(const Speller *s, const Clause *c)
{
    switch (c->form) {
    case FORM_AT_MOST:
    case FORM_ENTERED:
    case FORM_ALIGNED:     return compared(s, c);
    case FORM_VALID:       return valid(s, c);
    case FORM_APART:       return two_sets(s, c);
    case FORM_WITHIN:      return within(s, c);
    case FORM_INITIALIZED: return initialized(s, c);
    case FORM_MEMORY:      return whole(s, c->memory);
    case FORM_VARIABLE:    return speller_find(s, c->a);
    case FORM_DISTANCE:    return distance(s, c);
    case FORM_PRODUCT:     break;
    }
    return NULL;
}

static const char *const heads[] = {
    [CLAUSE_REQUIRES] = "requires ", [CLAUSE_ASSIGNS] = "assigns ", [CLAUSE_ENSURES] = "ensures ",
    [CLAUSE_INVARIANT] = "loop invariant ", [CLAUSE_LOOP_ASSIGNS] = "loop assigns ", [CLAUSE_VARIANT] = "loop variant "
};

/* Adds a line, broken at blanks if it is wider than the page. */
static void add_line(Text *t, const char *text, int spaces)
{
    enum { WIDTH = 120, FURTHER = 4 };
    size_t column = (size_t)spaces;
    text_spaces(t, spaces);
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column + n + 1 > WIDTH && column > (size_t)spaces) {
            text_char(t, '\n');
            text_spaces(t, spaces + FURTHER);
            column = (size_t)spaces + FURTHER;
        } else if (column > (size_t)spaces) {
            text_char(t, ' ');
            column++;
        }
        text_addn(t, text, n);
        column += n;
        text += n;
        while (*text == ' ') text++;
    }
    text_char(t, '\n');
}

/* Returns the inputs that results depend on: ` \from x[0 .. 9], k[0 .. 8]`. */
static const char *sources(const Speller *s, const Function *f)
{
    Text t = text_new(s->cx);
    int n = 0;
    for (int i = 0; i < f->memory_count; i++)
        if (f->memory[i]->kind == MEMORY_INPUT)
            text_printf(&t, "%s%s", n++ ? ", " : " \\from ", whole(s, f->memory[i]));
    return n ? text_string(&t) : " \\from \\nothing";
}

/* Adds "/@ " before the first clause, and aligns the others. */
static void add_clause(Text *t, const Speller *s, const char *text, int spaces, bool is_first)
{
    Text line = text_new(s->cx);
    add_line(&line, text, spaces + 4);
    text_spaces(t, spaces);
    text_add(t, is_first ? "/*@ " : "    ");
    text_add(t, text_string(&line) + spaces + 4);
}

/* Returns the assigned places of a loop as a list. The first is the row *i; *i becomes the last. */
static const char *assigned(const Speller *s, const Function *f, int *i)
{
    Text list = text_new(s->cx);
    const int loop = f->clauses.at[*i].loop;
    for (;; ++*i) {
        const char *what = statement(s, &f->clauses.at[*i]);
        if (what) text_printf(&list, list.length ? ", %s" : "%s", what);
        const Clause *after = &f->clauses.at[*i + 1];
        if (*i + 1 == f->clauses.count || after->loop != loop || after->kind != CLAUSE_LOOP_ASSIGNS) break;
    }
    return text_string(&list);
}

static void clauses(Text *t, const Speller *s, const Function *f, int loop, int spaces)
{
    int count = 0;
    for (int i = 0; i < f->clauses.count; i++) {
        const Clause *c = &f->clauses.at[i];
        if (c->loop != loop) continue;
        const char *what = c->kind == CLAUSE_LOOP_ASSIGNS ? assigned(s, f, &i) : statement(s, c);
        const char *from = c->kind == CLAUSE_ASSIGNS ? sources(s, f) : "";
        if (what) add_clause(t, s, text_format(s->cx, "%s%s%s;", heads[c->kind], what, from), spaces, !count++);
    }
    if (!count) return;
    text_spaces(t, spaces);
    text_add(t, "*/\n");
}

void acsl_contract(Text *t, const Speller *s, const Function *f) { clauses(t, s, f, CONTRACT, 0); }

void acsl_loop(Text *t, const Speller *s, const Function *f, int loop, int spaces)
{
    Text own = text_new(s->cx);
    clauses(&own, s, f, loop, spaces);
    if (!own.length) return;
    text_add(t, text_string(&own) + spaces);
    text_spaces(t, spaces);
}

void acsl_store(Text *t, Speller *s, const Function *f, const Code *store, int spaces)
{
    for (int i = 0; i < f->clauses.count; i++) {
        const Clause *c = &f->clauses.at[i];
        if (c->statement != store) continue;
        Text own = text_new(s->cx);
        add_clause(&own, s, text_format(s->cx, "assert lw_is_product(%s, %s, %lld, %lld); */", spell(s, c->a),
                                        spell(s, c->b), (long long)c->low->integer, (long long)c->high->integer),
                   spaces, true);
        text_add(t, text_string(&own) + spaces);
        text_spaces(t, spaces);
    }
}

void acsl_lemmas(Text *t, const Function *const *function, int count)
{
    bool has = false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < function[i]->clauses.count; k++)
            has = has || function[i]->clauses.at[k].form == FORM_PRODUCT;
    if (has)
        text_add(t, "/*@ predicate lw_is_product(integer a, integer b, integer m, integer n) =\n"
                    "        -(m * n) <= a * b <= m * n;\n"
                    "    lemma lw_product: \\forall integer a, b, m, n;\n"
                    "        -m <= a <= m && -n <= b <= n ==> lw_is_product(a, b, m, n);\n*/\n");
}
