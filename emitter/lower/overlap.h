/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_OVERLAP_H
#define LW_LOWER_OVERLAP_H
/* Bounds the overlap of an output with an input that has no later consumer. */
#include "ir/nest/code.h"

/* Sets the smallest lead at which writes to y overwrite no unread element of x. The lead is the number of bytes, 0 or
 * more, from the start of y to the start of x. x is an input of the function and y an output, each at the start of its
 * tensor. Returns false if no bound is known; the two must then not overlap. */
bool overlap_lead(Ctx *cx, const Function *f, const Memory *x, const Memory *y, int64_t *lead);
/* Returns true if a lead of at most `most` bytes is proved, also statement by statement within the outermost loops. */
bool overlap_shift(Ctx *cx, const Function *f, const Memory *x, const Memory *y, int64_t most);
#endif
