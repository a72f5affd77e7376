/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_FORMATS_GIVEN_VALUE_H
#define LW_IMPORT_FORMATS_GIVEN_VALUE_H
#include "ir/expr/tensor.h"

/* Returns a text such as "f32[?][4]"; a size of -1 stands for any size. */
const char *value_type_text(Ctx *cx, DType type, int rank, const int64_t *dim);
/* Reads the file of `--value INPUT=FILE`. Returns NULL, with a diagnostic, on error or if the file's type or shape
 * differs from the input's. */
Tensor *given_value(Ctx *cx, const char *input, const char *path, DType type, int rank, const int64_t *dim);
#endif
