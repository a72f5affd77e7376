/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full, never shrinking. A key by pointer has bytes == SIZE_MAX. */
#include "support/map.h"

#include <string.h>

struct MapSlot { const void *key; size_t bytes; uint64_t hash; void *value; bool used; };

static const size_t BY_POINTER = SIZE_MAX;

Map map_new(Arena *arena) { return (Map){ arena, NULL, 0, 0 }; }

uint64_t hash_bytes(const void *key, size_t bytes)
{
    const unsigned char *p = key;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    return h * UINT64_C(0x9e3779b97f4a7c15);
}

/* Pointers are most of the keys: all their bits at once. */
static uint64_t hash_pointer(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 32;
    return h * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_key(const void *key, size_t bytes)
{
    return bytes == BY_POINTER ? hash_pointer(key) : hash_bytes(key, bytes);
}

static bool same_key(const struct MapSlot *s, const void *key, size_t bytes, uint64_t hash)
{
    if (s->hash != hash || s->bytes != bytes) return false;
    return bytes == BY_POINTER ? s->key == key : bytes == 0 || memcmp(s->key, key, bytes) == 0;
}

static struct MapSlot *find(const Map *m, const void *key, size_t bytes, uint64_t hash)
{
    size_t i = (size_t)(hash >> 20) & (m->room - 1);
    while (m->slots[i].used && !same_key(&m->slots[i], key, bytes, hash)) i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static void *get(const Map *m, const void *key, size_t bytes)
{
    if (!m->room) return NULL;
    const struct MapSlot *s = find(m, key, bytes, hash_key(key, bytes));
    return s->used ? s->value : NULL;
}

static void grow(Map *m)
{
    Map bigger = { m->arena, NULL, m->count, m->room ? m->room * 2 : 16 };
    bigger.slots = NEW_ARRAY(m->arena, struct MapSlot, bigger.room);
    for (size_t i = 0; i < m->room; i++)
        if (m->slots[i].used) *find(&bigger, m->slots[i].key, m->slots[i].bytes, m->slots[i].hash) = m->slots[i];
    *m = bigger;
}

static void put(Map *m, const void *key, size_t bytes, void *value)
{
    if (2 * (m->count + 1) > m->room) grow(m);
    uint64_t hash = hash_key(key, bytes);
    struct MapSlot *s = find(m, key, bytes, hash);
    if (!s->used) m->count++;
    *s = (struct MapSlot){ key, bytes, hash, value, true };
}

void *map_get(const Map *m, const void *key, size_t bytes) { return get(m, key, bytes); }
void  map_put(Map *m, const void *key, size_t bytes, void *value) { put(m, key, bytes, value); }
void *map_get_ptr(const Map *m, const void *key) { return get(m, key, BY_POINTER); }
void  map_put_ptr(Map *m, const void *key, void *value) { put(m, key, BY_POINTER, value); }
