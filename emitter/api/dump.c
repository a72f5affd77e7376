/* SPDX-License-Identifier: MIT */
/* `loopwright dump` prints the model as text at each stage. */
#include <stdlib.h>
#include <string.h>

#include "api/computation/arguments.h"
#include "api/figures.h"
#include "api/schedule_words.h"
#include "driver/driver.h"
#include "graph/dag/definition.h"
#include "graph/plan/group_schedules.h"
#include "ir/check/cost.h"
#include "ir/text/print_code.h"
#include "schedule/schedule.h"
#include "support/guard.h"
#include "support/map.h"
#include "support/names.h"

/* ---- The DAG ---------------------------------------------------------------------------------------------------- */

typedef struct Dag { Ctx *cx; Text *t; Map number; int count; } Dag;

static const char *tensor_id(Dag *d, const Tensor *x)
{
    if (!x) return "-";
    const char *id = map_get_const_ptr(&d->number, x);
    if (id) return id;
    id = name_format(d->cx, "t%d", ++d->count);
    map_put_const_ptr(&d->number, x, id);
    if (tensor_is_constant(x))
        text_printf(d->t, "const  %s: %s%s  \"%s\"\n", id, dtype_info(x->type)->spelling, tensor_shape_names(d->cx, x),
                    x->name);
    return id;
}

static void print_graphs_of(Dag *d, const Build *b, const Node *n);

static void print_node(Dag *d, const Build *b, const Node *n)
{
    Text line = text_new(d->cx);
    for (int i = 0; i < n->out_count; i++) text_printf(&line, "%s%s", i ? ", " : "", tensor_id(d, n->out[i]));
    text_printf(&line, " = %s(", n->kind == NODE_COMPUTE ? "compute" : n->op->name);
    for (int i = 0; i < n->in_count; i++) text_printf(&line, "%s%s", i ? ", " : "", tensor_id(d, n->in[i]));
    text_char(&line, ')');
    for (int i = 0; i < n->attr_count; i++)
        text_printf(&line, " %s=%s", n->attr[i].name, attr_text(d->cx, &n->attr[i]));
    text_add(&line, " :");
    for (int i = 0; i < n->out_count; i++)
        text_printf(&line, " %s%s", dtype_info(n->out[i]->type)->spelling, tensor_shape_names(d->cx, n->out[i]));
    text_printf(d->t, "%s  \"%s\"%s%s\n", text_string(&line), n->name, n->device ? "  on " : "",
                n->device ? n->device : "");
    if (n->kind == NODE_REGION) print_graphs_of(d, b, n);
    if (n->kind != NODE_COMPUTE && !n->op->definition) return;
    text_add(d->t, "       ");
    if (n->kind == NODE_COMPUTE) print_stage(d->cx, d->t, n->stage);
    else print_formulas(d->cx, d->t, n);
    text_char(d->t, '\n');
}

/* Prints one graph; tensor numbers are unique over all graphs. */
static void print_graph(const Build *b, Dag *d, void print_nodes(const Build *b, Dag *d))
{
    for (int i = 0; i < b->graph.input_count; i++) {
        const Tensor *x = b->graph.input[i];
        const char *id = tensor_id(d, x);
        text_printf(d->t, "input  %s: %s%s  \"%s\"\n", id, dtype_info(x->type)->spelling, tensor_shape_names(b->cx, x),
                    x->name);
    }
    print_nodes(b, d);
    for (int i = 0; i < b->graph.output_count; i++) {
        const char *id = tensor_id(d, b->graph.output[i]);
        text_printf(d->t, "output %s  \"%s\"\n", id, (b->tree.outer ? b->graph.output : b->model.output)[i]->name);
    }
}

static void print_order(const Build *b, Dag *d)
{
    Node **order;
    int count = graph_order(b->cx, &b->graph, &order);
    for (int i = 0; i < count; i++) print_node(d, b, order[i]);
}

static bool is_selected(const Build *b, const Group *g)
{
    return !b->options->only || strcmp(b->options->only, g->name) == 0;
}

static void print_groups(const Build *b, Dag *d)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        if (!is_selected(b, g)) continue;
        text_printf(d->t, "group %s%s%s\n", g->name, g->anchor ? " around " : "", g->anchor ? g->anchor->op->name : "");
        for (int j = 0; j < g->node_count; j++) print_node(d, b, g->node[j]);
    }
}

