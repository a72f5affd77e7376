/* SPDX-License-Identifier: MIT */
/* The tables of bounds: why sums do not overflow, how often loops run, how deep calls go. */
#include <string.h>

#include "api/evidence/evidence.h"
#include "graph/shrink/facts.h"

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static bool is_whole_type(Interval i, const DTypeInfo *type)
{
    return i.least <= type->least && i.greatest >= type->greatest;
}

static const char *verdict_of(Interval i, DType t)
{
    const DTypeInfo *d = dtype_info(t);
    if (is_whole_type(i, d) && d->bytes <= 2) return "all values of its type: the operator limits its result to them";
    if (is_whole_type(i, d)) return "not bounded here; the contract of the function bounds it";
    return fits_type(i, t) ? "no input makes it overflow" : "the bound exceeds the type";
}

static void add_row(Table *t, int layer, const Node *n, const char *value, int64_t terms, Interval i, DType type)
{
    const DTypeInfo *d = dtype_info(type);
    trace_number(t, layer);
    trace_text(t, n->name);
    trace_text(t, n->op->name);
    trace_text(t, value);
    trace_known(t, terms);
    trace_number(t, i.least);
    trace_number(t, i.greatest);
    trace_text(t, d->spelling);
    trace_number(t, d->least);
    trace_number(t, d->greatest);
    trace_text(t, verdict_of(i, type));
}

/* Stores the range of the tensor over all channels; false for floats and tensors without a known range. */
static bool range_of(const GraphRanges *r, const Tensor *x, Interval *out)
{
    const ChannelRange *range = dtype_is_integer(x->type) ? channel_range(r, x) : NULL;
    if (!range || !range->count) return false;
    *out = range->at[0];
    for (int64_t i = 1; i < range->count; i++) *out = interval_hull(*out, range->at[i]);
    return true;
}

static const Fact *fact_of(const Fact *fact, int count, const Node *n)
{
    for (int i = 0; i < count; i++)
        if (fact[i].call == n && fact[i].is_sum) return &fact[i];
    return NULL;
}

/* The range of each channel of a sum's result. */
static void add_channels(Table *t, const GraphRanges *r, int layer, const Node *n)
{
    const ChannelRange *range = channel_range(r, n->out[0]);
    for (int64_t i = 0; range && range->count > 1 && i < range->count; i++) {
        trace_number(t, layer);
        trace_text(t, n->name);
        trace_text(t, n->op->name);
        trace_number(t, i);
        trace_number(t, range->at[i].least);
        trace_number(t, range->at[i].greatest);
        trace_text(t, dtype_info(n->out[0]->type)->spelling);
    }
}

static void add_ranges(Evidence *e)
{
    const Fact *fact;
    Build *b = e->b;
    Interval range;
    Table *t = trace_table(&e->trace, "ranges", "Ranges of integers",
                           "For each operator of a layer, the minimum and the maximum of its result, and of the "
                           "accumulator of a sum at any point of the sum, for all inputs of the model and in any order "
                           "of the terms. The bounds follow from the constants of each channel and the ranges of the "
                           "operands, which are results of operators before or the range of an input's type: the sum "
                           "of all negative terms, and that of all positive terms, with the initial value.",
                           "layer call operator value terms minimum maximum type type_minimum type_maximum verdict");
    Table *channels = trace_table(&e->trace, "channels", "Ranges of channels",
                                  "For each channel of the result of a sum, the minimum and the maximum for all inputs "
                                  "of the model, by the constants of the channel. Sums with one range for all channels "
                                  "are in the table of ranges alone.",
                                  "layer call operator channel minimum maximum type");
    if (!b->groups.count || !b->groups.at[0].node_count) return;
    const int count = graph_facts(e->cx, &b->graph, &fact);
    const GraphRanges *r = graph_ranges(e->cx, &b->graph, ranges_budget(e->cx, &b->graph));
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < b->groups.at[i].node_count; j++) {
            const Node *n = b->groups.at[i].node[j];
            const Fact *f = fact_of(fact, count, n);
            if (f) add_row(t, i, n, "accumulator", f->terms, f->sum, f->type);
            if (f && dtype_is_integer(n->out[0]->type)) add_channels(channels, r, i, n);
            if (n->kind == NODE_CALL && range_of(r, n->out[0], &range))
                add_row(t, i, n, "result", -1, range, n->out[0]->type);
        }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* lets: the values of the variables around a loop. line: the loops of the function's text, or NULL if they differ from
 * the loops of the code, because a macro replaces some of them. */
