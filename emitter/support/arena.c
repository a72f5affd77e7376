/* SPDX-License-Identifier: MIT */
/* An arena is a list of blocks, the newest first; an allocation is a bump of a pointer. Blocks double in size up to
 * 1 MiB, and a request larger than a block gets one of its own.
 *
 * The address sanitizer sees a block as one piece. So, where it is on, what is not handed out is poisoned, and GAP bytes
 * behind each allocation stay so: an access past the end of an array is found here as it is with malloc. */
#include "support/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__      /* gcc */
#define IS_WATCHED
#elif defined __has_feature           /* clang */
#if __has_feature(address_sanitizer)
#define IS_WATCHED
#endif
#endif
#ifdef IS_WATCHED
void __asan_poison_memory_region(void const volatile *at, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *at, size_t bytes);
enum { GAP = 32 };
static void hide(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
static void show(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
enum { GAP = 0 };
static void hide(const void *at, size_t bytes) { (void)at, (void)bytes; }
static void show(const void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

typedef union Align { long double ld; void *p; int64_t i; } Align;
typedef struct ArenaBlock ArenaBlock;
struct ArenaBlock { ArenaBlock *older; size_t used, size; Align bytes[1]; };

/* spare: given back last */
struct Arena { ArenaBlock *newest, *spare; size_t used, next_size; OutOfMemory *hook; void *user; };

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

static void out_of_memory(OutOfMemory *hook, void *user, size_t bytes)
{
    if (hook) hook(user, bytes);
    abort();
}

Arena *arena_new(OutOfMemory *hook, void *user)
{
    Arena *a = malloc(sizeof *a);
    if (a) *a = (Arena){ NULL, NULL, 0, FIRST_BLOCK, hook, user };
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
    for (ArenaBlock *b = a->newest, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    free(a->spare);
    free(a);
}

static void add_block(Arena *a, size_t bytes)
{
    size_t size = bytes > a->next_size ? bytes : a->next_size;
    ArenaBlock *b = a->spare && a->spare->size >= bytes ? a->spare : NULL;
    if (b) {
        a->spare = NULL;
        size = b->size;
    } else b = size > SIZE_MAX - sizeof *b ? NULL : malloc(sizeof *b + size);
    if (!b) out_of_memory(a->hook, a->user, bytes);
    hide(b->bytes, size);
    b->older = a->newest;
    b->used = 0;
    b->size = size;
    a->newest = b;
    if (a->next_size < LARGEST_BLOCK) a->next_size *= 2;
}

void *arena_alloc(Arena *a, size_t bytes)
{
    const size_t align = sizeof(Align);
    const size_t wanted = bytes;
    if (bytes > SIZE_MAX - align - GAP) out_of_memory(a->hook, a->user, bytes);
    bytes = (bytes + align - 1) / align * align + GAP;
    if (!a->newest || a->newest->size - a->newest->used < bytes) add_block(a, bytes);
    void *p = (char *)a->newest->bytes + a->newest->used;
    a->newest->used += bytes;
    a->used += bytes;
    show(p, wanted);
    return memset(p, 0, wanted);
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
        ArenaBlock *b = a->newest;
        a->newest = b->older;
        free(a->spare);
        a->spare = b;
    }
    if (!a->newest) return;
    hide((char *)a->newest->bytes + mark.used, a->newest->used - mark.used);
    a->newest->used = mark.used;
}

size_t arena_used(const Arena *a) { return a->used; }
