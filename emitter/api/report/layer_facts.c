/* SPDX-License-Identifier: MIT */
/* Prints the report's facts of structure for programs: edges between layers, functions, buffers, shrinking, options. */
#include "api/report/json.h"

#include "api/report/html_parts.h"
#include "ir/nest/costs.h"
#include "lower/merge.h"
#include "support/map.h"
#include "support/text.h"

/* Returns the number of the graph's first layer: the layers of all graphs are numbered in the order of the list. */
static int first_layer_of(const Build *whole, const Build *b)
{
    int first = 0;
    for (const Build *g = whole; g && g != b; g = g->next) first += g->groups.count;
    return first;
}

/* Returns the function's name in model.c. */
static const char *symbol_of(const Build *whole, const Function *f)
{
    return text_format(whole->cx, "%s_%s", whole->program.name, f->name);
}

/* Returns the function that the layer calls, or NULL if the layer emits none. */
static const Function *called_by(const Build *b, int group)
{
    const Function *f = b->function[group];
    const Merged *merged = f ? map_get_ptr(&b->shared->merged, f) : NULL;
    return merged ? merged->by : f;
}

static void json_reads(const Build *whole, Build *b, int group, Text *t)
{
    const Group *g = &b->groups.at[group];
    const char *between = "";
    text_add(t, ", \"reads\": [");
    for (int i = 0; i < g->input_count; i++) {
        const int layer = build_producer(b, g->input[i]);
        if (layer < 0 && tensor_is_constant(g->input[i])) continue;
        text_add(t, between);
        between = ", ";
        if (layer >= 0) text_printf(t, "%d", first_layer_of(whole, b) + layer);
        else json_text(t, g->input[i]->name);
    }
    text_char(t, ']');
}

void json_layer_facts(const Build *whole, Build *b, int group, Text *t)
{
    const Group *g = &b->groups.at[group];
    const Tensor *y = g->output[0];
    text_printf(t, ", \"id\": %d", first_layer_of(whole, b) + group);
    json_reads(whole, b, group, t);
    text_add(t, ", ");
    json_key(t, "type", dtype_info(y->type)->spelling);
    text_add(t, ", ");
    json_shape(b->cx, t, y);
    json_scale(t, y);
    if (b->plan.live_bytes) text_printf(t, ", \"live\": %lld", (long long)b->plan.live_bytes[group]);
    text_add(t, ", \"function\": ");
    if (called_by(b, group)) json_text(t, symbol_of(whole, called_by(b, group)));
    else text_add(t, "null");
}

/* ---- Functions, buffers ------------------------------------------------------------------------------------------ */

static void json_callers(const Build *whole, const Function *f, Text *t)
{
    const char *between = "";
    for (const Build *g = whole; g; g = g->next)
        for (int i = 0; i < g->groups.count; i++) {
            if (called_by(g, i) != f) continue;
            text_printf(t, "%s%d", between, first_layer_of(whole, g) + i);
            between = ", ";
        }
}

static void json_functions(const Build *b, Text *t)
{
    text_add(t, "  \"functions\": [");
    for (int i = 0; i < b->program.function_count; i++) {
        text_add(t, i ? ", {" : "{");
        json_key(t, "name", symbol_of(b, b->program.function[i]));
        text_add(t, ", \"layers\": [");
        json_callers(b, b->program.function[i], t);
        text_add(t, "]}");
    }
    text_add(t, "],\n");
}

static void json_buffers(const Build *b, Text *t)
{
    const ReportBuffer *at;
    const int count = report_buffers(b, &at);
    text_add(t, "  \"buffers\": [");
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ", {" : "{");
        json_key(t, "name", at[i].name);
        text_printf(t, ", \"at\": %lld, \"bytes\": %lld, \"from\": %d, \"to\": %d, \"scratch\": %s}",
                    (long long)at[i].offset, (long long)at[i].bytes, at[i].first, at[i].last,
                    at[i].is_scratch ? "true" : "false");
    }
    text_add(t, "],\n");
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void json_shrink(const Graph *g, Text *t)
{
    const LayerSize *was = &g->shrunk_total.was, *is = &g->shrunk_total.is;
    if (!g->shrunk_count) text_add(t, "  \"shrink\": null,\n");
    else
        text_printf(t, "  \"shrink\": {\"channels\": %lld, \"of_channels\": %lld, \"multiply_adds\": %lld, "
                       "\"of_multiply_adds\": %lld, \"kernels\": %lld, \"of_kernels\": %lld},\n",
                    (long long)is->channels, (long long)was->channels, (long long)is->macs, (long long)was->macs,
                    (long long)is->weights, (long long)was->weights);
}

static void json_messages(Ctx *cx, Text *t)
{
    const char *message, *between = "";
    bool is_error;
    text_add(t, "  \"warnings\": [");
    for (int i = 0; (message = lw_diagnostic(cx, i, &is_error)) != NULL; i++) {
        if (is_error) continue;
        text_add(t, between);
        between = ", ";
        json_text(t, message);
    }
    text_add(t, "],\n");
}

void json_structure(Build *b, Text *t)
{
    text_add(t, "  ");
    json_key(t, "version", lw_version());
    text_add(t, ",\n  ");
    json_key(t, "options", b->program.options);
    text_add(t, ",\n  \"mhz\": ");
    if (b->options->mhz > 0) text_double(t, b->options->mhz);
    else text_add(t, "null");
    text_add(t, ",\n  \"cycle_model\": ");
    if (report_has_cycles(b)) json_text(t, b->target->core->cycles_from);
    else text_add(t, "null");
    text_add(t, ",\n");
    json_shrink(&b->graph, t);
    json_functions(b, t);
    json_buffers(b, t);
    json_messages(b->cx, t);
}
