/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_H
#define LW_IMPORT_ONNX_H
/* Imports ONNX models (onnx.proto of ONNX 1.20, all operator sets) as calls of registered operators. */
#include "import/model/model.h"
#include "support/file.h"

/* `path` is for diagnostics and locates external data, which must be in its folder or below. Returns false after a
 * diagnostic. */
bool onnx_read(Ctx *cx, const char *path, Bytes file, const ImportOptions *options, Model *out);

#endif
