/* SPDX-License-Identifier: MIT */
/* `loopwright report` prints the model's cost as text. data.c prints JSON and CSV, html_report.c the page; all
 * take their figures from api/figures.h, and the table of layers from columns.c. The totals add RAM, flash, and a lower
 * bound on the arena of any plan that places whole tensors. */
#include <stdio.h>
#include <string.h>

#include "api/computation/arguments.h"
#include "api/report/columns.h"
#include "api/report/json.h"
#include "api/traffic.h"
#include "graph/shrink/facts.h"
#include "ir/nest/costs.h"
#include "support/guard.h"

static int free_layers(const Build *b)
{
    int count = 0;
    for (; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) count += b->plan.is_free[i];
    return count;
}

/* Returns the milliseconds of an estimate. Trailing zeros are removed, because an estimate has only three significant
 * digits. */
static const char *estimated_milliseconds(Ctx *cx, int64_t microseconds)
{
    const char *text = report_milliseconds(cx, report_rounded(microseconds));
    size_t n = strlen(text);
    while (text[n - 1] == '0') n--;
    return text_format(cx, "%.*s", (int)(n - (text[n - 1] == '.')), text);
}

/* Prints cycles if --mhz is given or if cycles are measured. */
static void print_cycles(const Build *b, int64_t cycles, Text *t)
{
    const int64_t time = report_microseconds(b, cycles);
    const bool is_measured = report_measures_cycles(b);
    if (time < 0 && !is_measured) return;
    text_printf(t, is_measured ? "cycles         %lld" : "cycles         about %lld",
                (long long)(is_measured ? cycles : report_rounded(cycles)));
    if (time >= 0) {
        text_printf(t, ": %s ms at ",
                    is_measured ? report_milliseconds(b->cx, time) : estimated_milliseconds(b->cx, time));
        text_double(t, b->options->mhz);
        text_add(t, " MHz");
    }
    if (is_measured) text_printf(t, ", measured by %s\n", b->options->runner);
    else text_printf(t, ", memory without wait states\n               cycles per instruction: %s\n",
                     b->target->core->cycles_from);
}

/* Prints the most that any data make a run execute. */
static void print_worst(const Build *b, const Totals *all, Text *t)
{
    if (all->instructions < 0 || !b->target->costs) return;
    if (all->worst < 0) text_add(t, "worst case     without a bound: data decide how often a loop runs\n");
    else if (all->worst == all->instructions) text_add(t, "worst case     the same for all data\n");
    else text_printf(t, "worst case     about %lld, with the costlier branch of each condition on data\n",
                     (long long)all->worst);
}

/* Prints the gain of --cores: the sum over the layers of the instructions of the busiest part. */
static void print_balance(const Build *b, Text *t)
{
    int64_t most = 0, all = 0;
    if (b->options->cores < 2 || !report_has_instructions(b)) return;
    for (int i = 0; i < b->groups.count; i++) {
        most = sat_add(most, report_busiest(b, i));
        all = sat_add(all, report_instructions(b, i));
    }
    text_printf(t, "cores          %d: about %lld instructions of the busiest core in each layer, a gain of %.2f\n",
                b->options->cores, (long long)most, most ? (double)all / (double)most : 1.0);
}

static void print_total_time(const Build *b, const Totals *all, const Footprint *f, Text *t)
{
    const bool is_measured = report_measures_instructions(b);
    if (all->instructions >= 0)
        text_printf(t, is_measured ? "instructions   %lld%s" : "instructions   about %lld%s",
                    (long long)(is_measured ? all->instructions : report_rounded(all->instructions)),
                    b->training.step ? " for a run" : "");
    if (is_measured) {
        if (b->observed.measured->is_stepped) text_add(t, ", of the compiled code");
        else text_printf(t, ", measured by %s", b->options->runner);
        if (!b->observed.measured->instructions.layer) text_add(t, "; layers are estimated");
    }
    if (f->not_stepped) text_printf(t, ", as the compiled code is not followed: %s", f->not_stepped);
    if (all->instructions >= 0) text_char(t, '\n');
    print_worst(b, all, t);
    print_cycles(b, all->cycles, t);
}

