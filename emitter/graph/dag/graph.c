/* SPDX-License-Identifier: MIT */
/* Walks and rebuilds the DAG. Nodes are immutable: a pass that replaces one copies all nodes that depend on it, in the
 * same order, which preserves the model's execution order. */
#include "graph/dag/region.h"

#include <string.h>

#include "support/map.h"

int graph_order(Ctx *cx, const Graph *g, Node ***out) { return dag_order(cx, g->output, g->output_count, out); }

static Tensor *mapped(const Map *m, Tensor *t)
{
    Tensor *to = t ? map_get_ptr(m, t) : NULL;
    return to ? to : t;
}

Node *node_over(Ctx *cx, const Node *n, Tensor *const *in)
{
    Node *copy = n->kind == NODE_REGION ? region_new(cx, n->name, n->region, in, n->in_count)
                                        : op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    for (int i = 0; copy && i < n->out_count; i++) {
        copy->out[i]->name = n->out[i]->name;
        copy->out[i]->quant = n->out[i]->quant;
    }
    if (copy) copy->device = n->device;
    if (copy) copy->from = n->from;
    return copy;
}

struct Uses { Map count; const Target *target; bool keeps_dropout, keeps_norms; };

static void use(Ctx *cx, Uses *u, const Tensor *t)
{
    int *n = map_get_ptr(&u->count, t);
    if (!n) map_put_ptr(&u->count, t, n = NEW(cx->scratch, int));
    ++*n;
}

/* For each mark of a grid, counts one use of the marked tensor. If dead calls that only move elements compute the
 * tensor, counts a use of their live input instead. */
static void use_marked(Ctx *cx, Uses *u, const Graph *g)
{
    for (int i = 0; i < g->mark_count; i++) {
        const Tensor *t = g->mark[i].tensor;
        const Node *n;
        while (!map_get_ptr(&u->count, t) && (n = t->producer) != NULL && n->kind == NODE_CALL && n->in_count == 1
               && n->op->quantization.moves_elements) t = n->in[0];
        if (g->mark[i].annotation->op->quantization.grid == GRID_SIMULATE) use(cx, u, t);
    }
}

/* Returns the number of uses of each tensor, in scratch memory, which lives as long as the rewrite. */
static Uses *graph_uses(Ctx *cx, const Graph *g)
{
    Node **order;
    int count = graph_order(cx, g, &order);
    Uses *u = NEW(cx->scratch, Uses);
    u->count = map_new(cx->scratch);
    u->target = g->target;
    u->keeps_dropout = g->keeps_dropout;
    u->keeps_norms = g->keeps_norms;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < order[i]->in_count; j++)
            if (order[i]->in[j]) use(cx, u, order[i]->in[j]);
    for (int i = 0; i < g->output_count; i++) use(cx, u, g->output[i]);
    if (g->counts_grids) use_marked(cx, u, g);
    return u;
}

int uses_of(const Uses *u, const Tensor *t)
{
    const int *n = map_get_ptr(&u->count, t);
    return n ? *n : 1;
}

const Target *uses_target(const Uses *u) { return u->target; }
bool uses_keep_dropout(const Uses *u) { return u->keeps_dropout; }
bool uses_keep_norms(const Uses *u) { return u->keeps_norms; }

/* Gives the replacement the use count of the tensor that it replaces. */
static void inherit_uses(Uses *u, const Tensor *from, const Tensor *to)
{
    void *n = map_get_ptr(&u->count, from);
    if (n && !map_get_ptr(&u->count, to)) map_put_ptr(&u->count, to, n);
}

/* Assigns the original call's device to the nodes that compute the replacement t and were created after `serial`. */
static void stay_on_device(Tensor *t, const char *device, uint32_t serial)
{
    Node *n = t ? t->producer : NULL;
    if (!n || n->serial <= serial || n->device) return;
    n->device = device;
    for (int i = 0; i < n->in_count; i++) stay_on_device(n->in[i], device, serial);
}

/* ---- Origins ----------------------------------------------------------------------------------------------------- */

void graph_follow(Ctx *cx, Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    int tensors = 0;
    for (int i = 0; i < count; i++) tensors += order[i]->out_count;
    g->origin = NEW_ARRAY(cx->arena, Origin, tensors);
    g->origin_count = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < order[i]->out_count; j++) g->origin[g->origin_count++].now = order[i]->out[j];
}

void graph_replace_origins(Ctx *cx, Graph *g, const Map *to)
{
    g->origin = arena_copy(cx->arena, g->origin, (size_t)g->origin_count * sizeof *g->origin);
    for (int i = 0; i < g->origin_count; i++)
        if (g->origin[i].now) g->origin[i].now = mapped(to, g->origin[i].now);
}

int graph_origin_of(const Graph *g, const Tensor *now)
{
    for (int i = 0; i < g->origin_count; i++)
        if (g->origin[i].now == now) return i;
    return -1;
}

/* ---- Rewriting --------------------------------------------------------------------------------------------------- */

/* `given` maps tensors to their replacements, or is NULL. */
typedef struct Rewrite { GraphVisit *visit; NodeKind visited; bool remakes; const Map *given; } Rewrite;

