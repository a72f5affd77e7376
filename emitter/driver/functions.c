/* SPDX-License-Identifier: MIT */
/* Turns scheduled nests into functions and offsets, in three steps: views (the tensors that alias another tensor's
 * memory), the function of each group, and the offsets in the arena, which depend on the scratch bytes of the
 * functions. The graphs of regions precede the graph that holds the region's node, because their sizes determine the
 * region's scratch. Groups with equal function texts share one function. */
#include "driver/driver.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/nest/external.h"
#include "lower/comment.h"
#include "lower/count.h"
#include "support/text.h"
#include "support/watch.h"

/* Returns true if the group keeps the file's names and formulas: the group has only formulas, or the file has steps for
 * it. The nest of a whole file has no nodes. */
static bool keeps_names(const Group *g)
{
    bool is_of_formulas = true;
    for (int i = 0; i < g->node_count; i++)
        is_of_formulas = is_of_formulas && g->node[i]->kind == NODE_CALL && g->node[i]->op->definition;
    return g->keeps_names || is_of_formulas;
}

/* A lowered function. `first` is the first lowered function with the text of `final`, or NULL before `final` is
 * printed. */
typedef struct Lowered Lowered;
struct Lowered { const Function *function, *final; const Lowered *first; const Division *division; };

/* Returns the output of the group that replaces the values of an in-out tensor, or -1. */
static int output_of_inout(const Build *b, const Group *g, const Tensor *input)
{
    for (int u = 0; u < b->graph.update_count; u++) {
        const Update *update = &b->graph.update[u];
        if (!update->is_inout || b->graph.input[update->input] != input) continue;
        for (int o = 0; o < g->output_count; o++)
            if (g->output[o] == b->graph.output[update->output]) return o;
    }
    return -1;
}

/* Returns the options, with the strides of the group's tensors that are views of other memory. The inputs and outputs
 * of the nest and of the group correspond by position. */
static LowerOptions lower_options(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Nest *n = b->scheduled.nest[group];
    const ArenaMark mark = arena_mark(b->cx->scratch);
    View *view = NEW_ARRAY(b->cx->scratch, View, g->input_count + g->output_count);
    LowerOptions o = { .code_budget = b->target->copy_budget,
                       .inputs_alias_output = b->plan.in_place[group],
                       .lanes = b->target->vector_bytes / 4,
                       .registers = b->target->vector_registers,
                       .keeps_names = keeps_names(g),
                       .until = b->shared->until,
                       .watch = b->watch };
    for (int i = 0; i < g->input_count + g->output_count; i++) {
        bool in = i < g->input_count;
        const Slot *s = plan_slot(&b->plan, in ? g->input[i] : g->output[i - g->input_count]);
        const int out = in ? output_of_inout(b, g, g->input[i]) : -1;
        if (out >= 0) {
            view[o.view_count++] = (View){ .tensor = n->input[i], .within = n->output[out], .is_before = true };
            o.inputs_alias_output = false;
            continue;
        }
        if (!s || s->root == s->tensor || !tensor_is_fixed(s->tensor)) continue;
        View *v = &view[o.view_count++];
        *v = (View){ .tensor = in ? n->input[i] : n->output[i - g->input_count],
                     .elems = tensor_most_elems(b->cx, s->root) - s->view_offset };
        memcpy(v->stride, s->stride, sizeof v->stride);
        if (!in || !b->plan.is_padding[group]) continue;
        v->within = n->output[0];
        v->offset = s->view_offset - plan_slot(&b->plan, g->output[0])->view_offset;
    }
    o.view = arena_copy(b->cx->arena, view, (size_t)o.view_count * sizeof *view);
    arena_reset(b->cx->scratch, mark);
    return o;
}

/* Writes the facts that determine the lowered function to `key`: the nest, and the options that depend on the plan.
 * Returns the size of the key in bytes. */
