/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_COMBINE_H
#define LW_GRAPH_COMBINE_H
/* Several groups of one DAG as one loop nest; each keeps the schedule that its strategy gives it. */
#include "graph/plan/plan.h"

/* The groups at[part[0..count)], rising, become one. `master` (an index into part) keeps its loops at the root; of the others each
 * is computed in the master's outermost loop, every row once, and only the rows that are alive are kept, where that can be
 * shown; else it stands at the root before its readers. *merged has no anchor; its inputs and outputs are those of the
 * nest, in order. `explain` (may be NULL) gets where each part went and why. NULL on error. */
const Nest *schedule_combine(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, int master, const Target *t,
                             Text *explain, Group *merged);
/* The same around the last of them, only where each of the others goes along row by row with the loops that its strategy gave it, and
 * no warm-up is needed; else NULL. */
const Nest *schedule_combine_rows(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, const Target *t, Text *explain,
                                  Group *merged);
/* The nest of all before any step, for steps from elsewhere. */
const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged);
#endif
