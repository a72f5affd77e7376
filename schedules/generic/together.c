/* SPDX-License-Identifier: MIT */
/* Chains of short stages over the same elements: all stages of an element, or of a butterfly, are computed together,
 * and their values are variables. Inlined instead, a value with several readers would be computed once for each. */
#include "schedules/tile.h"

/* Computes all other stages at a loop of the output. A stage that then covers an element is a variable; others are
 * small arrays. */
static const Nest *attach_all(Ctx *cx, const Nest *n, const Stage *out, const char *loop)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s == out) continue;
        n = sched_compute_at(cx, n, s->name, loop);
        if (ctx_failed(cx)) return n;
        const Stage *attached = nest_stage(n, s->name);
        bool is_element = true;
        Path p;
        for (int a = 0; a < attached->data_count; a++)
            is_element = is_element && !nest_find_loop(n, loop_name(cx, attached, a), &p);
        n = sched_set_scope(cx, n, attached->out[0]->name, is_element ? SCOPE_REGISTER : SCOPE_STACK);
    }
    return n;
}

/* At the last loop of the output. */
static const Nest *by_element(Ctx *cx, const GroupNest *g)
{
    const Stage *out = output_stage(g->nest);
    Path p;
    const char *loop = loop_name(cx, out, out->data_count - 1);
    return nest_find_loop(g->nest, loop, &p) ? attach_all(cx, g->nest, out, loop) : g->nest;
}

/* y[b,u,k,c]: for each b and k the numbers of all u, with their parts. */
static const Nest *by_butterfly(Ctx *cx, const GroupNest *g)
{
    enum { BLOCK, DIGIT, PLACE, PART };
    const Stage *out = output_stage(g->nest);
    const Nest *n = g->nest;
    Path p;
    const char *block = loop_name(cx, out, BLOCK), *digit = loop_name(cx, out, DIGIT),
               *place = loop_name(cx, out, PLACE), *part = loop_name(cx, out, PART);
    if (nest_find_loop(n, place, &p)) n = sched_reorder(cx, n, (const char *[]){ place, digit }, 2, false);
    else place = block;
    if (ctx_failed(cx) || !nest_find_loop(n, place, &p)) return n;
    n = attach_all(cx, n, out, place);
    if (!ctx_failed(cx)) n = sched_unroll(cx, n, part);
    return ctx_failed(cx) ? n : sched_unroll(cx, n, digit);
}

const Implementation implementations_generic_together[] = {
    { .name = "together.elements", .plevel = 10, .ops = "gain_fixed log_fixed",
      .what = "all stages of an element", .schedule = by_element },
    { .name = "together.butterflies", .plevel = 10, .ops = "butterflies",
      .what = "all stages of a butterfly", .schedule = by_butterfly },
    { 0 }
};
