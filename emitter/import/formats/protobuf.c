/* SPDX-License-Identifier: MIT */
#include "import/formats/protobuf.h"

#include <string.h>

#include "support/names.h"

bool proto_next(Cursor *m, Field *out)
{
    if (m->bad || !cursor_left(m)) return false;
    uint64_t tag = cursor_varint(m);
    *out = (Field){ .number = tag >> 3, .wire = (WireType)(tag & 7) };
    switch (out->wire) {
    case WIRE_VARINT: out->value = cursor_varint(m); break;
    case WIRE_64:     out->value = cursor_u64(m); break;
    case WIRE_32:     out->value = cursor_u32(m); break;
    case WIRE_BYTES:  out->bytes = cursor_take(m, cursor_varint(m)); break;
    default:          m->bad = true;      /* refuses deprecated groups, and undefined wire types */
    }
    if (out->number == 0) m->bad = true;
    return !m->bad;
}

bool proto_number(Field *f, WireType packed, uint64_t *out)
{
    if (f->wire != WIRE_BYTES) {
        *out = f->value;
        bool first = f->number != 0;      /* the number 0 marks that the field's only value has been read */
        f->number = 0;
        return first;
    }
    if (f->bytes.bad || !cursor_left(&f->bytes)) return false;
    *out = packed == WIRE_VARINT ? cursor_varint(&f->bytes)
           : packed == WIRE_64   ? cursor_u64(&f->bytes)
                                 : cursor_u32(&f->bytes);
    return !f->bytes.bad;
}

float proto_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

double proto_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

const char *proto_text(Ctx *cx, const Field *f)
{
    const void *nul = memchr(f->bytes.at ? f->bytes.at : (const uint8_t *)"", 0, cursor_left(&f->bytes));
    size_t length = nul ? (size_t)((const uint8_t *)nul - f->bytes.at) : cursor_left(&f->bytes);
    return length ? name_n(cx, (const char *)f->bytes.at, length) : name(cx, "");
}

bool proto_malformed(Ctx *cx, const Cursor *c, const char *where)
{
    if (c->bad)
        diag_error(cx, where, "the file is damaged or truncated here: this is not a well-formed protobuf message");
    return c->bad || ctx_failed(cx);
}

int proto_fields(Cursor message, uint64_t number)
{
    int n = 0;
    for (Field f; proto_next(&message, &f);) n += f.number == number && f.wire == WIRE_BYTES;
    return n;
}

size_t proto_numbers(Cursor message, uint64_t number, WireType packed)
{
    size_t n = 0;
    uint64_t value;
    for (Field f; proto_next(&message, &f);)
        if (f.number == number)
            while (proto_number(&f, packed, &value)) n++;
    return n;
}
