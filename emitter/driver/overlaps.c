/* SPDX-License-Identifier: MIT */
/* Where an output may lie over an input that dies: what lower/overlap.c says of each function, for the plan. Only of tensors that are
 * the whole of their memory, between groups that run here, in the order of their loops. */
#include "driver/driver.h"

#include "graph/dag/target.h"
#include "lower/overlap.h"

static const Memory *parameter_of(const Function *f, const Tensor *t)
{
    for (int i = 0; i < f->memory_count; i++)
        if (f->memory[i]->tensor == t) return f->memory[i];
    return NULL;
}

/* Of all inputs of the group that lie in the root; false: one of them tells nothing. */
static bool lead_of_root(Build *b, int group, const Tensor *root, const Memory *y, int64_t *lead)
{
    const Group *g = &b->groups.at[group];
    bool found = false;
    *lead = 0;
    for (int i = 0; i < g->input_count; i++) {
        const Slot *s = plan_slot(&b->plan, g->input[i]);
        int64_t bytes = 0;
        if (s->root != root) continue;
        const Memory *x = parameter_of(b->function[group], b->lowered[group]->input[i]);
        if (!x || !plan_is_whole(s) || !overlap_lead(b->cx, b->function[group], x, y, &bytes)) return false;
        *lead = bytes > *lead ? bytes : *lead;
        found = true;
    }
    return found;
}

static bool was_asked(const Group *g, const Plan *p, int input)
{
    for (int i = 0; i < input; i++)
        if (plan_slot(p, g->input[i])->root == plan_slot(p, g->input[input])->root) return true;
    return false;
}

/* C takes it that memory of different types lies apart, but for characters: a compiler may write the one before it reads the other. */
static bool may_share_bytes(DType a, DType b)
{
    return a == b || dtype_info(a)->bytes == 1 || dtype_info(b)->bytes == 1;
}

static void leads_of_group(Build *b, int group)
{
    Plan *p = &b->plan;
    const Group *g = &b->groups.at[group];
    const Slot *y = g->output_count == 1 ? plan_slot(p, g->output[0]) : NULL;
    if (!y || !b->function[group] || p->in_place[group] || group_device(g)) return;
    const Memory *out = parameter_of(b->function[group], b->lowered[group]->output[0]);
    if (!out || !y->in_arena || y->root != y->tensor || !tensor_is_fixed(y->tensor)) return;
    for (int i = 0; i < g->input_count; i++) {
        const Slot *x = plan_slot(p, g->input[i]);
        int64_t lead;
        if (!may_share_bytes(x->root->type, y->tensor->type)) continue;
        if (!x->in_arena || x->last != group || x->root == y->root || !tensor_is_fixed(x->root) || was_asked(g, p, i))
            continue;
        if (lead_of_root(b, group, x->root, out, &lead) && lead < tensor_bytes(y->tensor))
            p->lead[p->lead_count++] = (Lead){ x->root, y->root, group, lead };
    }
}

void build_overlaps(Build *b)
{
    int inputs = 0;
    for (int i = 0; i < b->groups.count; i++) inputs += b->groups.at[i].input_count;
    b->plan.lead = NEW_ARRAY(b->cx->arena, Lead, inputs);
    for (int i = 0; i < b->groups.count; i++) leads_of_group(b, i);
}
