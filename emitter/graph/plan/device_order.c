/* SPDX-License-Identifier: MIT */
/* Reorders groups so that the groups of one device are consecutive as far as dependences allow. Each such sequence
 * becomes one function of the emitted program (driver/device_functions.c). */
#include "graph/plan/plan.h"

const char *group_device(const Group *g) { return g->node_count ? g->node[0]->device : NULL; }

const CompositeMatch *group_match(const Group *g) { return g->node_count ? g->node[0]->match : NULL; }

bool copies_between_devices(const Group *g)
{
    return g->node_count && g->node[0]->kind == NODE_CALL && g->node[0]->op->fusion.is_device_copy;
}

bool groups_are_together(const Group *a, const Group *b)
{
    return group_device(a) && group_device(a) == group_device(b) && group_match(a) == group_match(b);
}

typedef struct Order { const Groups *groups; Map producer; bool *done; } Order;

/* Returns true if the producers of the group's inputs are done. Groups of the match `within` count as done, because one
 * function runs the whole match. */
static bool is_ready(const Order *o, const Group *g, const CompositeMatch *within)
{
    for (int i = 0; i < g->input_count; i++) {
        const Group *from = map_get_ptr(&o->producer, g->input[i]);
        if (from && !o->done[from - o->groups->at] && !(within && group_match(from) == within)) return false;
    }
    return true;
}

/* Returns true if all groups of the match can run, one after the other. */
static bool is_match_ready(const Order *o, const CompositeMatch *match)
{
    for (int i = 0; i < o->groups->count; i++)
        if (group_match(&o->groups->at[i]) == match && !is_ready(o, &o->groups->at[i], match)) return false;
    return true;
}

/* Returns the first ready group of the given device, or of any device. A match starts only when all its groups can
 * run. */
static int next_ready(const Order *o, bool of_any, const char *device)
{
    for (int i = 0; i < o->groups->count; i++) {
        const Group *g = &o->groups->at[i];
        const CompositeMatch *match = group_match(g);
        if (o->done[i] || (!of_any && group_device(g) != device) || !is_ready(o, g, NULL)) continue;
        if (!match || is_match_ready(o, match)) return i;
    }
    return -1;
}

/* Returns the first ready group of the match, or -1 if the match is complete. */
static int next_of_match(const Order *o, const CompositeMatch *match)
{
    for (int i = 0; match && i < o->groups->count; i++)
        if (!o->done[i] && group_match(&o->groups->at[i]) == match && is_ready(o, &o->groups->at[i], NULL)) return i;
    return -1;
}

/* Reorders the groups. The next group belongs to the current match. Otherwise it belongs to the current device if that
 * has a ready group, otherwise to the host, otherwise to a different device. */
Groups groups_by_device(Ctx *cx, Groups groups)
{
    bool any = false;
    Order o = { &groups, map_new(cx->arena), NEW_ARRAY(cx->arena, bool, groups.count) };
    Groups out = { groups.count, NEW_ARRAY(cx->arena, Group, groups.count) };
    for (int i = 0; i < groups.count; i++) {
        any = any || group_device(&groups.at[i]);
        for (int j = 0; j < groups.at[i].output_count; j++)
            map_put_ptr(&o.producer, groups.at[i].output[j], &groups.at[i]);
    }
    if (!any) return groups;
    const char *device = NULL;
    const CompositeMatch *match = NULL;
    for (int i = 0; i < groups.count; i++) {
        int next = next_of_match(&o, match);
        if (next < 0) next = next_ready(&o, false, device);
        if (next < 0 && device) next = next_ready(&o, false, NULL);
        if (next < 0) next = next_ready(&o, true, NULL);
        o.done[next] = true;
        out.at[i] = groups.at[next];
        device = group_device(&groups.at[next]);
        match = group_match(&groups.at[next]);
    }
    return out;
}
