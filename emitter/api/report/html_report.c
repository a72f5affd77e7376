/* SPDX-License-Identifier: MIT */
/* Prints the report as one HTML file with SVG pictures, without script, font or network access. The layout is designed
 * for the width of a phone first.
 *
 *   the figures            multiply-adds, instructions and time, RAM, flash
 *   graph                  the layers as boxes, with their types and shares of the time (graph_picture.c)
 *   layers                 a row each: its operators, and bars for its shares of time, memory and flash
 *   memory over time       each buffer of the arena as a rectangle: layers to the right, offsets upwards; above, the
 *                          live bytes in each layer and the lower bound of every plan
 *   flash by part          the constants, the largest first
 *   removed operators      operators of the model that passes over the DAG folded or removed
 *
 * All numbers are integers, so the same model gives the same bytes on every machine. */
#include "api/computation/arguments.h"
#include "api/report/footprint.h"
#include "api/page/html.h"
#include "api/report/html_parts.h"
#include "api/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "support/guard.h"
#include "support/map.h"

/* ---- Buffers of the arena: offsets and live ranges --------------------------------------------------------------- */

typedef struct Buffers { int count; ReportBuffer *at; } Buffers;

/* Returns where a memory begins in the picture; several memories are drawn one above the other. */
static int64_t begin_of(const Build *b, int memory)
{
    int64_t begin = 0;
    for (int i = 0; i < memory && i < b->plan.memory_count; i++) begin += b->plan.memory[i].size;
    return begin;
}

static ReportBuffer buffer_of_root(const Build *b, const Slot *root)
{
    const int64_t bytes = tensor_most_bytes(b->cx, root->tensor);
    ReportBuffer k = { root->tensor->name, bytes, root->offset + begin_of(b, root->memory), b->groups.count, 0, false };
    for (const Slot *s = root; s; s = s->next) {
        if (s->first < k.first) k.first = s->first;
        if (s->last > k.last) k.last = s->last;
    }
    if (k.first < 0) k.first = 0;                                           /* an input is also live before the run */
    if (k.last >= b->groups.count) k.last = b->groups.count - 1;            /* an output is also live after the run */
    return k;
}

static void add_scratch(const Build *b, Buffers *to, const Call *c, int group)
{
    for (int i = 0; i < c->place_count; i++) {
        const Memory *m = c->function->memory[i];
        if (m->kind != MEMORY_SCRATCH) continue;
        const int64_t bytes = m->elems->integer * dtype_info(m->type)->bytes;
        const char *name = text_format(b->cx, "%s of %s", m->name, b->groups.at[group].name);
        to->at[to->count++] = (ReportBuffer){ name, bytes, c->place[i].offset + begin_of(b, c->place[i].index),
                                                group, group, true };
    }
}

static void add_region_scratch(const Build *b, Buffers *to, int group)
{
    for (int i = 0; i < b->scratch_count[group]; i++) {
        const Scratch *s = &b->scratch[group][i];
        const char *what = i ? "a state's second buffer" : "memory";
        const char *name = text_format(b->cx, "%s of %s", what, b->groups.at[group].name);
        if (s->bytes) to->at[to->count++] = (ReportBuffer){ name, s->bytes, s->offset, group, group, true };
    }
}

static Buffers buffers_of(const Build *b)
{
    int most = b->plan.slot_count;
    for (int i = 0; i < b->program.call_count; i++) most += b->program.call[i].place_count;
    Buffers all = { 0, NEW_ARRAY(b->cx->arena, ReportBuffer, most) };
    for (int i = 0; i < b->plan.slot_count; i++) {
        const Slot *s = &b->plan.slot[i];
        if (s->in_arena && s->root == s->tensor) all.at[all.count++] = buffer_of_root(b, s);
    }
    for (int i = 0, call = 0; i < b->groups.count; i++) {
        if (region_of_group(b, i)) add_region_scratch(b, &all, i), call++;
        if (b->function[i]) add_scratch(b, &all, &b->program.call[call++], i);
    }
    return all;
}

