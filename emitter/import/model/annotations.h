/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_ANNOTATIONS_H
#define LW_IMPORT_MODEL_ANNOTATIONS_H
/* Reads annotations by name from a file beside the model: --annotate FILE. The file has one annotation per line; '#'
 * begins a comment:
 *
 *   stop_fusion conv_3                          an operator annotation.X, and the nodes whose results it marks
 *   on_device npu conv_1..conv_5 dense_*        with its device; a range in the model's order; the wildcards * and ?
 *   simulated_quantize "relu 4" scale=0.05 zero=3 bits=8
 *   simulated_quantize conv_1 scale=0.05,0.1 axis=3
 *   simulated_quantize x conv_2.weight bits=32      without a scale: the quantizer chooses it; 32 bits: in floats
 *
 * A grid may also annotate an input, or a constant by its whole name. A name with blanks is quoted. A pattern that
 * matches nothing is an error. */
#include "import/model/model.h"

bool annotations_read(Ctx *cx, const char *path, Model *m);
#endif