/* Prints a region's graphs below its node, indented. */
static void print_graphs_of(Dag *d, const Build *b, const Node *n)
{
    Build *inner = build_graphs_of(b, n);
    Text *outer = d->t;
    for (int g = 0; g < n->region->graph_count; g++) {
        Text t = text_new(d->cx);
        d->t = &t;
        print_graph(&inner[g], d, inner[g].groups.count ? print_groups : print_order);
        d->t = outer;
        text_printf(outer, "    %s {\n", n->region->kind == REGION_LOOP ? "body" : g ? "else" : "then");
        for (const char *line = text_string(&t); *line; line += strcspn(line, "\n") + 1)
            text_printf(outer, "        %.*s\n", (int)strcspn(line, "\n"), line);
        text_add(outer, "    }\n");
    }
}

/* Prints the marked values. A pass may remove such a value from the program, for example when it folds a scale into
 * weights. In that case the calls that define the value precede its mark. */
static void print_marks(const Build *b, Dag *d)
{
    Map computed = map_new(b->cx->arena), printed = map_new(b->cx->arena);
    Node **order;
    int count = graph_order(b->cx, &b->graph, &order);
    for (int i = 0; i < count; i++) map_put_ptr(&computed, order[i], order[i]);
    for (int i = 0; i < b->graph.mark_count; i++) {
        const Mark *m = &b->graph.mark[i];
        const bool is_computed = !m->tensor->producer || map_get_ptr(&computed, m->tensor->producer);
        count = dag_order(b->cx, &m->tensor, 1, &order);
        for (int j = 0; j < count && !is_computed; j++) {
            if (map_get_ptr(&computed, order[j]) || map_get_ptr(&printed, order[j])) continue;
            map_put_ptr(&printed, order[j], order[j]);
            print_node(d, b, order[j]);
        }
        text_printf(d->t, "mark   %s: %s%s  \"%s\"%s\n", tensor_id(d, m->tensor), m->annotation->op->name,
                    report_attrs(b->cx, m->annotation), m->annotation->name,
                    is_computed ? "" : "  (not computed: folded into other calls)");
    }
}

static bool dump_dag(Build *b, Text *t)
{
    Dag d = { b->cx, t, map_new(b->cx->arena), 0 };
    print_graph(b, &d, print_order);
    print_marks(b, &d);
    return true;
}

static bool dump_fused(Build *b, Text *t)
{
    Dag d = { b->cx, t, map_new(b->cx->arena), 0 };
    print_graph(b, &d, print_groups);
    return true;
}

/* ---- Nests ------------------------------------------------------------------------------------------------------ */

/* Returns the nest before its first step. */
static const Nest *naive_of(const Build *b, int i)
{
    const Nest *n = b->scheduled.nest[i];
    Tensor **in = NEW_ARRAY(b->cx->arena, Tensor *, n->input_count),
           **out = NEW_ARRAY(b->cx->arena, Tensor *, n->output_count);
    const Group *g = &b->groups.at[i];
    if (g->anchor) {
        out = group_expand(b->cx, g, b->scheduled.chosen[i], in, NULL);
        return out ? nest_naive(b->cx, g->name, in, g->input_count, out, n->output_count) : NULL;
    }
    for (int j = 0; j < n->input_count; j++) in[j] = n->input[j];
    for (int j = 0; j < n->output_count; j++) out[j] = n->output[j];
    return nest_naive(b->cx, n->name, in, n->input_count, out, n->output_count);
}

/* Prints the figures that a step changed: `loops 5 -> 6, loads 1200 -> 800`. */
static void print_effect(Text *t, const NestCost *old, const NestCost *new)
{
    const struct {
        const char *name;
        int64_t before, after;
    } figure[] = {
        { "loops", old->loops, new->loops },
        { "buffers", old->buffers, new->buffers },
        { "buffer bytes", old->buffer_bytes, new->buffer_bytes },
        { "loads", old->loads, new->loads },
        { "stores", old->stores, new->stores },
        { "multiply-adds", old->multiply_adds, new->multiply_adds },
    };
    const char *between = "      ";
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++) {
        if (figure[i].before == figure[i].after) continue;
        text_printf(t, "%s%s %lld -> %lld", between, figure[i].name, (long long)figure[i].before,
                    (long long)figure[i].after);
        between = ", ";
    }
    if (*between == ',') text_char(t, '\n');
}

static void print_cost(Text *t, const char *when, const NestCost *c)
{
    text_printf(t, "%s: loops %d, buffers %d, buffer bytes %lld, loads %lld, stores %lld, multiply-adds %lld\n", when,
                c->loops, c->buffers, (long long)c->buffer_bytes, (long long)c->loads, (long long)c->stores,
                (long long)c->multiply_adds);
}

