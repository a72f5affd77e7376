/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_ROWS_H
#define LW_IMPORT_ONNX_ROWS_H
/* Declares the rows of all files in this folder, and helpers that they share. */
#include "import/onnx/graph/onnx_ops.h"

/* Each array is terminated by a row without a name. */
extern const OnnxOp onnx_rows_annotation[], onnx_rows_attention[], onnx_rows_constant[], onnx_rows_control[],
    onnx_rows_find[], onnx_rows_fused[], onnx_rows_heads[], onnx_rows_image[], onnx_rows_index[],
    onnx_rows_linear_attention[], onnx_rows_math[], onnx_rows_norm[], onnx_rows_qlinear[], onnx_rows_qonnx[],
    onnx_rows_quant[], onnx_rows_random[], onnx_rows_recurrent[], onnx_rows_resize[], onnx_rows_sequence[],
    onnx_rows_shape[], onnx_rows_signal[], onnx_rows_training[], onnx_rows_window[];

extern const OnnxOp *const onnx_rows[];       /* the arrays above, NULL-terminated */

/* Appends unit dimensions to scales or zero points along an axis of x, so that they broadcast; a single value stays a
 * scalar (onnx_quant.c). */
Tensor *onnx_along(OnnxCall *c, Tensor *p, const Tensor *x, int64_t axis);
/* Converts between stored values and real numbers; a zero point of NULL stands for 0 (onnx_quant.c). */
Tensor *onnx_dequantized(OnnxCall *c, Tensor *x, Tensor *scale, Tensor *zero);
Tensor *onnx_quantized(OnnxCall *c, Tensor *x, Tensor *scale, Tensor *zero, DType otherwise);
/* Returns x rounded to 8 bits by its own range, minus the zero point, as i16; *scale becomes the step
 * (onnx_quant.c). */
Tensor *onnx_quantized_by_range(OnnxCall *c, Tensor *x, Tensor **scale);
/* Convolves x [n][c][..] with k [o][c][..] by the node's attributes; the bias may be NULL (onnx_window.c). */
Tensor *onnx_convolve(OnnxCall *c, Tensor *x, Tensor *k, Tensor *bias);
/* onnx_find.c: translates Compress at run time */
Tensor *onnx_selected(OnnxCall *c, Tensor *x, Tensor *condition, int axis);
#endif
