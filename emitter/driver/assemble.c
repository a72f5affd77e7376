/* SPDX-License-Identifier: MIT */
/* Builds the program to print: functions and their calls with the addresses of the arguments; constants, states, sizes
 * and the model's ports. Each of these has a unique name that is valid in C. */
#include "driver/driver.h"

#include <string.h>

#include "cgen/control_flow.h"
#include "ir/algebra/algebra.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* Returns the place of an input or output, or of its part of the constant's copy. */
static Place place_of(const Build *b, int group, int partition, const Memory *m)
{
    const Slot *s = build_slot(b, group, m);
    const Scratch *copy = build_copy(b, group, s);
    if (!copy) return build_place_in(b, partition, s);
    return build_place_of_copy(b, copy, s->view_offset * dtype_info(s->tensor->type)->bytes, m->type);
}

static const Move *move_of(const Build *b, const Slot *moved)
{
    const Move m = { build_item_of_root(b, moved->root), moved->written, moved->offset, tensor_bytes(moved->tensor) };
    return arena_copy(b->cx->arena, &m, sizeof m);
}

static Call call_of(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    const Function *f = b->lowered.function[group];
    Place *place = NEW_ARRAY(b->cx->arena, Place, f->memory_count);
    const Slot *moved = plan_moved(&b->plan, &b->groups, group);
    int temporary = 0, partition = b->devices.of ? b->devices.of[group] : -1;
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (is_scratch(m)) {
            const Scratch *s = &b->lowered.scratch[group][temporary++];
            place[i] = build_place_of_scratch(b, s, g->name, m->name, 0, m->type);
        }
        else place[i] = place_of(b, group, partition, m);
        if (moved && m->kind == MEMORY_OUTPUT) place[i].offset += moved->written - moved->offset;
    }
    int copies;
    const Copy *copy = build_copies(b, group, &copies);
    const char *label = g->anchor && *g->anchor->name ? g->anchor->name : g->name;
    const Merged *merged = build_merged(b, f);
    Call call = { .function = merged ? merged->by : f,
                   .number = merged ? merged->number : NULL,
                   .label = label,
                   .group = g->name,
                   .place_count = f->memory_count,
                   .place = place,
                   .copy_count = copies,
                   .copy = copy,
                   .size = f->size,
                   .move = moved ? move_of(b, moved) : NULL,
                   .partition = partition < 0 ? NULL : &b->devices.partition[partition] };
    build_fork_call(b, group, &call);
    return call;
}

/* Returns the inputs or outputs that are not a state. */
static Port *ports_of(const Build *b, Tensor *const *t, Tensor *const *in_graph, int count,
                            int (*state_of)(const Build *b, int place), Map *taken, int *number)
{
    Port *port = NEW_ARRAY(b->cx->arena, Port, count);
    *number = 0;
    for (int i = 0; i < count; i++)
        if (state_of(b, i) < 0) {
            const Slot *s = plan_slot(&b->plan, in_graph[i]);
            const bool is_before = state_of == build_state_of_input && build_output_of_inout(b, i) >= 0;
            const char *own = build_port_name(b, t[i]),
                       *base = is_before ? name_format(b->cx, "%s_before", own) : own;
            port[(*number)++] = (Port){ .name = build_unique_name(b->cx, taken, base),
                                        .tensor = t[i],
                                        .at = s && s->in_arena ? s->offset : -1 };
        }
    return port;
}

static bool is_convertible(const Tensor *t)
{
    return t->quant && !dtype_is_float(t->type) && dtype_info(t->type)->bytes <= 2;
}

/* Creates the names of a port's macros and functions. Names that differ only in case get distinct macros, such as X_AT
 * and X_2_AT. */
