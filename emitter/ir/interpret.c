/* SPDX-License-Identifier: MIT */
/* Two engines: where nothing is to be watched or shuffled, the nest is compiled for the sizes and data at hand and run
 * fast; else it is walked. */
#include "ir/interpret.h"

#include "ir/program.h"
#include "ir/walk.h"

/* What the program needs while it runs goes with it, so that a model can be run many times. */
static bool run_program(Ctx *cx, const Nest *n, Env *e)
{
    Arena *arena = arena_beside(cx->arena);
    const bool done = program_run(cx, program_compile(cx, arena, n, e));
    arena_free(arena);
    return done;
}

bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const bool watched = options && (options->checked || options->shuffle);
    if (ctx_failed(cx) || !n) return false;
    return watched ? walk_nest(cx, n, e, options) : run_program(cx, n, e);
}
