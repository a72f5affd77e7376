/* SPDX-License-Identifier: MIT */
#include "ir/interpret.h"

#include "ir/walk.h"

bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const RunOptions plain = { false, 0 };
    if (!options) options = &plain;
    if (ctx_failed(cx) || !n) return false;
    return walk_nest(cx, n, e, options);
}