static void name_port(Build *b, Port *p, bool is_input, Map *macros)
{
    Ctx *cx = b->cx;
    p->layout = is_input ? graph_input_layout(cx, b->model.output, b->model.output_count, p->tensor)
                         : graph_output_layout(cx, p->tensor);
    p->macro = build_unique_name(cx, macros, name_upper(cx, p->name));
    if (!is_convertible(p->tensor)) return;
    p->convert = build_symbol(b, name_format(cx, "%s_%s", is_input ? "quantize" : "dequantize", p->name));
    p->convert_all = build_symbol(b, name_format(cx, "%s_all", p->convert));
    if (is_input && !b->program.nearest) b->program.nearest = build_symbol(b, "nearest_step");
}

static void name_ports(Build *b, Port *input, Port *output)
{
    Map macros = map_new(b->cx->arena);
    for (int i = 0; i < b->program.input_count; i++) name_port(b, &input[i], true, &macros);
    for (int i = 0; i < b->program.output_count; i++) name_port(b, &output[i], false, &macros);
}

/* The output of an in-out tensor has its name; the input is NAME_before. */
static void pair_inouts(const Build *b, Port *input, Port *output)
{
    for (int i = 0; i < b->program.input_count; i++)
        for (int o = 0; o < b->program.output_count; o++)
            for (int k = 0; k < b->model.inout_count; k++) {
                const StatePair *pair = &b->model.inout[k];
                if (b->graph.input[pair->input] != input[i].tensor || b->model.output[pair->output] != output[o].tensor)
                    continue;
                input[i].inout = o + 1;
                output[o].inout = i + 1;
            }
}

static const State *states_of(const Build *b, Map *taken)
{
    State *state = NEW_ARRAY(b->cx->arena, State, b->states.count);
    for (int i = 0; i < b->states.count; i++) {
        const Tensor *t = b->graph.input[b->states.at[i].input];
        state[i] = (State){ build_unique_name(b->cx, taken, build_port_name(b, t)), t,
                            build_is_single(b, t, b->graph.output[b->states.at[i].output]),
                            build_initial(b, b->states.at[i].input), NULL };
        if (state[i].initial)
            state[i].initial_name = build_symbol(b, name_format(b->cx, "%s_initial", state[i].name));
    }
    return state;
}

/* Collects the symbolic sizes of the model, in order of first use: first by its inputs and outputs, then by the
 * functions. */
typedef struct OpenSizes { Ctx *cx; Map seen; int count, capacity; const Expr **size; } OpenSizes;

static void add_size(const Expr *e, void *user)
{
    OpenSizes *s = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE || v->is_decided || map_get_ptr(&s->seen, e)) return;
    map_put_ptr(&s->seen, e, s);
    if (s->count == s->capacity) {
        const Expr **more = NEW_ARRAY(s->cx->arena, const Expr *, s->capacity = 2 * s->capacity + 4);
        for (int i = 0; i < s->count; i++) more[i] = s->size[i];
        s->size = more;
    }
    s->size[s->count++] = e;
}

static void collect_sizes(Build *b)
{
    OpenSizes s = { b->cx, map_new(b->cx->arena), 0, 0, NULL };
    for (int i = 0; i < b->graph.input_count; i++)
        for (int d = 0; d < b->graph.input[i]->rank; d++) expr_walk(b->cx, b->graph.input[i]->shape[d], add_size, &s);
    for (int i = 0; i < b->graph.output_count; i++)
        for (int d = 0; d < b->graph.output[i]->rank; d++) expr_walk(b->cx, b->graph.output[i]->shape[d], add_size, &s);
    for (int i = 0; i < b->program.function_count; i++)
        for (int j = 0; j < b->program.function[i]->size_count; j++) add_size(b->program.function[i]->size[j], &s);
    b->program.size = s.size;
    b->program.size_count = s.count;
}

/* ---- Sizes that the run decides ---------------------------------------------------------------------------------- */

static bool call_reads(const Call *c, const Expr *size)
{
    for (int i = 0; i < call_size_count(c); i++)
        if (c->size[i] == size) return true;
    return false;
}

typedef struct SizeSearch { const Expr *size; bool found; } SizeSearch;

static void find_size(const Expr *e, void *user)
{
    SizeSearch *s = user;
    s->found = s->found || e == s->size;
}