typedef struct LoopWalk {
    Evidence *e;
    Table *t;
    const char *function;
    Lets lets;
    int count, line_count; const int *line;
} LoopWalk;

static int64_t trips_of(int64_t span, int64_t step) { return span <= 0 ? 0 : (span + step - 1) / step; }

static void add_loop(LoopWalk *w, const Code *c, const Bounds *scope)
{
    Ctx *cx = w->e->cx;
    const Expr *span = lets_replace(cx, &w->lets, expr_sub(cx, c->end, c->begin));
    const Interval i = interval_of(cx, simplify(cx, span, scope), scope);
    const int number = w->count++;
    trace_text(w->t, w->function);
    trace_known(w->t, number < w->line_count ? w->line[number] : -1);
    trace_number(w->t, trips_of(i.least, c->step));
    trace_number(w->t, trips_of(i.greatest, c->step));
    trace_text(w->t, "its variable grows by a constant to an end that the body does not change");
}

/* A macro's portable form, the child of a call, is not among the loops. */
static void walk_loops(LoopWalk *w, const Code *c, const Bounds *scope)
{
    const int lets = w->lets.count;
    if (c->kind == CODE_CALL) return;
    if (c->kind == CODE_FOR) {
        add_loop(w, c, scope);
        scope = code_bounds(w->e->cx, scope, c);
    }
    if (c->kind == CODE_LET) lets_add(&w->lets, c);
    for (int i = 0; i < c->child_count; i++) walk_loops(w, c->child[i], scope);
    if (c->kind != CODE_LET && c->kind != CODE_SEQ) w->lets.count = lets;
}

static int count_loops(const Code *c)
{
    int count = c->kind == CODE_FOR;
    for (int i = 0; i < c->child_count && c->kind != CODE_CALL; i++) count += count_loops(c->child[i]);
    return count;
}

static void add_function_loops(Evidence *e, Table *t, const Function *f)
{
    const char *name = text_format(e->cx, "%s_%s", e->b->program.name, f->name);
    const Part *p = source_part(&e->parts, name);
    LoopWalk w = { .e = e, .t = t, .function = name };
    if (p) w.line = source_loops(e->cx, p, &w.line_count);
    if (w.line_count != count_loops(f->body)) w.line_count = 0;
    walk_loops(&w, f->body, NULL);
}

static const Function *layer_function(const Evidence *e, const char *name)
{
    const Program *p = &e->b->program;
    for (int i = 0; i < p->function_count; i++)
        if (strcmp(name, text_format(e->cx, "%s_%s", p->name, p->function[i]->name)) == 0) return p->function[i];
    return NULL;
}

/* The functions of the runtime that --standalone copies. The loops of these functions have no form in the code of
 * layers. */
static void add_helper_loops(Evidence *e, Table *t)
{
    const char *run = text_format(e->cx, "%s_run", e->b->program.name);
    for (int i = 0; i < e->parts.count; i++) {
        const Part *p = &e->parts.at[i];
        if (p->is_constant || layer_function(e, p->name) || strcmp(p->name, run) == 0) continue;
        int count = 0;
        const int *line = source_loops(e->cx, p, &count);
        for (int k = 0; k < count; k++) {
            trace_text(t, p->name);
            trace_number(t, line[k]);
            trace_none(t);
            trace_none(t);
            trace_text(t, "not counted here: a helper, whose text states the end");
        }
    }
}

static void add_region_loops(Evidence *e, Table *t)
{
    const Call *call;
    for (int i = 0; (call = program_call(&e->b->program, i)) != NULL; i++) {
        if (!call->control || !call->control->is_loop) continue;
        trace_text(t, text_format(e->cx, "%s_run", e->b->program.name));
        trace_none(t);
        trace_number(t, 0);
        trace_known(t, call->control->trip_count);
        trace_text(t, call->control->trip_count < 0 ? "data decide how often it runs, without a maximum"
                                                    : "data may end it before this maximum");
    }
}

