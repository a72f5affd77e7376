/* SPDX-License-Identifier: MIT */
/* Executes the instructions of the floating-point unit. Sums, products, quotients and roots of floats are computed in
 * double and then rounded. The results are those of IEEE 754, because a double has more than twice the digits. */
#include <math.h>
#include <string.h>

#include "machine/insn.h"

/* Returns the value of a register. A D register overlaps two S registers. */
static double value_of(const Machine *m, bool is_double, int r)
{
    float f;
    double d;
    const uint64_t both = is_double ? (uint64_t)m->s[2 * r + 1] << 32 | m->s[2 * r] : 0;
    if (is_double) {
        memcpy(&d, &both, sizeof d);
        return d;
    }
    memcpy(&f, &m->s[r], sizeof f);
    return (double)f;
}

static void set_value(Machine *m, bool is_double, int r, double value)
{
    const float f = (float)value;
    uint64_t both;
    if (!is_double) {
        memcpy(&m->s[r], &f, sizeof f);
        return;
    }
    memcpy(&both, &value, sizeof both);
    m->s[2 * r] = (uint32_t)both;
    m->s[2 * r + 1] = (uint32_t)(both >> 32);
}

static int register_of(bool is_double, uint32_t four, uint32_t one)
{
    return (int)(is_double ? (one & 1) << 4 | four : four << 1 | (one & 1)) & (is_double ? 15 : 31);
}

