/* SPDX-License-Identifier: MIT */
/* The whole story on one page: read a model, improve its DAG, fuse it into groups, schedule each group's loop nest, plan
 * the memory between groups, lower every nest to a function, and print the program. */
#include "driver.h"

#include <string.h>

#include "graph/combine.h"
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

static int find_port(Build *b, Tensor *const *port, int count, const char *wanted, const char *what)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        if (text_equal(port[i]->name, wanted)) return i;
        names[i] = port[i]->name;
    }
    diag_error(b->cx, NULL, "there is no %s '%s' to be given with --state%s", what, wanted, text_hint(b->cx, wanted, names, (size_t)count, ""));
    return -1;
}

const Tensor *build_initial(const Build *b, int input) { return b->model.initial ? b->model.initial[input] : NULL; }

/* One shape and type, known sizes, and neither of the two in another pair. */
static void check_state(Build *b, int i)
{
    Ctx *cx = b->cx;
    const Tensor *in = b->model.input[b->state[i].input], *out = b->model.output[b->state[i].output];
    if (in->type != out->type || tensor_elems(in) != tensor_elems(out) || tensor_elems(in) < 0)
        diag_error(cx, NULL, "the state's input \"%s\" is %s%s, but its output \"%s\" is %s%s", in->name, dtype_info(in->type)->spelling,
                   tensor_shape_text(cx, in), out->name, dtype_info(out->type)->spelling, tensor_shape_text(cx, out));
    const Tensor *first = build_initial(b, b->state[i].input);
    if (first && (first->type != in->type || tensor_elems(first) != tensor_elems(in)))
        diag_error(cx, NULL, "the state \"%s\" is %s%s, but begins with %s%s", in->name, dtype_info(in->type)->spelling, tensor_shape_text(cx, in),
                   dtype_info(first->type)->spelling, tensor_shape_text(cx, first));
    for (int j = 0; j < i; j++)
        if (b->state[j].input == b->state[i].input || b->state[j].output == b->state[i].output)
            diag_error(cx, NULL, "\"%s\" or \"%s\" is given twice with --state", in->name, out->name);
}

static bool find_states(Build *b)
{
    const lw_options *o = b->options;
    const int own = b->model.state_count;
    b->state_count = own + o->state_count;
    b->state = NEW_ARRAY(b->cx->arena, StatePair, b->state_count);
    for (int i = 0; i < b->state_count && !ctx_failed(b->cx); i++) {
        const lw_state *given = &o->state[i < own ? 0 : i - own];
        b->state[i] = i < own ? b->model.state[i] : (StatePair){ find_port(b, b->model.input, b->model.input_count, given->input, "input"),
                                                                 find_port(b, b->model.output, b->model.output_count, given->output, "output") };
        if (!ctx_failed(b->cx)) check_state(b, i);
    }
    return !ctx_failed(b->cx);
}

int build_state_of_input(const Build *b, int input)
{
    for (int i = 0; i < b->state_count; i++)
        if (b->state[i].input == input) return i;
    return -1;
}

int build_state_of_output(const Build *b, int output)
{
    for (int i = 0; i < b->state_count; i++)
        if (b->state[i].output == output) return i;
    return -1;
}

/* The first of BASE, BASE_2, BASE_3, ... that is not taken; it is now. A name taken leads to the last number tried. */
static const char *unique_name(Ctx *cx, Map *taken, const char *base)
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
    s->symbols = s->by_text = s->merged = map_new(cx->arena);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) unique_name(cx, &s->symbols, own[i]);
    return s;
}

static void build_begin(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    *b = (Build){ .cx = cx, .options = o, .path = path };
    if (o->time_passes) b->watch = watch_new(cx);
    b->name = name_identifier(cx, o->name ? o->name : path_stem(cx, path));
    b->target = target_find(cx, o->target ? o->target : "generic");
    if (!b->target && !ctx_failed(cx)) diag_error(cx, NULL, "there is no target \"%s\"; see `loopwright targets`", o->target);
}

static bool rounds_once(const lw_options *o) { return text_equal(o->rounding, "single"); }

bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    build_begin(b, cx, path, o);
    ImportOptions options = { .dim_count = o->dim_count, .value_count = o->value_count, .state_count = o->state_count,
                              .rounds_once = rounds_once(o) };
    ImportDim *dim = NEW_ARRAY(cx->arena, ImportDim, o->dim_count);
    for (int i = 0; i < o->dim_count; i++) dim[i] = (ImportDim){ o->dim[i].name, o->dim[i].value, o->dim[i].is_maximum };
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
    return ok && find_states(b);
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

