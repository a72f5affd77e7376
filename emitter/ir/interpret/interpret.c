/* SPDX-License-Identifier: MIT */
/* Two engines: where nothing is to be watched or shuffled, the nest is compiled for the sizes and data at hand and run
 * fast; else it is walked. */
#include "ir/interpret/interpret.h"

#include "ir/interpret/program.h"
#include "ir/interpret/walk.h"
#include "support/guard.h"

static void release_arena(void *arena) { arena_free(arena); }

/* What the program needs while it runs goes with it, so that a model can be run many times. */
static bool run_program(Ctx *cx, const Nest *n, Env *e)
{
    Arena *arena = arena_beside(cx->arena);
    Resource held;
    resource_hold(cx, &held, release_arena, arena);
    const bool done = program_run(cx, program_compile(cx, arena, n, e));
    resource_drop(cx, &held);
    return done;
}

static void same_values(Env *e, Tensor *const *from, Tensor *const *to, int count)
{
    for (int i = 0; i < count; i++) {
        const void *data = env_get(e, from[i]);
        if (data) env_set_const(e, to[i], data);
    }
}

/* The other version on the same inputs; what it gives for outputs goes to this one's. */
static bool interpret_other(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const Nest *other = n->otherwise;
    same_values(e, n->input, other->input, n->input_count);
    same_values(e, n->output, other->output, n->output_count);
    if (!interpret(cx, other, e, options)) return false;
    same_values(e, other->output, n->output, n->output_count);
    return true;
}

/* Lanes have no operation that combines a product and what is there: such a nest is walked. */
static bool contracts_any(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (nest_contracts(n, n->stage[i])) return true;
    return false;
}

bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const bool watched = options && (options->checked || options->shuffle || options->visit);
    if (ctx_failed(cx) || !n) return false;
    if (n->otherwise && !env_eval_size(cx, e, n->when)) return interpret_other(cx, n, e, options);
    const RunOptions plain = { .checked = false };
    return watched || contracts_any(n) ? walk_nest(cx, n, e, options ? options : &plain) : run_program(cx, n, e);
}
