/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_TFLITE_UNKNOWN_H
#define LW_IMPORT_TFLITE_TFLITE_UNKNOWN_H
#include "import/model/model.h"
#include "import/tflite/file/tflite_file.h"

const char *tflite_tensor_where(Ctx *cx, const TfliteTensor *t);      /* a text such as `tensor "conv_7"` */
/* Reports everything that is unsupported in the subgraph at once. */
void tflite_list_unknown(Ctx *cx, const TfliteFile *f, const ImportOptions *o);
#endif
