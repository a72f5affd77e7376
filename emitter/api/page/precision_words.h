/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PAGE_PRECISION_WORDS_H
#define LW_API_PAGE_PRECISION_WORDS_H
/* How the text and the page of a quantization name widths and noise. */
#include "quantizer/precision.h"
#include "support/text.h"

/* A signal to noise; NaN is "-", the largest one that is measured is "exact". */
const char *noise_text(Ctx *cx, double db);
/* The widths before any is widened, "8 bits, features of 16": all of 8, but those that are named. */
const char *first_widths_text(Ctx *cx, const Precision *p);
#endif
