/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_CLASS_PARTS_H
#define LW_CGEN_CLASS_PARTS_H
/* Parts of model.hpp that features print (features.c). */
#include "cgen/cgen.h"

void class_ports(Ctx *cx, Text *t, const Program *p);       /* accessors of the inputs and outputs in the arena */
void class_arena(Ctx *cx, Text *t, const Program *p);       /* the arena as a member */
#endif
