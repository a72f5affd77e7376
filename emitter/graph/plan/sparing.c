/* SPDX-License-Identifier: MIT */
/* Forms of a group's nest with smaller buffers, for a limit of RAM. A strategy computes a stage at the outermost loop
 * where its elements serve many iterations: the padded rows of an image for all pixels of a row. A sparing form
 * computes it at the loop of another stage further inside, where fewer elements are live and some are computed again.
 * Its loops are others there, so its own steps are dropped; every other step is replayed, and the nest is proved. */
#include <string.h>

#include "graph/plan/plan.h"
#include "ir/check/check.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "support/text.h"

/* The words of `compute_at STAGE LOOP`, without further arguments. */
typedef struct Placed { const char *stage, *loop; } Placed;

static bool is_placement(Ctx *cx, const char *step, Placed *out)
{
    static const char verb[] = "compute_at ";
    if (strncmp(step, verb, sizeof verb - 1) != 0) return false;
    const char *stage = step + sizeof verb - 1, *loop = strchr(stage, ' ');
    if (!loop || strchr(loop + 1, ' ')) return false;
    *out = (Placed){ name_n(cx, stage, (size_t)(loop - stage)), name_n(cx, loop + 1, strlen(loop + 1)) };
    return true;
}

/* True if the step names a loop of the stage: "split rows.w 2". */
static bool is_on_loops_of(const char *step, const char *stage)
{
    const size_t length = strlen(stage);
    for (const char *at = strstr(step, stage); at; at = strstr(at + 1, stage))
        if (at > step && at[-1] == ' ' && at[length] == '.') return true;
    return false;
}

/* A declaration of an instruction belongs to the step that follows. */
static bool is_dropped(const Nest *n, int step, const char *stage)
{
    const bool declares = strncmp(n->step[step].text, "instruction ", 12) == 0 && step + 1 < n->step_count;
    return is_on_loops_of(n->step[declares ? step + 1 : step].text, stage);
}

static bool encloses(const Nest *n, const char *outer, const char *inner)
{
    Path p;
    if (text_equal(outer, inner) || !nest_find_loop(n, inner, &p)) return false;
    for (int i = 0; i < p.depth; i++)
        if (p.at[i]->kind == STMT_FOR && text_equal(p.at[i]->name, outer)) return true;
    return false;
}

/* Replays the steps with the stage at that loop; NULL: one is refused, or the nest is not proved. */
static const Nest *moved_inside(Ctx *cx, const Nest *naive, const Nest *n, const char *stage, const char *loop)
{
    const DiagMark mark = diag_mark(cx);
    const bool late = cx->checks_late;
    const Nest *out = naive;
    const char *why;
    cx->checks_late = true;
    for (int i = 0; i < n->step_count && !ctx_failed(cx); i++) {
        StepArgs args;
        Placed p;
        const char *text = n->step[i].text;
        if (is_dropped(n, i, stage)) continue;
        if (is_placement(cx, text, &p) && text_equal(p.stage, stage))
            text = text_format(cx, "compute_at %s %s", stage, loop);
        const StepRow *row = step_read(cx, text, &args);
        if (row) out = sched_run(cx, out, row, &args);
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
            Placed of, at;
            if (!is_placement(cx, n->step[i].text, &of) || !is_placement(cx, n->step[k].text, &at)) continue;
            if (!encloses(n, of.loop, at.loop)) continue;
            const Nest *form = moved_inside(cx, naive, n, of.stage, at.loop);
            if (form) out[count++] = form;
        }
    return count;
}
