/* SPDX-License-Identifier: MIT */
/* Bounds of the elements of local arrays and variables at each point of a function. A sum over k has the bounds
 * k * [low, high] of its summand after k iterations, so the bounds of an accumulator are linear in loop variables.
 *
 * The elements are divided into segments, because the innermost loops of a tile update one element after another:
 *
 *     for (k ...)                             each element is within k * s
 *         for (w ...)                         [0, 16w) is within (k + 1) * s, the rest within k * s
 *             for (o ...)                     [0, 16w + o) is within (k + 1) * s, the rest within k * s
 *                 acc[w * 16 + o] += ...
 *
 * The effect of its body decides a loop's form: each iteration changes an element of its own, each iteration
 * changes the same elements, or neither. In the last case the sum over all iterations bounds every element. Bounds
 * of a summand contain 0, so they also hold for elements that an iteration skips. */
#include "lower/annotate_parts.h"

/* The effect of code on a memory: it adds to elements of [low, high), or sets them. covers: it sets each of them. */
typedef struct Effect {
    bool touches, sets, covers, is_known;
    Interval add, set;
    const Expr *low, *high;
} Effect;

typedef enum LoopForm { EACH_OWN, EACH_SAME, NEITHER } LoopForm;

static Interval plus(Interval a, Interval b)
{
    return (Interval){ sat_add(a.least, b.least), sat_add(a.greatest, b.greatest) };
}

static Interval times(Interval a, int64_t n) { return (Interval){ sat_mul(a.least, n), sat_mul(a.greatest, n) }; }

