/* SPDX-License-Identifier: MIT */
/* Takes the graphs of regions through the stages. Each graph of a region is a separate Build, after the enclosing graph
 * in the list. The graph of a region is rewritten, fused, scheduled, planned and lowered like the model's graph. All
 * graphs share functions, constants and names. The offsets of its plan begin at 0. The region's group has one scratch
 * buffer, which is live while the region runs and is as large as the arena of its largest graph; each graph uses the
 * buffer from its beginning. Tensors of enclosing graphs are parameters of the graph's function. */
#include "driver/driver.h"

#include "support/names.h"
#include "support/text.h"

static void refuse_devices(const Build *b)
{
    Node **order;
    int count = graph_order(b->cx, &b->graph, &order);
    for (int i = 0; i < count; i++)
        if (order[i]->device)
            diag_unsupported(b->cx, order[i]->name,
                             "a call on the device %s is in a branch or loop; mark only calls that are in neither",
                             order[i]->device);
}

/* Returns a copy of the region's graph in which the constant operands of the node replace inputs. */
static Graph inner_graph(const Build *b, const Node *n, int which)
{
    const Graph *g = &n->region->graph[which];
    Tensor **given = NEW_ARRAY(b->cx->arena, Tensor *, g->input_count);
    for (int k = 1; k < n->in_count; k++)
        if (region_is_handed_in(n, k) && tensor_is_constant(n->in[k])) given[k - 1] = n->in[k];
    Graph bound = graph_bind(b->cx, g, given);
    bound.name = b->name;
    bound.target = b->target;
    return bound;
}

static void make_inner(Build *b, const Node *n)
{
    Build *inner = NEW_ARRAY(b->cx->arena, Build, n->region->graph_count);
    map_put_ptr(&b->tree.inner, n, inner);
    for (int i = 0; i < n->region->graph_count && !ctx_failed(b->cx); i++) {
        inner[i] = (Build){ .cx = b->cx,
                            .options = b->options,
                            .path = b->path,
                            .name = b->name,
                            .target = b->target,
                            .watch = b->watch,
                            .shared = b->shared,
                            .tree = { .region = n, .outer = b },
                            .mode = { .is_reference = b->mode.is_reference, .is_as_imported = b->mode.is_as_imported },
                            .graph = inner_graph(b, n, i) };
        b->shared->last->tree.next = &inner[i];
        b->shared->last = &inner[i];
        if (!build_passes(&inner[i])) return;
        refuse_devices(&inner[i]);
        build_inner_graphs(&inner[i]);
    }
}

void build_inner_graphs(Build *b)
{
    Node **order;
    int count = ctx_failed(b->cx) ? 0 : graph_order(b->cx, &b->graph, &order);
    b->tree.inner = map_new(b->cx->arena);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_REGION) make_inner(b, order[i]);
}

static const char *part_name(const Node *region, int graph)
{
    static const char *const branch[] = { "then", "else" };
    return region->region->kind == REGION_LOOP ? "body" : branch[graph];
}

static const char *part_meaning(Ctx *cx, const Node *region, int graph)
{
    static const char *const branch[] = { "where its condition holds", "where it does not" };
    const bool is_loop = region->region->kind == REGION_LOOP;
    return text_format(cx, "%s, %s", region->name, is_loop ? "one iteration" : branch[graph]);
}

void build_inner_nests(Build *b)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Node *n = region_of_group(b, i);
        for (int g = 0; n && g < n->region->graph_count && !ctx_failed(b->cx); g++) {
            Build *inner = &build_graphs_of(b, n)[g];
            Body *body = inner->tree.body = NEW(b->cx->arena, Body);
            body->name = build_symbol(b, name_format(b->cx, "%s_%s", b->groups.at[i].name, part_name(n, g)));
            body->what = part_meaning(b->cx, n, g);
            build_nests(inner);
        }
    }
}