/* With --layers: what a group makes for others becomes an output, in the order of execution. */
static void show_layers(Build *b)
{
    const Groups groups = fuse(b->cx, &b->graph);
    Graph *g = &b->graph;
    Model *m = &b->model;
    int most = g->output_count;
    for (int i = 0; i < groups.count; i++) most += groups.at[i].output_count;
    Tensor **all = NEW_ARRAY(b->cx->arena, Tensor *, most), **imported = NEW_ARRAY(b->cx->arena, Tensor *, most);
    for (int i = 0; i < g->output_count; i++) all[i] = g->output[i], imported[i] = m->output[i];
    g->output = all;
    m->output = imported;
    for (int i = 0; i < groups.count; i++)
        for (int j = 0; j < groups.at[i].output_count; j++) {
            Tensor *t = groups.at[i].output[j];
            if (graph_has_output(g, t)) continue;
            imported[m->output_count++] = t;
            all[g->output_count++] = t;
        }
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
    if (build_passes(b) && b->options->layers && !has_computes(b)) show_layers(b);
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
    *group = (Group){ .name = unique_name(cx, &b->shared->symbols, g->output[0]->name), .input_count = n->input_count, .output_count = n->output_count };
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
    g->name = unique_name(b->cx, &b->shared->symbols, base);
}

const char *build_symbol(Build *b, const char *wanted) { return unique_name(b->cx, &b->shared->symbols, wanted); }

/* Names of functions: of the anchors, made unique. What only moves elements gives way: a change of layout bears the name
 * of the operator that asked for it. */
static void name_groups(Build *b)
{
    build_partitions(b);
    for (int moves = 0; moves < 2; moves++)
        for (int i = 0; i < b->groups.count; i++)
            if ((b->groups.at[i].anchor->op->pattern == PATTERN_INJECTIVE) == moves) name_group(b, &b->groups.at[i]);
}

/* ---- Groups combined to one ------------------------------------------------------------------------------------ */

/* The groups that --combine names, rising; the one named last is the master. All of them: the last group is. */
typedef struct Chosen { int count, master; int *part; } Chosen;

static int group_called(Build *b, const char *wanted, size_t length)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) {
        names[i] = b->groups.at[i].name;
        if (strlen(names[i]) == length && strncmp(names[i], wanted, length) == 0) return i;
    }
    const char *word = name_n(b->cx, wanted, length);
    diag_error(b->cx, NULL, "--combine: there is no group '%s'%s; `dump MODEL --at fused` shows them", word,
               text_hint(b->cx, word, names, (size_t)b->groups.count, ""));
    return -1;
}

static Chosen chosen_groups(Build *b, const char *wish)
{
    Chosen c = { 0, 0, NEW_ARRAY(b->cx->arena, int, b->groups.count) };
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count), all = text_equal(wish, "all");
    int last = b->groups.count - 1;
    for (int i = 0; i < b->groups.count; i++) is_in[i] = all;
    while (!all && !ctx_failed(b->cx)) {
        size_t length = strcspn(wish, ",");
        last = group_called(b, wish, length);
        if (last >= 0) is_in[last] = true;
        if (!wish[length]) break;
        wish += length + 1;
    }
    for (int i = 0; i < b->groups.count; i++) {
        if (i == last) c.master = c.count;
        if (is_in[i] && region_of_group(b, i)) diag_unsupported(b->cx, NULL, "--combine: '%s' is a branch or loop of the run; name groups beside it", b->groups.at[i].name);
        if (is_in[i]) c.part[c.count++] = i;
    }
    return c;
}

static bool reads_any(const Group *g, const Group *of)
{
    for (int i = 0; i < g->input_count; i++)
        for (int j = 0; j < of->output_count; j++)
            if (g->input[i] == of->output[j]) return true;
    return false;
}

/* What is combined runs at once, so nothing else may stand between: no way leads out of it and in again. */
static bool nothing_between(Build *b, const Chosen *c)
{
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count), *is_behind = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < c->count; i++) is_in[c->part[i]] = true;
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < i; j++) {
            if (!reads_any(&b->groups.at[i], &b->groups.at[j])) continue;
            if (is_in[i] && is_behind[j]) {
                diag_error(b->cx, NULL, "--combine: '%s' reads '%s', which is not combined but reads what is; name it too", b->groups.at[i].name,
                           b->groups.at[j].name);
                return false;
            }
            is_behind[i] = is_behind[i] || (!is_in[i] && (is_in[j] || is_behind[j]));
        }
    return true;
}

