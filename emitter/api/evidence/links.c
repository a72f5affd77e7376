/* SPDX-License-Identifier: MIT */
/* Links the nodes of the file with layers.
 *
 * A call of a layer that has the operator and the name of an imported call is linked to the node of that call. Any
 * other call names the node of the file from which it was made; calls that replace it in a pass keep that node. A node
 * whose calls have vanished (a bias that became part of a convolution) is linked by data: each imported tensor is
 * followed to the tensor that holds its values now. If no layer computes that tensor, the layers are those of the calls
 * that read the tensor. */
#include <string.h>

#include "api/evidence/evidence.h"

typedef struct Ids { int count, capacity; int *at; } Ids;

typedef struct Linking {
    Ctx *cx;
    Build *b;
    JsonReport report;                   /* only for the ids of layers */
    Links links;
    Map by_name;                         /* maps the operator and name of an imported call to its FileNode */
    Map index;                           /* maps a FileNode to its NodeLayers */
    Map layer_of;                        /* maps a tensor to the id of the layer that computes it, plus 1 */
    Map origin;                          /* maps an imported tensor to the tensor that holds its values now */
    Map of_node;                         /* maps an imported node to its Ids */
    Map readers;                         /* maps an imported tensor to the Ids of the calls that read it */
} Linking;

static bool has_id(const int *id, int count, int wanted)
{
    for (int i = 0; i < count; i++)
        if (id[i] == wanted) return true;
    return false;
}

static void add_id(Ctx *cx, Ids *to, int id)
{
    if (has_id(to->at, to->count, id)) return;
    if (to->count == to->capacity) {
        int *more = NEW_ARRAY(cx->arena, int, 2 * to->capacity + 4);
        if (to->count) memcpy(more, to->at, (size_t)to->count * sizeof *more);
        to->capacity = 2 * to->capacity + 4;
        to->at = more;
    }
    to->at[to->count++] = id;
}

static void add_all(Ctx *cx, Ids *to, const Ids *from)
{
    for (int i = 0; from && i < from->count; i++) add_id(cx, to, from->at[i]);
}

/* Links the node, and the nodes whose graphs hold it. */
static void link(Linking *l, const FileNode *n, int layer)
{
    for (; n; n = n->outer) {
        NodeLayers *to = map_get_ptr(&l->index, n);
        if (!to || has_id(to->layer, to->count, layer)) continue;
        int *more = NEW_ARRAY(l->cx->arena, int, to->count + 1);
        if (to->count) memcpy(more, to->layer, (size_t)to->count * sizeof *more);
        more[to->count++] = layer;
        to->layer = more;
    }
}

/* ---- By names ---------------------------------------------------------------------------------------------------- */

static const char *key_of(Ctx *cx, const Node *n)
{
    return text_format(cx, "%s %s", n->op ? n->op->name : "", n->name);
}

static void find_names(Linking *l, Node *const *imported, int count)
{
    for (int i = 0; i < count; i++) {
        const char *key = key_of(l->cx, imported[i]);
        if (imported[i]->from) map_put_const(&l->by_name, key, strlen(key), imported[i]->from);
    }
}

static void link_call(Linking *l, const Node *n, int layer)
{
    const char *key = key_of(l->cx, n);
    const FileNode *named = map_get_const(&l->by_name, key, strlen(key));
    link(l, named ? named : n->from, layer);
}

static void link_calls(Linking *l)
{
    for (Build *g = l->b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            const Group *group = &g->groups.at[i];
            const int id = json_layer_id(&l->report, g, i);
            for (int j = 0; j < group->node_count; j++) link_call(l, group->node[j], id);
        }
}

/* ---- By data ----------------------------------------------------------------------------------------------------- */

static void *as_value(int id) { return (void *)(intptr_t)(id + 1); }

static void find_layers_of_tensors(Linking *l)
{
    Build *b = l->b;
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        for (int j = 0; j < g->node_count; j++)
            for (int k = 0; k < g->node[j]->out_count; k++) map_put_ptr(&l->layer_of, g->node[j]->out[k], as_value(i));
        for (int k = 0; k < g->output_count; k++) map_put_ptr(&l->layer_of, g->output[k], as_value(i));
    }
}

