/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_APART_H
#define LW_CGEN_APART_H
/* Constants outside model.c's text: in the file of weights, a named section, or program memory. */
#include "cgen/cgen.h"

/* Tests of the program's kind of weights (cgen.h). */
static inline bool weights_are_in_file(const Program *p)
{
    return p->weights.kind == WEIGHTS_CALLER || p->weights.kind == WEIGHTS_INCLUDED;
}
/* Returns the word before the type of a constant in program memory, "LW_FLASH " or "LW_FAR_FLASH "; else "". */
const char *flash_word(const Program *p);
/* True for a constant's memory, and a pointer into it. */
bool memory_is_constant(const Memory *m);
/* Prints the attribute of a constant's declaration, `LW_SECTION(".qspi") `. */
void section_attribute(Text *t, const Program *p);
/* The address of a constant in the file, plus `offset` bytes, as a pointer to `type`. */
const char *file_constant(Ctx *cx, const Program *p, int constant, int64_t offset, DType type);
/* model.h: macros, and NAME_check_weights. */
void file_macros(Ctx *cx, Text *t, const Program *p, const char *prefix);
void file_declare_check(Ctx *cx, Text *t, const Program *p, const char *prefix);
/* model.c: the expected header, the included file, NAME_check_weights; NAME_run's check of the header. */
void file_functions(Ctx *cx, Text *t, const Program *p, const char *prefix);
void file_check_in_run(Ctx *cx, Text *t, const Program *p, const char *prefix);
#endif
