/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_WRAP_H
#define LW_SUPPORT_WRAP_H
/* Breaks emitted lines at the page width, 120 columns. */
#include "support/text.h"

/* Breaks the line of t that begins at `start` into lines of at most 120 characters, after commas of the outermost
 * parentheses. Continuation lines are indented by 4 more than the first. If the first comma exceeds the width, the
 * first line ends after the parenthesis. */
void wrap_list(Ctx *cx, Text *t, size_t start);
/* Breaks a statement, or the head of one, at commas and operators of the outermost parentheses. */
void wrap_statement(Ctx *cx, Text *t, size_t start);
/* Breaks all long lines of a file that the functions above have not broken. Comments and directives are broken at
 * blanks, and code as a statement, with the comment at its end on the line before. A single name wider than the page
 * stays. */
const char *wrap_lines(Ctx *cx, const char *text);
#endif