static const Expr *next(Ctx *cx, const Expr *e, int64_t by)
{
    return simplify(cx, expr_add(cx, e, expr_int(cx, e->type, by)), NULL);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static Sum sum_of(Interval i) { return (Sum){ .is_known = true, .low = i.least, .high = i.greatest }; }

static Sum sum_plus(Sum s, Interval add)
{
    s.low = sat_add(s.low, add.least);
    s.high = sat_add(s.high, add.greatest);
    return s;
}

static Sum sum_plus_steps(Sum s, const Expr *steps, Interval add)
{
    if (s.term_count == MOST_TERMS) return (Sum){ .is_known = false };
    s.term[s.term_count].steps = steps;
    s.term[s.term_count].low = add.least;
    s.term[s.term_count++].high = add.greatest;
    return s;
}

static Interval sum_interval(Annotator *a, const Sum *s)
{
    Interval i = { s->low, s->high };
    for (int k = 0; k < s->term_count; k++) {
        const Interval steps = interval_of(a->cx, s->term[k].steps, a->scope);
        i.least = sat_add(i.least, sat_mul(s->term[k].low, steps.greatest));
        i.greatest = sat_add(i.greatest, sat_mul(s->term[k].high, steps.greatest));
    }
    return i;
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

Values values_unknown(Annotator *a, const Memory *m)
{
    Values v = { .count = 1 };
    v.at[0].from = expr_index(a->cx, 0);
    v.at[0].to = m->elems;
    return v;
}

/* Returns bounds of all elements at this point, or the type's if they are unknown. */
static Interval values_hull(Annotator *a, const Tracked *t)
{
    const DTypeInfo *type = dtype_info(t->memory->type);
    const Interval whole = { type->least, type->greatest };
    Interval all = whole;
    for (int i = 0; i < t->values.count; i++) {
        if (!t->values.at[i].sum.is_known) return whole;
        const Interval one = sum_interval(a, &t->values.at[i].sum);
        all = i ? interval_hull(all, one) : one;
    }
    return all.least < whole.least || all.greatest > whole.greatest ? whole : all;
}

static Sum joined(Annotator *a, const Sum *before, Interval set)
{
    return before->is_known ? sum_of(interval_hull(sum_interval(a, before), set)) : (Sum){ .is_known = false };
}

/* Replaces an element by a variable with its bounds. Narrow elements have the bounds of their type, which a prover
 * finds without the contract. The contract of lw_expq_i32 states no bounds of its result, so the bounds of the result's
 * type hold. */
static const Expr *bounded_load(Ctx *cx, const Expr *e, void *user)
{
    Annotator *a = user;
    if (e->kind == EXPR_EXPQ) return expr_new_var(cx, "exp", VAR_LOCAL, e->type, INT32_MIN, INT32_MAX);
    if (e->kind != EXPR_LOAD || dtype_is_float(e->type)) return e;
    const DTypeInfo *type = dtype_info(e->type);
    if (type->bytes < 4) return expr_new_var(cx, "element", VAR_LOCAL, e->type, type->least, type->greatest);
    const Memory *m = memory_base(e->ref);
    const int at = find_parameter(a->f, m);
    Tracked *t = find_tracked(a, m);
    Interval range = { 0, 0 };
    if (at < a->f->memory_count) range = a->range[at];
    else if (t) range = values_hull(a, t);
    if (range.least >= range.greatest) return e;
    return expr_new_var(cx, m->name, VAR_LOCAL, e->type, range.least, range.greatest);
}

static Interval value_interval(Annotator *a, const Expr *e)
{
    const Expr *bounded = expr_rewrite(a->cx, with_named_values(a, e), bounded_load, a);
    return interval_of(a->cx, bounded, a->scope);
}

/* ---- The effect of code ------------------------------------------------------------------------------------------ */

/* Returns the summand of m[i] = m[i] + summand, or NULL. */
static const Expr *summand_of(Annotator *a, const Code *store)
{
    const Expr *v = store->value, *self = load_expr(a->cx, store->memory, store->index);
    if (v->kind != EXPR_ADD) return NULL;
    return v->arg[0] == self ? v->arg[1] : v->arg[1] == self ? v->arg[0] : NULL;
}

static void find_load(const Expr *e, void *user)
{
    const Memory **m = user;
    if (e->kind == EXPR_LOAD && memory_base(e->ref) == *m) *m = NULL;
}

static bool loads(Annotator *a, const Expr *e, const Memory *m)
{
    const Memory *left = m;
    expr_walk(a->cx, e, find_load, &left);
    return !left;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Provers do not find the bounds of a product among the many facts of a deep nest of loops. So the bounds are asserted
 * before the store, from the bounds of the factors, by a lemma that is proved once. */

/* Returns true if the expression is a term of an annotation as it is written in C: without calls. */
static bool is_term(const Expr *e)
{
    bool is = e->kind == EXPR_INT || e->kind == EXPR_VAR || e->kind == EXPR_LOAD || e->kind == EXPR_ADD
              || e->kind == EXPR_SUB || e->kind == EXPR_MUL || e->kind == EXPR_NEG || e->kind == EXPR_CAST;
    for (int i = 0; is && i < e->arg_count; i++) is = is_term(e->arg[i]);
    return is && dtype_is_integer(e->type);
}

static bool is_product(const Expr *e)
{
    return e->kind == EXPR_MUL && e->arg[1]->kind != EXPR_INT && dtype_is_integer(e->type);
}

static int64_t magnitude(Interval i) { return i.greatest > -i.least ? i.greatest : -i.least; }

/* Replaces a product by a variable with the bounds that are asserted of it. A product without an assertion has powers
 * of two as bounds: provers find these from the ranges of types, not exact ones. */
static const Expr *bounded_product(Ctx *cx, const Expr *e, void *user)
{
    Annotator *a = user;
    if (!is_product(e)) return e;
    const int64_t exact = sat_mul(magnitude(interval_of(cx, e->arg[0], a->scope)),
                                  magnitude(interval_of(cx, e->arg[1], a->scope)));
    int64_t most = 1;
    while (most < exact) most = sat_mul(most, 2);
    if (is_term(e)) most = exact;
    return most > INT32_MAX ? e : expr_new_var(cx, "product", VAR_LOCAL, e->type, -most, most);
}

/* Returns the bounds of a summand, widened to contain 0. */
static Interval summand_bounds(Annotator *a, const Expr *summand)
{
    const Interval zero = { 0, 0 };
    const Expr *bounded = expr_rewrite(a->cx, with_named_values(a, summand), bounded_load, a);
    bounded = expr_rewrite(a->cx, bounded, bounded_product, a);
    return interval_hull(zero, interval_of(a->cx, bounded, a->scope));
}

typedef struct Products { Annotator *a; const Code *store; } Products;

static void add_product(const Expr *e, void *user)
{
    Products *p = user;
    Annotator *a = p->a;
    if (!is_product(e) || !is_term(e)) return;
    const int64_t m = magnitude(value_interval(a, e->arg[0])), n = magnitude(value_interval(a, e->arg[1]));
    if (sat_mul(m, n) > INT32_MAX) return;
    for (int i = 0; i < a->clauses.count; i++)
        if (a->clauses.at[i].statement == p->store && a->clauses.at[i].a == e->arg[0]) return;
    add_clause(a, &(Clause){ .loop = STATEMENT, .statement = p->store, .kind = CLAUSE_ASSERT, .form = FORM_PRODUCT,
                             .a = e->arg[0], .b = e->arg[1], .low = expr_int(a->cx, I64, m),
                             .high = expr_int(a->cx, I64, n) });
}

void product_clauses(Annotator *a, const Code *store)
{
    Products p = { a, store };
    expr_walk(a->cx, store->value, add_product, &p);
}

/* ---- The effect of a store --------------------------------------------------------------------------------------- */

static Effect effect_of_store(Annotator *a, const Code *c)
{
    const Expr *summand = summand_of(a, c);
    Effect e = { .touches = true, .is_known = true, .low = store_index(a, c) };
    e.high = next(a->cx, e.low, 1);
    e.sets = !summand || loads(a, summand, memory_base(c->memory));
    if (!e.sets) e.add = summand_bounds(a, summand);
    else e.set = value_interval(a, c->value);
    e.covers = e.sets && !loads(a, c->value, memory_base(c->memory));
    return e;
}

static bool is_at_most(Annotator *a, const Expr *x, const Expr *y)
{
    return x == y || provably(a->cx, expr_binary(a->cx, EXPR_LE, x, y), a->scope);
}

static Effect in_sequence(Annotator *a, Effect first, Effect second)
{
    if (!first.touches) return second;
    if (!second.touches) return first;
    Effect e = { .touches = true, .sets = first.sets || second.sets };
    e.is_known = first.is_known && second.is_known;
    bool within = false;
    if (e.is_known) {
        const bool low_first = is_at_most(a, first.low, second.low);
        const bool high_first = is_at_most(a, second.high, first.high);
        e.is_known = (low_first || is_at_most(a, second.low, first.low))
                     && (high_first || is_at_most(a, first.high, second.high));
        e.low = low_first ? first.low : second.low;
        e.high = high_first ? first.high : second.high;
        within = low_first && high_first;
    }
    e.add = plus(first.add, second.add);
    if (first.sets && second.sets) e.set = interval_hull(first.set, second.set);
    else if (first.sets) e.set = interval_hull(first.set, plus(first.set, second.add));
    else e.set = second.set;
    e.covers = first.sets && first.covers && within && (!second.sets || second.covers);
    return e;
}

static const Expr *at_end(Annotator *a, const Code *loop, const Expr *e, bool last)
{
    const Expr *v = with_named_values(a, last ? loop->end : loop->begin);
    if (last) v = next(a->cx, v, -1);
    return simplify(a->cx, expr_substitute(a->cx, e, &loop->var, &v, 1), NULL);
}

/* Decides the form of a loop from the effect of its body. fills: each iteration's elements follow the last's. */
static LoopForm form_of(Annotator *a, const Code *loop, const Effect *body, bool *fills)
{
    int64_t low, high;
    const Expr *rest;
    *fills = false;
    if (!body->is_known || !split_linear(a->cx, body->low, loop->var, &low, &rest)
        || !split_linear(a->cx, body->high, loop->var, &high, &rest) || low != high)
        return NEITHER;
    if (low == 0) return EACH_SAME;
    const Expr *size = simplify(a->cx, expr_sub(a->cx, body->high, body->low), NULL);
    if (low < 0 || size->kind != EXPR_INT || size->integer > sat_mul(low, loop->step)) return NEITHER;
    *fills = size->integer == sat_mul(low, loop->step);
    return EACH_OWN;
}

static Effect effect_of(Annotator *a, const Code *c, const Memory *m);

static Effect effect_of_loop(Annotator *a, const Code *loop, const Memory *m)
{
    const Bounds *outside = a->scope;
    const int lets = a->lets.count;
    bool fills;
    a->scope = code_bounds(a->cx, outside, loop);
    Effect e = effect_of(a, loop->child[0], m);
    a->lets.count = lets;
    if (!e.touches) {
        a->scope = outside;
        return e;
    }
    const LoopForm form = form_of(a, loop, &e, &fills);
    a->scope = outside;
    if (form != EACH_OWN) e.add = times(e.add, most_trips(a, loop));
    if (form == NEITHER || (form == EACH_OWN && !fills) || !runs_once(a, loop)) e.covers = false;
    if (e.is_known && form != EACH_SAME) {
        e.low = at_end(a, loop, e.low, false);
        e.high = at_end(a, loop, e.high, true);
        if (form == NEITHER) e.is_known = false;
    }
    return e;
}

static Effect effect_of(Annotator *a, const Code *c, const Memory *m)
{
    Effect e = { .touches = false };
    const int lets = a->lets.count;
    if (c->kind == CODE_STORE) return memory_base(c->memory) == m ? effect_of_store(a, c) : e;
    if (c->kind == CODE_FOR) return effect_of_loop(a, c, m);
    if (c->kind == CODE_LET) name_value(a, c);
    for (int i = 0; i < c->child_count; i++) {
        Effect one = effect_of(a, c->child[i], m);
        if (c->kind == CODE_IF) one.covers = false;
        e = in_sequence(a, e, one);
    }
    if (c->kind == CODE_SCOPE) a->lets.count = lets;
    return e;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

void values_store(Annotator *a, Tracked *t, const Code *store)
{
    const Effect e = effect_of_store(a, store);
    Segment *s = &t->values.at[t->values.current];
    if (!e.sets) s->sum = sum_plus(s->sum, e.add);
    else if (e.covers && e.low == s->from && e.high == s->to) s->sum = sum_of(e.set);
    else s->sum = joined(a, &s->sum, e.set);
}

/* Replaces the current segment by [from, low) of sum `before`, [low, high), which becomes current, and [high, to).
 * Empty segments are left out. */
static void split(Values *v, const Expr *low, const Expr *high, Sum before, Sum inside, Sum after)
{
    const Segment whole = v->at[v->current];
    Segment part[3] = { { whole.from, low, before }, { low, high, inside }, { high, whole.to, after } };
    Values out = { .count = 0 };
    for (int i = 0; i < v->current; i++) out.at[out.count++] = v->at[i];
    for (int k = 0; k < 3; k++) {
        if (k != 1 && part[k].from == part[k].to) continue;
        if (k == 1) out.current = out.count;
        out.at[out.count++] = part[k];
    }
    for (int i = v->current + 1; i < v->count; i++) out.at[out.count++] = v->at[i];
    *v = out;
}

static void forget(Values *v) { v->at[v->current].sum = (Sum){ .is_known = false }; }

/* Elements of their own for each iteration: those below the iteration's are done, those above are as before. */
static void own_elements(Annotator *a, LoopValues *l, const Code *loop, const Effect *e, bool fills)
{
    const Segment *s = &l->head.at[l->head.current];
    const Sum before = s->sum, done = e->sets ? sum_of(e->set) : sum_plus(before, e->add);
    const Expr *begin = at_end(a, loop, e->low, false);
    if (l->head.count + 4 > MOST_SEGMENTS || (e->sets && (!e->covers || !fills || begin != s->from))) {
        forget(&l->head);
        l->body = l->head;
        return;
    }
    split(&l->body, e->low, e->high, done, before, before);
    split(&l->head, e->low, e->low, done, before, before);
    Values *h = &l->head;        /* at the head the iteration's elements are among those above */
    for (int i = h->current; i + 1 < h->count; i++) h->at[i] = h->at[i + 1];
    h->count--;
}

LoopValues values_loop(Annotator *a, const Tracked *t, const Code *loop)
{
    LoopValues l = { t->values, t->values, t->values };
    const int lets = a->lets.count;
    const Effect e = effect_of(a, loop->child[0], t->memory);
    bool fills;
    a->lets.count = lets;
    if (!e.touches) return l;
    const LoopForm form = form_of(a, loop, &e, &fills);
    const Sum before = t->values.at[t->values.current].sum;
    Segment *head = &l.head.at[l.head.current], *after = &l.after.at[l.after.current];
    const int64_t most = most_trips(a, loop);
    if (form == EACH_OWN) {
        own_elements(a, &l, loop, &e, fills);
        const bool whole = e.sets && e.covers && fills && runs_once(a, loop)
                           && at_end(a, loop, e.low, false) == after->from
                           && at_end(a, loop, e.high, true) == after->to;
        after->sum = !e.sets ? sum_plus(before, e.add) : whole ? sum_of(e.set) : joined(a, &before, e.set);
        return l;
    }
    const Expr *steps = simplify(a->cx, expr_sub(a->cx, loop->var, with_named_values(a, loop->begin)), NULL);
    if (!e.sets) {
        head->sum = before.is_known ? sum_plus_steps(before, steps, e.add) : before;
        after->sum = sum_plus(before, times(e.add, most));
    } else {
        if (e.add.least || e.add.greatest) forget(&l.head);
        else head->sum = joined(a, &before, e.set);
        const bool whole = e.covers && e.is_known && e.low == after->from && e.high == after->to && runs_once(a, loop);
        after->sum = whole ? sum_of(e.set) : head->sum;
    }
    l.body = l.head;
    return l;
}

void values_branch(Annotator *a, Tracked *t, const Code *branch)
{
    const int lets = a->lets.count;
    const Effect e = effect_of(a, branch, t->memory);
    Segment *s = &t->values.at[t->values.current];
    a->lets.count = lets;
    if (!e.touches) return;
    if (!e.sets) s->sum = sum_plus(s->sum, e.add);
    else if (e.add.least || e.add.greatest) s->sum.is_known = false;
    else s->sum = joined(a, &s->sum, e.set);
}

/* ---- Clauses ----------------------------------------------------------------------------------------------------- */

/* Returns constant + sum(steps * coefficient) in 64 bits. */
static const Expr *bound_of(Annotator *a, const Sum *s, bool is_high)
{
    Ctx *cx = a->cx;
    const Expr *e = expr_int(cx, I64, is_high ? s->high : s->low);
    for (int i = 0; i < s->term_count; i++) {
        const int64_t by = is_high ? s->term[i].high : s->term[i].low;
        if (by) e = expr_add(cx, e, expr_mul(cx, expr_cast(cx, I64, s->term[i].steps), expr_int(cx, I64, by)));
    }
    return simplify(cx, e, a->scope);
}

static bool are_equal(const Sum *x, const Sum *y)
{
    bool equal = x->is_known == y->is_known && x->low == y->low && x->high == y->high && x->term_count == y->term_count;
    for (int i = 0; equal && i < x->term_count; i++)
        equal = x->term[i].steps == y->term[i].steps && x->term[i].low == y->term[i].low
                && x->term[i].high == y->term[i].high;
    return equal;
}

static void segment_clause(Annotator *a, const Memory *m, const Segment *s, int loop)
{
    const DTypeInfo *type = dtype_info(m->type);
    const Interval all = sum_interval(a, &s->sum);
    if (!s->sum.is_known || (all.least == type->least && all.greatest == type->greatest)) return;
    Clause c = { .loop = loop, .kind = CLAUSE_INVARIANT, .form = FORM_WITHIN, .memory = m };
    c.area.offset = s->from;
    c.area.digit_count = 1;
    c.area.digit[0] = (Digit){ .coef = 1, .count = simplify(a->cx, expr_sub(a->cx, s->to, s->from), NULL) };
    c.low = bound_of(a, &s->sum, false);
    c.high = bound_of(a, &s->sum, true);
    add_clause(a, &c);
}

/* Adjacent segments with equal bounds become one clause. */
void values_clauses(Annotator *a, const Memory *m, const Values *v, int loop)
{
    for (int i = 0; i < v->count;) {
        Segment s = v->at[i++];
        while (i < v->count && v->at[i].from == s.to && are_equal(&s.sum, &v->at[i].sum)) s.to = v->at[i++].to;
        segment_clause(a, m, &s, loop);
    }
}
