/* SPDX-License-Identifier: MIT */
#ifndef FRESH_H
#define FRESH_H
/* A fresh context for each input, without its construction. */
#include "support/ctx.h"

/* The process's one context, with the tables of operators, targets and rules alone: everything allocated since the last
 * call is released. */
Ctx *fresh_context(void);

#endif
