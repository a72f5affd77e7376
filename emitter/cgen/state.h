/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_STATE_H
#define LW_CGEN_STATE_H
/* What state between runs adds to model.h and model.c: the struct, NAME_reset, the macros of --stream. */
#include "cgen/cgen.h"

bool state_alternates(const Program *p);       /* a state has two arrays that alternate from run to run */
void state_rows(Ctx *cx, Text *t, const Program *p, const char *prefix);
void state_declare(Ctx *cx, Text *t, const Program *p, const char *prefix);
void stream_declare(Ctx *cx, Text *t, const Program *p, const char *prefix);
void state_define(Ctx *cx, Text *t, const Program *p, const char *prefix);
#endif