/* Returns the replacement of the tensor, or the tensor itself if it has none, and enters the result in `to`. */
static Tensor *replacement(const Rewrite *r, Map *to, Tensor *t)
{
    Tensor *now = t ? map_get_ptr(to, t) : NULL;
    if (!t || now || !r->given) return now ? now : t;
    now = map_get_ptr(r->given, t);
    if (now) map_put_ptr(to, t, now);
    return now ? now : t;
}

static bool has_given_results(const Rewrite *r, Map *to, const Node *n)
{
    int given = 0;
    for (int j = 0; j < n->out_count && r->given; j++) given += replacement(r, to, n->out[j]) != n->out[j];
    return given && given == n->out_count;
}

/* Returns the calls to rewrite. Where grids are recorded, the order includes calls that only marks need: a dead
 * transpose of a live tensor still leads from its mark to the tensor. */
static int rewrite_order(Ctx *cx, const Graph *g, Node ***out)
{
    if (!g->records_grids) return graph_order(cx, g, out);
    Tensor **roots = NEW_ARRAY(cx->scratch, Tensor *, g->output_count + g->mark_count);
    for (int i = 0; i < g->output_count; i++) roots[i] = g->output[i];
    for (int i = 0; i < g->mark_count; i++) roots[g->output_count + i] = g->mark[i].tensor;
    return dag_order(cx, roots, g->output_count + g->mark_count, out);
}

/* The calls that a visit makes are from the visited call's node of the file. */
static void visit_from(Ctx *cx, const Rewrite *r, Node *n, Tensor **out, const Uses *uses)
{
    const FileNode *outer = cx->from;
    cx->from = n->from;
    r->visit(cx, n, out, uses);
    cx->from = outer;
}

static Graph rewrite(Ctx *cx, Graph g, Rewrite r)
{
    Node **order;
    int count = rewrite_order(cx, &g, &order);
    Uses *uses = graph_uses(cx, &g);
    Map to = map_new(cx->scratch);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        Node *n = order[i];
        bool same = !r.remakes;
        if (has_given_results(&r, &to, n)) continue;
        Tensor **in = NEW_ARRAY(cx->scratch, Tensor *, n->in_count),
               **out = NEW_ARRAY(cx->scratch, Tensor *, n->out_count);
        for (int j = 0; j < n->in_count; j++) {
            in[j] = replacement(&r, &to, n->in[j]);
            same = same && in[j] == n->in[j];
        }
        Node *now = same || n->kind == NODE_COMPUTE ? n : node_over(cx, n, in);
        if (!now) break;
        for (int j = 0; j < n->out_count; j++) inherit_uses(uses, n->out[j], now->out[j]);
        memcpy(out, now->out, (size_t)n->out_count * sizeof *out);
        uint32_t before = cx->serial;
        if (r.visit && now->kind == r.visited) visit_from(cx, &r, now, out, uses);
        for (int j = 0; j < n->out_count && now->device; j++) stay_on_device(out[j], now->device, before);
        for (int j = 0; j < n->out_count; j++) {
            if (out[j] != n->out[j]) map_put_ptr(&to, n->out[j], out[j]);
            if (out[j]) inherit_uses(uses, n->out[j], out[j]);
        }
    }
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, g.output_count);
    for (int i = 0; i < g.output_count; i++) output[i] = replacement(&r, &to, g.output[i]);
    g.output = output;
    Mark *mark = NEW_ARRAY(cx->arena, Mark, g.mark_count);
    for (int i = 0; i < g.mark_count; i++)
        mark[i] = (Mark){ g.mark[i].annotation, replacement(&r, &to, g.mark[i].tensor), g.mark[i].reader,
                         g.mark[i].is_constant };
    g.mark = mark;
    graph_replace_origins(cx, &g, &to);
    return g;
}

/* Rewrites the graph. The maps of the rewrite are in scratch memory, which is reset at the end. */
static Graph rewritten(Ctx *cx, Graph g, Rewrite r)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    const Graph now = rewrite(cx, g, r);
    arena_reset(cx->scratch, mark);
    return now;
}

Graph graph_rewrite(Ctx *cx, Graph g, GraphVisit *visit)
{
    return rewritten(cx, g, (Rewrite){ visit, NODE_CALL, false, NULL });
}

Graph graph_remake(Ctx *cx, Graph g, GraphVisit *visit)
{
    return rewritten(cx, g, (Rewrite){ visit, NODE_CALL, true, NULL });
}

Graph graph_rewrite_regions(Ctx *cx, Graph g, GraphVisit *visit)
{
    return rewritten(cx, g, (Rewrite){ visit, NODE_REGION, false, NULL });
}

Graph graph_replace(Ctx *cx, Graph g, const Map *given) { return rewritten(cx, g, (Rewrite){ .given = given }); }

Graph graph_bind(Ctx *cx, const Graph *g, Tensor *const *given)
{
    Map of_inputs = map_new(cx->arena);
    for (int i = 0; i < g->input_count; i++)
        if (given[i]) map_put_ptr(&of_inputs, g->input[i], given[i]);
    return graph_replace(cx, *g, &of_inputs);
}

bool graph_has_output(const Graph *g, const Tensor *t)
{
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i] == t) return true;
    return false;
}