/* The combined group takes the place of the last of its parts. */
static void combine_groups(Build *b)
{
    Ctx *cx = b->cx;
    Chosen c = chosen_groups(b, b->options->combine);
    if (ctx_failed(cx) || c.count < 2 || !nothing_between(b, &c)) return;
    Group merged;
    Text explain = text_new(cx);
    const Nest *n = schedule_combine(cx, &b->graph, &b->groups, c.part, c.count, c.master, b->target, &explain, &merged);
    if (!n) return;
    Group *at = NEW_ARRAY(cx->arena, Group, b->groups.count);
    int count = 0, next = 0;
    for (int i = 0; i < b->groups.count; i++) {
        bool is_in = next < c.count && c.part[next] == i;
        if (!is_in) at[count++] = b->groups.at[i];
        else if (++next == c.count) {
            b->combined = n;
            b->combined_as = count;
            b->combined_parts = c.count;
            at[count++] = merged;
        }
    }
    b->groups = (Groups){ count, at };
    b->combine_text = text_string(&explain);
}

bool build_nests(Build *b)
{
    Ctx *cx = b->cx;
    if (ctx_failed(cx)) return false;
    if (b->model.step_count || b->as_nest || has_computes(b)) return nest_of_te(b);
    b->groups = groups_by_device(cx, fuse(cx, &b->graph));
    name_groups(b);
    watch_lap(b->watch, "dag", "fuse");
    const char *combine = b->outer ? NULL : b->options->combine;
    if (combine && b->partition_count) diag_unsupported(cx, NULL, "--combine together with annotations of devices");
    else if (combine) combine_groups(b);
    b->nest = NEW_ARRAY(cx->arena, const Nest *, b->groups.count);
    b->chosen = NEW_ARRAY(cx->arena, const Implementation *, b->groups.count);
    for (int i = 0; i < b->groups.count && !ctx_failed(cx); i++)
        b->nest[i] = b->combined && i == b->combined_as ? b->combined
                   : region_of_group(b, i) ? NULL
                   : strategy_schedule(cx, &b->groups.at[i], b->target, &b->chosen[i], NULL);
    watch_lap(b->watch, "nest", "strategy, with its proofs");
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
    /* A combined function may grow as its parts may. */
    int64_t parts = b->combined && group == b->combined_as ? b->combined_parts : 1;
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

typedef struct Lowered { const Function *function; const Nest *nest; } Lowered;

/* Groups whose functions read the same but for the name are one function, wherever they are. */
static void make_function(Build *b, int group)
{
    Ctx *cx = b->cx;
    const Program nameless = { .name = "" };
    const LowerOptions options = lower_options(b, group);
    const Function *lowered = lower_nest(cx, b->nest[group], &options);
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

static bool is_scratch(const Memory *m) { return m->kind == MEMORY_SCRATCH; }

static int function_scratch(Build *b, const Function *f, Scratch **out)
{
    int count = 0;
    *out = NEW_ARRAY(b->cx->arena, Scratch, f ? f->memory_count : 0);
    for (int m = 0; f && m < f->memory_count; m++)
        if (is_scratch(f->memory[m]))
            (*out)[count++].bytes = interval_of(b->cx, f->memory[m]->elems, NULL).greatest * dtype_info(f->memory[m]->type)->bytes;
    return count;
}

/* Views, functions and places, of the regions' graphs before their own: those say what a region needs. */
static void make_layers(Build *b)
{
    Ctx *cx = b->cx;
    const int groups = b->groups.count;
    int *count = b->scratch_count = NEW_ARRAY(cx->arena, int, groups);
    b->plan = plan_views(cx, &b->graph, &b->groups, b->nest);
    b->plan.align = b->target->vector_bytes;       /* so that no vector lies across two lines of a cache */
    watch_lap(b->watch, "dag", "views");
    b->function = NEW_ARRAY(cx->arena, const Function *, groups);
    b->lowered = NEW_ARRAY(cx->arena, const Nest *, groups);
    b->scratch = NEW_ARRAY(cx->arena, Scratch *, groups);
    for (int i = 0; i < groups && !ctx_failed(cx); i++) {
        const Node *region = region_of_group(b, i);
        for (int g = 0; region && g < region->region->graph_count; g++) make_layers(&build_graphs_of(b, region)[g]);
        if (!region && !b->plan.is_free[i]) make_function(b, i);
        count[i] = region ? region_scratch(b, i, &b->scratch[i]) : function_scratch(b, b->function[i], &b->scratch[i]);
    }
    if (ctx_failed(cx)) return;
    plan_place(cx, &b->plan, groups, b->scratch, count);
    watch_lap(b->watch, "dag", "place");
}

/* ---- The program ----------------------------------------------------------------------------------------------- */

/* The place among the inputs, or outputs, that are no state. */
static int port_number(const Build *b, int place, int (*state_of)(const Build *b, int place))
{
    int number = 0;
    for (int i = 0; i < place; i++) number += state_of(b, i) < 0;
    return number;
}

/* The parameters of a body are the graph's inputs, then its outputs. */
static Place place_in_body(const Build *b, const Slot *s)
{
    int64_t bytes = s->view_offset * dtype_info(s->tensor->type)->bytes;
    return (Place){ PLACE_PARAM, s->index + (s->kind == SLOT_OUTPUT ? b->graph.input_count : 0), bytes, s->tensor->type };
}

Place build_place(const Build *b, const Slot *s)
{
    if (b->outer && (s->kind == SLOT_INPUT || s->kind == SLOT_OUTPUT)) return place_in_body(b, s);
    int64_t bytes = s->view_offset * dtype_info(s->tensor->type)->bytes;
    int in = s->kind == SLOT_INPUT ? build_state_of_input(b, s->index) : -1, out = s->kind == SLOT_OUTPUT ? build_state_of_output(b, s->index) : -1;
    Place p = { PLACE_ARENA, s->index, bytes, s->tensor->type };
    switch (s->kind) {
    case SLOT_INPUT:
        p.kind = in >= 0 ? PLACE_STATE : PLACE_INPUT;
        p.index = in >= 0 ? in : port_number(b, s->index, build_state_of_input);
        break;
    case SLOT_OUTPUT:
        p.kind = out >= 0 ? PLACE_NEXT : PLACE_OUTPUT;
        p.index = out >= 0 ? out : port_number(b, s->index, build_state_of_output);
        break;
    case SLOT_CONST:
        p.kind = PLACE_CONST;
        p.index = b->constant_of[s->index];
        break;
    case SLOT_ARENA: p.offset += s->offset; break;
    }
    return p;
}

static int index_of(const Tensor *t, const Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return i;
    return -1;
}

/* The function may be another group's: its parameters hold the tensors of that group's nest, which agree with this
 * group's by position. */
static Call call_of(Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Function *f = b->function[group];
    Place *place = NEW_ARRAY(b->cx->arena, Place, f->memory_count);
    const Nest *n = b->lowered[group];
    int temporary = 0, partition = b->partition_of ? b->partition_of[group] : -1;
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (is_scratch(m)) place[i] = (Place){ PLACE_ARENA, 0, b->scratch[group][temporary++].offset, m->type };
        else if (m->kind == MEMORY_INPUT)
            place[i] = build_place_in(b, partition, plan_slot(&b->plan, g->input[index_of(m->tensor, n->input, n->input_count)]));
        else place[i] = build_place_in(b, partition, plan_slot(&b->plan, g->output[index_of(m->tensor, n->output, n->output_count)]));
    }
    const char *label = g->anchor && *g->anchor->name ? g->anchor->name : g->name;
    const Merged *merged = map_get_ptr(&b->shared->merged, f);
    return (Call){ .function = merged ? merged->by : f, .number = merged ? merged->number : NULL, .label = label, .place_count = f->memory_count, .place = place, .size = f->size,
                   .partition = partition < 0 ? NULL : &b->partition[partition] };
}

/* Those that are no state. */
static const Port *ports_of(Build *b, Tensor *const *t, int count, int (*state_of)(const Build *b, int place), Map *taken, int *number)
{
    Port *port = NEW_ARRAY(b->cx->arena, Port, count);
    *number = 0;
    for (int i = 0; i < count; i++)
        if (state_of(b, i) < 0)
            port[(*number)++] = (Port){ unique_name(b->cx, taken, name_identifier(b->cx, t[i]->name)), t[i], NULL };
    return port;
}

static int maker_group(const Build *b, const Tensor *t)
{
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < b->groups.at[i].output_count; j++)
            if (b->groups.at[i].output[j] == t) return i;
    return -1;
}

