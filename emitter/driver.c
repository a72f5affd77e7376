/* SPDX-License-Identifier: MIT */
/* The whole story on one page: read a model, improve its DAG, fuse it into groups, schedule each group's loop nest, plan
 * the memory between groups, lower every nest to a function, and print the program. */
#include "driver.h"

#include <string.h>

#include "graph/registry.h"
#include "import/annotations.h"
#include "import/import.h"
#include "import/te.h"
#include "ir/algebra.h"
#include "ir/interpret.h"
#include "lower/merge.h"
#include "schedule/schedule.h"
#include "support/file.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"
#include "support/watch.h"

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* The first of BASE, BASE_2, BASE_3, ... that is not taken; it is now. A name taken leads to the last number tried. */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base)
{
    const char *unique = name(cx, base);
    int *last = map_get_ptr(taken, unique);
    while (last && map_get_ptr(taken, unique)) unique = name_format(cx, "%s_%d", base, ++*last);
    int *first = NEW(cx->arena, int);
    *first = 1;
    map_put_ptr(taken, unique, first);
    return unique;
}

/* Begins with what stands behind the model's prefix in the emitted C anyway, before functions and constants. */
static Shared *shared_new(Ctx *cx)
{
    static const char *const own[] = { "run", "arena", "inputs", "outputs", "INPUTS", "OUTPUTS", "H", "ARENA_SIZE", "ARENA_ALIGN", "state", "reset", "E_STATE",
                                       "WEIGHTS_SIZE", "E_ARENA", "E_DIM" };
    Shared *s = NEW(cx->arena, Shared);
    s->symbols = s->by_text = s->lowered = s->merged = map_new(cx->arena);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) build_unique_name(cx, &s->symbols, own[i]);
    return s;
}

static void build_begin(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    *b = (Build){ .cx = cx, .options = o, .path = path };
    if (o->time_passes) b->watch = watch_new(cx);
    b->name = name_identifier(cx, o->name ? o->name : path_stem(cx, path));
    b->target = target_find(cx, o->target ? o->target : "generic");
    if (!b->target && !ctx_failed(cx)) diag_error(cx, NULL, "there is no target \"%s\"; see `loopwright targets`", o->target);
    if (o->ports_in_arena && o->static_arena) diag_error(cx, NULL, "inputs and outputs cannot lie in a static arena, which the caller does not see: --io arena or --static-arena");
}

bool build_rounds_once(const lw_options *o) { return text_equal(o->rounding, "single"); }

bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    build_begin(b, cx, path, o);
    ImportOptions options = { .dim_count = o->dim_count, .value_count = o->value_count, .state_count = o->state_count,
                              .rounds_once = build_rounds_once(o) };
    ImportDim *dim = NEW_ARRAY(cx->arena, ImportDim, o->dim_count);
    for (int i = 0; i < o->dim_count; i++) dim[i] = (ImportDim){ o->dim[i].name, o->dim[i].value, o->dim[i].is_maximum, o->dim[i].least };
    ImportValue *value = NEW_ARRAY(cx->arena, ImportValue, o->value_count);
    for (int i = 0; i < o->value_count; i++) value[i] = (ImportValue){ o->value[i].name, o->value[i].path };
    const char **state = NEW_ARRAY(cx->arena, const char *, o->state_count);
    for (int i = 0; i < o->state_count; i++) state[i] = o->state[i].input;
    options.dim = dim;
    options.value = value;
    options.state = state;
    bool ok = !ctx_failed(cx) && import_model(cx, path, &options, &b->model);
    if (ok && o->tuning) ok = tuning_read(cx, o->tuning);
    if (ok && o->annotate) ok = annotations_read(cx, o->annotate, &b->model);
    watch_lap(b->watch, "", "import");
    return ok && build_states(b);
}

bool build_read_text(Build *b, Ctx *cx, const char *path, const char *text, bool as_nest, const lw_options *o)
{
    const ImportOptions options = { .as_nest = as_nest };
    build_begin(b, cx, path, o);
    b->as_nest = as_nest;
    bool ok = !ctx_failed(cx) && te_read(cx, path, text, &options, &b->model);
    watch_lap(b->watch, "", "import");
    return ok;
}

static bool has_computes(Build *b)
{
    Node **order;
    int count = graph_order(b->cx, &b->graph, &order);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_COMPUTE) return true;
    return false;
}

