/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TE_TE_H
#define LW_IMPORT_TE_TE_H
/* Defines the .te language: tensors, formulas, operator calls and a schedule in one readable file. A '#' begins a
 * comment; a statement ends with its line unless a bracket is open.
 *
 *   size n in 1..1024                      a symbolic size and its range; or size n = 1..1024
 *   input a: f32[n][512]
 *   input q: i8[8] scale=0.05 zero=-3      a port that stores real numbers on a grid; outputs likewise
 *   input h: f32[3] = {0, 0.5, 1}          a constant; for an input that is state (--state), the initial value
 *   const w: f32[3] = {0.25, 0.5, 0.25}    or = [0.25, 0.5, 0.25], or = "w.npy", beside the file
 *   c[i, j] = sum(k) a[i, k] * b[k, j]     a formula (ir/text/formula.h): stage c with loops c.i, c.j, c.k
 *   promise s: f32[n][512]                 declares a tensor that is read before its definition, as in a recurrence:
 *                                          s[i ordered, j] = (s[i-1, j]? : 0) + ...
 *   y = conv2d(relu(c), w, stride=2,2)     an operator; calls nest; `_` for an absent input
 *   output y                               or several: output y, z scale=0.1 zero=5
 *   memory scratchpad bytes=16384 opaque   a memory, or an instruction, for all schedules of the file: the steps
 *   instruction G(x: i8[16]) r[i<16] = ... `memory` and `instruction` (ir/text/steps.def)
 *   schedule c                             steps of the group that computes c, indented, one a line
 *     split c.i 8 names=io,ii              (schedule/schedule.h); `schedule` alone where there is one group
 *   nest                                   the whole file is one nest
 *   for conv2d on cortex-m4:               schedules of groups, at the end of the file: graph/plan/group_schedules.h
 *     split y.h 4
 *
 * An index that is read from a tensor, as in x[at[i]], is clamped to x: data cause no access out of bounds. Formulas
 * are calls, like calls of operators (graph/dag/definition.h): both are fused to groups and scheduled by strategies. A
 * schedule replaces the strategy for its group; its steps name loops by the tensors of the file. In a file with `nest`
 * each call is expanded to its stages, and the file is one group. */
#include "import/model/model.h"
#include "schedule/written.h"

/* `schedule NAME` of a .te file. */
typedef struct TeSchedule {
    const char *group;                   /* the group's name, or NULL for the file's only group */
    WrittenStep at;                      /* the line itself, for diagnostics */
    const WrittenStep *step; int step_count;
} TeSchedule;

/* Reads a .te text; `path` is for diagnostics and .npy files. Returns false after an error. */
bool te_read(Ctx *cx, const char *path, const char *text, const ImportOptions *options, Model *out);
#endif
