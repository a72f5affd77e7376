/* SPDX-License-Identifier: MIT */
/* The elements that code has written, as areas over the variables of the loops around it. A store writes one element;
 * a loop gives the area a digit with the coefficient of its variable. Digits that fill each other become one, so a
 * row-major nest writes one range, and a nest that computes channels before columns writes a strided area. Elements
 * without such a form are left out: the analyser then cannot prove that they are initialized, which is an open goal.
 *
 * A loop that writes a ring buffer writes one block in each iteration:
 *
 *     for (h ...)                             blocks below h + begin(h) have values
 *         for (h2 = begin(h) ...)             blocks below h + h2 have values
 *             t[(h + h2) % 4 * 320 + ...] = ... */
#include "lower/annotate_parts.h"

static const Expr *product(Ctx *cx, const Expr *e, int64_t factor)
{
    return simplify(cx, expr_mul(cx, e, expr_int(cx, e->type, factor)), NULL);
}

static const Expr *sum(Ctx *cx, const Expr *a, const Expr *b) { return simplify(cx, expr_add(cx, a, b), NULL); }

/* Joins digits that fill each other: 64 * a + b with b < 64 is one digit. */
static void join_digits(Ctx *cx, Area *r)
{
    for (int i = 0; i + 1 < r->digit_count;) {
        const Digit upper = r->digit[i], lower = r->digit[i + 1];
        if (lower.count->kind != EXPR_INT || upper.coef != sat_mul(lower.coef, lower.count->integer)) {
            i++;
            continue;
        }
        r->digit[i] = (Digit){ .coef = lower.coef, .count = product(cx, upper.count, lower.count->integer) };
        for (int k = i + 1; k + 1 < r->digit_count; k++) r->digit[k] = r->digit[k + 1];
        r->digit_count--;
    }
}

/* Adds a digit. Returns false if the digits below it would exceed its coefficient, or if there are too many. */
static bool add_digit(Annotator *a, Area *r, int64_t coef, const Expr *count)
{
    int at = 0;
    if (r->digit_count == AREA_DIGITS || coef <= 0) return false;
    while (at < r->digit_count && r->digit[at].coef > coef) at++;
    if (at < r->digit_count && r->digit[at].coef == coef) {
        if (!expr_is_int(r->digit[at].count, 1)) return false;
        r->digit[at].count = count;
        join_digits(a->cx, r);
        return true;
    }
    for (int i = r->digit_count++; i > at; i--) r->digit[i] = r->digit[i - 1];
    r->digit[at] = (Digit){ .coef = coef, .count = count };
    for (int i = 0; i + 1 < r->digit_count; i++) {
        const int64_t most = interval_of(a->cx, r->digit[i + 1].count, a->scope).greatest;
        if (sat_mul(most, r->digit[i + 1].coef) > r->digit[i].coef) return false;
    }
    join_digits(a->cx, r);
    return true;
}

static bool equal_digits(const Area *x, const Area *y, int except)
{
    if (x->digit_count != y->digit_count) return false;
    for (int i = 0; i < x->digit_count; i++)
        if (x->digit[i].coef != y->digit[i].coef || (i != except && x->digit[i].count != y->digit[i].count))
            return false;
    return true;
}

/* Extends `first` by `next` if they differ in the count of one digit and next begins where first ends. */
static bool extend(Ctx *cx, Area *first, const Area *next)
{
    const Expr *distance = simplify(cx, expr_sub(cx, next->offset, first->offset), NULL);
    if (first->ring.blocks || next->ring.blocks) return false;
    for (int i = 0; i < first->digit_count; i++) {
        if (!equal_digits(first, next, i) || product(cx, first->digit[i].count, first->digit[i].coef) != distance)
            continue;
        first->digit[i].count = sum(cx, first->digit[i].count, next->digit[i].count);
        join_digits(cx, first);
        return true;
    }
    return false;
}

static bool equal_rings(const Ring *x, const Ring *y)
{
    return x->blocks == y->blocks && x->coef == y->coef && x->from == y->from && x->to == y->to;
}

static bool is_same(const Area *x, const Area *y)
{
    return x->offset == y->offset && equal_digits(x, y, -1) && equal_rings(&x->ring, &y->ring);
}

