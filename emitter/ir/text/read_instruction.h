/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_INSTRUCTION_H
#define LW_IR_TEXT_READ_INSTRUCTION_H
#include "ir/nest/instruction.h"
#include "ir/text/lex.h"

/* Reads the name of a field of configuration: `load.step`. */
const char *field_read(Lexer *l);
Instruction *instruction_read(Ctx *cx, const char *declaration);       /* returns NULL after an error */
/* Returns the instruction of the context's tables with this macro, or NULL. */
const Instruction *instruction_known(Ctx *cx, const char *macro);
#endif
