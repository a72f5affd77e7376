/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_PARTITION_H
#define LW_CGEN_PARTITION_H
/* What program.c prints for the partitions of foreign devices. */
#include "cgen/cgen.h"
#include "cgen/spell.h"

typedef void PrintCall(Ctx *cx, Text *t, const Program *p, const Call *c);
typedef const char *PrintPlace(Ctx *cx, const Program *p, const Place *at, const Memory *m);

/* The text of a function or constant, not compiled where only devices with drivers of their own would use it. */
void partition_function(Ctx *cx, Text *t, const Program *p, const Function *f, const char *text);
void partition_constant(Ctx *cx, Text *t, const Program *p, int constant, const char *text);
void partition_prototypes(Ctx *cx, Text *t, const Program *p);
void partition_defaults(Ctx *cx, Text *t, const Program *p, PrintCall *print_call);
void partition_call(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *memory, const Speller *sizes, PrintPlace *print_place);
/* The names of the open sizes, all of which are parameters, as they are in the partition's function. */
Speller partition_speller(Ctx *cx, const Program *p, const Partition *d);
#endif
