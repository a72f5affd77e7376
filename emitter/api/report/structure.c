/* SPDX-License-Identifier: MIT */
/* Prints the report's facts of structure for programs: functions with their schedules, buffers, constants, what passes
 * removed, messages, options. */
#include <string.h>

#include "api/report/json.h"
#include "api/schedule_words.h"
#include "graph/shrink/facts.h"
#include "ir/nest/costs.h"

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* A layer, by its graph. */
typedef struct Caller { Build *build; int group; } Caller;

/* Prints the ids of the layers that call the function; returns the first one. */
static Caller json_callers(const JsonReport *r, const Function *f, Text *t)
{
    Caller first = { NULL, 0 };
    text_add(t, ", \"layers\": [");
    for (Build *g = r->whole; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            if (json_called(g, i) != f) continue;
            text_printf(t, "%s%d", first.build ? ", " : "", json_layer_id(r, g, i));
            if (!first.build) first = (Caller){ g, i };
        }
    text_char(t, ']');
    return first;
}

/* Prints the lines of a text as strings, without leading blanks. */
static void json_lines(Text *t, Ctx *cx, const char *key, const char *text)
{
    json_name(t, key);
    text_char(t, '[');
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        s += strspn(s, " ");
        json_next(t);
        json_text(t, text_format(cx, "%.*s", (int)strcspn(s, "\n"), s));
    }
    text_char(t, ']');
}

/* Prints the schedule of the first layer that calls the function; the schedules of the other layers differ only in
 * names. */
static void json_schedule(const Caller *c, Text *t)
{
    Build *b = c->build;
    const Nest *n = b ? build_named_nest(b, c->group) : NULL;
    if (!n) {
        text_add(t, ", \"schedule\": null");
        return;
    }
    const Implementation *chosen = b->scheduled.chosen ? b->scheduled.chosen[c->group] : NULL;
    Text steps = text_new(b->cx), loops = text_new(b->cx), why = text_new(b->cx);
    if (n->when || n->compute) schedule_head(&steps, n);
    schedule_steps(b->cx, &steps, n);
    schedule_loops(b->cx, &loops, n);
    schedule_origin(b, &why, c->group);
    text_add(t, ", \"schedule\": {");
    json_key(t, "name", chosen ? chosen->name : NULL);
    json_lines(t, b->cx, "steps", text_string(&steps));
    json_key(t, "loops", text_string(&loops));
    json_key(t, "why", text_string(&why));
    text_char(t, '}');
}