/* Returns true if a call of the graph, or an output of the model, reads the size. */
static bool is_read(const Build *b, const Call *call, int count, const Expr *size)
{
    SizeSearch s = { size, false };
    for (int i = 0; i < count; i++)
        if (call_reads(&call[i], size)) return true;
    for (int i = 0; !b->tree.region && i < b->graph.output_count; i++)
        for (int d = 0; d < b->graph.output[i]->rank; d++)
            expr_walk(b->cx, b->graph.output[i]->shape[d], find_size, &s);
    return s.found;
}

bool build_binds_size(const Build *b, const Expr *size)
{
    for (int i = 0; i < b->groups.count; i++)
        if (group_bound_size(&b->groups.at[i]) == size) return true;
    return false;
}

/* Reports an internal error for a call that reads a size before it has a value. The caller of a region's graph passes
 * the values of the sizes that the graph does not bind. */
static void check_bound(const Build *b, const Call *c, Map *bound)
{
    for (int i = 0; i < call_size_count(c); i++) {
        const Var *v = expr_as_var(c->size[i]);
        if (v && v->is_decided && !map_get_const_ptr(bound, v) && (!b->tree.region || build_binds_size(b, c->size[i])))
            diag_internal(b->cx, c->label, "it reads the size \"%s\" before the run has decided it", v->name);
    }
}

int build_calls(Build *b, const Call **out, int *last_count, const SizeBind **last)
{
    Call *call = NEW_ARRAY(b->cx->arena, Call, b->groups.count);
    SizeBind *const all = NEW_ARRAY(b->cx->arena, SizeBind, b->groups.count), *bind = all;
    Map bound = map_new(b->cx->arena);
    int count = 0, binds = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const Expr *size = group_bound_size(&b->groups.at[i]);
        if (size && !map_get_const_ptr(&bound, size->ref)) {
            const Tensor *from = b->groups.at[i].input[0];
            map_put_const_ptr(&bound, size->ref, size);
            bind[binds++] = (SizeBind){ size, build_place(b, plan_slot(&b->plan, from)),
                                        tensor_is_constant(from) ? from : NULL, false };
        }
        if (b->lowered.function[i]) call[count] = call_of(b, i);
        else if (region_of_group(b, i)) call[count] = region_call(b, i);
        else continue;
        check_bound(b, &call[count], &bound);
        call[count].bind_count = binds;
        call[count++].bind = bind;
        bind += binds;
        binds = 0;
    }
    for (SizeBind *s = all; s < bind + binds; s++) s->is_read = is_read(b, call, count, s->size);
    *out = call;
    *last_count = binds;
    *last = bind;
    return count;
}

/* Returns true if a run may end because of a size that it decides. */
static bool tests_sizes(const Build *b)
{
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++)
            if (group_bound_size(&g->groups.at[i])) return true;
    const Call *call;
    for (int i = 0; (call = program_call(&b->program, i)) != NULL; i++)
        if (call->control && control_has_limit(call->control)) return true;
    return false;
}

/* Returns the index of the field for a size; adds a field if no output has one for this size. */
static int decided_field(Build *b, const Expr *size, const char *wanted, Map *taken)
{
    Program *p = &b->program;
    DecidedSize *list = (DecidedSize *)p->decided;
    const Interval range = interval_of(b->cx, size, NULL);
    for (int i = 0; i < p->decided_count; i++)
        if (list[i].size == size) return i;
    list[p->decided_count] = (DecidedSize){ build_unique_name(b->cx, taken, name_unprefixed(b->cx, name_identifier(
                                                b->cx, wanted))), size, range.least, range.greatest };
    return p->decided_count++;
}

