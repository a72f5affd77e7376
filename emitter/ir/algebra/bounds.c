/* SPDX-License-Identifier: MIT */
/* Intervals of integer expressions. A node's interval is computed over the integers from its operands' intervals. If
 * the result may leave the type, it wraps, and the interval is the whole type. An end at INT64_MIN or INT64_MAX is
 * infinite. An interval of u64 has an infinite end as well, because the analysis does not represent the type's upper
 * half.
 *
 * A fact F >= 0 of the scope narrows an expression E that is part of it: F = s*E + R gives E <= max(R) / -s for s < 0,
 * and E >= -max(R) / s for s > 0. The variable of an empty loop has the interval [0, 0]; claims about it are vacuously
 * true. */
#include "ir/algebra/algebra.h"

static const int64_t INF = INT64_MAX, MINUS_INF = INT64_MIN;

const Bounds *bounds_var(Ctx *cx, const Bounds *outer, const Expr *var, const Expr *extent)
{
    Bounds *b = NEW(cx->arena, Bounds);
    *b = (Bounds){ outer, var, extent, NULL };
    return b;
}

/* Splits a conjunction into its facts, so that each fact is dropped only with its own variables. */
const Bounds *bounds_fact(Ctx *cx, const Bounds *outer, const Expr *fact)
{
    if (!fact || expr_is_int(fact, 1)) return outer;
    if (fact->kind == EXPR_AND) return bounds_fact(cx, bounds_fact(cx, outer, fact->arg[0]), fact->arg[1]);
    Bounds *b = NEW(cx->arena, Bounds);
    *b = (Bounds){ outer, NULL, NULL, fact };
    return b;
}

/* ---- Arithmetic of intervals ----------------------------------------------------------------------------------- */

static int64_t low_add(int64_t a, int64_t b) { return a == MINUS_INF || b == MINUS_INF ? MINUS_INF : sat_add(a, b); }
static int64_t high_add(int64_t a, int64_t b) { return a == INF || b == INF ? INF : sat_add(a, b); }
static int64_t negated(int64_t v) { return v == INF ? MINUS_INF : v == MINUS_INF ? INF : -v; }
static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest_of(int64_t a, int64_t b) { return a > b ? a : b; }

static Interval point(int64_t v) { return (Interval){ v, v }; }
static Interval negate(Interval a) { return (Interval){ negated(a.greatest), negated(a.least) }; }
static Interval add(Interval a, Interval b)
{
    return (Interval){ low_add(a.least, b.least), high_add(a.greatest, b.greatest) };
}
static Interval hull4(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (Interval){ least_of(least_of(a, b), least_of(c, d)), greatest_of(greatest_of(a, b), greatest_of(c, d)) };
}

static Interval multiply(Interval a, Interval b)
{
    return hull4(sat_mul(a.least, b.least), sat_mul(a.least, b.greatest), sat_mul(a.greatest, b.least),
                 sat_mul(a.greatest, b.greatest));
}

/* Returns the quotient of an end by a positive divisor; infinite ends stay infinite. */
static int64_t div_end(int64_t a, int64_t b) { return a == INF || a == MINUS_INF ? a : floor_div(a, b); }

static Interval divide(Interval a, Interval b, Interval whole)
{
    if (b.least <= 0) return whole;
    Interval r = hull4(div_end(a.least, b.least), div_end(a.least, b.greatest), div_end(a.greatest, b.least),
                       div_end(a.greatest, b.greatest));
    return r;
}

/* Returns the quotient of an end by a divisor, rounded to zero. The quotient is monotone in the dividend, so the ends
 * of the operands give the ends of the result. */
static int64_t truncated_end(int64_t a, int64_t b) { return a < 0 ? negated(div_end(negated(a), b)) : div_end(a, b); }

static Interval divide_truncated(Interval a, Interval b, Interval whole)
{
    if (b.least <= 0) return whole;
    return hull4(truncated_end(a.least, b.least), truncated_end(a.least, b.greatest),
                 truncated_end(a.greatest, b.least), truncated_end(a.greatest, b.greatest));
}

