/* SPDX-License-Identifier: MIT */
/* An arena is a list of chunks, the newest first; an allocation increments a pointer. Chunks double in size up to 1
 * MiB. A larger request gets a chunk of its own size.
 *
 * For the address sanitizer, a chunk is one object. Under it, unallocated bytes are therefore poisoned, and so are GAP
 * bytes after each allocation: an access past the end of an array is found as with malloc. */
#include "support/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__      /* gcc */
#define HAS_ASAN
#elif defined __has_feature           /* clang */
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#endif
#ifdef HAS_ASAN
void __asan_poison_memory_region(void const volatile *at, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *at, size_t bytes);
enum { GAP = 32 };
static void poison(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
static void unpoison(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
enum { GAP = 0 };
static void poison(const void *at, size_t bytes) { (void)at, (void)bytes; }
static void unpoison(const void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

typedef union Align { long double ld; void *p; int64_t i; } Align;
typedef struct ArenaChunk ArenaChunk;
struct ArenaChunk { ArenaChunk *older; size_t used, size; Align bytes[1]; };

/* spare: the chunk freed last, for reuse */
struct Arena { ArenaChunk *newest, *spare; size_t used, next_size; OutOfMemory *hook; void *user; };

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

static void out_of_memory(OutOfMemory *hook, void *user, size_t bytes)
{
    if (hook) hook(user, bytes);
    abort();
}

Arena *arena_new(OutOfMemory *hook, void *user)
{
    Arena *a = malloc(sizeof *a);
    if (a) *a = (Arena){ NULL, NULL, 0, FIRST_CHUNK, hook, user };
    return a;
}

Arena *arena_beside(const Arena *a)
{
    Arena *other = arena_new(a->hook, a->user);
    if (!other) out_of_memory(a->hook, a->user, sizeof *other);
    return other;
}

void arena_free(Arena *a)
{
    if (!a) return;
    for (ArenaChunk *b = a->newest, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    free(a->spare);
    free(a);
}

static void add_chunk(Arena *a, size_t bytes)
{
    size_t size = bytes > a->next_size ? bytes : a->next_size;
    ArenaChunk *b = a->spare && a->spare->size >= bytes ? a->spare : NULL;
    if (b) {
        a->spare = NULL;
        size = b->size;
    } else b = size > SIZE_MAX - sizeof *b ? NULL : malloc(sizeof *b + size);
    if (!b) out_of_memory(a->hook, a->user, bytes);
    poison(b->bytes, size);
    b->older = a->newest;
    b->used = 0;
    b->size = size;
    a->newest = b;
    if (a->next_size < LARGEST_CHUNK) a->next_size *= 2;
}

void *arena_alloc(Arena *a, size_t bytes)
{
    const size_t align = sizeof(Align);
    const size_t requested = bytes;
    if (bytes > SIZE_MAX - align - GAP) out_of_memory(a->hook, a->user, bytes);
    bytes = (bytes + align - 1) / align * align + GAP;
    if (!a->newest || a->newest->size - a->newest->used < bytes) add_chunk(a, bytes);
    void *p = (char *)a->newest->bytes + a->newest->used;
    a->newest->used += bytes;
    a->used += bytes;
    unpoison(p, requested);
    return memset(p, 0, requested);
}

void *arena_array(Arena *a, size_t count, size_t elem_bytes)
{
    if (elem_bytes && count > SIZE_MAX / elem_bytes) out_of_memory(a->hook, a->user, SIZE_MAX);
    return arena_alloc(a, count * elem_bytes);
}

void *arena_copy(Arena *a, const void *from, size_t bytes)
{
    void *to = arena_alloc(a, bytes);
    return bytes ? memcpy(to, from, bytes) : to;
}

ArenaMark arena_mark(const Arena *a) { return (ArenaMark){ a->newest, a->newest ? a->newest->used : 0 }; }

void arena_reset(Arena *a, ArenaMark mark)
{
    while (a->newest != mark.newest) {
        ArenaChunk *b = a->newest;
        a->newest = b->older;
        free(a->spare);
        a->spare = b;
    }
    if (!a->newest) return;
    poison((char *)a->newest->bytes + mark.used, a->newest->used - mark.used);
    a->newest->used = mark.used;
}

size_t arena_used(const Arena *a) { return a->used; }
