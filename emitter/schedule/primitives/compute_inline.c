/* SPDX-License-Identifier: MIT */
/* compute_inline: every read of a stage is replaced by the stage's value at the indices read, and the stage is
 * dropped.
 *   t[i] = f(i),  y[j] = ... t[g(j)] ...   =>   y[j] = ... f(g(j)) ...
 * The stage must not reduce (a reduction is a loop, not a value) and must not be an output. All consumers are
 * rewritten. */
#include "schedule/draft/attach.h"

static bool is_a_plain_value(Draft *d, const Stage *s)
{
    if (s->reducer != REDUCE_NONE)
        return refuse_wrong(d, FAULT_ROLE, "compute_at", "%s reduces (%s) and has no value to substitute", s->name,
                            stage_reducer(s)->spelling);
    if (stage_is_output(&d->next, s))
        return refuse_wrong(d, FAULT_ROLE, "an intermediate stage", "%s is an output and must be stored", s->name);
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].kind == AXIS_ORDERED)
            return refuse_wrong(d, FAULT_ROLE, "a stage with data axes only", "%s has the ordered axis %s", s->name,
                                expr_as_var(s->axis[a].var)->name);
    return true;
}

const Nest *run_compute_inline(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_compute_inline, a);
    const Stage *s = draft_find_stage(&d, a->target);
    if (!s || !is_a_plain_value(&d, s) || !nothing_inside(&d, s)) return n;
    const Stage **to = NEW_ARRAY(cx->arena, const Stage *, d.next.stage_count);
    for (int i = 0; i < d.next.stage_count; i++) {
        const Stage *reader = d.next.stage[i];
        to[i] = reader != s && stage_consumes(cx, reader, s) ? stage_inlined(cx, reader, s) : reader;
    }
    draft_inline_stage(&d, s, to);
    return draft_close(&d);
}