/* Prints the items that save most in the memory with the least costs. */
static void print_outside(const Build *b, Text *t, int64_t all)
{
    enum { MOST = 5 };
    const Outside *x;
    const int count = report_outside(b, &x);
    for (int i = 0; i < count && i < MOST; i++) {
        text_printf(t, "               %s is in %s; in %s it saves %.1f %% of all costs", x[i].name, x[i].memory,
                    x[i].into, 100 * (double)x[i].saved / (double)(all ? all : 1));
        text_printf(t, x[i].missing > 0 ? ", with %lld more bytes\n" : ", where others save more\n",
                    (long long)x[i].missing);
    }
    if (count > MOST)
        text_printf(t, "               and %d more, which -o report.json lists\n", count - MOST);
}

/* Prints the traffic of the stack, which the firmware places, if there are several RAMs. */
static void print_stack(const Build *b, Text *t)
{
    Traffic sum[TRAFFIC_KINDS];
    if (b->plan.memory_count < 2) return;
    report_sum_traffic(b, sum);
    if (sum[TRAFFIC_STACK].read + sum[TRAFFIC_STACK].written > 0)
        text_printf(t, "               arrays on the stack: a run reads %lld and writes %lld; put the stack in %s\n",
                    (long long)sum[TRAFFIC_STACK].read, (long long)sum[TRAFFIC_STACK].written,
                    b->plan.memory[report_fastest(b)].name);
}

static void count_copies(const Build *b, int group, int64_t *copies, int64_t *bytes)
{
    for (int i = 0; i < b->lowered.scratch_count[group]; i++) {
        const Scratch *s = &b->lowered.scratch[group][i];
        if (!s->copied || s->memory < 0) continue;
        ++*copies;
        *bytes += s->bytes;
    }
}

/* Prints a line for each memory of --memory. Costs are stored in thousandths; they are printed without decimals. */
static void print_memories(const Build *b, Text *t)
{
    enum { THOUSAND = 1000 };
    const MemoryUse *m;
    const int count = report_memories(b, &m);
    int64_t all = 0, copies = 0, copied = 0;
    for (int i = 0; i < count; i++) all = sat_add(all, m[i].cost);
    for (int g = 0; g < b->groups.count; g++) count_copies(b, g, &copies, &copied);
    for (int i = 0; i < count; i++) {
        text_printf(t, "memory         %s: %lld of %lld bytes%s", m[i].name, (long long)m[i].used,
                    (long long)m[i].capacity, m[i].is_rom ? " for constants" : "");
        if (!m[i].is_rom) text_printf(t, ", live-set bound %lld", (long long)m[i].live_bound);
        text_printf(t, "; a run reads %lld and writes %lld, cost %lld", (long long)m[i].moved.read,
                    (long long)m[i].moved.written, (long long)(m[i].cost / THOUSAND));
        text_printf(t, count > 1 && all ? ", %d %%\n" : "\n",
                    (int)(100 * (double)m[i].cost / (double)(all ? all : 1) + 0.5));
    }
    if (copies)
        text_printf(t, "               %lld constants are copied before layers, %lld bytes\n", (long long)copies,
                    (long long)copied);
    if (b->plan.memory_count > 1)
        text_printf(t, "               cost of results, scratch and constants: %lld; no plan costs less than %lld\n",
                    (long long)(b->plan.cost / THOUSAND), (long long)(b->plan.least_cost / THOUSAND));
    print_stack(b, t);
    print_outside(b, t, all);
}

/* Prints a line for each memory that schedules declare. */
static void print_units(const Build *b, Text *t)
{
    const UnitUse *u;
    const int count = report_units(b, &u);
    for (int i = 0; i < count; i++)
        text_printf(t, "unit memory    %s: %lld of %lld bytes%s; a build without LW_MEMORY_%s has them on the stack\n",
                    u[i].memory->name, (long long)u[i].used, (long long)u[i].memory->bytes,
                    u[i].memory->is_opaque ? ", opaque" : "", u[i].memory->name);
}

/* Returns true if --ram might give a smaller plan: the options allow --ram, and do not have it already. */
static bool may_take_ram(const lw_options *o)
{
    return !o->ram && !o->combine && !o->train && !o->memory_count;
}

/* Prints the bounds of the arena. The lines of several memories have their own. */
static void print_bounds(const Build *b, Text *t)
{
    if (b->plan.memory_count > 1) return;
    text_printf(t, "live-set bound %lld bytes in the arena (largest sum of bytes live at once)\n",
                (long long)b->plan.live_bound);
    text_printf(t, "least arena    %lld bytes for these live ranges: ", (long long)b->plan.least);
    if (b->plan.least == b->plan.arena_size) text_add(t, "the plan has it");
    else text_printf(t, "the plan is at most %lld above it", (long long)(b->plan.arena_size - b->plan.least));
    text_add(t, may_take_ram(b->options) ? "; `--ram 1` prints the smallest of all plans\n" : "\n");
}

