/* SPDX-License-Identifier: MIT */
/* tile: split x, split y, then reorder to (xo, yo, xi, yi). With tail=peel, both outer loops are peeled after the
 * reorder, because reorder requires a chain of loops, each the only child of the loop outside it. A peeled loop has its
 * remainder beside it. */
#include "schedule/draft/draft.h"
#include "support/names.h"

static bool tile_halves(Draft *d, const char **loop, int64_t factor, const char **outer, const char **inner)
{
    if (!draft_split(d, loop, factor, NULL, NULL)) return false;
    *outer = name_format(d->cx, "%so", *loop);
    *inner = name_format(d->cx, "%si", *loop);
    return true;
}

const Nest *run_tile(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_tile, a);
    const char *loops[4];       /* in the order xo, yo, xi, yi */
    if (!tile_halves(&d, &d.args.loop[0], a->factor[0], &loops[0], &loops[2])) return n;
    if (!tile_halves(&d, &d.args.loop[1], a->factor[1], &loops[1], &loops[3])) return n;
    if (!draft_reorder(&d, loops, 4, false)) return n;
    if (a->tail == TAIL_PEEL && (!draft_peel(&d, &loops[1]) || !draft_peel(&d, &loops[0]))) return n;
    d.successors = name_format(cx, "%s, %s, %s or %s", loops[0], loops[1], loops[2], loops[3]);
    return draft_close(&d);
}
