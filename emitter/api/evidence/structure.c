/* SPDX-License-Identifier: MIT */
/* The tables of traceability: from the nodes of the file to layers, functions and lines of model.c, buffers and
 * constants, and back. */
#include <string.h>

#include "api/evidence/evidence.h"
#include "api/traffic.h"
#include "cgen/control_flow.h"
#include "support/sha256.h"

static const char *full_name(const Evidence *e, const Function *f)
{
    return text_format(e->cx, "%s_%s", e->b->program.name, f->name);
}

static void add_lines(Table *t, const Part *p)
{
    trace_known(t, p ? p->first_line : -1);
    trace_known(t, p ? p->last_line : -1);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static const char *how(const NodeLayers *n)
{
    if (n->node->is_constant && n->count) return "computed at compile time, for these layers";
    if (n->is_merged) return "merged into these layers: they compute the next values that depend on it";
    if (n->count) return "computed by these layers";
    return n->node->is_constant ? "computed at compile time"
         : n->node->is_passed   ? "no work: its result is the value of another node"
                                : "omitted: no output depends on it";
}

static void add_nodes(Evidence *e)
{
    Table *t = trace_table(&e->trace, "nodes", "Nodes of the file",
                           "Each node of the model's file, with the layers that implement it. `node` is its number in "
                           "the file, from 0, or the line of a statement of a .te file.",
                           "node operator name layers how");
    for (int i = 0; i < e->links.count; i++) {
        const NodeLayers *n = &e->links.at[i];
        Text layers = text_new(e->cx);
        for (int k = 0; k < n->count; k++) trace_item_number(&layers, n->layer[k]);
        trace_text(t, n->node->place);
        trace_text(t, n->node->op);
        trace_text(t, n->node->name);
        trace_numbers(t, &layers);
        trace_text(t, how(n));
    }
}

/* Lists the places of the nodes of a layer. */
static void list_nodes(const Evidence *e, int layer, Text *lines)
{
    for (int i = 0; i < e->links.count; i++)
        for (int k = 0; k < e->links.at[i].count; k++)
            if (e->links.at[i].layer[k] == layer) trace_item(lines, e->links.at[i].node->place);
}

/* ---- Layers ------------------------------------------------------------------------------------------------------ */

/* Returns the number that the layer has in LW_LAYER, or -1: layers of inner graphs and of devices share marks. */
static int mark_of(const Build *b, int group)
{
    int number = 0;
    if (b->tree.outer || b->training.is_step || b->program.body_count || b->devices.count || b->plan.is_free[group])
        return -1;
    for (int i = 0; i < group; i++) number += !b->plan.is_free[i];
    return number;
}

static void add_call(const Evidence *e, Table *t, const Build *b, int group)
{
    const Part *run = source_part(&e->parts, text_format(e->cx, "%s_run", e->b->program.name));
    const int mark = mark_of(b, group);
    int last = 0;
    const int first = run && mark >= 0 ? source_call(run, mark, &last) : 0;
    trace_known(t, first ? first : -1);
    trace_known(t, first ? last : -1);
}

static const char *graph_of(const Build *b)
{
    return b->training.is_step ? "train" : b->tree.outer ? b->tree.body->name : "";
}

static void add_layer(Evidence *e, Table *t, const Build *b, int i)
{
    const Group *g = &b->groups.at[i];
    const Function *f = json_called(b, i);
    const char *name = f ? full_name(e, f) : NULL;
    const int id = json_layer_id(&e->report, b, i);
    Text nodes = text_new(e->cx);
    list_nodes(e, id, &nodes);
    trace_number(t, id);
    trace_known(t, mark_of(b, i));
    trace_text(t, graph_of(b));
    trace_text(t, g->name);
    trace_text(t, group_ops_text(e->cx, g, " + "));
    trace_texts(t, &nodes);
    trace_text(t, name);
    add_lines(t, name ? source_part(&e->parts, name) : NULL);
    add_call(e, t, b, i);
    trace_text(t, text_format(e->cx, "%s %s", dtype_info(g->output[0]->type)->spelling,
                              tensor_shape_names(e->cx, g->output[0])));
    trace_text(t, report_place(b, g));
    trace_known(t, report_instructions(b, i));
    trace_known(t, report_worst(b, i));
}

static void add_layers(Evidence *e)
{
    Table *t = trace_table(&e->trace, "layers", "Layers",
                           "Each layer, with the nodes of the file that it implements, its function, the lines of the "
                           "function with its comment and contract in model.c, the lines of its call, and its result. "
                           "lw_layer: its number in LW_LAYER, which counts only layers with code.",
                           "layer lw_layer graph name operators nodes function first_line last_line call_line "
                           "call_last_line result place instructions worst_instructions");
    for (Build *b = e->b; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) add_layer(e, t, b, i);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Lists the layers that call the function, and the places of their nodes. Returns whether there are any. */
static bool list_layers(const Evidence *e, const Part *p, Text *layers, Text *nodes)
{
    for (Build *b = e->b; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) {
            const Function *f = json_called(b, i);
            const int id = json_layer_id(&e->report, b, i);
            if (!f || strcmp(full_name(e, f), p->name) != 0) continue;
            trace_item_number(layers, id);
            list_nodes(e, id, nodes);
        }
    return layers->length > 0;
}

/* Each part of model.c in its order: the way back from a line to the nodes of the file. */
static void add_source_lines(Evidence *e)
{
    Table *t = trace_table(&e->trace, "lines", "Lines of model.c",
                           "Each function and constant in the order of the text, with the layers that call the "
                           "function and the nodes of the file that they implement.",
                           "first_line last_line name kind layers nodes");
    for (int i = 0; i < e->parts.count; i++) {
        const Part *p = &e->parts.at[i];
        Text layers = text_new(e->cx), nodes = text_new(e->cx);
        const bool is_layer = !p->is_constant && list_layers(e, p, &layers, &nodes);
        add_lines(t, p);
        trace_text(t, p->name);
        trace_text(t, is_layer ? "layer" : p->is_constant ? "constant, whose layers `constants` has" : "helper");
        trace_numbers(t, &layers);
        trace_texts(t, &nodes);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Returns the index of the slot's constant among the program's constants, or -1. */
static int constant_of(const Build *b, const Slot *s)
{
    return s && b->constant_of && s->kind == SLOT_CONST ? b->constant_of[s->index] : -1;
}

static void add_parameter(Evidence *e, Table *t, const Build *b, int group, const ParameterTraffic *p)
{
    const Memory *m = p->parameter;
    const Slot *s = m && !is_scratch(m) ? build_slot(b, group, m) : NULL;
    const int buffer = m && b == e->b ? report_buffer_of(b, &e->report.buffers, group, m) : -1;
    const int producer = s ? build_producer(b, s->tensor) : -1, constant = constant_of(b, s);
    trace_number(t, json_layer_id(&e->report, b, group));
    trace_text(t, p->name);
    trace_text(t, traffic_kind_names[p->kind]);
    trace_number(t, p->bytes);
    trace_number(t, p->moved.read);
    trace_number(t, p->moved.written);
    trace_known(t, buffer);
    trace_known(t, buffer < 0 ? -1 : report_offset_of(b, group, m));
    trace_known(t, producer < 0 ? -1 : json_layer_id(&e->report, b, producer));
    trace_text(t, constant >= 0 && constant < b->shared->constant_count ? b->shared->constant_name[constant] : NULL);
}

static void add_parameters(Evidence *e)
{
    Table *t = trace_table(&e->trace, "parameters", "Parameters of layers",
                           "The operands of each layer: their bytes, the bytes that a run reads and "
                           "writes, the buffer and its offset in the arena, the layer that computes it, or the "
                           "constant.",
                           "layer parameter kind bytes read written buffer at computed_by constant");
    for (Build *b = e->b; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) {
            const ParameterTraffic *p;
            const int count = report_traffic(b, i, &p);
            for (int k = 0; k < count; k++) add_parameter(e, t, b, i, &p[k]);
        }
}

static void add_buffers(Evidence *e)
{
    Table *t = trace_table(&e->trace, "buffers", "Buffers of the arena",
                           "Buffers that are live in the same layer do not overlap, except where one takes over the "
                           "bytes of another while it is read (`in_place_of`): each byte is then read before it is "
                           "written.",
                           "buffer name at bytes from_layer to_layer computed_by in_place_of");
    for (int i = 0; i < e->report.buffers.count; i++) {
        const ReportBuffer *k = &e->report.buffers.at[i];
        trace_number(t, i);
        trace_text(t, k->name);
        trace_number(t, k->offset);
        trace_number(t, k->bytes);
        trace_number(t, k->first);
        trace_number(t, k->last);
        trace_known(t, k->layer);
        trace_known(t, k->in_place_of);
    }
}

/* Returns the elements with the lowest byte first, whatever the machine's byte order. */
static const void *lowest_first(Ctx *cx, const Tensor *x)
{
    const uint16_t one = 1;
    const size_t size = (size_t)dtype_info(x->type)->bytes, bytes = (size_t)tensor_bytes(x);
    if (*(const uint8_t *)&one == 1) return x->data;
    uint8_t *out = arena_alloc(cx->arena, bytes);
    for (size_t i = 0; i < bytes; i++) out[i] = ((const uint8_t *)x->data)[i ^ (size - 1)];
    return out;
}

static bool reads(const Build *b, int group, int constant)
{
    const Group *g = &b->groups.at[group];
    for (int i = 0; i < g->input_count; i++)
        if (tensor_is_constant(g->input[i]) && constant_of(b, plan_slot(&b->plan, g->input[i])) == constant)
            return true;
    return false;
}

static void add_constants(Evidence *e)
{
    const Program *p = &e->b->program;
    Table *t = trace_table(&e->trace, "constants", "Constants",
                           "Each constant of model.c, with its lines, the SHA-256 of its elements in the order of the "
                           "array (the lowest byte of an element first), and the layers that read it.",
                           "constant type bytes first_line last_line sha256 layers");
    for (int i = 0; i < p->constant_count; i++) {
        const Tensor *x = p->constant[i];
        const char *name = p->constant_name[i] ? p->constant_name[i] : x->name;
        Text layers = text_new(e->cx);
        for (Build *b = e->b; b; b = b->tree.next)
            for (int g = 0; g < b->groups.count; g++)
                if (reads(b, g, i)) trace_item_number(&layers, json_layer_id(&e->report, b, g));
        trace_text(t, name);
        trace_text(t, dtype_info(x->type)->spelling);
        trace_number(t, tensor_bytes(x));
        add_lines(t, source_part(&e->parts, text_format(e->cx, "%s_%s", p->name, name)));
        trace_text(t, sha256_hex(e->cx, lowest_first(e->cx, x), (size_t)tensor_bytes(x)));
        trace_numbers(t, &layers);
    }
}

void evidence_structure(Evidence *e)
{
    add_nodes(e);
    add_layers(e);
    add_source_lines(e);
    add_parameters(e);
    add_buffers(e);
    add_constants(e);
}
