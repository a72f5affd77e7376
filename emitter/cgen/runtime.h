/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_RUNTIME_H
#define LW_CGEN_RUNTIME_H
/* Prints the text before the functions of model.c: the runtime, as #include lines or as pieces, and prototypes. */
#include "cgen/cgen.h"

/* Returns the lines before `code`: #include lines, or, with `inlined`, the runtime pieces that the code uses. */
void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined);
/* Returns the names of the runtime's functions that the code uses, and their count. */
const char *const *runtime_functions(Ctx *cx, const char *code, int *count);
/* Prints the prototypes of the C functions from outside that the program calls (externals.c). */
void externals_declare(Ctx *cx, Text *t, const Program *p);
#endif