int report_buffers(const Build *b, const ReportBuffer **out)
{
    const Buffers all = buffers_of(b);
    *out = all.at;
    return all.count;
}

/* ---- Memory over time -------------------------------------------------------------------------------------------- */

enum {
    LEFT = 64,
    TOP = 14,
    LIVE = 74,
    BETWEEN = 26,
    ARENA = 300,
    BOTTOM = 34,
    LEAST_STEP = 12,
    MOST_STEP = 90,
    PLEASANT = 860,
    CHARACTER = 7
};

/* top: the number of bytes at the top of the chart */
typedef struct Chart { const Build *b; Text *t; Buffers buffers; int step, count; int64_t top; } Chart;

static int x_of(const Chart *c, int group) { return LEFT + group * c->step; }
static int height_of(const Chart *c, int64_t bytes, int full) { return (int)(bytes * full / (c->top ? c->top : 1)); }

static void scale(Chart *c, int floor, int full, int parts)
{
    for (int i = 0; i <= parts; i++) {
        const int64_t bytes = c->top * i / parts;
        const int y = floor - height_of(c, bytes, full);
        text_printf(c->t,
                    "<path d=\"M%d %dH%d\" stroke=\"var(--line)\"/><text class=\"faint\" x=\"%d\" y=\"%d\" "
                    "text-anchor=\"end\">%s</text>\n",
                    LEFT, y, x_of(c, c->count), LEFT - 6, y + 4, html_bytes(c->b->cx, bytes));
    }
}

/* Returns the bytes live in a group; bytes that several buffers share count once. */
static int64_t live_at(const Chart *c, int group)
{
    int64_t sum = 0, counted = 0;
    for (;;) {
        const ReportBuffer *next = NULL;
        for (int i = 0; i < c->buffers.count; i++) {
            const ReportBuffer *k = &c->buffers.at[i];
            if (k->first > group || group > k->last || k->offset + k->bytes <= counted) continue;
            if (!next || k->offset < next->offset) next = k;
        }
        if (!next) return sum;
        sum += next->offset + next->bytes - (next->offset > counted ? next->offset : counted);
        counted = next->offset + next->bytes;
    }
}

static void live_picture(Chart *c)
{
    const int floor = TOP + LIVE, bound = floor - height_of(c, c->b->plan.live_bound, LIVE);
    scale(c, floor, LIVE, 1);
    text_printf(c->t, "<path fill=\"var(--mac)\" fill-opacity=\".35\" d=\"M%d %d", LEFT, floor);
    for (int g = 0; g < c->count; g++)
        text_printf(c->t, "V%dH%d", floor - height_of(c, live_at(c, g), LIVE), x_of(c, g + 1));
    text_printf(
        c->t,
        "V%dZ\"/>\n<path d=\"M%d %dH%d\" stroke=\"var(--weight)\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>\n",
        floor, LEFT, bound, x_of(c, c->count));
}

static void buffer_picture(Chart *c, const ReportBuffer *k, int number)
{
    const int floor = TOP + LIVE + BETWEEN + ARENA, x = x_of(c, k->first) + 1,
              width = (k->last - k->first + 1) * c->step - 2;
    const int y = floor - height_of(c, k->offset + k->bytes, ARENA),
              height = floor - height_of(c, k->offset, ARENA) - y;
    const int letters = (width - 8) / CHARACTER;
    text_printf(c->t, "<g><title>");
    html_escaped(c->t, k->name);
    text_printf(c->t, ": %lld bytes at %lld, layers %d to %d</title>", (long long)k->bytes, (long long)k->offset,
                k->first, k->last);
    text_printf(c->t,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"hsl(%d 55%% 55%%)\" "
                "fill-opacity=\"%s\" stroke=\"hsl(%d 55%% 45%%)\"/>",
                x, y, width, height > 1 ? height : 1, number * 47 % 360, k->is_scratch ? ".25" : ".55",
                number * 47 % 360);
    if (height >= 13 && letters >= 4) {
        text_printf(c->t, "<text x=\"%d\" y=\"%d\">", x + 4, y + 11 + (height - 13) / 2);
        html_escaped(c->t, text_shortened(c->b->cx, k->name, letters));
        text_add(c->t, "</text>");
    }
    text_add(c->t, "</g>\n");
}

