/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_ARENA_H
#define LW_SUPPORT_ARENA_H
/* Memory by lifetime. An allocation lives until its arena is freed as a whole, unless arena_reset or arena_give_back
 * frees it before. Memory is zeroed. If memory runs out, the arena calls its hook, which must not return: a public call
 * unwinds (support/guard.h). Without a hook, as in unit tests, the arena aborts. */
#include <stddef.h>

typedef struct Arena Arena;
typedef void OutOfMemory(void *user, size_t bytes);

/* Returns NULL if out of memory; a hook of NULL aborts. */
Arena *arena_new(OutOfMemory *hook, void *user);
/* Returns a new arena with the same hook; never NULL. */
Arena *arena_beside(const Arena *a);
void   arena_free(Arena *a);                                      /* `a` may be NULL */
/* Returns zeroed memory, aligned for any type; 0 bytes is legal. */
void  *arena_alloc(Arena *a, size_t bytes);
/* Like arena_alloc; an overflowing product counts as out of memory. */
void  *arena_array(Arena *a, size_t count, size_t elem_bytes);
void  *arena_copy(Arena *a, const void *from, size_t bytes);
/* Returns `bytes` bytes that begin with the `old` bytes at p, which may be NULL if `old` is 0. The result is in place
 * if p is the newest allocation or loses bytes, otherwise a copy. p is invalid afterwards. */
void  *arena_resize(Arena *a, void *p, size_t old, size_t bytes);
/* Gives `bytes` bytes at p back if p is the newest allocation, or has its own chunk in an arena that is not reset.
 * Otherwise, they remain until the arena is freed. */
void   arena_give_back(Arena *a, void *p, size_t bytes);
/* Permits large allocations to be given back in any order. The arena can then be freed only as a whole, without
 * marks. */
void   arena_without_marks(Arena *a);
/* arena_reset frees all allocations since the mark. Marks are reset in reverse order. */
typedef struct ArenaMark { struct ArenaChunk *newest; size_t used; } ArenaMark;
ArenaMark arena_mark(const Arena *a);
void   arena_reset(Arena *a, ArenaMark mark);
size_t arena_used(const Arena *a);                                /* returns the bytes in use */

#define NEW(arena, Type)          ((Type *)arena_alloc((arena), sizeof(Type)))
#define NEW_ARRAY(arena, Type, n) ((Type *)arena_array((arena), (size_t)(n), sizeof(Type)))

#endif
