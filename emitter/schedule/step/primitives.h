/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_STEP_PRIMITIVES_H
#define LW_SCHEDULE_STEP_PRIMITIVES_H
/* The primitives, a file each in schedule/primitives: run_split and so on. */
#include "ir/text/step.h"

typedef const Nest *StepRun(Ctx *cx, const Nest *n, const StepArgs *a);
#define STEP(name, ...) StepRun run_##name;
#include "ir/text/steps.def"
#undef STEP

/* SCHED(cx, n, split, .loop = { "y.i" }, .factor = { 4 }, .tail = TAIL_PEEL): any step, from C. */
#define SCHED(cx, n, step, ...) run_##step(cx, n, &(StepArgs){ __VA_ARGS__ })
#endif
