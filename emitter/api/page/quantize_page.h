/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PAGE_QUANTIZE_PAGE_H
#define LW_API_PAGE_QUANTIZE_PAGE_H
/* Writes the report of a quantization as one HTML file: histograms with the chosen ranges, sensitivities, widths. */
#include "quantizer/precision.h"

/* said: the text that the command prints */
const char *quantize_page(Ctx *cx, const char *model, const Quantized *q, int in_floats, const char *said);
#endif
