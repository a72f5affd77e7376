/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_LOWER_H
#define LW_LOWER_LOWER_H
/* Lowers a scheduled nest to code: storage, then the passes of passes.def in order. */
#include "lower/expand/options.h"

const Function *lower_nest(Ctx *cx, const Nest *n, const LowerOptions *options);

/* For `loopwright passes` and --time-passes. */
typedef struct LowerPass {
    const char *name, *what;
    const Code *(*run)(Ctx *cx, const LowerOptions *o, const Code *c);
} LowerPass;
const LowerPass *lower_passes(int *count);
#endif
