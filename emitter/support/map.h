/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_MAP_H
#define LW_SUPPORT_MAP_H
/* A hash map from bytes, or from a pointer, to a pointer. The map has no iteration, so hash order never reaches the
 * output. Keys given as bytes are not copied; they must live as long as the map. A copy of a Map holds the entries of
 * its time: a map that grows keeps the old slots. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef struct Map { Arena *arena; struct MapSlot *slots; size_t count, capacity; } Map;

Map   map_new(Arena *arena);
void *map_get(const Map *m, const void *key, size_t bytes);              /* returns NULL if the key is absent */
void  map_put(Map *m, const void *key, size_t bytes, void *value);       /* replaces an existing value */

void *map_get_ptr(const Map *m, const void *key);                        /* uses the pointer itself as the key */
void  map_put_ptr(Map *m, const void *key, void *value);

/* For maps to const objects. map_get_const also reads values of map_put; only map_get_const reads values of
 * map_put_const. */
const void *map_get_const(const Map *m, const void *key, size_t bytes);
void        map_put_const(Map *m, const void *key, size_t bytes, const void *value);
const void *map_get_const_ptr(const Map *m, const void *key);
void        map_put_const_ptr(Map *m, const void *key, const void *value);

uint64_t hash_bytes(const void *key, size_t bytes);                      /* returns FNV-1a with a final mix */

#endif
