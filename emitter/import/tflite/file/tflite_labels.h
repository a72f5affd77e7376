/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_LABELS_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_LABELS_H
#include "support/ctx.h"
#include "support/file.h"

/* Returns the number of class names that the file's metadata gives for an output, or 0. Warns about metadata that
 * cannot be read. */
int tflite_labels(Ctx *cx, Bytes bytes, const char *const **names);
#endif
