/* SPDX-License-Identifier: MIT */
/* What no other template takes (several reductions, as in a softmax): elementwise stages are inlined where they are read
 * once, the rest stands as it is written. */
#include "schedules/tile.h"

static int readers_of(Ctx *cx, const Nest *n, const Stage *s)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int r = stage_reads(cx, n->stage[i], &reads);
        for (int j = 0; j < r; j++) count += reads[j] == s->out[0];
    }
    return count;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s->reducer == REDUCE_NONE && !makes_output(n, s) && readers_of(cx, n, s) == 1)
            n = sched_compute_inline(cx, n, s->name);
    }
    return n;
}

const Implementation implementations_generic_naive[] = {
    { .name = "stages.in_order", .target = "generic", .plevel = 1,
      .ops = "pattern:out-fusable pattern:reduction pattern:opaque",
      .what = "stage after stage, as written", .schedule = schedule },
    { 0 }
};
