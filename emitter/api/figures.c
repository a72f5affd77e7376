/* SPDX-License-Identifier: MIT */
/* Computes the figures of the reports: see figures.h. */
#include "api/figures.h"

#include <string.h>

#include "cgen/control_flow.h"
#include "cgen/training.h"
#include "ir/nest/costs.h"
#include "lower/count.h"
#include "support/text.h"

/* Returns the number of iterations of the stage; symbolic sizes count with their maximum. */
static int64_t elems_of(Ctx *cx, const Stage *s)
{
    int64_t n = 1;
    for (int a = 0; a < s->axis_count; a++) n = sat_mul(n, interval_of(cx, s->axis[a].extent, NULL).greatest);
    return n;
}

static int64_t nest_macs(Ctx *cx, const Nest *n)
{
    int64_t macs = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        const Expr *v = s->value[0];
        while (v->kind == EXPR_SELECT) v = v->arg[SELECT_YES];
        if (s->reducer == REDUCE_SUM && v->kind == EXPR_MUL && elems_of(cx, s) > 0) macs += elems_of(cx, s);
    }
    return macs;
}

static int64_t graph_macs(const Build *b)
{
    int64_t macs = 0;
    for (int i = 0; i < b->groups.count; i++)
        if (!b->plan.is_free[i]) macs = sat_add(macs, report_group_macs(b, i));
    return macs;
}

/* For a conditional, returns the count of its larger branch; for a loop, of all its iterations, or of one iteration if
 * data decide the trip count. */
