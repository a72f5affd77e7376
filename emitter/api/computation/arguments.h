/* SPDX-License-Identifier: MIT */
#ifndef LW_API_ARGUMENTS_H
#define LW_API_ARGUMENTS_H
/* Checks the arguments of public functions before any work: required values must not be NULL or empty, and lists must
 * not have NULL entries. Each fault is a diagnostic with the function as its place. */
#include "loopwright.h"
#include "support/ctx.h"

/* Returns false, with a diagnostic, if `value` is NULL or "". */
bool is_given(Ctx *cx, const char *function, const char *what, const char *value);
bool are_given(Ctx *cx, const char *function, const char *what, const char *const *list, int count);
/* Returns the options, or all defaults if the options are NULL. Returns NULL if a list has a NULL entry, or if an error
 * was reported before. */
const lw_options *options_of(Ctx *cx, const char *function, const lw_options *o);
#endif
