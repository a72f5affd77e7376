/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_REGION_H
#define LW_IMPORT_ONNX_REGION_H
/* Translates If, Loop and Scan that are decided at run time to regions of the DAG (graph/dag/region.h). */
#include "import/onnx/graph/onnx_ops.h"

/* A Loop or a Scan. A Loop's graph takes the iteration index and a condition before the states, and returns a condition
 * before them. A Scan's graph takes rows after the states. */
typedef struct OnnxLoop {
    const OnnxGraph *graph;
    bool is_scan;
    /* an i64 scalar and a bool scalar, or NULL if there is no limit of that kind */
    Tensor *count, *condition;
    /* a constant count above 32 bits, which does not limit the loop; otherwise 0 */
    int64_t huge;
    int state_count, scan_count, row_count;
    Tensor *const *state, *const *scanned;     /* state: initial states; scanned: tensors that are scanned row by row */
    const bool *scans_back, *rows_back;
} OnnxLoop;

/* Sets c->out to the results of the taken branch. */
void onnx_choice(OnnxCall *c, const OnnxGraph *yes, const OnnxGraph *no);
/* Sets c->out to the states, then the collected rows. */
void onnx_loop(OnnxCall *c, const OnnxLoop *l);
#endif
