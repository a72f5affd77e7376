/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_LOWER_H
#define LW_LOWER_LOWER_H
/* Lowers a scheduled nest to code: storage, then the passes of passes.def in order. The final passes make code that
 * cgen prints; functions are merged before (merge.h). */
#include "lower/expand/options.h"

const Function *lower_nest(Ctx *cx, const Nest *n, const LowerOptions *options);
/* Returns the function with its code after the final passes. options may be NULL; only `until` and `watch` are used. */
const Function *lower_final(Ctx *cx, const Function *f, const LowerOptions *options);

/* A row for `loopwright passes` and --time-passes. */
typedef struct LowerPass {
    const char *name, *what;
    const Code *(*run)(Ctx *cx, const LowerOptions *o, const Code *c);
    bool is_final;
} LowerPass;
const LowerPass *lower_passes(int *count);
bool lower_is_final(const char *pass);                           /* returns false for names that are not passes */
#endif
