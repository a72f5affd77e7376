/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PRECISION_TEXT_H
#define LW_API_PRECISION_TEXT_H
/* Prints the report of `loopwright quantize` about the widths that it chose. */
#include "quantizer/precision.h"
#include "support/text.h"

void print_precision(Ctx *cx, Text *t, const Precision *p, const QualityBounds *bounds);
#endif
