/* SPDX-License-Identifier: MIT */
/* Computes the reach of an index: its bounds while the inner loops run. The inner variables are eliminated from the
 * linear form one by one, each at the end that gives the bound; terms without them stay symbolic. A term is pushed `up`
 * (to its upper bound) or down:
 *
 *     v in [0, extent)     extent - 1, or 0
 *     min(a, b) up         a and b are both upper bounds, so the smaller; down: the smaller of both lower bounds
 *     e / k, e % k         e at that end, divided; [0, k - 1] unless e stays in [0, k)
 *     x * n                n free of the inner variables and of known sign: x at the end that the sign selects
 *     anything else        its interval, if narrower than the type
 *
 * A fact F >= 0 adds nothing negative: L <= L + m*F. If that cancels an inner term, the bound is often sharper (ho*4 +
 * hi under the guard ho*4 + hi < 10). The result may be too large, never too small.
 *
 * Linear forms are large and the search recurses, so those that wait for a bound are on a stack in the arena. The
 * stack's size bounds the recursion: deeper expressions have no bound. */
#include "ir/algebra/algebra.h"

#include "support/text.h"

bool uses_any(const Expr *e, const Expr *const *vars, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses(e, vars[i])) return true;
    return false;
}

const Bounds *bounds_without(Ctx *cx, const Bounds *scope, const Expr *const *vars, int count)
{
    if (!scope) return NULL;
    const Bounds *outer = bounds_without(cx, scope->outer, vars, count);
    if (scope->fact) return uses_any(scope->fact, vars, count) ? outer : bounds_fact(cx, outer, scope->fact);
    if (uses_any(scope->var, vars, count) || uses_any(scope->extent, vars, count)) return outer;
    return bounds_var(cx, outer, scope->var, scope->extent);
}

typedef struct Reaching {
    Ctx *cx;
    /* `ranges` has the whole scope, and `outside` the scope without the inner variables. */
    Ranges ranges, outside;
    const Expr *const *inner; int inner_count;
    int steps, by_facts;                      /* by_facts is 1 if facts may bound terms by themselves, otherwise 0 */
    Linear *waiting; int depth;               /* MAX_REACH_DEPTH forms, of which `depth` are in use */
    const char *why;
} Reaching;

enum { MAX_REACH_STEPS = 200, MAX_REACH_DEPTH = 64 };

static const Expr *bound(Reaching *r, const Linear *l, bool up, int facts_left);

/* Pushes a copy of the form, or a form without content. Returns NULL if the stack is full. */
static Linear *push(Reaching *r, const Linear *from)
{
    if (r->depth == MAX_REACH_DEPTH) return NULL;
    Linear *l = &r->waiting[r->depth++];
    if (from) *l = *from;
    return l;
}

/* Bounds the newest form, and pops it. */
static const Expr *bound_newest(Reaching *r, bool up, int facts_left)
{
    const Expr *e = bound(r, &r->waiting[r->depth - 1], up, facts_left);
    r->depth--;
    return e;
}

static const Expr *pop(Reaching *r)
{
    r->depth--;
    return NULL;
}

static bool uses_inner(const Reaching *r, const Expr *e) { return uses_any(e, r->inner, r->inner_count); }

static bool is_inner(const Reaching *r, const Expr *e)
{
    for (int i = 0; i < r->inner_count; i++)
        if (r->inner[i] == e) return true;
    return false;
}

static const Expr *refuse(Reaching *r, const Expr *term)
{
    if (r->why) return NULL;
    Text t = text_new(r->cx);
    if (term->kind == EXPR_VAR) text_printf(&t, "no bound is known for '%s'", expr_as_var(term)->name);
    else if (term->kind == EXPR_READ)
        text_printf(&t, "the index depends on the data of \"%s\"", ((const Tensor *)term->ref)->name);
    else text_printf(&t, "no bound is known for a term with '%s'", expr_info(term->kind)->spelling);
    r->why = text_string(&t);
    return NULL;
}

/* Returns the sharper of two bounds. Either may be missing. */
static const Expr *sharper(Reaching *r, const Expr *a, const Expr *b, bool up)
{
    if (!a || !b) return a ? a : b;
    const Expr *least = up ? a : b, *most = up ? b : a;
    if (a == b || ranges_prove(&r->outside, expr_binary(r->cx, EXPR_LE, least, most))) return a;
    if (ranges_prove(&r->outside, expr_binary(r->cx, EXPR_LE, most, least))) return b;
    return expr_binary(r->cx, up ? EXPR_MIN : EXPR_MAX, a, b);
}

static const Expr *wider(Reaching *r, const Expr *a, const Expr *b, bool up)
{
    return a && b ? sharper(r, a, b, !up) : NULL;
}

