/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_ARENA_H
#define LW_SUPPORT_ARENA_H
/* Memory by lifetime. An allocation lives until its arena is freed as a whole; nothing is freed alone. Memory is
 * zeroed. If memory runs out, the arena calls its hook, which must not return: a public call unwinds (support/guard.h).
 * Without a hook, as in unit tests, the arena aborts. */
#include <stddef.h>

typedef struct Arena Arena;
typedef void OutOfMemory(void *user, size_t bytes);

Arena *arena_new(OutOfMemory *hook, void *user);                  /* hook NULL: abort. Returns NULL if out of memory */
Arena *arena_beside(const Arena *a);                              /* a new arena with the same hook; never NULL */
void   arena_free(Arena *a);                                      /* NULL allowed */
void  *arena_alloc(Arena *a, size_t bytes);                       /* zeroed, aligned for any type; 0 bytes is legal */
/* As arena_alloc; an overflowing product counts as out of memory */
void  *arena_array(Arena *a, size_t count, size_t elem_bytes);
void  *arena_copy(Arena *a, const void *from, size_t bytes);
/* Returns `bytes` bytes that begin with the `old` bytes at p: in place where p is the newest allocation or loses bytes,
 * else a copy. p is invalid afterwards. p NULL: old is 0. */
void  *arena_resize(Arena *a, void *p, size_t old, size_t bytes);
/* Gives `bytes` bytes at p back if p is the newest allocation, or has a chunk of its own in an arena that is not reset;
 * else they remain until the arena is freed. */
void   arena_give_back(Arena *a, void *p, size_t bytes);
/* From now on, large allocations may be given back in any order: the arena is freed as a whole, without marks. */
void   arena_without_marks(Arena *a);
/* arena_reset frees all allocations since the mark. Marks are reset in reverse order. */
typedef struct ArenaMark { struct ArenaChunk *newest; size_t used; } ArenaMark;
ArenaMark arena_mark(const Arena *a);
void   arena_reset(Arena *a, ArenaMark mark);
size_t arena_used(const Arena *a);                                /* bytes in use */

#define NEW(arena, Type)          ((Type *)arena_alloc((arena), sizeof(Type)))
#define NEW_ARRAY(arena, Type, n) ((Type *)arena_array((arena), (size_t)(n), sizeof(Type)))

#endif
