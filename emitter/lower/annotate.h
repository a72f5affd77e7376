/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_ANNOTATE_H
#define LW_LOWER_ANNOTATE_H
/* Derives the annotations of a function for an analyser of C (--acsl). */
#include "ir/nest/code.h"

/* Returns the clauses of the function's contract and loops. range[i] bounds the elements of parameter i; {0, 0} means
 * the range of their type. */
Clauses function_annotate(Ctx *cx, const Function *f, const Interval *range);
#endif
