/* SPDX-License-Identifier: MIT */
/* Compares the architecture of compiled code with the target's. The comparison reads the machine of the ELF header and,
 * for Arm, the tag CPU_arch of the build attributes (ABI for the Arm Architecture, "Build Attributes"). Code for a
 * different core has different instructions, and lacks those that the target's macros would select. */
#include "api/report/footprint.h"

#include <string.h>

#include "ir/nest/costs.h"

/* The rows of the M profile, each of which also has the instructions of the rows before it. CoreFigures.architecture is
 * the number of the row, counted from 1. */
static const struct { int tag, order; const char *name; } arm[] = {
    { 11, 1, "Armv6-M" }, { 12, 1, "Armv6-M" }, { 16, 2, "Armv8-M baseline" }, { 10, 3, "Armv7-M" },
    { 13, 4, "Armv7E-M" }, { 17, 5, "Armv8-M mainline" }, { 21, 6, "Armv8.1-M mainline" },
};
enum { ARM_COUNT = sizeof arm / sizeof arm[0], ARM_ATTRIBUTES = 0x70000003 };

static const struct { int machine; const char *name; } machines[] = {
    { 3, "x86" }, { 40, "Arm" }, { 62, "x86-64" }, { 83, "AVR" }, { 94, "Xtensa" }, { 183, "AArch64" },
    { 243, "RISC-V" },
};

static const char *machine_name(Ctx *cx, int machine)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].machine == machine) return machines[i].name;
    return text_format(cx, "the ELF machine %d", machine);
}

static uint64_t uleb(const uint8_t **at, const uint8_t *end)
{
    uint64_t n = 0;
    for (int shift = 0; *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        if (shift < 63) n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return n;
}

static void skip_text(const uint8_t **at, const uint8_t *end)
{
    while (*at < end && *(*at)++) continue;
}

/* Returns the value of CPU_arch, tag 6, among the attributes of a file, or -1 if there is none. */
static int arch_among(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint64_t tag = uleb(&at, end);
        if (tag == 6) return (int)(uleb(&at, end) & INT16_MAX);
        if (tag == 32) uleb(&at, end);
        if (tag == 4 || tag == 5 || tag == 32 || (tag > 32 && tag % 2 == 1)) skip_text(&at, end);
        else uleb(&at, end);
    }
    return -1;
}

/* The section consists of 'A', a length, "aeabi", the tag of a whole file (1), a length, and the attributes of the
 * file. */
static int arm_arch(const Elf *e)
{
    enum { BEFORE = 1 + 4 + sizeof "aeabi" + 1 + 4 };
    for (int i = 0; i < elf_section_count(e); i++) {
        const ElfSection s = elf_section(e, i);
        const Bytes bytes = elf_section_bytes(e, &s);
        if (s.kind == ARM_ATTRIBUTES && bytes.count >= BEFORE && memcmp(bytes.at + 5, "aeabi", sizeof "aeabi") == 0)
            return arch_among(bytes.at + BEFORE, bytes.at + bytes.count);
    }
    return -1;
}

static int arm_row(int tag)
{
    for (int i = 0; i < ARM_COUNT; i++)
        if (arm[i].tag == tag) return i;
    return -1;
}

static const char *arm_name(int order)
{
    const char *name = "";
    for (int i = 0; i < ARM_COUNT; i++)
        if (arm[i].order == order) name = arm[i].name;
    return name;
}

bool report_is_target_code(const Build *b, const Elf *e, const char *command)
{
    Ctx *cx = b->cx;
    const CoreFigures *core = b->target->core;
    const int machine = elf_machine(e);
    if (!core || !core->elf_machine) return true;
    if (machine != core->elf_machine) {
        diag_error(cx, NULL, "--cc \"%s\" compiles for %s, and the target \"%s\" is %s", command,
                   machine_name(cx, machine), b->target->name, machine_name(cx, core->elf_machine));
        return false;
    }
    const int row = core->architecture ? arm_row(arm_arch(e)) : -1, order = row < 0 ? 0 : arm[row].order;
    if (order < core->architecture)
        diag_error(cx, NULL, "--cc \"%s\" compiles for %s, and the target \"%s\" is %s; use a command with -mcpu=%s",
                   command, row < 0 ? "no core of the M profile" : arm[row].name, b->target->name,
                   arm_name(core->architecture), b->target->name);
    else if (order > core->architecture)
        diag_warn(cx, NULL, "--cc \"%s\" compiles for %s, and the target \"%s\" is %s", command, arm[row].name,
                  b->target->name, arm_name(core->architecture));
    return order >= core->architecture;
}
