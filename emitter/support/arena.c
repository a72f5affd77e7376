/* SPDX-License-Identifier: MIT */
/* An arena is a list of chunks, the newest first; an allocation increments a pointer. Chunks double in size up to 1
 * MiB. A larger request gets a chunk of its own size, which may be freed alone.
 *
 * The address sanitizer sees a chunk as one object. The arena therefore poisons unallocated bytes, and GAP bytes after
 * each allocation. An access past the end of an array is then caught, as it is with malloc. */
#include "support/arena.h"

#include <stdbool.h>
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

/* `spare` is the chunk that was freed last, for reuse. frees_chunks is true if no mark refers to a chunk. */
struct Arena {
    ArenaChunk *newest, *spare;
    size_t used, next_size;
    OutOfMemory *hook;
    void *user;
    bool frees_chunks;
};

/* LONELY is the smallest allocation with a separate chunk, if no mark refers to a chunk. */
enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, LONELY = 1 << 16 };

static void out_of_memory(OutOfMemory *hook, void *user, size_t bytes)
{
    if (hook) hook(user, bytes);
    abort();
}

Arena *arena_new(OutOfMemory *hook, void *user)
{
    Arena *a = malloc(sizeof *a);
    if (a) *a = (Arena){ .next_size = FIRST_CHUNK, .hook = hook, .user = user };
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

static ArenaChunk *chunk_of(Arena *a, size_t size)
{
    ArenaChunk *b = a->spare && a->spare->size >= size ? a->spare : NULL;
    if (b) a->spare = NULL;
    else if (size <= SIZE_MAX - sizeof *b && (b = malloc(sizeof *b + size)) != NULL) b->size = size;
    if (!b) out_of_memory(a->hook, a->user, size);
    poison(b->bytes, b->size);
    b->used = 0;
    return b;
}

static void add_chunk(Arena *a, size_t bytes)
{
    ArenaChunk *b = chunk_of(a, bytes > a->next_size ? bytes : a->next_size);
    b->older = a->newest;
    a->newest = b;
    if (a->next_size < LARGEST_CHUNK) a->next_size *= 2;
}

/* Returns memory in a separate chunk after the newest, which stays in use. */
static void *alone(Arena *a, size_t bytes)
{
    ArenaChunk *b = chunk_of(a, bytes);
    b->older = a->newest->older;
    a->newest->older = b;
    b->used = bytes;
    return b->bytes;
}

/* Returns the number of bytes of a chunk that an allocation uses. */
static size_t taken(const Arena *a, size_t bytes)
{
    const size_t align = sizeof(Align);
    if (bytes > SIZE_MAX - align - GAP) out_of_memory(a->hook, a->user, bytes);
    return (bytes + align - 1) / align * align + GAP;
}

void *arena_alloc(Arena *a, size_t bytes)
{
    const size_t requested = bytes;
    void *p;
    bytes = taken(a, bytes);
    if (a->frees_chunks && a->newest && bytes >= LONELY) p = alone(a, bytes);
    else {
        if (!a->newest || a->newest->size - a->newest->used < bytes) add_chunk(a, bytes);
        p = (char *)a->newest->bytes + a->newest->used;
        a->newest->used += bytes;
    }
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

static bool is_newest(const Arena *a, const void *p, size_t bytes)
{
    const ArenaChunk *c = a->newest;
    return c && c->used >= taken(a, bytes) && p == (const char *)c->bytes + (c->used - taken(a, bytes));
}

/* Resizes the newest allocation. Returns false if its chunk is too small. */
static bool resize_newest(Arena *a, void *p, size_t old, size_t bytes)
{
    const size_t before = taken(a, old), after = taken(a, bytes);
    ArenaChunk *c = a->newest;
    if (after > before && c->size - c->used < after - before) return false;
    c->used = c->used - before + after;
    a->used = a->used - before + after;
    poison((char *)p + bytes, after - bytes);
    if (after < before) poison((char *)p + after, before - after);
    if (bytes > old) {
        unpoison(p, bytes);
        memset((char *)p + old, 0, bytes - old);
    }
    return true;
}

void *arena_resize(Arena *a, void *p, size_t old, size_t bytes)
{
    if (p && is_newest(a, p, old) && resize_newest(a, p, old, bytes)) return p;
    if (p && bytes <= old) return p;
    void *to = arena_alloc(a, bytes);
    if (old) memcpy(to, p, old);
    if (p) arena_give_back(a, p, old);
    return to;
}

void arena_give_back(Arena *a, void *p, size_t bytes)
{
    if (is_newest(a, p, bytes)) {
        resize_newest(a, p, bytes, 0);
        return;
    }
    if (!a->frees_chunks || taken(a, bytes) < LONELY) return;
    ArenaChunk **c = &a->newest;
    while (*c && (void *)(*c)->bytes != p) c = &(*c)->older;
    if (!*c || (*c)->used != taken(a, bytes)) return;
    ArenaChunk *freed = *c;
    *c = freed->older;
    a->used -= freed->used;
    free(freed);
}

void arena_without_marks(Arena *a) { a->frees_chunks = true; }

ArenaMark arena_mark(const Arena *a) { return (ArenaMark){ a->newest, a->newest ? a->newest->used : 0 }; }

void arena_reset(Arena *a, ArenaMark mark)
{
    while (a->newest != mark.newest) {
        ArenaChunk *b = a->newest;
        a->newest = b->older;
        a->used -= b->used;
        free(a->spare);
        a->spare = b;
    }
    if (!a->newest || a->newest->used <= mark.used) return;
    poison((char *)a->newest->bytes + mark.used, a->newest->used - mark.used);
    a->used -= a->newest->used - mark.used;
    a->newest->used = mark.used;
}

size_t arena_used(const Arena *a) { return a->used; }