bool build_is_single(const Build *b, const Tensor *from, const Tensor *to)
{
    const Slot *in = plan_slot(&b->plan, from), *out = plan_slot(&b->plan, to);
    int last = -1, first = maker_group(b, out->tensor);
    for (; in; in = in->next) last = in->last > last ? in->last : last;
    for (out = out->next; out; out = out->next) first = out->first < first ? out->first : first;
    return last < first;
}

static const State *states_of(Build *b, Map *taken)
{
    State *state = NEW_ARRAY(b->cx->arena, State, b->state_count);
    for (int i = 0; i < b->state_count; i++) {
        const Tensor *t = b->graph.input[b->state[i].input];
        state[i] = (State){ unique_name(b->cx, taken, name_identifier(b->cx, t->name)), t, build_is_single(b, t, b->graph.output[b->state[i].output]), build_initial(b, b->state[i].input), NULL };
        if (state[i].initial) state[i].initial_name = unique_name(b->cx, &b->shared->symbols, name_format(b->cx, "%s_initial", state[i].name));
    }
    return state;
}

/* The symbolic sizes of the model, in order of first use: by its inputs and outputs, then by the functions. */
typedef struct Sizes { Ctx *cx; Map seen; int count, room; const Expr **size; } Sizes;

static void add_size(const Expr *e, void *user)
{
    Sizes *s = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE || map_get_ptr(&s->seen, e)) return;
    map_put_ptr(&s->seen, e, s);
    if (s->count == s->room) {
        const Expr **more = NEW_ARRAY(s->cx->arena, const Expr *, s->room = 2 * s->room + 4);
        for (int i = 0; i < s->count; i++) more[i] = s->size[i];
        s->size = more;
    }
    s->size[s->count++] = e;
}

