/* SPDX-License-Identifier: MIT */
/* Reading the tables (graph/dag/registry.c, ir/algebra/rules.c) takes ten times as long as a small model, so they are
 * read once. Then the blocks of the arena are copied, and written back before each input, with the pointers into them.
 * Memory of an input beyond them is poisoned until it is allocated again, so the sanitizer finds addresses that outlive
 * their input.
 *
 * This file includes the text of the arena, to access its blocks and to keep freed ones; the linker uses these
 * functions instead of the library's. */

/* Decision: fuzzing restores a context, it does not create one. Reading operators and rules costs ten times a small
 * model, so the fuzz targets create one context and restore the arena's blocks before each input
 * (`tests/fuzz/fresh.c`). Most inputs end at the importer; one in 64, selected by its own bytes, continues to C for
 * one of four targets. `make hostile` damages whole models at the public interface, three flips in four outside
 * the weights, and prints a table. */
#include <stdlib.h>

static void *block_of(size_t bytes);
static void give_back(void *block);
#define malloc block_of
#define free give_back
#include "../../emitter/support/arena.c"
#undef malloc
#undef free

#include "context/context.h"
#include "fresh.h"
#include "graph/dag/registry.h"
#include "ir/algebra/rules.h"

/* ---- Blocks of the usual size are used again: memory that the system gives is slow the first time ---------------- */

enum { MOST_KEPT = 64, USUAL = sizeof(ArenaChunk) + LARGEST_CHUNK };
static struct { int count; void *block[MOST_KEPT]; } kept;

static void *block_of(size_t bytes) { return bytes == USUAL && kept.count ? kept.block[--kept.count] : malloc(bytes); }

static void give_back(void *block)
{
    ArenaChunk *b = block;
    if (kept.count == MOST_KEPT || !b || b->size != LARGEST_CHUNK) free(b);
    else {
        poison(b->bytes, b->size);
        kept.block[kept.count++] = b;
    }
}

/* ---- The context ------------------------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 32 };
typedef struct Copy { ArenaChunk *block; size_t used; void *bytes; } Copy;
static struct { Ctx *cx; Ctx start; Copy copy[MOST_BLOCKS]; int count; size_t used; } base;

/* By words and without the sanitizer's eyes, for parts of a block are poisoned. */
__attribute__((no_sanitize("address", "undefined"), no_builtin("memcpy"))) static void copy_words(uint64_t *to,
                                                                                                  const uint64_t *from,
                                                                                                  size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] = from[i];
}

/* The last allocation is a guard: without it, an input could resize the last one of the tables in place. */
static void save(Arena *a)
{
    arena_alloc(a, 1);
    a->frees_chunks = false;
    for (ArenaChunk *b = a->newest; b; b = b->older) {
        Copy c = { b, b->used, malloc(b->used) };
        if (!c.bytes || base.count == MOST_BLOCKS) abort();
        copy_words(c.bytes, (const uint64_t *)(const void *)b->bytes, b->used);
        base.copy[base.count++] = c;
    }
    base.used = a->used;
    a->next_size = LARGEST_CHUNK;
}

static void drop(Arena *a, ArenaChunk *last)
{
    for (ArenaChunk *older; a->newest != last; a->newest = older) {
        older = a->newest->older;
        give_back(a->newest);
    }
    give_back(a->spare);
    a->spare = NULL;
}

static void restore(Ctx *cx, Arena *a)
{
    drop(cx->scratch, NULL);
    drop(cx->ranges, NULL);
    drop(a, base.copy[0].block);
    poison((char *)a->newest->bytes + base.copy[0].used, a->newest->used - base.copy[0].used);
    for (int i = 0; i < base.count; i++) {
        Copy *c = &base.copy[i];
        copy_words((uint64_t *)(void *)c->block->bytes, c->bytes, c->used);
        c->block->used = c->used;
    }
    a->used = base.used;
    *cx = base.start;
}

Ctx *fresh_context(void)
{
    if (base.cx) restore(base.cx, base.cx->arena);
    else {
        base.cx = context_new(NULL, NULL);
        registry(base.cx);
        rules_of(base.cx);
        save(base.cx->arena);
        base.start = *base.cx;
    }
    return base.cx;
}
