/* SPDX-License-Identifier: MIT */
/* Walks through decision trees: one loop over the trees, whose steps are scalars.
 *
 *   for n, t:  at_1 = step(root[t]);  at_2 = step(at_1);  ...  y[n,t] = row of the last
 *
 * A chain of scalars loads and stores no link between steps, and counts none. */
#include "schedules/tile.h"

static const Nest *walk_by_trees(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    const Stage *out = output_stage(n);
    if (!out || out->data_count != 2) return n;
    const char *trees = loop_name(cx, out, 1);
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (makes_output(n, s) || s->data_count != 2) continue;
        n = sched_set_scope(cx, sched_compute_at(cx, n, s->name, trees), s->name, SCOPE_REGISTER);
    }
    return n;
}

/* Few steps are stages of their own (ops/layers/trees.c); many are a recurrence. */
static bool is_chain(Ctx *cx, const GroupNest *g)
{
    (void)cx;
    for (int i = 0; i < g->nest->stage_count; i++)
        if (g->nest->stage[i]->data_count != 2) return false;
    return true;
}

const Implementation implementations_generic_trees[] = {
    { .name = "trees.chained", .plevel = 20, .ops = "tree_walk", .applies = is_chain,
      .what = "a tree at a time, its steps in a register", .schedule = walk_by_trees },
    { 0 }
};
