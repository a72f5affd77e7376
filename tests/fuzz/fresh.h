/* SPDX-License-Identifier: MIT */
#ifndef FRESH_H
#define FRESH_H
/* A context as new for each input, without making it anew. */
#include "support/ctx.h"

/* The process's one context, holding nothing but the tables of operators, targets and rules: everything that was made
 * since the last call is gone. */
Ctx *fresh_context(void);

#endif
