/* SPDX-License-Identifier: MIT */
/* Counts the instructions of the linked code, by stepping through NAME_run (emitter/machine) on the given or generated
 * inputs. The labels that LW_LAYER places before each layer divide the count among the layers. */
#include "api/report/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "api/run.h"
#include "lower/count.h"
#include "machine/machine.h"
#include "support/guard.h"
#include "support/text.h"

/* These addresses differ from the addresses of the code. */
enum { BUFFERS = 0x40000000, STACK = 0x7f000000 };
static const int64_t MOST_INSTRUCTIONS = INT64_C(1) << 32, MOST_BYTES = INT64_C(1) << 28;

typedef struct Loaded {
    Machine *machine;
    uint32_t free;
    uint32_t *arena, *input, *output;    /* addresses; the arena's, or each memory's */
    /* the symbols; the addresses of the symbols, or 0 */
    const char *const *constant; uint32_t *constant_at; int constant_count;
} Loaded;

static void load(Machine *m, const Elf *e)
{
    for (int i = 0; i < elf_section_count(e); i++) {
        const ElfSection s = elf_section(e, i);
        const Bytes bytes = elf_section_bytes(e, &s);
        if (s.flags & ELF_ALLOC) machine_write(m, (uint32_t)s.address, bytes.at, bytes.count);
    }
}

static void visit_symbol(const ElfSymbol *s, void *user)
{
    static const char prefix[] = STEP_PREFIX;
    if (strncmp(s->name, prefix, sizeof prefix - 1) == 0)
        machine_mark(user, (uint32_t)s->value, (int)strtol(s->name + sizeof prefix - 1, NULL, 10));
}

static void visit_constant(const ElfSymbol *s, void *user)
{
    Loaded *l = user;
    for (int i = 0; i < l->constant_count; i++)
        if (strcmp(s->name, l->constant[i]) == 0) l->constant_at[i] = (uint32_t)s->value;
}

static void find_constants(const Build *b, Loaded *l, const Elf *e)
{
    const Program *p = &b->program;
    const char **name = NEW_ARRAY(b->cx->arena, const char *, p->constant_count);
    for (int i = 0; i < p->constant_count; i++)
        name[i] = text_format(b->cx, "%s_%s", p->name, p->constant_name[i] ? p->constant_name[i] : "");
    l->constant = name;
    l->constant_count = p->constant_count;
    l->constant_at = NEW_ARRAY(b->cx->arena, uint32_t, p->constant_count);
    elf_symbols(e, visit_constant, l);
}

/* Returns the address of `bytes` bytes, which are zeros or a copy of `data`. */
static uint32_t place(Loaded *l, const void *data, int64_t bytes)
{
    const uint32_t at = l->free;
    if (data) machine_write(l->machine, at, data, (size_t)bytes);
    l->free = (at + (uint32_t)bytes + 63) & ~31u;
    return at;
}

/* Returns the address of a struct of pointers. */
static uint32_t place_pointers(Loaded *l, const uint32_t *pointer, int count)
{
    uint8_t *bytes = NULL;
    const uint32_t at = place(l, bytes, 4 * count);
    for (int i = 0; i < count; i++) {
        const uint8_t p[] = { (uint8_t)pointer[i], (uint8_t)(pointer[i] >> 8), (uint8_t)(pointer[i] >> 16),
                              (uint8_t)(pointer[i] >> 24) };
        machine_write(l->machine, at + 4 * (uint32_t)i, p, 4);
    }
    return at;
}

static uint32_t place_inputs(const Build *b, Loaded *l, const void *const *data)
{
    uint32_t *pointer = NEW_ARRAY(b->cx->arena, uint32_t, b->model.input_count);
    int count = 0;
    for (int i = 0; i < b->model.input_count; i++)
        if (build_state_of_input(b, i) < 0)
            pointer[count++] = place(l, data[i], tensor_bytes(b->model.input[i]));
    l->input = pointer;
    return place_pointers(l, pointer, count);
}

static uint32_t place_outputs(const Build *b, Loaded *l)
{
    uint32_t *pointer = NEW_ARRAY(b->cx->arena, uint32_t, b->program.output_count);
    for (int i = 0; i < b->program.output_count; i++)
        pointer[i] = place(l, NULL, tensor_bytes(b->program.output[i].tensor));
    l->output = pointer;
    return place_pointers(l, pointer, b->program.output_count);
}

/* Places the memories, or the arena. Static arrays have the addresses of the linker, which are not known here. */
static void place_memories(const Build *b, Loaded *l)
{
    const Program *p = &b->program;
    const int count = p->memory_count ? p->memory_count : 1;
    l->arena = NEW_ARRAY(b->cx->arena, uint32_t, count);
    for (int k = 0; k < count && !p->static_arena; k++) {
        const int64_t align = p->memory_count ? p->memory[k].align : p->arena_align;
        l->free = (uint32_t)((l->free + align - 1) / align * align);
        l->arena[k] = place(l, NULL, p->memory_count ? p->memory[k].size : b->plan.arena_size);
    }
}