/* Applies the declarations and the first `steps` other steps; with --explain, also prints the effect of each step. */
static const Nest *replay(const Build *b, Text *t, const Nest *n, const Nest *last, int steps)
{
    NestCost cost = b->options->explain && n ? nest_cost(b->cx, n) : (NestCost){ .loops = 0 };
    if (b->options->explain && n) print_cost(t, "before", &cost);
    for (int s = 0; s < last->step_count && n && !ctx_failed(b->cx); s++) {
        const Step *step = &last->step[s];
        const int number = step_number(last->step, s + 1);
        if (number > steps) break;
        n = sched_run(b->cx, n, step);
        if (step_declares(step) || !b->options->explain || ctx_failed(b->cx)) continue;
        NestCost next = nest_cost(b->cx, n);
        text_printf(t, "%4d  %s\n", number, step_text(b->cx, step));
        print_effect(t, &cost, &next);
        cost = next;
    }
    if (b->options->explain && n && steps) print_cost(t, "after", &cost);
    return n;
}

static bool dump_strategy(Build *b, Text *t)
{
    if (b->scheduled.combine_text) text_add(t, b->scheduled.combine_text);
    for (int i = 0; i < b->groups.count; i++) {
        if (!is_selected(b, &b->groups.at[i])) continue;
        schedule_origin(b, t, i);
        if (schedule_is_chosen(b, i) && b->options->explain && b->scheduled.nest[i])
            replay(b, t, naive_of(b, i), b->scheduled.nest[i], b->scheduled.nest[i]->step_count);
    }
    return true;
}

static bool dump_steps(const Build *b, Text *t, int steps)
{
    for (int i = 0; i < b->groups.count && !ctx_failed(b->cx); i++) {
        if (!is_selected(b, &b->groups.at[i]) || !b->scheduled.nest[i]) continue;
        const Nest *n = replay(b, t, naive_of(b, i), b->scheduled.nest[i], steps);
        if (n) print_nest(b->cx, t, n);
        text_char(t, '\n');
    }
    return true;
}

static bool dump_loops(Build *b, Text *t) { return dump_steps(b, t, 0); }

static int step_of(const char *at) { return atoi(strchr(at, ':') + 1); }

static bool dump_step(Build *b, Text *t) { return dump_steps(b, t, step_of(b->options->at)); }

/* Prints the lines of the text, each after "# ". */
static void print_as_comment(Text *t, const char *text)
{
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
        text_printf(t, "# %.*s\n", (int)strcspn(s, "\n"), s);
}

/* Prints the form that --schedule reads: a group's steps below its name. Prints two comments: the signature, under
 * which a block applies to other networks, and the resulting loops. */
static bool dump_scheduled(Build *b, Text *t)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        const Nest *n = b->scheduled.nest[i];
        if (!is_selected(b, g) || !n) continue;
        text_printf(t, "for %s on %s", g->parts ? g->parts : g->name, b->target->name);
        schedule_head(t, n);
        schedule_steps(b->cx, t, n);
        if (g->anchor) text_printf(t, "# signature %s\n", group_signature(b->cx, g));
        Text comment = text_new(b->cx);
        if (b->options->explain) replay(b, &comment, naive_of(b, i), n, n->step_count);
        schedule_loops(b->cx, &comment, build_named_nest(b, i));
        print_as_comment(t, text_string(&comment));
        text_char(t, '\n');
    }
    return true;
}

/* Prints the functions; with --only, also prints the function of a group that shares one, or a remark if the group has
 * no function. */
static bool dump_lowered(Build *b, Text *t)
{
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        const bool is_shared = b->lowered.is_shared[i];
        if (!is_selected(b, g) || (!b->options->only && (is_shared || !b->lowered.function[i]))) continue;
        if (is_shared) text_printf(t, "group %s shares this function:\n", g->name);
        if (b->lowered.function[i]) print_code(b->cx, t, b->lowered.function[i]);
        else if (region_of_group(b, i))
            text_printf(t, "group %s: a branch or a loop; its graphs' groups are lowered\n", g->name);
        else text_printf(t, "group %s: no function, for its output aliases its operand\n", g->name);
        text_char(t, '\n');
    }
    return true;
}

/* ---- Stages ----------------------------------------------------------------------------------------------------- */

