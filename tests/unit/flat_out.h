/* SPDX-License-Identifier: MIT */
#ifndef FLAT_OUT_H
#define FLAT_OUT_H
/* Flatbuffers, written front to back: children follow their parents, and every table has a separate vtable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_ROOM = 1 << 14 };
typedef struct Out { uint8_t at[OUT_ROOM]; size_t count; } Out;        /* begins as zeros */

static inline void put(Out *o, size_t place, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) o->at[place + (size_t)i] = (uint8_t)(v >> (8 * i));
}

static inline size_t grow(Out *o, size_t bytes)
{
    size_t place = (o->count + 7) / 8 * 8;
    o->count = place + bytes;
    if (o->count > OUT_ROOM) abort();
    return place;
}

/* A table with fields 0..count-1 of 8 bytes each: field i is at table + 8 + 8*i. */
static inline size_t table(Out *o, int count)
{
    size_t n = (size_t)count, vtable = grow(o, 4 + 2 * n), t;
    put(o, vtable, 4 + 2 * n, 2);
    put(o, vtable + 2, 8 + 8 * n, 2);
    for (size_t i = 0; i < n; i++) put(o, vtable + 4 + 2 * i, 8 + 8 * i, 2);
    t = grow(o, 8 + 8 * n);
    put(o, t, t - vtable, 4);
    return t;
}

static inline size_t field(size_t t, int i) { return t + 8 + 8 * (size_t)i; }
static inline void absent(Out *o, size_t t, int i)
{
    put(o, t - (size_t)(o->at[t] | o->at[t + 1] << 8) + 4 + 2 * (size_t)i, 0, 2);
}
static inline void point(Out *o, size_t from, size_t to) { put(o, from, to - from, 4); }

static inline size_t vector(Out *o, size_t from, size_t elems, size_t size)
{
    size_t v = grow(o, 4 + elems * size);
    put(o, v, elems, 4);
    point(o, from, v);
    return v + 4;
}

static inline void ints(Out *o, size_t from, int count, const int *v)
{
    size_t at = vector(o, from, (size_t)count, 4);
    for (int i = 0; i < count; i++) put(o, at + 4 * (size_t)i, (uint64_t)(int64_t)v[i], 4);
}

static inline void text(Out *o, size_t from, const char *s)
{
    memcpy(o->at + vector(o, from, strlen(s), 1), s, strlen(s));
}

#endif
