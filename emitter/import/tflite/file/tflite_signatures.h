/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_SIGNATURES_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_SIGNATURES_H
#include "support/ctx.h"
#include "support/file.h"

/* Returns the subgraph of the signature `wanted`; if it is NULL, returns the first subgraph, with a note if signatures
 * name others. Returns false, with a diagnostic, if the file has no such signature. */
bool tflite_signature_subgraph(Ctx *cx, Bytes bytes, const char *wanted, size_t *subgraph);

#endif
