/* SPDX-License-Identifier: MIT */
/* compute_root: a stage gets its own nest at the root again, whole and naive, before the first nest that reads it. It is
 * always right: what it reads is made there already or, being placed inside its loops, makes the step refuse. */
#include "schedule/place.h"

/* What it reads must be made for the whole of it, not for one iteration of some loop. */
static bool makers_are_at_root(Draft *d, const Stage *s)
{
    const Tensor **reads;
    int count = stage_reads(d->cx, s, &reads);
    for (int i = 0; i < count; i++) {
        const Stage *m = maker_of(&d->next, reads[i]);
        const char *host = m ? host_of(&d->next, m) : NULL;
        if (host)
            return refuse_wrong(d, "%s reads %s, which is computed inside %s only; compute_root %s first", s->name, m->name,
                                host, m->name);
    }
    return true;
}

const Nest *sched_compute_root(Ctx *cx, const Nest *n, const char *stage)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, "compute_root", &(StepArgs){ .target = stage });
    const Stage *s = draft_find_stage(&d, stage);
    if (!s || !nothing_inside(&d, s) || !makers_are_at_root(&d, s)) return n;
    if (!move_stage(&d, s, NULL)) return n;
    return draft_close(&d);
}
