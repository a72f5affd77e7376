/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FIND_H
#define LW_IMPORT_TFLITE_FIND_H
/* Lists the rows of all operators, builtin and custom. */
#include "import/tflite/ops/tflite_ops.h"

const TfliteRow *tflite_row_find(const TfliteOperator *op);                /* NULL: none */
const TfliteRow **tflite_row_list(Ctx *cx, int *count);                    /* all rows, sorted by name */
#endif
