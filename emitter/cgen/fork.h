/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_FORK_H
#define LW_CGEN_FORK_H
/* Prints the parts of layers that cores compute at once (--cores). */
#include "cgen/cgen.h"

bool forks_any(const Program *p);
/* Prints struct NAME_fork, the pointers that parts receive. */
void fork_declare(Ctx *cx, Text *t, const Program *p);
/* Prints the variable of this struct in NAME_run. */
void fork_begin(Ctx *cx, Text *t, const Program *p);
/* Prints the function of a call's parts. `call` is the text of the call of one part. */
void fork_function(Ctx *cx, Text *t, const Program *p, const Call *c, const char *call);
const char *fork_numbers(Ctx *cx, const Fork *f);            /* the arguments of one part */
void fork_call(Text *t, const Program *p, const Call *c);
#endif