/* Gives each output with a size that the run decides a field for each of its open sizes. */
static void decide_outputs(Build *b, Port *output, Map *taken)
{
    Ctx *cx = b->cx;
    int number = 0;
    b->program.decided = NEW_ARRAY(cx->arena, DecidedSize, MAX_RANK * b->program.output_count);
    for (int i = 0; i < b->graph.output_count; i++) {
        if (build_state_of_output(b, i) >= 0) continue;
        Port *port = &output[number++];
        const Tensor *t = port->tensor;
        bool any = false;
        for (int d = 0; d < t->rank; d++) any = any || size_is_decided(cx, t->shape[d]);
        int *field = NEW_ARRAY(cx->arena, int, MAX_RANK);
        for (int d = 0; any && d < t->rank; d++) {
            const char *own = b->model.output_dims && b->model.output_dims[i] ? b->model.output_dims[i][d] : NULL;
            field[d] = t->shape[d]->kind == EXPR_INT ? -1
                     : decided_field(b, t->shape[d], own ? own : text_format(cx, "%s_%d", port->name, d), taken);
        }
        port->decided = any ? field : NULL;
    }
}

/* Returns true if a nest of the model contracts products and sums. */
static bool contracts_any(const Build *b)
{
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++)
            for (const Nest *n = g->scheduled.nest[i]; n; n = n->otherwise)
                for (int s = 0; s < n->stage_count; s++)
                    if (nest_contracts(n, n->stage[s])) return true;
    return false;
}

/* Returns true if a call of the model rounds a requantization twice. */
static bool rounds_twice(const Build *b)
{
    for (const Build *g = b; g; g = g->tree.next) {
        Node **order;
        const int count = graph_order(b->cx, &g->graph, &order);
        for (int i = 0; i < count; i++)
            if (order[i]->kind == NODE_CALL && op_attr_row(order[i]->op, "once") && !node_int(order[i], "once", 0))
                return true;
    }
    return false;
}

/* Simplifies the outputs' sizes that data decide: a size whose range has one value becomes a number, as in the graph.
 * An operator may have raised the minimum after the outputs got their shapes. */
static void settle_outputs(Build *b)
{
    for (int i = 0; i < b->graph.output_count; i++)
        for (int d = 0; d < b->model.output[i]->rank; d++) {
            const Expr **size = &b->model.output[i]->shape[d];
            if (size_is_decided(b->cx, *size)) *size = simplify(b->cx, *size, NULL);
        }
}

/* Replaces the arena by the RAMs of --memory if there are at least two. */
static void assemble_memories(Build *b)
{
    ProgramMemory *m = NEW_ARRAY(b->cx->arena, ProgramMemory, b->memories.count);
    int rams = 0;
    for (int i = 0; i < b->memories.count; i++) {
        if (b->memories.at[i].is_rom) continue;
        const PlanMemory *from = &b->plan.memory[rams];
        m[rams++] = (ProgramMemory){ from->name, from->size, from->align, b->memories.at[i].section };
    }
    b->program.plan = rams ? build_plan_text(b) : NULL;
    if (rams < 2) return;
    b->program.ports_memory = b->options->ports_memory;
    b->program.memory_count = rams;
    b->program.memory = m;
}

static void section_constants(Build *b)
{
    const char **section = NEW_ARRAY(b->cx->arena, const char *, b->shared->constant_count);
    const FirmwareMemory **of = NEW_ARRAY(b->cx->arena, const FirmwareMemory *, b->shared->constant_count);
    for (int i = 0; b->memories.of_constant && i < b->plan.constant_count; i++)
        of[b->constant_of[i]] = b->memories.of_constant[i];
    for (const Build *g = b->tree.next; g; g = g->tree.next)
        for (int i = 0; i < g->plan.constant_count; i++)
            if (!of[g->constant_of[i]]) of[g->constant_of[i]] = build_place_inner(b, g->plan.constant[i]);
    for (int i = 0; i < b->shared->constant_count; i++) section[i] = of[i] ? of[i]->section : NULL;
    b->program.constant_section = section;
}

/* Refuses a port and a memory with one name, because the macros of both begin with the name. */
/* Returns true if a macro of the port has this name: the port's own, or that with one of the facts of cgen/ports.c. */
static bool has_macro(const Port *port, const char *name)
{
    static const char *const facts[] = { "AT", "AXIS", "BYTES", "COUNT", "DIMS", "ELEMS", "LAYOUT", "RANK", "SCALE",
                                         "SCALES", "SHAPE", "TYPE", "ZERO_POINT", "ZERO_POINTS" };
    const size_t length = strlen(port->macro);
    if (strncmp(name, port->macro, length)) return false;
    for (size_t i = 0; i < sizeof facts / sizeof *facts && name[length] == '_'; i++)
        if (text_equal(name + length + 1, facts[i])) return true;
    return !name[length];
}

