/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PAGE_PRECISION_WORDS_H
#define LW_API_PAGE_PRECISION_WORDS_H
/* How the text and the page of a quantization name widths and noise. */
#include "quantizer/precision.h"
#include "support/text.h"

/* Prints a signal to noise; NaN is printed as "-", and the largest one that is measured as "exact". */
const char *noise_text(Ctx *cx, double db);
/* Names the widths before any tensor is widened. In "8 bits, features of 16", all tensors have 8 bits except the named
 * ones. */
const char *first_widths_text(Ctx *cx, const Precision *p);
#endif
