/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_H
#define LW_IMPORT_ONNX_H
/* ONNX models (onnx.proto of ONNX 1.20, all operator sets) as calls of our operators. */
#include "import/model/model.h"
#include "support/file.h"

/* `path` is for diagnostics and for external data, which must lie in its folder or below. False: see the diagnostics. */
bool onnx_read(Ctx *cx, const char *path, Bytes file, const ImportOptions *options, Model *out);

#endif