static void check_port_names(const Build *b)
{
    const Program *p = &b->program;
    for (int i = 0; i < p->input_count + p->output_count; i++) {
        const Port *port = i < p->input_count ? &p->input[i] : &p->output[i - p->input_count];
        for (int k = 0; k < p->memory_count && !ctx_failed(b->cx); k++)
            if (has_macro(port, name_upper(b->cx, p->memory[k].name)))
                diag_error(b->cx, b->path, "\"%s\" is a memory, and the %s \"%s\" has the same macros; use --rename "
                           "%s=NAME", p->memory[k].name, i < p->input_count ? "input" : "output", port->name,
                           port->name);
    }
}

void build_assemble(Build *b)
{
    Ctx *cx = b->cx;
    Program *p = &b->program;
    Map ports = map_new(cx->arena), states = map_new(cx->arena);
    const char *slash = strrchr(b->path, '/');
    settle_outputs(b);
    *p = (Program){ .name = b->name,
                    .source = slash ? slash + 1 : b->path,
                    .target = b->target->name,
                    .core_header = b->target->header,
                    .core_macros = b->target->macros,
                    .flags = b->target->flags,
                    .stamp = b->options->stamp ? LW_VERSION : NULL,
                    .options = build_option_words(cx, b->options),
                    /* "" for a graph that C built, which has no file */
                    .digest = b->model.digest ? b->model.digest : "",
                    .ties_away = b->model.ties_away,
                    .contracts = contracts_any(b),
                    .rounds_twice = rounds_twice(b),
                    .ports_in_arena = b->options->ports_in_arena,
                    .static_arena = b->options->static_arena,
                    .standalone = b->options->standalone, .acsl = b->options->acsl,
                    .has_profile = b->options->profile,
                    .arena_size = b->plan.arena_size,
                    .arena_align = b->plan.align };
    build_weights_kind(b->options, &p->weights.kind, &p->weights.section);
    build_constants(b);
    build_partition_params(b);
    p->partition_count = b->devices.count;
    p->partition = b->devices.partition;
    p->constant_count = b->shared->constant_count;
    p->constant = b->shared->constant;
    p->constant_name = b->shared->constant_name;
    if (b->memories.count) {
        assemble_memories(b);
        section_constants(b);
    }
    p->call_count = build_calls(b, &p->call, &p->last_bind_count, &p->last_bind);
    p->function_count = b->shared->function_count;
    p->function = b->shared->function;
    p->body_count = b->shared->body_count;
    p->body = b->shared->body;
    collect_sizes(b);
    build_check_renames(b);
    /* Sizes are also fields of the inputs' struct. */
    const char **size_name = NEW_ARRAY(cx->arena, const char *, p->size_count);
    for (int i = 0; i < p->size_count; i++)
        size_name[i] = build_unique_name(cx, &ports, name_unprefixed(cx, expr_as_var(p->size[i])->name));
    p->size_name = size_name;
    Port *input = ports_of(b, b->graph.input, b->graph.input, b->model.input_count, build_state_of_input, &ports,
                           &p->input_count);
    Port *output = ports_of(b, b->model.output, b->graph.output, b->graph.output_count, build_state_of_output, &ports,
                            &p->output_count);
    name_ports(b, input, output);
    pair_inouts(b, input, output);
    build_check_inputs(b, input);
    p->input = input;
    p->output = output;
    check_port_names(b);
    decide_outputs(b, output, &ports);
    p->decides_sizes = tests_sizes(b);
    build_unique_name(cx, &states, "current");
    p->state = states_of(b, &states);
    p->state_count = b->states.count;
    if (b->graph.stream) {
        p->stream.hop = b->graph.stream->hop;
        p->stream.window = b->graph.stream->window;
    }
}
