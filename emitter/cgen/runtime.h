/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_RUNTIME_H
#define LW_CGEN_RUNTIME_H
/* The runtime headers in emitted C: the #include lines of a text, or the pieces themselves. */
#include "support/text.h"

/* Returns the lines before `code`: #include lines, or with `inlined` the runtime pieces that it uses. */
void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined);
#endif
