/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_ROWS_H
#define LW_IMPORT_ONNX_ROWS_H
/* The rows of all files in this folder, and what these share. */
#include "import/onnx/graph/onnx_ops.h"

/* Closed by a row without name. */
extern const OnnxOp onnx_rows_annotation[], onnx_rows_attention[], onnx_rows_control[], onnx_rows_find[],
    onnx_rows_index[], onnx_rows_linear_attention[], onnx_rows_math[], onnx_rows_norm[], onnx_rows_quant[],
    onnx_rows_random[], onnx_rows_recurrent[], onnx_rows_resize[], onnx_rows_sequence[], onnx_rows_shape[],
    onnx_rows_signal[], onnx_rows_window[];

extern const OnnxOp *const onnx_rows[];       /* the arrays above, closed by NULL */

/* Scales and zeros along an axis of x get ones for the dimensions behind it; one value stands for all. onnx_quant.c */
Tensor *onnx_along(OnnxCall *c, Tensor *p, const Tensor *x, int64_t axis);
/* x [n][c][..] with k [o][c][..], by the node's attributes; the bias may be NULL. onnx_window.c */
Tensor *onnx_convolve(OnnxCall *c, Tensor *x, Tensor *k, Tensor *bias);
#endif
