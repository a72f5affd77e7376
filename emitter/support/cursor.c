/* SPDX-License-Identifier: MIT */
#include "support/cursor.h"

Cursor cursor_new(const void *bytes, size_t count)
{
    static const uint8_t none[1] = { 0 };
    const uint8_t *p = count ? bytes : none;
    return (Cursor){ p, p + count, false };
}

size_t cursor_left(const Cursor *c) { return (size_t)(c->end - c->at); }

uint8_t cursor_u8(Cursor *c)
{
    if (c->at < c->end) return *c->at++;
    c->bad = true;
    return 0;
}

static uint64_t little_endian(Cursor *c, int bytes)
{
    uint64_t v = 0;
    if (cursor_left(c) < (size_t)bytes) {
        c->at = c->end;
        c->bad = true;
        return 0;
    }
    for (int i = 0; i < bytes; i++) v |= (uint64_t)*c->at++ << (8 * i);
    return v;
}

uint16_t cursor_u16(Cursor *c) { return (uint16_t)little_endian(c, 2); }
uint32_t cursor_u32(Cursor *c) { return (uint32_t)little_endian(c, 4); }
uint64_t cursor_u64(Cursor *c) { return little_endian(c, 8); }

uint64_t cursor_varint(Cursor *c)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(c);
        if (shift < 64) v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    c->bad = true;
    return 0;
}

Cursor cursor_take(Cursor *c, uint64_t count)
{
    if (count > cursor_left(c)) {
        c->at = c->end;
        c->bad = true;
        return (Cursor){ c->end, c->end, true };
    }
    Cursor part = { c->at, c->at + count, false };
    c->at += count;
    return part;
}
