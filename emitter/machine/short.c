/* SPDX-License-Identifier: MIT */
/* Decodes Thumb's 16-bit encodings. On entry, `sets` is true outside IT blocks. */
#include "machine/insn.h"

static uint8_t low(uint32_t w, int at) { return (uint8_t)(w >> at & 7); }

static void set_alu(Insn *i, Alu op, int d, int n)
{
    i->op = (uint8_t)op;
    i->d = (uint8_t)d;
    i->n = (uint8_t)n;
}

static void set_constant(Insn *i, uint32_t imm)
{
    i->imm = imm;
    i->run = run_alu_imm;
}

static void shift_imm(uint32_t w, Insn *i)
{
    set_alu(i, ORR, low(w, 0), ZERO);
    set_operand(i, low(w, 3), (Shift)bits_of(w, 12, 11), (int)bits_of(w, 10, 6));
}

static void add_sub(uint32_t w, Insn *i)
{
    set_alu(i, w & 0x200 ? SUB : ADD, low(w, 0), low(w, 3));
    if (w & 0x400) set_constant(i, low(w, 6));
    else set_operand(i, low(w, 6), LSL, 0);
}

static void with_byte(uint32_t w, Insn *i)
{
    static const Alu ops[] = { ORR, SUB, ADD, SUB };
    const int which = (int)bits_of(w, 12, 11), d = low(w, 8);
    set_alu(i, ops[which], which == 1 ? SINK : d, which == 0 ? ZERO : d);
    if (which == 1) i->sets = true;
    set_constant(i, w & 255);
}

static void shift_register(uint32_t w, Insn *i)
{
    static const Shift kinds[8] = { [2] = LSL, [3] = LSR, [4] = ASR, [7] = ROR };
    i->d = i->n = low(w, 0);
    i->m = low(w, 3);
    i->kind = (uint8_t)kinds[bits_of(w, 9, 6) & 7];
    i->run = run_shift_by_register;
}

static void multiply(uint32_t w, Insn *i)
{
    i->d = i->m = low(w, 0);
    i->n = low(w, 3);
    i->a = ZERO;
    i->run = run_multiply_add;
}

/* Decodes operations on two registers, except shifts and multiplications, by bits 9 to 6. */
static void register_alu(uint32_t w, Insn *i)
{
    static const uint8_t ops[16] = { AND, EOR, 0, 0, 0, ADC, SBC, 0, AND, RSB, SUB, ADD, ORR, 0, BIC, ORN };
    const int which = (int)bits_of(w, 9, 6), d = low(w, 0);
    const bool is_test = which == 8 || which == 10 || which == 11;
    set_alu(i, (Alu)ops[which], is_test ? SINK : d, which == 15 ? ZERO : which == 9 ? low(w, 3) : d);
    i->sets = i->sets || is_test;
    if (which == 9) set_constant(i, 0);
    else set_operand(i, low(w, 3), LSL, 0);
}

/* Decodes additions, comparisons and moves of all registers. */
static void high_alu(uint32_t w, Insn *i)
{
    const int which = (int)bits_of(w, 9, 8), d = (int)(w & 7) | (int)(w >> 4 & 8);
    set_alu(i, which == 0 ? ADD : which == 1 ? SUB : ORR, which == 1 ? SINK : d, which == 2 ? ZERO : d);
    i->sets = which == 1;
    set_operand(i, (int)bits_of(w, 6, 3), LSL, 0);
}

static void to_register(uint32_t w, Insn *i)
{
    i->m = (uint8_t)bits_of(w, 6, 3);
    i->run = w & 0x80 ? run_call_register : run_branch_to_register;
}

static void access_imm(Insn *i, bool is_load, int op, int d, int n, uint32_t offset)
{
    i->op = (uint8_t)op;
    i->d = (uint8_t)d;
    i->n = (uint8_t)n;
    i->imm = offset;
    i->is_pre = true;
    i->run = is_load ? run_load_imm : run_store_imm;
}

static void literal(uint32_t w, Insn *i)
{
    access_imm(i, true, 2, low(w, 8), ZERO, ((i->at + 4) & ~3u) + (w & 255) * 4);
}

static void access_register(uint32_t w, Insn *i)
{
    static const uint8_t ops[8] = { 2, 1, 0, 4, 2, 1, 0, 5 };
    const int which = (int)bits_of(w, 11, 9);
    i->op = ops[which];
    i->d = low(w, 0);
    i->n = low(w, 3);
    i->m = low(w, 6);
    i->run = which < 3 ? run_store_reg : run_load_reg;
}

static void access_offset(uint32_t w, Insn *i)
{
    const int op = (w & 0xe000) == 0x6000 ? w & 0x1000 ? 0 : 2 : 1;
    access_imm(i, w & 0x800, op, low(w, 0), low(w, 3), bits_of(w, 10, 6) << op);
}

