/* SPDX-License-Identifier: MIT */
/* Holds the memory of a machine, in pages of 64 KB that are allocated when they are first used. */
#include "machine/insn.h"

/* Returns the page of an address. If the machine already has its maximum number of pages, all further addresses share
 * one page. */
uint8_t *memory_page(Machine *m, uint32_t at)
{
    enum { MOST_PAGES = 1 << 13 };
    if (m->page_count < MOST_PAGES) {
        m->page_count++;
        return m->page[at >> PAGE_BITS] = NEW_ARRAY(m->arena, uint8_t, PAGE_BYTES);
    }
    if (!m->shared) m->shared = NEW_ARRAY(m->arena, uint8_t, PAGE_BYTES);
    return m->shared;
}

uint32_t memory_load_across(Machine *m, uint32_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint32_t)*memory_at(m, at + (uint32_t)i) << 8 * i;
    return value;
}

void memory_store_across(Machine *m, uint32_t at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *memory_at(m, at + (uint32_t)i) = (uint8_t)(value >> 8 * i);
}

void memory_note(Machine *m, uint32_t at, int bytes, bool is_write)
{
    for (MachineRange *r = m->range; r < m->range + m->range_count; r++) {
        if (at < r->begin || at >= r->end || !(is_write ? r->is_written : r->is_read)) continue;
        *(is_write ? &r->written : &r->read) += bytes;
        return;
    }
}

void machine_write(Machine *m, uint32_t at, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < count; i++) *memory_at(m, at + (uint32_t)i) = from[i];
}

void machine_read(const Machine *m, uint32_t at, void *bytes, size_t count)
{
    uint8_t *to = bytes;
    for (size_t i = 0; i < count; i++) {
        const uint32_t from = at + (uint32_t)i;
        const uint8_t *page = m->page[from >> PAGE_BITS];
        to[i] = page ? page[from & (PAGE_BYTES - 1)] : 0;
    }
}