static void set_registers(uint32_t w, Insn *i)
{
    i->kind = w >> 8 & 1;
    i->d = (uint8_t)register_of(i->kind, bits_of(w, 15, 12), w >> 22);
    i->n = (uint8_t)register_of(i->kind, bits_of(w, 19, 16), w >> 7);
    i->m = (uint8_t)register_of(i->kind, w & 15, w >> 5);
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

static double rounded(bool is_double, double x) { return is_double ? x : (double)(float)x; }

/* Returns the result of the operation; op consists of bits 23, 21, 20 and 6 of the encoding. */
static double arithmetic(int op, bool is_double, double d, double n, double m)
{
    const double product = rounded(is_double, n * m);
    switch (op) {
    case 0: return d + product;
    case 1: return d - product;
    case 2: return product - d;
    case 3: return -product - d;
    case 4: return product;
    case 5: return -product;
    case 6: return n + m;
    case 7: return n - m;
    case 8: return n / m;
    case 10: return fma(n, m, -d);
    case 11: return fma(-n, m, -d);
    case 12: return fma(n, m, d);
    default: return fma(-n, m, d);
    }
}

static void run_arithmetic(Machine *m, const Insn *i)
{
    const bool is_double = i->kind;
    set_value(m, is_double, i->d, arithmetic(i->op, is_double, value_of(m, is_double, i->d),
                                             value_of(m, is_double, i->n), value_of(m, is_double, i->m)));
}

static void arithmetic_of(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = (uint8_t)(bits_of(w, 23, 23) << 3 | bits_of(w, 21, 20) << 1 | bits_of(w, 6, 6));
    i->run = i->op == 9 ? NULL : run_arithmetic;
}

static void run_constant(Machine *m, const Insn *i)
{
    const int exponent = (int)((i->imm >> 4 & 3) | (i->imm >> 4 & 4 ? 0 : 4)) - 3;
    const double value = ldexp((double)(16 + (i->imm & 15)) / 16, exponent);
    set_value(m, i->kind, i->d, i->imm & 128 ? -value : value);
}

static void constant(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->imm = bits_of(w, 19, 16) << 4 | (w & 15);
    i->run = run_constant;
}

/* Moves copy bits. op is 0 for a move, 1 for the absolute value, 2 for negation. */
static void run_move(Machine *m, const Insn *i)
{
    const int words = i->kind ? 2 : 1;
    for (int k = 0; k < words; k++) m->s[i->d * words + k] = m->s[i->m * words + k];
    uint32_t *top = &m->s[i->d * words + words - 1];
    if (i->op == 1) *top &= 0x7fffffff;
    if (i->op == 2) *top ^= 0x80000000;
}

static void run_root(Machine *m, const Insn *i) { set_value(m, i->kind, i->d, sqrt(value_of(m, i->kind, i->m))); }

static void move(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = (uint8_t)(bits_of(w, 16, 16) << 1 | bits_of(w, 7, 7));
    i->run = i->op == 3 ? run_root : run_move;
}

static void run_compare(Machine *m, const Insn *i)
{
    const double x = value_of(m, i->kind, i->d), y = i->op ? 0 : value_of(m, i->kind, i->m);
    m->fn = x < y;
    m->fz = x <= y && x >= y;
    m->fc = !(x < y);
    m->fv = isnan(x) || isnan(y);
}

static void compare(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = w >> 16 & 1;
    i->run = run_compare;
}

static void run_choose(Machine *m, const Insn *i)
{
    static const uint8_t conditions[] = { 0, 6, 10, 12 };
    set_value(m, i->kind, i->d, value_of(m, i->kind, holds(m, conditions[i->op]) ? i->n : i->m));
}

static void choose(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = (uint8_t)bits_of(w, 21, 20);
    i->run = run_choose;
}

static void run_larger(Machine *m, const Insn *i)
{
    const double x = value_of(m, i->kind, i->n), y = value_of(m, i->kind, i->m);
    set_value(m, i->kind, i->d, i->op ? fmin(x, y) : fmax(x, y));
}

static void larger(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = w >> 6 & 1;
    i->run = run_larger;
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static void run_between(Machine *m, const Insn *i) { set_value(m, !i->kind, i->d, value_of(m, i->kind, i->m)); }

static void between(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->d = (uint8_t)register_of(!i->kind, bits_of(w, 15, 12), w >> 22);
    i->run = run_between;
}

static void run_from_integer(Machine *m, const Insn *i)
{
    const uint32_t x = m->s[i->m];
    set_value(m, i->kind, i->d, i->op ? (double)(int32_t)x : (double)x);
}

static void from_integer(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->m = (uint8_t)register_of(false, w & 15, w >> 5);
    i->op = w >> 7 & 1;
    i->run = run_from_integer;
}

/* Rounds to an integer. mode: 0 rounds to nearest with ties away from zero, 1 with ties to even; 2 rounds up, 3 down, 4
 * towards zero. */
static double whole(double x, int mode)
{
    switch (mode) {
    case 0: return round(x);
    case 1: return rint(x);
    case 2: return ceil(x);
    case 3: return floor(x);
    default: return trunc(x);
    }
}

static void run_to_integer(Machine *m, const Insn *i)
{
    const double x = whole(value_of(m, i->kind, i->m), i->amount), least = i->op ? INT32_MIN : 0;
    const double most = i->op ? INT32_MAX : UINT32_MAX;
    m->s[i->d] = isnan(x) ? 0 : x <= least ? (uint32_t)(int64_t)least : (uint32_t)(int64_t)(x >= most ? most : x);
}

static void to_integer(uint32_t w, Insn *i)
{
    const bool by_name = w >> 28 == 15;      /* VCVTA, VCVTN, VCVTP, VCVTM */
    set_registers(w, i);
    i->d = (uint8_t)register_of(false, bits_of(w, 15, 12), w >> 22);
    i->op = by_name ? w >> 7 & 1 : w >> 16 & 1;
    i->amount = (uint8_t)(by_name ? bits_of(w, 17, 16) : w >> 7 & 1 ? 4 : 1);
    i->run = run_to_integer;
}

/* Converts between floats and fixed point in one register. amount: number of fractional bits; imm: number of all bits;
 * a: 1 if unsigned; op: 1 for float to fixed point. */
static void run_fixed(Machine *m, const Insn *i)
{
    const bool is_double = i->kind;
    uint32_t *word = &m->s[i->d * (is_double ? 2 : 1)];
    const uint32_t low = i->imm == 16 ? *word & 0xffff : *word;
    const double range = ldexp(1, (int)i->imm), least = i->a ? 0 : -range / 2, most = i->a ? range - 1 : range / 2 - 1;
    if (!i->op) {
        const double x = i->a ? (double)low : (double)(int32_t)sign_extend(low, (int)i->imm);
        set_value(m, is_double, i->d, ldexp(x, -i->amount));
        return;
    }
    const double x = trunc(ldexp(value_of(m, is_double, i->d), i->amount));
    *word = isnan(x) ? 0 : (uint32_t)(int64_t)(x < least ? least : x > most ? most : x);
    if (is_double) word[1] = 0;
}

static void fixed(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->op = w >> 18 & 1;
    i->a = w >> 16 & 1;
    i->imm = w >> 7 & 1 ? 32 : 16;
    i->amount = (uint8_t)(i->imm - ((w & 15) << 1 | (w >> 5 & 1)));
    i->run = i->amount <= i->imm ? run_fixed : NULL;
}

static void run_whole(Machine *m, const Insn *i)
{
    set_value(m, i->kind, i->d, whole(value_of(m, i->kind, i->m), i->amount));
}

static void round_to_whole(uint32_t w, Insn *i)
{
    set_registers(w, i);
    i->amount = (uint8_t)(w >> 28 == 15 ? bits_of(w, 17, 16) : !(w >> 16 & 1) && w >> 7 & 1 ? 4 : 1);
    i->run = run_whole;
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

static void run_to_core(Machine *m, const Insn *i) { m->r[i->d] = m->s[i->n]; }
static void run_from_core(Machine *m, const Insn *i) { m->s[i->n] = m->r[i->d]; }

static void transfer(uint32_t w, Insn *i)
{
    i->d = (uint8_t)bits_of(w, 15, 12);
    i->n = (uint8_t)register_of(false, bits_of(w, 19, 16), w >> 7);
    i->run = w >> 20 & 1 ? run_to_core : run_from_core;
}

/* Transfers one word of a D register. */
static void transfer_lane(uint32_t w, Insn *i)
{
    i->d = (uint8_t)bits_of(w, 15, 12);
    i->n = (uint8_t)(2 * register_of(true, bits_of(w, 19, 16), w >> 7) + (int)(w >> 21 & 1));
    i->run = w >> 20 & 1 ? run_to_core : run_from_core;
}

/* Copies the flags of FPSCR. The other bits of FPSCR, other registers of the unit, and narrow lanes of vectors read as
 * 0. */
static void run_read_status(Machine *m, const Insn *i)
{
    if (i->d == PC) m->n = m->fn, m->z = m->fz, m->c = m->fc, m->v = m->fv;
    else m->r[i->d] = 0;
}

static void status(uint32_t w, Insn *i)
{
    i->d = (uint8_t)bits_of(w, 15, 12);
    i->run = w >> 20 & 1 ? run_read_status : run_nothing;
}

static void run_two_to_core(Machine *m, const Insn *i)
{
    m->r[i->d] = m->s[i->m];
    m->r[i->n] = m->s[(i->m + 1) & 31];
}

static void run_two_from_core(Machine *m, const Insn *i)
{
    m->s[i->m] = m->r[i->d];
    m->s[(i->m + 1) & 31] = m->r[i->n];
}

static void transfer_two(uint32_t w, Insn *i)
{
    const bool is_double = w >> 8 & 1;
    i->d = (uint8_t)bits_of(w, 15, 12);
    i->n = (uint8_t)bits_of(w, 19, 16);
    i->m = (uint8_t)(register_of(is_double, w & 15, w >> 5) * (is_double ? 2 : 1));
    i->run = w >> 20 & 1 ? run_two_to_core : run_two_from_core;
}

/* Loads `amount` words into S registers, starting at d. */
static void run_load_words(Machine *m, const Insn *i)
{
    const uint32_t base = m->r[i->n], at = i->is_pre ? base + i->imm : base;
    if (i->writes_back) m->r[i->n] = base + i->imm;
    note_load(m, at, 4 * i->amount);
    for (int k = 0; k < i->amount && i->d + k < 32; k++) m->s[i->d + k] = load32(m, at + 4 * (uint32_t)k);
}

static void run_store_words(Machine *m, const Insn *i)
{
    const uint32_t base = m->r[i->n], at = i->is_pre ? base + i->imm : base;
    if (i->writes_back) m->r[i->n] = base + i->imm;
    note_store(m, at, 4 * i->amount);
    for (int k = 0; k < i->amount && i->d + k < 32; k++) store32(m, at + 4 * (uint32_t)k, m->s[i->d + k]);
}

static void set_words(uint32_t w, Insn *i)
{
    const bool is_double = w >> 8 & 1, is_literal = bits_of(w, 19, 16) == PC;
    const uint32_t offset = (w & 255) * 4;
    i->d = (uint8_t)(register_of(is_double, bits_of(w, 15, 12), w >> 22) * (is_double ? 2 : 1));
    i->n = (uint8_t)(is_literal ? ZERO : bits_of(w, 19, 16));
    i->imm = (w >> 23 & 1 ? offset : 0u - offset) + (is_literal ? (i->at + 4) & ~3u : 0);
    i->run = w >> 20 & 1 ? run_load_words : run_store_words;
}

static void access_one(uint32_t w, Insn *i)
{
    set_words(w, i);
    i->amount = w >> 8 & 1 ? 2 : 1;
    i->is_pre = true;
}

static void access_many(uint32_t w, Insn *i)
{
    set_words(w, i);
    i->amount = (uint8_t)(w & (w >> 8 & 1 ? 254 : 255));
    i->is_pre = w >> 24 & 1;
    i->writes_back = w >> 21 & 1;
}

bool decode_floats(uint32_t w, Insn *i)
{
    static const Encoding rows[] = {
        { 0xffe00ed0, 0xec400a10, transfer_two }, { 0xff200e00, 0xed000a00, access_one },
        { 0xffa00e00, 0xec000a00, NULL }, { 0xfe000e00, 0xec000a00, access_many },
        { 0xffb00e50, 0xeeb00a00, constant }, { 0xffbe0e50, 0xeeb00a40, move }, { 0xffbe0e50, 0xeeb40a40, compare },
        { 0xffbe0ed0, 0xeeb60a40, round_to_whole }, { 0xffbf0ed0, 0xeeb60ac0, round_to_whole },
        { 0xffbf0ed0, 0xeeb70ac0, between }, { 0xffbf0e50, 0xeeb80a40, from_integer },
        { 0xffbe0e50, 0xeebc0a40, to_integer }, { 0xffba0e50, 0xeeba0a40, fixed }, { 0xffb00e10, 0xeeb00a00, NULL },
        { 0xff000e10, 0xee000a00, arithmetic_of },
        { 0xffe00f7f, 0xee000a10, transfer }, { 0xff900f7f, 0xee000b10, transfer_lane },
        { 0xffe00fff, 0xeee00a10, status }, { 0xff000f1f, 0xee000b10, status },      /* a byte or halfword, VDUP */
        { 0xff800e50, 0xfe000a00, choose }, { 0xffb00e10, 0xfe800a00, larger },
        { 0xffbc0e50, 0xfeb80a40, round_to_whole }, { 0xffbc0e50, 0xfebc0a40, to_integer }, { 0, 0, NULL } };
    return decode_rows(rows, w, i);
}