static Interval modulo(Interval a, Interval b, Interval whole)
{
    if (b.least <= 0) return whole;
    if (a.least >= 0 && a.greatest < b.least) return a;
    /* If both ends are within one period of the divisor, they give the ends of the result. */
    if (b.least == b.greatest && a.least != MINUS_INF && a.greatest != INF) {
        int64_t period = floor_div(a.least, b.least);
        if (period == floor_div(a.greatest, b.least))
            return (Interval){ a.least - period * b.least, a.greatest - period * b.least };
    }
    int64_t top = b.greatest == INF ? INF : b.greatest - 1;
    return (Interval){ 0, a.least >= 0 ? least_of(top, a.greatest) : top };
}

/* Returns 1 if a < b for all values, 0 if a < b for no value, and -1 if undecided. */
static int is_less(Interval a, Interval b)
{
    if (a.greatest < b.least) return 1;
    if (a.least >= b.greatest && b.greatest != INF && a.least != MINUS_INF) return 0;
    return -1;
}

static int is_equal(Interval a, Interval b)
{
    if (a.greatest < b.least || b.greatest < a.least) return 0;
    if (a.least == a.greatest && b.least == b.greatest && a.least == b.least && a.least != INF && a.least != MINUS_INF)
        return 1;
    return -1;
}

static Interval truth(int known) { return known < 0 ? (Interval){ 0, 1 } : point(known); }
static int negation(int known) { return known < 0 ? -1 : !known; }

static Interval shift_left(Interval a, Interval by, Interval whole)
{
    if (by.least != by.greatest || by.least < 0 || by.least > 62) return whole;
    return multiply(a, point((int64_t)1 << by.least));
}

static Interval shift_right(Interval a, Interval by, Interval whole)
{
    if (by.least < 0 || by.greatest > 62) return whole;
    const Interval far = divide(a, point((int64_t)1 << by.least), whole),
                   near = divide(a, point((int64_t)1 << by.greatest), whole);
    return (Interval){ far.least < near.least ? far.least : near.least,
                       far.greatest > near.greatest ? far.greatest : near.greatest };
}

/* Returns mulhigh of operands with this product. mulhigh is monotone in the product, and roundshift in the shifted
 * value, so the ends of the operands give the ends of the result. */
static int64_t high_of(int64_t product)
{
    int64_t high = floor_div(sat_add(product, (int64_t)1 << 30), (int64_t)1 << 31);
    return high > INT32_MAX ? INT32_MAX : high;
}

static Interval multiply_high(Interval a, Interval b, Interval whole)
{
    if (a.least < INT32_MIN || a.greatest > INT32_MAX || b.least < INT32_MIN || b.greatest > INT32_MAX) return whole;
    Interval product = multiply(a, b);
    return (Interval){ high_of(product.least), high_of(product.greatest) };
}

static int64_t rounded_quotient(int64_t a, int64_t by)
{
    int64_t whole = (int64_t)1 << by, half = by ? whole / 2 : 0;
    return a < 0 ? -((-a + half) / whole) : (a + half) / whole;
}

static Interval round_shift(Interval a, Interval by, Interval whole)
{
    if (a.least < INT32_MIN || a.greatest > INT32_MAX || by.least < 0 || by.greatest > 31) return whole;
    return hull4(rounded_quotient(a.least, by.least), rounded_quotient(a.least, by.greatest),
                 rounded_quotient(a.greatest, by.least), rounded_quotient(a.greatest, by.greatest));
}

static Interval absolute(Interval a)
{
    if (a.least >= 0) return a;
    if (a.greatest <= 0) return negate(a);
    return (Interval){ 0, greatest_of(negated(a.least), a.greatest) };
}

/* ---- One node -------------------------------------------------------------------------------------------------- */

static Interval type_interval(DType t)
{
    const DTypeInfo *d = dtype_info(t);
    return (Interval){ d->least, d->greatest };
}

static bool fits(Interval i, DType t)
{
    Interval whole = type_interval(t);
    if (t == I64) return i.least != MINUS_INF && i.greatest != INF;
    if (t == U64) return i.least >= 0 && i.greatest != INF;
    return i.least >= whole.least && i.greatest <= whole.greatest;
}

