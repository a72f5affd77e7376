/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_EXTERNAL_H
#define LW_IR_TEXT_READ_EXTERNAL_H
#include "ir/nest/external.h"
#include "ir/text/read.h"

/* Reads FUNCTION(ARGUMENT, ...) to the closing bracket. Returns NULL on error. */
External *external_read(Lexer *l, const Symbol *symbols);
/* Reads an external call from a text, like external_read. The tensors of the call are those of the nest. */
External *external_read_text(Ctx *cx, const Nest *n, const char *text);
/* Prints the call; `tensors` (may be NULL) has the names of tensors. */
struct Namer;
void external_print(Text *t, const External *e, const struct Namer *tensors);
#endif
