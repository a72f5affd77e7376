/* SPDX-License-Identifier: MIT */
/* Executes multiplications, divisions, and the DSP extension: parallel and saturating operations, packed halfwords. */
#include "machine/insn.h"

static int64_t wide(uint32_t x) { return (int32_t)x; }
static int32_t half(uint32_t x, bool is_top) { return (int16_t)(is_top ? x >> 16 : x & 0xffff); }
static uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

static void set_registers(uint32_t w, Insn *i)
{
    i->d = (uint8_t)bits_of(w, 11, 8);
    i->n = (uint8_t)bits_of(w, 19, 16);
    i->m = (uint8_t)(w & 15);
    i->a = (uint8_t)(bits_of(w, 15, 12) == PC ? ZERO : bits_of(w, 15, 12));
    i->op = (uint8_t)bits_of(w, 7, 4);
}

/* ---- 32-bit products ----------------------------------------------------------------------------------------- */

static void run_halves(Machine *m, const Insn *i)
{
    m->r[i->d] = m->r[i->a] + (uint32_t)(half(m->r[i->n], i->op & 2) * half(m->r[i->m], i->op & 1));
}

static void run_word_by_half(Machine *m, const Insn *i)
{
    const int64_t product = wide(m->r[i->n]) * half(m->r[i->m], i->op & 1);
    m->r[i->d] = m->r[i->a] + (uint32_t)((uint64_t)product >> 16);
}

/* Returns the sum (or difference) of the products of the low and of the high halves. Bit 0 of op exchanges the halves
 * of m. */
static int64_t dual(const Machine *m, const Insn *i, bool subtracts)
{
    const uint32_t x = m->r[i->n], y = m->r[i->m];
    const bool is_crossed = i->op & 1;
    const int64_t low = (int64_t)half(x, false) * half(y, is_crossed);
    const int64_t high = (int64_t)half(x, true) * half(y, !is_crossed);
    return subtracts ? low - high : low + high;
}

static void run_dual_add(Machine *m, const Insn *i) { m->r[i->d] = m->r[i->a] + (uint32_t)dual(m, i, false); }
static void run_dual_subtract(Machine *m, const Insn *i) { m->r[i->d] = m->r[i->a] + (uint32_t)dual(m, i, true); }

/* Returns the upper word of a * 2^32 + n * m (or - n * m). Bit 0 of op rounds the word. */
static uint32_t top(const Machine *m, const Insn *i, bool subtracts)
{
    const uint64_t product = (uint64_t)(wide(m->r[i->n]) * wide(m->r[i->m])), sum = (uint64_t)m->r[i->a] << 32;
    const uint64_t all = (subtracts ? sum - product : sum + product) + (i->op & 1 ? 0x80000000u : 0);
    return (uint32_t)(all >> 32);
}

static void run_top_add(Machine *m, const Insn *i) { m->r[i->d] = top(m, i, false); }
static void run_top_subtract(Machine *m, const Insn *i) { m->r[i->d] = top(m, i, true); }

static void multiply(uint32_t w, Insn *i)
{
    static Run *const runs[8] = { run_multiply_add, run_halves, run_dual_add, run_word_by_half, run_dual_subtract,
                                  run_top_add, run_top_subtract, NULL };
    set_registers(w, i);
    i->run = runs[bits_of(w, 22, 20)];
}

/* ---- 64-bit products, in d and a ----------------------------------------------------------------------------- */

static uint64_t sum_of(const Machine *m, const Insn *i) { return (uint64_t)m->r[i->d] << 32 | m->r[i->a]; }

static void put_long(Machine *m, const Insn *i, uint64_t value)
{
    m->r[i->a] = (uint32_t)value;
    m->r[i->d] = (uint32_t)(value >> 32);
}

static uint64_t product_s(const Machine *m, const Insn *i) { return (uint64_t)(wide(m->r[i->n]) * wide(m->r[i->m])); }
static uint64_t product_u(const Machine *m, const Insn *i) { return (uint64_t)m->r[i->n] * m->r[i->m]; }

