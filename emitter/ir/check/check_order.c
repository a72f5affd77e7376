/* SPDX-License-Identifier: MIT */
/* Proves I13: a reduction whose order matters combines the points of each element in the order of its reduce axes, the
 * last axis innermost. Such reductions are sums of floats, unless a step with the option reassociate permits another
 * order, and the reducers that a file declares, except commutative ones.
 *
 * Let the feeders be the loops that reduce axes use. Points of one element differ in the feeders only. The tuples of
 * reduce indices at such points rise lexicographically if, for each feeder v, every tuple of the iteration v is below
 * every tuple of v + 1, whatever the feeders inside have. A feeder that data axes also use is a fused loop; the tuples
 * then begin with these data indices.
 *
 * Copies of a site that compute the same elements are compared in the same way. In each iteration of their common
 * loops, an earlier copy in the text has lower tuples than a later copy, and the tuples of the next iteration are above
 * the tuples of both copies. I1 proves that copies of other elements in the same iteration never share an element. */
#include "ir/check/check_parts.h"

typedef struct Order {
    Checker *c;
    const Stage *stage;
    bool is_part[MAX_AXES];            /* the axes of the tuples */
} Order;

static const char *name_of(const Site *s) { return s->block->name; }

static bool is_less(Ctx *cx, const Expr *a, const Expr *b, const Bounds *scope)
{
    return provably(cx, expr_binary(cx, EXPR_LT, a, b), scope);
}

/* ---- Tuples ------------------------------------------------------------------------------------------------------ */

/* Returns true for a loop that reduce axes use, except a loop of one iteration. */
static bool is_feeder(const Site *s, int l)
{
    return check_feeds_reduction(s->block, s->loop[l]->var) && !expr_is_int(s->loop[l]->extent, 1);
}

/* Marks the reduce axes, and the data axes that use a feeder. */
static void find_parts(Order *o, const Site *s)
{
    for (int a = 0; a < o->stage->axis_count; a++) {
        o->is_part[a] = a >= o->stage->data_count;
        for (int l = 0; l < s->loop_count; l++)
            if (is_feeder(s, l) && expr_uses(s->block->bind[a], s->loop[l]->var)) o->is_part[a] = true;
    }
}

/* Bounds an index over the feeders of the site behind the first `outer` loops. */
static bool bound(const Order *o, const Site *s, const Expr *index, int outer, Reach *out)
{
    const Expr *inner[MAX_DEPTH];
    const char *why;
    int n = 0;
    for (int l = outer; l < s->loop_count; l++)
        if (is_feeder(s, l)) inner[n++] = s->loop[l]->var;
    return reach(o->c->cx, index, s->scope, inner, n, out, &why);
}

/* Returns sum * n + digit; that is y if the digit is y % n and the sum is y / n. */
static const Expr *with_digit(Ctx *cx, const Expr *sum, const Expr *n, const Expr *digit, const Bounds *scope)
{
    if (digit->kind == EXPR_FLOORMOD && digit->arg[1] == n
        && simplify(cx, expr_binary(cx, EXPR_FLOORDIV, digit->arg[0], n), scope) == sum)
        return digit->arg[0];
    return simplify(cx, expr_add(cx, expr_mul(cx, sum, n), digit), scope);
}

/* Returns the tuple as one number, the last axis innermost. */
static const Expr *flat(const Order *o, const Site *s)
{
    Ctx *cx = o->c->cx;
    const Expr *sum = expr_index(cx, 0);
    for (int a = 0; a < o->stage->axis_count; a++)
        if (o->is_part[a])
            sum = with_digit(cx, sum, o->stage->axis[a].extent, simplify(cx, s->block->bind[a], s->scope), s->scope);
    return sum;
}

/* Two iterations of the first `outer` loops: a has the first one, b the second one, in which `to` replaces `from`. */
typedef struct Pair { const Site *a, *b; int outer; const Expr *from, *to; const Bounds *scope; } Pair;

static bool bounds_of(const Order *o, const Pair *p, const Expr *a, const Expr *b, Reach *low, Reach *high)
{
    if (!bound(o, p->a, a, p->outer, low) || !bound(o, p->b, b, p->outer, high)) return false;
    if (p->from) high->low = expr_substitute(o->c->cx, high->low, &p->from, &p->to, 1);
    return true;
}

/* Returns true if all tuples of the first iteration are below all tuples of the second. */
static bool rises(const Order *o, const Pair *p)
{
    Ctx *cx = o->c->cx;
    Reach a, b;
    for (int i = 0; i < o->stage->axis_count; i++) {
        if (!o->is_part[i] || !bounds_of(o, p, p->a->block->bind[i], p->b->block->bind[i], &a, &b)) continue;
        if (is_less(cx, a.high, b.low, p->scope)) return true;
        if (!provably_equal(cx, a.high, b.low, p->scope) || !provably_equal(cx, a.low, b.low, p->scope)) break;
    }
    return bounds_of(o, p, flat(o, p->a), flat(o, p->b), &a, &b) && is_less(cx, a.high, b.low, p->scope);
}

