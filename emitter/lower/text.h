/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_TEXT_H
#define LW_LOWER_TEXT_H
/* Counts the parts of emitted text, for estimates of the size of code. */
#include "ir/nest/code.h"
#include "ir/nest/costs.h"
#include "support/map.h"

/* Adds the parts of a function. Macros without a row among the costs count as their portable form. An expression that a
 * loop body repeats counts once, because C compilers keep its value. shared holds keys of the parts that a program has
 * once; its arena outlives the call. */
void text_parts(Ctx *cx, const Code *body, const Costs *costs, Map *shared, double parts[TEXT_KINDS]);
/* Returns the bytes of a function's arrays on the stack at the point where most of them are live. */
int64_t text_locals(const Code *body);
#endif
