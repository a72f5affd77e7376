/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_WRAP_H
#define LW_CGEN_WRAP_H
/* Lists of parameters and of arguments within the width of a page. */
#include "support/text.h"

/* Breaks what begins at `start`, the begin of a line of t, into lines of at most 120 characters: behind commas of the outermost
 * parentheses, the further lines indented by 4 more than the first. A list without a comma in time stays as long as it is. */
void wrap_list(Ctx *cx, Text *t, size_t start);
/* The same for a statement, or the head of one: broken at commas and operators of the outermost parentheses. */
void wrap_statement(Ctx *cx, Text *t, size_t start);
#endif
