/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_REGION_H
#define LW_GRAPH_REGION_H
/* Control flow: a node that holds graphs of its own and runs one of them, or one again and again. A graph reads nothing but
 * its inputs and constants, so a region is pure dataflow like any other node: what its graphs need from outside is handed in.
 *
 *   choice  node inputs   the condition, then what is handed in
 *           each graph    takes what is handed in and makes the node's outputs
 *   loop    node inputs   how many times at most, the condition before the first time (either may be NULL: no limit of that
 *                         kind), the states at first, the tensors that are gone through row by row, what is handed in
 *           the body      takes the number of the turn (i64), the states, a row of each, what is handed in; makes the condition
 *                         for going on (if has_condition), the states, a row for each output that collects
 *           node outputs  the states at last, the collected rows: those never made are zero
 *
 * So input k of a graph is input k + 1 of the node, but for the turn. */
#include "graph/dag/graph.h"

typedef enum RegionKind { REGION_CHOICE, REGION_LOOP } RegionKind;

typedef struct Region {
    RegionKind kind;
    int graph_count; Graph graph[2];         /* taken where the condition holds, and where it does not; or the body */
    int state_count, scan_count, row_count;
    bool has_condition;
    const bool *scans_back, *rows_back;      /* [scan_count], [row_count]: from the last row to the first */
    int64_t most_turns;                      /* the rows that there is room for; -1: nothing is collected */
} Region;

/* The region over these inputs; what is handed in but read by no graph is left out. NULL on error. */
Node *region_new(Ctx *cx, const char *name, const Region *r, Tensor *const *in, int in_count);
/* Does running it read the node's input k from memory? Not where the graphs have taken it as a constant (what is handed in), nor
 * where its value is known: a count, states that begin with zeros. */
bool region_reads(const Node *n, int k);
bool region_is_handed_in(const Node *n, int k);
int64_t region_turns(const Node *n);         /* the largest number of turns, where that is known; else -1 */
/* The graph with constants and other tensors of the outside in the place of its inputs; where given[i] is NULL the input stays. */
Graph graph_bind(Ctx *cx, const Graph *g, Tensor *const *given);
#endif
