/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_PRINT_CODE_H
#define LW_IR_TEXT_PRINT_CODE_H
#include "ir/nest/code.h"
#include "support/text.h"

void print_code(Ctx *cx, Text *t, const Function *f);
#endif