bool build_passes(Build *b)
{
    const char *qdq = b->options->qdq;
    b->graph.qdq = text_equal(qdq, "float") ? QDQ_FLOAT : text_equal(qdq, "integer") ? QDQ_INTEGER : QDQ_EXACT;
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    for (int i = 0; i < count && !ctx_failed(b->cx); i++) {
        if (b->options->no_shrink && pass[i].run == graph_shrink) continue;
        b->graph = pass[i].run(b->cx, b->graph);
        watch_lap(b->watch, "dag", pass[i].name);
    }
    return !ctx_failed(b->cx);
}

bool build_graph(Build *b)
{
    const Model *m = &b->model;
    b->shared = shared_new(b->cx);
    b->shared->last = b;
    b->graph = (Graph){ .name = b->name, .input_count = m->input_count, .input = m->input, .output_count = m->output_count, .output = m->output,
                        .target = b->target };
    if (build_passes(b) && b->options->layers && !has_computes(b)) build_show_layers(b);
    return build_inner_graphs(b);
}

/* ---- Groups and nests ------------------------------------------------------------------------------------------ */

/* A .te file with formulas or steps is one group, named after what it computes: the file's own schedule, in its own names. */
static bool nest_of_te(Build *b)
{
    Ctx *cx = b->cx;
    const Graph *g = &b->graph;
    Group *group = NEW(cx->arena, Group);
    const Nest *n = nest_naive(cx, b->name, g->input, g->input_count, g->output, g->output_count);
    n = n ? nest_for(cx, n, b->target->features) : NULL;
    for (int i = 0; n && i < b->model.step_count && !ctx_failed(cx); i++) n = model_step(cx, &b->model, n, i);
    watch_lap(b->watch, "nest", "steps of the file, with their proofs");
    if (!n) return false;
    *group = (Group){ .name = build_unique_name(cx, &b->shared->symbols, g->output[0]->name), .input_count = n->input_count, .output_count = n->output_count };
    group->input = arena_copy(cx->arena, n->input, (size_t)n->input_count * sizeof *n->input);
    group->output = g->output;
    b->groups = (Groups){ 1, group };
    b->nest = NEW_ARRAY(cx->arena, const Nest *, 1);
    b->chosen = NEW_ARRAY(cx->arena, const Implementation *, 1);
    b->nest[0] = n;
    return !ctx_failed(cx);
}

static void name_group(Build *b, Group *g)
{
    const char *base = g->name + strspn(g->name, "_");
    if (!*base) base = g->anchor->op->name;
    if (*base >= '0' && *base <= '9') base = name_format(b->cx, "%s_%s", g->anchor->op->name, base);
    g->name = build_unique_name(b->cx, &b->shared->symbols, base);
}

const char *build_symbol(Build *b, const char *wanted) { return build_unique_name(b->cx, &b->shared->symbols, wanted); }

/* Names of functions: of the anchors, made unique. What only moves elements gives way: a change of layout bears the name
 * of the operator that asked for it. */
static void name_groups(Build *b)
{
    build_partitions(b);
    for (int moves = 0; moves < 2; moves++)
        for (int i = 0; i < b->groups.count; i++)
            if ((b->groups.at[i].anchor->op->pattern == PATTERN_INJECTIVE) == moves) name_group(b, &b->groups.at[i]);
}

