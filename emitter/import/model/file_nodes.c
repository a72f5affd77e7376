/* SPDX-License-Identifier: MIT */
/* Lists the nodes of a file: see file_nodes.h. */
#include "import/model/file_nodes.h"

#include <string.h>

#include "support/map.h"
#include "support/text.h"

/* by_place: maps the place of a node to the node */
struct FileNodes { Ctx *cx; Map by_place; int count, capacity; FileNode **at; };

FileNodes *file_nodes_new(Ctx *cx)
{
    if (!cx->lists_nodes) return NULL;
    FileNodes *all = NEW(cx->arena, FileNodes);
    *all = (FileNodes){ .cx = cx, .by_place = map_new(cx->arena) };
    return all;
}

static void append(FileNodes *all, FileNode *n)
{
    if (all->count == all->capacity) {
        all->capacity = 2 * all->capacity + 16;
        FileNode **more = NEW_ARRAY(all->cx->arena, FileNode *, all->capacity);
        for (int i = 0; i < all->count; i++) more[i] = all->at[i];
        all->at = more;
    }
    all->at[all->count++] = n;
}

FileNode *file_node(FileNodes *all, const char *graph, int number, const char *op, const char *name)
{
    if (!all) return NULL;
    const FileNode *outer = all->cx->from;
    const char *place = outer ? text_format(all->cx, "%s/%s/%d", outer->place, graph, number)
                              : text_format(all->cx, "%d", number);
    FileNode *n = map_get(&all->by_place, place, strlen(place));
    if (n) return n;
    n = NEW(all->cx->arena, FileNode);
    *n = (FileNode){ .place = place, .op = op, .name = name, .outer = outer };
    map_put(&all->by_place, place, strlen(place), n);
    append(all, n);
    return n;
}

void file_node_reads(FileNodes *all, FileNode *n, const FileNode *other, int count)
{
    if (!all) return;
    if (!n->read) n->read = NEW_ARRAY(all->cx->arena, const FileNode *, count);
    for (int i = 0; i < n->read_count; i++)
        if (n->read[i] == other) return;
    if (n->read_count < count) n->read[n->read_count++] = other;
}

const FileNode *file_node_enter(Ctx *cx, const FileNode *n)
{
    const FileNode *before = cx->from;
    cx->from = n;
    return before;
}

void file_node_result(Ctx *cx, const Tensor *t, bool is_new)
{
    FileNode *n = (FileNode *)cx->from;
    if (!n || !t) return;
    n->is_constant = n->is_constant || tensor_is_constant(t);
    n->is_passed = n->is_passed || !is_new;
}

void file_nodes_end(const FileNodes *all, Model *out)
{
    if (!all) return;
    out->node_count = all->count;
    out->node = (const FileNode *const *)all->at;
}
