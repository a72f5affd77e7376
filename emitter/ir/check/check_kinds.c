/* SPDX-License-Identifier: MIT */
/* Proves I5, the conditions of loop kinds. A parallel or vector loop feeds data axes only, and its iterations write
 * disjoint elements of storage outside it; check_flow.c proves that it carries nothing. Iterations of a site's own loop
 * are disjoint, because dense digits are used once. For a host loop the boxes of two adjacent iterations must not
 * overlap. Vector and unrolled loops have constant extents. */
#include "ir/check/check_parts.h"

static bool is_concurrent(const Stmt *loop)
{
    return loop->loop_kind == LOOP_PARALLEL || loop->loop_kind == LOOP_VECTOR;
}
static const char *name_of(const Site *s) { return s->block->name; }

static bool feeds(const Site *s, const Stmt *loop, int from, int to)
{
    for (int a = from; a < to; a++)
        if (s->block->bind[a] && expr_uses(s->block->bind[a], loop->var)) return true;
    return false;
}

static bool own_feeds_data(Checker *c, const Site *s, const Stmt *loop)
{
    const Stage *stage = s->block->stage;
    const char *kind = loop_kind_text(loop->loop_kind);
    if (s->block->part != BLOCK_INIT && feeds(s, loop, stage->data_count, stage->axis_count))
        return check_fail(c, WRONG, FAULT_REDUCTION, "a serial loop",
                          "%s: the %s loop %s feeds a reduce axis; its iterations add to the same elements", name_of(s),
                          kind, loop->name);
    for (int a = 0; a < stage->data_count; a++)
        if (stage->axis[a].kind == AXIS_ORDERED && expr_uses(s->block->bind[a], loop->var))
            return check_fail(c, WRONG, FAULT_ROLE, "a serial loop", "%s: the %s loop %s feeds the ordered axis %s",
                              name_of(s), kind, loop->name, expr_as_var(stage->axis[a].var)->name);
    return true;
}

/* Returns true if the site's boxes of iterations v and v + 1 are disjoint along some dimension and move in one
 * direction. */
static bool iterations_are_disjoint(Checker *c, const Site *s, int at)
{
    Ctx *cx = c->cx;
    Box box[MAX_AXES];
    Repeats repeats;
    const Expr *v = s->loop[at]->var, *next = expr_add(cx, v, expr_index(cx, 1));
    const char *why;
    if (!check_box(c, s, at + 1, box, &repeats, &why)) return false;
    const Bounds *inside = bounds_fact(cx, s->scope, expr_binary(cx, EXPR_LT, next, s->loop[at]->extent));
    for (int d = 0; d < s->block->stage->data_count; d++) {
        const Expr *end = expr_add(cx, box[d].begin, box[d].count),
                   *begin = expr_substitute(cx, box[d].begin, &v, &next, 1);
        if (provably(cx, expr_binary(cx, EXPR_LE, end, begin), inside)) return true;
    }
    return false;
}

static bool lives_outside(const Site *s, int loop)
{
    for (int o = 0; o < s->block->stage->out_count; o++) {
        int outside = 0;
        if (!check_alloc(s, s->block->stage->out[o], &outside) || outside <= loop) return true;
    }
    return false;
}

/* Returns true if a ring around a concurrent loop has a slot for each iteration, because it holds the elements of all
 * iterations. */
static bool rings_hold_all(Checker *c, const Site *s, int at)
{
    Box box[MAX_AXES];
    Repeats repeats;
    const char *why;
    for (int o = 0; o < s->block->stage->out_count; o++) {
        const Tensor *t = s->block->stage->out[o];
        int outside = 0;
        const Stmt *alloc = check_alloc(s, t, &outside);
        if (!alloc || outside > at) continue;
        for (int d = 0; d < t->rank; d++) {
            int64_t ring = alloc->buffer->ring[d];
            if (!ring) continue;
            if (check_box(c, s, at, box, &repeats, &why)
                && provably(c->cx, expr_binary(c->cx, EXPR_LE, box[d].count, expr_index(c->cx, ring)), s->scope))
                continue;
            return check_ring_fail(c, t, d, ring, "a serial loop, or a ring with a slot for each iteration",
                                   text_format(c->cx, "hold the elements of all iterations of the %s loop %s",
                                               loop_kind_text(s->loop[at]->loop_kind), s->loop[at]->name));
        }
    }
    return true;
}

static bool uses_a_shifted_tail(Checker *c, const Site *s, int loop)
{
    Box box[MAX_AXES];
    Repeats repeats;
    const char *why;
    return check_box(c, s, loop, box, &repeats, &why) && repeats_has(&repeats, s->loop[loop]->var);
}

static bool loop_suits(Checker *c, const Site *s, int at)
{
    const Stmt *loop = s->loop[at];
    bool fixed = loop->loop_kind != LOOP_VECTOR && loop->loop_kind != LOOP_UNROLLED;
    if (!fixed && loop->extent->kind != EXPR_INT)
        return check_fail(c, INVALID, FAULT_EXTENT, "a constant extent: split it and use the inner loop",
                          "the %s loop %s has no constant extent", loop_kind_text(loop->loop_kind), loop->name);
    if (!is_concurrent(loop)) return true;
    if (!rings_hold_all(c, s, at)) return false;
    if (s->is_own[at]) {
        if (!own_feeds_data(c, s, loop)) return false;
        if (!uses_a_shifted_tail(c, s, at)) return true;
        return check_fail(c, UNPROVED, FAULT_ORDER, "tail=guard",
                          "%s: iterations of the %s loop %s write the same elements, because its tail is shifted",
                          name_of(s), loop_kind_text(loop->loop_kind), loop->name);
    }
    if (!lives_outside(s, at) || iterations_are_disjoint(c, s, at)) return true;
    return check_fail(c, UNPROVED, FAULT_ORDER, "a serial loop, or storage inside it",
                      "%s: the iterations of the %s loop %s are not shown to write different elements of \"%s\", "
                      "which is allocated outside",
                      name_of(s), loop_kind_text(loop->loop_kind), loop->name, s->block->stage->out[0]->name);
}

bool check_kinds(Checker *c)
{
    for (int i = 0; i < c->site_count; i++)
        for (int l = 0; l < c->site[i]->loop_count; l++)
            if (c->site[i]->loop[l]->loop_kind != LOOP_SERIAL && !loop_suits(c, c->site[i], l)) return false;
    return true;
}
