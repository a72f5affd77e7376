/* SPDX-License-Identifier: MIT */
/* Decodes Thumb's 32-bit encodings, except multiplications (multiply.c), floats and vectors. */
#include "machine/insn.h"

static int reg_n(uint32_t w) { return (int)bits_of(w, 19, 16); }
static int reg_d(uint32_t w) { return (int)bits_of(w, 11, 8); }
static int reg_t(uint32_t w) { return (int)bits_of(w, 15, 12); }

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/* Sets operation, flags and registers. If the destination is register 15, the instruction is a test; if the first
 * operand is register 15, it is a move. */
static void set_alu(uint32_t w, Insn *i)
{
    const int op = (int)bits_of(w, 24, 21);
    const bool is_or = op == ORR || op == ORN;
    i->op = (uint8_t)op;
    i->sets = w >> 20 & 1;
    i->n = (uint8_t)(is_or && reg_n(w) == PC ? ZERO : reg_n(w));
    i->d = (uint8_t)(i->sets && reg_d(w) == PC ? SINK : reg_d(w));
}

static void alu_register(uint32_t w, Insn *i)
{
    set_alu(w, i);
    set_operand(i, (int)bits_of(w, 3, 0), (Shift)bits_of(w, 5, 4), (int)(bits_of(w, 14, 12) << 2 | bits_of(w, 7, 6)));
}

static uint32_t constant_12(uint32_t w) { return bits_of(w, 26, 26) << 11 | bits_of(w, 14, 12) << 8 | (w & 255); }

/* Decodes a constant, which is a byte, repeated or rotated. */
static void alu_constant(uint32_t w, Insn *i)
{
    const uint32_t code = constant_12(w), byte = code & 255;
    static const uint32_t repeated[] = { 0x1, 0x10001, 0x1000100, 0x1010101 };
    const uint32_t turned = 0x80 | (code & 127);
    const int by = (int)(code >> 7);
    set_alu(w, i);
    i->run = run_alu_imm;
    i->imm = code < 0x400 ? byte * repeated[code >> 8] : turned >> by | turned << (32 - by);
    i->amount = (uint8_t)(code < 0x400 ? 0 : 2 | i->imm >> 31);
}

static void add_wide(uint32_t w, Insn *i)
{
    i->op = w & 0x00800000 ? SUB : ADD;
    i->d = (uint8_t)reg_d(w);
    i->n = (uint8_t)(reg_n(w) == PC ? ZERO : reg_n(w));
    i->imm = constant_12(w);
    if (reg_n(w) == PC) i->imm = i->op == SUB ? ((i->at + 4) & ~3u) - i->imm : ((i->at + 4) & ~3u) + i->imm;
    if (reg_n(w) == PC) i->op = ADD;
    i->run = run_alu_imm;
}

static void run_move_top(Machine *m, const Insn *i) { m->r[i->d] = (m->r[i->d] & 0xffff) | i->imm << 16; }

static void move_wide(uint32_t w, Insn *i)
{
    i->op = ORR;
    i->n = ZERO;
    i->d = (uint8_t)reg_d(w);
    i->imm = bits_of(w, 19, 16) << 12 | constant_12(w);
    i->run = w & 0x00800000 ? run_move_top : run_alu_imm;
}

/* Extracts a bit field; kind: its lowest bit, amount: its width. */
static void run_extract(Machine *m, const Insn *i)
{
    const uint32_t x = m->r[i->n] >> i->kind, mask = i->amount > 31 ? UINT32_MAX : (1u << i->amount) - 1;
    m->r[i->d] = i->op ? sign_extend(x & mask, i->amount) : x & mask;
}

static void run_insert(Machine *m, const Insn *i)
{
    const uint32_t mask = (i->amount > 31 ? UINT32_MAX : (1u << i->amount) - 1) << i->kind;
    m->r[i->d] = (m->r[i->d] & ~mask) | (m->r[i->n] << i->kind & mask);
}

static void field(uint32_t w, Insn *i)
{
    const bool is_insert = (w & 0x01e00000) == 0x01600000;
    const int last = (int)(w & 31);
    i->d = (uint8_t)reg_d(w);
    i->n = (uint8_t)(is_insert && reg_n(w) == PC ? ZERO : reg_n(w));
    i->kind = (uint8_t)(bits_of(w, 14, 12) << 2 | bits_of(w, 7, 6));
    i->amount = (uint8_t)(is_insert ? last + 1 - i->kind : last + 1);
    i->op = !(w & 0x00800000);
    i->run = is_insert ? run_insert : run_extract;
}