int64_t report_group_macs(const Build *b, int group)
{
    const Node *n = region_of_group(b, group);
    if (!n) return nest_macs(b->cx, b->scheduled.nest[group]);
    const Build *inner = build_graphs_of(b, n);
    const int64_t turns = region_trip_count(n) < 0 ? 1 : region_trip_count(n);
    int64_t most = 0;
    for (int g = 0; g < n->region->graph_count; g++) most = graph_macs(&inner[g]) > most ? graph_macs(&inner[g]) : most;
    return n->region->kind == REGION_LOOP ? sat_mul(turns, most) : most;
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Returns true if --cc has the flag -Os and no other level. */
static bool is_small(const lw_options *o)
{
    const char *level = o->cc ? strstr(o->cc, " -O") : NULL;
    return level && strncmp(level, " -Os", 4) == 0 && (level[4] == ' ' || !level[4]) && !strstr(level + 4, " -O");
}

/* Converts a count at -O3 to a count at the optimization level of --cc. */
static int64_t at_level(const Build *b, int group, int64_t count)
{
    const CoreFigures *c = b->target->core;
    const double share = !c || !is_small(b->options) ? 0
        : report_computes_floats(b, group) ? c->size_level.floats : c->size_level.integers;
    return share > 0 ? (int64_t)((double)count * share + 0.5) : count;
}

static int64_t graph_instructions(const Build *b)
{
    int64_t count = 0;
    for (int i = 0; i < b->groups.count; i++) count = sat_add(count, report_instructions(b, i));
    return count;
}

static int64_t region_instructions(const Build *b, const Node *n)
{
    const Build *inner = build_graphs_of(b, n);
    const int64_t turns = region_trip_count(n) < 0 ? 1 : region_trip_count(n);
    int64_t most = 0;
    for (int g = 0; g < n->region->graph_count; g++) {
        const int64_t count = graph_instructions(&inner[g]);
        most = count > most ? count : most;
    }
    return n->region->kind == REGION_LOOP ? sat_mul(turns, most) : most;
}

static const Counts *measured_instructions(const Build *b)
{
    return b->observed.measured ? &b->observed.measured->instructions : NULL;
}

static const Counts *measured_cycles(const Build *b)
{
    return b->observed.measured ? &b->observed.measured->cycles : NULL;
}
static bool has_layers(const Counts *c) { return c && c->layer; }
static bool has_total(const Counts *c) { return c && c->total >= 0; }

bool report_measures_instructions(const Build *b) { return has_total(measured_instructions(b)); }
bool report_measures_cycles(const Build *b) { return has_total(measured_cycles(b)); }
bool report_has_instructions(const Build *b) { return b->target->costs || has_layers(measured_instructions(b)); }
bool report_has_cycles(const Build *b)
{
    return has_layers(measured_cycles(b)) || (b->target->core && report_has_instructions(b));
}

int64_t report_instructions(const Build *b, int group)
{
    const Node *n = region_of_group(b, group);
    const Function *f = b->lowered.function[group];
    if (has_layers(measured_instructions(b))) return measured_instructions(b)->layer[group];
    if (!b->target->costs) return -1;
    if (n) return region_instructions(b, n);
    return f ? at_level(b, group, build_instructions(b, group)) : 0;
}

static int64_t counted_worst(const Build *b, int group);

static int64_t graph_worst(const Build *b)
{
    int64_t count = 0;
    for (int i = 0; i < b->groups.count && count >= 0; i++) {
        const int64_t most = counted_worst(b, i);
        count = most < 0 ? -1 : sat_add(count, most);
    }
    return count;
}

static int64_t region_worst(const Build *b, const Node *n)
{
    const Build *inner = build_graphs_of(b, n);
    const bool is_loop = n->region->kind == REGION_LOOP;
    const int64_t trips = region_trip_count(n);
    const int64_t turns = !is_loop ? 1 : trips >= 0 ? trips : n->region->max_trip_count;
    int64_t most = turns < 0 ? -1 : 0;
    for (int g = 0; g < n->region->graph_count && most >= 0; g++) {
        const int64_t count = graph_worst(&inner[g]);
        most = count < 0 ? -1 : count > most ? count : most;
    }
    return most < 0 ? -1 : sat_mul(turns, most);
}

static int64_t counted_worst(const Build *b, int group)
{
    const Node *n = region_of_group(b, group);
    const int64_t most = n ? region_worst(b, n) : build_worst(b, group);
    return n || most < 0 ? most : at_level(b, group, most);
}

/* Returns the counted instructions of a layer, whether they are measured or not. */
static int64_t counted(const Build *b, int group)
{
    const Node *n = region_of_group(b, group);
    return n ? region_instructions(b, n) : at_level(b, group, build_instructions(b, group));
}

int64_t report_worst(const Build *b, int group)
{
    const int64_t most = b->target->costs ? counted_worst(b, group) : -1;
    if (most < 0 || !has_layers(measured_instructions(b))) return most;
    return sat_add(report_instructions(b, group), sat_add(most, -counted(b, group)));
}

/* Returns the sum over the layers. A measured total without layers takes the place of the counted one. */
static int64_t total_worst(const Build *b)
{
    const Counts *m = measured_instructions(b);
    int64_t worst = 0, typical = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const int64_t most = report_worst(b, i);
        if (most < 0) return -1;
        worst = sat_add(worst, most);
        typical = sat_add(typical, report_instructions(b, i));
    }
    return has_total(m) ? sat_add(m->total, sat_add(worst, -typical)) : worst;
}

int report_parts(const Build *b, int group)
{
    const Division *d = build_division(b, group);
    return d ? d->parts : 1;
}

int64_t report_busiest(const Build *b, int group)
{
    const int64_t count = report_instructions(b, group);
    const Division *d = build_division(b, group);
    if (count < 0 || !d || !d->whole) return count;
    return (int64_t)((double)count * (double)division_longest(d) / (double)d->whole + 0.5);
}

int64_t report_cycles(const Build *b, int group)
{
    const CoreFigures *c = b->target->core;
    const int64_t count = report_instructions(b, group);
    if (has_layers(measured_cycles(b))) return measured_cycles(b)->layer[group];
    if (!c || count < 0) return -1;
    const double cycles = (double)count * (report_computes_floats(b, group) ? c->cycles.floats : c->cycles.integers);
    return cycles < 9e18 ? (int64_t)(cycles + 0.5) : INT64_MAX;
}