bool build_nests(Build *b)
{
    Ctx *cx = b->cx;
    if (ctx_failed(cx)) return false;
    if (b->model.step_count || b->as_nest || has_computes(b)) return nest_of_te(b);
    b->groups = groups_by_device(cx, fuse(cx, &b->graph));
    name_groups(b);
    watch_lap(b->watch, "dag", "fuse");
    const char *combine = b->outer ? "none" : b->options->combine;
    b->nest = NEW_ARRAY(cx->arena, const Nest *, b->groups.count);
    b->chosen = NEW_ARRAY(cx->arena, const Implementation *, b->groups.count);
    b->parts = NEW_ARRAY(cx->arena, int, b->groups.count);
    bool is_named = combine && !text_equal(combine, "none");
    if (is_named && b->partition_count) diag_unsupported(cx, NULL, "--combine together with annotations of devices");
    else if (is_named) build_combine(b);
    for (int i = 0; i < b->groups.count && !ctx_failed(cx); i++)
        if (!b->nest[i] && !region_of_group(b, i)) b->nest[i] = strategy_schedule(cx, &b->groups.at[i], b->target, &b->chosen[i], NULL);
    watch_lap(b->watch, "nest", "strategy, with its proofs");
    if (!combine && !ctx_failed(cx)) build_roll(b);
    return build_inner_nests(b);
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

/* How the group's tensors lie in memory where they are not dense tensors of their own. The nest's inputs and outputs
 * stand in for the group's, in the same order. */
static LowerOptions lower_options(Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Nest *n = b->nest[group];
    View *view = NEW_ARRAY(b->cx->arena, View, g->input_count + g->output_count);
    /* What --combine made of several may grow as its parts may. */
    int64_t parts = b->parts && b->parts[group] > 1 ? b->parts[group] : 1;
    LowerOptions o = { .view = view, .code_budget = b->target->copy_budget * parts, .inputs_alias_output = b->plan.in_place[group],
                       .lanes = b->target->vector_bytes / 4,
                       .keeps_names = !g->anchor, .watch = b->watch };
    for (int i = 0; i < g->input_count + g->output_count; i++) {
        bool in = i < g->input_count;
        const Slot *s = plan_slot(&b->plan, in ? g->input[i] : g->output[i - g->input_count]);
        if (!s || s->root == s->tensor || !tensor_is_fixed(s->tensor)) continue;
        View *v = &view[o.view_count++];
        *v = (View){ .tensor = in ? n->input[i] : n->output[i - g->input_count], .elems = tensor_elems(s->root) - s->view_offset };
        memcpy(v->stride, s->stride, sizeof v->stride);
    }
    return o;
}

/* What is tried for the plan's sake and then taken is lowered once. */
static const Function *lowered_of(Build *b, int group)
{
    const LowerOptions options = lower_options(b, group);
    bool is_plain = !options.view_count && !options.inputs_alias_output;
    const Function *known = is_plain ? map_get_ptr(&b->shared->lowered, b->nest[group]) : NULL;
    if (known) return known;
    const Function *f = lower_nest(b->cx, b->nest[group], &options);
    if (f && is_plain) map_put_ptr(&b->shared->lowered, b->nest[group], (void *)(uintptr_t)f);
    return f;
}

typedef struct Lowered { Function *function; const Nest *nest; } Lowered;

/* Groups whose functions read the same but for the name are one function, wherever they are. */
static void make_function(Build *b, int group)
{
    Ctx *cx = b->cx;
    const Program nameless = { .name = "" };
    const Function *lowered = lowered_of(b, group);
    if (!lowered || ctx_failed(cx)) return;
    Function *f = arena_copy(cx->arena, lowered, sizeof *f);
    f->name = "";
    f->is_apart = b->target->lanes == 1 && b->groups.count > 1;
    Text t = text_new(cx);
    cgen_function(cx, &t, &nameless, f);
    watch_lap(b->watch, "", "printing of functions, to share equal ones");
    Lowered *known = map_get(&b->shared->by_text, text_string(&t), t.length);
    if (!known) {
        f->name = b->groups.at[group].name;
        known = NEW(cx->arena, Lowered);
        *known = (Lowered){ f, b->nest[group] };
        map_put(&b->shared->by_text, text_string(&t), t.length, known);
        b->shared->function[b->shared->function_count++] = f;
    }
    b->function[group] = known->function;
    b->lowered[group] = known->nest;
}

static int function_scratch(Build *b, const Function *f, Scratch **out)
{
    int count = 0;
    *out = NEW_ARRAY(b->cx->arena, Scratch, f ? f->memory_count : 0);
    for (int m = 0; f && m < f->memory_count; m++)
        if (is_scratch(f->memory[m]))
            (*out)[count++].bytes = interval_of(b->cx, f->memory[m]->elems, NULL).greatest * dtype_info(f->memory[m]->type)->bytes;
    return count;
}

/* The caller keeps inputs and outputs in the arena; what is state has memory of its own. */
static void take_in_ports(Build *b)
{
    for (int i = 0; i < b->plan.slot_count; i++) {
        Slot *s = &b->plan.slot[i];
        if (s->kind == SLOT_INPUT) s->in_arena = build_state_of_input(b, s->index) < 0;
        if (s->kind == SLOT_OUTPUT) s->in_arena = build_state_of_output(b, s->index) < 0;
    }
}

/* Views, functions and places, of the regions' graphs before their own: those say what a region needs. */
void build_layers(Build *b)
{
    Ctx *cx = b->cx;
    const int groups = b->groups.count;
    int *count = b->scratch_count = NEW_ARRAY(cx->arena, int, groups);
    b->plan = plan_views(cx, &b->graph, &b->groups, b->nest);
    b->plan.align = b->target->vector_bytes;       /* so that no vector lies across two lines of a cache */
    watch_lap(b->watch, "dag", "views");
    b->function = NEW_ARRAY(cx->arena, Function *, groups);
    b->lowered = NEW_ARRAY(cx->arena, const Nest *, groups);
    b->scratch = NEW_ARRAY(cx->arena, Scratch *, groups);
    for (int i = 0; i < groups && !ctx_failed(cx); i++) {
        const Node *region = region_of_group(b, i);
        for (int g = 0; region && g < region->region->graph_count; g++) build_layers(&build_graphs_of(b, region)[g]);
        if (!region && !b->plan.is_free[i]) make_function(b, i);
        count[i] = region ? region_scratch(b, i, &b->scratch[i]) : function_scratch(b, b->function[i], &b->scratch[i]);
    }
    if (ctx_failed(cx)) return;
    if (b->options->ports_in_arena && !b->outer) take_in_ports(b);
    build_leads(b);
    plan_place(cx, &b->plan, groups, b->scratch, count);
    for (int i = 0; i < groups; i++)
        if (b->plan.overlaps[i]) b->function[i]->overlaps = true;
    watch_lap(b->watch, "dag", "place");
}

bool build_program(Build *b)
{
    int groups = 0, graphs = 0;
    if (ctx_failed(b->cx)) return false;
    for (const Build *g = b; g; g = g->next) groups += g->groups.count, graphs++;
    b->shared->function = NEW_ARRAY(b->cx->arena, const Function *, groups);
    b->shared->body = NEW_ARRAY(b->cx->arena, const Body *, graphs);
    build_layers(b);
    if (!ctx_failed(b->cx) && b->target->lanes == 1) functions_merge(b->cx, b->shared->function, b->shared->function_count, &b->shared->merged);
    if (!ctx_failed(b->cx)) build_fill_program(b);
    return !ctx_failed(b->cx);
}

/* ---- Compile and run ------------------------------------------------------------------------------------------- */

bool build_write(Build *b, const char *output)
{
    Ctx *cx = b->cx;
    if (strcmp(path_extension(output), "c") != 0) diag_error(cx, NULL, "the output \"%s\" must end in .c", output);
    if (ctx_failed(cx) || !build_program(b)) return false;
    b->program.header = text_format(cx, "%s.h", path_stem(cx, output));
    const char *stem = text_format(cx, "%s%s", path_folder(cx, output), path_stem(cx, output));
    const char *source = cgen_source(cx, &b->program), *header = cgen_header(cx, &b->program);
    FileOut files[3] = { { output, source, strlen(source) },
                         { text_format(cx, "%s.h", stem), header, strlen(header) } };
    int count = 2;
    if (b->options->testbench) {
        const char *bench = cgen_testbench(cx, &b->program);
        files[count++] = (FileOut){ text_format(cx, "%s_main.c", stem), bench, strlen(bench) };
    }
    watch_lap(b->watch, "", "printing");
    bool ok = !ctx_failed(cx) && file_write_all(cx, files, (size_t)count);
    watch_lap(b->watch, "", "writing");
    watch_report(b->watch);
    return ok;
}

bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o)
{
    Build b;
    if (strcmp(path_extension(output), "c") != 0) {
        diag_error(cx, NULL, "the output \"%s\" must end in .c", output);
        return false;
    }
    return build_read(&b, cx, model, o) && build_graph(&b) && build_nests(&b) && build_write(&b, output);
}

