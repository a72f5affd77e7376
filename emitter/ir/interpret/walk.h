/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_WALK_H
#define LW_IR_INTERPRET_WALK_H
/* The interpreter's two engines. The walk is slow and checks every access; the program (program.h) is fast. */
#include "ir/interpret/interpret.h"

bool walk_nest(Ctx *cx, const Nest *n, Env *e, const RunOptions *options);
#endif