static void find_origins(Linking *l, Node *const *imported, int count)
{
    int tensors = 0, number = 0;
    for (int i = 0; i < count; i++) tensors += imported[i]->out_count;
    if (tensors != l->b->graph.origin_count) return;          /* a pass has defined the model anew */
    for (int i = 0; i < count; i++)
        for (int j = 0; j < imported[i]->out_count; j++, number++)
            if (l->b->graph.origin[number].now)
                map_put_ptr(&l->origin, imported[i]->out[j], l->b->graph.origin[number].now);
}

static void add_reader(Linking *l, const Tensor *t, const Ids *of)
{
    Ids *all = map_get_ptr(&l->readers, t);
    if (!all) map_put_ptr(&l->readers, t, all = NEW(l->cx->arena, Ids));
    add_all(l->cx, all, of);
}

/* Returns the id of the layer that computes the tensor, or -1. */
static int holder(Linking *l, Tensor *t)
{
    Tensor *now = map_get_ptr(&l->origin, t);
    const void *found = map_get_ptr(&l->layer_of, now ? now : t);
    return found ? (int)(intptr_t)found - 1 : -1;
}

/* Adds the layers that the call's node of the file already has; returns false if the node has none. */
static bool add_known(Linking *l, Ids *to, const Node *n)
{
    const NodeLayers *known = n->from ? map_get_ptr(&l->index, n->from) : NULL;
    for (int i = 0; known && i < known->count; i++) add_id(l->cx, to, known->layer[i]);
    return known && known->count;
}

/* The nodes are visited from the last to the first, so the readers of a tensor are known. */
static void link_data(Linking *l, Node *const *imported, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        const Node *n = imported[i];
        Ids *own = NEW(l->cx->arena, Ids);
        for (int j = 0; j < n->out_count; j++) {
            const int id = holder(l, n->out[j]);
            if (id >= 0) add_id(l->cx, own, id);
            else if (!add_known(l, own, n)) add_all(l->cx, own, map_get_ptr(&l->readers, n->out[j]));
        }
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j]) add_reader(l, n->in[j], own);
        map_put_ptr(&l->of_node, n, own);
    }
}

static void link_merged(Linking *l, Node *const *imported, int count)
{
    for (int i = 0; i < l->links.count; i++) l->links.at[i].is_merged = !l->links.at[i].count;
    for (int i = 0; i < count; i++) {
        const NodeLayers *to = imported[i]->from ? map_get_ptr(&l->index, imported[i]->from) : NULL;
        const Ids *own = map_get_ptr(&l->of_node, imported[i]);
        for (int k = 0; to && to->is_merged && k < own->count; k++) link(l, imported[i]->from, own->at[k]);
    }
}

/* An importer may read two nodes as one, such as a quantization with its inverse. A node that made no call is linked to
 * the layers of the nodes that read its results. Returns true if it linked one more. */
static bool link_readers(Linking *l)
{
    bool found = false;
    for (int i = l->links.count - 1; i >= 0; i--) {
        const NodeLayers *reader = &l->links.at[i];
        for (int k = 0; k < reader->node->read_count; k++) {
            const NodeLayers *to = map_get_ptr(&l->index, reader->node->read[k]);
            const int before = to->count;
            for (int j = 0; to->made_nothing && j < reader->count; j++) link(l, to->node, reader->layer[j]);
            found = found || to->count > before;
        }
    }
    return found;
}

Links links_of(Build *b, Node *const *imported, int count)
{
    Ctx *cx = b->cx;
    Linking l = { .cx = cx, .b = b, .report = { .whole = b }, .index = map_new(cx->arena),
                  .by_name = map_new(cx->arena),
                  .layer_of = map_new(cx->arena), .origin = map_new(cx->arena), .of_node = map_new(cx->arena),
                  .readers = map_new(cx->arena) };
    l.links = (Links){ b->model.node_count, NEW_ARRAY(cx->arena, NodeLayers, b->model.node_count) };
    for (int i = 0; i < l.links.count; i++) {
        l.links.at[i].node = b->model.node[i];
        map_put_ptr(&l.index, b->model.node[i], &l.links.at[i]);
    }
    find_names(&l, imported, count);
    link_calls(&l);
    find_layers_of_tensors(&l);
    find_origins(&l, imported, count);
    link_data(&l, imported, count);
    link_merged(&l, imported, count);
    for (int i = 0; i < l.links.count; i++) l.links.at[i].made_nothing = !l.links.at[i].count;
    while (link_readers(&l)) continue;
    for (int i = 0; i < l.links.count; i++) l.links.at[i].is_merged &= l.links.at[i].count > 0;
    return l.links;
}