static void layer_numbers(Chart *c)
{
    const int every = (3 * CHARACTER + c->step) / c->step, y = TOP + LIVE + BETWEEN + ARENA + 15;
    for (int g = 0; g < c->count; g += every)
        text_printf(c->t, "<text class=\"faint\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                    x_of(c, g) + c->step / 2, y, g);
    text_printf(c->t, "<text class=\"faint\" x=\"%d\" y=\"%d\">layer</text>\n", LEFT, y + 14);
}

static void memory(const Build *b, Text *t)
{
    Chart c = { b, t, buffers_of(b), 0, b->groups.count, b->plan.arena_size };
    c.step = PLEASANT / (c.count ? c.count : 1);
    c.step = c.step < LEAST_STEP ? LEAST_STEP : c.step > MOST_STEP ? MOST_STEP : c.step;
    text_add(t, "<h2>Memory over time</h2>\n");
    if (!c.buffers.count) {
        text_add(t, "<p>The arena is empty.</p>\n");
        return;
    }
    const int width = x_of(&c, c.count) + 8, height = TOP + LIVE + BETWEEN + ARENA + BOTTOM,
              floor = TOP + LIVE + BETWEEN + ARENA;
    text_printf(t,
                "<p>Above: live bytes in each layer; the dashed line is the lower bound of every plan: %s. "
                "Below: the buffers of the arena, which has %s. Pale buffers are scratch memory of one layer; where "
                "two overlap, an output is computed in place.</p>\n",
                html_bytes(b->cx, b->plan.live_bound), html_bytes(b->cx, b->plan.arena_size));
    text_printf(t,
                "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
                "aria-label=\"memory over time\" style=\"max-width:100%%;height:auto;min-width:%dpx\">\n",
                width, height, width, height, width * 5 / 9);
    live_picture(&c);
    scale(&c, floor, ARENA, 4);
    for (int i = 0; i < c.buffers.count; i++) buffer_picture(&c, &c.buffers.at[i], i);
    layer_numbers(&c);
    text_add(t, "</svg></div>\n");
}

static void outside(const Build *b, Text *t)
{
    enum { MOST = 20 };
    const Outside *x;
    const int count = report_outside(b, &x);
    if (count) text_printf(t, "<p>Items that %s would take in, those that save most first:</p>\n<table>\n", x[0].into);
    if (count)
        text_add(t, "<tr><th>item</th><th>memory</th><th>bytes</th><th>more bytes needed</th><th>saves</th></tr>\n");
    for (int i = 0; i < count && i < MOST; i++) {
        text_add(t, "<tr><td>");
        html_escaped(t, x[i].name);
        text_printf(t, "</td><td>%s</td><td>%lld</td><td>%lld</td><td>%s</td></tr>\n", x[i].memory,
                    (long long)x[i].bytes, (long long)(x[i].missing > 0 ? x[i].missing : 0),
                    html_count(b->cx, x[i].saved / 1000));
    }
    if (count) text_add(t, "</table>\n");
}

/* Prints the memories of --memory; prints nothing without the option. */
static void memories(const Build *b, Text *t)
{
    const MemoryUse *m;
    const int count = report_memories(b, &m);
    int64_t all = 0;
    if (!count) return;
    for (int i = 0; i < count; i++) all = sat_add(all, m[i].cost);
    text_add(t, "<h2>Memories</h2>\n<table>\n<tr><th>memory</th><th>used</th><th>of</th><th>read</th><th>written</th>"
                "<th>cost</th></tr>\n");
    for (int i = 0; i < count; i++) {
        text_printf(t, "<tr><td>%s%s</td><td>%s</td>", m[i].name, m[i].is_rom ? ", constants" : "",
                    html_bytes(b->cx, m[i].used));
        text_printf(t, "<td>%s</td><td>%s</td>", html_bytes(b->cx, m[i].capacity), html_bytes(b->cx, m[i].moved.read));
        text_printf(t, "<td>%s</td><td>%d %%</td></tr>\n", html_bytes(b->cx, m[i].moved.written),
                    (int)(100 * (double)m[i].cost / (double)(all ? all : 1) + 0.5));
    }
    text_add(t, "</table>\n");
    outside(b, t);
}

/* ---- Layers ------------------------------------------------------------------------------------------------------ */

static void bar(Text *t, int64_t n, int64_t most, const char *color, const char *what)
{
    text_printf(t,
                "<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"%lld\" "
                "height=\"10\" fill=\"var(--%s)\"/></svg>",
                (long long)(most ? (n * 1000 + most - 1) / most : 0), color);
    text_printf(t, "<span>%s</span>", what);
}

/* The totals; bars are shares of these. */
typedef struct Shares { int64_t work, live, weights; } Shares;

static Shares shares_of(const Build *b)
{
    Shares all = { html_all_work(b), b->plan.arena_size, 0 };
    for (int i = 0; i < b->groups.count; i++) all.weights += report_weights(&b->groups.at[i]);
    return all;
}

/* Prints a bar with its percentage; `what` names the figure. */
static void share_bar(Ctx *cx, Text *t, int64_t n, int64_t of, const char *color, const char *what)
{
    bar(t, n, of, color, text_format(cx, "%s &#183; %s", html_percent(cx, n, of), what));
}

/* Prints cycles or milliseconds; if the core has no figures, prints multiply-adds. */
static const char *time_text(const Build *b, int64_t work)
{
    const int64_t time = html_has_cycles(b) ? report_microseconds(b, work) : -1;
    return time >= 0 ? text_format(b->cx, "%s ms", report_milliseconds(b->cx, time)) : html_count(b->cx, work);
}

static void layer_words(Build *b, Text *t, int i, bool names_floats)
{
    Ctx *cx = b->cx;
    const Group *g = &b->groups.at[i];
    html_escaped(t, group_ops_text(cx, g, " + "));
    text_add(t, g->node_count ? ", " : "");
    html_escaped(t, report_place(b, g));
    if (names_floats && report_computes_floats(b, i)) text_add(t, "; in floating point");
    if (b->plan.is_free[i]) text_add(t, "; costs nothing");
    else if (b->is_shared[i]) {
        text_add(t, "; shares the function of ");
        html_escaped(t, b->function[i]->name);
    }
    text_add(t, "<br>");
    html_escaped(t, html_type(cx, g->output[0]));
    text_printf(t, "; %s", html_bytes(cx, report_result(cx, g)));
    if (!b->plan.is_free[i] && report_group_macs(b, i))
        text_printf(t, "; %s multiply-adds", html_count(cx, report_group_macs(b, i)));
}

/* Returns true for the graph of NAME_run, false for the graph of a body or a training step. */
static bool is_main(const Build *b) { return !b->outer && !b->is_step; }

static void graph_heading(const Build *b, Text *t)
{
    text_add(t, "<h3>");
    html_escaped(t, b->is_step ? text_format(b->cx, "%s_train: one sample", b->name) : b->body->what);
    text_add(t, "</h3>\n");
}

/* Returns the bytes live in a layer; for a body, scratch memory is not included. */
static int64_t live_in(const Build *b, const Chart *c, int group)
{
    return is_main(b) ? live_at(c, group) : b->plan.live_bytes ? b->plan.live_bytes[group] : 0;
}

/* Names the parameters with their traffic. */
static void traffic_words(const Build *b, Text *t, int i)
{
    const ParameterTraffic *p;
    const int count = report_traffic(b, i, &p);
    if (count) text_add(t, "<br>Reads and writes:");
    for (int j = 0; j < count; j++) {
        text_add(t, j ? "; " : " ");
        html_escaped(t, p[j].name);
        if (p[j].moved.read) text_printf(t, " %s read", html_bytes(b->cx, p[j].moved.read));
        if (p[j].moved.written)
            text_printf(t, "%s %s written", p[j].moved.read ? "," : "", html_bytes(b->cx, p[j].moved.written));
        if (p[j].memory && b->plan.memory_count > 1) text_printf(t, " in %s", p[j].memory);
        if (p[j].copied) text_printf(t, ", after a copy of %s from %s", html_bytes(b->cx, p[j].copied), p[j].from);
    }
}

static void layer(Build *b, Text *t, int i, const Shares *all, const Chart *c, bool names_floats)
{
    Ctx *cx = b->cx;
    const int64_t work = html_work(b, i), weights = report_weights(&b->groups.at[i]), live = live_in(b, c, i);
    text_printf(t, "<li><div><b>%d ", i);
    html_escaped(t, b->groups.at[i].name);
    text_add(t, "</b><br><i>");
    layer_words(b, t, i, names_floats);
    traffic_words(b, t, i);
    text_add(t, "</i></div><div class=\"bars\">");
    share_bar(cx, t, work, all->work, "mac", time_text(b, work));
    share_bar(cx, t, live, all->live, "result", html_bytes(cx, live));
    share_bar(cx, t, weights, all->weights, "weight", html_bytes(cx, weights));
    text_add(t, "</div></li>\n");
}

static void layers_of(Build *b, Text *t, bool names_floats)
{
    const Shares all = shares_of(b);
    const Buffers none = { 0, NULL };
    const Chart c = { b, t, is_main(b) ? buffers_of(b) : none, 0, b->groups.count, b->plan.arena_size };
    text_add(t, "<ol>\n");
    for (int i = 0; i < b->groups.count; i++) layer(b, t, i, &all, &c, names_floats);
    text_add(t, "</ol>\n");
}

static void layers(Build *b, Text *t)
{
    const int floats = report_floats(b);
    text_printf(t, "<h2>Layers</h2>\n<p class=\"key\"><span style=\"--c:var(--mac)\">%s</span><span "
                   "style=\"--c:var(--result)\">memory</span><span style=\"--c:var(--weight)\">flash</span></p>\n"
                   "<p>Operators joined by + are one function; then the address of its result. Memory: bytes of the "
                   "arena that are live in the layer. Flash: its constants; layers may share them.</p>\n",
                html_has_cycles(b) ? b->options->mhz > 0 ? "time" : "time, in cycles" : "multiply-adds");
    if (floats >= 0) text_printf(t, "<p>Floating point in %d of %d layers.</p>\n", floats, report_layers(b));
    layers_of(b, t, floats >= 0);
    for (Build *g = b->next; g; g = g->next) {
        graph_heading(g, t);
        layers_of(g, t, floats >= 0);
    }
}

/* ---- Graph ------------------------------------------------------------------------------------------------------- */

static void graphs(const Build *b, Text *t)
{
    text_printf(t, "<h2>Graph</h2>\n<p>A box for each input and layer: name, share of %s, type and shape of the "
                   "result, and the real value of a stored q. Dashed: a view, without code.</p>\n",
                html_has_cycles(b) ? "the time" : "multiply-adds");
    html_graph(b, t);
    for (const Build *g = b->next; g; g = g->next) {
        graph_heading(g, t);
        html_graph(g, t);
    }
}

/* ---- Flash ------------------------------------------------------------------------------------------------------- */

typedef struct ReportPart { const char *name; int64_t bytes; int place; } ReportPart;

static int larger_first(const void *a, const void *b)
{
    const ReportPart *x = a, *y = b;
    return x->bytes != y->bytes ? x->bytes > y->bytes ? -1 : 1 : x->place - y->place;
}

static void flash(const Build *b, const Footprint *f, Text *t)
{
    enum { SHOWN = 40 };
    const int count = b->program.constant_count;
    ReportPart *part = NEW_ARRAY(b->cx->arena, ReportPart, count);
    int64_t all = 0, rest = 0;
    for (int i = 0; i < count; i++) {
        const char *part_name = b->program.constant_name[i] ? b->program.constant_name[i]
                                                            : b->program.constant[i]->name;
        part[i] = (ReportPart){ part_name, tensor_bytes(b->program.constant[i]), i };
        all += part[i].bytes;
    }
    if (count) qsort(part, (size_t)count, sizeof *part, larger_first);
    text_printf(t, "<h2>Flash by part</h2>\n<p>%s of constants. The code of %d function%s is not included; ",
                html_bytes(b->cx, all), b->program.function_count, b->program.function_count == 1 ? "" : "s");
    if (f->has_code) text_printf(t, "it takes %s", html_bytes(b->cx, f->code));
    else text_add(t, "its size depends on the C compiler, and --cc measures it");
    text_add(t, ".</p>\n<ol>\n");
    for (int i = 0; i < count; i++) {
        if (i >= SHOWN) rest += part[i].bytes;
        if (i >= SHOWN) continue;
        text_add(t, "<li><div>");
        html_escaped(t, part[i].name);
        text_add(t, "</div><div class=\"bars\">");
        bar(t, part[i].bytes, part[0].bytes, "weight", html_bytes(b->cx, part[i].bytes));
        text_add(t, "</div></li>\n");
    }
    if (rest)
        text_printf(t, "<li><div>%d smaller ones</div><div class=\"bars\"><i></i><span>%s</span></div></li>\n",
                    count - SHOWN, html_bytes(b->cx, rest));
    text_add(t, "</ol>\n");
}

/* ---- Removed operators ------------------------------------------------------------------------------------------- */

/* Returns the key of a node: passes replace it by new nodes with the same name and operator. */
static const char *key_of(Ctx *cx, const Node *n) { return text_format(cx, "%s %s", n->op->name, n->name); }

static bool reads_constants_alone(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return true;
}

static void removed(const Build *b, Text *t)
{
    Ctx *cx = b->cx;
    Map kept = map_new(cx->arena);
    Node **order;
    const Graph imported = { .name = b->name,
                             .input_count = b->model.input_count,
                             .input = b->model.input,
                             .output_count = b->model.output_count,
                             .output = b->model.output };
    int found = 0;
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < b->groups.at[i].node_count; j++) {
            const char *key = key_of(cx, b->groups.at[i].node[j]);
            map_put(&kept, key, strlen(key), &kept);
        }
    const int count = graph_order(cx, &imported, &order);
    text_add(t, "<h2>Removed operators</h2>\n");
    for (int i = 0; i < count; i++) {
        const char *key = order[i]->kind == NODE_CALL ? key_of(cx, order[i]) : NULL;
        if (!key || map_get(&kept, key, strlen(key))) continue;
        text_add(t, found++ ? "" : "<p>Operators of the model without code in the emitted program.</p>\n<ol>\n");
        text_add(t, "<li><div><b>");
        html_escaped(t, order[i]->name);
        text_add(t, "</b> <i>");
        html_escaped(t, order[i]->op->name);
        text_printf(t, "</i></div><div><i>%s</i></div></li>\n",
                    reads_constants_alone(order[i]) ? "computed at compile time"
                    : order[i]->op->layout.is_view  ? "a view: no work"
                                                    : "folded into adjacent operators or weights");
    }
    text_add(t, found ? "</ol>\n" : "<p>None: every operator is in a layer.</p>\n");
}

