/* SPDX-License-Identifier: MIT */
#include "import/formats/flexbuffer.h"

#include <string.h>

#include "support/cursor.h"

enum { KIND_INT = 1, KIND_UINT = 2, KIND_FLOAT = 3, KIND_INDIRECT_INT = 6, KIND_INDIRECT_FLOAT = 8, KIND_MAP = 9,
       KIND_BOOL = 26, MOST_KEYS = 256 };

static bool is_width(uint64_t w) { return w == 1 || w == 2 || w == 4 || w == 8; }

/* Reads `width` bytes; returns false if they are outside the data. */
static bool bits_at(Bytes b, size_t at, int width, uint64_t *out)
{
    if (at > b.count || (size_t)width > b.count - at) return false;
    Cursor c = cursor_new(b.at + at, (size_t)width);
    *out = width == 1 ? cursor_u8(&c) : width == 2 ? cursor_u16(&c) : width == 4 ? cursor_u32(&c) : cursor_u64(&c);
    return true;
}

/* Follows the offset stored at `at`. */
static bool follow(Bytes b, size_t at, int width, size_t *out)
{
    uint64_t back;
    if (!bits_at(b, at, width, &back) || back > at) return false;
    *out = at - (size_t)back;
    return true;
}

bool flex_map(Bytes bytes, FlexMap *out)
{
    uint64_t root_width, type, key_width;
    size_t at;
    *out = (FlexMap){ .bytes = bytes };
    if (bytes.count < 3 || !bits_at(bytes, bytes.count - 1, 1, &root_width)
        || !bits_at(bytes, bytes.count - 2, 1, &type) || !is_width(root_width) || bytes.count < 2 + root_width)
        return false;
    if (type >> 2 != KIND_MAP || !follow(bytes, bytes.count - 2 - (size_t)root_width, (int)root_width, &at))
        return false;
    const int width = 1 << (type & 3);
    if (at < 3 * (size_t)width || !bits_at(bytes, at - (size_t)width, width, &out->count)
        || !bits_at(bytes, at - 2 * (size_t)width, width, &key_width) || !is_width(key_width)
        || !follow(bytes, at - 3 * (size_t)width, width, &out->keys))
        return false;
    out->values = at;
    out->width = width;
    out->key_width = (int)key_width;
    return out->count <= MOST_KEYS && out->count * (uint64_t)(width + 1) <= bytes.count - at;
}

const char *flex_key(const FlexMap *m, uint64_t i)
{
    size_t at;
    if (!follow(m->bytes, m->keys + (size_t)i * (size_t)m->key_width, m->key_width, &at)
        || !memchr(m->bytes.at + at, '\0', m->bytes.count - at))
        return NULL;
    return (const char *)m->bytes.at + at;
}

static int64_t signed_of(uint64_t bits, int width)
{
    const uint64_t sign = UINT64_C(1) << (8 * width - 1);
    if (!(bits & sign)) return (int64_t)bits;
    return width == 8 ? -(int64_t)~bits - 1 : (int64_t)bits - (int64_t)(2 * sign);
}

static bool real_of(uint64_t bits, int width, double *out)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    memcpy(&single, &low, sizeof single);
    if (width == 4) *out = (double)single;
    else if (width == 8) memcpy(out, &bits, sizeof *out);
    return width >= 4;
}

bool flex_number_at(const FlexMap *m, uint64_t i, FlexNumber *out)
{
    uint64_t type, bits;
    size_t at = m->values + (size_t)i * (size_t)m->width;
    int width = m->width;
    *out = (FlexNumber){ 0 };
    if (!bits_at(m->bytes, m->values + (size_t)m->count * (size_t)m->width + (size_t)i, 1, &type)) return false;
    int kind = (int)(type >> 2);
    if (kind >= KIND_INDIRECT_INT && kind <= KIND_INDIRECT_FLOAT) {
        if (!follow(m->bytes, at, width, &at)) return false;
        width = 1 << (type & 3);
        kind -= KIND_INDIRECT_INT - KIND_INT;
    }
    if (!bits_at(m->bytes, at, width, &bits)) return false;
    out->is_real = kind == KIND_FLOAT;
    if (kind == KIND_FLOAT) return real_of(bits, width, &out->real);
    out->integer = kind == KIND_INT ? signed_of(bits, width) : (int64_t)(bits & INT64_MAX);
    out->real = (double)out->integer;
    return kind == KIND_INT || kind == KIND_UINT || kind == KIND_BOOL;
}

static bool number_of(const FlexMap *m, const char *key, FlexNumber *out)
{
    for (uint64_t i = 0; i < m->count; i++) {
        const char *found = flex_key(m, i);
        if (found && strcmp(found, key) == 0) return flex_number_at(m, i, out);
    }
    return false;
}

bool flex_int(const FlexMap *m, const char *key, int64_t *out)
{
    FlexNumber number;
    if (!number_of(m, key, &number) || number.is_real) return false;
    *out = number.integer;
    return true;
}

bool flex_real(const FlexMap *m, const char *key, double *out)
{
    FlexNumber number;
    if (!number_of(m, key, &number)) return false;
    *out = number.real;
    return true;
}