static void json_function(const JsonReport *r, int i, Text *t)
{
    const Build *b = r->whole;
    const Function *f = b->program.function[i];
    const char *name = text_format(b->cx, "%s_%s", b->program.name, f->name);
    const ReportFunction *text = map_get(&r->functions, name, strlen(name));
    json_key(t, "name", name);
    const Caller first = json_callers(r, f, t);
    if (text) {
        text_printf(t, ", \"lines\": [%d, %d]", text->first_line, text->last_line);
        json_key(t, "formula", text->comment);
        json_key(t, "text", text->text);
    } else text_add(t, ", \"lines\": null, \"formula\": null, \"text\": null");
    const CodeSize size = json_code_size(b, f);
    json_known(t, "code", size.code);
    json_known(t, "stack", size.stack);
    json_schedule(&first, t);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void json_buffer(const JsonReport *r, int i, Text *t)
{
    const ReportBuffer *k = &r->buffers.at[i];
    json_number(t, "id", i);
    json_key(t, "name", k->name);
    json_known(t, "layer", k->layer);
    json_key(t, "kind", !k->root ? "scratch" : k->layer < 0 ? "input" : k->root->kind == SLOT_OUTPUT ? "output"
                        : "result");
    json_number(t, "at", k->offset);
    json_number(t, "bytes", k->bytes);
    json_number(t, "from", k->first);
    json_number(t, "to", k->last);
    json_known(t, "in_place_of", k->in_place_of);
}

/* Returns true if the group reads constant i of the program. */
static bool reads_constant(const Build *b, int group, int i)
{
    const Group *g = &b->groups.at[group];
    for (int j = 0; j < g->input_count; j++) {
        const Slot *s = tensor_is_constant(g->input[j]) ? plan_slot(&b->plan, g->input[j]) : NULL;
        if (s && s->kind == SLOT_CONST && b->constant_of && b->constant_of[s->index] == i) return true;
    }
    return false;
}

static void json_constant(const JsonReport *r, int i, Text *t)
{
    const Program *p = &r->whole->program;
    json_key(t, "name", p->constant_name[i] ? p->constant_name[i] : p->constant[i]->name);
    text_printf(t, ", \"bytes\": %lld, \"layers\": [", (long long)tensor_bytes(p->constant[i]));
    for (const Build *g = r->whole; g; g = g->tree.next)
        for (int j = 0; j < g->groups.count; j++) {
            if (!reads_constant(g, j, i)) continue;
            json_next(t);
            text_printf(t, "%d", json_layer_id(r, g, j));
        }
    text_char(t, ']');
}

/* ---- What passes did --------------------------------------------------------------------------------------------- */

static void json_removed(const JsonReport *r, int i, Text *t)
{
    const Removed *x = &r->removed[i];
    json_key(t, "name", x->node->name);
    json_key(t, "operator", x->node->op->name);
    json_key(t, "why", x->why);
}

static void json_size(Text *t, const LayerSize *is, const LayerSize *was)
{
    json_next(t);
    text_printf(t, "\"channels\": %lld, \"of_channels\": %lld, \"multiply_adds\": %lld, \"of_multiply_adds\": %lld, "
                   "\"kernels\": %lld, \"of_kernels\": %lld", (long long)is->channels, (long long)was->channels,
                (long long)is->macs, (long long)was->macs, (long long)is->weights, (long long)was->weights);
}

static void json_shrunk(const JsonReport *r, int i, Text *t)
{
    const Shrunk *s = &r->whole->graph.shrunk[i];
    json_key(t, "name", s->name);
    json_size(t, &s->is, &s->was);
}

static void json_shrink(const JsonReport *r, Text *t)
{
    const Graph *g = &r->whole->graph;
    text_add(t, g->shrunk_count ? "  \"shrink\": {" : "  \"shrink\": null,\n");
    if (g->shrunk_count) {
        json_size(t, &g->shrunk_total.is, &g->shrunk_total.was);
        text_add(t, "},\n");
    }
    json_list(r, t, "shrunk", g->shrunk_count, json_shrunk);
}

static void json_combined(const Build *b, Text *t)
{
    text_add(t, "  \"combined\": [");
    for (const Build *g = b; g; g = g->tree.next) {
        if (!g->scheduled.combine_text) continue;
        json_next(t);
        json_text(t, g->scheduled.combine_text);
    }
    text_add(t, "],\n");
}

/* Counts the integer sums that fit into 16 bits. */
static void json_sums(const Build *b, Text *t)
{
    const Fact *fact = NULL;
    const int count = b->groups.count && b->groups.at[0].node_count ? graph_facts(b->cx, &b->graph, &fact) : 0;
    int sums = 0, fit = 0;
    for (int i = 0; i < count; i++) {
        sums += fact[i].is_sum;
        fit += fact[i].is_sum && fits_type(fact[i].sum, I16);
    }
    text_printf(t, "  \"sums_in_16_bits\": {\"fit\": %d, \"of\": %d},\n", fit, sums);
}

static void json_annotation(const JsonReport *r, int i, Text *t)
{
    const Node *n = r->whole->graph.mark[i].annotation;
    const char *attrs = report_attrs(r->whole->cx, n);
    json_key(t, "node", n->name);
    json_key(t, "annotation", n->op->name);
    json_key(t, "attributes", attrs + strspn(attrs, " "));
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void json_messages(Ctx *cx, Text *t)
{
    const char *message;
    bool is_error;
    text_add(t, "  \"warnings\": [");
    for (int i = 0; (message = lw_diagnostic(cx, i, &is_error)) != NULL; i++) {
        if (is_error) continue;
        json_next(t);
        json_text(t, message);
    }
    text_add(t, "],\n");
}

/* The graphs of regions, with a description; a layer names its graph. */
static void json_graphs(const Build *b, Text *t)
{
    text_add(t, "  \"graphs\": [");
    for (const Build *g = b->tree.next; g; g = g->tree.next) {
        json_item(t);
        json_key(t, "name", g->training.is_step ? "train" : g->tree.body->name);
        json_key(t, "what",
                 g->training.is_step ? text_format(b->cx, "%s_train: one sample", g->name) : g->tree.body->what);
        text_char(t, '}');
    }
    text_add(t, "],\n");
}

static void json_options(const Build *b, Text *t)
{
    json_line(t, "version", lw_version());
    json_line(t, "options", build_report_words(b->cx, b->options));
    text_add(t, "  \"mhz\": ");
    if (b->options->mhz > 0) text_double(t, b->options->mhz);
    else text_add(t, "null");
    text_add(t, ",\n");
    json_line(t, "cycle_model", report_has_cycles(b) && b->target->core ? b->target->core->cycles_from : NULL);
}

void json_structure(const JsonReport *r, Text *t)
{
    Build *b = r->whole;
    json_options(b, t);
    json_shrink(r, t);
    json_list(r, t, "removed", r->removed_count, json_removed);
    json_combined(b, t);
    json_sums(b, t);
    json_list(r, t, "annotations", b->graph.mark_count, json_annotation);
    json_messages(b->cx, t);
    json_graphs(b, t);
    json_list(r, t, "constants", b->program.constant_count, json_constant);
    json_list(r, t, "functions", b->program.function_count, json_function);
    json_list(r, t, "buffers", r->buffers.count, json_buffer);
}
