/* SPDX-License-Identifier: MIT */
/* The stepped core: the results of instructions and their number, on code that is written here in bytes, and on
 * tests/machine/work.c as the Arm compiler translates it, beside the same file as the host's compiler does. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "../machine/work.c"
#include "api/report/elf.h"
#include "machine/machine.h"

enum { CODE = 0x8000, STACK = 0x7f000000 };

/* A function of up to three words, its result, and the instructions that it executes. */
typedef struct Case { const char *name; uint16_t code[16]; uint32_t argument[3], result; int count; } Case;

static void check_bytes(const Case *c)
{
    Arena *arena = arena_new(NULL, NULL);
    Machine *m = machine_new(arena);
    MachineCounts counts = { 0 };
    uint8_t bytes[sizeof c->code];
    for (size_t i = 0; i < 16; i++) bytes[2 * i] = (uint8_t)c->code[i], bytes[2 * i + 1] = (uint8_t)(c->code[i] >> 8);
    machine_write(m, CODE, bytes, sizeof bytes);
    const bool ok = machine_call(m, CODE | 1, c->argument, 3, STACK, 1000, &counts);
    check_that(ok && counts.result == c->result && counts.total == c->count, c->name,
               "%08lx after %lld, wanted %08lx after %d", (unsigned long)counts.result, (long long)counts.total,
               (unsigned long)c->result, c->count);
    arena_free(arena);
}

