/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_STEP_PRIMITIVES_H
#define LW_SCHEDULE_STEP_PRIMITIVES_H
/* The primitives run_split and so on, with one file each in schedule/primitives. */
#include "ir/text/step.h"

typedef const Nest *StepRun(Ctx *cx, const Nest *n, const StepArgs *a);
#define STEP(name, ...) StepRun run_##name;
#include "ir/text/steps.def"
#undef STEP

/* Applies any step from C: SCHED(cx, n, split, .loop = { "y.i" }, .factor = { 4 }, .tail = TAIL_PEEL). */
#define SCHED(cx, n, step, ...) run_##step(cx, n, &(StepArgs){ __VA_ARGS__ })
#endif