static void run_smull(Machine *m, const Insn *i) { put_long(m, i, product_s(m, i)); }
static void run_umull(Machine *m, const Insn *i) { put_long(m, i, product_u(m, i)); }
static void run_umlal(Machine *m, const Insn *i) { put_long(m, i, sum_of(m, i) + product_u(m, i)); }
static void run_umaal(Machine *m, const Insn *i) { put_long(m, i, product_u(m, i) + m->r[i->d] + m->r[i->a]); }

static void run_smlal(Machine *m, const Insn *i)
{
    const uint64_t halves = (uint64_t)((int64_t)half(m->r[i->n], i->op & 2) * half(m->r[i->m], i->op & 1));
    const uint64_t product = i->op >= 12 ? (uint64_t)dual(m, i, false) : i->op >= 8 ? halves : product_s(m, i);
    put_long(m, i, sum_of(m, i) + product);
}

static void run_smlsld(Machine *m, const Insn *i) { put_long(m, i, sum_of(m, i) + (uint64_t)dual(m, i, true)); }

static void run_udiv(Machine *m, const Insn *i) { m->r[i->d] = m->r[i->m] ? m->r[i->n] / m->r[i->m] : 0; }
static void run_sdiv(Machine *m, const Insn *i)
{
    const int64_t by = wide(m->r[i->m]);
    m->r[i->d] = by ? (uint32_t)(wide(m->r[i->n]) / by) : 0;
}

static void multiply_long(uint32_t w, Insn *i)
{
    static Run *const runs[8] = { run_smull, run_sdiv, run_umull, run_udiv, run_smlal, run_smlsld, run_umlal, NULL };
    const int which = (int)bits_of(w, 22, 20);
    set_registers(w, i);
    i->run = which == 6 && i->op ? run_umaal : runs[which];
}

/* ---- Saturation and halfwords ------------------------------------------------------------------------------------ */

static int64_t clamp(int64_t x, int64_t least, int64_t most) { return x < least ? least : x > most ? most : x; }

/* Saturates to `bits` bits, signed or unsigned. */
static uint32_t saturated(int64_t x, int bits, bool is_unsigned)
{
    const int64_t half_range = INT64_C(1) << bits >> 1;
    return (uint32_t)(is_unsigned ? clamp(x, 0, 2 * half_range - 1) : clamp(x, -half_range, half_range - 1));
}

static void run_saturate(Machine *m, const Insn *i)
{
    const uint32_t x = m->r[i->n];
    const int64_t moved = i->kind ? wide(x) >> i->amount : wide(x << i->amount);
    m->r[i->d] = i->kind && !i->amount
        ? pack(saturated(half(x, false), (int)i->imm, i->op), saturated(half(x, true), (int)i->imm, i->op))
        : saturated(moved, (int)i->imm, i->op);
}

static void saturate(uint32_t w, Insn *i)
{
    i->d = (uint8_t)bits_of(w, 11, 8);
    i->n = (uint8_t)bits_of(w, 19, 16);
    i->op = w >> 23 & 1;
    i->kind = w >> 21 & 1;
    i->amount = (uint8_t)(bits_of(w, 14, 12) << 2 | bits_of(w, 7, 6));
    i->imm = (w & 31) + !i->op;
    i->run = run_saturate;
}

static void run_pack(Machine *m, const Insn *i)
{
    const uint32_t x = m->r[i->n], y = m->r[i->m];
    const int by = i->amount ? i->amount : 32;
    m->r[i->d] = i->op ? pack((uint32_t)(wide(y) >> by), x >> 16) : pack(x, y << i->amount >> 16);
}

static void pack_halves(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = w >> 5 & 1;
    i->amount = (uint8_t)(bits_of(w, 14, 12) << 2 | bits_of(w, 7, 6));
    i->run = run_pack;
}

