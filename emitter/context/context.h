/* SPDX-License-Identifier: MIT */
#ifndef LW_CONTEXT_CONTEXT_H
#define LW_CONTEXT_CONTEXT_H
#include "support/ctx.h"

/* A context that knows all that is built in: the simplifier's rules, operators, targets, implementations, devices. */
Ctx *context_new(OutOfMemory *hook, void *user);   /* as ctx_new; ended by ctx_free */
#endif
