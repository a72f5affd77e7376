/* SPDX-License-Identifier: MIT */
#include "import/formats/flatbuffer.h"

#include <string.h>

#include "support/cursor.h"
#include "support/names.h"

static const FlatTable absent_table = { 0 };
static const FlatVector absent_vector = { 0 };

/* Returns true if the `count` bytes at `at` are inside the file; otherwise sets `bad`. */
static bool reaches(FlatFile *f, size_t at, size_t count)
{
    if (at <= f->bytes.count && count <= f->bytes.count - at) return true;
    f->bad = true;
    return false;
}

static uint64_t bits_at(FlatFile *f, size_t at, int bytes)
{
    if (!reaches(f, at, (size_t)bytes)) return 0;
    Cursor c = cursor_new(f->bytes.at + at, (size_t)bytes);
    switch (bytes) {
    case 1:  return cursor_u8(&c);
    case 2:  return cursor_u16(&c);
    case 4:  return cursor_u32(&c);
    default: return cursor_u64(&c);
    }
}

static int64_t signed_at(FlatFile *f, size_t at, int bytes)
{
    uint64_t u = bits_at(f, at, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    if (!(u & sign)) return (int64_t)u;
    return (int64_t)(u - sign) + (bytes == 8 ? INT64_MIN : -(int64_t)sign);
}

static float float_at(FlatFile *f, size_t at)
{
    uint32_t bits = (uint32_t)bits_at(f, at, 4);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Returns the target of the unsigned offset stored at `at`; if the target is outside the file, sets `bad` and returns
 * 0. */
static size_t follow(FlatFile *f, size_t at)
{
    uint64_t offset = bits_at(f, at, 4);
    if (!f->bad && offset >= 4 && offset <= f->bytes.count - at) return at + (size_t)offset;
    f->bad = true;
    return 0;
}

static FlatTable table_at(FlatFile *f, size_t at)
{
    enum { VTABLE_HEAD = 4 };
    int64_t back = signed_at(f, at, 4), vtable = (int64_t)at - back;
    if (f->bad || vtable < 0 || !reaches(f, (size_t)vtable, VTABLE_HEAD)) {
        f->bad = true;
        return absent_table;
    }
    size_t own = (size_t)bits_at(f, (size_t)vtable, 2), size = (size_t)bits_at(f, (size_t)vtable + 2, 2);
    if (own < VTABLE_HEAD || own % 2 || size < 4 || !reaches(f, (size_t)vtable, own) || !reaches(f, at, size)) {
        f->bad = true;
        return absent_table;
    }
    return (FlatTable){ f, at, at + size, (size_t)vtable + VTABLE_HEAD, (int)(own - VTABLE_HEAD) / 2 };
}

FlatTable flat_root(FlatFile *f, const char *identifier)
{
    if (!reaches(f, 0, 8) || memcmp(f->bytes.at + 4, identifier, 4) != 0) {
        f->bad = true;
        return absent_table;
    }
    size_t at = follow(f, 0);
    return at ? table_at(f, at) : absent_table;
}

/* Returns the offset of the field's `bytes`, or 0 if the field is absent. */
static size_t field_offset(const FlatTable *t, int field, size_t bytes)
{
    size_t offset = field < t->fields ? (size_t)bits_at(t->file, t->vtable + 2 * (size_t)field, 2) : 0;
    if (!offset) return 0;
    if (offset >= 4 && offset + bytes <= t->end - t->at) return t->at + offset;
    t->file->bad = true;
    return 0;
}

bool flat_has(const FlatTable *t, int field) { return field_offset(t, field, 1) != 0; }

int64_t flat_int(const FlatTable *t, int field, int bytes, int64_t otherwise)
{
    size_t at = field_offset(t, field, (size_t)bytes);
    return at ? signed_at(t->file, at, bytes) : otherwise;
}

float flat_float(const FlatTable *t, int field, float otherwise)
{
    size_t at = field_offset(t, field, 4);
    return at ? float_at(t->file, at) : otherwise;
}

FlatTable flat_table(const FlatTable *t, int field)
{
    size_t at = field_offset(t, field, 4), to = at ? follow(t->file, at) : 0;
    return to ? table_at(t->file, to) : absent_table;
}

FlatVector flat_vector(const FlatTable *t, int field, int size)
{
    size_t at = field_offset(t, field, 4), to = at ? follow(t->file, at) : 0;
    size_t count = to ? (size_t)bits_at(t->file, to, 4) : 0;
    if (!to || t->file->bad) return absent_vector;
    if (count <= (t->file->bytes.count - to - 4) / (size_t)size) return (FlatVector){ t->file, to + 4, count, size };
    t->file->bad = true;
    return absent_vector;
}

const char *flat_text(Ctx *cx, const FlatTable *t, int field)
{
    FlatVector v = flat_vector(t, field, 1);
    if (!v.count) return "";
    const char *text = (const char *)v.file->bytes.at + v.at, *nul = memchr(text, '\0', v.count);
    return name_n(cx, text, nul ? (size_t)(nul - text) : v.count);
}

int64_t flat_int_at(const FlatVector *v, size_t i) { return signed_at(v->file, v->at + i * (size_t)v->size, v->size); }
float flat_float_at(const FlatVector *v, size_t i) { return float_at(v->file, v->at + i * 4); }

FlatTable flat_table_at(const FlatVector *v, size_t i)
{
    size_t at = follow(v->file, v->at + i * 4);
    return at ? table_at(v->file, at) : absent_table;
}
