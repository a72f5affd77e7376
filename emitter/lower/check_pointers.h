/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_CHECK_POINTERS_H
#define LW_LOWER_CHECK_POINTERS_H
/* Proves that a function forms pointers only inside of their memories, or one element behind. */
#include "ir/nest/code.h"

/* NULL, or what was not proved: the memory, the index and its bounds. */
const char *pointers_check(Ctx *cx, const Code *body);
#endif