static void run_extend_bytes(Machine *m, const Insn *i)
{
    const uint32_t x = m->r[i->m], turned = i->amount ? x >> i->amount | x << (32 - i->amount) : x, n = m->r[i->n];
    const uint32_t low = turned & 255, high = turned >> 16 & 255;
    m->r[i->d] = pack(n + (i->op ? low : sign_extend(low, 8)), (n >> 16) + (i->op ? high : sign_extend(high, 8)));
}

static void extend_bytes(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->amount = (uint8_t)(bits_of(w, 5, 4) * 8);
    i->op = w >> 20 & 1;
    if (i->n == PC) i->n = ZERO;
    i->run = run_extend_bytes;
}

/* Adds or subtracts lanes. kind: 0 signed, 1 signed and saturated, 2 signed and halved; 4 to 6 are the unsigned forms
 * of these. amount: the width of a lane in bits; a: true to subtract. */
static void run_parallel(Machine *m, const Insn *i)
{
    const int bits = i->amount;
    const uint32_t mask = (1u << bits) - 1, x = m->r[i->n], y = m->r[i->m];
    const bool is_unsigned = i->kind & 4;
    uint32_t to = 0;
    if (!(i->kind & 3)) m->ge = 0;
    for (int at = 0; at < 32; at += bits) {
        const uint32_t p = x >> at & mask, q = y >> at & mask;
        const int64_t left = is_unsigned ? (int64_t)p : wide(sign_extend(p, bits));
        const int64_t right = is_unsigned ? (int64_t)q : wide(sign_extend(q, bits));
        const int64_t sum = i->a ? left - right : left + right;
        const bool is_ge = is_unsigned && !i->a ? sum > (int64_t)mask : sum >= 0;
        if (!(i->kind & 3) && is_ge) m->ge = (uint8_t)(m->ge | ((1u << bits / 8) - 1) << at / 8);
        const uint32_t lane = i->kind & 1 ? saturated(sum, bits, is_unsigned)
                                          : (uint32_t)(i->kind & 2 ? sum >> 1 : sum);
        to |= (lane & mask) << at;
    }
    m->r[i->d] = to;
}

static void parallel(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->kind = (uint8_t)bits_of(w, 6, 4);
    i->amount = w >> 20 & 1 ? 16 : 8;
    i->a = w >> 22 & 1;
    i->run = w >> 21 & 1 ? NULL : run_parallel;      /* unknown: the forms that exchange halves */
}

static void run_select_bytes(Machine *m, const Insn *i)
{
    uint32_t mask = 0;
    for (int k = 0; k < 4; k++) mask |= m->ge >> k & 1 ? 255u << 8 * k : 0;
    m->r[i->d] = (m->r[i->n] & mask) | (m->r[i->m] & ~mask);
}

static void select_bytes(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->run = run_select_bytes;
}

/* Adds (or subtracts) and saturates. Bit 0 of op doubles n; bit 1 subtracts. */
static void run_saturated_sum(Machine *m, const Insn *i)
{
    const int64_t x = wide(m->r[i->m]), n = wide(m->r[i->n]), y = i->op & 1 ? clamp(2 * n, INT32_MIN, INT32_MAX) : n;
    m->r[i->d] = saturated(i->op & 2 ? x - y : x + y, 32, false);
}

static void saturated_sum(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op &= 3;
    i->run = run_saturated_sum;
}

bool decode_multiply(uint32_t w, Insn *i)
{
    static const Encoding rows[] = {
        { 0xff8000c0, 0xfb000000, multiply }, { 0xff800000, 0xfb800000, multiply_long },
        { 0xff508020, 0xf3000000, saturate }, { 0xffe08010, 0xeac00000, pack_halves },
        { 0xffe0f080, 0xfa20f080, extend_bytes }, { 0xfff0f0f0, 0xfaa0f080, select_bytes },
        { 0xfff0f0c0, 0xfa80f080, saturated_sum }, { 0xff80f080, 0xfa80f000, parallel }, { 0, 0, NULL } };
    return decode_rows(rows, w, i);
}
