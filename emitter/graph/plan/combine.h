/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_COMBINE_H
#define LW_GRAPH_PLAN_COMBINE_H
/* Combines several groups of one DAG into one loop nest; each keeps the schedule that its strategy chose. */
#include "graph/plan/plan.h"

/* Combines the groups at[part[0..count)], in increasing order. `master` (an index into part) keeps its loops at the
 * root. Every other group is computed in the master's outermost loop, each row once, with only live rows stored, if
 * that can be proved; else it stays at the root before its consumers. *merged has no anchor; its inputs and outputs are
 * those of the nest, in order. `explain` (may be NULL) receives the position of each part with its reason. NULL on
 * error. */
const Nest *schedule_combine(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, int master,
                             const Target *t, Text *explain, Group *merged);
/* Combines around the last part. NULL unless each other part can be attached row by row with its own loops and without
 * a warm-up. */
const Nest *schedule_combine_rows(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                  const Target *t, Text *explain, Group *merged);
/* Returns the combined nest before any step, for steps given by the user. */
const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged);
#endif