static const char *left_text(Ctx *cx, int64_t is, int64_t was, const char *what)
{
    return is == was ? text_format(cx, "%lld %s", (long long)is, what)
                     : text_format(cx, "%lld of %lld %s", (long long)is, (long long)was, what);
}

static const char *size_text(Ctx *cx, const Shrunk *l)
{
    return text_format(cx, "%s, %s, %s", left_text(cx, l->is.channels, l->was.channels, "channels"),
                       left_text(cx, l->is.macs, l->was.macs, "multiply-adds"),
                       left_text(cx, l->is.weights, l->was.weights, "bytes of kernels"));
}

/* Lists the layers from which lossless shrinking removed channels. */
static void shrunk(const Build *b, Text *t)
{
    const Graph *g = &b->graph;
    if (!g->shrunk_count) return;
    text_printf(t, "<p>No output depends on the rest: %s are left.</p>\n<ol>\n", size_text(b->cx, &g->shrunk_total));
    for (int i = 0; i < g->shrunk_count; i++) {
        text_add(t, "<li><div><b>");
        html_escaped(t, g->shrunk[i].name);
        text_printf(t, "</b></div><div><i>%s</i></div></li>\n", size_text(b->cx, &g->shrunk[i]));
    }
    text_add(t, "</ol>\n");
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* Prints the recorded annotations, which other tools read. */
static void annotations(const Build *b, Text *t)
{
    if (!b->graph.mark_count) return;
    text_add(t, "<h2>Annotations</h2>\n<table>\n<tr><th>node</th><th>annotation</th></tr>\n");
    for (int i = 0; i < b->graph.mark_count; i++) {
        const Node *n = b->graph.mark[i].annotation;
        text_add(t, "<tr><td>");
        html_escaped(t, n->name);
        text_printf(t, "</td><td>%s", n->op->name);
        html_escaped(t, report_attrs(b->cx, n));
        text_add(t, "</td></tr>\n");
    }
    text_add(t, "</table>\n");
}

static void figures(Build *b, const Footprint *f, Text *t)
{
    Ctx *cx = b->cx;
    const Totals all = report_totals(b);
    const char *state = all.state ? text_format(cx, ", state %s", html_bytes(cx, all.state)) : "";
    text_add(t, "<div class=\"cards\">\n");
    html_card(t, html_count(cx, all.macs), text_format(cx, "multiply-adds (%lld)", (long long)all.macs));
    if (all.instructions >= 0) {
        const int64_t time = report_microseconds(b, all.cycles);
        const char *about = report_measures_cycles(b) ? "" : "about ";
        const char *cycles = all.cycles >= 0 ? text_format(cx, ", %s%s cycles", about, html_count(cx, all.cycles)) : "";
        html_card(t, time >= 0 ? text_format(cx, "%s ms", report_milliseconds(cx, time))
                  : html_count(cx, all.instructions),
                  text_format(cx, "%s%s", time >= 0 ? text_format(cx, "a run: %s instructions",
                                                                  html_count(cx, all.instructions))
                                                    : "instructions a run", cycles));
    }
    const char *ports = b->options->ports_in_arena
                            ? " with inputs and outputs"
                            : text_format(cx, ", inputs %s, outputs %s", html_bytes(cx, all.inputs),
                                          html_bytes(cx, all.outputs));
    const char *stack = f->has_stack || f->is_bound
        ? text_format(cx, ", stack %s%s", f->is_bound ? "at most about " : "", html_bytes(cx, f->stack)) : "";
    html_card(t, html_bytes(cx, f->ram),
              text_format(cx, "RAM: arena %s%s%s%s", html_bytes(cx, all.arena), ports, state, stack));
    html_card(t, html_bytes(cx, f->flash), f->has_code
              ? text_format(cx, "flash: constants %s, code %s", html_bytes(cx, all.weights), html_bytes(cx, f->code))
              : "flash for constants");
    html_card(t, text_format(cx, "%d", report_layers(b)), text_format(cx, "layers, in %d functions",
                                                                 b->program.function_count));
    text_add(t, "</div>\n");
}

static const char *report_html(Ctx *cx, const char *model, const lw_options *o)
{
    Build b;
    Footprint f;
    Text t = text_new(cx);
    o = options_of(cx, "lw_report_html", o);
    if (!o || !is_given(cx, "lw_report_html", "the model", model) || !footprint_is_limit(cx, o)) return NULL;
    if (!build_read(&b, cx, model, o) || !build_graph(&b) || !build_nests(&b) || !build_program(&b)) return NULL;
    if (!footprint_of(&b, model, &f)) return NULL;
    html_begin(&t, b.program.source, text_format(cx, "compiled by Loopwright for %s", b.target->name));
    figures(&b, &f, &t);
    graphs(&b, &t);
    layers(&b, &t);
    memories(&b, &t);
    memory(&b, &t);
    flash(&b, &f, &t);
    removed(&b, &t);
    shrunk(&b, &t);
    annotations(&b, &t);
    html_end(&t);
    return footprint_fits(&b, &f) ? text_string(&t) : NULL;
}

const char *lw_report_html(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_html(cx, model, o));
}
