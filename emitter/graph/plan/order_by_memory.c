/* SPDX-License-Identifier: MIT */
/* Orders the groups of a training step so that few bytes are live at once.
 *
 * A target is a group, or all readers of a tensor. A target includes the groups that must run before and are not done:
 * producers of inputs, and readers of tensors that are overwritten. Targets that leave no more bytes live than before
 * have precedence; if there is none, all targets compete. Among these, the target with the lowest peak runs first. A
 * recomputed tensor is therefore computed when its reader can run, and dies before the next one is computed.
 *
 * Bytes are counted for whole tensors. A group allocates its outputs, except new values, views, and one output that has
 * the size of a dying input and takes the input's memory. */
#include <string.h>

#include "graph/plan/plan.h"

enum { MOST_GROUPS = 400 };            /* the limit exists because the search is cubic */

/* A tensor that groups exchange. */
typedef struct Wire { int64_t bytes; int readers; /* the number of readers that are not done */ } Wire;

typedef struct MemoryOrder {
    const Graph *graph;
    const Groups *groups;
    Map wire, producer;                /* map a tensor to its Wire, and to the Group that produces it */
    bool *done, *seen;                 /* [groups]; `seen` marks the groups of the current target */
    int run_count, *run;               /* the groups of a target, in order */
    int64_t live;
} MemoryOrder;

typedef struct Cost { int64_t peak, live; int groups; } Cost;

static Wire *wire_of(const MemoryOrder *o, const Tensor *t) { return map_get_ptr(&o->wire, t); }

static bool is_view(const Group *g)
{
    return g->node_count == 1 && g->node[0]->kind == NODE_CALL && g->node[0]->op->layout.is_view;
}

static bool reads(const Group *g, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return true;
    return false;
}

/* Returns the tensor whose memory holds t. A view is in the memory of its input, so the input is live until all readers
 * of the view are done. */
static const Tensor *root_of(const MemoryOrder *o, const Tensor *t)
{
    const Group *g = map_get_ptr(&o->producer, t);
    while (g && is_view(g)) {
        t = g->input[0];
        g = map_get_ptr(&o->producer, t);
    }
    return t;
}

static MemoryOrder order_of(Ctx *cx, const Graph *graph, const Groups *groups)
{
    MemoryOrder o = { .graph = graph, .groups = groups, .wire = map_new(cx->arena), .producer = map_new(cx->arena),
                      .done = NEW_ARRAY(cx->arena, bool, groups->count),
                      .seen = NEW_ARRAY(cx->arena, bool, groups->count),
                      .run = NEW_ARRAY(cx->arena, int, groups->count) };
    for (int i = 0; i < groups->count; i++)
        for (int k = 0; k < groups->at[i].output_count; k++) {
            const Tensor *t = groups->at[i].output[k];
            Wire *w = NEW(cx->arena, Wire);
            w->bytes = graph_has_output(graph, t) || is_view(&groups->at[i]) ? 0 : tensor_bytes(t);
            map_put_const_ptr(&o.wire, t, w);
            map_put_const_ptr(&o.producer, t, &groups->at[i]);
        }
    for (int i = 0; i < groups->count; i++)
        for (int k = 0; k < groups->at[i].input_count; k++) {
            Wire *w = wire_of(&o, root_of(&o, groups->at[i].input[k]));
            if (w) w->readers++;
        }
    return o;
}

static void add_to_run(MemoryOrder *o, int index);

/* Appends the groups that read the old values which the group overwrites. */
static void add_readers(MemoryOrder *o, const Group *g)
{
    const Graph *graph = o->graph;
    for (int u = 0; u < graph->update_count; u++) {
        if (map_get_ptr(&o->producer, graph->output[graph->update[u].output]) != g) continue;
        const Tensor *old = graph->input[graph->update[u].input];
        for (int i = 0; i < o->groups->count; i++)
            if (reads(&o->groups->at[i], old)) add_to_run(o, i);
    }
}