static bool replaced(Reaching *r, Linear *l, int at, const Expr *with, int64_t shift)
{
    Linear part;
    const int64_t coef = l->coef[at];
    if (!ranges_linear(&r->ranges, with, &part)) return false;
    linear_drop(l, at);
    part.constant = sat_add(part.constant, shift);
    return linear_add(l, &part, coef);
}

/* Bounds l with the term `at` replaced. */
static const Expr *bound_with(Reaching *r, const Linear *l, int at, const Expr *with, int64_t shift, bool up,
                              int facts_left)
{
    Linear *sum = with ? push(r, l) : NULL;
    if (!sum) return NULL;
    return replaced(r, sum, at, with, shift) ? bound_newest(r, up, facts_left) : pop(r);
}

static const Expr *end_of(Reaching *r, const Expr *e, bool up)
{
    Linear *l = push(r, NULL);
    if (!l) return NULL;
    return ranges_linear(&r->ranges, e, l) ? bound_newest(r, up, r->by_facts) : pop(r);
}

static const Expr *extent_of(const Reaching *r, const Expr *var)
{
    for (const Bounds *b = r->ranges.scope; b; b = b->outer)
        if (b->var == var) return b->extent;
    return NULL;
}

static const Expr *end_of_variable(Reaching *r, const Linear *l, int at, bool outward, bool up, int facts_left)
{
    const Expr *extent = extent_of(r, l->term[at]);
    if (!extent) return refuse(r, l->term[at]);
    if (outward) return bound_with(r, l, at, extent, -1, up, facts_left);
    Linear *rest = push(r, l);
    if (!rest) return NULL;
    linear_drop(rest, at);
    return bound_newest(r, up, facts_left);
}

static const Expr *end_of_remainder(Reaching *r, const Expr *e, bool up)
{
    const Expr *zero = expr_int(r->cx, e->type, 0), *low = end_of(r, e->arg[0], false),
               *high = end_of(r, e->arg[0], true);
    const Expr *last = uses_inner(r, e->arg[1]) ? NULL : expr_sub(r->cx, e->arg[1], expr_int(r->cx, e->type, 1));
    if (!last || ranges_of(&r->ranges, e->arg[1]).least <= 0) return NULL;
    bool starts = low && ranges_prove(&r->outside, expr_binary(r->cx, EXPR_LE, zero, low));
    bool stays = starts && high && ranges_prove(&r->outside, expr_binary(r->cx, EXPR_LE, high, last));
    if (stays) return up ? high : low;
    return up ? last : zero;
}

static const Expr *end_of_product(Reaching *r, const Expr *e, bool up)
{
    for (int side = 0; side < 2; side++) {
        const Expr *x = e->arg[side], *n = e->arg[!side];
        if (uses_inner(r, n)) continue;
        Interval sign = ranges_of(&r->ranges, n);
        if (sign.least < 0 && sign.greatest > 0) continue;
        const Expr *end = end_of(r, x, sign.least >= 0 ? up : !up);
        return end ? expr_mul(r->cx, end, n) : NULL;
    }
    return NULL;
}

static const Expr *end_by_interval(Reaching *r, const Expr *e, bool up)
{
    const DTypeInfo *type = dtype_info(e->type);
    Interval i = ranges_of(&r->ranges, e);
    int64_t end = up ? i.greatest : i.least;
    return end == (up ? type->greatest : type->least) ? refuse(r, e) : expr_int(r->cx, e->type, end);
}

/* Bounds a term that is not a sum. */
static const Expr *end_of_term(Reaching *r, const Expr *e, bool up)
{
    const Expr *end = NULL;
    switch (e->kind) {
    case EXPR_FLOORDIV:
        if (!uses_inner(r, e->arg[1]) && ranges_of(&r->ranges, e->arg[1]).least > 0) end = end_of(r, e->arg[0], up);
        end = end ? expr_binary(r->cx, EXPR_FLOORDIV, end, e->arg[1]) : NULL;
        break;
    case EXPR_FLOORMOD: end = end_of_remainder(r, e, up); break;
    case EXPR_MUL:      end = ranges_exact(&r->ranges, e) ? end_of_product(r, e, up) : NULL; break;
    default: break;
    }
    return end ? end : end_by_interval(r, e, up);
}

/* Returns true for a term of which one operand is the value: it may cancel other terms. */
static bool is_choice(const Expr *e)
{
    return e->kind == EXPR_MIN || e->kind == EXPR_MAX || e->kind == EXPR_SELECT;
}

/* Returns the next term to eliminate: choices first, as in i/2 - max(i/2 - 1, 0), where i/2 cancels; then composite
 * terms, because they contain variables; then the innermost variable. Returns -1 if no inner term is left. */