/* A stage of --at. of_each: true if the graphs of regions are printed after the model's graph. */
typedef struct Stop {
    const char *name;
    /* runs the stages that it needs; NULL for the stages up to the DAG, without groups */
    bool (*needs)(Build *b);
    bool of_each, explains;          /* explains: true if --explain has an effect */
    bool (*print)(Build *b, Text *t);
    const char *until;               /* the last pass to run, or NULL for all passes of the stage */
} Stop;
static bool nests_and_program(Build *b) { return build_nests(b) && build_program(b); }

/* Chooses nests as in any compilation, and only then lets the passes over code stop early. */
static bool nests_and_code(Build *b)
{
    const char *until = b->shared->until;
    b->shared->until = NULL;
    if (!build_nests(b)) return false;
    b->shared->until = until;
    b->shared->lowered = map_new(b->cx->arena);
    return build_program(b);
}

/* ---- Passes ----------------------------------------------------------------------------------------------------- */

static const char *pass_of(const char *at)
{
    enum { PASS = 5 };
    return at && strncmp(at, "pass:", PASS) == 0 ? at + PASS : NULL;
}

/* Stores the names of all passes in order, and returns their number; *dag_count of them are passes over the DAG. */
static int pass_names(Ctx *cx, const char ***names, int *dag_count)
{
    int code_count;
    const GraphPassRow *dag = graph_passes(dag_count);
    const LowerPass *code = lower_passes(&code_count);
    *names = NEW_ARRAY(cx->arena, const char *, *dag_count + 2 + code_count);
    for (int i = 0; i < *dag_count; i++) (*names)[i] = dag[i].name;
    (*names)[*dag_count] = "fuse";
    (*names)[*dag_count + 1] = "strategy";
    for (int i = 0; i < code_count; i++) (*names)[*dag_count + 2 + i] = code[i].name;
    return *dag_count + 2 + code_count;
}

/* Fusion and strategies are listed as passes, but are stages of their own. */
typedef enum PassKind { NO_PASS, DAG_PASS, FUSE_PASS, STRATEGY_PASS, CODE_PASS } PassKind;

