/* SPDX-License-Identifier: MIT */
#include "context/context.h"

#include "context/builtin_rows.h"
#include "ir/text/read_rules.h"

Ctx *context_new(OutOfMemory *hook, void *user)
{
    Ctx *cx = ctx_new(hook, user);
    if (!cx) return NULL;
    cx->read_rules = rules_read;
    cx->rows = &builtin_rows;
    cx->instruction_rows = builtin_instructions;
    return cx;
}
