/* SPDX-License-Identifier: MIT */
/* compute_root: a stage returns to its own naive nest at the root, before the first nest that reads it. This order is
 * valid if the stage's producers are also at the root. If a producer is attached inside the stage's loops, the step is
 * refused. */
#include "schedule/draft/attach.h"

const Nest *run_compute_root(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_compute_root, a);
    const Stage *s = draft_find_stage(&d, a->target);
    if (!s || !nothing_inside(&d, s) || !producers_are_done(&d, s, NULL)) return n;
    if (!move_stage(&d, s, NULL)) return n;
    return draft_close(&d);
}
