/* SPDX-License-Identifier: MIT */
/* Computes the traffic of layers: see traffic.h. */
#include "api/traffic.h"

#include "ir/nest/scope.h"
#include "support/names.h"

const char *const traffic_kind_names[TRAFFIC_KINDS] = { "results", "scratch", "weights", "ports", "stack",
                                                       "units" };

static TrafficKind kind_of(const Build *b, int group, const Memory *m)
{
    if (m->kind == MEMORY_SCRATCH) return TRAFFIC_SCRATCH;
    const Slot *s = build_slot(b, group, m);
    if (s->kind == SLOT_CONST || (s->kind == SLOT_INPUT && build_trained_of_input(b, s->index) >= 0))
        return TRAFFIC_WEIGHTS;
    return s->kind == SLOT_ARENA || b->tree.outer ? TRAFFIC_RESULTS : TRAFFIC_PORTS;
}

/* Sets the memory of the parameter and the copy that the parameter reads. scratch: its number among the function's
 * buffers. */
static void set_memory(const Build *b, int group, const Memory *m, int scratch, ParameterTraffic *to)
{
    const Slot *s = m->kind == MEMORY_SCRATCH ? NULL : build_slot(b, group, m);
    const Scratch *copy = s ? build_copy(b, group, s) : NULL;
    const bool has_memory = s && s->kind == SLOT_CONST && b->memories.of_constant;
    const FirmwareMemory *rom = has_memory ? b->memories.of_constant[s->index] : NULL;
    if (!b->plan.memory_count) return;
    if (!s) to->memory = b->plan.memory[b->lowered.scratch[group][scratch].memory].name;
    else if (copy) to->memory = b->plan.memory[copy->memory].name;
    else if (s->in_arena) to->memory = b->plan.memory[s->memory].name;
    else if (rom) to->memory = rom->name;
    to->copied = copy ? copy->bytes : 0;
    to->from = copy && rom ? rom->name : NULL;
}

/* A function that groups share with other numbers states the size of the largest one. */
static int64_t bytes_of(const Build *b, int group, const Memory *m)
{
    if (m->kind != MEMORY_SCRATCH) return tensor_most_bytes(b->cx, build_slot(b, group, m)->tensor);
    return sat_mul(interval_of(b->cx, m->elems, NULL).greatest, dtype_info(m->type)->bytes);
}

int report_traffic(const Build *b, int group, const ParameterTraffic **out)
{
    Ctx *cx = b->cx;
    const Function *f = b->lowered.function[group];
    if (!f || b->plan.is_free[group]) return 0;
    const int all = f->memory_count + LOCAL_TRAFFICS;
    Traffic *moved = NEW_ARRAY(cx->arena, Traffic, all);
    ParameterTraffic *list = NEW_ARRAY(cx->arena, ParameterTraffic, all);
    int count = 0, scratch = 0;
    Traffic *const *measured = b->observed.measured ? b->observed.measured->traffic : NULL;
    count_traffic(cx, f, b->target->costs, moved);
    for (int i = 0; measured && i < f->memory_count; i++) moved[i] = measured[group][i];
    for (int i = 0; i < all; i++) {
        const Memory *m = i < f->memory_count ? f->memory[i] : NULL;
        const int number = scratch;
        scratch += m && m->kind == MEMORY_SCRATCH;
        if (!moved[i].read && !moved[i].written) continue;
        const TrafficKind local = i == f->memory_count ? TRAFFIC_STACK : TRAFFIC_UNITS;
        list[count++] = (ParameterTraffic){ m ? m->name : traffic_kind_names[local], m,
                                            m ? kind_of(b, group, m) : local,
                                            m ? bytes_of(b, group, m) : 0, moved[i], NULL, 0, NULL };
        if (m) set_memory(b, group, m, number, &list[count - 1]);
    }
    *out = list;
    return count;
}

void report_add_traffic(const ParameterTraffic *p, int count, Traffic sum[TRAFFIC_KINDS])
{
    for (int i = 0; i < count; i++) {
        Traffic *to = &sum[p[i].kind];
        to->read = sat_add(to->read, p[i].moved.read);
        to->written = sat_add(to->written, p[i].moved.written);
    }
}

void report_sum_traffic(const Build *b, Traffic sum[TRAFFIC_KINDS])
{
    for (int k = 0; k < TRAFFIC_KINDS; k++) sum[k] = (Traffic){ 0, 0 };
    for (int i = 0; i < b->groups.count; i++) {
        const ParameterTraffic *p = NULL;
        const int count = report_traffic(b, i, &p);
        report_add_traffic(p, count, sum);
    }
}

static void add_unit(const Memory *m, UnitUse *list, int *count)
{
    const int64_t end = m->begin + expr_scalar(m->elems).i * dtype_info(m->type)->bytes;
    int i = 0;
    while (i < *count && !text_equal(list[i].memory->name, m->scope->name)) i++;
    if (i == MOST_UNITS) return;
    if (i == *count) list[(*count)++] = (UnitUse){ m->scope, 0 };
    if (end > list[i].used) list[i].used = end;
}

static void add_units(const Code *c, UnitUse *list, int *count)
{
    if (c->kind == CODE_LOCAL && c->memory->kind == MEMORY_LOCAL && scope_is_declared(c->memory->scope))
        add_unit(c->memory, list, count);
    for (int i = 0; i < c->child_count; i++) add_units(c->child[i], list, count);
}

int report_units(const Build *b, const UnitUse **out)
{
    UnitUse *list = NEW_ARRAY(b->cx->arena, UnitUse, MOST_UNITS);
    int count = 0;
    for (int i = 0; i < b->program.function_count; i++) add_units(b->program.function[i]->body, list, &count);
    *out = list;
    return count;
}

int report_traffic_kinds(const Build *b)
{
    const UnitUse *u;
    return report_units(b, &u) ? TRAFFIC_KINDS : TRAFFIC_UNITS;
}

int report_memories(const Build *b, const MemoryUse **out)
{
    MemoryUse *list = NEW_ARRAY(b->cx->arena, MemoryUse, b->memories.count);
    int ram = 0;
    for (int i = 0; i < b->memories.count; i++) {
        const FirmwareMemory *m = &b->memories.at[i];
        MemoryUse *use = &list[i];
        *use = (MemoryUse){ m->name, m->is_rom, m->bytes, m->used, 0, 0, { m->read, 0 } };
        if (!m->is_rom) {
            const PlanMemory *p = &b->plan.memory[ram++];
            use->used = p->size;
            use->live_bound = p->live_bound;
            use->moved = (Traffic){ p->read, p->written };
        }
        if (b->observed.measured && b->observed.measured->in_memory) use->moved = b->observed.measured->in_memory[i];
        use->cost = sat_add(sat_mul(use->moved.read, m->read_cost), sat_mul(use->moved.written, m->write_cost));
    }
    *out = list;
    return b->memories.count;
}
