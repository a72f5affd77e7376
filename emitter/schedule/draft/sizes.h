/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_SIZES_H
#define LW_SCHEDULE_SIZES_H
/* Conditions on the values that a nest receives: its symbolic sizes, and elements of its inputs. */
#include "ir/nest/nest.h"

/* Read a condition over the names of the nest's sizes; condition_of_run also permits elements of inputs at constant
 * indices. On failure return NULL and set *fault to the reason and *accepted to a noun phrase. On success *fault is
 * NULL. */
const Expr *condition_of_sizes(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted);
const Expr *condition_of_run(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted);
#endif