static size_t lowering_key(const Nest *n, const LowerOptions *o, int cores, int64_t *key)
{
    size_t count = 0;
    key[count++] = (int64_t)(uintptr_t)n;
    key[count++] = o->inputs_alias_output;
    key[count++] = cores;
    for (int v = 0; v < o->view_count; v++) {
        key[count++] = (int64_t)(uintptr_t)o->view[v].tensor;
        key[count++] = (int64_t)(uintptr_t)o->view[v].within;
        key[count++] = o->view[v].is_before;
        key[count++] = o->view[v].offset;
        key[count++] = o->view[v].elems;
        for (int d = 0; d < MAX_RANK; d++) key[count++] = o->view[v].stride[d];
    }
    return count * sizeof *key;
}

static bool is_foreign(const Group *g) { return g->anchor && g->anchor->op->meaning.is_foreign; }

/* Refuses a schedule that lacks the call of a C function if only this C function defines the group. */
static bool has_its_call(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Nest *n = b->scheduled.nest[group];
    bool has_call = !is_foreign(g);
    for (int i = 0; i < n->stage_count && !has_call; i++)
        has_call = external_of_stage(n->root, n->stage[i]) != NULL;
    if (!has_call)
        diag_error(b->cx, text_format(b->cx, "node \"%s\"", g->anchor->name),
                   "its schedule has no call of %s, the C function that computes it; add one step `external`",
                   node_text(g->anchor, "function", ""));
    return has_call;
}

/* Returns the group's function. Candidates of build_combine_for_ram share this cache, so each nest is lowered once. */
static Lowered *lowered_of(const Build *b, int group)
{
    Ctx *cx = b->cx;
    const LowerOptions options = lower_options(b, group);
    int64_t *key = NEW_ARRAY(cx->scratch, int64_t, 3 + (MAX_RANK + 5) * options.view_count);
    const size_t bytes = lowering_key(b->scheduled.nest[group], &options, build_cores(b), key);
    Lowered *known = map_get(&b->shared->lowered, key, bytes);
    if (known) return known;
    key = arena_copy(cx->arena, key, bytes);
    if (!has_its_call(b, group)) return NULL;
    const Function *f = lower_nest(cx, b->scheduled.nest[group], &options);
    if (!f) return NULL;
    known = NEW(cx->arena, Lowered);
    known->division = build_divide(b, group, f);
    known->function = known->division ? known->division->function : f;
    map_put(&b->shared->lowered, key, bytes, known);
    return known;
}

/* The function that is emitted for a text, and the nest that it was lowered from. */
typedef struct Emitted { Function *function; const Nest *nest; } Emitted;

/* Returns the function after the final passes. */
static const Function *final_of(const Build *b, const Function *f)
{
    const LowerOptions options = { .watch = b->watch };
    const Function *final = map_get_const_ptr(&b->shared->final, f);
    if (final) return final;
    map_put_const_ptr(&b->shared->final, f, (final = lower_final(b->cx, f, &options)));
    return final;
}

/* Returns the first lowered function whose C differs at most in the name. The function compares the final code: two
 * functions share their text only if their final code agrees. f is a copy of the lowered function; it has the same text
 * for each candidate of build_combine_for_ram. */
static const Lowered *first_with_text(const Build *b, Lowered *lowered, const Function *f)
{
    Program nameless = { .name = "" };
    Text t = text_new(b->cx);
    build_weights_kind(b->options, &nameless.weights.kind, &nameless.weights.section);
    if (lowered->final && lowered->final->no_inline == f->no_inline) return lowered->first;
    lowered->final = final_of(b, f);
    cgen_function(b->cx, &t, &nameless, lowered->final);
    lowered->first = map_get_const(&b->shared->texts, text_string(&t), t.length);
    if (!lowered->first) map_put_const(&b->shared->texts, text_string(&t), t.length, lowered->first = lowered);
    watch_lap(b->watch, "", "printing of functions, to share equal ones");
    return lowered->first;
}

static bool is_parameter(const Memory *m) { return m->kind == MEMORY_INPUT || m->kind == MEMORY_OUTPUT; }

/* Returns the number of t's parameter, or -1 if t has none, such as a constant that is part of the text. */
static int parameter_number(const Function *f, const Tensor *t)
{
    int number = 0, k = 0;
    for (; k < f->memory_count && f->memory[k]->tensor != t; k++) number += is_parameter(f->memory[k]);
    return k < f->memory_count ? number : -1;
}

