/* SPDX-License-Identifier: MIT */
#ifndef LW_API_ARGUMENTS_H
#define LW_API_ARGUMENTS_H
/* Checks the arguments of public functions before any work: required values that are NULL or empty, and lists with NULL
 * entries. Each fault is a diagnostic with the function as its place. */
#include "loopwright.h"
#include "support/ctx.h"

/* False, with a diagnostic, if `value` is NULL or "". */
bool is_given(Ctx *cx, const char *function, const char *what, const char *value);
bool are_given(Ctx *cx, const char *function, const char *what, const char *const *list, int count);
/* Returns the options; for NULL, all defaults. Returns NULL if a list has a NULL entry, or after an earlier error. */
const lw_options *options_of(Ctx *cx, const char *function, const lw_options *o);
#endif
