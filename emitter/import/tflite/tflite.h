/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_TFLITE_H
#define LW_IMPORT_TFLITE_TFLITE_H
/* TFLite models (schema 3), their first subgraph, as calls of our operators: float32, and int8 whose results are, to the
 * bit, those of TensorFlow Lite Micro's reference kernels with double rounding. */
#include "import/model/model.h"
#include "support/file.h"

bool tflite_read(Ctx *cx, const char *path, Bytes file, const ImportOptions *options, Model *out);

#endif
