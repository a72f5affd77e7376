/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_SCOPE_H
#define LW_IR_TEXT_READ_SCOPE_H
#include "ir/text/step.h"

/* Returns the memory that the operands of the step `memory` declare. Otherwise returns NULL; *fault is a clause and
 * *accepted what would be accepted. */
const Scope *scope_declared(Ctx *cx, const StepArgs *a, const char **fault, const char **accepted);
#endif
