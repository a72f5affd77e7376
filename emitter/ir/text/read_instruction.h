/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_INSTRUCTION_H
#define LW_IR_TEXT_READ_INSTRUCTION_H
#include "ir/nest/instruction.h"

Instruction *instruction_read(Ctx *cx, const char *declaration);       /* returns NULL after an error */
/* Returns the instruction of the context's tables with this macro, or NULL. */
const Instruction *instruction_known(Ctx *cx, const char *macro);
#endif
