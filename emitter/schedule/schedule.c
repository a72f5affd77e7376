/* SPDX-License-Identifier: MIT */
/* Steps from text and from C: runs the row's primitive on its operands. */

/* Decision: built-in templates are checked at their end. Templates are not checked after each step, because every
 * primitive has proved its precondition, and the checker proves the resulting nest. Steps of a `.te` file are checked
 * one by one, as are a template's with `LOOPWRIGHT_CHECK=steps` in the environment. The random tests check every step
 * of every program. */
#include "schedule/schedule.h"

#include "schedule/step/role.h"

/* The primitives in the order of their rows. */
static StepRun *const primitives[] = {
#define STEP(name, ...) run_##name,
#include "ir/text/steps.def"
#undef STEP
};

const Nest *sched_run(Ctx *cx, const Nest *n, const Step *step)
{
    return primitives[step->row->kind](cx, n, step->args);
}

/* Applies a step with roles once for each match of @elementwise. If one application is refused, nothing changes. */
static const Nest *run_resolved(Ctx *cx, const Nest *n, const char *text, const Step *step)
{
    int count;
    const StepArgs *all = role_resolve(cx, n, text, step->row, step->args, &count);
    const Nest *next = n;
    if (!count) diag_listed(cx, NOTE, text, "no stage is @elementwise: the step changes nothing");
    for (int i = 0; i < count; i++) next = sched_run(cx, next, &(Step){ step->row, &all[i] });
    return ctx_failed(cx) ? n : next;
}

const Nest *sched_step(Ctx *cx, const Nest *n, const char *text)
{
    if (ctx_failed(cx) || !n) return n;
    const Step step = step_read(cx, text);
    return step.row ? run_resolved(cx, n, text, &step) : n;
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

const Nest *sched_tensorize_with(Ctx *cx, const Nest *n, const char *loop, const char *macro, const int64_t *number,
                                 int count)
{
    StepArgs a = { .loop = { loop }, .name = macro, .number_count = count };
    for (int i = 0; i < count; i++) a.number[i] = number[i];
    return run_tensorize(cx, n, &a);
}
