/* SPDX-License-Identifier: MIT */
/* Divides the layers among the cores of --cores: chooses the groups that are divided, gives each part scratch memory of
 * its own, and makes the forks of the calls. */
#include "driver/driver.h"

#include "lower/count.h"
#include "lower/divide.h"
#include "support/names.h"
#include "support/text.h"

enum { LEAST_GAIN = 200 };           /* the instructions that a fork must save; a fork and its barrier cost 40 each */

int build_cores(const Build *b)
{
    return b->options->cores > 1 && !b->tree.outer && !b->training.is_step && !b->mode.is_trial ? b->options->cores : 1;
}

void build_check_cores(Ctx *cx, const lw_options *o)
{
    const struct { bool is_given; const char *option, *why, *instead; } rows[] = {
        { o->train != NULL, "--train", "a training step runs on one core", "omit one of them" },
        { o->acsl, "--acsl", "the annotations prove one sequence of layers", "omit one of them" },
        { o->memory_count > 0, "--memory", "the placement in several memories counts the accesses of one core",
          "omit --memory, and declare the arena in a memory that all cores reach" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && o->cores > 1; i++)
        if (rows[i].is_given)
            diag_usage(cx, NULL, "--cores and %s exclude each other, because %s; %s", rows[i].option, rows[i].why,
                       rows[i].instead);
}

const Division *build_divide(const Build *b, int group, const Function *f)
{
    const Group *g = &b->groups.at[group];
    if (build_cores(b) == 1 || group_device(g) || b->plan.is_padding[group]) return NULL;
    const Division *d = divide_function(b->cx, f, b->scheduled.nest[group], b->target->costs, build_cores(b));
    return d && division_longest(d) + LEAST_GAIN <= d->whole ? d : NULL;
}

const Division *build_division(const Build *b, int group)
{
    const Function *f = b->lowered.function[group];
    const Division *d = f ? map_get_const_ptr(&b->shared->divided, f) : NULL;
    return d;
}

/* Returns the bytes of one part's copy: parts share no line of a cache. */
int64_t build_part_stride(const Build *b, int64_t bytes)
{
    const int64_t line = b->plan.align > 16 ? b->plan.align : 16;
    return (bytes + line - 1) / line * line;
}

/* Returns true if a part's function can name the place. */
static bool is_in_reach(const Place *p)
{
    return p->kind == PLACE_INPUT || p->kind == PLACE_OUTPUT || p->kind == PLACE_ARENA || p->kind == PLACE_CONST;
}

void build_fork_call(const Build *b, int group, Call *call)
{
    const Division *d = build_division(b, group);
    if (!d) return;
    bool is_forked = !b->tree.outer && !call->partition;
    for (int i = 0; i < call->place_count; i++) is_forked = is_forked && is_in_reach(&call->place[i]);
    int64_t *all = NEW_ARRAY(b->cx->arena, int64_t, 4);
    all[1] = d->moments ? d->moments : d->at[d->parts];
    all[3] = d->at[d->parts];
    call->number = all;
    if (!is_forked) return;
    Fork *fork = NEW(b->cx->arena, Fork);
    int64_t *stride = NEW_ARRAY(b->cx->arena, int64_t, call->place_count);
    int scratch = 0;
    for (int i = 0; i < call->place_count; i++)
        if (is_scratch(call->function->memory[i])) stride[i] = b->lowered.scratch[group][scratch++].stride;
    *fork = (Fork){ build_symbol(b, name_format(b->cx, "%s_part", b->groups.at[group].name)), d->parts, d->at, stride,
                    d->moments, b->plan.overlaps[group] ? d->round : d->moments,
                    b->plan.overlaps[group] ? d->rows : 0, (const int64_t *const *)d->row };
    call->fork = fork;
}