static void add_loops(Evidence *e)
{
    const Program *p = &e->b->program;
    Table *t = trace_table(&e->trace, "loops", "Trip counts of loops",
                           "How often each loop runs when it is reached, at least and at most. model.c states "
                           "the loop variant that proves its end. A line is missing where the macros of a target "
                           "replace loops of the function.",
                           "function line least most ends_because");
    for (int i = 0; i < p->function_count; i++) {
        bool is_first = true;
        for (int k = 0; k < i; k++) is_first = is_first && p->function[k] != p->function[i];
        if (is_first) add_function_loops(e, t, p->function[i]);
    }
    add_helper_loops(e, t);
    add_region_loops(e, t);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* deepest: the bytes of arrays on the deepest chain of calls; -1 while it is being computed, which finds recursion */
typedef struct Calls { Evidence *e; int64_t *deepest; bool *is_open, *is_done; bool is_recursive; } Calls;

static int64_t deepest_of(Calls *c, int part)
{
    const Parts *p = &c->e->parts;
    const Function *f = layer_function(c->e, p->at[part].name);
    int64_t below = 0;
    if (c->is_open[part]) c->is_recursive = true;
    if (c->is_open[part] || c->is_done[part]) return c->deepest[part];
    c->is_open[part] = true;
    for (int i = 0; i < p->count; i++) {
        if (p->at[i].is_constant || !source_calls(&p->at[part], &p->at[i])) continue;
        const int64_t bytes = deepest_of(c, i);
        below = bytes > below ? bytes : below;
    }
    c->is_open[part] = false;
    c->is_done[part] = true;
    return c->deepest[part] = (f ? report_arrays(f, false) : 0) + below;
}

static const StackFrame *frame_of(const Evidence *e, const char *name)
{
    for (int i = 0; i < e->footprint->frame_count; i++)
        if (strcmp(e->footprint->frame[i].name, name) == 0) return &e->footprint->frame[i];
    return NULL;
}

static void add_function(Calls *c, Table *t, int part)
{
    const Evidence *e = c->e;
    const Part *p = &e->parts.at[part];
    const Function *f = layer_function(e, p->name);
    const StackFrame *frame = frame_of(e, p->name);
    Text callees = text_new(e->cx);
    for (int i = 0; i < e->parts.count; i++)
        if (!e->parts.at[i].is_constant && source_calls(p, &e->parts.at[i])) trace_item(&callees, e->parts.at[i].name);
    trace_text(t, p->name);
    trace_number(t, p->first_line);
    trace_number(t, p->last_line);
    trace_texts(t, &callees);
    trace_number(t, f ? report_arrays(f, false) : 0);
    trace_number(t, deepest_of(c, part));
    trace_known(t, frame ? frame->bytes : -1);
    trace_known(t, frame ? frame->deepest : -1);
}

static void add_functions(Evidence *e)
{
    const int count = e->parts.count;
    Calls c = { e, NEW_ARRAY(e->cx->arena, int64_t, count), NEW_ARRAY(e->cx->arena, bool, count),
                NEW_ARRAY(e->cx->arena, bool, count), false };
    Table *t = trace_table(&e->trace, "functions", "Functions, calls and stack",
                           "Each function of model.c with the functions that it calls. `arrays` are the bytes of its "
                           "arrays on the stack, `deepest_arrays` those of the deepest chain of calls from it. "
                           "`frame` and `deepest` are what the compiler of --cc states, with saved registers; it "
                           "inlines functions without a frame. No function is called by a pointer.",
                           "function first_line last_line calls arrays deepest_arrays frame deepest");
    for (int i = 0; i < count; i++)
        if (!e->parts.at[i].is_constant) add_function(&c, t, i);
    if (c.is_recursive) diag_internal(e->cx, NULL, "a function of the emitted C calls itself");
}

void evidence_bounds(Evidence *e)
{
    add_ranges(e);
    add_loops(e);
    add_functions(e);
}
