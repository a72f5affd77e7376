/* SPDX-License-Identifier: MIT */
/* The first pass converts annotation calls to properties.
 *
 *   on_device(x)        the producer of x gets the device, as do the calls of the same name that feed it, because an
 *                       importer may emit several calls for one node
 *   stop_gradient(x)    and other recorded annotations: a mark on x, which later passes carry along
 *
 * The pass then removes the calls, so later passes read no annotations. It copies every call, which keeps the model's
 * execution order. */
#include "graph/passes/passes.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

static bool is_annotation(const Node *n, int kind)
{
    return n->kind == NODE_CALL && (int)n->op->fusion.annotation == kind;
}

/* Returns the device's interned name; NULL for the host, or on error. */
static const char *device_of_annotation(Ctx *cx, const Node *call)
{
    const char *wanted = node_text(call, "device", NULL),
               *where = name_format(cx, "node \"%s\" (%s)", call->name, call->op->name);
    if (!wanted || !*wanted) diag_error(cx, where, "the attribute 'device' is missing");
    if (ctx_failed(cx) || strcmp(wanted, "cpu") == 0) return NULL;
    if (device_find(cx, wanted)) return name(cx, wanted);
    diag_error(cx, where, "there is no device '%s'%s", wanted, device_hint(cx, wanted));
    return NULL;
}

static void put_on_device(Node *n, const char *device)
{
    n->device = device;
    for (int i = 0; i < n->in_count; i++) {
        Node *producer = n->in[i] ? n->in[i]->producer : NULL;
        if (producer && producer->name == n->name && producer->device != device) put_on_device(producer, device);
    }
}

/* Every call is a fresh copy here, so it may be modified. */
static void dissolve(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (!is_annotation(call, ANNOTATION_DEVICE) && !is_annotation(call, ANNOTATION_RECORD)) return;
    out[0] = call->in[0];
    if (!is_annotation(call, ANNOTATION_DEVICE)) return;
    const char *device = device_of_annotation(cx, call);
    if (call->in[0]->producer) put_on_device(call->in[0]->producer, device);
}

Graph graph_annotate(Ctx *cx, Graph g)
{
    Node **order;
    int count = graph_order(cx, &g, &order), annotations = 0;
    Mark *mark = NEW_ARRAY(cx->arena, Mark, g.mark_count + count);
    for (int i = 0; i < g.mark_count; i++) mark[i] = g.mark[i];
    g.mark = mark;
    for (int i = 0; i < count; i++) {
        if (is_annotation(order[i], ANNOTATION_RECORD)) mark[g.mark_count++] = (Mark){ order[i], order[i]->out[0] };
        annotations += is_annotation(order[i], ANNOTATION_DEVICE) || is_annotation(order[i], ANNOTATION_RECORD);
    }
    return annotations ? graph_remake(cx, g, dissolve) : g;
}
