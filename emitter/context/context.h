/* SPDX-License-Identifier: MIT */
#ifndef LW_CONTEXT_CONTEXT_H
#define LW_CONTEXT_CONTEXT_H
#include "support/ctx.h"

/* Returns a context with all built-in rows: the simplifier's rules, operators, targets, implementations, devices. */
Ctx *context_new(OutOfMemory *hook, void *user);   /* parameters of ctx_new; ctx_free frees it */
#endif
