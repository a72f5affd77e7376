/* SPDX-License-Identifier: MIT */
/* Two walks over the tree: the first counts the fields; the second copies them and applies the drawn change to one. */
#include "proto_mutate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "import/formats/protobuf.h"

/* Which fields of which message are messages themselves (onnx.proto). All others are leaves. */
typedef enum Kind {
    LEAF,
    MODEL,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    VALUE,
    TYPE,
    TENSOR_TYPE,
    SHAPE,
    DIMENSION,
    OPSET,
    FUNCTION,
    ENTRY
} Kind;
static const struct { Kind in; unsigned field; Kind kind; } schema[] = {
    { MODEL, 7, GRAPH },      { MODEL, 8, OPSET },        { MODEL, 25, FUNCTION },     { GRAPH, 1, NODE },
            { GRAPH, 5, TENSOR },
    { GRAPH, 11, VALUE },     { GRAPH, 12, VALUE },       { GRAPH, 13, VALUE },        { NODE, 5, ATTRIBUTE },
        { ATTRIBUTE, 5, TENSOR },
    { ATTRIBUTE, 6, GRAPH },  { VALUE, 2, TYPE },         { TYPE, 1, TENSOR_TYPE },    { TENSOR_TYPE, 2, SHAPE },
      { SHAPE, 1, DIMENSION },
    { FUNCTION, 7, NODE },    { TENSOR, 13, ENTRY },
};
enum { MOST_DEPTH = 24, MOST_VARINT = 10 };

static Kind kind_of(Kind in, uint64_t field)
{
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++)
        if (schema[i].in == in && schema[i].field == field) return schema[i].kind;
    return LEAF;
}

typedef enum Change { CHANGE_CONTENT, CHANGE_COPY, CHANGE_DOUBLE, CHANGE_REMOVE, CHANGE_COUNT } Change;

typedef struct Mutation {
    uint32_t random;
    ProtoLeaf *leaf;
    uint8_t *to; size_t count, room;
    bool is_full;
    int seen, target, donor;          /* fields so far; which one is changed; which one gives its content */
    Change change;
    Field donated;
} Mutation;

static uint32_t draw(Mutation *m, uint32_t below)
{
    m->random = m->random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t)(((uint64_t)(m->random ^ m->random >> 15) * below) >> 32);
}

/* ---- First walk -------------------------------------------------------------------------------------------------- */

static void count_fields(Mutation *m, Cursor message, Kind in, int depth)
{
    for (Field f; proto_next(&message, &f);) {
        if (m->seen++ == m->donor) m->donated = f;
        Kind kind = f.wire == WIRE_BYTES && depth < MOST_DEPTH ? kind_of(in, f.number) : LEAF;
        if (kind != LEAF) count_fields(m, f.bytes, kind, depth + 1);
    }
}

/* ---- Second walk ------------------------------------------------------------------------------------------------- */

static void put(Mutation *m, const void *bytes, size_t count)
{
    if (count > m->room - m->count) m->is_full = true;
    else if (count) memcpy(m->to + m->count, bytes, count);
    if (!m->is_full) m->count += count;
}

static void put_varint(Mutation *m, uint64_t v)
{
    uint8_t bytes[MOST_VARINT];
    size_t n = 0;
    for (; v > 127; v >>= 7) bytes[n++] = (uint8_t)(v | 128);
    bytes[n++] = (uint8_t)v;
    put(m, bytes, n);
}

static void put_fixed(Mutation *m, uint64_t v, int count)
{
    for (int i = 0; i < count; i++) put(m, &(uint8_t){ (uint8_t)(v >> (8 * i)) }, 1);
}

/* A number as people and trainers like it, or one at the edge of something. */
static uint64_t draw_number(Mutation *m, uint64_t old)
{
    static const int64_t edges[] = { 0,         1,         2,    3,     4,     7,       8,        16,        64,
                                     255,       256,       1000, 32767, 65536, 1 << 20, 1 << 30,  INT32_MAX, UINT32_MAX,
                                     INT64_MAX, INT64_MIN, -1,   -2,    -3,    -128,    INT32_MIN };
    switch (draw(m, 4)) {
    case 0: return old + 1;
    case 1: return old - 1;
    case 2: return draw(m, 20);
    default: return (uint64_t)edges[draw(m, sizeof edges / sizeof edges[0])];
    }
}

