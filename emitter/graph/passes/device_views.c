/* SPDX-License-Identifier: MIT */
/* Views between devices. A view costs nothing on either side, but a value that crosses costs a copy for each device
 * that reads it. Two searches move one view at a time, in alternating order, until nothing changes:
 *
 *   1. to the host, if this adds no copy, so that a chain of views moves although its first view saves nothing
 *   2. back to its device, if this adds no copy
 *
 * The copies never increase, and a view stays on its device unless the host saves copies. */
#include "graph/passes/device_views.h"

#include "support/text.h"

enum { MOST_SIDES = 16 };

typedef struct Readers { int count, used; const Site **at; bool has_output; } Readers;
/* Maps from a tensor to the Site that produces it and to its Readers. */
typedef struct Views { Ctx *cx; Map producer, readers; } Views;

static Readers *readers_of(Views *v, const Tensor *t)
{
    Readers *r = map_get_ptr(&v->readers, t);
    if (!r) map_put_ptr(&v->readers, t, r = NEW(v->cx->arena, Readers));
    return r;
}

static void add_reader(Views *v, const Tensor *t, const Site *s)
{
    Readers *r = t ? readers_of(v, t) : NULL;
    if (r && !r->at) r->at = NEW_ARRAY(v->cx->arena, const Site *, r->count);
    if (r) r->at[r->used++] = s;
}

static Views views_new(Ctx *cx, const Graph *g, const Site *site, int count)
{
    Views v = { cx, map_new(cx->arena), map_new(cx->arena) };
    for (int i = 0; i < count; i++) {
        const Node *n = site[i].node;
        for (int k = 0; k < n->out_count; k++) map_put_const_ptr(&v.producer, n->out[k], &site[i]);
        for (int k = 0; k < n->in_count; k++)
            if (n->in[k]) readers_of(&v, n->in[k])->count++;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < site[i].node->in_count; k++) add_reader(&v, site[i].node->in[k], &site[i]);
    for (int i = 0; i < g->output_count; i++) readers_of(&v, g->output[i])->has_output = true;
    return v;
}

/* Returns the number of copies of a tensor: one for each other device that reads it. */
static int copies_of(Views *v, const Tensor *t)
{
    const Site *from = map_get_const_ptr(&v->producer, t);
    const Readers *r = readers_of(v, t);
    const char *seen[MOST_SIDES] = { from ? from->device : NULL };
    int count = 1;
    if (tensor_is_constant(t)) return 0;
    if (r->has_output && seen[0]) seen[count++] = NULL;
    for (int i = 0; i < r->count && count < MOST_SIDES; i++) {
        int k = 0;
        while (k < count && seen[k] != r->at[i]->device) k++;
        if (k == count) seen[count++] = r->at[i]->device;
    }
    return count - 1;
}

static int copies_around(Views *v, const Node *n) { return copies_of(v, n->in[0]) + copies_of(v, n->out[0]); }

/* Moves the view if that adds no copies. */
static bool move_view(Views *v, Site *s, const char *device)
{
    const char *was = s->device;
    if (was == device) return false;
    const int before = copies_around(v, s->node);
    s->device = device;
    if (copies_around(v, s->node) <= before) return true;
    s->device = was;
    return false;
}

static bool is_view(const Site *s)
{
    const Node *n = s->node;
    return s->device && !s->is_matched && n->kind == NODE_CALL && n->op->layout.is_view;
}

/* Moves all views to their devices, or to the host if `device` is NULL, in alternating order. */
static void move_views(Views *v, Site **view, int count, const char *const *device)
{
    bool moved = true;
    for (int pass = 0; moved; pass++) {
        moved = false;
        for (int i = 0; i < count; i++) {
            const int at = pass % 2 ? count - 1 - i : i;
            moved = move_view(v, view[at], device ? device[at] : NULL) || moved;
        }
    }
}

void views_to_host(Ctx *cx, const Graph *g, Site *site, int count)
{
    Site **view = NEW_ARRAY(cx->arena, Site *, count);
    const char **own = NEW_ARRAY(cx->arena, const char *, count);
    int views = 0;
    for (int i = 0; i < count; i++)
        if (is_view(&site[i])) own[views] = site[i].device, view[views++] = &site[i];
    if (!views) return;
    Views v = views_new(cx, g, site, count);
    move_views(&v, view, views, NULL);
    move_views(&v, view, views, own);
    for (int i = 0; i < views; i++)
        if (view[i]->device != own[i])
            diag_listed(cx, NOTE, text_format(cx, "node \"%s\" (%s)", view[i]->node->name, view[i]->node->op->name),
                        "runs on the cpu: a view of values of the cpu, it saves copies there");
}
