/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_EXPAND_CONFIGURE_H
#define LW_LOWER_EXPAND_CONFIGURE_H
#include "ir/nest/code.h"

/* Returns the code with calls of the macros that set the fields of configuration: before an instruction, or before the
 * outermost loop in which all instructions require the same value. No call sets a field to the value that the field
 * already has. */
const Code *configured(Ctx *cx, const Code *c);
/* I11: returns NULL if each instruction finds the values that it requires, on all paths; otherwise the first fault. */
const char *configuration_fault(Ctx *cx, const Code *c);
#endif