int64_t report_microseconds(const Build *b, int64_t cycles)
{
    const double mhz = b->options->mhz, time = mhz > 0 ? (double)cycles / mhz + 0.5 : -1;
    return cycles < 0 || time < 0 ? -1 : time < 9e18 ? (int64_t)time : INT64_MAX;
}

/* Returns the bytes of a function's arrays on the stack at the point where most of them are live. An array lives to the
 * end of its scope. Among statements with their own scopes, the largest counts. With `has_units`, arrays in declared
 * memories are not on the stack. */
static int64_t local_arrays(const Code *body, bool has_units)
{
    const bool is_array = body->kind == CODE_LOCAL && body->memory->kind == MEMORY_LOCAL
                          && (!has_units || !scope_is_declared(body->memory->scope));
    int64_t declared = is_array ? expr_scalar(body->memory->elems).i * dtype_info(body->memory->type)->bytes : 0;
    int64_t most = 0;
    for (int i = 0; i < body->child_count && body->kind != CODE_CALL; i++) {
        const int64_t bytes = local_arrays(body->child[i], has_units);
        if (body->child[i]->kind == CODE_LOCAL) declared += bytes;
        else if (bytes > most) most = bytes;
    }
    return declared + most;
}

int64_t report_arrays(const Function *f, bool has_units) { return local_arrays(f->body, has_units); }

int64_t report_stack(const Build *b)
{
    const Program *p = &b->program;
    int64_t most = 0;
    if (!b->target->core || !b->target->core->stack_frames) return -1;
    for (int i = 0; i < p->function_count; i++) {
        const int64_t bytes = report_arrays(p->function[i], true);
        if (bytes > most) most = bytes;
    }
    return most + b->target->core->stack_frames;
}

const char *report_milliseconds(Ctx *cx, int64_t microseconds)
{
    return text_format(cx, "%lld.%03d", (long long)(microseconds / 1000), (int)(microseconds % 1000));
}

int64_t report_rounded(int64_t estimate)
{
    enum { LEAST = 1000, TEN = 10 };
    int64_t unit = 1;
    while (estimate / unit >= LEAST) unit *= TEN;
    const int64_t digits = estimate / unit + (estimate % unit >= unit - estimate % unit);
    return digits * unit;
}

int64_t report_weights(const Group *g)
{
    int64_t bytes = 0;
    for (int i = 0; i < g->input_count; i++)
        if (tensor_is_constant(g->input[i])) bytes += tensor_bytes(g->input[i]);
    return bytes;
}

static int64_t bytes_of(Ctx *cx, Tensor *const *t, int count)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += tensor_most_bytes(cx, t[i]);
    return bytes;
}

int64_t report_result(Ctx *cx, const Group *g) { return bytes_of(cx, g->output, g->output_count); }

const char *report_place(const Build *b, const Group *g)
{
    const Slot *s = plan_slot(&b->plan, g->output[0]);
    if (b->training.is_step && s->kind == SLOT_OUTPUT) return "loss";
    if (s->kind == SLOT_INPUT && build_trained_of_input(b, s->index) >= 0)
        return text_format(b->cx, "params.%s", b->graph.input[s->index]->name);
    if (b->tree.outer && s->kind == SLOT_OUTPUT) return text_format(b->cx, "result %d", s->index);
    if (s->kind == SLOT_OUTPUT && build_state_of_output(b, s->index) >= 0) return "state";
    if (s->kind == SLOT_OUTPUT)
        return text_format(b->cx, "output %d%s", s->index,
                           s->in_arena ? text_format(b->cx, ", arena +%lld", (long long)s->offset) : "");
    int64_t at = s->offset + s->view_offset * dtype_info(s->tensor->type)->bytes;
    const char *memory = b->tree.outer ? "memory" : b->plan.memory_count > 1 ? b->plan.memory[s->memory].name : "arena";
    return text_format(b->cx, "%s +%lld%s", memory, (long long)at,
                       s->root != s->tensor ? " (shared)" : "");
}

