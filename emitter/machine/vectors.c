/* SPDX-License-Identifier: MIT */
/* Executes Helium: addresses are computed, and whole vectors are loaded and stored, but arithmetic is not executed. */
#include "machine/insn.h"

static int active_bytes(const Machine *m)
{
    const uint32_t left = m->tail ? m->r[LR] * (uint32_t)m->tail : 16;
    return left < 16 ? (int)left : 16;
}

static uint32_t address(Machine *m, const Insn *i)
{
    const uint32_t base = m->r[i->n];
    if (i->writes_back) m->r[i->n] = base + i->imm;
    return i->is_pre ? base + i->imm : base;
}

static void run_load_vector(Machine *m, const Insn *i)
{
    const uint32_t at = address(m, i);
    for (int k = 0; k < 4; k++) m->s[4 * i->d + k] = load32(m, at + 4 * (uint32_t)k);
}

static void run_store_vector(Machine *m, const Insn *i)
{
    const uint32_t at = address(m, i);
    const int bytes = active_bytes(m);
    for (int k = 0; k < bytes; k++) *memory_at(m, at + (uint32_t)k) = (uint8_t)(m->s[4 * i->d + k / 4] >> 8 * (k % 4));
}

static void run_address(Machine *m, const Insn *i) { (void)address(m, i); }

/* Decodes an access. Without an offset from a register, the elements' addresses are in a vector. */
static void access_vector(uint32_t w, Insn *i)
{
    const uint32_t offset = (w & 127) << bits_of(w, 8, 7);
    i->d = (uint8_t)(bits_of(w, 15, 13) & 7);
    i->n = (uint8_t)bits_of(w, 19, 16);
    i->imm = w >> 23 & 1 ? offset : 0u - offset;
    i->is_pre = w >> 24 & 1;
    i->writes_back = w >> 21 & 1;
    i->run = !i->is_pre && !i->writes_back ? run_nothing : w >> 20 & 1 ? run_load_vector : run_store_vector;
}

/* Decodes an access whose elements are wider in the register than in memory. */
static void access_widened(uint32_t w, Insn *i)
{
    const uint32_t offset = (w & 127) << (w >> 19 & 1);
    i->n = (uint8_t)bits_of(w, 18, 16);
    i->imm = w >> 23 & 1 ? offset : 0u - offset;
    i->writes_back = w >> 21 & 1;
    i->run = run_address;
}

static void access_interleaved(uint32_t w, Insn *i)
{
    i->n = (uint8_t)bits_of(w, 19, 16);
    i->imm = w & 1 ? 64 : 32;
    i->writes_back = w >> 21 & 1;
    i->run = run_address;
}

static void nothing(uint32_t w, Insn *i) { (void)w, i->run = run_nothing; }

bool decode_vectors(uint32_t w, Insn *i)
{
    static const Encoding rows[] = {
        { 0xfe001e00, 0xec001e00, access_vector }, { 0xff801e00, 0xfc801e00, access_interleaved },
        { 0xee001e00, 0xec000e00, access_widened },
        /* instructions with counters, and with a carry in a register */
        { 0xff810f70, 0xee010f60, NULL }, { 0xffa01ff0, 0xeea00fc0, NULL },
        { 0xec000000, 0xec000000, nothing }, { 0, 0, NULL } };
    return decode_rows(rows, w, i);
}
