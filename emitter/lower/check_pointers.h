/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_CHECK_POINTERS_H
#define LW_LOWER_CHECK_POINTERS_H
/* Proves that a function forms pointers only to elements of their memories, or one past the end. */
#include "ir/nest/code.h"

/* Returns NULL, or the failed proof: the memory, the index and its bounds. */
const char *pointers_check(Ctx *cx, const Code *body);
#endif
