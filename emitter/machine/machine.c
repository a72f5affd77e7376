/* SPDX-License-Identifier: MIT */
/* Decodes an instruction when it is first reached, and executes it: see machine.h. */

/* Decision: compiled code is executed, not matched. The user's compiler unrolls, vectorizes, merges and inlines, so
 * no map from its loops to the loops of a nest gives their trip counts. `report --cc` executes the linked code instead
 * (`emitter/machine`): a row for each encoding, decoded once, with the meaning as a function. Everything that control
 * depends on is computed. Products of Helium are not computed, because loops of Helium code count vectors and do not
 * depend on products. On 22 networks, three cores and two levels the count differs from QEMU's by 0.4 % at most, one
 * network 1.5 %. `tests/unit/test_machine.c` compares results with the host's on the same C file. */
#include "machine/machine.h"

#include "machine/insn.h"

enum { HALT = 0x7ffffffe,        /* the address to which the called function returns */
       MOST_CODE = 1 << 8 };     /* pages */

static void stop(Machine *m, uint32_t at)
{
    m->unknown_at = at;
    m->unknown = load16(m, at) << 16 | load16(m, at + 2);
    m->pc = HALT;
}

static void run_unknown(Machine *m, const Insn *i) { stop(m, i->at); }
static void run_nowhere(Machine *m, const Insn *i) { (void)i, stop(m, m->pc); }

Machine *machine_new(Arena *arena)
{
    Machine *m = NEW(arena, Machine);
    m->arena = arena;
    m->page = NEW_ARRAY(arena, uint8_t *, PAGES);
    m->code = NEW_ARRAY(arena, Insn *, PAGES);
    m->nowhere = (Insn){ .run = run_nowhere, .cond = ALWAYS };
    return m;
}

/* Returns false for memory that was never written, and past the last page of code. */
static bool has_code(Machine *m, uint32_t at)
{
    Insn **page = &m->code[at >> PAGE_BITS];
    if (!*page && m->page[at >> PAGE_BITS] && m->code_count < MOST_CODE) {
        *page = NEW_ARRAY(m->arena, Insn, PAGE_BYTES / 2);
        m->code_count++;
    }
    return *page != NULL;
}

static Insn *slot(Machine *m, uint32_t at) { return &m->code[at >> PAGE_BITS][(at & (PAGE_BYTES - 1)) / 2]; }

void machine_mark(Machine *m, uint32_t at, int number)
{
    if (!has_code(m, at)) return;
    Insn *i = slot(m, at & ~1u);
    i->is_marked = true;
    i->mark = number;
}

/* Returns true for coprocessors 10 and 11, except the last quarter of their encodings, which is Helium. */
static bool is_float(uint32_t w) { return (w & 0xec000e00) == 0xec000a00 && (w & 0xef000000) != 0xef000000; }

static bool decode_wide(uint32_t w, Insn *i)
{
    if ((w & 0xec000000) == 0xec000000) return is_float(w) ? decode_floats(w, i) : decode_vectors(w, i);
    return decode_multiply(w, i) || decode_long(w, i);
}

static Insn *decode(Machine *m, uint32_t at, int cond)
{
    Insn *i = slot(m, at);
    const uint32_t first = load16(m, at);
    const bool is_long = first >> 11 >= 0x1d;
    const bool is_marked = i->is_marked;
    const int mark = i->mark;
    *i = (Insn){ .at = at, .next = at + (is_long ? 4 : 2), .cond = (uint8_t)cond,
                 .is_marked = is_marked, .mark = mark };
    const bool ok = is_long ? decode_wide(first << 16 | load16(m, at + 2), i) : decode_short(first, cond != ALWAYS, i);
    if (!ok) i->run = run_unknown;
    return i;
}

/* Decodes the block of an IT, which sets the conditions of the next one to four instructions. The mask has the lowest
 * bit of each condition, from bit 3 downwards. */
static void decode_block(Machine *m, const Insn *it)
{
    const uint32_t w = load16(m, it->at);
    uint32_t at = it->next;
    if ((w & 0xff00) != 0xbf00) return;
    for (uint32_t bits = w & 31; bits & 15 && has_code(m, at); bits = (bits << 1) & 31)
        at = decode(m, at, (int)((w >> 4 & 14) | bits >> 4))->next;
}

static Insn *at_pc(Machine *m)
{
    Insn *i = m->code[m->pc >> PAGE_BITS] || has_code(m, m->pc) ? slot(m, m->pc) : &m->nowhere;
    if (i->run) return i;
    i = decode(m, m->pc, ALWAYS);
    decode_block(m, i);
    return i;
}

static void set_arguments(Machine *m, const uint32_t *argument, int count, uint32_t stack)
{
    const int on_stack = count > 4 ? count - 4 : 0;
    m->r[SP] = (stack - 4 * (uint32_t)on_stack) & ~7u;
    for (int i = 0; i < count; i++) {
        if (i < 4) m->r[i] = argument[i];
        else store32(m, m->r[SP] + 4 * (uint32_t)(i - 4), argument[i]);
    }
    m->r[LR] = HALT | 1;
}

/* Selects the memory ranges of the layer. */
static void set_ranges(Machine *m, const MachineCounts *out, int layer)
{
    int first = 0, end;
    while (first < out->range_count && out->range[first].layer != layer) first++;
    for (end = first; end < out->range_count && out->range[end].layer == layer;) end++;
    m->range = out->range + first;
    m->range_count = end - first;
}

static void close_layer(MachineCounts *out, int layer, int64_t count)
{
    if (layer >= 0 && layer < out->layer_count) out->layer[layer] += count;
}

bool machine_call(Machine *m, uint32_t function, const uint32_t *argument, int argument_count, uint32_t stack,
                  int64_t most, MachineCounts *out)
{
    int64_t count = 0, since = 0;
    int layer = -1;
    set_arguments(m, argument, argument_count, stack);
    uint32_t least = m->r[SP];
    m->pc = function & ~1u;
    while (m->pc != HALT && count < most) {
        const Insn *i = at_pc(m);
        if (i->is_marked) {
            close_layer(out, layer, count - since);
            layer = i->mark;
            set_ranges(m, out, layer);
            since = count;
        }
        count++;
        m->r[PC] = m->pc + 4;
        if (i != &m->nowhere) m->pc = i->next;
        if (i->cond == ALWAYS || holds(m, i->cond)) i->run(m, i);
        if (m->r[SP] < least) least = m->r[SP];
    }
    close_layer(out, layer, count - since);
    out->total = count;
    out->result = m->r[0];
    out->stack = stack - least;
    out->unknown_at = m->unknown_at;
    out->unknown = m->unknown;
    return m->pc == HALT && !m->unknown_at;
}
