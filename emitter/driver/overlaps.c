/* SPDX-License-Identifier: MIT */
/* Finds the outputs that may alias a dying input, for the plan; lower/overlap.c proves it for each function. Candidates
 * are tensors that occupy a whole root of memory, in groups that run on the host. */

/* Decision: strict aliasing holds without a flag. The arena consists of bytes, which layers read as floats and
 * integers. Each tensor is stored before it is loaded, with the same type. In memory without a declared type, the store
 * sets the effective type, so reuse for a different type is defined. `--static-arena` declares a union with an array of
 * each type that is used. If the caller declares the arena as unsigned char, the program relies on gcc and clang, which
 * let every type alias an object of character type. Two tensors of one function share bytes only if their types agree
 * or one has elements of one byte (`may_share_bytes` in `driver/overlaps.c`, `views.c`), because compilers may move a
 * store of one type before a load of another. The comment of `runtime/lw_base.h` has the rules; `tests/emitted.sh` runs
 * networks of mixed types at -O3 with gcc and clang. */
#include "driver/driver.h"

#include "graph/dag/target.h"
#include "lower/overlap.h"

static const Memory *parameter_of(const Function *f, const Tensor *t)
{
    for (int i = 0; t && i < f->memory_count; i++)
        if (f->memory[i]->tensor == t) return f->memory[i];
    return NULL;
}

/* The result of overlap_lead for an input and the output `y` of a function: whether the lead is bounded, and the lead
 * in bytes. */
typedef struct KnownLead { const Memory *y; bool is_bounded; int64_t bytes; } KnownLead;

/* Returns the result of overlap_lead. Caches it, because the candidates of build_combine_for_ram share functions. */
static bool known_lead(const Build *b, const Function *f, const Memory *x, const Memory *y, int64_t *lead)
{
    KnownLead *known = map_get_ptr(&b->shared->lead, x);
    if (!known) {
        known = NEW(b->cx->arena, KnownLead);
        map_put_ptr(&b->shared->lead, x, known);
    }
    if (known->y != y) {
        known->y = y;
        known->is_bounded = overlap_lead(b->cx, f, x, y, &known->bytes);
    }
    *lead = known->bytes;
    return known->is_bounded;
}

/* Finds the largest lead over all inputs of the group in this root; returns false if an input has no bound. */
static bool lead_of_root(const Build *b, int group, const Tensor *root, const Memory *y, int64_t *lead)
{
    const Group *g = &b->groups.at[group];
    bool found = false;
    *lead = 0;
    for (int i = 0; i < g->input_count; i++) {
        const Slot *s = plan_slot(&b->plan, g->input[i]);
        int64_t bytes = 0;
        if (s->root != root) continue;
        const Memory *x = parameter_of(b->lowered.function[group], b->lowered.nest[group]->input[i]);
        if (!x || !plan_is_whole(s)) return false;
        const Division *d = build_division(b, group);
        if (d ? !division_lead(d, x, &bytes) : !known_lead(b, b->lowered.function[group], x, y, &bytes)) return false;
        *lead = bytes > *lead ? bytes : *lead;
        found = true;
    }
    return found;
}

static bool is_repeated(const Group *g, const Plan *p, int input)
{
    for (int i = 0; i < input; i++)
        if (plan_slot(p, g->input[i])->root == plan_slot(p, g->input[input])->root) return true;
    return false;
}

/* Returns true if objects of these types may overlap in C: the types are equal, or elements of one have one byte.
 * Otherwise a compiler may move a store to one object before a load of the other. */
static bool may_share_bytes(DType a, DType b)
{
    return a == b || dtype_info(a)->bytes == 1 || dtype_info(b)->bytes == 1;
}

static int64_t view_bytes(const Slot *s) { return s->view_offset * dtype_info(s->tensor->type)->bytes; }

static void leads_of_group(Build *b, int group)
{
    Plan *p = &b->plan;
    const Group *g = &b->groups.at[group];
    const Slot *y = g->output_count == 1 ? plan_slot(p, g->output[0]) : NULL;
    if (!y || !b->lowered.function[group] || p->in_place[group] || group_device(g)) return;
    const Memory *out = parameter_of(b->lowered.function[group], b->lowered.nest[group]->output[0]);
    if (!out || !y->in_arena || !tensor_is_fixed(y->root)) return;
    for (int i = 0; i < g->input_count; i++) {
        const Slot *x = plan_slot(p, g->input[i]);
        int64_t lead;
        if (!may_share_bytes(x->root->type, y->tensor->type)) continue;
        if (!x->in_arena || x->last != group || x->root == y->root || !tensor_is_fixed(x->root) || is_repeated(g, p, i))
            continue;
        if (!lead_of_root(b, group, x->root, out, &lead)) continue;
        lead += view_bytes(y);
        if (lead < tensor_bytes(y->root)) p->lead[p->lead_count++] = (Lead){ x->root, y->root, group, lead };
    }
}

void build_overlaps(Build *b)
{
    int inputs = 0;
    for (int i = 0; i < b->groups.count; i++) inputs += b->groups.at[i].input_count;
    b->plan.lead = NEW_ARRAY(b->cx->arena, Lead, inputs);
    for (int i = 0; i < b->groups.count; i++) leads_of_group(b, i);
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* Returns true if the group may write `to`, a part of the new value, over the old value that it reads. */
static bool may_shift(const Build *b, int group, const Slot *from, const Slot *to)
{
    const Group *g = &b->groups.at[group];
    if (g->output_count != 1 || g->output[0] != to->tensor || !b->lowered.function[group] || group_device(g)
        || build_division(b, group))
        return false;
    const Memory *y = parameter_of(b->lowered.function[group], b->lowered.nest[group]->output[0]);
    for (int i = 0; y && i < g->input_count; i++) {
        const Slot *s = plan_slot(&b->plan, g->input[i]);
        if (s->root != from->root) continue;
        const Memory *x = parameter_of(b->lowered.function[group], b->lowered.nest[group]->input[i]);
        if (!x || !overlap_shift(b->cx, b->lowered.function[group], x, y, view_bytes(s) - view_bytes(to)))
            return false;
    }
    return y != NULL;
}

/* Returns the group that is the last to read a state's old value and the only one to write its new value, or -1 if
 * there is none. */
static int shifting_group(const Build *b, const Slot *from, const Slot *to, const Slot **part)
{
    int last = -1, first = b->groups.count;
    for (const Slot *s = from; s; s = s->next) last = s->last > last ? s->last : last;
    for (const Slot *s = to; s; s = s->next) {
        /* groups write the parts of a concatenation without a function */
        if (s == to && to->next && b->plan.is_free[s->first]) continue;
        if (s->first == last) *part = s;
        first = s->first < first ? s->first : first;
    }
    return first == last ? last : -1;
}

void build_shifts(Build *b)
{
    if (b->tree.outer || b->training.is_step || b->mode.is_trial) return;
    b->lowered.is_shifted = NEW_ARRAY(b->cx->arena, bool, b->states.count);
    for (int i = 0; i < b->states.count; i++) {
        const Slot *from = plan_slot(&b->plan, b->graph.input[b->states.at[i].input]),
                   *to = plan_slot(&b->plan, b->graph.output[b->states.at[i].output]), *part = NULL;
        if (!from || !to || from->root != from->tensor || to->root != to->tensor
            || from->tensor->type != to->tensor->type)
            continue;
        const int group = shifting_group(b, from, to, &part);
        if (group < 0 || !part || !may_shift(b, group, from, part)) continue;
        b->lowered.is_shifted[i] = true;
        b->lowered.function[group]->may_alias = true;
    }
}