static bool run_group(Build *b, int group, Env *all)
{
    const Group *g = &b->groups.at[group];
    if (region_of_group(b, group)) return region_run(b, group, all);
    const Nest *n = b->nest[group];
    Env *env = env_new(b->cx);
    RunOptions fast = { .checked = false };
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_constant(g->input[i])) env_set(env, n->input[i], env_get(all, g->input[i]));
    if (!interpret(b->cx, n, env, &fast)) return false;
    for (int i = 0; i < g->output_count; i++) env_set(all, g->output[i], env_get(env, n->output[i]));
    return true;
}

bool build_run(Build *b, void *const *inputs, void **outputs)
{
    Env *all = env_new(b->cx);
    for (int i = 0; i < b->graph.input_count; i++) env_set(all, b->graph.input[i], inputs[i]);
    for (int i = 0; i < b->groups.count; i++)
        if (!run_group(b, i, all)) return false;
    for (int i = 0; i < b->graph.output_count; i++) outputs[i] = env_get(all, b->graph.output[i]);
    return !ctx_failed(b->cx);
}

lw_context *lw_new(void) { return ctx_new(NULL, NULL); }
void lw_free(lw_context *cx) { ctx_free(cx); }

const char *lw_diagnostic(lw_context *cx, int i, bool *is_error)
{
    const Diag *d = cx->diags;
    while (d && i-- > 0) d = d->next;
    if (d && is_error) *is_error = d->severity >= ERROR;
    return d ? diag_text(cx, d) : NULL;
}

const char *lw_version(void) { return "0.1.0"; }