static const Expr *next_of(Ctx *cx, const Stmt *loop) { return expr_add(cx, loop->var, expr_index(cx, 1)); }

/* Compares the iterations v of a and v + 1 of b, for a shared loop. */
static bool rises_along(const Order *o, const Site *a, const Site *b, int l)
{
    Ctx *cx = o->c->cx;
    const Stmt *loop = a->loop[l];
    const Expr *next = next_of(cx, loop);
    const Bounds *inside = bounds_fact(cx, a->scope, expr_binary(cx, EXPR_LT, next, loop->extent));
    return rises(o, &(Pair){ a, b, l + 1, loop->var, next, inside });
}

/* ---- Sites ------------------------------------------------------------------------------------------------------- */

static bool order_fails(const Order *o, const Site *s, const char *where)
{
    return check_fail(o->c, UNPROVED, FAULT_REDUCTION,
                      "loops in the order of its reduce axes, or `reorder` with the option reassociate",
                      "%s: %s is not shown to combine the points of an element in the order of the reduce axes of %s",
                      name_of(s), where, o->stage->name);
}

/* Returns the loop of this variable, or -1. */
static int loop_of(const Site *s, const Expr *var)
{
    for (int l = 0; l < s->loop_count; l++)
        if (s->loop[l]->var == var) return l;
    return -1;
}

/* Returns true if each axis of the tuples is a loop of its own, and the loops are nested in the order of the axes.
 * Then the tuples rise for any extents, including sizes that data decide. */
static bool loops_are_axes(const Order *o, const Site *s)
{
    int outer = -1;
    for (int a = 0; a < o->stage->axis_count; a++) {
        const int l = o->is_part[a] ? loop_of(s, s->block->bind[a]) : -1;
        if (l >= 0 && l <= outer) return false;
        if (l >= 0) outer = l;
        for (int k = 0; k < s->loop_count && l < 0 && o->is_part[a]; k++)
            if (is_feeder(s, k) && expr_uses(s->block->bind[a], s->loop[k]->var)) return false;
    }
    return true;
}

static bool site_is_in_order(const Order *o, const Site *s)
{
    if (loops_are_axes(o, s)) return true;
    for (int l = 0; l < s->loop_count; l++)
        if (is_feeder(s, l) && !rises_along(o, s, s, l)) return order_fails(o, s, s->loop[l]->name);
    return true;
}

/* Returns true if the copies have no element in common, in one iteration of the first `outer` loops. */
static bool have_other_elements(const Order *o, const Site *a, const Site *b, int outer)
{
    Ctx *cx = o->c->cx;
    const Expr *of_a[MAX_DEPTH], *of_b[MAX_DEPTH];
    const char *why;
    int n = 0, m = 0;
    for (int l = outer; l < a->loop_count; l++) of_a[n++] = a->loop[l]->var;
    for (int l = outer; l < b->loop_count; l++) of_b[m++] = b->loop[l]->var;
    for (int d = 0; d < o->stage->data_count; d++) {
        Reach x, y;
        if (!reach(cx, a->block->bind[d], a->inside, of_a, n, &x, &why)
            || !reach(cx, b->block->bind[d], b->inside, of_b, m, &y, &why))
            continue;
        if (is_less(cx, x.high, y.low, a->scope) || is_less(cx, y.high, x.low, a->scope)) return true;
    }
    return false;
}

static bool copies_are_in_order(const Order *o, const Site *a, const Site *b)
{
    const int shared = check_common_loops(a, b);
    if (have_other_elements(o, a, b, shared)) return true;
    if (!rises(o, &(Pair){ a, b, shared, NULL, NULL, a->scope })) return order_fails(o, b, name_of(a));
    for (int l = 0; l < shared; l++)
        if (is_feeder(a, l) && !rises_along(o, b, a, l)) return order_fails(o, b, a->loop[l]->name);
    return true;
}

static bool stage_is_in_order(Checker *c, const StageSites *stage)
{
    Order o = { .c = c, .stage = stage->stage };
    for (int i = 0; i < stage->site_count; i++) {
        const Site *s = stage->site[i];
        if (s->block->part == BLOCK_INIT || check_is_empty(s)) continue;
        find_parts(&o, s);
        if (!site_is_in_order(&o, s)) return false;
        for (int j = i + 1; j < stage->site_count; j++)
            if (stage->site[j]->block->part != BLOCK_INIT && check_same_hosts(s, stage->site[j])
                && !check_is_empty(stage->site[j]) && !copies_are_in_order(&o, s, stage->site[j]))
                return false;
    }
    return true;
}

bool check_order(Checker *c)
{
    for (int i = 0; i < c->stage_count; i++) {
        const Stage *s = c->stage[i].stage;
        if (!check_is_reduced(s) || stage_order_is_free(s, s->reassociates)) continue;
        if (!stage_is_in_order(c, &c->stage[i])) return false;
    }
    return true;
}
