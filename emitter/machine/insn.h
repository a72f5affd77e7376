/* SPDX-License-Identifier: MIT */
#ifndef LW_MACHINE_INSN_H
#define LW_MACHINE_INSN_H
/* Declares the internals of emitter/machine: the state of the core, and a decoded instruction. */
#include "machine/machine.h"

enum { SP = 13, LR = 14, PC = 15,
       ZERO = 16,                        /* a register that reads as 0 */
       SINK = 17,                        /* a register that nothing reads */
       REGISTERS = 18 };
enum { ALWAYS = 14, PAGE_BITS = 16, PAGE_BYTES = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

typedef struct Insn Insn;
typedef void Run(Machine *m, const Insn *i);
typedef enum Shift { LSL, LSR, ASR, ROR, RRX } Shift;
/* The operations as 32-bit encodings number them. */
typedef enum Alu { AND = 0, BIC = 1, ORR = 2, ORN = 3, EOR = 4, ADD = 8, ADC = 10, SBC = 11, SUB = 13, RSB = 14 } Alu;

/* A decoded instruction. run: the function that executes it, or NULL if it is not decoded yet. The meaning of op, kind
 * and amount depends on `run`. */
struct Insn {
    Run *run;
    uint32_t at, next, imm;
    uint8_t d, n, m, a;                  /* registers */
    uint8_t op, kind, amount, cond;
    bool sets;                           /* the flags */
    /* for a memory access. is_pre: true if the offset is added before the access; writes_back: true if the base is
     * updated */
    bool is_pre, writes_back;
    bool is_marked; int mark;
};

struct Machine {
    Arena *arena;
    uint8_t **page; int page_count;      /* [PAGES] memory; NULL for a page of zeros */
    uint8_t *shared;                     /* the page that all further addresses share (memory_page) */
    Insn **code; int code_count;         /* [PAGES] arrays of [PAGE_BYTES / 2] decoded instructions */
    uint32_t r[REGISTERS], pc;
    uint32_t s[32];                      /* S0 to S31; D and Q registers overlap them */
    bool n, z, c, v, fn, fz, fc, fv;     /* flags of integers (n to v) and of float comparisons (fn to fv) */
    uint8_t ge;                          /* GE flags of parallel additions, one bit per byte */
    /* size of an element in bytes in a loop with a predicated tail; otherwise 0 */
    int tail;
    MachineRange *range; int range_count;                /* the ranges of the current layer */
    Insn nowhere;                        /* the instruction at addresses without code */
    uint32_t unknown_at, unknown;        /* address and bits of an instruction that no row decodes */
};

/* One row of a table of encodings: the instruction has these bits under the mask. The first matching row decodes it. */
typedef struct Encoding { uint32_t mask, bits; void (*decode)(uint32_t w, Insn *i); } Encoding;

/* These functions decode instructions; they return false if no row matches. in_block: true in the block of an IT, where
 * short instructions set no flags. */
bool decode_short(uint32_t w, bool in_block, Insn *i);
bool decode_long(uint32_t w, Insn *i);         /* w has the first halfword in the upper 16 bits */
bool decode_multiply(uint32_t w, Insn *i);     /* multiplications, divisions, parallel and saturating operations */
bool decode_floats(uint32_t w, Insn *i);
bool decode_vectors(uint32_t w, Insn *i);

static inline bool decode_rows(const Encoding *row, uint32_t w, Insn *i)
{
    while ((w & row->mask) != row->bits) row++;
    if (!row->decode) return false;
    row->decode(w, i);
    return i->run != NULL;
}

static inline uint32_t bits_of(uint32_t w, int high, int low) { return w >> low & ((2u << (high - low)) - 1); }
static inline uint32_t sign_extend(uint32_t x, int bits) { return (x ^ 1u << (bits - 1)) - (1u << (bits - 1)); }

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

uint8_t *memory_page(Machine *m, uint32_t at);
uint32_t memory_load_across(Machine *m, uint32_t at, int bytes);
void memory_store_across(Machine *m, uint32_t at, uint32_t value, int bytes);

static inline uint8_t *memory_at(Machine *m, uint32_t at)
{
    uint8_t *page = m->page[at >> PAGE_BITS];
    return (page ? page : memory_page(m, at)) + (at & (PAGE_BYTES - 1));
}

static inline uint32_t load32(Machine *m, uint32_t at)
{
    if ((at & (PAGE_BYTES - 1)) > PAGE_BYTES - 4) return memory_load_across(m, at, 4);
    const uint8_t *p = memory_at(m, at);
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t load16(Machine *m, uint32_t at)
{
    if ((at & (PAGE_BYTES - 1)) > PAGE_BYTES - 2) return memory_load_across(m, at, 2);
    const uint8_t *p = memory_at(m, at);
    return p[0] | (uint32_t)p[1] << 8;
}

static inline void store32(Machine *m, uint32_t at, uint32_t value)
{
    if ((at & (PAGE_BYTES - 1)) > PAGE_BYTES - 4) {
        memory_store_across(m, at, value, 4);
        return;
    }
    uint8_t *p = memory_at(m, at);
    p[0] = (uint8_t)value, p[1] = (uint8_t)(value >> 8), p[2] = (uint8_t)(value >> 16), p[3] = (uint8_t)(value >> 24);
}

static inline void store16(Machine *m, uint32_t at, uint32_t value)
{
    if ((at & (PAGE_BYTES - 1)) > PAGE_BYTES - 2) {
        memory_store_across(m, at, value, 2);
        return;
    }
    uint8_t *p = memory_at(m, at);
    p[0] = (uint8_t)value, p[1] = (uint8_t)(value >> 8);
}

/* Counts the bytes that an instruction loads or stores. */
void memory_note(Machine *m, uint32_t at, int bytes, bool is_write);
static inline void note_load(Machine *m, uint32_t at, int bytes)
{
    if (m->range_count) memory_note(m, at, bytes, false);
}
static inline void note_store(Machine *m, uint32_t at, int bytes)
{
    if (m->range_count) memory_note(m, at, bytes, true);
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static inline void put(Machine *m, int d, uint32_t value)
{
    m->r[d] = value;
    if (d == PC) m->pc = value & ~1u;
}

static inline bool holds(const Machine *m, int cond)
{
    bool is_so = true;
    switch (cond >> 1) {
    case 0: is_so = m->z; break;
    case 1: is_so = m->c; break;
    case 2: is_so = m->n; break;
    case 3: is_so = m->v; break;
    case 4: is_so = m->c && !m->z; break;
    case 5: is_so = m->n == m->v; break;
    case 6: is_so = m->n == m->v && !m->z; break;
    default: return true;
    }
    return is_so != (cond & 1);
}

/* ---- Instructions that both tables of integers have -------------------------------------------------------------- */

Run run_nothing, run_alu_imm, run_alu_reg, run_alu_shifted, run_shift_by_register;
/* op: the logarithm of the width to base 2, plus 4 if a load extends the sign. The offset is imm, or register m shifted
 * by amount. */
Run run_load_imm, run_load_reg, run_store_imm, run_store_reg;
/* imm: a bit for each register; is_pre: true if addresses decrease from the base */
Run run_load_many, run_store_many;
/* imm: the address of the target */
Run run_branch, run_branch_and_link, run_branch_to_register, run_call_register;
/* extends m, rotated by `amount`, and adds n; op: log2 of the width, plus 4 if signed */
Run run_extend;
Run run_reverse;                         /* op: 0 word, 1 halfwords, 2 bits, 3 signed halfword */
Run run_multiply_add;                    /* d = a + n * m; with op 1, d = a - n * m */
/* sets the operand: register m, shifted by an encoded amount */
void set_operand(Insn *i, int m, Shift kind, int amount);
#endif
