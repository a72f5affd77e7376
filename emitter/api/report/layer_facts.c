/* SPDX-License-Identifier: MIT */
/* Prints facts of a layer for programs: its edges, result and function, and the memory of each parameter. */
#include <string.h>

#include "api/report/json.h"
#include "api/traffic.h"
#include "lower/count_unit.h"

/* The layers of all graphs are numbered in the order of the list. */
int json_layer_id(const JsonReport *r, const Build *b, int group)
{
    int first = 0;
    for (const Build *g = r->whole; g && g != b; g = g->tree.next) first += g->groups.count;
    return first + group;
}

const Function *json_called(const Build *b, int group)
{
    const Function *f = b->lowered.function[group];
    const Merged *merged = build_merged(b, f);
    return merged ? merged->by : f;
}

CodeSize json_code_size(const Build *b, const Function *f)
{
    while (b->tree.outer) b = b->tree.outer;
    const char *name = f ? text_format(b->cx, "%s_%s", b->name, f->name) : NULL;
    const CodeSize *s = name && b->observed.code_sizes ? map_get(b->observed.code_sizes, name, strlen(name)) : NULL;
    return s ? *s : (CodeSize){ -1, -1 };
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static const char *constant_of(const Build *b, const Slot *s)
{
    const int i = b->constant_of && s->kind == SLOT_CONST ? b->constant_of[s->index] : -1;
    return i >= 0 && i < b->shared->constant_count ? b->shared->constant_name[i] : NULL;
}

/* A parameter is in a buffer or in a constant, or in neither if the caller owns its memory. layer: the layer that
 * computes the parameter's contents. */
static void json_memory(const JsonReport *r, const Build *b, int group, const Memory *m, Text *t)
{
    const Slot *s = is_scratch(m) ? NULL : build_slot(b, group, m);
    const int buffer = b == r->whole ? report_buffer_of(b, &r->buffers, group, m) : -1;
    const int layer = s ? build_producer(b, s->tensor) : group;
    const char *constant = s ? constant_of(b, s) : NULL;
    if (buffer >= 0)
        text_printf(t, ", \"buffer\": %d, \"at\": %lld", buffer, (long long)report_offset_of(b, group, m));
    if (layer >= 0) json_number(t, "layer", json_layer_id(r, b, layer));
    if (constant) json_key(t, "constant", constant);
}

static void json_parameter(const JsonReport *r, const Build *b, int group, const ParameterTraffic *p, Text *t)
{
    json_key(t, "parameter", p->name);
    json_key(t, "kind", traffic_kind_names[p->kind]);
    json_number(t, "bytes", p->bytes);
    json_number(t, "read", p->moved.read);
    json_number(t, "written", p->moved.written);
    if (p->memory) json_key(t, "memory", p->memory);
    if (p->copied) json_number(t, "copied", p->copied);
    if (p->copied) json_key(t, "from", p->from);
    if (p->parameter) json_memory(r, b, group, p->parameter, t);
}

void json_traffic(const JsonReport *r, const Build *b, int group, Text *t)
{
    const ParameterTraffic *p;
    const int count = report_traffic(b, group, &p);
    text_add(t, ", \"traffic\": [");
    for (int i = 0; i < count; i++) {
        json_item(t);
        json_parameter(r, b, group, &p[i], t);
        text_char(t, '}');
    }
    text_char(t, ']');
}

/* ---- The layer --------------------------------------------------------------------------------------------------- */

static void json_reads(const JsonReport *r, const Build *b, int group, Text *t)
{
    const Group *g = &b->groups.at[group];
    text_add(t, ", \"reads\": [");
    for (int i = 0; i < g->input_count; i++) {
        const int layer = build_producer(b, g->input[i]);
        if (layer < 0 && tensor_is_constant(g->input[i])) continue;
        json_next(t);
        if (layer >= 0) text_printf(t, "%d", json_layer_id(r, b, layer));
        else json_text(t, g->input[i]->name);
    }
    text_char(t, ']');
}

static const Shrunk *shrunk_of(const Build *b, const Group *g)
{
    for (int i = 0; i < b->graph.shrunk_count; i++)
        for (int j = 0; j < g->node_count; j++)
            if (strcmp(b->graph.shrunk[i].name, g->node[j]->name) == 0) return &b->graph.shrunk[i];
    return NULL;
}

static void json_channels(const Shrunk *s, Text *t)
{
    if (s) text_printf(t, ", \"channels\": {\"kept\": %lld, \"of\": %lld}", (long long)s->is.channels,
                       (long long)s->was.channels);
    else text_add(t, ", \"channels\": null");
}

/* Returns the operand whose memory the result takes over, or NULL. */
static const Tensor *place_of(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Slot *y = plan_slot(&b->plan, g->output[0]);
    for (int i = 0; y && b->plan.in_place && b->plan.in_place[group] && i < g->input_count; i++) {
        const Slot *x = plan_slot(&b->plan, g->input[i]);
        if (x && x->root == y->root) return g->input[i];
    }
    return NULL;
}

static void json_place(const JsonReport *r, const Build *b, int group, Text *t)
{
    const Tensor *x = place_of(b, group);
    const int layer = x ? build_producer(b, x) : -1;
    if (layer >= 0) json_number(t, "in_place_of", json_layer_id(r, b, layer));
    else json_key(t, "in_place_of", x ? x->name : NULL);
}

static const char *file_name_of(const Group *g)
{
    return g->anchor && *g->anchor->name ? g->anchor->name : g->name;
}

void json_layer_facts(const JsonReport *r, const Build *b, int group, Text *t)
{
    const Group *g = &b->groups.at[group];
    const Tensor *y = g->output[0];
    const Function *f = json_called(b, group);
    json_number(t, "id", json_layer_id(r, b, group));
    json_key(t, "file_name", file_name_of(g));
    json_key(t, "root_operator", g->anchor ? g->anchor->op->name : NULL);
    json_reads(r, b, group, t);
    json_key(t, "type", dtype_info(y->type)->spelling);
    json_shape(b->cx, t, y);
    json_scale(t, y);
    if (b->plan.live_bytes) json_number(t, "live", b->plan.live_bytes[group]);
    json_flag(t, "float", report_computes_floats(b, group));
    json_channels(shrunk_of(b, g), t);
    json_place(r, b, group, t);
    json_key(t, "function", f ? text_format(b->cx, "%s_%s", r->whole->program.name, f->name) : NULL);
}

/* Prints the layer's demands on a unit with memories of its own, if the layer copies to these memories. */
void json_unit(const Build *b, int group, Text *t)
{
    UnitCounts n;
    if (!b->lowered.function[group] || !count_unit(b->cx, b->lowered.function[group], &n)) return;
    text_add(t, ", \"unit\": {\"copies\": ");
    text_printf(t, "%lld, \"moved\": %lld, \"filled\": %lld, \"instructions\": [", (long long)n.copies,
                (long long)n.moved, (long long)n.filled);
    for (int i = 0; i < n.macro_count; i++) {
        json_item(t);
        json_key(t, "macro", n.macro[i].macro);
        json_number(t, "calls", n.macro[i].calls);
        json_number(t, "points", n.macro[i].points);
        text_char(t, '}');
    }
    text_add(t, "]}");
}
