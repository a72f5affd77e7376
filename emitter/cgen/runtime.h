/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_RUNTIME_H
#define LW_CGEN_RUNTIME_H
/* What precedes the functions of model.c: the runtime, as #include lines or as the pieces themselves, and prototypes.
 */
#include "cgen/cgen.h"

/* Returns the lines before `code`: #include lines, or with `inlined` the runtime pieces that it uses. */
void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined);
/* externals.c: prints the prototypes of the C functions from outside that the program calls. */
void externals_declare(Ctx *cx, Text *t, const Program *p);
#endif
