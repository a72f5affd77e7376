/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_SHRINK_H
#define LW_GRAPH_SHRINK_SHRINK_H
/* Runs the pass graph_shrink with a different budget of the range analysis, in values (ranges.h). */
#include "graph/shrink/ranges.h"

Graph shrink_within(Ctx *cx, Graph g, int64_t budget);
#endif