static void check_all_bytes(void)
{
    static const Case cases[] = {
        { "adds; bx lr", { 0x1840, 0x4770 }, { 40, 2 }, 42, 2 },
        /* loop: adds r0, r0, r1; subs r2, #1; bne loop; bx lr */
        { "a loop of five", { 0x1840, 0x3a01, 0xd1fc, 0x4770 }, { 0, 3, 5 }, 15, 16 },
        /* cmp r0, r1; ite lt; movlt r0, #1; movge r0, #2: a skipped instruction counts */
        { "it block", { 0x4288, 0xbfb4, 0x2001, 0x2002, 0x4770 }, { 7, 3 }, 2, 5 },
        { "it block, other side", { 0x4288, 0xbfb4, 0x2001, 0x2002, 0x4770 }, { 0xfffffff0, 3 }, 1, 5 },
        /* push {r4, lr}; movs r4, r0; bl +2 (f); pop {r4, pc}; f: adds r0, r4, r4; bx lr */
        { "call", { 0xb510, 0x0004, 0xf000, 0xf801, 0xbd10, 0x1920, 0x4770 }, { 21 }, 42, 6 },
        /* smlad r0, r0, r1, r2; bx lr: 3 * 5 + (-2) * 7 + 100 */
        { "smlad", { 0xfb20, 0x2001, 0x4770 }, { 0xfffe0003, 0x00070005, 100 }, 101, 2 },
        /* vmov s0, r0; vmov s1, r1; vmul.f32 s0, s0, s1; vmov r0, s0: 1.5 * -4 */
        { "vmul.f32", { 0xee00, 0x0a10, 0xee00, 0x1a90, 0xee20, 0x0a20, 0xee10, 0x0a10, 0x4770 },
          { 0x3fc00000, 0xc0800000 }, 0xc0c00000, 5 },
        /* push {lr}; dls lr, r1; loop: adds r0, #2; le lr, loop; pop {pc} */
        { "dls, le", { 0xb500, 0xf041, 0xe001, 0x3002, 0xf00f, 0xc803, 0xbd00 }, { 1, 4 }, 9, 11 },
        /* push {lr}; wlstp.8 lr, r1, end; loop: vldrb.8 q0, [r0], #16; letp lr, loop; end: pop {pc} */
        { "wlstp.8, letp", { 0xb500, 0xf001, 0xc005, 0xecb0, 0x1e10, 0xf01f, 0xc005, 0xbd00 },
          { 0x1000, 33 }, 0x1030, 9 },
        { "wlstp.8 of nothing", { 0xb500, 0xf001, 0xc005, 0xecb0, 0x1e10, 0xf01f, 0xc005, 0xbd00 },
          { 0x1000, 0 }, 0x1000, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_bytes(&cases[i]);
}

/* Instructions that the core lacks end the call, and so does the limit. */
static void check_ends(void)
{
    static const uint8_t udf[] = { 0x00, 0xde }, forever[] = { 0xfe, 0xe7 };
    Arena *arena = arena_new(NULL, NULL);
    Machine *m = machine_new(arena);
    MachineCounts counts = { 0 };
    machine_write(m, CODE, forever, sizeof forever);
    CHECK("a limit ends the call", !machine_call(m, CODE | 1, NULL, 0, STACK, 1000, &counts) && counts.total == 1000
                                       && !counts.unknown_at);
    m = machine_new(arena);
    CHECK("an address without code ends the call", !machine_call(m, 0x123456, NULL, 0, STACK, 1000, &counts)
                                                        && counts.unknown_at == 0x123456);
    m = machine_new(arena);
    machine_write(m, CODE, udf, sizeof udf);
    CHECK("an unknown instruction ends the call", !machine_call(m, CODE | 1, NULL, 0, STACK, 1000, &counts)
                                                      && counts.unknown_at == CODE && counts.unknown >> 16 == 0xde00);
    arena_free(arena);
}

static void load(Machine *m, const Elf *e)
{
    for (int i = 0; i < elf_section_count(e); i++) {
        const ElfSection s = elf_section(e, i);
        const Bytes bytes = elf_section_bytes(e, &s);
        if (s.flags & ELF_ALLOC) machine_write(m, (uint32_t)s.address, bytes.at, bytes.count);
    }
}

static void check_compiled(const char *cpu, const char *level)
{
    static const char program[] = "build/test/work.elf";
    enum { SEED = 12345, COUNT = 64 };
    char command[400], name[80];
    Elf e;
    Ctx *cx = ctx_new(NULL, NULL);
    Machine *m = machine_new(cx->arena);
    MachineCounts counts = { 0 };
    snprintf(name, sizeof name, "work.c for %s at %s", cpu, level);
    snprintf(command, sizeof command, "arm-none-eabi-gcc -mthumb -mcpu=%s %s -std=gnu99 -ffp-contract=off -w "
             "--specs=nano.specs -nostartfiles -static -Wl,--entry=work tests/machine/work.c -o %s",
             cpu, level, program);
    const bool is_built = system(command) == 0 && elf_open(file_read(cx, program), &e);
    if (check_that(is_built, name, "not built: %s", command)) {
        load(m, &e);
        const uint32_t argument[] = { SEED, COUNT };
        const bool ok = machine_call(m, (uint32_t)elf_entry(&e), argument, 2, STACK, 1 << 30, &counts);
        const uint32_t want = work(SEED, COUNT);
        check_that(ok && counts.result == want, name, "%08lx, the host has %08lx; unknown %08lx at %lx",
                   (unsigned long)counts.result, (unsigned long)want, (unsigned long)counts.unknown,
                   (unsigned long)counts.unknown_at);
    }
    ctx_free(cx);
}

int main(void)
{
    static const char *const cpus[] = { "cortex-m0plus", "cortex-m3", "cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16",
                                        "cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16", "cortex-m33 -mfloat-abi=hard",
                                        "cortex-m55+nomve -mfloat-abi=hard" };
    static const char *const levels[] = { "-O0", "-Os", "-O2", "-O3" };
    check_all_bytes();
    check_ends();
    if (system("arm-none-eabi-gcc --version > /dev/null 2>&1") != 0) {
        check_skip("work.c", "arm-none-eabi-gcc is not installed");
        return check_done();
    }
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
        for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) check_compiled(cpus[i], levels[k]);
    return check_done();
}
