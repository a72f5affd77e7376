/* SPDX-License-Identifier: MIT */
/* Reorders groups so that those of one device are consecutive as far as dependences allow. Each such sequence becomes
 * one function of the emitted program (driver/device_functions.c). */
#include "graph/plan/plan.h"

const char *group_device(const Group *g) { return g->node_count ? g->node[0]->device : NULL; }

static bool is_ready(const Map *producer, const bool *done, const Group *g, const Group *first)
{
    for (int i = 0; i < g->input_count; i++) {
        const Group *from = map_get_ptr(producer, g->input[i]);
        if (from && !done[from - first]) return false;
    }
    return true;
}

/* Returns the first ready group, of the given device or of any. */
static int next_ready(const Groups *groups, const Map *producer, const bool *done, bool of_any, const char *device)
{
    for (int i = 0; i < groups->count; i++)
        if (!done[i] && (of_any || group_device(&groups->at[i]) == device)
            && is_ready(producer, done, &groups->at[i], groups->at))
            return i;
    return -1;
}

/* Continues with the current device while it has a ready group; then with all ready host groups; then with another
 * device. */
Groups groups_by_device(Ctx *cx, Groups groups)
{
    bool any = false, *done = NEW_ARRAY(cx->arena, bool, groups.count);
    Map producer = map_new(cx->arena);
    Groups out = { groups.count, NEW_ARRAY(cx->arena, Group, groups.count) };
    for (int i = 0; i < groups.count; i++) {
        any = any || group_device(&groups.at[i]);
        for (int j = 0; j < groups.at[i].output_count; j++)
            map_put_ptr(&producer, groups.at[i].output[j], &groups.at[i]);
    }
    if (!any) return groups;
    const char *device = NULL;
    for (int i = 0; i < groups.count; i++) {
        int next = next_ready(&groups, &producer, done, false, device);
        if (next < 0 && device) next = next_ready(&groups, &producer, done, false, NULL);
        if (next < 0) next = next_ready(&groups, &producer, done, true, NULL);
        done[next] = true;
        out.at[i] = groups.at[next];
        device = group_device(&groups.at[next]);
    }
    return out;
}
