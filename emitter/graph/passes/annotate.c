/* SPDX-License-Identifier: MIT */
/* The first pass converts annotation calls to properties.
 *
 *   on_device(x)        the producer of x gets the device, as do the calls of the same name that feed it, because an
 *                       importer may emit several calls for one node
 *   stop_gradient(x)    and other recorded annotations: a mark on x, which later passes carry along
 *   simulated_quantize  becomes a mark as well, if it has no scale or the graph records grids
 *
 * The pass then removes the calls, so later passes read no annotations. The pass copies every call, which keeps the
 * model's execution order. */

/* Decision: annotations are calls until they are properties. Importers, `.te` files, `--annotate`
 * (`import/model/annotations.c`) and C insert them into the DAG as identities. The first pass
 * (`graph/passes/annotate.c`) turns devices into a field of the node and recorded annotations into marks. Rewriting
 * preserves both, so every later pass has the graph without annotations. `stop_fusion` stays a call: it is a view,
 * fusion does not touch views, and the memory plan gives it no memory of its own. */
#include "graph/passes/passes.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

static bool is_annotation(const Node *n, int kind)
{
    return n->kind == NODE_CALL && (int)n->op->fusion.annotation == kind;
}

static bool is_grid(const Node *n) { return n->kind == NODE_CALL && n->op->quantization.grid == GRID_SIMULATE; }

static bool is_record(const Node *n, bool records_grids)
{
    return is_annotation(n, ANNOTATION_RECORD) || (is_grid(n) && (records_grids || n->in_count == 1));
}

/* Returns the device's interned name; NULL for the host, or on error. */
static const char *device_of_annotation(Ctx *cx, const Node *call)
{
    const char *wanted = node_text(call, "device", NULL),
               *where = name_format(cx, "node \"%s\" (%s)", call->name, call->op->name);
    if (!wanted || !*wanted) diag_error(cx, where, "the attribute 'device' is missing; use the name of a device");
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

/* Puts the call on the device. If the call is an annotation that is kept, `to` also maps its operand to the annotated
 * value, so annotations may come in any order. */
static void put_value_on_device(Node *n, const char *device)
{
    put_on_device(n, device);
    if ((is_annotation(n, ANNOTATION_STOP_FUSION) || is_grid(n)) && n->in[0]->producer)
        put_value_on_device(n->in[0]->producer, device);
}

/* Replaces an annotation by its input and applies its effect. Every call here is a fresh copy, so it may be
 * modified. */
static void dissolve(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (!is_annotation(call, ANNOTATION_DEVICE) && !is_record(call, false)) return;
    out[0] = call->in[0];
    if (!is_annotation(call, ANNOTATION_DEVICE)) return;
    const char *device = device_of_annotation(cx, call);
    if (call->in[0]->producer) put_value_on_device(call->in[0]->producer, device);
}

static void dissolve_grids(Ctx *cx, Node *call, Tensor **out, const Uses *uses)
{
    if (is_grid(call)) out[0] = call->in[0];
    else dissolve(cx, call, out, uses);
}

/* ---- Grids of constants ------------------------------------------------------------------------------------------ */

/* Returns the only call that reads t, or NULL if no call or several calls read it. */
static const Node *reader_of(const Tensor *t, Node *const *order, int count)
{
    const Node *found = NULL;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < order[i]->in_count; k++) {
            if (order[i]->in[k] != t) continue;
            if (found || order[i]->kind != NODE_CALL) return NULL;
            found = order[i];
        }
    return found;
}

/* Returns the only call that reads the tensor, if that call transposes or is a view. */
static const Node *move_of(const Tensor *t, Node *const *order, int count)
{
    const Node *n = reader_of(t, order, count);
    return n && (n->op->layout.is_transpose || n->op->layout.is_view) && n->in[0] == t ? n : NULL;
}

/* Returns the scale or zero point p, moved in the same way. Returns NULL if p varies along an axis and the move is not
 * a transpose. */
static Tensor *moved(Ctx *cx, const Node *move, Tensor *p)
{
    const Tensor *x = move->in[0];
    int64_t shape[MAX_RANK];
    Tensor *out;
    if (!p || tensor_elems(p) == 1) return p;
    if (!move->op->layout.is_transpose) return NULL;
    for (int d = 0; d < x->rank; d++)
        shape[d] = d < x->rank - p->rank ? 1 : tensor_dim(p, d - (x->rank - p->rank));
    Tensor *whole = tensor_constant(cx, p->name, p->type, x->rank, shape, p->data);
    const Node *n = op_call(cx, move->op, move->name, &whole, 1, move->attr, move->attr_count);
    return n && graph_run_call(cx, n, &out) ? out : NULL;
}

/* Returns the mark of a recorded annotation. The mark of a constant sinks through the moves after it, which are folded,
 * because importers reorder weights. */
static Mark mark_of(Ctx *cx, const Node *n, Node *const *order, int count)
{
    const Mark own = { n, n->out[0], NULL, is_grid(n) && tensor_is_constant(n->in[0]) };
    Mark m = own;
    if (!is_grid(n)) return m;
    for (const Node *move; m.is_constant && (move = move_of(m.tensor, order, count)) != NULL;) {
        Tensor *in[] = { move->out[0], NULL, NULL };
        bool fits = true;
        for (int i = 1; i < m.annotation->in_count; i++) fits &= (in[i] = moved(cx, move, m.annotation->in[i])) != NULL;
        if (!fits) break;
        m.annotation = op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
        m.tensor = move->out[0];
        if (!m.annotation) return own;
    }
    const Node *reader = reader_of(m.tensor, order, count);
    m.reader = reader ? reader->name : NULL;
    return m;
}

/* Gives the name of each output with a grid to the operand that replaces the output. The operand's call is a fresh
 * copy. */
static Graph with_output_names(Graph g, const Graph *before)
{
    for (int i = 0; i < g.output_count; i++) {
        const Node *n = before->output[i]->producer;
        const bool is_dissolved = n && is_grid(n) && is_record(n, before->records_grids);
        if (is_dissolved && g.output[i]->producer && !graph_has_output(before, n->in[0]))
            g.output[i]->name = before->output[i]->name;
    }
    return g;
}

Graph graph_annotate(Ctx *cx, Graph g)
{
    Node **order;
    int count = graph_order(cx, &g, &order), annotations = 0;
    Mark *mark = NEW_ARRAY(cx->arena, Mark, g.mark_count + count);
    for (int i = 0; i < g.mark_count; i++) mark[i] = g.mark[i];
    g.mark = mark;
    for (int i = 0; i < count; i++) {
        const bool is_recorded = is_record(order[i], g.records_grids);
        if (is_recorded) mark[g.mark_count++] = mark_of(cx, order[i], order, count);
        annotations += is_annotation(order[i], ANNOTATION_DEVICE) || is_recorded;
    }
    return annotations ? with_output_names(graph_remake(cx, g, g.records_grids ? dissolve_grids : dissolve), &g) : g;
}
