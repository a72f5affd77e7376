/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_SIZES_H
#define LW_SCHEDULE_SIZES_H
/* Conditions on the symbolic sizes of a nest. */
#include "ir/nest/nest.h"

/* Reads a condition over the names of the nest's sizes. On failure returns NULL and sets *fault to the reason and
 * *accepted to a noun phrase. On success *fault is NULL. */
const Expr *condition_of_sizes(Ctx *cx, const Nest *n, const char *text, const char **fault, const char **accepted);
#endif
