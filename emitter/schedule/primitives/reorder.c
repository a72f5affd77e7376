/* SPDX-License-Identifier: MIT */
/* reorder: the named loops are placed, in the given order, at the positions that they occupy in one chain of loops;
 * unnamed loops between them do not move.
 *
 * Two things can fail: an extent that depends on the variable of a loop moved inside, and the order in which the
 * reduction of a point combines. Loops over data axes may move freely; loops that feed reduce axes keep their order
 * among themselves. Two of these may be exchanged only if the order has no effect (integers) or the step has the
 * option `reassociate`. The checker's I3 proves that consumers still follow producers in shared loops. */
#include "schedule/draft/draft.h"

#include <string.h>

/* A chain of loops, each of which is the only child of its predecessor. */
typedef struct Chain { int count; const Stmt *at[MAX_DEPTH]; } Chain;

static int chain_index(const Chain *c, const char *loop)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->at[i]->name, loop) == 0) return i;
    return -1;
}

static bool names_are_distinct(Draft *d, const char *const *loops, int count)
{
    if (count < 2 || count > MAX_STEP_LOOPS)
        return refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "2 to %d loops", MAX_STEP_LOOPS),
                              "%d loops have no order to change", count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(loops[i], loops[j]) == 0)
                return refuse_invalid(d, FAULT_VALUE, "each loop once", "%s is named twice", loops[i]);
    return true;
}

/* Finds the chain from the outermost to the innermost named loop; *outermost is the path to its first loop. */
static bool form_a_chain(Draft *d, const char **loops, int count, Path *outermost, Chain *c)
{
    outermost->depth = 0;
    for (int i = 0; i < count; i++) {
        Path p;
        if (!draft_find_loop(d, &loops[i], &p)) return false;
        if (!outermost->depth || p.depth < outermost->depth) *outermost = p;
    }
    if (!names_are_distinct(d, loops, count)) return false;
    c->count = 0;
    for (const Stmt *s = path_end(outermost); s->kind == STMT_FOR && c->count < MAX_DEPTH; s = s->child[0])
        c->at[c->count++] = s;
    for (int i = 0; i < count; i++)
        if (chain_index(c, loops[i]) < 0)
            return refuse_unproved(d, FAULT_NESTING, "loops with only loops between them",
                                   "%s and %s are not in one chain of loops", path_end(outermost)->name, loops[i]);
    return true;
}

static Chain reordered(const Chain *c, const char *const *loops, int count)
{
    Chain out = *c;
    int next = 0;
    for (int i = 0; i < c->count; i++) {
        bool named = false;
        for (int j = 0; j < count; j++) named = named || strcmp(loops[j], c->at[i]->name) == 0;
        if (named) out.at[i] = c->at[chain_index(c, loops[next++])];
    }
    return out;
}

static bool extents_are_independent(Draft *d, const Chain *c)
{
    for (int i = 0; i < c->count; i++)
        for (int j = i; j < c->count; j++)
            if (expr_uses(c->at[i]->extent, c->at[j]->var))
                return refuse_unproved(d, FAULT_EXTENT, text_format(d->cx, "%s outside it", c->at[j]->name),
                                       "the extent of %s depends on %s", c->at[i]->name, c->at[j]->name);
    return true;
}

typedef struct Orders { Draft *d; const Chain *old, *now; bool reassociate, fine; } Orders;

/* Returns true if two reduce loops of the block may be exchanged. A loop over data and reduce axes at once is a fused
 * loop. In such a loop, the reduction of each point begins in a different iteration, so a different order may not begin
 * at the init. */
static bool may_swap(Orders *o, const Stmt *block, const Stmt *a, const Stmt *b)
{
    bool mixed = feeds_axis(block, a->var, AXIS_DATA) || feeds_axis(block, b->var, AXIS_DATA);
    if (mixed)
        return refuse_unproved(
            o->d, FAULT_REDUCTION, "loops over one kind: do not fuse them",
            "%s and %s run over data and reduce axes of %s at once, so another order may not begin at its init",
            a->name, b->name, block->name);
    if (stage_order_is_free(block->stage, o->reassociate)) return true;
    const bool declares = block->stage->combiner && !block->stage->combiner->info.order_free;
    return refuse_wrong(o->d, FAULT_REDUCTION,
                        declares ? "a reducer declared associative and commutative" : "the option reassociate",
                        "%s and %s both run over reduce axes of %s, and %s%s depends on the order", a->name, b->name,
                        block->name, stage_reducer(block->stage)->spelling, declares ? "" : " of floats");
}

static void visit_reduce_order(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Orders *o = user;
    (void)cx;
    (void)scope;
    int last = -1;
    for (int i = 0; o->fine && i < o->now->count; i++) {
        const Stmt *loop = o->now->at[i];
        if (!feeds_axis(block, loop->var, AXIS_REDUCE)) continue;
        int was = chain_index(o->old, loop->name);
        if (was < last) o->fine = may_swap(o, block, o->old->at[was], o->old->at[last]);
        else last = was;
    }
}

static void visit_reassociated(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    (void)scope;
    if (block->stage->reassociates || block->stage->reducer == REDUCE_NONE || stage_order_is_free(block->stage, false))
        return;
    Stage *s = arena_copy(cx->arena, block->stage, sizeof *s);
    s->reassociates = true;
    draft_replace_stage(user, block->stage, s);
}

static bool reductions_may_be_reordered(Draft *d, const Chain *old, const Chain *now, const Stmt *below,
                                        bool reassociate)
{
    Orders o = { d, old, now, reassociate, true };
    each_block(d->cx, below, NULL, visit_reduce_order, &o);
    return o.fine;
}

bool draft_reorder(Draft *d, const char **loops, int count, bool reassociate)
{
    Path p;
    Chain old;
    if (!form_a_chain(d, loops, count, &p, &old)) return false;
    Chain now = reordered(&old, loops, count);
    const Stmt *body = old.at[old.count - 1]->child[0];
    if (!extents_are_independent(d, &now)) return false;
    if (!reductions_may_be_reordered(d, &old, &now, body, reassociate)) return false;
    for (int i = now.count - 1; i >= 0; i--) {
        const Stmt *s = now.at[i];
        body = stmt_with_children(d->cx, s, &body, 1);
    }
    d->next.root = path_replace(d->cx, &p, body);
    if (reassociate) each_block(d->cx, body, NULL, visit_reassociated, d);
    return true;
}

const Nest *run_reorder(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_reorder, a);
    if (!draft_reorder(&d, d.args.loop, a->loop_count, a->reassociate)) return n;
    return draft_close(&d);
}
