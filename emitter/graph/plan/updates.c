/* SPDX-License-Identifier: MIT */
/* Orders groups for updates. An update is an output of the graph that is the new value of an input and takes its
 * memory. All other groups that read the input precede the group that overwrites it. Within these limits updates run as
 * early as possible, because a gradient is live until then. Groups whose results are single elements, which updates may
 * await, run early as well. */
#include "graph/plan/plan.h"

typedef struct UpdateOrder {
    const Graph *graph;
    const Groups *groups;
    Map producer;                      /* maps a tensor to the Group that produces it */
    Map overwritten;                   /* maps a tensor to the Group that computes its new value */
    bool *done, *is_urgent;
    Map reader_of;                     /* maps a tensor to the number of groups that read it and are not done */
} UpdateOrder;

static bool has_single_elements(const Group *g)
{
    for (int i = 0; i < g->output_count; i++)
        if (tensor_elems(g->output[i]) != 1) return false;
    return true;
}

static int *readers(UpdateOrder *o, Ctx *cx, const Tensor *t)
{
    int *n = map_get_ptr(&o->reader_of, t);
    if (!n) map_put_ptr(&o->reader_of, t, n = NEW(cx->arena, int));
    return n;
}

static UpdateOrder order_of(Ctx *cx, const Graph *graph, const Groups *groups)
{
    UpdateOrder o = { .graph = graph, .groups = groups, .producer = map_new(cx->arena),
                      .overwritten = map_new(cx->arena), .reader_of = map_new(cx->arena),
                      .done = NEW_ARRAY(cx->arena, bool, groups->count),
                      .is_urgent = NEW_ARRAY(cx->arena, bool, groups->count) };
    for (int i = 0; i < groups->count; i++) {
        Group *g = &groups->at[i];
        o.is_urgent[i] = has_single_elements(g);
        for (int j = 0; j < g->output_count; j++) map_put_ptr(&o.producer, g->output[j], g);
        for (int j = 0; j < g->input_count; j++) ++*readers(&o, cx, g->input[j]);
    }
    for (int u = 0; u < graph->update_count; u++) {
        Group *g = map_get_ptr(&o.producer, graph->output[graph->update[u].output]);
        if (!g) continue;
        o.is_urgent[g - groups->at] = true;
        map_put_ptr(&o.overwritten, graph->input[graph->update[u].input], g);
    }
    return o;
}

static bool is_input_of(const Group *g, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return true;
    return false;
}

/* Returns true if the group's inputs are computed, and all other groups that read the tensors it overwrites are
 * done. */
static bool is_ready(UpdateOrder *o, Ctx *cx, const Group *g)
{
    for (int i = 0; i < g->input_count; i++) {
        const Group *from = map_get_ptr(&o->producer, g->input[i]);
        if (from && from != g && !o->done[from - o->groups->at]) return false;
    }
    for (int u = 0; u < o->graph->update_count; u++) {
        const Tensor *x = o->graph->input[o->graph->update[u].input];
        if (map_get_ptr(&o->overwritten, x) == g && *readers(o, cx, x) > is_input_of(g, x)) return false;
    }
    return true;
}

static int next_ready(UpdateOrder *o, Ctx *cx)
{
    int first = -1;
    for (int i = 0; i < o->groups->count; i++) {
        if (o->done[i] || (first >= 0 && !o->is_urgent[i]) || !is_ready(o, cx, &o->groups->at[i])) continue;
        if (o->is_urgent[i]) return i;
        first = i;
    }
    return first;
}

/* Returns the first in-out tensor whose update waits for a group that needs the new values too, or -1. */
static int update_that_waits(UpdateOrder *o)
{
    const Graph *g = o->graph;
    for (int u = 0; u < g->update_count; u++) {
        const Group *by = map_get_ptr(&o->overwritten, g->input[g->update[u].input]);
        if (g->update[u].is_inout && by && !o->done[by - o->groups->at]) return u;
    }
    return -1;
}

Groups groups_by_updates(Ctx *cx, const Graph *graph, Groups groups, int *waits)
{
    *waits = -1;
    if (!graph->update_count) return groups;
    UpdateOrder o = order_of(cx, graph, &groups);
    Groups out = { groups.count, NEW_ARRAY(cx->arena, Group, groups.count) };
    for (int i = 0; i < groups.count; i++) {
        const int next = next_ready(&o, cx);
        if (next < 0) {
            *waits = update_that_waits(&o);
            if (*waits < 0) diag_internal(cx, NULL, "an update depends on a group that reads the old value after it");
            return groups;
        }
        o.done[next] = true;
        out.at[i] = groups.at[next];
        for (int j = 0; j < out.at[i].input_count; j++) --*readers(&o, cx, out.at[i].input[j]);
    }
    return out;
}