static void add_area(Ctx *cx, Areas *out, const Area *r)
{
    Area joined = *r;
    for (int i = 0; i < out->count; i++) {
        if (is_same(&out->at[i], &joined)) return;
        Area first = joined;
        if (extend(cx, &out->at[i], &joined)) joined = out->at[i];
        else if (extend(cx, &first, &out->at[i])) joined = first;
        else continue;
        out->at[i] = out->at[--out->count];
        i = -1;
    }
    if (out->count < MOST_WRITTEN) out->at[out->count++] = joined;
}

static const Expr *at(Annotator *a, const Expr *e, const Code *loop, const Expr *value)
{
    return simplify(a->cx, expr_substitute(a->cx, e, &loop->var, &value, 1), NULL);
}

/* Finds the term of the offset that is a block of a ring, whose number increases by 1 with the loop, and removes it. */
static bool split_ring(Annotator *a, const Code *loop, Area *r)
{
    Linear l;
    int64_t step;
    const Expr *rest;
    if (loop->step != 1 || !linear_of(a->cx, r->offset, &l)) return false;
    for (int i = 0; i < l.count; i++) {
        const Expr *e = l.term[i];
        if ((e->kind != EXPR_FLOORMOD && e->kind != EXPR_TMOD) || e->arg[1]->kind != EXPR_INT || l.coef[i] <= 0
            || !split_linear(a->cx, e->arg[0], loop->var, &step, &rest) || step != 1)
            continue;
        r->ring = (Ring){ .blocks = e->arg[1]->integer, .coef = l.coef[i], .from = e->arg[0], .to = e->arg[0] };
        linear_drop(&l, i);
        r->offset = linear_expr(a->cx, &l);
        return true;
    }
    return false;
}

/* Returns the blocks of the ring that the iterations from the loop's begin to `end` write. A loop around the loop of
 * the blocks begins where its previous iteration ended, if the iterations are consecutive; the analyser proves this. */
static bool over_blocks(Annotator *a, const Code *loop, const Expr *end, bool is_before, Area *r)
{
    const bool is_inner = !r->ring.blocks;
    if (is_inner && !split_ring(a, loop, r)) return false;
    if (expr_uses(r->offset, loop->var)) return false;
    for (int i = 0; i < r->digit_count; i++)
        if (expr_uses(r->digit[i].count, loop->var)) return false;
    const Expr *last = is_inner || is_before ? end : sum(a->cx, end, expr_int(a->cx, end->type, -1));
    r->ring.to = at(a, is_before ? r->ring.from : r->ring.to, loop, last);
    r->ring.from = at(a, r->ring.from, loop, with_named_values(a, loop->begin));
    return true;
}

/* Returns the area that the iterations from the loop's begin to `end` write. Returns false if it has no form. */
static bool over_iterations(Annotator *a, const Code *loop, const Expr *end, const Expr *count, bool is_before, Area *r)
{
    int64_t coef;
    const Expr *rest, *begin = with_named_values(a, loop->begin);
    if (r->ring.blocks) return over_blocks(a, loop, end, is_before, r);
    if (!split_linear(a->cx, r->offset, loop->var, &coef, &rest)) return over_blocks(a, loop, end, is_before, r);
    for (int i = 0; i < r->digit_count; i++)
        if (expr_uses(r->digit[i].count, loop->var)) return false;
    if (coef == 0) return false;
    r->offset = sum(a->cx, rest, product(a->cx, begin, coef));
    return add_digit(a, r, sat_mul(coef, loop->step), count);
}

static const Expr *trips(Annotator *a, const Code *loop, const Expr *end)
{
    const Expr *n = simplify(a->cx, expr_sub(a->cx, end, with_named_values(a, loop->begin)), NULL);
    if (loop->step == 1) return n;
    n = sum(a->cx, n, expr_int(a->cx, n->type, loop->step - 1));
    return simplify(a->cx, expr_binary(a->cx, EXPR_FLOORDIV, n, expr_int(a->cx, n->type, loop->step)), NULL);
}