static void print_totals(const Build *b, const Footprint *f, Text *t)
{
    Totals all = report_totals(b);
    text_printf(t, "\nmultiply-adds  %lld", (long long)all.macs);
    if (b->graph.stream)
        text_printf(t, " a hop of %lld frames; %lld a window of %lld", (long long)b->graph.stream->hop,
                    (long long)b->graph.stream->window_macs, (long long)b->graph.stream->window);
    text_char(t, '\n');
    print_total_time(b, &all, f, t);
    print_balance(b, t);
    text_printf(t, "RAM            %lld bytes: arena %lld", (long long)all.ram, (long long)all.arena);
    if (b->options->ports_in_arena) text_add(t, " with inputs and outputs");
    else text_printf(t, ", inputs %lld, outputs %lld", (long long)all.inputs, (long long)all.outputs);
    if (all.state) text_printf(t, ", state %lld", (long long)all.state);
    if (b->training.step)
        text_printf(t, ", params %lld, target and loss %lld", (long long)all.params, (long long)all.targets);
    text_char(t, '\n');
    print_memories(b, t);
    print_units(b, t);
    for (int i = 0; i < b->program.size_count; i++) {
        const Var *v = expr_as_var(b->program.size[i]);
        text_printf(t, "size %-9s %lld to %lld: all figures are for the greatest\n", v->name, (long long)v->least,
                    (long long)v->greatest);
    }
    print_bounds(b, t);
    const int free = free_layers(b);
    text_printf(t, "flash          %lld bytes of weights; %d functions for %d layers", (long long)all.weights,
                b->program.function_count, report_layers(b));
    text_printf(t, free ? ", of which %d cost nothing\n" : "\n", free);
    footprint_print(b, f, t);
    for (const Build *g = b; g; g = g->tree.next)
        if (g->scheduled.combine_text) text_printf(t, "\n%s\n", g->scheduled.combine_text);
    report_training(b, t);
}

static void print_pair(Text *t, int64_t was, int64_t is, int width)
{
    char number[24];
    if (was == is) snprintf(number, sizeof number, "%lld", (long long)is);
    else snprintf(number, sizeof number, "%lld of %lld", (long long)is, (long long)was);
    text_printf(t, " %*s", width, number);
}

/* Prints the layers that lossless shrinking reduced, in their form before biases and factors were fused into them. */
static void print_shrunk(const Graph *g, Text *t)
{
    if (!g->shrunk_count) return;
    const LayerSize *was = &g->shrunk_total.was, *is = &g->shrunk_total.is;
    text_printf(t,
                "\nLossless shrinking: %lld of %lld channels, %lld of %lld multiply-adds and %lld of %lld bytes of "
                "kernels are left;\n"
                "no output depends on the others, for any input.\n\n",
                (long long)is->channels, (long long)was->channels, (long long)is->macs, (long long)was->macs,
                (long long)is->weights, (long long)was->weights);
    text_printf(t, "%-28s %14s %20s %18s\n", "layer", "channels", "multiply-add", "kernel");
    for (int i = 0; i < g->shrunk_count; i++) {
        const Shrunk *l = &g->shrunk[i];
        text_printf(t, "%-28s", l->name);
        print_pair(t, l->was.channels, l->is.channels, 14);
        print_pair(t, l->was.macs, l->is.macs, 20);
        print_pair(t, l->was.weights, l->is.weights, 18);
        text_char(t, '\n');
    }
}

/* Prints a line such as "2 of 30 sums fit into 16 bits: a b". */
static void print_facts_of(Text *t, const Fact *fact, int count, bool is_counted(const Fact *f),
                           bool holds(const Fact *f), const char *format)
{
    int counted = 0, holding = 0;
    for (int i = 0; i < count; i++) {
        counted += is_counted(&fact[i]);
        holding += is_counted(&fact[i]) && holds(&fact[i]);
    }
    if (!holding) return;
    text_printf(t, format, holding, counted);
    for (int i = 0; i < count; i++)
        if (is_counted(&fact[i]) && holds(&fact[i])) text_printf(t, " %s", fact[i].call->name);
    text_char(t, '\n');
}

static bool sums_up(const Fact *f) { return f->is_sum; }
static bool stays_short(const Fact *f) { return fits_type(f->sum, I16); }
static bool limits(const Fact *f) { return f->clamps; }
static bool never_limits(const Fact *f) { return !f->binds; }

