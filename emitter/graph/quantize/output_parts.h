/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_QUANTIZE_OUTPUT_PARTS_H
#define LW_GRAPH_QUANTIZE_OUTPUT_PARTS_H
#include "graph/dag/op.h"

/* The tensors that an output consists of. `of` holds the part of each element, or is NULL if the output is one part. */
typedef struct OutputParts { int count; int *of; const char **name; } OutputParts;
OutputParts parts_of_output(Ctx *cx, Tensor *t);
#endif
