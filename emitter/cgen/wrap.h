/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_WRAP_H
#define LW_CGEN_WRAP_H
/* Breaks lists of parameters and arguments at the page width. */
#include "support/text.h"

/* Breaks the line of t that begins at `start` into lines of at most 120 characters, after commas of the outermost
 * parentheses. Continuation lines are indented by 4 more than the first. A list whose first comma exceeds the width
 * stays longer. */
void wrap_list(Ctx *cx, Text *t, size_t start);
/* Breaks a statement, or the head of one, at commas and operators of the outermost parentheses. */
void wrap_statement(Ctx *cx, Text *t, size_t start);
#endif
