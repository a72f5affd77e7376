/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_EXTERNALS_H
#define LW_CGEN_EXTERNALS_H
#include "cgen/cgen.h"

/* Prints the prototypes of the C functions from outside that the program calls. */
void externals_declare(Ctx *cx, Text *t, const Program *p);
#endif