/* Prints the results of range analysis of integer arithmetic. */
static void print_facts(const Build *b, Text *t)
{
    const Fact *fact = NULL;
    int count = b->groups.count && b->groups.at[0].node_count ? graph_facts(b->cx, &b->graph, &fact) : 0;
    if (count) text_char(t, '\n');
    print_facts_of(t, fact, count, sums_up, stays_short, "%d of %d integer sums fit into 16 bits:");
    print_facts_of(t, fact, count, limits, never_limits, "%d of %d integer clamps never bind:");
}

/* Prints the number of quantizations of a QDQ model that are computed in integers. */
static void print_quantized(const Graph *g, Text *t)
{
    if (!g->quantized_count) return;
    text_printf(t, "\n%d of %d quantizations are computed in integers", g->quantized_count - g->unrealized_count,
                g->quantized_count);
    for (int i = 0; i < g->unrealized_count; i++)
        text_printf(t, "%s %s", i ? "" : "; in floats:", g->unrealized[i]->name);
    text_char(t, '\n');
}

static void print_floats(const Build *b, Text *t)
{
    const int floats = report_floats(b);
    if (floats < 0) return;
    text_printf(t, "floating point in %d of %d layers%s", floats, report_layers(b), floats ? ":" : "");
    for (; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++)
            if (report_computes_floats(b, i))
                text_printf(t, " %s (%s)", b->groups.at[i].name, group_ops_text(b->cx, &b->groups.at[i], "+"));
    text_char(t, '\n');
}

/* Recorded annotations have no effect on the program; the report prints them for other tools. */
static void print_annotations(const Build *b, Text *t)
{
    if (b->graph.mark_count) text_printf(t, "\n%d recorded annotations\n", b->graph.mark_count);
    for (int i = 0; i < b->graph.mark_count; i++) {
        const Node *n = b->graph.mark[i].annotation;
        text_printf(t, "%-28s %s%s\n", n->name, n->op->name, report_attrs(b->cx, n));
    }
}

/* Prints a line per layer with its traffic by kind of memory, and a line with its parameters. */
static void print_layer_traffic(const Build *b, Text *t, int group, int names, int kinds)
{
    const ParameterTraffic *p;
    const int count = report_traffic(b, group, &p);
    Traffic sum[TRAFFIC_KINDS] = { { 0, 0 } };
    if (!count) return;
    report_add_traffic(p, count, sum);
    text_printf(t, "%-*s", names, text_shortened(b->cx, b->groups.at[group].name, names));
    for (int k = 0; k < kinds; k++) text_printf(t, " %11lld", (long long)sat_add(sum[k].read, sum[k].written));
    text_add(t, "\n   ");
    for (int i = 0; i < count; i++) {
        text_printf(t, " %s %lld/%lld", p[i].name, (long long)p[i].moved.read, (long long)p[i].moved.written);
        if (p[i].memory && b->plan.memory_count > 1) text_printf(t, " %s", p[i].memory);
        if (p[i].copied) text_printf(t, " (%lld copied)", (long long)p[i].copied);
    }
    text_char(t, '\n');
}

static void print_traffic(Build *b, Text *t)
{
    Traffic sum[TRAFFIC_KINDS];
    const int names = columns_names(b), kinds = report_traffic_kinds(b);
    report_sum_traffic(b, sum);
    text_printf(t, "\nBytes that layers read and write; below, those of each parameter, read/written\n%-*s", names,
                "layer");
    for (int k = 0; k < kinds; k++) text_printf(t, " %11s", traffic_kind_names[k]);
    text_char(t, '\n');
    for (Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) print_layer_traffic(g, t, i, names, kinds);
    text_printf(t, "%-*s", names, b->tree.next ? "all layers of the run" : "all layers");
    for (int k = 0; k < kinds; k++) text_printf(t, " %11lld", (long long)sat_add(sum[k].read, sum[k].written));
    text_char(t, '\n');
}

static void report_text(Build *b, const Footprint *f, const char *against, Text *t)
{
    text_printf(t, "%s for %s\n\n", b->program.source, b->target->name);
    columns_text(b, t);
    print_totals(b, f, t);
    print_floats(b, t);
    print_quantized(&b->graph, t);
    print_facts(b, t);
    print_shrunk(&b->graph, t);
    print_annotations(b, t);
    print_traffic(b, t);
    validation_print(b->observed.validation, t);
    against_print(b, f, against, t);
}

const char *lw_report(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report", model, o, report_text, true));
}
