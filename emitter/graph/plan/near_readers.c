/* SPDX-License-Identifier: MIT */
/* A group that reads only constants, such as one that converts 4-bit weights to floats, can be computed at any time.
 * The group is moved to its first reader, so its result is not live from the start. */
#include <string.h>

#include "graph/plan/plan.h"

static bool reads_output_of(const Group *reader, const Group *g)
{
    for (int i = 0; i < reader->input_count; i++)
        for (int k = 0; k < g->output_count; k++)
            if (reader->input[i] == g->output[k]) return true;
    return false;
}

/* Returns true if the group is on the host, and each input is a constant or in `known`. */
static bool reads_constants(const Map *known, const Group *g)
{
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_constant(g->input[i]) && !map_get_const_ptr(known, g->input[i])) return false;
    return !group_device(g);
}

/* Moves group `from` to the place before its first reader. An output of the graph may have no reader. */
static void move_to_reader(Groups *groups, int from)
{
    const Group moved = groups->at[from];
    int to = from + 1;
    while (to < groups->count && !reads_output_of(&groups->at[to], &moved)) to++;
    if (to == groups->count) return;
    memmove(&groups->at[from], &groups->at[from + 1], (size_t)(to - 1 - from) * sizeof moved);
    groups->at[to - 1] = moved;
}

Groups groups_near_readers(Ctx *cx, Groups groups)
{
    Map known = map_new(cx->arena);                   /* the tensors computed only from constants */
    int *constant = NEW_ARRAY(cx->arena, int, groups.count), count = 0;
    for (int i = 0; i < groups.count; i++) {
        const Group *g = &groups.at[i];
        if (!reads_constants(&known, g)) continue;
        for (int k = 0; k < g->output_count; k++) map_put_const_ptr(&known, g->output[k], g);
        constant[count++] = i;
    }
    /* Visits groups from the last to the first: groups after a moved group have their final places, and groups before
     * it keep theirs. */
    for (int i = count - 1; i >= 0; i--) move_to_reader(&groups, constant[i]);
    return groups;
}
