/* SPDX-License-Identifier: MIT */
/* Executes the instructions that have both short and long encodings. */
#include "machine/insn.h"

void run_nothing(Machine *m, const Insn *i) { (void)m, (void)i; }

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* Returns x + y + carry and sets the flags. */
static uint32_t add_with(Machine *m, const Insn *i, uint32_t x, uint32_t y, bool carry)
{
    const uint64_t wide = (uint64_t)x + y + carry;
    const uint32_t sum = (uint32_t)wide;
    if (i->sets) {
        m->c = (wide >> 32) != 0;
        m->v = ((x ^ sum) & (y ^ sum)) >> 31 != 0;
        m->n = sum >> 31 != 0;
        m->z = sum == 0;
    }
    return sum;
}

static uint32_t logical(Machine *m, const Insn *i, uint32_t value, bool carry)
{
    if (i->sets) {
        m->n = value >> 31 != 0;
        m->z = value == 0;
        m->c = carry;
    }
    return value;
}

/* Executes an operation on x and y; carry: the carry out of the shifter. */
static void alu(Machine *m, const Insn *i, uint32_t x, uint32_t y, bool carry)
{
    switch (i->op) {
    case AND: put(m, i->d, logical(m, i, x & y, carry)); return;
    case BIC: put(m, i->d, logical(m, i, x & ~y, carry)); return;
    case ORR: put(m, i->d, logical(m, i, x | y, carry)); return;
    case ORN: put(m, i->d, logical(m, i, x | ~y, carry)); return;
    case EOR: put(m, i->d, logical(m, i, x ^ y, carry)); return;
    case ADD: put(m, i->d, add_with(m, i, x, y, false)); return;
    case ADC: put(m, i->d, add_with(m, i, x, y, m->c)); return;
    case SBC: put(m, i->d, add_with(m, i, x, ~y, m->c)); return;
    case SUB: put(m, i->d, add_with(m, i, x, ~y, true)); return;
    case RSB: put(m, i->d, add_with(m, i, ~x, y, true)); return;
    default: return;
    }
}

/* Operates on a constant. amount: 2 plus the carry out of the constant, or 0 if the constant has no carry. */
void run_alu_imm(Machine *m, const Insn *i) { alu(m, i, m->r[i->n], i->imm, i->amount ? i->amount & 1 : m->c); }
void run_alu_reg(Machine *m, const Insn *i) { alu(m, i, m->r[i->n], m->r[i->m], m->c); }

/* Returns x shifted by 0 to 255 bits; *carry changes if the amount is not 0. */
static uint32_t shifted(uint32_t x, int kind, int amount, bool *carry)
{
    const bool was = *carry;
    if (kind == RRX) {
        *carry = x & 1;
        return x >> 1 | (uint32_t)was << 31;
    }
    if (amount == 0) return x;
    if (kind == ROR) {
        const int by = amount & 31;
        const uint32_t turned = by ? x >> by | x << (32 - by) : x;
        *carry = turned >> 31 != 0;
        return turned;
    }
    if (kind == ASR) {
        const int by = amount > 31 ? 31 : amount;
        *carry = amount > 31 ? x >> 31 != 0 : (x >> (amount - 1) & 1) != 0;
        return x >> by | (x >> 31 ? ~(UINT32_MAX >> by) : 0);
    }
    *carry = amount <= 32 && ((kind == LSL ? x >> (32 - amount) : x >> (amount - 1)) & 1) != 0;
    return amount > 31 ? 0 : kind == LSL ? x << amount : x >> amount;
}

void run_alu_shifted(Machine *m, const Insn *i)
{
    bool carry = m->c;
    const uint32_t y = shifted(m->r[i->m], i->kind, i->amount, &carry);
    alu(m, i, m->r[i->n], y, carry);
}

void run_shift_by_register(Machine *m, const Insn *i)
{
    bool carry = m->c;
    put(m, i->d, logical(m, i, shifted(m->r[i->n], i->kind, (int)(m->r[i->m] & 255), &carry), carry));
}

void set_operand(Insn *i, int m, Shift kind, int amount)
{
    i->m = (uint8_t)m;
    i->kind = (uint8_t)(kind == ROR && !amount ? RRX : kind);
    i->amount = (uint8_t)(amount || kind == LSL || kind == ROR ? amount : 32);
    i->run = i->amount || i->kind == RRX ? run_alu_shifted : run_alu_reg;
}

static uint32_t turned_right(uint32_t x, int by) { return by ? x >> by | x << (32 - by) : x; }