/* For each tensor of `own`, finds the tensor of `other` that is at the same parameter of `shared`, or NULL if there is
 * none. */
static Tensor **corresponding(Ctx *cx, Tensor *const *own, int count, const Function *f, Tensor *const *other,
                              int other_count, const Function *shared)
{
    Tensor **found = NEW_ARRAY(cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) {
        const int number = parameter_number(f, own[i]);
        for (int k = 0; k < other_count && number >= 0; k++)
            if (parameter_number(shared, other[k]) == number) found[i] = other[k];
    }
    return found;
}

/* Returns the group's nest with its inputs and outputs in the order of the shared function's nest. The two nests may
 * have their inputs in different orders, although the parameters of both functions correspond by position. */
static const Nest *with_parameters_of(Ctx *cx, const Nest *nest, const Function *own, const Emitted *shared)
{
    const Nest *other = shared->nest;
    Nest *n = arena_copy(cx->arena, nest, sizeof *n);
    n->input = corresponding(cx, nest->input, nest->input_count, own, other->input, other->input_count,
                             shared->function);
    n->output = corresponding(cx, nest->output, nest->output_count, own, other->output, other->output_count,
                              shared->function);
    return n;
}

/* Makes the group's function, or shares it with a group of any graph whose function differs only in the name. */
static void make_function(Build *b, int group)
{
    Ctx *cx = b->cx;
    const ArenaMark mark = arena_mark(cx->scratch);
    Lowered *lowered = lowered_of(b, group);
    arena_reset(cx->scratch, mark);
    if (!lowered || ctx_failed(cx)) return;
    Function *f = arena_copy(cx->arena, lowered->function, sizeof *f);
    f->name = "";
    f->no_inline = (b->target->lanes == 1 || b->target->vector_bytes > 0) && b->groups.count > 1;
    const Lowered *first = first_with_text(b, lowered, f);
    Emitted *known = map_get_ptr(&b->shared->emitted, first);
    if (!known) {
        f->name = b->groups.at[group].name;
        if (is_foreign(&b->groups.at[group])) f->comment_count = 0;       /* the formulas of foreign code are unknown */
        if (!keeps_names(&b->groups.at[group]))
            comment_begin(cx, f, group_ops_text(cx, &b->groups.at[group], " + "));
        known = NEW(cx->arena, Emitted);
        *known = (Emitted){ f, b->scheduled.nest[group] };
        map_put_ptr(&b->shared->emitted, first, known);
        map_put_const_ptr(&b->shared->final, f, lowered->final);
        if (lowered->division) map_put_const_ptr(&b->shared->divided, f, lowered->division);
        b->shared->function[b->shared->function_count++] = f;
    }
    else b->lowered.is_shared[group] = true;
    b->lowered.function[group] = known->function;
    b->lowered.nest[group] = known->nest == b->scheduled.nest[group] ? known->nest
                        : with_parameters_of(cx, b->scheduled.nest[group], lowered->function, known);
}

/* Runs the final passes on the functions of all groups, and on merged functions. Does nothing if `dump --at` names an
 * earlier pass. */
void build_final_code(Build *b)
{
    const char *until = b->shared->until;
    if (until && !lower_is_final(until)) return;
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            Function *f = g->lowered.function[i];
            const Merged *merged = build_merged(b, f);
            if (merged) merged->by->body = final_of(b, merged->by)->body;
            if (f) f->body = final_of(b, f)->body;
        }
}

static int function_scratch(const Build *b, int group, Scratch **out)
{
    const Function *f = b->lowered.function[group];
    const Division *d = build_division(b, group);
    int count = 0;
    *out = NEW_ARRAY(b->cx->arena, Scratch, f ? f->memory_count : 0);
    for (int m = 0; f && m < f->memory_count; m++)
        if (is_scratch(f->memory[m])) {
            Scratch *s = &(*out)[count++];
            s->bytes = interval_of(b->cx, f->memory[m]->elems, NULL).greatest * dtype_info(f->memory[m]->type)->bytes;
            s->stride = d ? build_part_stride(b, s->bytes) : 0;
            if (d) s->bytes = s->stride * d->parts;
        }
    return count;
}

