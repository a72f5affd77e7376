/* SPDX-License-Identifier: MIT */
/* Writes protocol buffers: see protobuf_write.h. */
#include "import/formats/protobuf_write.h"

#include <string.h>

#include "import/formats/protobuf.h"

Message message_new(Ctx *cx) { return (Message){ .cx = cx }; }

static void put(Message *m, const void *bytes, size_t count)
{
    if (m->count + count > m->capacity) {
        m->capacity = 2 * (m->count + count) + 64;
        uint8_t *more = arena_alloc(m->cx->arena, m->capacity);
        if (m->count) memcpy(more, m->at, m->count);
        m->at = more;
    }
    if (count) memcpy(m->at + m->count, bytes, count);
    m->count += count;
}

static void put_varint(Message *m, uint64_t v)
{
    do {
        const uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        put(m, &byte, 1);
    } while (v >>= 7);
}

static void put_tag(Message *m, int number, WireType wire) { put_varint(m, (uint64_t)number << 3 | (uint64_t)wire); }

void message_int(Message *m, int number, int64_t v)
{
    put_tag(m, number, WIRE_VARINT);
    put_varint(m, (uint64_t)v);
}

void message_float(Message *m, int number, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint8_t little[4] = { (uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24) };
    put_tag(m, number, WIRE_32);
    put(m, little, sizeof little);
}

void message_bytes(Message *m, int number, const void *bytes, size_t count)
{
    put_tag(m, number, WIRE_BYTES);
    put_varint(m, count);
    put(m, bytes, count);
}

void message_text(Message *m, int number, const char *text) { message_bytes(m, number, text, strlen(text)); }
void message_nested(Message *m, int number, const Message *inner) { message_bytes(m, number, inner->at, inner->count); }
