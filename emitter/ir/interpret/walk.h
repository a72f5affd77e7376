/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_WALK_H
#define LW_IR_WALK_H
/* The interpreter's two engines. Walking is slow and watches everything; the program (program.h) is fast. */
#include "ir/interpret/interpret.h"

bool walk_nest(Ctx *cx, const Nest *n, Env *e, const RunOptions *options);
#endif
