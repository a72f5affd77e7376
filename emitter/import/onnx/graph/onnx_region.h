/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_REGION_H
#define LW_IMPORT_ONNX_REGION_H
/* If, Loop and Scan whose course only the run decides, as regions of the DAG (graph/dag/region.h). */
#include "import/onnx/graph/onnx_ops.h"

/* Loop and Scan alike. A Loop's graph takes the number of the turn and a condition before the states, and makes a
 * condition before them; a Scan's takes rows behind them. */
typedef struct OnnxLoop {
    const OnnxGraph *graph;
    bool is_scan;
    Tensor *count, *condition;                 /* NULL: no such limit; scalars of i64 and bool */
    int state_count, scan_count, row_count;
    Tensor *const *state, *const *scanned;     /* states at first; what is gone through, rows first */
    const bool *scans_back, *rows_back;
} OnnxLoop;

void onnx_choose(OnnxCall *c, const OnnxGraph *yes, const OnnxGraph *no);      /* c->out: what the branch taken makes */
void onnx_repeat(OnnxCall *c, const OnnxLoop *l);                              /* c->out: states, then collected rows */
#endif