/* Returns the kind of the pass; refuses an unknown name, and lists the known names. */
static PassKind pass_kind(Ctx *cx, const char *name)
{
    const char **names;
    int dag_count, count = pass_names(cx, &names, &dag_count);
    Text all = text_new(cx);
    for (int i = 0; i < count; i++) {
        const int after_dag = i - dag_count;
        if (text_equal(names[i], name))
            return after_dag < 0 ? DAG_PASS : after_dag < 2 ? FUSE_PASS + (PassKind)after_dag : CODE_PASS;
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    diag_usage(cx, NULL, "--at pass:%s: there is no pass \"%s\"%s; use %s", name, name,
               text_hint(cx, name, names, (size_t)count, ""), text_string(&all));
    return NO_PASS;
}

/* ---- Names of stages -------------------------------------------------------------------------------------------- */
static const Stop stops[] = {
    { "dag", NULL, false, false, dump_dag, NULL },
    { "gradient", NULL, false, false, dump_dag, "gradient" },
    { "streamed", NULL, false, false, dump_dag, "stream" },
    { "fused", build_nests, false, false, dump_fused, NULL },
    { "strategy", build_nests, true, true, dump_strategy, NULL },
    { "loops", build_nests, true, true, dump_loops, NULL },
    { "step:N", build_nests, true, true, dump_step, NULL },
    { "scheduled", build_nests, true, true, dump_scheduled, NULL },
    { "lowered", nests_and_program, true, false, dump_lowered, NULL },
};
static const Stop after_dag_pass = { "pass:NAME", NULL, false, false, dump_dag, NULL };
static const Stop after_code_pass = { "pass:NAME", nests_and_code, true, false, dump_lowered, NULL };
enum { STOP_COUNT = sizeof stops / sizeof stops[0] };

static bool is_step_number(const char *at)
{
    enum { STEP = 5, MOST_DIGITS = 6 };
    const size_t digits = strncmp(at, "step:", STEP) == 0 ? strspn(at + STEP, "0123456789") : 0;
    return digits && digits <= MOST_DIGITS && !at[STEP + digits];
}

/* Returns "dag, fused, ...": the stages that --at accepts, or only the stages that --explain changes. */
static const char *stop_names(Ctx *cx, bool explaining)
{
    Text t = text_new(cx);
    for (int i = 0; i < STOP_COUNT; i++)
        if (!explaining || stops[i].explains) text_printf(&t, "%s%s", t.length ? ", " : "", stops[i].name);
    if (!explaining) text_add(&t, ", pass:NAME; for a quantization: annotated, calibrated, realized");
    return text_string(&t);
}

static const Stop *stop_named(Ctx *cx, const char *at)
{
    const char *names[STOP_COUNT];
    const PassKind pass = pass_of(at) ? pass_kind(cx, pass_of(at)) : NO_PASS;
    if (pass == CODE_PASS) return &after_code_pass;
    if (pass == DAG_PASS) return &after_dag_pass;
    if (pass == FUSE_PASS) return stop_named(cx, "fused");
    if (pass == STRATEGY_PASS) return stop_named(cx, "scheduled");
    if (pass_of(at)) return NULL;
    for (int i = 0; i < STOP_COUNT; i++) {
        names[i] = stops[i].name;
        if (stops[i].print == dump_step ? is_step_number(at) : text_equal(at, names[i])) return &stops[i];
    }
    diag_usage(cx, NULL, "--at: unknown stage \"%s\"%s; choose one of: %s", at,
               text_hint(cx, at, names, STOP_COUNT, ""), stop_names(cx, false));
    return NULL;
}

/* Refuses options without effect on the stage. */
static bool has_effects(Ctx *cx, const Stop *s, const lw_options *o)
{
    const char *of_groups = o->only                            ? "--only"
                            : o->combine                       ? "--combine"
                            : o->schedule_count || o->schedule_text ? "--schedule"
                                                               : NULL;
    if (!s->needs && of_groups)
        diag_usage(cx, NULL, "%s has no effect on --at %s: the dag has no groups yet", of_groups,
                   s->name);
    else if (o->explain && !s->explains)
        diag_usage(cx, NULL, "--explain has no effect on --at %s; use it with one of: %s",
                             s->name, stop_names(cx, true));
    return !ctx_failed(cx);
}

static void refuse_only(const Build *b)
{
    enum { MOST_LISTED = 12 };
    const char *only = b->options->only;
    const Group *const *group;
    const int count = build_all_groups(b, &group);
    Text all = text_new(b->cx);
    for (int i = 0; i < count && count <= MOST_LISTED; i++) text_printf(&all, "%s%s", i ? ", " : "", group[i]->name);
    diag_error(b->cx, NULL, "--only: there is no group '%s'%s; use %s", only,
               group_advice(b->cx, only, group, count, ""),
               all.length ? text_string(&all) : "a group of `dump MODEL --at fused`");
}

/* Returns the largest step count of the selected groups, or -1 if no group is selected. */
static int most_steps(const Build *b)
{
    int most = -1;
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            const Nest *n = g->scheduled.nest[i];
            const int steps = n ? step_number(n->step, n->step_count) : 0;
            if (is_selected(g, &g->groups.at[i]) && steps > most) most = steps;
        }
    return most;
}

/* Checks that one of the graphs has the group of --only and the step of --at. */
static bool is_there(const Build *b)
{
    const char *only = b->options->only, *at = b->options->at;
    const int steps = most_steps(b);
    if (steps < 0 && only) refuse_only(b);
    else if (is_step_number(at) && step_of(at) > steps)
        diag_error(b->cx, NULL, "--at \"%s\": %s has %d steps; use step:0 to step:%d", at,
                   only ? text_format(b->cx, "group '%s'", only) : "the longest schedule", steps, steps);
    return !ctx_failed(b->cx);
}

static const char *dumped(Ctx *cx, const char *model, const lw_options *o)
{
    Build b;
    Text t = text_new(cx);
    o = options_of(cx, "lw_dump", o);
    if (!o || !is_given(cx, "lw_dump", "the model", model)) return NULL;
    lw_options own = *o;
    if (!own.at) own.at = "dag";
    const Stop *s = stop_named(cx, own.at);
    if (!s || !has_effects(cx, s, o)) return NULL;
    bool ok = build_read(&b, cx, model, &own);
    b.mode.until = s == &after_dag_pass || s == &after_code_pass ? pass_of(own.at) : s->until;
    if (s->print == dump_loops) b.mode.shown_steps = 1;
    if (s->print == dump_step) b.mode.shown_steps = step_of(own.at) + 1;
    ok = ok && build_graph(&b) && (!s->needs || (s->needs(&b) && is_there(&b)));
    for (Build *g = &b; ok && g; g = s->of_each ? g->tree.next : NULL) ok = s->print(g, &t);
    return ok && !ctx_failed(cx) ? text_string(&t) : NULL;
}

const char *lw_dump(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, dumped(cx, model, o));
}
