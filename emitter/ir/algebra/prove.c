/* SPDX-License-Identifier: MIT */
/* Proves conditions. A comparison of integers is L >= 0 for a linear form L over the integers. The comparison is proved
 * if the minimum of L by intervals is not negative. Otherwise a lower bound replaces a term. The bound shares terms
 * with the rest of L, so that they cancel:
 *
 *     term            condition                        replaced by
 *     -v              v < extent                       -(extent - 1)
 *     -min(a, b)                                       -a, or -b
 *      min(a, b)                                       both a and b
 *     c * (e / k)     c > 0, as k*(e/k) >= e - k + 1   (c/k) * (e - k + 1); for c < 0: (c/k) * e
 *     R - e / k       over integers: e <= k*R + k - 1  k*R + k - 1 - e, also for a size k
 *     -(e % k)        e >= 0: -e; k > 0: -(k - 1)
 *     r - e / k, e / k + r   k not constant            (r + 1) * k - 1 - e, e + r * k
 *     L               a fact F >= 0                    L - m*F for an m > 0 that cancels a term
 *
 * The search is depth first, in the order of the terms, with a fixed number of steps. The search therefore ends, and
 * its answer is always the same. */
#include "ir/algebra/algebra.h"

enum { MAX_DEPTH_OF_PROOF = 6, MAX_PROOF_STEPS = 160 };

typedef struct Proof { Ranges *ranges; int steps; } Proof;

static bool holds(Proof *p, const Linear *l, int depth);

/* Proves l with the term `at` replaced: scale * (l without the term) + factor * with + extra >= 0. `scale` clears the
 * denominator of the replacement. */
static bool holds_with(Proof *p, Linear l, int at, int64_t scale, const Expr *with, int64_t factor, int64_t extra,
                       int depth)
{
    Linear part, whole = { .type = l.type };
    if (!ranges_linear(p->ranges, with, &part)) return false;
    linear_drop(&l, at);
    if (!linear_add(&whole, &l, scale) || !linear_add(&whole, &part, factor)) return false;
    whole.constant = sat_add(whole.constant, extra);
    return holds(p, &whole, depth);
}

static bool by_either(Proof *p, const Linear *l, int at, const Expr *a, const Expr *b, int depth)
{
    return holds_with(p, *l, at, 1, a, l->coef[at], 0, depth) || holds_with(p, *l, at, 1, b, l->coef[at], 0, depth);
}

static bool by_both(Proof *p, const Linear *l, int at, const Expr *a, const Expr *b, int depth)
{
    return holds_with(p, *l, at, 1, a, l->coef[at], 0, depth) && holds_with(p, *l, at, 1, b, l->coef[at], 0, depth);
}

/* Computes l * k, term by term. Returns false if a product may wrap. */
static bool times(Ranges *r, const Linear *l, const Expr *k, Linear *out)
{
    *out = (Linear){ .type = l->type };
    Linear part;
    for (int i = 0; i < l->count; i++) {
        const Expr *product = expr_mul(r->cx, l->term[i], k);
        if (!ranges_exact(r, product) || !ranges_linear(r, product, &part) || !linear_add(out, &part, l->coef[i]))
            return false;
    }
    return ranges_linear(r, k, &part) && linear_add(out, &part, l->constant);
}

/* For a divisor k > 0 that is not constant, rest - e/k >= 0 holds if (rest + 1)*k - 1 - e >= 0, and e/k + rest >= 0
 * holds if e + rest*k >= 0. With e >= 0, k >= 0 suffices for the first, because its premise excludes k = 0. */
static bool by_symbolic_quotient(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *e = l->term[at], *k = e->arg[1];
    int64_t c = l->coef[at];
    Linear rest = *l, sum, dividend;
    int64_t least = c == -1 && ranges_of(p->ranges, e->arg[0]).least >= 0 ? 0 : 1;
    if ((c != 1 && c != -1) || ranges_of(p->ranges, k).least < least) return false;
    linear_drop(&rest, at);
    if (c < 0) rest.constant = sat_add(rest.constant, 1);
    if (!times(p->ranges, &rest, k, &sum) || !ranges_linear(p->ranges, e->arg[0], &dividend)
        || !linear_add(&sum, &dividend, c))
        return false;
    if (c < 0) sum.constant = sat_add(sum.constant, -1);
    return holds(p, &sum, depth);
}