static Interval of_constant(const Expr *e)
{
    if (e->type == U64 && e->integer < 0) return type_interval(U64);
    return point(e->integer);
}

static Interval of_var(Ranges *r, const Expr *e)
{
    const Var *v = expr_as_var(e);
    Interval i = { v->least, v->greatest };
    if (v->role == VAR_LOCAL && v->least == v->greatest) i = type_interval(e->type);
    for (const Bounds *b = r->scope; b; b = b->outer) {
        if (b->var != e) continue;
        int64_t end = ranges_of(r, b->extent).greatest;
        i.least = greatest_of(i.least, 0);
        i.greatest = least_of(i.greatest, end == INF ? INF : end - 1);
        break;
    }
    if (i.greatest < i.least) i.greatest = i.least;
    return i;
}

/* Returns the bounds that lowering proved for the memory's elements. */
static Interval of_load(const Expr *e)
{
    const Memory *m = memory_base(e->ref);
    return m->range.least < m->range.greatest ? m->range : type_interval(e->type);
}

static Interval converted(const Expr *e, Interval from)
{
    if (dtype_is_float(e->arg[0]->type)) return type_interval(e->type);
    return e->type == BOOL ? truth(negation(is_equal(from, point(0)))) : from;
}

static Interval chosen(const Interval *v)
{
    int known = is_equal(v[SELECT_COND], point(0));
    return known < 0 ? interval_hull(v[SELECT_YES], v[SELECT_NO]) : v[known ? SELECT_NO : SELECT_YES];
}

/* Returns the interval of an operation over the integers, which may exceed the type. Returns `whole`, the type's
 * interval, if nothing better is known. */
static Interval operation(const Expr *e, const Interval *v, Interval whole)
{
    bool on_floats = e->arg_count && dtype_is_float(e->arg[e->arg_count - 1]->type);
    if (e->kind == EXPR_CAST) return converted(e, v[0]);
    if (e->kind == EXPR_RUNTIME) return v[RUNTIME_VALUE];
    if (on_floats) return whole;
    switch (e->kind) {
    case EXPR_INT:      return of_constant(e);
    case EXPR_NEG:      return negate(v[0]);
    case EXPR_NOT:      return truth(negation(is_equal(v[0], point(1))));
    case EXPR_ADD:      return add(v[0], v[1]);
    case EXPR_SUB:      return add(v[0], negate(v[1]));
    case EXPR_MUL:      return multiply(v[0], v[1]);
    case EXPR_FLOORDIV: return divide(v[0], v[1], whole);
    case EXPR_FLOORMOD: return modulo(v[0], v[1], whole);
    case EXPR_TDIV:     return divide_truncated(v[0], v[1], whole);
    case EXPR_TMOD:     return v[0].least >= 0 ? modulo(v[0], v[1], whole) : whole;
    case EXPR_MIN:      return (Interval){ least_of(v[0].least, v[1].least), least_of(v[0].greatest, v[1].greatest) };
    case EXPR_MAX:      return (Interval){ greatest_of(v[0].least, v[1].least),
                                           greatest_of(v[0].greatest, v[1].greatest) };
    case EXPR_SELECT:   return chosen(v);
    case EXPR_ABS:      return absolute(v[0]);
    case EXPR_SHL:      return shift_left(v[0], v[1], whole);
    case EXPR_SHR:      return shift_right(v[0], v[1], whole);
    case EXPR_MULHIGH:  return multiply_high(v[0], v[1], whole);
    case EXPR_ROUNDSHIFT: return round_shift(v[0], v[1], whole);
    case EXPR_EXPQ:     return (Interval){ 0, INT32_MAX };
    case EXPR_CLZ:      return (Interval){ 0, 32 };
    case EXPR_BITAND:   return v[1].least >= 0 && v[1].greatest != INF ? (Interval){ 0, v[1].greatest } : whole;
    case EXPR_LT:       return truth(is_less(v[0], v[1]));
    case EXPR_LE:       return truth(negation(is_less(v[1], v[0])));
    case EXPR_EQ:       return truth(is_equal(v[0], v[1]));
    case EXPR_NE:       return truth(negation(is_equal(v[0], v[1])));
    case EXPR_AND:      return (Interval){ v[0].least && v[1].least, v[0].greatest && v[1].greatest };
    case EXPR_OR:       return (Interval){ v[0].least || v[1].least, v[0].greatest || v[1].greatest };
    default:            return whole;
    }
}

