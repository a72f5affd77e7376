/* SPDX-License-Identifier: MIT */
/* Steps from text and from C: runs the row's primitive on its operands. */
#include "schedule/schedule.h"

/* In the order of the rows. */
static StepRun *const primitives[] = {
#define STEP(name, ...) run_##name,
#include "schedule/step/steps.def"
#undef STEP
};

static StepRun *primitive_of(const StepRow *row)
{
    int count;
    return primitives[row - step_rows(&count)];
}

const Nest *sched_run(Ctx *cx, const Nest *n, const StepRow *row, const StepArgs *args)
{
    return primitive_of(row)(cx, n, args);
}

const Nest *sched_step(Ctx *cx, const Nest *n, const char *text)
{
    StepArgs args;
    const StepRow *row = ctx_failed(cx) || !n ? NULL : step_read(cx, text, &args);
    return row ? sched_run(cx, n, row, &args) : n;
}

/* Runs a step with a list of operands from C. */
static const Nest *run_list(Ctx *cx, const Nest *n, StepRun *run, StepArgs *a, const char *const *list, int count)
{
    a->loop_count = count < MAX_STEP_LOOPS ? count : MAX_STEP_LOOPS;
    for (int i = 0; i < a->loop_count; i++) a->loop[i] = list[i];
    return run(cx, n, a);
}

const Nest *sched_reorder(Ctx *cx, const Nest *n, const char *const *loops, int count, bool reassociate)
{
    return run_list(cx, n, run_reorder, &(StepArgs){ .reassociate = reassociate }, loops, count);
}

const Nest *sched_pack(Ctx *cx, const Nest *n, const char *tensor, const char *const *dimensions, int count)
{
    return run_list(cx, n, run_pack, &(StepArgs){ .target = tensor }, dimensions, count);
}
