/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_MEMORIES_H
#define LW_CGEN_MEMORIES_H
/* Prints the declarations and tests that replace the arena if the firmware has several memories. */
#include "cgen/cgen.h"

/* Prints in model.h sizes, alignments and sections, struct NAME_memories, and macros that declare an array in each
 * memory. */
void memories_declare(Ctx *cx, Text *t, const Program *p);
/* Prints in model.c the static arrays of --static-arena, and the pointers to memories at the start of NAME_run with
 * their tests. */
void memories_static(Ctx *cx, Text *t, const Program *p);
void memories_begin(Ctx *cx, Text *t, const Program *p);
/* Prints the members of a static array's union: one for each type that layers store in the array, so that its declared
 * type covers all accesses. Members of eight bytes are always printed. */
void memory_members(Text *t, const bool used[DTYPE_COUNT], int64_t size);
/* Prints in model_main.c the test bench's own memories between guard bytes, and the test that the guards are intact. */
void memories_of_testbench(Ctx *cx, Text *t, const Program *p);
void memories_test_guards(Ctx *cx, Text *t, const Program *p);
#endif