void run_extend(Machine *m, const Insn *i)
{
    const int bits = 8 << (i->op & 3);
    const uint32_t low = turned_right(m->r[i->m], i->amount) & ((1u << bits) - 1);
    put(m, i->d, m->r[i->n] + (i->op & 4 ? sign_extend(low, bits) : low));
}

static uint32_t reversed_bits(uint32_t x)
{
    uint32_t to = 0;
    for (int i = 0; i < 32; i++) to |= (x >> i & 1) << (31 - i);
    return to;
}

void run_reverse(Machine *m, const Insn *i)
{
    const uint32_t x = m->r[i->m], swapped = (x & 0xff00ff) << 8 | (x >> 8 & 0xff00ff);
    const uint32_t to[] = { swapped << 16 | swapped >> 16, swapped, reversed_bits(x),
                            sign_extend(swapped & 0xffff, 16) };
    put(m, i->d, to[i->op]);
}

void run_multiply_add(Machine *m, const Insn *i)
{
    const uint32_t product = m->r[i->n] * m->r[i->m];
    const uint32_t sum = i->op ? m->r[i->a] - product : m->r[i->a] + product;
    put(m, i->d, sum);
    if (i->sets) m->n = sum >> 31 != 0, m->z = sum == 0;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static int access_bytes(int op) { return op == 0 || op == 4 ? 1 : op == 1 || op == 5 ? 2 : 4; }

static uint32_t load(Machine *m, int op, uint32_t at)
{
    note_load(m, at, access_bytes(op));
    switch (op) {
    case 0: return *memory_at(m, at);
    case 1: return load16(m, at);
    case 4: return sign_extend(*memory_at(m, at), 8);
    case 5: return sign_extend(load16(m, at), 16);
    default: return load32(m, at);
    }
}

static void store(Machine *m, int op, uint32_t at, uint32_t value)
{
    note_store(m, at, access_bytes(op));
    if (op == 0) *memory_at(m, at) = (uint8_t)value;
    else if (op == 1) store16(m, at, value);
    else store32(m, at, value);
}

/* Returns the address of an access, and updates the base. */
static uint32_t address(Machine *m, const Insn *i)
{
    const uint32_t base = m->r[i->n], moved = base + i->imm;
    if (i->writes_back) m->r[i->n] = moved;
    return i->is_pre ? moved : base;
}

void run_load_imm(Machine *m, const Insn *i) { put(m, i->d, load(m, i->op, address(m, i))); }
void run_load_reg(Machine *m, const Insn *i)
{
    put(m, i->d, load(m, i->op, m->r[i->n] + (m->r[i->m] << i->amount)));
}

void run_store_imm(Machine *m, const Insn *i)
{
    const uint32_t value = m->r[i->d];
    store(m, i->op, address(m, i), value);
}

void run_store_reg(Machine *m, const Insn *i) { store(m, i->op, m->r[i->n] + (m->r[i->m] << i->amount), m->r[i->d]); }

static uint32_t list_bytes(uint32_t list)
{
    uint32_t bytes = 0;
    for (; list; list &= list - 1) bytes += 4;
    return bytes;
}

/* Returns the lowest address of a list of registers. *base becomes the updated base. */
static uint32_t list_begin(const Machine *m, const Insn *i, uint32_t *base)
{
    const uint32_t at = m->r[i->n], bytes = list_bytes(i->imm);
    *base = i->is_pre ? at - bytes : at + bytes;
    return i->is_pre ? at - bytes : at;
}

void run_load_many(Machine *m, const Insn *i)
{
    uint32_t base, at = list_begin(m, i, &base);
    if (i->writes_back) m->r[i->n] = base;
    for (int r = 0; r < 16; r++) {
        if (!(i->imm >> r & 1)) continue;
        note_load(m, at, 4);
        put(m, r, load32(m, at));
        at += 4;
    }
}

void run_store_many(Machine *m, const Insn *i)
{
    uint32_t base, at = list_begin(m, i, &base);
    for (int r = 0; r < 16; r++) {
        if (!(i->imm >> r & 1)) continue;
        note_store(m, at, 4);
        store32(m, at, m->r[r]);
        at += 4;
    }
    if (i->writes_back) m->r[i->n] = base;
}

/* ---- Control ----------------------------------------------------------------------------------------------------- */

void run_branch(Machine *m, const Insn *i) { m->pc = i->imm; }
void run_branch_to_register(Machine *m, const Insn *i) { m->pc = m->r[i->m] & ~1u; }

void run_branch_and_link(Machine *m, const Insn *i)
{
    m->r[LR] = i->next | 1;
    m->pc = i->imm;
}

void run_call_register(Machine *m, const Insn *i)
{
    const uint32_t to = m->r[i->m];
    m->r[LR] = i->next | 1;
    m->pc = to & ~1u;
}
