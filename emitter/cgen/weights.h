/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_WEIGHTS_H
#define LW_CGEN_WEIGHTS_H
#include "ir/expr/tensor.h"
#include "support/text.h"

/* Prints the elements of a constant tensor, separated by commas, in lines. The text is exact, and as short as exactness
 * allows. The function passes the text on in pieces. */
void weights_print(Ctx *cx, const Tensor *constant, TextPut *put, void *to);
/* Returns false if an element is infinite or not a number; its text is then a macro of math.h. */
bool weights_are_finite(const Tensor *constant);
#endif
