/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_STATE_H
#define LW_CGEN_STATE_H
/* Prints the parts of model.h and model.c for state between runs: the struct, NAME_reset, and the macros of
 * --stream. */
#include "cgen/cgen.h"

/* Returns true if a state has two arrays that alternate from run to run. */
bool state_alternates(const Program *p);
void state_rows(Ctx *cx, Text *t, const Program *p);
void state_declare(Ctx *cx, Text *t, const Program *p);
void stream_declare(Ctx *cx, Text *t, const Program *p);
void state_define(Ctx *cx, Text *t, const Program *p);
#endif
