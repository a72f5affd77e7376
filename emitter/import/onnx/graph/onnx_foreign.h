/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_GRAPH_ONNX_FOREIGN_H
#define LW_IMPORT_ONNX_GRAPH_ONNX_FOREIGN_H
#include "import/onnx/graph/onnx_graph.h"

/* Returns the row of an operator that the user's C function computes (--extern NAME, or DOMAIN.NAME), or NULL. */
const OnnxOp *onnx_foreign_row(const OnnxImport *im, const OnnxNode *n);
#endif
