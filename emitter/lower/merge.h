/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_MERGE_H
#define LW_LOWER_MERGE_H
/* Merges functions that differ only in numbers; the numbers become parameters (merge.c). */
#include "ir/nest/code.h"
#include "support/map.h"

/* `by` replaces the function, and `number` holds the values of its number parameters. */
typedef struct Merged { Function *by; const int64_t *number; } Merged;

/* Returns the text of a function without its numbers. Functions with equal outlines are merged. */
const char *function_outline(Ctx *cx, const Function *f);
/* Replaces functions with equal outlines by one function; `into` receives a Merged for each of them. Functions that
 * already have number parameters stay. */
void functions_merge(Ctx *cx, const Function **f, int count, Map *into);
#endif