/* Allocates inputs and outputs in the arena (--io arena); state has its own memory. */
static void place_ports_in_arena(Build *b)
{
    for (int i = 0; i < b->plan.slot_count; i++) {
        Slot *s = &b->plan.slot[i];
        if (s->kind == SLOT_INPUT) s->in_arena = build_state_of_input(b, s->index) < 0;
        if (s->kind == SLOT_OUTPUT) s->in_arena = build_state_of_output(b, s->index) < 0;
    }
}

bool build_merges(const Build *b)
{
    return b->target->lanes == 1 && !text_equal(b->options->optimize, "speed");
}

/* Returns the instructions that move the group's result. */
static int64_t move_of(const Build *b, int group)
{
    const Slot *moved = plan_moved(&b->plan, &b->groups, group);
    return moved ? count_move(b->target->costs, tensor_bytes(moved->tensor)) : 0;
}

/* Returns the group's function; for one that cores share, the function before its division. */
static const Function *undivided(const Build *b, int group)
{
    const Division *d = build_division(b, group);
    return d ? d->undivided : b->lowered.function[group];
}

int64_t build_instructions(const Build *b, int group)
{
    const Function *f = undivided(b, group);
    return f ? sat_add(count_instructions(b->cx, f, b->target->costs), move_of(b, group)) : 0;
}

int64_t build_worst(const Build *b, int group)
{
    const Function *f = undivided(b, group);
    const int64_t most = f ? count_worst(b->cx, f, b->target->costs) : 0;
    return f && most >= 0 ? sat_add(most, move_of(b, group)) : most;
}

void build_functions(Build *b)
{
    Ctx *cx = b->cx;
    const int groups = b->groups.count;
    int *count = b->lowered.scratch_count = NEW_ARRAY(cx->arena, int, groups);
    b->plan = plan_views(cx, &b->graph, &b->groups, b->scheduled.nest, b->scheduled.copies_padding);
    b->plan.align = b->target->vector_bytes;       /* so that no vector access crosses a cache line */
    watch_lap(b->watch, "dag", "views");
    b->lowered.function = NEW_ARRAY(cx->arena, Function *, groups);
    b->lowered.nest = NEW_ARRAY(cx->arena, const Nest *, groups);
    b->lowered.is_shared = NEW_ARRAY(cx->arena, bool, groups);
    b->lowered.scratch = NEW_ARRAY(cx->arena, Scratch *, groups);
    for (int i = 0; i < groups && !ctx_failed(cx); i++) {
        const Node *region = region_of_group(b, i);
        for (int g = 0; region && !b->mode.is_trial && g < region->region->graph_count; g++)
            build_functions(&build_graphs_of(b, region)[g]);
        if (!region && !b->plan.is_free[i]) make_function(b, i);
        Scratch **scratch = &b->lowered.scratch[i];
        count[i] = region ? region_scratch(b, i, scratch) : function_scratch(b, i, scratch);
    }
    if (ctx_failed(cx)) return;
    if (b->options->ports_in_arena && !b->tree.outer) place_ports_in_arena(b);
    build_overlaps(b);
    b->plan.room = b->tree.outer ? 0 : build_cores(b) > 1 && !text_equal(b->options->optimize, "speed") ? 1
                   : b->scheduled.room;
    if (b->model.pin_count && !b->memories.count && !b->tree.outer && !b->mode.is_trial)
        diag_usage(cx, b->options->annotate, "in_memory needs memories; add --memory");
    if (b->memories.count && !b->tree.outer && !b->mode.is_trial) build_place_memories(b);
    else plan_offsets(cx, &b->plan, groups, b->lowered.scratch, count);
    if (ctx_failed(cx)) return;
    for (int i = 0; i < groups; i++)
        if (b->plan.overlaps[i]) b->lowered.function[i]->may_alias = true;
    build_shifts(b);
    watch_lap(b->watch, "dag", "place");
}