static void access_stack(uint32_t w, Insn *i) { access_imm(i, w & 0x800, 2, low(w, 8), SP, (w & 255) * 4); }

static void address_of(uint32_t w, Insn *i)
{
    set_alu(i, ADD, low(w, 8), w & 0x800 ? SP : ZERO);
    i->sets = false;
    set_constant(i, (w & 255) * 4 + (w & 0x800 ? 0 : (i->at + 4) & ~3u));
}

static void move_stack(uint32_t w, Insn *i)
{
    set_alu(i, w & 0x80 ? SUB : ADD, SP, SP);
    i->sets = false;
    set_constant(i, (w & 127) * 4);
}

static void extend(uint32_t w, Insn *i)
{
    static const uint8_t ops[] = { 5, 4, 1, 0 };
    i->op = ops[bits_of(w, 7, 6)];
    i->d = low(w, 0);
    i->m = low(w, 3);
    i->n = ZERO;
    i->run = run_extend;
}

static void reverse(uint32_t w, Insn *i)
{
    i->op = (uint8_t)bits_of(w, 7, 6);
    i->d = low(w, 0);
    i->m = low(w, 3);
    i->run = run_reverse;
}

static void many(Insn *i, bool is_load, int n, bool is_down, uint32_t list, bool writes_back)
{
    i->n = (uint8_t)n;
    i->imm = list;
    i->is_pre = is_down;
    i->writes_back = writes_back;
    i->run = is_load ? run_load_many : run_store_many;
}

static void push(uint32_t w, Insn *i) { many(i, false, SP, true, (w & 255) | (w & 256) << (LR - 8), true); }
static void pop(uint32_t w, Insn *i) { many(i, true, SP, false, (w & 255) | (w & 256) << (PC - 8), true); }

static void multiple(uint32_t w, Insn *i)
{
    const int n = low(w, 8);
    const bool is_load = w & 0x800;
    many(i, is_load, n, false, w & 255, !is_load || !(w >> n & 1));
}

static void run_compare_branch(Machine *m, const Insn *i)
{
    if ((m->r[i->n] == 0) == i->sets) m->pc = i->imm;
}

static void compare_branch(uint32_t w, Insn *i)
{
    i->n = low(w, 0);
    i->sets = !(w & 0x800);
    i->imm = i->at + 4 + (bits_of(w, 7, 3) << 1 | (w & 0x200) >> 3);
    i->run = run_compare_branch;
}

static void branch_if(uint32_t w, Insn *i)
{
    i->cond = (uint8_t)bits_of(w, 11, 8);
    i->imm = i->at + 4 + sign_extend((w & 255) << 1, 9);
    i->run = run_branch;
}

static void branch(uint32_t w, Insn *i)
{
    i->imm = i->at + 4 + sign_extend((w & 2047) << 1, 12);
    i->run = run_branch;
}

/* Decodes IT and hints. machine.c decodes the block of an IT. */
static void nothing(uint32_t w, Insn *i) { (void)w, i->run = run_nothing; }

bool decode_short(uint32_t w, bool in_block, Insn *i)
{
    static const Encoding rows[] = {
        { 0xfe00, 0x1800, add_sub }, { 0xfe00, 0x1a00, add_sub }, { 0xfc00, 0x1c00, add_sub },
        { 0xe000, 0x0000, shift_imm }, { 0xe000, 0x2000, with_byte },
        { 0xffc0, 0x4080, shift_register }, { 0xffc0, 0x40c0, shift_register }, { 0xffc0, 0x4100, shift_register },
        { 0xffc0, 0x41c0, shift_register }, { 0xffc0, 0x4340, multiply }, { 0xfc00, 0x4000, register_alu },
        { 0xff00, 0x4700, to_register }, { 0xfc00, 0x4400, high_alu }, { 0xf800, 0x4800, literal },
        { 0xf000, 0x5000, access_register }, { 0xe000, 0x6000, access_offset }, { 0xf000, 0x8000, access_offset },
        { 0xf000, 0x9000, access_stack }, { 0xf000, 0xa000, address_of }, { 0xff00, 0xb000, move_stack },
        { 0xf500, 0xb100, compare_branch }, { 0xff00, 0xb200, extend }, { 0xfe00, 0xb400, push },
        { 0xff80, 0xba00, reverse }, { 0xffc0, 0xbac0, reverse }, { 0xfe00, 0xbc00, pop }, { 0xff00, 0xbf00, nothing },
        { 0xf000, 0xc000, multiple }, { 0xff00, 0xde00, NULL }, { 0xff00, 0xdf00, NULL }, { 0xf000, 0xd000, branch_if },
        { 0xf800, 0xe000, branch }, { 0, 0, NULL } };
    i->sets = !in_block;
    return decode_rows(rows, w, i);
}