/* Sums the instructions and cycles of the layers; a measured total replaces the sum. If cycles are estimated, they are
 * derived from the measured total of instructions. */
static void add_time(const Build *b, Totals *t)
{
    const Counts *instructions = measured_instructions(b), *cycles = measured_cycles(b);
    t->instructions = report_has_instructions(b) ? 0 : -1;
    t->cycles = report_has_cycles(b) ? 0 : -1;
    for (int i = 0; i < b->groups.count; i++) {
        if (t->instructions >= 0) t->instructions = sat_add(t->instructions, report_instructions(b, i));
        if (t->cycles >= 0) t->cycles = sat_add(t->cycles, report_cycles(b, i));
    }
    if (has_total(instructions)) {
        if (t->cycles > 0 && t->instructions > 0 && !has_layers(instructions))
            t->cycles = (int64_t)((double)t->cycles * (double)instructions->total / (double)t->instructions + 0.5);
        t->instructions = instructions->total;
    }
    if (has_total(cycles)) t->cycles = cycles->total;
}

/* Adds the memory of a training step; NAME_run and NAME_train may share one arena. */
static void add_training(const Build *b, Totals *t)
{
    const Program *step = b->program.step;
    if (!b->training.step) return;
    t->params = training_bytes(&b->program);
    if (b->training.step->plan.arena_size > t->arena) t->arena = b->training.step->plan.arena_size;
    if (step)
        t->targets = tensor_bytes(step->input[step->input_count - 1].tensor)
                     + tensor_bytes(b->training.step->graph.output[0]);
}

Totals report_totals(const Build *b)
{
    Totals t = { .arena = b->plan.arena_size, .inputs = bytes_of(b->cx, b->graph.input, b->model.input_count),
                 .outputs = bytes_of(b->cx, b->model.output, b->model.output_count) };
    for (int i = 0; i < b->program.state_count; i++) {
        int64_t bytes = tensor_bytes(b->program.state[i].tensor);
        t.inputs -= bytes;
        t.outputs -= bytes;
    }
    t.state = build_state_bytes(b, false);
    add_training(b, &t);
    t.weights = program_weights(&b->program);
    if (b->options->ports_in_arena) t.inputs = t.outputs = 0;
    for (int i = 0; i < b->groups.count; i++) t.macs += b->plan.is_free[i] ? 0 : report_group_macs(b, i);
    add_time(b, &t);
    t.worst = total_worst(b);
    t.ram = t.arena + t.inputs + t.outputs + t.state + t.params + t.targets;
    return t;
}

int report_layers(const Build *b)
{
    int count = 0;
    for (; b; b = b->tree.next) count += b->groups.count;
    return count;
}

static bool is_float(DType t) { return dtype_is_float(t); }
static bool is_byte(DType t) { return t == I8 || t == U8; }

/* Returns true if a call of the group has an operand or result whose type is_such accepts. */
static bool has_type(const Group *g, bool is_such(DType t))
{
    for (int i = 0; i < g->node_count; i++) {
        const Node *n = g->node[i];
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j] && is_such(n->in[j]->type)) return true;
        for (int j = 0; j < n->out_count; j++)
            if (is_such(n->out[j]->type)) return true;
    }
    return false;
}

bool report_computes_floats(const Build *b, int group)
{
    return !b->plan.is_free[group] && has_type(&b->groups.at[group], is_float);
}

int report_floats(const Build *b)
{
    bool is_quantized = false;
    int floats = 0;
    for (; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++) {
            is_quantized = is_quantized || has_type(&b->groups.at[i], is_byte);
            floats += report_computes_floats(b, i);
        }
    return is_quantized ? floats : -1;
}

const char *report_attrs(Ctx *cx, const Node *annotation)
{
    Text t = text_new(cx);
    for (int i = 0; i < annotation->attr_count; i++)
        if (annotation->attr[i].text) text_printf(&t, " %s=%s", annotation->attr[i].name, annotation->attr[i].text);
    return text_string(&t);
}
