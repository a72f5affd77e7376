/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full, never shrinking. Most maps are small and short-lived: a slot
 * has three words, and the first table eight slots. */
#include "support/map.h"

#include <string.h>

typedef union MapValue { void *is; const void *constant; } MapValue;

/* A slot of the table. `tag` is 0 in a free slot. Otherwise, it holds the length of the key, plus 1, above TAG_BITS
 * bits of the key's hash. */
struct MapSlot { const void *key; MapValue value; uint64_t tag; };

enum { TAG_BITS = 20 };
static const size_t BY_POINTER = SIZE_MAX;       /* the length of a key that is a pointer */

Map map_new(Arena *arena) { return (Map){ arena, NULL, 0, 0 }; }

uint64_t hash_bytes(const void *key, size_t bytes)
{
    const unsigned char *p = key;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    return h * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the hash of a pointer, because most keys are pointers; hashes all its bits at once. */
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

static uint64_t tag_of(size_t bytes, uint64_t hash)
{
    const uint64_t length = bytes == BY_POINTER ? UINT64_MAX >> TAG_BITS : (uint64_t)bytes + 1;
    return length << TAG_BITS | (hash & ((1 << TAG_BITS) - 1));
}

static bool same_key(const struct MapSlot *s, const void *key, size_t bytes, uint64_t tag)
{
    if (s->tag != tag) return false;
    return bytes == BY_POINTER ? s->key == key : bytes == 0 || memcmp(s->key, key, bytes) == 0;
}

static size_t first_slot(const Map *m, uint64_t hash) { return (size_t)(hash >> TAG_BITS) & (m->capacity - 1); }

static struct MapSlot *find(const Map *m, const void *key, size_t bytes, uint64_t hash)
{
    const uint64_t tag = tag_of(bytes, hash);
    size_t i = first_slot(m, hash);
    while (m->slots[i].tag && !same_key(&m->slots[i], key, bytes, tag)) i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

static MapValue get(const Map *m, const void *key, size_t bytes)
{
    const MapValue none = { NULL };
    if (!m->capacity) return none;
    const struct MapSlot *s = find(m, key, bytes, hash_key(key, bytes));
    return s->tag ? s->value : none;
}

/* Inserts a slot. Keys of used slots are distinct, so no comparison is required. */
static void move_to(Map *bigger, const struct MapSlot *s)
{
    const uint64_t length = s->tag >> TAG_BITS;
    const size_t bytes = length == UINT64_MAX >> TAG_BITS ? BY_POINTER : (size_t)(length - 1);
    size_t i = first_slot(bigger, hash_key(s->key, bytes));
    while (bigger->slots[i].tag) i = (i + 1) & (bigger->capacity - 1);
    bigger->slots[i] = *s;
}

static void grow(Map *m)
{
    Map bigger = { m->arena, NULL, m->count, m->capacity ? m->capacity * 2 : 8 };
    bigger.slots = NEW_ARRAY(m->arena, struct MapSlot, bigger.capacity);
    for (size_t i = 0; i < m->capacity; i++)
        if (m->slots[i].tag) move_to(&bigger, &m->slots[i]);
    *m = bigger;
}

static void put(Map *m, const void *key, size_t bytes, MapValue value)
{
    if (2 * (m->count + 1) > m->capacity) grow(m);
    const uint64_t hash = hash_key(key, bytes);
    struct MapSlot *s = find(m, key, bytes, hash);
    if (!s->tag) m->count++;
    *s = (struct MapSlot){ key, value, tag_of(bytes, hash) };
}

static MapValue constant(const void *value) { return (MapValue){ .constant = value }; }

void *map_get(const Map *m, const void *key, size_t bytes) { return get(m, key, bytes).is; }
void  map_put(Map *m, const void *key, size_t bytes, void *value) { put(m, key, bytes, (MapValue){ value }); }
void *map_get_ptr(const Map *m, const void *key) { return get(m, key, BY_POINTER).is; }
void  map_put_ptr(Map *m, const void *key, void *value) { put(m, key, BY_POINTER, (MapValue){ value }); }

const void *map_get_const(const Map *m, const void *key, size_t bytes) { return get(m, key, bytes).constant; }
void map_put_const(Map *m, const void *key, size_t bytes, const void *value) { put(m, key, bytes, constant(value)); }
const void *map_get_const_ptr(const Map *m, const void *key) { return get(m, key, BY_POINTER).constant; }
void map_put_const_ptr(Map *m, const void *key, const void *value) { put(m, key, BY_POINTER, constant(value)); }