static int next_term(const Reaching *r, const Linear *l)
{
    for (int i = 0; i < l->count; i++)
        if (is_choice(l->term[i]) && uses_inner(r, l->term[i])) return i;
    for (int i = 0; i < l->count; i++)
        if (l->term[i]->kind != EXPR_VAR && uses_inner(r, l->term[i])) return i;
    for (const Bounds *b = r->ranges.scope; b; b = b->outer)
        for (int i = 0; i < l->count; i++)
            if (l->term[i] == b->var && is_inner(r, b->var)) return i;
    for (int i = 0; i < l->count; i++)
        if (is_inner(r, l->term[i])) return i;
    return -1;
}

/* Returns l as an expression, or NULL if a coefficient does not fit the type. */
static const Expr *written(Reaching *r, const Linear *l)
{
    const DTypeInfo *type = dtype_info(l->type);
    bool fits = l->constant >= type->least && l->constant <= type->greatest;
    for (int i = 0; i < l->count; i++) fits = fits && l->coef[i] >= type->least && l->coef[i] <= type->greatest;
    return fits ? ranges_simplify(&r->outside, linear_expr(r->cx, l)) : NULL;
}

static const Expr *bound_by_structure(Reaching *r, const Linear *l, bool up, int facts_left)
{
    int at = next_term(r, l);
    const Expr *e = l->term[at];
    bool outward = l->coef[at] > 0 ? up : !up;
    if (e->kind == EXPR_VAR) return end_of_variable(r, l, at, outward, up, facts_left);
    if (is_choice(e)) {
        int first = e->kind == EXPR_SELECT;
        const Expr *a = bound_with(r, l, at, e->arg[first], 0, up, facts_left);
        const Expr *b = bound_with(r, l, at, e->arg[first + 1], 0, up, facts_left);
        bool either = e->kind != EXPR_SELECT && (e->kind == EXPR_MIN) == outward;
        return either ? sharper(r, a, b, up) : wider(r, a, b, up);
    }
    return bound_with(r, l, at, end_of_term(r, e, outward), 0, up, facts_left);
}

/* Bounds l by facts: l <= l + m*F, and l >= l - m*F. */
static const Expr *bound_by_facts(Reaching *r, const Linear *l, bool up, int facts_left)
{
    const Expr *best = NULL;
    for (int f = 0; f < r->ranges.fact_count; f++) {
        const Linear *fact = &r->ranges.fact[f];
        for (int i = 0; i < fact->count; i++) {
            int64_t mine = linear_coef(l, fact->term[i]), times = fact->coef[i] ? -mine / fact->coef[i] : 0;
            if (!up) times = -times;
            if (mine == 0 || mine % fact->coef[i] != 0 || times < 1 || !uses_inner(r, fact->term[i])) continue;
            Linear *sum = push(r, l);
            if (!sum) return best;
            const Expr *e = linear_add(sum, fact, up ? times : -times) ? bound_newest(r, up, facts_left - 1) : pop(r);
            best = sharper(r, best, e, up);
        }
    }
    return best;
}

static const Expr *bound(Reaching *r, const Linear *l, bool up, int facts_left)
{
    if (r->steps++ > MAX_REACH_STEPS) return NULL;
    if (next_term(r, l) < 0) return written(r, l);
    const Expr *by_facts = facts_left > 0 ? bound_by_facts(r, l, up, facts_left) : NULL;
    return sharper(r, bound_by_structure(r, l, up, by_facts ? 0 : facts_left), by_facts, up);
}

/* Combines the bounds with and without facts. If a search with facts runs out of steps, the structural bound still
 * holds. */
static const Expr *best_bound(Reaching *r, const Linear *l, bool up)
{
    r->steps = r->by_facts = 0;
    const Expr *plain = bound(r, l, up, 0);
    if (r->ranges.fact_count == 0) return plain;
    r->steps = 0;
    r->by_facts = 1;
    return sharper(r, plain, bound(r, l, up, 2), up);
}

bool reach(Ctx *cx, const Expr *index, const Bounds *scope, const Expr *const *inner, int inner_count, Reach *out,
           const char **why)
{
    Reaching r = { .cx = cx, .ranges = ranges_new(cx, scope), .inner = inner, .inner_count = inner_count };
    Linear l;
    const ArenaMark mark = arena_mark(cx->scratch);
    r.waiting = NEW_ARRAY(cx->scratch, Linear, MAX_REACH_DEPTH);
    *why = NULL;
    const bool is_sum = index && index->kind != EXPR_POISON && ranges_linear(&r.ranges, index, &l);
    if (is_sum) {
        r.outside = ranges_new(cx, bounds_without(cx, scope, inner, inner_count));
        out->low = best_bound(&r, &l, false);
        out->high = best_bound(&r, &l, true);
        *why = out->low && out->high ? NULL : r.why ? r.why : "the index is too long to be bounded";
        ranges_free(&r.outside);
    }
    ranges_free(&r.ranges);
    arena_reset(cx->scratch, mark);
    return is_sum && out->low && out->high;
}
