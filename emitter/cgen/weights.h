/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_WEIGHTS_H
#define LW_CGEN_WEIGHTS_H
#include "ir/expr/tensor.h"
#include "support/text.h"

/* Prints the elements of a constant tensor, comma-separated, in lines; exact, and as short as exactness allows. */
void weights_text(Ctx *cx, Text *t, const Tensor *constant);
#endif