static bool by_quotient(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *e = l->term[at];
    if (e->arg[1]->kind != EXPR_INT) return by_symbolic_quotient(p, l, at, depth);
    int64_t c = l->coef[at], k = e->arg[1]->integer, scale = 1;
    if (k <= 0) return false;
    if (c == -1) return holds_with(p, *l, at, k, e->arg[0], -1, k - 1, depth);
    if (c % k != 0) scale = k;
    int64_t factor = scale == 1 ? c / k : c;
    return holds_with(p, *l, at, scale, e->arg[0], factor, c > 0 ? sat_mul(factor, 1 - k) : 0, depth);
}

static const Expr *extent_of(const Ranges *r, const Expr *var)
{
    for (const Bounds *b = r->scope; b; b = b->outer)
        if (b->var == var) return b->extent;
    return NULL;
}

/* Returns true if e is a loop whose trip count is a multiple of k; inside the loop k is then not 0. */
static bool is_positive_where(const Ranges *r, const Expr *e, const Expr *k)
{
    const Expr *extent = extent_of(r, e);
    return extent && extent->kind == EXPR_MUL && (extent->arg[0] == k || extent->arg[1] == k);
}

/* Bounds c * (e % k) for c < 0: at least c * e if e >= 0, and at least c * (k - 1). */
static bool by_remainder(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *e = l->term[at]->arg[0], *k = l->term[at]->arg[1];
    int64_t c = l->coef[at], least = ranges_of(p->ranges, k).least;
    if (c > 0 || least < 0) return false;
    bool is_positive = least > 0 || is_positive_where(p->ranges, e, k);
    if (is_positive && k->kind != EXPR_INT && holds_with(p, *l, at, 1, k, c, -c, depth)) return true;
    return is_positive && ranges_of(p->ranges, e).least >= 0 && holds_with(p, *l, at, 1, e, c, 0, depth);
}

/* Returns the extent of a loop that runs at all. Such an extent is above 0, so the extent max(a, b) with b <= 0 is
 * a. */
static const Expr *extent_of_pass(Proof *p, const Expr *extent)
{
    while (extent && extent->kind == EXPR_MAX) {
        const int side = ranges_of(p->ranges, extent->arg[0]).greatest <= 0;
        if (!side && ranges_of(p->ranges, extent->arg[1]).greatest > 0) break;
        extent = extent->arg[side];
    }
    return extent;
}

static bool by_extent(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *extent = extent_of_pass(p, extent_of(p->ranges, l->term[at]));
    if (!extent || extent->kind == EXPR_INT || l->coef[at] > 0) return false;
    return holds_with(p, *l, at, 1, extent, l->coef[at], sat_mul(l->coef[at], -1), depth);
}

/* Bounds -(v * n) by v < extent and n >= 0. */
static bool by_product(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *e = l->term[at];
    if (l->coef[at] > 0 || !ranges_exact(p->ranges, e)) return false;
    for (int side = 0; side < 2; side++) {
        const Expr *n = e->arg[!side], *extent = extent_of(p->ranges, e->arg[side]);
        if (!extent || ranges_of(p->ranges, n).least < 0) continue;
        Ctx *cx = p->ranges->cx;
        const Expr *most = expr_mul(cx, extent, n);
        if (!ranges_exact(p->ranges, most)) continue;
        const Expr *last = expr_sub(cx, most, n);
        if (ranges_exact(p->ranges, last) && holds_with(p, *l, at, 1, last, l->coef[at], 0, depth)) return true;
    }
    return false;
}

static bool by_term(Proof *p, const Linear *l, int at, int depth)
{
    const Expr *e = l->term[at];
    bool positive = l->coef[at] > 0;
    switch (e->kind) {
    case EXPR_MIN:
        return positive ? by_both(p, l, at, e->arg[0], e->arg[1], depth)
                        : by_either(p, l, at, e->arg[0], e->arg[1], depth);
    case EXPR_MAX:
        return positive ? by_either(p, l, at, e->arg[0], e->arg[1], depth)
                        : by_both(p, l, at, e->arg[0], e->arg[1], depth);
    case EXPR_SELECT:   return by_both(p, l, at, e->arg[SELECT_YES], e->arg[SELECT_NO], depth);
    case EXPR_FLOORDIV: return by_quotient(p, l, at, depth);
    case EXPR_FLOORMOD: return by_remainder(p, l, at, depth);
    case EXPR_MUL:      return by_product(p, l, at, depth);
    case EXPR_VAR:      return by_extent(p, l, at, depth);
    default:            return false;
    }
}