static void put_leaf(Mutation *m, Cursor bytes, bool is_changed)
{
    size_t n = cursor_left(&bytes), room = n + 64;
    uint8_t *content = malloc(room);
    if (!content) return;
    memcpy(content, bytes.at, n);
    if (is_changed) n = m->leaf(content, n, room);
    put_varint(m, n);
    put(m, content, n);
    free(content);
}

static void put_fields(Mutation *m, Cursor message, Kind in, int depth);

/* The length precedes the content and is known after it: the content moves up for it. */
static void put_message(Mutation *m, Cursor message, Kind kind, int depth)
{
    size_t at = m->count;
    put_fields(m, message, kind, depth);
    size_t end = m->count, length = end - at;
    put_varint(m, length);
    if (m->is_full) return;
    uint8_t prefix[MOST_VARINT];
    size_t n = m->count - end;
    memcpy(prefix, m->to + end, n);
    memmove(m->to + at + n, m->to + at, length);
    memcpy(m->to + at, prefix, n);
}

static void put_field(Mutation *m, Field f, Kind in, int depth, bool is_changed)
{
    Kind kind = f.wire == WIRE_BYTES && depth < MOST_DEPTH ? kind_of(in, f.number) : LEAF;
    put_varint(m, f.number << 3 | (uint64_t)f.wire);
    if (f.wire != WIRE_BYTES && is_changed) f.value = draw_number(m, f.value);
    if (f.wire == WIRE_VARINT) put_varint(m, f.value);
    else if (f.wire == WIRE_64) put_fixed(m, f.value, 8);
    else if (f.wire == WIRE_32) put_fixed(m, f.value, 4);
    else if (kind == LEAF) put_leaf(m, f.bytes, is_changed);
    else put_message(m, f.bytes, kind, depth + 1);
}

static void put_fields(Mutation *m, Cursor message, Kind in, int depth)
{
    for (Field f; !m->is_full && proto_next(&message, &f);) {
        bool is_target = m->seen++ == m->target;
        if (is_target && m->change == CHANGE_REMOVE) {
            m->seen = INT32_MIN;      /* its contents are skipped; nothing else changes */
            continue;
        }
        if (is_target && m->change == CHANGE_COPY && m->donated.wire == f.wire) {
            f.value = m->donated.value;
            f.bytes = m->donated.bytes;
            m->seen = INT32_MIN;
        }
        put_field(m, f, in, depth, is_target && m->change == CHANGE_CONTENT);
        if (!is_target || m->change != CHANGE_DOUBLE) continue;
        m->seen = INT32_MIN;
        put_field(m, f, in, depth, false);
    }
}

size_t proto_mutate(uint8_t *at, size_t count, size_t room, uint32_t seed, ProtoLeaf *leaf)
{
    Mutation m = { .random = seed, .leaf = leaf, .room = room, .donor = -1 };
    Cursor message = cursor_new(at, count);
    count_fields(&m, message, MODEL, 0);
    if (!m.seen || !(m.to = malloc(room))) return count;
    m.target = (int)draw(&m, (uint32_t)m.seen);
    m.donor = (int)draw(&m, (uint32_t)m.seen);
    m.change = (Change)draw(&m, CHANGE_COUNT);
    m.seen = 0;
    count_fields(&m, message, MODEL, 0);      /* again, now that the donor is known */
    m.seen = 0;
    put_fields(&m, message, MODEL, 0);
    if (!m.is_full) memcpy(at, m.to, m.count);
    free(m.to);
    return m.is_full ? count : m.count;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

typedef struct Marks { const uint8_t *from; size_t least; uint8_t *mark; } Marks;

static void mark_fields(const Marks *m, Cursor message, Kind in, int depth)
{
    for (Field f; proto_next(&message, &f);) {
        if (f.wire != WIRE_BYTES) continue;
        const Kind kind = depth < MOST_DEPTH ? kind_of(in, f.number) : LEAF;
        const size_t count = cursor_left(&f.bytes);
        if (kind != LEAF) mark_fields(m, f.bytes, kind, depth + 1);
        else if (count >= m->least) memset(m->mark + (f.bytes.at - m->from), 1, count);
    }
}

void proto_mark_leaves(const uint8_t *at, size_t count, size_t least, uint8_t *mark)
{
    const Marks m = { at, least, mark };
    mark_fields(&m, cursor_new(at, count), MODEL, 0);
}
