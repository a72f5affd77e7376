/* SPDX-License-Identifier: MIT */
#ifndef LW_EXPORT_ONNX_WRITE_H
#define LW_EXPORT_ONNX_WRITE_H
/* Writes a graph as an ONNX model (opset 13). A simulated quantization becomes QuantizeLinear and DequantizeLinear; a
 * simulated quantization of weights becomes a DequantizeLinear of stored integers. Images have the channel last in the
 * graph and second in ONNX, so transposes are written where an operator requires it. */
#include "graph/dag/graph.h"
#include "support/file.h"

/* names: of the outputs. Returns false, with a diagnostic, if an operator has no form in ONNX or a size is symbolic. */
bool onnx_write(Ctx *cx, const Graph *g, const char *const *names, Bytes *out);
#endif