static void collect_sizes(Build *b)
{
    Sizes s = { b->cx, map_new(b->cx->arena), 0, 0, NULL };
    for (int i = 0; i < b->graph.input_count; i++)
        for (int d = 0; d < b->graph.input[i]->rank; d++) expr_walk(b->cx, b->graph.input[i]->shape[d], add_size, &s);
    for (int i = 0; i < b->graph.output_count; i++)
        for (int d = 0; d < b->graph.output[i]->rank; d++) expr_walk(b->cx, b->graph.output[i]->shape[d], add_size, &s);
    for (int i = 0; i < b->program.function_count; i++)
        for (int j = 0; j < b->program.function[i]->size_count; j++) add_size(b->program.function[i]->size[j], &s);
    b->program.size = s.size;
    b->program.size_count = s.count;
}

int build_calls(Build *b, const Call **out)
{
    Call *call = NEW_ARRAY(b->cx->arena, Call, b->groups.count);
    int count = 0;
    for (int i = 0; i < b->groups.count; i++)
        if (b->function[i]) call[count++] = call_of(b, i);
        else if (region_of_group(b, i)) call[count++] = region_call(b, i);
    *out = call;
    return count;
}

static void fill_program(Build *b)
{
    Ctx *cx = b->cx;
    Program *p = &b->program;
    Map ports = map_new(cx->arena), states = map_new(cx->arena);
    const char *slash = strrchr(b->path, '/');
    *p = (Program){ .name = b->name, .source = slash ? slash + 1 : b->path, .target = b->target->name,
                    .rounds_once = rounds_once(b->options),
                    .static_arena = b->options->static_arena, .standalone = b->options->standalone,
                    .arena_size = b->plan.arena_size, .arena_align = b->plan.align };
    build_constants(b);
    build_partition_params(b);
    p->partition_count = b->partition_count;
    p->partition = b->partition;
    p->constant_count = b->shared->constant_count;
    p->constant = b->shared->constant;
    p->constant_name = b->shared->constant_name;
    p->call_count = build_calls(b, &p->call);
    p->function_count = b->shared->function_count;
    p->function = b->shared->function;
    p->body_count = b->shared->body_count;
    p->body = b->shared->body;
    collect_sizes(b);
    for (int i = 0; i < p->size_count; i++) unique_name(cx, &ports, expr_as_var(p->size[i])->name);      /* fields of the inputs, too */
    p->input = ports_of(b, b->graph.input, b->graph.input_count, build_state_of_input, &ports, &p->input_count);
    p->output = ports_of(b, b->model.output, b->graph.output_count, build_state_of_output, &ports, &p->output_count);
    unique_name(cx, &states, "turn");
    p->state = states_of(b, &states);
    p->state_count = b->state_count;
}

bool build_program(Build *b)
{
    int groups = 0, graphs = 0;
    if (ctx_failed(b->cx)) return false;
    for (const Build *g = b; g; g = g->next) groups += g->groups.count, graphs++;
    b->shared->function = NEW_ARRAY(b->cx->arena, const Function *, groups);
    b->shared->body = NEW_ARRAY(b->cx->arena, const Body *, graphs);
    make_layers(b);
    if (!ctx_failed(b->cx) && b->target->lanes == 1) functions_merge(b->cx, b->shared->function, b->shared->function_count, &b->shared->merged);
    if (!ctx_failed(b->cx)) fill_program(b);
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
