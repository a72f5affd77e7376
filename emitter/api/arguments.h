/* SPDX-License-Identifier: MIT */
#ifndef LW_API_ARGUMENTS_H
#define LW_API_ARGUMENTS_H
/* Arguments of the public functions are checked before anything is done: NULL or empty where a value has to be, a list
 * with a hole. Each fault is a diagnostic whose place is the function. */
#include "loopwright.h"
#include "support/ctx.h"

/* False, with a diagnostic, where `value` is NULL or "". */
bool is_given(Ctx *cx, const char *function, const char *what, const char *value);
bool are_given(Ctx *cx, const char *function, const char *what, const char *const *list, int count);
/* NULL is all defaults. Returns NULL where a list of the options has a hole, or an error came before. */
const lw_options *options_of(Ctx *cx, const char *function, const lw_options *o);
#endif
