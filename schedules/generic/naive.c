/* SPDX-License-Identifier: MIT */
/* What no other template takes (several reductions, as in a softmax): elementwise stages are inlined where they are read
 * once, the rest stands as it is written. Single values between them are variables, short rows lie on the stack. */
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

enum { SHORT_ROW = 256 };       /* bytes */

static const Nest *keep_close(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++)
        for (int o = 0; o < n->stage[i]->out_count; o++) {
            const Tensor *t = n->stage[i]->out[o];
            int64_t bytes = tensor_bytes(t);
            if (makes_output(n, n->stage[i]) || bytes < 0 || bytes > SHORT_ROW) continue;
            n = sched_set_scope(cx, n, t->name, tensor_elems(t) == 1 ? SCOPE_REGISTER : SCOPE_STACK);
        }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s->reducer == REDUCE_NONE && !makes_output(n, s) && readers_of(cx, n, s) == 1)
            n = sched_compute_inline(cx, n, s->name);
    }
    return keep_close(cx, n);
}

const Implementation implementations_generic_naive[] = {
    { .name = "stages.in_order", .target = "generic", .plevel = 1,
      .ops = "pattern:out-fusable pattern:reduction pattern:opaque",
      .what = "stage after stage, as written", .schedule = schedule },
    { 0 }
};
