/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_ELF_H
#define LW_API_REPORT_ELF_H
/* Reads ELF files of either width and byte order. Bytes past the end of the file read as 0. */
#include "support/file.h"

typedef struct Elf { Bytes file; bool is_wide, is_big; } Elf;
typedef struct ElfSection { uint64_t kind, flags, address, offset, size, link; } ElfSection;
enum { ELF_SYMBOLS = 2, ELF_NO_BITS = 8,                 /* kinds of sections */
       ELF_WRITE = 1, ELF_ALLOC = 2,                     /* flags */
       ELF_ARM = 40, ELF_AVR = 83 };                     /* machines */

bool elf_open(Bytes file, Elf *e);
/* Adds the sections that are loaded. All sections with bits are in flash; writable sections are also in RAM. */
void elf_sum(const Elf *e, int64_t *flash, int64_t *ram);
int elf_machine(const Elf *e);
uint64_t elf_entry(const Elf *e);
int elf_section_count(const Elf *e);
ElfSection elf_section(const Elf *e, int number);
Bytes elf_section_bytes(const Elf *e, const ElfSection *s);      /* those in the file */
typedef struct ElfSymbol { const char *name; uint64_t value, size; } ElfSymbol;      /* the name is in the file */
void elf_symbols(const Elf *e, void visit(const ElfSymbol *s, void *user), void *user);
#endif