Interval interval_apply(const Expr *e, const Interval *operands)
{
    if (dtype_is_float(e->type)) return (Interval){ MINUS_INF, INF };
    Interval whole = type_interval(e->type), i = operation(e, operands, whole);
    return fits(i, e->type) ? i : whole;
}

static Interval unwrapped(Ranges *r, const Expr *e)
{
    Interval whole = type_interval(e->type), v[3] = { whole, whole, whole };
    if (e->kind == EXPR_LOAD) return of_load(e);
    if (e->kind == EXPR_VAR) return of_var(r, e);
    if (e->kind == EXPR_READ || e->kind == EXPR_AT || e->kind == EXPR_BITCAST) return whole;
    for (int a = 0; a < e->arg_count && a < 3; a++)
        if (!dtype_is_float(e->arg[a]->type)) v[a] = ranges_of(r, e->arg[a]);
    return operation(e, v, whole);
}

bool ranges_exact(Ranges *r, const Expr *e)
{
    if (dtype_is_float(e->type)) return false;
    return fits(unwrapped(r, e), e->type);
}

/* ---- Facts ----------------------------------------------------------------------------------------------------- */

Interval ranges_of_linear(Ranges *r, const Linear *l)
{
    Interval sum = point(l->constant);
    for (int i = 0; i < l->count; i++) sum = add(sum, multiply(point(l->coef[i]), ranges_of(r, l->term[i])));
    return sum;
}

static Interval narrowed_by(Ranges *r, Interval i, const Linear *e, const Linear *fact)
{
    int64_t shared = linear_coef(fact, e->term[0]);
    if (shared == 0 || shared % e->coef[0] != 0) return i;
    int64_t s = shared / e->coef[0];
    Linear rest = *fact;
    if (!linear_add(&rest, e, sat_mul(s, -1)) || rest.count + e->count > fact->count) return i;
    int64_t most = ranges_of_linear(r, &rest).greatest;
    if (most == INF) return i;
    if (s < 0) i.greatest = least_of(i.greatest, div_end(most, -s));
    else i.least = greatest_of(i.least, negated(div_end(most, s)));
    return i;
}

static bool is_summable(const Expr *e)
{
    return dtype_is_integer(e->type)
           && (e->kind == EXPR_VAR || e->kind == EXPR_ADD || e->kind == EXPR_SUB || e->kind == EXPR_MUL
               || e->kind == EXPR_FLOORDIV || e->kind == EXPR_MIN || e->kind == EXPR_MAX || e->kind == EXPR_READ);
}

static Interval narrowed(Ranges *r, const Expr *e, Interval i)
{
    Linear l;
    if (!r->fact_count || !is_summable(e) || !ranges_linear(r, e, &l) || !l.count) return i;
    Interval shift = point(l.constant);
    l.constant = 0;
    for (int f = 0; f < r->fact_count; f++) {
        Interval part = add(narrowed_by(r, (Interval){ MINUS_INF, INF }, &l, &r->fact[f]), shift);
        i.least = greatest_of(i.least, part.least);
        i.greatest = least_of(i.greatest, part.greatest);
    }
    if (i.greatest < i.least) i.greatest = i.least;
    return i;
}

Interval ranges_of(Ranges *r, const Expr *e)
{
    if (dtype_is_float(e->type)) return (Interval){ MINUS_INF, INF };
    if (e->kind == EXPR_INT) return of_constant(e);
    const Interval *known = map_get_ptr(&r->known, e);
    if (known) return *known;
    Interval i = unwrapped(r, e);
    if (!fits(i, e->type)) i = type_interval(e->type);
    Interval *remembered = NEW(r->cx->ranges, Interval);
    *remembered = i;
    map_put_ptr(&r->known, e, remembered);   /* stored before narrowing, because a fact may use e */
    *remembered = narrowed(r, e, i);
    return *remembered;
}