static bool by_fact(Proof *p, const Linear *l, const Linear *fact, int depth)
{
    for (int i = 0; i < fact->count; i++) {
        int64_t mine = linear_coef(l, fact->term[i]);
        if (mine == 0 || mine % fact->coef[i] != 0 || mine / fact->coef[i] < 1) continue;
        Linear rest = *l;
        if (linear_add(&rest, fact, -(mine / fact->coef[i])) && holds(p, &rest, depth)) return true;
    }
    return false;
}

static bool holds(Proof *p, const Linear *l, int depth)
{
    Interval i = ranges_of_linear(p->ranges, l);
    if (i.least >= 0) return true;
    if (i.greatest < 0 || depth == 0 || p->steps++ > MAX_PROOF_STEPS) return false;
    for (int t = 0; t < l->count; t++)
        if (l->term[t]->kind != EXPR_VAR && by_term(p, l, t, depth - 1)) return true;
    for (int f = 0; f < p->ranges->fact_count; f++)
        if (by_fact(p, l, &p->ranges->fact[f], depth - 1)) return true;
    for (int t = 0; t < l->count; t++)
        if (l->term[t]->kind == EXPR_VAR && by_term(p, l, t, depth - 1)) return true;
    return false;
}

/* Returns true if l >= 0 is proved. */
static bool is_nonnegative(Ranges *r, const Linear *l)
{
    Proof p = { r, 0 };
    return holds(&p, l, MAX_DEPTH_OF_PROOF);
}

/* ---- Conditions ------------------------------------------------------------------------------------------------ */

/* Returns true if a - b >= by is proved. */
static bool exceeds(Ranges *r, const Expr *a, const Expr *b, int64_t by)
{
    Linear l, m;
    if (!ranges_linear(r, a, &l) || !ranges_linear(r, b, &m) || !linear_add(&l, &m, -1)) return false;
    l.constant = sat_add(l.constant, -by);
    return is_nonnegative(r, &l);
}

static bool is_stated(const Expr *fact, const Expr *condition)
{
    if (fact->kind == EXPR_AND) return is_stated(fact->arg[0], condition) || is_stated(fact->arg[1], condition);
    return fact == condition;
}

/* Returns true if the condition is proved to have the value `truth`. */
static bool prove(Ranges *r, const Expr *c, bool truth)
{
    if (c->kind == EXPR_INT) return (c->integer != 0) == truth;
    for (const Bounds *b = r->scope; b; b = b->outer)
        if (truth && b->fact && is_stated(b->fact, c)) return true;
    if (c->kind == EXPR_NOT) return prove(r, c->arg[0], !truth);
    if (c->kind == (truth ? EXPR_AND : EXPR_OR)) return prove(r, c->arg[0], truth) && prove(r, c->arg[1], truth);
    if (c->kind == (truth ? EXPR_OR : EXPR_AND)) return prove(r, c->arg[0], truth) || prove(r, c->arg[1], truth);
    if (c->arg_count != 2 || !dtype_is_integer(c->arg[0]->type)) {
        Interval i = ranges_of(r, c);
        return truth ? i.least == 1 : i.greatest == 0;
    }
    const Expr *a = c->arg[0], *b = c->arg[1];
    if (c->kind == EXPR_LT) return truth ? exceeds(r, b, a, 1) : exceeds(r, a, b, 0);
    if (c->kind == EXPR_LE) return truth ? exceeds(r, b, a, 0) : exceeds(r, a, b, 1);
    bool equal = c->kind == (truth ? EXPR_EQ : EXPR_NE);
    if (equal) return exceeds(r, a, b, 0) && exceeds(r, b, a, 0);
    return exceeds(r, a, b, 1) || exceeds(r, b, a, 1);
}

bool ranges_prove(Ranges *r, const Expr *condition)
{
    return condition->type == BOOL && prove(r, condition, true);
}

bool provably(Ctx *cx, const Expr *condition, const Bounds *b)
{
    if (!condition || ctx_failed(cx)) return false;
    Ranges r = ranges_new(cx, b);
    const bool is_proved = ranges_prove(&r, condition);
    ranges_free(&r);
    return is_proved;
}

bool provably_equal(Ctx *cx, const Expr *a, const Expr *b, const Bounds *bounds)
{
    if (a == b) return true;
    if (!a || !b || a->type != b->type || !dtype_is_integer(a->type)) return false;
    Linear l, m;
    if (linear_of(cx, a, &l) && linear_of(cx, b, &m) && linear_add(&l, &m, -1) && l.count == 0 && l.constant == 0)
        return true;
    return provably(cx, expr_binary(cx, EXPR_EQ, a, b), bounds);
}
