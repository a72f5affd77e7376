/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_MEMORIES_H
#define LW_CGEN_MEMORIES_H
/* Prints the arena, or the declarations and tests that replace it if the firmware has several memories. */
#include "cgen/features.h"

/* Returns the address of the memory in which the ports are (--io), a void * or bytes: "arena", "memory->dtcm". */
const char *memory_of_ports(Ctx *cx, const Program *p, ArgumentOf of);
/* Returns true if a call of the run, except those in bodies, has an argument in the arena. */
bool program_uses_arena(const Program *p);
/* model.h: the macros of the arena's size, the macros that declare it, and both for NAME_train */
void arena_sizes(Ctx *cx, Text *t, const Program *p);
void arena_declare(Ctx *cx, Text *t, const Program *p);
void arena_of_training(Ctx *cx, Text *t, const Program *p);
/* model.c: the array of --static-arena, and in NAME_run the pointer to the arena and its test */
void arena_static(Ctx *cx, Text *t, const Program *p);
void arena_begin(Ctx *cx, Text *t, const Program *p);
void arena_test(Ctx *cx, Text *t, const Program *p);

/* Prints in model.h sizes, alignments and sections, struct NAME_memories, and macros that declare an array in each
 * memory. */
void memories_declare(Ctx *cx, Text *t, const Program *p);
/* Prints in model.c the static arrays of --static-arena, and the pointers to memories at the start of NAME_run with
 * their tests. */
void memories_static(Ctx *cx, Text *t, const Program *p);
void memories_begin(Ctx *cx, Text *t, const Program *p);
/* Prints in model_main.c the test bench's own memories between guard bytes, and the test that the guards are intact. */
void memories_of_testbench(Ctx *cx, Text *t, const Program *p);
void memories_test_guards(Ctx *cx, Text *t, const Program *p);
#endif
