/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_CONTROL_FLOW_H
#define LW_CGEN_CONTROL_FLOW_H
/* Prints regions for program.c: one function per graph, and an `if` or `for` at each call. */
#include "cgen/device_calls.h"

/* Returns call i of the program: NAME_run's calls come first, then the calls of the bodies. Returns NULL after the last
 * call. */
const Call *program_call(const Program *p, int i);
/* Returns true if a loop may run more iterations than its rows have capacity for. */
bool control_has_limit(const Control *c);
bool control_moves_memory(const Control *c);          /* returns true if its text calls memcpy or memset */
bool control_may_stop(const Control *c);
int call_size_count(const Call *c);

/* Returns the C variable that holds a memory's address, or the arena's, in the function being printed. */
const char *program_memory(const Program *p, int index);
/* Returns the address of the byte at `offset` of the memory with this C name: "memory + kws_conv_1_at + 64", or
 * "memory + 64" without an item. */
const char *arena_address(Ctx *cx, const Program *p, const char *memory, const ArenaItem *item, int64_t offset);
bool program_reads(const Program *p, int constant);        /* returns true if a call reads the constant */
int64_t program_constants(const Program *p);               /* returns the bytes of the constants that calls read */
/* Returns NAME_WEIGHTS_SIZE: the bytes of the constants that calls read, of initial states and of initial
 * parameters. */
int64_t program_weights(const Program *p);
/* Prints the statements of a body; `sizes` spells the body's sizes. */
typedef void PrintCalls(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer, Speller *sizes);
void body_function(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer, PrintCalls *print_calls);
/* Reserves the names of variables that loops among the calls declare. */
void control_reserve(Ctx *cx, Speller *s, const Call *call, int count);
/* Prints the header's notes on loops that may compute fewer rows than their capacity. */
void control_notes(Ctx *cx, Text *t, const Program *p);
void control_call(Ctx *cx, Text *t, const Program *p, const Call *c, Speller *sizes, PrintPlace *print_place);
void layer_mark(Text *t, int number, const char *name);     /* prints LW_LAYER(3, "conv_1") */
const char *layer_label(Ctx *cx, const char *name);        /* returns the name escaped for a C string */
const char *comment_text(Ctx *cx, const char *name);       /* returns the name escaped for a comment */

/* These functions print the parts of --profile: the declarations of model.h, the definitions of model.c, and the
 * statements around the layers. */
void profile_declare(Ctx *cx, Text *t, const Program *p);
void profile_define(Ctx *cx, Text *t, const Program *p);

/* --selftest */
/* Returns true if a function of the self-test calls memcpy or memset. */
bool selftest_moves_memory(const Program *p);
void selftest_declare(Ctx *cx, Text *t, const Program *p);
/* Prints the checksums, and the function that compares them. */
void selftest_define(Ctx *cx, Text *t, const Program *p);
/* Prints the comparisons after call `call`; prints nothing without --selftest. */
void selftest_checks(Ctx *cx, Text *t, const Program *p, int call, PrintPlace *print_place);
/* Prints NAME_run, with this signature, and NAME_selftest. */
void selftest_functions(Ctx *cx, Text *t, const Program *p, const char *run);
#endif
