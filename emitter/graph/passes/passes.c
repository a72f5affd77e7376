/* SPDX-License-Identifier: MIT */
/* Instantiates the table of passes.def. */
#include "graph/passes/passes.h"

static const GraphPassRow table[] = {
#define GRAPH_PASS(fn, name, role, what) { name, what, PASS_##role, fn },
#include "graph/passes/passes.def"
#undef GRAPH_PASS
};

const GraphPassRow *graph_passes(int *count)
{
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}