/* Rewrites remainders by e % k = e - k * (e / k), so that facts about remainders bound quotients too. */
static bool without_remainders(Ranges *r, const Linear *l, Linear *out)
{
    Linear part;
    bool any = false;
    *out = *l;
    for (int i = 0; i < l->count; i++) {
        const Expr *t = l->term[i];
        if (t->kind != EXPR_FLOORMOD || t->arg[1]->kind != EXPR_INT || t->arg[1]->integer <= 0) continue;
        const Expr *quotient = expr_binary(r->cx, EXPR_FLOORDIV, t->arg[0], t->arg[1]);
        Linear term = { .type = l->type, .count = 1, .term = { t }, .coef = { l->coef[i] } };
        Linear digit = {
            .type = l->type, .count = 1, .term = { quotient }, .coef = { sat_mul(-t->arg[1]->integer, l->coef[i]) }
        };
        any = ranges_linear(r, t->arg[0], &part) && linear_add(out, &term, -1) && linear_add(out, &part, l->coef[i])
              && linear_add(out, &digit, 1);
        if (!any) return false;
    }
    return any;
}

static bool add_fact(Ranges *r, const Expr *more, const Expr *less, int64_t by)
{
    Linear l, m;
    if (!ranges_linear(r, more, &l) || !ranges_linear(r, less, &m)) return false;
    if (!linear_add(&l, &m, -1)) return false;
    l.constant = sat_add(l.constant, -by);
    r->fact[r->fact_count++] = l;
    if (without_remainders(r, &l, &m)) r->fact[r->fact_count++] = m;
    return true;
}

enum { MAX_FACTS = 32, FACTS_OF_ONE = 4 };    /* an equation with remainders gives four facts */

/* Adds the fact a > b or b > a if the ranges exclude the opposite. */
static void add_unequal(Ranges *r, const Expr *a, const Expr *b)
{
    Linear l, m;
    if (!ranges_linear(r, a, &l) || !ranges_linear(r, b, &m) || !linear_add(&l, &m, -1)) return;
    const Interval difference = ranges_of_linear(r, &l);
    if (difference.least == 0) add_fact(r, a, b, 1);
    else if (difference.greatest == 0) add_fact(r, b, a, 1);
}

static void collect_fact(Ranges *r, const Expr *fact, bool holds)
{
    if (r->fact_count + FACTS_OF_ONE > MAX_FACTS) return;
    if (fact->kind == EXPR_NOT) {
        collect_fact(r, fact->arg[0], !holds);
        return;
    }
    if (fact->kind == (holds ? EXPR_AND : EXPR_OR)) {
        collect_fact(r, fact->arg[0], holds);
        collect_fact(r, fact->arg[1], holds);
        return;
    }
    if (fact->arg_count != 2 || !dtype_is_integer(fact->arg[0]->type)) return;
    const Expr *a = fact->arg[0], *b = fact->arg[1];
    if (fact->kind == EXPR_LT) holds ? add_fact(r, b, a, 1) : add_fact(r, a, b, 0);
    if (fact->kind == EXPR_LE) holds ? add_fact(r, b, a, 0) : add_fact(r, a, b, 1);
    if (fact->kind == (holds ? EXPR_EQ : EXPR_NE) && add_fact(r, a, b, 0)) add_fact(r, b, a, 0);
    if (fact->kind == (holds ? EXPR_NE : EXPR_EQ)) add_unequal(r, a, b);
}

static int fact_room(const Expr *fact)
{
    bool is_list = fact->kind == EXPR_AND || fact->kind == EXPR_OR || fact->kind == EXPR_NOT;
    int n = is_list ? 0 : FACTS_OF_ONE;
    for (int i = 0; i < fact->arg_count && is_list && n < MAX_FACTS; i++) n += fact_room(fact->arg[i]);
    return n;
}

