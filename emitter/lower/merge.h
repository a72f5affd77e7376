/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_MERGE_H
#define LW_LOWER_MERGE_H
/* Functions that differ in numbers alone become one, with the numbers as parameters (merge.c). */
#include "ir/nest/code.h"
#include "support/map.h"

typedef struct Merged { Function *by; const int64_t *number; } Merged;      /* with these as its number parameters */

/* Of the functions those that are alike are replaced by one; `into` gets a Merged for each of them. */
void functions_merge(Ctx *cx, const Function **f, int count, Map *into);
#endif
