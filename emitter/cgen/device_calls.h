/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_DEVICE_CALLS_H
#define LW_CGEN_DEVICE_CALLS_H
/* Prints the partitions of foreign devices for program.c. */
#include "cgen/cgen.h"
#include "cgen/spell.h"

typedef void PrintCall(Ctx *cx, Text *t, const Program *p, const Call *c);
typedef const char *PrintPlace(Ctx *cx, const Program *p, const Place *at, const Memory *m);

/* Prints a function or constant. An #if excludes the constant from compilation if only defaults of devices with drivers
 * use it. */
void partition_function(Ctx *cx, Text *t, const Program *p, const Function *f, const char *text);
void partition_constant(Ctx *cx, Text *t, const Program *p, int constant, const char *text);
void partition_prototypes(Ctx *cx, Text *t, const Program *p);
void partition_defaults(Ctx *cx, Text *t, const Program *p, PrintCall *print_call);
void partition_call(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *memory, Speller *sizes,
                    PrintPlace *print_place);
/* Returns a speller that names the open sizes as the partition's function does; all of them are parameters. */
Speller partition_speller(Ctx *cx, const Program *p, const Partition *d);
#endif
