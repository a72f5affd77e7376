/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_APART_H
#define LW_CGEN_APART_H
/* Prints constants that are stored outside the text of model.c: in the file of weights, a named section, or program
 * memory. */
#include "cgen/cgen.h"

/* These functions test the program's kind of weights (cgen.h). */
static inline bool weights_are_in_file(const Program *p)
{
    return p->weights.kind == WEIGHTS_CALLER || p->weights.kind == WEIGHTS_INCLUDED;
}
/* Returns the word before the type of a constant in program memory, "LW_FLASH " or "LW_FAR_FLASH ". Returns "" for
 * other constants. */
const char *flash_word(const Program *p);
/* Returns true for a constant's memory, and for a pointer into it. */
bool memory_is_constant(const Memory *m);
/* Prints the attribute of a declaration, `LW_SECTION(".qspi") `, or nothing if the section is NULL. */
void section_attribute(Text *t, const char *section);
/* Returns the C expression of a constant's address in the file, plus `offset` bytes, as a pointer to `type`. */
const char *file_constant(Ctx *cx, const Program *p, int constant, int64_t offset, DType type);
/* Prints macros and the prototype of NAME_check_weights in model.h. */
void file_macros(Ctx *cx, Text *t, const Program *p);
void file_declare_check(Ctx *cx, Text *t, const Program *p);
/* The first of these functions prints parts of model.c: the expected header, the included file and NAME_check_weights.
 * The second prints NAME_run's check of the header. */
void file_functions(Ctx *cx, Text *t, const Program *p);
void file_check_in_run(Ctx *cx, Text *t, const Program *p);
#endif
