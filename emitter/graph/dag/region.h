/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_REGION_H
#define LW_GRAPH_DAG_REGION_H
/* A region is control flow: a node that contains graphs and executes one of them, or executes one repeatedly. A graph
 * reads only its inputs and constants, so a region is pure dataflow like any other node: values from outside are
 * captured as extra inputs.
 *
 *   choice  node inputs   the condition, then the captures
 *           each graph    reads the captures, produces the node's outputs; a result whose size the graph decides has
 *                         one dimension and fills the first part of the node's output, which has `capacity` elements
 *   loop    node inputs   the trip-count limit, the initial condition (NULL: no such limit), the initial states, the
 *                         tensors scanned row by row, the captures
 *           the body      reads the iteration index (i64), the states, one row of each scanned tensor, the captures;
 *                         produces the condition to continue (if has_condition), the states, one row for each
 *                         collecting output
 *           node outputs  the final states, the collected rows; rows never produced are zero
 *
 * So input k of a graph is input k + 1 of the node, except for the iteration index. */

/* Decision: control flow is a node that holds graphs. An If, Loop or Scan of ONNX, an IF or WHILE of TFLite, that only
 * the run can decide is a region (`graph/dag/region.h`): a choice between two graphs, or a repeated body.
 *
 *   - A graph reads its inputs and constants, nothing else. The importer captures outer tensors and passes them in
 *     (`onnx_graph.c`), so a region is pure dataflow, and opaque to fusion.
 *   - Each graph takes the whole path of the model's own graph (`driver/region_graphs.c`) and becomes a static
 *     function. Functions, constants and names are shared; copies of one weight that separate passes created are found
 *     by their bytes (`driver/constants.c`).
 *   - Its memory plan starts at 0, in one block of the group's scratch memory, as large as the largest of its graphs
 *     requires.
 *   - A Scan is a loop whose inputs and outputs advance row by row. A state is written beside the old one, and the
 *     two arrays swap; or over it, if the plan shows that the old one is dead.
 *   - A loop is unrolled instead if that takes at most 8 nodes or one iteration, if nothing of it remains for the
 *     run, or if its states change their shape (`import/onnx/ops/onnx_control.c`).
 *   - Collected rows have the capacity of the known count, or of the shape that the model declares. Rows that are
 *     never produced are zero; one too many ends the run with `NAME_E_SIZE`.
 *   - Sizes of the enclosing graph are parameters of the graph's function; their values are also captured, so a
 *     region follows the calls that decide the sizes that it reads. Sizes that the graph decides are its own variables.
 *     A result with such a size leaves the region as a flat array, and its sizes leave as further results. After the
 *     region they become new sizes. */
#include "graph/dag/graph.h"

typedef enum RegionKind { REGION_CHOICE, REGION_LOOP } RegionKind;

typedef struct Region {
    RegionKind kind;
    /* The graphs of a choice, for a true and a false condition; or the body of a loop. */
    int graph_count; Graph graph[2];
    int state_count, scan_count, row_count;
    bool has_condition;
    /* [scan_count], [row_count]: true if the rows run from the last to the first. */
    const bool *scans_back, *rows_back;
    int64_t max_trip_count;                  /* the capacity for collected rows, or -1 if nothing is collected */
    /* [outputs], for a choice: the capacity in elements of a result whose size the graph decides, or -1 for a result
     * that has one shape in both graphs. NULL if all results have one shape. */
    const int64_t *capacity;
} Region;

/* Creates the region over these inputs and drops captures that no graph reads. Returns NULL on error. */
Node *region_new(Ctx *cx, const char *name, const Region *r, Tensor *const *in, int in_count);
/* Returns true if execution reads the node's input k from memory. Returns false if the graphs bind the tensor as a
 * constant (a capture) or if its value is known: a count, or a state that starts at zero. */
bool region_reads(const Node *n, int k);
bool region_is_handed_in(const Node *n, int k);
/* Returns true if the result has a `capacity`; elements after the part that the graph produces are then not set. */
bool region_fills_part(const Tensor *t);
int64_t region_trip_count(const Node *n);    /* returns an upper bound of the trip count, or -1 if none is known */
/* Substitutes constants and outer tensors for the graph's inputs; input i stays if given[i] is NULL. */
Graph graph_bind(Ctx *cx, const Graph *g, Tensor *const *given);
#endif
