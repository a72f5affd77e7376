/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_RUNTIME_H
#define LW_CGEN_RUNTIME_H
/* The runtime headers as the emitted C sees them: which of them some text needs, or the pieces themselves. */
#include "support/text.h"

/* The lines that go before `code`: #include lines, or with `inlined` the pieces of the runtime that it uses. */
void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined);
#endif
