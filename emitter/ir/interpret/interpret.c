/* SPDX-License-Identifier: MIT */
/* Selects the engine. Without checks, visits or shuffling, the nest is compiled for the given sizes and data, and runs
 * fast. Otherwise it is walked. */
#include "ir/interpret/interpret.h"

#include "ir/interpret/program.h"
#include "ir/interpret/walk.h"
#include "support/guard.h"

/* Compiles and runs the nest. Frees the program's arena after the run, so that repeated runs do not accumulate
 * memory. */
static bool run_program(Ctx *cx, const Nest *n, Env *e, int64_t *ran)
{
    Arena *arena = arena_beside(cx->arena);
    Resource held;
    resource_hold_arena(cx, &held, arena);
    const bool done = program_run(cx, program_compile(cx, arena, n, e, ran));
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

/* Runs the other version on the same inputs. The outputs of the other version become the outputs of this version. */
static bool interpret_other(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const Nest *other = n->otherwise;
    same_values(e, n->input, other->input, n->input_count);
    same_values(e, n->output, other->output, n->output_count);
    if (!interpret(cx, other, e, options)) return false;
    same_values(e, other->output, n->output, n->output_count);
    return true;
}

/* Returns true if the nest contracts multiplications and additions. Lanes cannot contract, so such a nest is walked. */
static bool contracts_any(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (nest_contracts(n, n->stage[i])) return true;
    return false;
}

bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    const bool watched = options && (options->checked || options->shuffle || options->visit || options->copies);
    if (ctx_failed(cx) || !n) return false;
    if (n->otherwise && !env_eval_size(cx, e, n->when)) return interpret_other(cx, n, e, options);
    for (int i = 0; i < n->range_count; i++)
        env_set_size(e, n->range[i].within, env_eval_size(cx, e, n->range[i].size));
    const RunOptions plain = { .checked = false };
    if (!options) options = &plain;
    return watched || contracts_any(n) ? walk_nest(cx, n, e, options) : run_program(cx, n, e, options->ran);
}

struct Loop *interpret_compile(Ctx *cx, const Nest *n, Env *e)
{
    return ctx_failed(cx) || n->otherwise || contracts_any(n) ? NULL : program_compile(cx, env_arena(e), n, e, NULL);
}

bool interpret_compiled(Ctx *cx, struct Loop *program) { return program_run(cx, program); }
