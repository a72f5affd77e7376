/* SPDX-License-Identifier: MIT */
/* Forms of a group's nest with smaller buffers, for a limit of RAM. A strategy computes a stage at the outermost loop
 * whose iterations reuse its elements: the padded rows of an image are computed once for all pixels of a row. A sparing
 * form computes the stage at the loop of a different stage further inside, where fewer elements are live and some are
 * computed again. At another loop the stage has different loops, so its own steps are dropped. Every other step is
 * replayed, and the nest is proved. */
#include <string.h>

#include "graph/plan/plan.h"
#include "ir/check/check.h"
#include "schedule/draft/draft.h"
#include "schedule/schedule.h"
#include "support/text.h"

static bool is_placement(const Step *s)
{
    return s->row->kind == STEP_compute_at && s->args->loops == LOOPS_AS_SHAPED;
}

/* Returns true if the step names a loop of the stage: "split rows.w 2". */
static bool is_on_loops_of(Ctx *cx, const Step *s, const char *stage)
{
    bool is_on = false;
    for (int i = 0; i < MAX_STEP_LOOPS && !is_on; i++)
        is_on = s->args->loop[i] && strchr(s->args->loop[i], '.')
            && text_equal(loop_prefix(cx, s->args->loop[i]), stage);
    return is_on;
}

/* A declaration of an instruction belongs to the step that follows. */
static bool is_dropped(Ctx *cx, const Nest *n, int step, const char *stage)
{
    const bool declares = n->step[step].row->kind == STEP_instruction && step + 1 < n->step_count;
    return is_on_loops_of(cx, &n->step[declares ? step + 1 : step], stage);
}

static bool encloses(const Nest *n, const char *outer, const char *inner)
{
    Path p;
    if (text_equal(outer, inner) || !nest_find_loop(n, inner, &p)) return false;
    for (int i = 0; i < p.depth; i++)
        if (p.at[i]->kind == STMT_FOR && text_equal(p.at[i]->name, outer)) return true;
    return false;
}

/* Replays the steps with the stage at that loop. Returns NULL if a step is refused, or if the nest is not proved. */
static const Nest *moved_inside(Ctx *cx, const Nest *naive, const Nest *n, const char *stage, const char *loop)
{
    const DiagMark mark = diag_mark(cx);
    const bool late = cx->checks_late;
    const Nest *out = naive;
    const char *why;
    cx->checks_late = true;
    for (int i = 0; i < n->step_count && !ctx_failed(cx); i++) {
        const Step *step = &n->step[i];
        StepArgs args = *step->args;
        if (is_dropped(cx, n, i, stage)) continue;
        if (is_placement(step) && text_equal(args.target, stage)) args.loop[0] = loop;
        out = sched_run(cx, out, &(Step){ step->row, &args });
    }
    cx->checks_late = late;
    if (diag_rewind(cx, mark) || nest_check(cx, out, &why) != PROVED) return NULL;
    return nest_named_by(cx, out, text_format(cx, "%s with smaller buffers", n->strategy));
}

int group_sparing_forms(Ctx *cx, const Group *g, const Target *t, const Nest *n, const Implementation *with,
                        const Nest **out, int most)
{
    const Nest *naive = n->strategy && !n->otherwise ? group_naive(cx, g, t, with) : NULL;
    int count = 0;
    for (int i = 0; i < n->step_count && naive; i++)
        for (int k = 0; k < n->step_count && count < most; k++) {
            const Step *of = &n->step[i], *at = &n->step[k];
            if (!is_placement(of) || !is_placement(at) || !encloses(n, of->args->loop[0], at->args->loop[0])) continue;
            const Nest *form = moved_inside(cx, naive, n, of->args->target, at->args->loop[0]);
            if (form) out[count++] = form;
        }
    return count;
}