/* Appends the group after all groups that it awaits. */
static void add_to_run(MemoryOrder *o, int index)
{
    const Group *g = &o->groups->at[index];
    if (o->done[index] || o->seen[index]) return;
    o->seen[index] = true;
    for (int i = 0; i < g->input_count; i++) {
        const Group *from = map_get_ptr(&o->producer, g->input[i]);
        if (from && from != g) add_to_run(o, (int)(from - o->groups->at));
    }
    add_readers(o, g);
    o->run[o->run_count++] = index;
}

/* Runs one group: allocates its outputs, then frees the tensors that it reads last. */
static void run_group(MemoryOrder *o, int index, Cost *c)
{
    const Group *g = &o->groups->at[index];
    int64_t allocated = 0, freed = 0, taken = 0;
    for (int k = 0; k < g->output_count; k++) {
        const Wire *w = wire_of(o, g->output[k]);
        if (w->readers) allocated += w->bytes;
    }
    for (int k = 0; k < g->input_count; k++) {
        Wire *w = wire_of(o, root_of(o, g->input[k]));
        if (!w || --w->readers) continue;
        freed += w->bytes;
        if (g->output_count == 1 && w->bytes == allocated) taken = allocated;
    }
    if (c->live + allocated - taken > c->peak) c->peak = c->live + allocated - taken;
    c->live += allocated - freed;
    c->groups++;
}

static void undo_group(MemoryOrder *o, int index)
{
    const Group *g = &o->groups->at[index];
    for (int k = 0; k < g->input_count; k++) {
        Wire *w = wire_of(o, root_of(o, g->input[k]));
        if (w) w->readers++;
    }
}

/* Appends the groups of a target. A target >= groups->count represents all readers of the tensors that a group
 * produces; after them these tensors are dead. */
static void add_target(MemoryOrder *o, int target)
{
    const int count = o->groups->count;
    const Group *g = &o->groups->at[target % count];
    if (target < count) add_to_run(o, target);
    for (int k = 0; target >= count && k < g->output_count; k++)
        for (int i = 0; i < count; i++)
            if (reads(&o->groups->at[i], g->output[k])) add_to_run(o, i);
}

static Cost cost_of(MemoryOrder *o, int target)
{
    Cost c = { o->live, o->live, 0 };
    memset(o->seen, 0, (size_t)o->groups->count * sizeof *o->seen);
    o->run_count = 0;
    add_target(o, target);
    for (int i = 0; i < o->run_count; i++) run_group(o, o->run[i], &c);
    for (int i = o->run_count - 1; i >= 0; i--) undo_group(o, o->run[i]);
    return c;
}

static bool is_better(const MemoryOrder *o, const Cost *a, const Cost *b)
{
    const bool frees = a->live <= o->live, freed = b->live <= o->live;
    if (frees != freed) return frees;
    if (a->peak != b->peak) return a->peak < b->peak;
    return a->live != b->live ? a->live < b->live : a->groups > b->groups;
}

static int best_target(MemoryOrder *o)
{
    int best = -1;
    Cost least = { 0 };
    for (int i = 0; i < 2 * o->groups->count; i++) {
        const Cost c = cost_of(o, i);
        if (!c.groups) continue;
        if (best >= 0 && !is_better(o, &c, &least)) continue;
        best = i;
        least = c;
    }
    return best;
}

Groups groups_by_memory(Ctx *cx, const Graph *graph, Groups groups)
{
    if (groups.count > MOST_GROUPS) return groups;
    MemoryOrder o = order_of(cx, graph, &groups);
    Groups out = { 0, NEW_ARRAY(cx->arena, Group, groups.count) };
    while (out.count < groups.count) {
        cost_of(&o, best_target(&o));                /* fills o.run with the groups of the best target */
        Cost c = { o.live, o.live, 0 };
        for (int i = 0; i < o.run_count; i++) {
            run_group(&o, o.run[i], &c);
            o.done[o.run[i]] = true;
            out.at[out.count++] = groups.at[o.run[i]];
        }
        o.live = c.live;
    }
    return out;
}
