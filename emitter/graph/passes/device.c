/* SPDX-License-Identifier: MIT */
/* Partitions calls between devices. The last pass checks each call against its device's row. Calls that the device
 * rejects return to the host, with a note. The pass then rebuilds the graph and inserts a device_copy wherever a value
 * is produced on one device and consumed on another; all consumers on a device share one copy. Model inputs and outputs
 * are on the host; constants are on every device. Views run on the side that needs fewer copies (device_views.c).
 *
 * Copies are opaque, so fusion forms no group across devices. */

/* Decision: a device's calls are a run of groups. The last pass (`graph/passes/device.c`) asks the device's row
 * which calls it accepts, and inserts copies at the boundary. Copies are opaque, so fusion needs no rule for
 * devices. Groups are ordered so that those of one device are adjacent; each run is a function with a default in C
 * (`driver/device_functions.c`, `cgen/device_calls.c`). The function's parameters are the open sizes and the buffers
 * that it shares with other groups. The shared buffers are live during the whole run, because a driver may read and
 * write them in any order. */
#include "graph/passes/composite.h"
#include "graph/passes/device_views.h"

#include <string.h>

#include "support/text.h"

enum { MOST_DEVICES = 16 };

typedef struct Crossing {
    Ctx *cx;
    Composites composites;                   /* the composites among the old calls */
    Map to;                                  /* maps an old tensor to the new tensor on the device that produces it */
    int device_count;
    const char *device[MOST_DEVICES];        /* an entry of NULL is the host */
    Map copy[MOST_DEVICES];                  /* maps a new tensor to its copy on the device */
} Crossing;

static const char *device_name(const char *device) { return device ? device : "cpu"; }

/* ---- Calls that a device accepts -------------------------------------------------------------------------------- */

/* States that the device's row lacks the operator, and why a composite with it does not apply. */
static void note_operator(Ctx *cx, const Composite *unmet, const Device *d, const Node *n, const char *where)
{
    if (unmet)
        diag_listed(cx, NOTE, where,
                    "runs on the cpu: the device %s does not accept %s alone, and the condition of its composite %s "
                    "does not hold: %s", d->name, n->op->name, unmet->name, unmet->when);
    else diag_listed(cx, NOTE, where, "runs on the cpu: the device %s does not accept %s", d->name, n->op->name);
}

/* Returns the call's device if that device accepts the call. Otherwise returns NULL for the host. */
static const char *device_accepting(Ctx *cx, const Composites *composites, const Node *n)
{
    const Device *d = n->device ? device_find(cx, n->device) : NULL;
    const Tensor *refused, *decided;
    if (!d || map_get_ptr(&composites->match, n)) return d ? n->device : NULL;
    device_takes_types(d, n, &refused);
    const char *where = text_format(cx, "node \"%s\" (%s)", n->name, n->op->name);
    if (n->kind == NODE_REGION) diag_listed(cx, NOTE, where, "runs on the cpu: no device accepts a region");
    else if (!n->op->layout.is_view && !text_has_word(d->ops, n->op->name))
        note_operator(cx, map_get_const_ptr(&composites->unmet, n), d, n, where);
    else if (refused)
        diag_listed(cx, NOTE, where, "runs on the cpu: the device %s does not accept %s", d->name,
                    dtype_info(refused->type)->spelling);
    else if ((decided = device_decided_of(cx, n)) != NULL)
        diag_listed(cx, NOTE, where, "runs on the cpu: data decide the size of \"%s\", and a device accepts only sizes "
                    "that are known before the run", decided->name);
    else return n->device;
    return NULL;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static Map *copies_on(Crossing *c, const char *device)
{
    for (int i = 0; i < c->device_count; i++)
        if (c->device[i] == device) return &c->copy[i];
    if (c->device_count == MOST_DEVICES) {
        diag_unsupported(c->cx, NULL, "more than %d devices in one model", MOST_DEVICES - 1);
        return &c->copy[0];
    }
    c->device[c->device_count] = device;
    c->copy[c->device_count] = map_new(c->cx->arena);
    return &c->copy[c->device_count++];
}

static Tensor *on_device(Crossing *c, Tensor *t, const char *device)
{
    Tensor *now = t ? map_get_ptr(&c->to, t) : NULL;
    if (!now) now = t;
    const char *from = now && now->producer ? now->producer->device : NULL;
    if (!now || tensor_is_constant(now) || from == device) return now;
    Map *copies = copies_on(c, device);
    Tensor *copy = map_get_ptr(copies, now);
    if (copy) return copy;
    copy = call(c->cx, "device_copy", text_format(c->cx, "%s_to_%s", now->name, device_name(device)), &now, 1,
                ATTRS(attr_word("from", device_name(from)), attr_word("to", device_name(device))));
    if (!copy) return NULL;
    copy->quant = now->quant;
    copy->producer->device = NULL;
    map_put_ptr(copies, now, copy);
    return copy;
}

static void cross(Crossing *c, Node *n, const char *device)
{
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) in[i] = on_device(c, n->in[i], device);
    Node *now = node_over(c->cx, n, in);
    if (!now) return;
    now->device = device;
    now->match = map_get_ptr(&c->composites.match, n);
    for (int i = 0; i < n->out_count; i++) map_put_ptr(&c->to, n->out[i], now->out[i]);
}

/* Decides where each call runs. */
static Site *sites_of(Crossing *c, const Graph *g, Node *const *order, int count)
{
    Site *site = NEW_ARRAY(c->cx->arena, Site, count);
    for (int i = 0; i < count; i++) {
        const bool is_matched = map_get_ptr(&c->composites.match, order[i]) != NULL;
        site[i] = (Site){ order[i], device_accepting(c->cx, &c->composites, order[i]), is_matched };
    }
    views_to_host(c->cx, g, site, count);
    return site;
}

Graph graph_devices(Ctx *cx, Graph g)
{
    Node **order;
    int count = graph_order(cx, &g, &order);
    bool any = false;
    for (int i = 0; i < count; i++) any = any || order[i]->device;
    if (!any) return g;
    Crossing c = { .composites = composites_match(cx, &g, order, count), .cx = cx, .to = map_new(cx->arena) };
    const Site *site = sites_of(&c, &g, order, count);
    for (int i = 0; i < count && !ctx_failed(cx); i++) cross(&c, order[i], site[i].device);
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, g.output_count);
    for (int i = 0; i < g.output_count; i++) output[i] = on_device(&c, g.output[i], NULL);
    g.output = output;
    Mark *mark = arena_copy(cx->arena, g.mark, (size_t)g.mark_count * sizeof *g.mark);
    for (int i = 0; i < g.mark_count; i++) {
        Tensor *now = map_get_ptr(&c.to, mark[i].tensor);
        if (now) mark[i].tensor = now;
    }
    g.mark = mark;
    graph_replace_origins(cx, &g, &c.to);
    return g;
}