/* Returns true if only sizes and numbers form the expression. Sets *some_may_be_0 if a size may be 0. */
static bool is_of_sizes(const Expr *e, bool *some_may_be_0)
{
    const Var *v = expr_as_var(e);
    if (v) *some_may_be_0 = *some_may_be_0 || v->least < 1;
    bool is = v ? v->role == VAR_SIZE : e->kind == EXPR_INT || e->arg_count > 0;
    for (int i = 0; i < e->arg_count && is; i++) is = is_of_sizes(e->arg[i], some_may_be_0);
    return is;
}

/* Returns true if the loop may prove that a size is not 0. Inside the loop, the loop's extent is at least 1. */
static bool shows_sizes(const Bounds *b)
{
    bool some_may_be_0 = false;
    return b->var && b->extent->kind != EXPR_INT && is_of_sizes(b->extent, &some_may_be_0) && some_may_be_0;
}

static int facts_of(const Bounds *b) { return b->fact ? fact_room(b->fact) : shows_sizes(b) ? FACTS_OF_ONE : 0; }

/* Returns the ranges of the scope. Facts are opened with intervals computed without facts. The intervals without facts
 * are then dropped, because facts may narrow them. */
Ranges ranges_new(Ctx *cx, const Bounds *scope)
{
    Ranges r = { .cx = cx, .scope = scope, .mark = arena_mark(cx->ranges), .known = map_new(cx->ranges) };
    int capacity = 0;
    for (const Bounds *b = scope; b && capacity < MAX_FACTS; b = b->outer) capacity += facts_of(b);
    if (capacity) r.fact = NEW_ARRAY(cx->ranges, Linear, capacity < MAX_FACTS ? capacity : MAX_FACTS);
    for (const Bounds *b = scope; b && capacity; b = b->outer)
        if (b->fact) collect_fact(&r, b->fact, true);
        else if (shows_sizes(b) && r.fact_count + FACTS_OF_ONE <= MAX_FACTS)
            add_fact(&r, b->extent, expr_int(cx, b->extent->type, 0), 1);
    if (capacity) r.known = map_new(cx->ranges);
    return r;
}

void ranges_free(Ranges *r) { arena_reset(r->cx->ranges, r->mark); }

Interval interval_of(Ctx *cx, const Expr *e, const Bounds *b)
{
    Ranges r = ranges_new(cx, b);
    const Interval i = ranges_of(&r, e);
    ranges_free(&r);
    return i;
}

/* ---- Sizes at their greatest ----------------------------------------------------------------------------------- */

static void find_decided(const Expr *e, void *user)
{
    const Var *v = expr_as_var(e);
    if (v && v->is_decided) *(bool *)user = true;
}

bool size_is_decided(Ctx *cx, const Expr *size)
{
    bool found = false;
    expr_walk(cx, size, find_decided, &found);
    return found;
}

const Tensor *first_of_decided_size(Ctx *cx, Tensor *const *t, int count)
{
    for (int i = 0; i < count; i++)
        for (int d = 0; t[i] && d < t[i]->rank; d++)
            if (size_is_decided(cx, t[i]->shape[d])) return t[i];
    return NULL;
}

int64_t tensor_most_elems(Ctx *cx, const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t dim = interval_of(cx, t->shape[d], NULL).greatest;
        if (dim < 0 || (dim > 0 && n > INT64_MAX / 16 / dim)) return -1;
        n *= dim;
    }
    return n;
}

bool tensor_fits_index(Ctx *cx, const Tensor *t)
{
    int64_t most = 1;
    for (int d = 0; d < t->rank; d++) {
        const Interval dim = interval_of(cx, t->shape[d], NULL);
        most = sat_mul(most, dim.greatest > 0 ? dim.greatest : 0);
    }
    if (most <= INT32_MAX) return true;
    diag_unsupported(cx, NULL,
                     "tensor \"%s\" %s has %s%lld elements; use at most %ld, because indices have 32 bits",
                     t->name, tensor_shape_text(cx, t), tensor_is_fixed(t) && most < INT64_MAX ? "" : "up to ",
                     (long long)most, (long)INT32_MAX);
    return false;
}

int64_t tensor_most_bytes(Ctx *cx, const Tensor *t)
{
    int64_t n = tensor_most_elems(cx, t);
    return n < 0 ? -1 : n * dtype_info(t->type)->bytes;
}
