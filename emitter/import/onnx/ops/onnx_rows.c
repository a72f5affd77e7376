/* SPDX-License-Identifier: MIT */
#include "import/onnx/ops/onnx_rows.h"

#include "import/onnx/ml/onnx_ml.h"

const OnnxOp *const onnx_rows[] = { onnx_rows_annotation,
                                    onnx_rows_attention,
                                    onnx_rows_constant,
                                    onnx_rows_control,
                                    onnx_rows_encode,
                                    onnx_rows_find,
                                    onnx_rows_fused,
                                    onnx_rows_heads,
                                    onnx_rows_image,
                                    onnx_rows_index,
                                    onnx_rows_linear_attention,
                                    onnx_rows_math,
                                    onnx_rows_ml,
                                    onnx_rows_norm,
                                    onnx_rows_qlinear,
                                    onnx_rows_qonnx,
                                    onnx_rows_quant,
                                    onnx_rows_random,
                                    onnx_rows_recurrent,
                                    onnx_rows_resize,
                                    onnx_rows_sequence,
                                    onnx_rows_shape,
                                    onnx_rows_signal,
                                    onnx_rows_training,
                                    onnx_rows_svm,
                                    onnx_rows_trees,
                                    onnx_rows_window,
                                    NULL };