static void shift_by_register(uint32_t w, Insn *i)
{
    i->kind = (uint8_t)bits_of(w, 22, 21);
    i->sets = w >> 20 & 1;
    i->n = (uint8_t)reg_n(w);
    i->d = (uint8_t)reg_d(w);
    i->m = (uint8_t)(w & 15);
    i->run = run_shift_by_register;
}

/* Decodes an extension. Bits 22 to 20 number the kinds: halfword, two bytes, byte; each kind signed, then unsigned. */
static void extend(uint32_t w, Insn *i)
{
    const int which = (int)bits_of(w, 22, 20);
    i->op = (uint8_t)((which < 2 ? 1 : 0) | (which & 1 ? 0 : 4));
    i->n = (uint8_t)(reg_n(w) == PC ? ZERO : reg_n(w));
    i->d = (uint8_t)reg_d(w);
    i->m = (uint8_t)(w & 15);
    i->amount = (uint8_t)(bits_of(w, 5, 4) * 8);
    i->run = run_extend;
}

static void run_count_zeros(Machine *m, const Insn *i)
{
    uint32_t n = 32;
    for (uint32_t x = m->r[i->m]; x; x >>= 1) n--;
    m->r[i->d] = n;
}

static void reverse(uint32_t w, Insn *i)
{
    i->d = (uint8_t)reg_d(w);
    i->m = (uint8_t)(w & 15);
    i->op = (uint8_t)bits_of(w, 5, 4);
    i->run = bits_of(w, 21, 20) == 3 ? run_count_zeros : run_reverse;
}

/* Selects by a condition (ARMv8.1-M). op changes the second operand: 0 not at all, 1 adds 1, 2 inverts, 3 negates. */
static void run_select(Machine *m, const Insn *i)
{
    const uint32_t y = m->r[i->m], other[] = { y, y + 1, ~y, 0u - y };
    m->r[i->d] = holds(m, i->kind) ? m->r[i->n] : other[i->op];
}

static void select(uint32_t w, Insn *i)
{
    i->op = (uint8_t)bits_of(w, 13, 12);
    i->kind = (uint8_t)bits_of(w, 7, 4);
    i->d = (uint8_t)reg_d(w);
    i->n = (uint8_t)(reg_n(w) == PC ? ZERO : reg_n(w));
    i->m = (uint8_t)((w & 15) == PC ? ZERO : w & 15);
    i->run = run_select;
}

static uint64_t shifted_long(uint64_t x, int kind, int by)
{
    if (kind != LSL && kind != LSR && kind != ASR) return x;
    if (by > 63) return kind == ASR && x >> 63 ? UINT64_MAX : 0;
    if (by == 0) return x;
    if (kind == LSL) return x << by;
    return x >> by | (kind == ASR && x >> 63 ? ~(UINT64_MAX >> by) : 0);
}

/* Shifts the register pair a:d by `amount`, or by the low byte of m; a negative amount reverses the direction. */
static void run_shift_long(Machine *m, const Insn *i)
{
    const uint64_t x = (uint64_t)m->r[i->a] << 32 | m->r[i->d];
    const int by = i->m == ZERO ? i->amount : (int)(int32_t)sign_extend(m->r[i->m] & 255, 8);
    const int other = i->kind == LSL ? LSR : LSL;
    const uint64_t y = by < 0 ? shifted_long(x, other, -by) : shifted_long(x, i->kind, by);
    m->r[i->d] = (uint32_t)y;
    m->r[i->a] = (uint32_t)(y >> 32);
}

