/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_GRAPH_ONNX_FOREIGN_H
#define LW_IMPORT_ONNX_GRAPH_ONNX_FOREIGN_H
#include "import/onnx/graph/onnx_graph.h"

/* Returns the row of an operator that a C function of the user computes (--extern NAME, or DOMAIN.NAME), or NULL if
 * none does */
const OnnxOp *onnx_foreign_row(const OnnxImport *im, const OnnxNode *n);
#endif