static void written_by_loop(Annotator *a, const Code *loop, const Memory *m, Areas *out)
{
    Areas body = { 0 };
    const Bounds *outside = a->scope;
    const int lets = a->lets.count;
    a->scope = code_bounds(a->cx, outside, loop);
    written_by(a, loop->child[0], m, &body);
    a->lets.count = lets;
    a->scope = outside;
    for (int i = 0; i < body.count; i++) {
        Area r = body.at[i];
        const Expr *end = with_named_values(a, loop->end);
        if (!expr_uses(r.offset, loop->var) && !r.ring.blocks) {
            if (runs_once(a, loop)) add_area(a->cx, out, &r);
        } else if (over_iterations(a, loop, end, trips(a, loop, end), false, &r))
            add_area(a->cx, out, &r);
    }
}

void written_by(Annotator *a, const Code *c, const Memory *m, Areas *out)
{
    const int lets = a->lets.count;
    if (c->kind == CODE_IF) return;
    if (c->kind == CODE_FOR) {
        written_by_loop(a, c, m, out);
        return;
    }
    if (c->kind == CODE_LET) name_value(a, c);
    if (c->kind == CODE_STORE && memory_base(c->memory) == m) {
        const Area one = { .offset = store_index(a, c) };
        Area r = one;
        if (add_digit(a, &r, 1, expr_index(a->cx, 1))) add_area(a->cx, out, &r);
    }
    for (int i = 0; i < c->child_count; i++) written_by(a, c->child[i], m, out);
    if (c->kind == CODE_SCOPE) a->lets.count = lets;
}

void written_before(Annotator *a, const Code *loop, const Areas *by_body, Areas *out)
{
    for (int i = 0; i < by_body->count; i++) {
        Area r = by_body->at[i];
        if (over_iterations(a, loop, loop->var, trips(a, loop, loop->var), true, &r)) add_area(a->cx, out, &r);
    }
}

Area area_of_all(Annotator *a, const Memory *m)
{
    return (Area){ .offset = expr_index(a->cx, 0), .digit_count = 1, .digit = { { .coef = 1, .count = m->elems } } };
}

bool written_whole(Annotator *a, const Memory *m, const Areas *r)
{
    const Area all = area_of_all(a, m);
    for (int i = 0; i < r->count; i++)
        if (is_same(&r->at[i], &all)) return true;
    return false;
}

/* Finds where the blocks of each digit are in the period of the digit above: the offset without multiples of the
 * period. */
static void find_places(Annotator *a, Area *r)
{
    Linear l;
    for (int i = 1; i < r->digit_count; i++) {
        const int64_t period = r->digit[i - 1].coef;
        if (!linear_of(a->cx, r->offset, &l)) return;
        for (int k = l.count - 1; k >= 0; k--)
            if (l.coef[k] % period == 0) linear_drop(&l, k);
        l.constant = l.constant % period;
        const Expr *place = linear_expr(a->cx, &l), *span = product(a->cx, r->digit[i].count, r->digit[i].coef);
        const Interval least = interval_of(a->cx, place, a->scope), most = interval_of(a->cx, span, a->scope);
        if (least.least >= 0 && sat_add(least.greatest, most.greatest) <= period) r->digit[i].place = place;
    }
}

/* Replaces the ring by a digit: its written blocks. Returns false if they have no form. */
static bool ring_digit(Annotator *a, Area *r)
{
    if (!r->ring.blocks) return true;
    const Expr *blocks = expr_int(a->cx, r->ring.to->type, r->ring.blocks);
    return add_digit(a, r, r->ring.coef, expr_binary(a->cx, EXPR_MIN, blocks, r->ring.to));
}

void written_clauses(Annotator *a, const Memory *m, const Areas *r, int loop)
{
    const bool is_whole = written_whole(a, m, r);
    const Area all = area_of_all(a, m);
    for (int i = 0; i < r->count; i++) {
        Clause c = { .loop = loop, .kind = CLAUSE_INVARIANT, .form = FORM_INITIALIZED, .memory = m, .area = r->at[i] };
        if (!ring_digit(a, &c.area)) continue;
        find_places(a, &c.area);
        if (!is_whole || is_same(&r->at[i], &all)) add_clause(a, &c);
    }
}