static void shift_long(uint32_t w, Insn *i)
{
    static const Shift by_register[] = { LSL, LSL, ASR, ASR };
    const bool is_constant = (w & 15) == 15;
    i->d = (uint8_t)(bits_of(w, 19, 17) * 2);
    i->a = (uint8_t)(bits_of(w, 11, 9) * 2 + 1);
    i->m = (uint8_t)(is_constant ? ZERO : bits_of(w, 15, 12));
    i->kind = (uint8_t)(is_constant ? (Shift)bits_of(w, 5, 4) : by_register[bits_of(w, 5, 4)]);
    i->amount = (uint8_t)(bits_of(w, 14, 12) << 2 | bits_of(w, 7, 6));
    if (is_constant && !i->amount) i->amount = 32;
    i->run = run_shift_long;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void many(uint32_t w, Insn *i)
{
    i->n = (uint8_t)reg_n(w);
    i->imm = w & 0xffff;
    i->is_pre = w >> 24 & 1;
    i->writes_back = w >> 21 & 1;
    i->run = w >> 20 & 1 ? run_load_many : run_store_many;
}

static uint32_t pair_address(Machine *m, const Insn *i)
{
    const uint32_t base = m->r[i->n], moved = base + i->imm;
    if (i->writes_back) m->r[i->n] = moved;
    return i->is_pre ? moved : base;
}

static void run_load_pair(Machine *m, const Insn *i)
{
    const uint32_t at = pair_address(m, i);
    note_load(m, at, 8);
    m->r[i->d] = load32(m, at);
    m->r[i->a] = load32(m, at + 4);
}

static void run_store_pair(Machine *m, const Insn *i)
{
    const uint32_t first = m->r[i->d], second = m->r[i->a], at = pair_address(m, i);
    note_store(m, at, 8);
    store32(m, at, first);
    store32(m, at + 4, second);
}

static void pair(uint32_t w, Insn *i)
{
    const uint32_t offset = (w & 255) * 4;
    i->d = (uint8_t)reg_t(w);
    i->a = (uint8_t)reg_d(w);
    i->n = (uint8_t)(reg_n(w) == PC ? ZERO : reg_n(w));
    i->imm = w >> 23 & 1 ? offset : 0u - offset;
    if (reg_n(w) == PC) i->imm += (i->at + 4) & ~3u;
    i->is_pre = w >> 24 & 1;
    i->writes_back = w >> 21 & 1;
    i->run = w >> 20 & 1 ? run_load_pair : run_store_pair;
}

static void run_table_branch(Machine *m, const Insn *i)
{
    const uint32_t base = i->n == PC ? i->at + 4 : m->r[i->n], index = m->r[i->m];
    m->pc = i->at + 4 + 2 * (i->op ? load16(m, base + 2 * index) : *memory_at(m, base + index));
}

static void table_branch(uint32_t w, Insn *i)
{
    i->n = (uint8_t)reg_n(w);
    i->m = (uint8_t)(w & 15);
    i->op = w >> 4 & 1;
    i->run = run_table_branch;
}

/* Decodes a load or store of one register. Bit 24: signed; bits 22 and 21: width; bit 20: load. Loads into register 15
 * are hints, except loads of words. */
static void single(uint32_t w, Insn *i)
{
    const bool is_load = w >> 20 & 1, is_literal = reg_n(w) == PC;
    const uint32_t short_offset = w >> 9 & 1 ? w & 255 : 0u - (w & 255);
    i->op = (uint8_t)(bits_of(w, 22, 21) | bits_of(w, 24, 24) << 2);
    i->d = (uint8_t)reg_t(w);
    i->n = (uint8_t)(is_literal ? ZERO : reg_n(w));
    i->is_pre = true;
    i->run = is_load ? run_load_imm : run_store_imm;
    if (is_literal) i->imm = ((i->at + 4) & ~3u) + (w >> 23 & 1 ? w & 0xfff : 0u - (w & 0xfff));
    else if (w >> 23 & 1) i->imm = w & 0xfff;
    else if (w >> 11 & 1) {
        i->imm = short_offset;
        i->is_pre = w >> 10 & 1;
        i->writes_back = w >> 8 & 1;
    } else {
        i->m = (uint8_t)(w & 15);
        i->amount = (uint8_t)bits_of(w, 5, 4);
        i->run = is_load ? run_load_reg : run_store_reg;
    }
    if (is_load && i->d == PC && i->op != 2) i->run = run_nothing;
}

/* ---- Control ----------------------------------------------------------------------------------------------------- */

static void branch_if(uint32_t w, Insn *i)
{
    const uint32_t offset = bits_of(w, 26, 26) << 20 | bits_of(w, 11, 11) << 19 | bits_of(w, 13, 13) << 18
                            | bits_of(w, 21, 16) << 12 | (w & 2047) << 1;
    i->cond = (uint8_t)bits_of(w, 25, 22);
    i->imm = i->at + 4 + sign_extend(offset, 21);
    i->run = run_branch;
}

static void branch(uint32_t w, Insn *i)
{
    const uint32_t s = w >> 26 & 1, i1 = ~(bits_of(w, 13, 13) ^ s) & 1, i2 = ~(bits_of(w, 11, 11) ^ s) & 1;
    const uint32_t offset = s << 24 | i1 << 23 | i2 << 22 | bits_of(w, 25, 16) << 12 | (w & 2047) << 1;
    i->imm = i->at + 4 + sign_extend(offset, 25);
    i->run = w >> 14 & 1 ? run_branch_and_link : run_branch;
}

/* ---- Loops whose counter is LR (ARMv8.1-M); the tail of those with elements of `op` bytes is predicated ---------- */

static void run_loop_begin(Machine *m, const Insn *i)
{
    m->r[LR] = m->r[i->n];
    m->tail = i->op;
    if (i->sets && !m->r[LR]) m->pc = i->imm;
}

static void run_loop_end(Machine *m, const Insn *i)
{
    const uint32_t step = i->op ? (uint32_t)(16 / (m->tail ? m->tail : 1)) : 1;
    if (m->r[LR] > step) {
        m->r[LR] -= step;
        m->pc = i->imm;
    } else if (i->op) m->tail = 0;
}

static uint32_t loop_offset(uint32_t w) { return bits_of(w, 10, 1) << 2 | bits_of(w, 11, 11) << 1; }

/* Decodes the start of a low-overhead loop; sets: true if the loop may run zero times. */
static void loop_begin(uint32_t w, Insn *i)
{
    i->n = (uint8_t)reg_n(w);
    i->op = (uint8_t)(w >> 22 & 1 ? 0 : 1 << bits_of(w, 21, 20));
    i->sets = !(w >> 13 & 1);
    i->imm = i->at + 4 + loop_offset(w);
    i->run = run_loop_begin;
}

static void loop_end(uint32_t w, Insn *i)
{
    i->op = w >> 20 & 1;
    i->imm = i->at + 4 - loop_offset(w);
    i->run = w >> 21 & 1 ? run_branch : run_loop_end;
}

static void nothing(uint32_t w, Insn *i) { (void)w, i->run = run_nothing; }

bool decode_long(uint32_t w, Insn *i)
{
    static const Encoding rows[] = {
        { 0xfff1810f, 0xea51010f, NULL }, { 0xfff1813f, 0xea50013f, NULL }, { 0xfff1810f, 0xea50010f, shift_long },
        { 0xfff101df, 0xea50010d, shift_long }, { 0xfff0c000, 0xea508000, select },
        { 0xfe008000, 0xea000000, alu_register },
        { 0xfe400000, 0xe8000000, many }, { 0xfff0ffe0, 0xe8d0f000, table_branch }, { 0xff600000, 0xe8400000, NULL },
        { 0xfe400000, 0xe8400000, pair },
        { 0xfa008000, 0xf0000000, alu_constant }, { 0xfbf08000, 0xf2000000, add_wide },
        { 0xfbf08000, 0xf2a00000, add_wide }, { 0xfb708000, 0xf2400000, move_wide },
        { 0xfff08020, 0xf3600000, field }, { 0xfff08020, 0xf3400000, field }, { 0xfff08020, 0xf3c00000, field },
        { 0xffcff001, 0xf00fc001, loop_end }, { 0xff80f001, 0xf000c001, loop_begin },
        { 0xff80ffff, 0xf000e001, loop_begin }, { 0xff80ffff, 0xf000e801, nothing },      /* the last row is VCTP */
        { 0xfff0d000, 0xf3a08000, nothing }, { 0xfff0d000, 0xf3b08000, nothing }, { 0xfb80d000, 0xf3808000, NULL },
        { 0xf800d000, 0xf0008000, branch_if }, { 0xf8009000, 0xf0009000, branch },
        { 0xfe000000, 0xf8000000, single }, { 0xff80f0f0, 0xfa00f000, shift_by_register },
        { 0xff80f080, 0xfa00f080, extend }, { 0xfff0f0c0, 0xfa90f080, reverse }, { 0xfff0f0f0, 0xfab0f080, reverse },
        { 0, 0, NULL } };
    return decode_rows(rows, w, i);
}
