/* SPDX-License-Identifier: MIT */
/* Sections and symbols of ELF files: see elf.h. */
#include "api/report/elf.h"

#include <string.h>

/* Returns the number of `size` bytes at the offset, or 0 past the end of the file. */
static uint64_t number(const Elf *e, uint64_t at, int size)
{
    uint64_t n = 0;
    if (at > e->file.count || e->file.count - at < (size_t)size) return 0;
    for (int i = 0; i < size; i++) n = n << 8 | e->file.at[at + (uint64_t)(e->is_big ? i : size - 1 - i)];
    return n;
}

/* Reads a field as wide as an address; its offset differs between 32-bit and 64-bit files. */
static uint64_t word(const Elf *e, uint64_t base, int narrow, int wide)
{
    return number(e, base + (uint64_t)(e->is_wide ? wide : narrow), e->is_wide ? 8 : 4);
}

bool elf_open(Bytes file, Elf *e)
{
    *e = (Elf){ file, false, false };
    if (file.count < 52 || memcmp(file.at, "\x7f" "ELF", 4) != 0) return false;
    e->is_wide = file.at[4] == 2;
    e->is_big = file.at[5] == 2;
    return true;
}

int elf_machine(const Elf *e) { return (int)number(e, 18, 2); }
uint64_t elf_entry(const Elf *e) { return word(e, 0, 0x18, 0x18); }
int elf_section_count(const Elf *e) { return (int)number(e, e->is_wide ? 0x3c : 0x30, 2); }

ElfSection elf_section(const Elf *e, int index)
{
    const uint64_t at = word(e, 0, 0x20, 0x28) + (uint64_t)index * number(e, e->is_wide ? 0x3a : 0x2e, 2);
    return (ElfSection){ .kind = number(e, at + 4, 4), .flags = word(e, at, 8, 8), .address = word(e, at, 0xc, 0x10),
                         .offset = word(e, at, 0x10, 0x18), .size = word(e, at, 0x14, 0x20),
                         .link = number(e, at + (e->is_wide ? 0x28 : 0x18), 4) };
}

Bytes elf_section_bytes(const Elf *e, const ElfSection *s)
{
    if (s->kind == ELF_NO_BITS || s->offset > e->file.count) return (Bytes){ NULL, 0 };
    const uint64_t rest = e->file.count - s->offset;
    return (Bytes){ e->file.at + s->offset, (size_t)(s->size < rest ? s->size : rest) };
}

void elf_sum(const Elf *e, int64_t *flash, int64_t *ram)
{
    for (int i = 0; i < elf_section_count(e); i++) {
        const ElfSection s = elf_section(e, i);
        const int64_t size = (int64_t)(s.size & INT32_MAX);
        if (!(s.flags & ELF_ALLOC)) continue;
        if (s.kind != ELF_NO_BITS) *flash += size;
        if (s.flags & ELF_WRITE) *ram += size;
    }
}

static const char *name_at(Bytes names, uint64_t at)
{
    const bool has_end = at < names.count && memchr(names.at + at, 0, names.count - at);
    return has_end ? (const char *)names.at + at : "";
}

void elf_symbols(const Elf *e, void visit(const ElfSymbol *s, void *user), void *user)
{
    const uint64_t each = e->is_wide ? 24 : 16;
    for (int i = 0; i < elf_section_count(e); i++) {
        const ElfSection table = elf_section(e, i);
        if (table.kind != ELF_SYMBOLS) continue;
        const ElfSection strings = elf_section(e, (int)(table.link & INT16_MAX));
        const Bytes names = elf_section_bytes(e, &strings);
        const uint64_t bytes = elf_section_bytes(e, &table).count;
        for (uint64_t at = table.offset; at + each <= table.offset + bytes; at += each)
            visit(&(ElfSymbol){ name_at(names, number(e, at, 4)), word(e, at, 4, 8), word(e, at, 8, 16) }, user);
    }
}
