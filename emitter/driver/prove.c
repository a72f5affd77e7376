/* SPDX-License-Identifier: MIT */
/* --acsl: annotates the functions of the program. Layers with equal text share a function, so its contract admits the
 * constants of all calls. */
#include "cgen/control_flow.h"
#include "cgen/features.h"
#include "driver/driver.h"
#include "lower/annotate.h"
#include "lower/expand/storage.h"

/* Returns the range of a parameter over all calls, or {0, 0} if a call passes a tensor that is not a constant. */
static Interval range_of(const Program *p, const Function *f, int parameter)
{
    const Interval unknown = { 0, 0 };
    Interval all = unknown;
    const Call *call;
    bool is_first = true;
    for (int i = 0; (call = program_call(p, i)) != NULL; i++) {
        if (call->function != f) continue;
        const Place *place = &call->place[parameter];
        const Tensor *t = place->kind == PLACE_CONST ? p->constant[place->index] : NULL;
        if (!t || t->type != f->memory[parameter]->type) return unknown;
        all = is_first ? constant_range(t) : interval_hull(all, constant_range(t));
        is_first = false;
    }
    return all;
}

static const Function *annotated(const Build *b, const Function *f)
{
    Function *with = arena_copy(b->cx->arena, f, sizeof *f);
    Interval *range = NEW_ARRAY(b->cx->arena, Interval, f->memory_count);
    for (int i = 0; i < f->memory_count; i++) range[i] = range_of(&b->program, f, i);
    with->clauses = function_annotate(b->cx, f, range);
    return with;
}

const char *build_unprovable(const Build *b)
{
    const Features *f = &b->program.features;
    for (int i = 0; i < f->count; i++)
        if (f->at[i]->is_unproved) return f->at[i]->name;
    return NULL;
}

/* Refuses inputs and constants that the program of the proof does not pass to the run. */
static bool is_supported(const Build *b)
{
    const char *other = build_unprovable(b);
    if (other)
        diag_usage(b->cx, NULL, "--acsl and %s exclude each other, because the proof runs the model with ports and "
                                "constants in C arrays; omit one of them", other);
    return !other;
}

void build_prove(Build *b)
{
    Program *p = &b->program;
    if (!p->acsl || !is_supported(b)) return;
    const Function **with = NEW_ARRAY(b->cx->arena, const Function *, p->function_count);
    for (int i = 0; i < p->function_count; i++) {
        for (int k = 0; k < i && !with[i]; k++)
            if (p->function[k] == p->function[i]) with[i] = with[k];
        if (!with[i]) with[i] = annotated(b, p->function[i]);
    }
    p->function = with;
}