/* Returns the address of a place, or 0 if its traffic is not counted. */
static uint32_t address_of(const Loaded *l, const Place *p)
{
    const uint32_t base = p->kind == PLACE_ARENA ? l->arena[p->index] : p->kind == PLACE_INPUT ? l->input[p->index]
                        : p->kind == PLACE_OUTPUT ? l->output[p->index]
                        : p->kind == PLACE_CONST ? l->constant_at[p->index] : 0;
    return base ? base + (uint32_t)p->offset : 0;
}

/* Returns true if the calls of the program are exactly the groups that have code, in their order. */
static bool calls_are_groups(const Build *b) { return !b->program.body_count && !b->devices.count; }

/* Lists a range of the call. */
static void add_range(const Loaded *l, MachineCounts *out, int call, const Place *p, int64_t bytes, bool is_written)
{
    const uint32_t at = address_of(l, p);
    out->range[out->range_count++] = (MachineRange){ call, at, at ? at + (uint32_t)bytes : 0, true, is_written, 0, 0 };
}

/* Returns copy `at` of those that are executed in the layer of the call, or NULL if there are no more: its own copies,
 * then the early copies of the next call. */
static const Copy *copy_in_layer(const Build *b, int call, int at)
{
    const Program *p = &b->program;
    for (int c = call; c <= call + 1 && c < p->call_count; c++)
        for (int i = 0; i < p->call[c].copy_count; i++)
            if (p->call[c].copy[i].is_early == (c > call) && at-- == 0) return &p->call[c].copy[i];
    return NULL;
}

static void add_copies(const Build *b, const Loaded *l, MachineCounts *out, int call)
{
    const Copy *k;
    for (int i = 0; (k = copy_in_layer(b, call, i)) != NULL; i++) {
        add_range(l, out, call, &k->from, k->bytes, false);
        add_range(l, out, call, &k->to, k->bytes, true);
    }
}

/* Lists for each call its parameters, then the constants that are copied in its layer, and the copies. If an output
 * overlaps an input, a load counts for the input. */
static void set_ranges(const Build *b, const Loaded *l, MachineCounts *out)
{
    int most = 0, number = 0;
    for (int i = 0; i < b->program.call_count; i++)
        most += b->program.call[i].place_count + 2 * b->program.call[i].copy_count;
    out->range = NEW_ARRAY(b->cx->arena, MachineRange, most);
    for (int i = 0; calls_are_groups(b) && i < b->groups.count; i++) {
        if (b->plan.is_free[i]) continue;
        const Call *c = &b->program.call[number];
        for (int j = 0; j < c->place_count; j++) {
            const Memory *m = b->lowered.function[i]->memory[j];
            const int64_t bytes = interval_of(b->cx, m->elems, NULL).greatest * dtype_info(m->type)->bytes;
            add_range(l, out, number, &c->place[j], bytes, m->kind != MEMORY_INPUT);
        }
        add_copies(b, l, out, number);
        number++;
    }
}

/* Returns the traffic of each group's parameters, [groups][memory_count + 1], or NULL if the calls do not correspond to
 * the groups. */
static Traffic **traffic_by_group(const Build *b, const MachineCounts *counts)
{
    Traffic **traffic = NEW_ARRAY(b->cx->arena, Traffic *, b->groups.count);
    const MachineRange *r = counts->range;
    int number = 0;
    if (!calls_are_groups(b)) return NULL;
    for (int i = 0; i < b->groups.count; i++) {
        if (b->plan.is_free[i]) continue;
        const Call *c = &b->program.call[number++];
        traffic[i] = NEW_ARRAY(b->cx->arena, Traffic, c->place_count + 1);
        for (int j = 0; j < c->place_count; j++, r++) traffic[i][j] = (Traffic){ r->read, r->written };
        for (int j = 0; copy_in_layer(b, number - 1, j); j++) r += 2;
    }
    return traffic;
}

/* Returns the memory of the options that holds the place, or NULL if none does. */
static const FirmwareMemory *memory_of(const Build *b, const Place *p)
{
    for (int i = 0, ram = 0; i < b->memories.count && p->kind == PLACE_ARENA; i++)
        if (!b->memories.at[i].is_rom && ram++ == p->index) return &b->memories.at[i];
    for (int i = 0; i < b->plan.constant_count && p->kind == PLACE_CONST; i++)
        if (b->constant_of[i] == p->index && b->memories.of_constant[i]) return b->memories.of_constant[i];
    return NULL;
}

