/* SPDX-License-Identifier: MIT */
/* Constructs regions as nodes, with the types and shapes of their graphs' outputs. Passes treat a region as an opaque
 * node and run on its graphs as on any graph (driver/region_graphs.c). One pass replaces a region with a constant
 * condition by its branch (passes/regions.c). */
#include "graph/dag/region.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* Names and fusion patterns of regions; no call names these rows. */
static const Op rows[] = {
    [REGION_CHOICE] = { .name = "if", .summary = "executes one of two graphs, by a condition",
                        .fusion.pattern = PATTERN_OPAQUE, .least_inputs = 1, .most_inputs = -1, .inputs = "condition" },
    [REGION_LOOP] = { .name = "loop", .summary = "executes a graph repeatedly", .fusion.pattern = PATTERN_OPAQUE,
                      .least_inputs = 2, .most_inputs = -1, .inputs = "count condition" },
};

static void mark_read(Ctx *cx, const Graph *g, Map *read)
{
    Node **order;
    int count = graph_order(cx, g, &order);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < order[i]->in_count; j++)
            if (order[i]->in[j]) map_put_ptr(read, order[i]->in[j], order[i]);
    for (int i = 0; i < g->output_count; i++) map_put_ptr(read, g->output[i], g->output[i]);
}

/* Returns the number of inputs before the captures. */
static int first_handed(const Region *r) { return r->kind == REGION_CHOICE ? 1 : 2 + r->state_count + r->scan_count; }

static bool is_read(const Region *r, const Map *read, int k)
{
    for (int g = 0; g < r->graph_count; g++)
        if (map_get_ptr(read, r->graph[g].input[k - 1])) return true;
    return false;
}

/* Returns the region without the captures that no graph reads. */
static const Region *prune(Ctx *cx, const Region *r, Tensor *const *in, Node *n)
{
    Region *now = arena_copy(cx->arena, r, sizeof *r);
    Map read = map_new(cx->arena);
    int count = first_handed(r);
    for (int g = 0; g < r->graph_count; g++) {
        mark_read(cx, &r->graph[g], &read);
        now->graph[g].input = arena_copy(cx->arena, r->graph[g].input,
                                         (size_t)r->graph[g].input_count * sizeof *r->graph[g].input);
    }
    for (int k = 0; k < count; k++) n->in[k] = in[k];
    for (int k = count; k < n->in_count; k++) {
        if (!is_read(r, &read, k)) continue;
        for (int g = 0; g < r->graph_count; g++) now->graph[g].input[count - 1] = r->graph[g].input[k - 1];
        n->in[count++] = in[k];
    }
    n->in_count = count;
    for (int g = 0; g < r->graph_count; g++) now->graph[g].input_count = count - 1;
    return now;
}

static Tensor *output_like(Ctx *cx, Node *n, int i, const Region *r, const Tensor *made)
{
    bool collects = r->kind == REGION_LOOP && i >= r->state_count;
    const Expr *shape[MAX_RANK];
    if (collects) shape[0] = expr_int(cx, I32, r->max_trip_count);
    for (int d = 0; d < made->rank; d++) shape[d + collects] = made->shape[d];
    if (r->capacity && r->capacity[i] >= 0) shape[0] = expr_index(cx, r->capacity[i]);
    Tensor *t = tensor_new(cx, i ? name_format(cx, "%s_%d", n->name, i) : n->name, made->type, made->rank + collects,
                           shape);
    t->quant = collects ? NULL : made->quant;
    t->producer = n;
    t->output = i;
    return t;
}

Node *region_new(Ctx *cx, const char *region_name, const Region *r, Tensor *const *in, int in_count)
{
    if (ctx_failed(cx)) return NULL;
    Node *n = NEW(cx->arena, Node);
    const Graph *g = &r->graph[0];
    const int skipped = r->kind == REGION_LOOP && r->has_condition;
    *n = (Node){ .kind = NODE_REGION,
                 .op = &rows[r->kind],
                 .name = name(cx, *region_name ? region_name : rows[r->kind].name),
                 .from = cx->from,
                 .in_count = in_count };
    n->in = NEW_ARRAY(cx->arena, Tensor *, in_count);
    n->region = prune(cx, r, in, n);
    n->serial = ctx_serial(cx);
    n->out_count = g->output_count - skipped;
    n->out = NEW_ARRAY(cx->arena, Tensor *, n->out_count);
    for (int i = 0; i < n->out_count; i++) n->out[i] = output_like(cx, n, i, r, g->output[i + skipped]);
    return n;
}

int64_t region_trip_count(const Node *n)
{
    if (n->region->kind != REGION_LOOP || !n->in[0] || !tensor_is_constant(n->in[0])) return -1;
    int64_t turns = dtype_load(n->in[0]->type, n->in[0]->data, 0).i;
    return turns < 0 ? 0 : turns;
}

bool region_fills_part(const Tensor *t)
{
    const Region *r = t->producer && t->producer->kind == NODE_REGION ? t->producer->region : NULL;
    return r && r->capacity && r->capacity[t->output] >= 0;
}

bool region_is_handed_in(const Node *n, int k) { return k >= first_handed(n->region); }

static bool is_zero(const Tensor *t)
{
    const unsigned char *byte = t->data;
    for (int64_t i = 0; i < tensor_bytes(t); i++)
        if (byte[i]) return false;
    return true;
}

bool region_reads(const Node *n, int k)
{
    if (!n->in[k] || !tensor_is_constant(n->in[k])) return n->in[k] != NULL;
    if (region_is_handed_in(n, k)) return false;
    return n->region->kind == REGION_CHOICE || (k >= 2 && !is_zero(n->in[k]));
}
