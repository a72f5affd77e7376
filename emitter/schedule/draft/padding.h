/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_DRAFT_PADDING_H
#define LW_SCHEDULE_DRAFT_PADDING_H
#include "schedule/draft/draft.h"

/* The elements outside a tensor that a copy of the tensor also contains: their number below and above each dimension,
 * and their value. */
typedef struct Padding { int64_t below[MAX_RANK], above[MAX_RANK]; const Expr *value; } Padding;

/* Finds the elements outside the tensor that the readers name under conditions, and a value with which they need no
 * condition; the step may state the value. reader[i] becomes the stage without the conditions. Returns false after it
 * refuses the step. */
bool padding_of(Draft *d, const Tensor *t, const Stage **reader, int count, Padding *out);
#endif