static const MachineRange *add_traffic(const Build *b, const Place *p, const MachineRange *r, Traffic *sum)
{
    const FirmwareMemory *m = memory_of(b, p);
    if (m) sum[m - b->memories.at].read += r->read;
    if (m) sum[m - b->memories.at].written += r->written;
    return r + 1;
}

/* Returns the traffic of each memory of the options, in the order of set_ranges. */
static Traffic *traffic_by_memory(const Build *b, const MachineCounts *counts)
{
    Traffic *sum = NEW_ARRAY(b->cx->arena, Traffic, b->memories.count);
    const MachineRange *r = counts->range;
    if (!calls_are_groups(b) || !b->memories.count) return NULL;
    for (int i = 0; i < b->program.call_count; i++) {
        const Call *c = &b->program.call[i];
        for (int j = 0; j < c->place_count; j++) r = add_traffic(b, &c->place[j], r, sum);
        const Copy *k;
        for (int j = 0; (k = copy_in_layer(b, i, j)) != NULL; j++) {
            r = add_traffic(b, &k->from, r, sum);
            r = add_traffic(b, &k->to, r, sum);
        }
    }
    return sum;
}

/* The arguments of NAME_run are only pointers: to the arena, the state, inputs and outputs. */
bool report_steps(const Build *b, const Elf *e)
{
    const Program *p = &b->program;
    const bool is_thumb = elf_machine(e) == ELF_ARM && (elf_entry(e) & 1) && !e->is_wide && !e->is_big;
    return !b->observed.measured && is_thumb && !p->size_count && !p->params.count && !p->step
           && !p->ports_in_arena && p->weights.kind != WEIGHTS_CALLER && !b->devices.count
           && report_totals(b).ram < MOST_BYTES;
}

static bool step_in(const Build *b, const Elf *e, const void *const *data, Arena *arena, MachineCounts *counts)
{
    Loaded l = { .machine = machine_new(arena), .free = BUFFERS };
    uint32_t argument[5];
    int count = 0;
    load(l.machine, e);
    elf_symbols(e, visit_symbol, l.machine);
    find_constants(b, &l, e);
    place_memories(b, &l);
    if (!b->program.static_arena)
        argument[count++] = b->program.memory_count ? place_pointers(&l, l.arena, b->program.memory_count) : *l.arena;
    if (b->program.state_count) argument[count++] = place(&l, NULL, 64 + report_totals(b).state);
    argument[count++] = place_inputs(b, &l, data);
    argument[count++] = place_outputs(b, &l);
    set_ranges(b, &l, counts);
    return machine_call(l.machine, (uint32_t)elf_entry(e), argument, count, STACK, MOST_INSTRUCTIONS, counts);
}

/* The machine's memory is released at the end. */
static bool step(const Build *b, const Elf *e, const void *const *data, MachineCounts *counts)
{
    Resource held;
    Arena *own = arena_beside(b->cx->arena);
    resource_hold_arena(b->cx, &held, own);
    const bool ok = step_in(b, e, data, own, counts);
    resource_drop(b->cx, &held);
    return ok;
}

static const char *failure(Ctx *cx, const MachineCounts *c)
{
    if (c->unknown_at)
        return text_format(cx, "the instruction %08lx at %lx is not known", (unsigned long)c->unknown,
                           (unsigned long)c->unknown_at);
    if (c->total >= MOST_INSTRUCTIONS) return "a run takes more than 4294967296 instructions";
    return "the model refuses its arguments";
}

void report_step(Build *b, const Elf *e, Footprint *out)
{
    Ctx *cx = b->cx;
    const int rows = b->program.call_count;
    MachineCounts counts = { .layer = NEW_ARRAY(cx->arena, int64_t, rows), .layer_count = rows };
    const void **data;
    if (!run_inputs(b, b->options->input, b->options->input_count, &data)) return;
    if (!step(b, e, data, &counts) || counts.result) {
        out->not_stepped = failure(cx, &counts);
        return;
    }
    bool has_marks = false;              /* returns false for a compiler without labels, or a linker that drops them */
    for (int i = 0; i < rows; i++) has_marks = has_marks || counts.layer[i] > 0;
    Measured *m = NEW(cx->arena, Measured);
    *m = (Measured){ { counts.total, has_marks ? report_by_group(b, counts.layer, rows) : NULL }, { -1, NULL }, true,
                    has_marks ? traffic_by_group(b, &counts) : NULL,
                    has_marks ? traffic_by_memory(b, &counts) : NULL };
    b->observed.measured = m;
    if (!out->has_stack || (int64_t)counts.stack > out->stack) out->stack = counts.stack;
    out->has_stack = true;
}
