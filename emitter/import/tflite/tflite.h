/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_TFLITE_H
#define LW_IMPORT_TFLITE_TFLITE_H
/* Imports the first subgraph of TFLite models (schema 3): float32, and int8 with the results of TensorFlow Lite Micro's
 * reference kernels with double rounding, bit for bit. */
#include "import/model/model.h"
#include "support/file.h"

bool tflite_read(Ctx *cx, const char *path, Bytes file, const ImportOptions *options, Model *out);

#endif
