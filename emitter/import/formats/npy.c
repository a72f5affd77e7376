/* SPDX-License-Identifier: MIT */
/* Reads and writes .npy files. A .npy file is a magic string, a version, the header's length, the header and the
 * elements. The header is the text of a Python dictionary, padded with spaces to a multiple of 64 bytes and ended by a
 * newline:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The file is not trusted: its size must equal the header's claim to the byte, and this is checked before any
 * allocation. */
#include "import/formats/npy.h"

#include <string.h>

#include "import/formats/contents.h"
#include "support/cursor.h"
#include "support/file.h"
#include "support/text.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, HEADER_ALIGN = 64, GROWN_DIGITS = 21 };

/* The element types, by numpy's letter and size; numpy has no BF16. */
static const struct { DType type; char letter; int bytes; } codes[] = {
    { BOOL, 'b', 1 }, { I8, 'i', 1 }, { I16, 'i', 2 }, { I32, 'i', 4 }, { I64, 'i', 8 },
    { U8,  'u', 1 },  { U16, 'u', 2 }, { U32, 'u', 4 }, { U64, 'u', 8 },
    { F16, 'f', 2 },  { F32, 'f', 4 }, { F64, 'f', 8 },
};
enum { CODE_COUNT = sizeof codes / sizeof codes[0] };

typedef struct Header { NpyHead of; int seen; } Header;
enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

/* ---- The header -------------------------------------------------------------------------------------------------- */

typedef struct HeaderCursor { Ctx *cx; const char *path; Cursor at; } HeaderCursor;

static bool bad(HeaderCursor *r, const char *what)
{
    diag_error(r->cx, NULL, "\"%s\" is not a .npy file that can be read: %s", r->path, what);
    return false;
}

static int peek(const Cursor *c) { return cursor_left(c) ? *c->at : -1; }

static int after_spaces(Cursor *c)
{
    while (peek(c) == ' ' || peek(c) == '\n' || peek(c) == '\t') cursor_u8(c);
    return peek(c);
}

static bool take(Cursor *c, int expected)
{
    if (after_spaces(c) != expected) return false;
    cursor_u8(c);
    return true;
}

static bool take_word(Cursor *c, const char *word)
{
    const size_t n = strlen(word);
    after_spaces(c);
    if (cursor_left(c) < n || memcmp(c->at, word, n) != 0) return false;
    cursor_take(c, n);
    return true;
}

/* Reads a quoted string of fewer than `capacity` characters. */
static bool take_string(Cursor *c, char *out, size_t capacity)
{
    const int quote = after_spaces(c);
    size_t n = 0;
    if (quote != '\'' && quote != '"') return false;
    cursor_u8(c);
    for (int ch; (ch = cursor_u8(c)) != quote; out[n++] = (char)ch)
        if (c->bad || n + 1 == capacity) return false;
    out[n] = 0;
    return true;
}

static bool take_number(Cursor *c, int64_t *out)
{
    int digits = 0;
    *out = 0;
    for (after_spaces(c); peek(c) >= '0' && peek(c) <= '9'; digits++) {
        if (*out > INT32_MAX) return false;
        *out = *out * 10 + cursor_u8(c) - '0';
    }
    if (peek(c) == 'L') cursor_u8(c);   /* Python 2 writes long integers with this suffix */
    return digits > 0 && *out <= INT32_MAX;
}

static bool read_descr(HeaderCursor *r, Header *h)
{
    char descr[16];
    if (!take_string(&r->at, descr, sizeof descr))
        return bad(r, "'descr' is not a simple type; use a string such as '<f4'");
    const char *order = strchr("<>|=", descr[0]);
    const bool is_short = descr[0] && order && descr[1] && descr[2] && !descr[3];
    for (int i = 0; i < CODE_COUNT && is_short; i++) {
        if (descr[1] != codes[i].letter && !(codes[i].type == BOOL && descr[1] == '?')) continue;
        if (descr[2] - '0' != codes[i].bytes) continue;
        h->of.type = codes[i].type;
        h->of.is_big_endian = descr[0] == '>';
        h->seen |= SEEN_DESCR;
        return true;
    }
    Text accepted = text_new(r->cx);
    for (int i = 0; i < CODE_COUNT; i++)
        text_printf(&accepted, "%s%c%d", i ? ", " : "", codes[i].letter, codes[i].bytes);
    return bad(r, text_format(r->cx, "the type '%s' is unsupported; use %s", descr, text_string(&accepted)));
}

static bool read_order(HeaderCursor *r, Header *h)
{
    h->of.is_fortran = take_word(&r->at, "True");
    h->seen |= SEEN_ORDER;
    return h->of.is_fortran || take_word(&r->at, "False") || bad(r, "'fortran_order' is neither True nor False");
}

static bool read_shape(HeaderCursor *r, Header *h)
{
    if (!take(&r->at, '(')) return bad(r, "'shape' is not a tuple; write a tuple such as (2, 3)");
    while (!take(&r->at, ')')) {
        if (h->of.rank == MAX_RANK)
            return bad(r, text_format(r->cx, "its 'shape' has more than %d dimensions, the most accepted", MAX_RANK));
        if (!take_number(&r->at, &h->of.shape[h->of.rank++]))
            return bad(r, text_format(r->cx, "dimension %d is not a number below 2^31", h->of.rank - 1));
        if (!take(&r->at, ',') && after_spaces(&r->at) != ')') return bad(r, "'shape' is not a tuple of numbers");
    }
    h->seen |= SEEN_SHAPE;
    return true;
}

static bool read_header(HeaderCursor *r, Header *h)
{
    char key[16];
    if (!take(&r->at, '{')) return bad(r, "its header is not a dictionary");
    while (!take(&r->at, '}')) {
        if (!take_string(&r->at, key, sizeof key) || !take(&r->at, ':'))
            return bad(r, "its header is not a dictionary");
        bool done = strcmp(key, "descr") == 0 ? read_descr(r, h)
                  : strcmp(key, "fortran_order") == 0 ? read_order(r, h)
                  : strcmp(key, "shape") == 0 && !(h->seen & SEEN_SHAPE) ? read_shape(r, h)
                  : bad(r, text_format(r->cx, "its header has the unknown or repeated key '%s'", key));
        if (!done) return false;
        if (!take(&r->at, ',') && after_spaces(&r->at) != '}') return bad(r, "its header is not a dictionary");
    }
    return h->seen == SEEN_ALL
           || bad(r, text_format(r->cx, "its header lacks '%s'", !(h->seen & SEEN_DESCR)   ? "descr"
                                                                 : !(h->seen & SEEN_ORDER) ? "fortran_order"
                                                                                           : "shape"));
}

/* ---- The elements ------------------------------------------------------------------------------------------------ */

static uint64_t read_element(Cursor *c, int bytes, bool is_big_endian)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) {
        const uint64_t byte = cursor_u8(c);
        v = is_big_endian ? v << 8 | byte : v | byte << (8 * i);
    }
    return v;
}

static void put_element(void *data, int64_t at, int bytes, uint64_t v)
{
    const uint8_t b = (uint8_t)v;
    const uint16_t h = (uint16_t)v;
    const uint32_t w = (uint32_t)v;
    char *to = (char *)data + at * bytes;
    switch (bytes) {
    case 1: memcpy(to, &b, 1); break;
    case 2: memcpy(to, &h, 2); break;
    case 4: memcpy(to, &w, 4); break;
    case 8: memcpy(to, &v, 8); break;
    }
}

static uint64_t get_element(const void *data, int64_t at, int bytes)
{
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t v = 0;
    const char *from = (const char *)data + at * bytes;
    switch (bytes) {
    case 1: memcpy(&b, from, 1); return b;
    case 2: memcpy(&h, from, 2); return h;
    case 4: memcpy(&w, from, 4); return w;
    case 8: memcpy(&v, from, 8); return v;
    }
    return v;
}

/* Returns the row-major index of element i in Fortran order, where the first index varies fastest. */
static int64_t from_fortran(const NpyHead *h, int64_t i)
{
    int64_t at = 0, stride = 1, index[MAX_RANK];
    for (int d = 0; d < h->rank; d++) {
        index[d] = i % h->shape[d];
        i /= h->shape[d];
    }
    for (int d = h->rank - 1; d >= 0; d--) {
        at += index[d] * stride;
        stride *= h->shape[d];
    }
    return at;
}

/* Counts the elements and compares them with the bytes that follow the header. */
static bool count_elements(HeaderCursor *r, NpyHead *h, uint64_t available)
{
    const int bytes = dtype_info(h->type)->bytes;
    bool is_empty = false, is_huge = false;
    h->elems = 1;
    for (int d = 0; d < h->rank; d++) is_empty = is_empty || h->shape[d] == 0;
    for (int d = 0; d < h->rank && !is_empty && !is_huge; d++) {
        is_huge = h->elems > INT32_MAX / h->shape[d];
        h->elems *= h->shape[d];
    }
    if (is_empty) h->elems = 0;
    const uint64_t expected = (uint64_t)h->elems * (uint64_t)bytes;
    if (is_huge) return bad(r, "its shape has 2^31 elements or more; use fewer elements");
    if (expected != available)
        return bad(r, text_format(r->cx, "its shape needs %llu bytes but %llu follow the header",
                                  (unsigned long long)expected, (unsigned long long)available));
    return true;
}

bool npy_head(Ctx *cx, const char *path, Bytes start, uint64_t size, NpyHead *out)
{
    if (ctx_failed(cx)) return false;
    HeaderCursor r = { cx, path, cursor_new(start.at, start.count) };
    Header h = { .seen = 0 };
    const Cursor magic = cursor_take(&r.at, MAGIC_BYTES);
    if (magic.bad || memcmp(magic.at, MAGIC, MAGIC_BYTES) != 0) {
        const Contents *c = contents_of(start);
        return bad(&r, c ? text_format(cx, "it is %s", c->what) : "it does not start with the magic bytes of one");
    }
    const int major = cursor_u8(&r.at), minor = cursor_u8(&r.at);
    if (major < 1 || major > 3 || minor != 0)
        return bad(&r, text_format(cx, "its version is %d.%d; use a version from 1.0 to 3.0", major, minor));
    const uint32_t length = major == 1 ? cursor_u16(&r.at) : cursor_u32(&r.at);
    HeaderCursor header = { cx, path, cursor_take(&r.at, length) };
    if (r.at.bad)
        return bad(&r, start.count < size ? text_format(cx, "its header is longer than %d bytes", NPY_HEAD_BYTES)
                                          : "the file ends inside its header");
    if (!read_header(&header, &h)) return false;
    h.of.begin = r.at.at - start.at;
    *out = h.of;
    return count_elements(&r, out, size - (uint64_t)h.of.begin);
}

static void convert(const NpyHead *h, Bytes from, int64_t count, bool is_fortran, void *to)
{
    const int bytes = dtype_info(h->type)->bytes;
    Cursor c = cursor_new(from.at, from.count);
    for (int64_t i = 0; i < count; i++) {
        uint64_t v = read_element(&c, bytes, h->is_big_endian);
        if (h->type == BOOL) v = v != 0;
        put_element(to, is_fortran ? from_fortran(h, i) : i, bytes, v);
    }
}

void npy_elements(const NpyHead *h, Bytes from, int64_t count, void *to)
{
    const uint16_t one = 1;
    const bool is_host_big_endian = *(const uint8_t *)&one == 0;
    if (h->type == BOOL || h->is_big_endian != is_host_big_endian) convert(h, from, count, false, to);
    else if (to != from.at) memcpy(to, from.at, (size_t)count * (size_t)dtype_info(h->type)->bytes);
}

bool npy_parse(Ctx *cx, const char *path, Bytes file, DType *type, int *rank, int64_t *shape, void **data)
{
    NpyHead h;
    if (!npy_head(cx, path, file, file.count, &h)) return false;
    *data = arena_array(cx->arena, (size_t)h.elems, (size_t)dtype_info(h.type)->bytes);
    if (ctx_failed(cx)) return false;
    convert(&h, (Bytes){ file.at + h.begin, file.count - (size_t)h.begin }, h.elems, h.is_fortran, *data);
    *type = h.type;
    *rank = h.rank;
    memcpy(shape, h.shape, (size_t)h.rank * sizeof *shape);
    return true;
}

bool npy_read(Ctx *cx, const char *path, DType *type, int *rank, int64_t *shape, void **data)
{
    return npy_parse(cx, path, file_read(cx, path), type, rank, shape, data);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static const char *descr_of(Ctx *cx, DType t)
{
    for (int i = 0; i < CODE_COUNT; i++)
        if (codes[i].type == t)
            return text_format(cx, "%c%c%d", codes[i].bytes == 1 ? '|' : '<', codes[i].letter, codes[i].bytes);
    return "<f4";
}

/* Prints the header as numpy does: with GROWN_DIGITS spare digits, so that the first dimension can grow in place, and
 * with HEADER_ALIGN bytes of padding if the header is already aligned. */
static const char *header_text(Ctx *cx, DType type, int rank, const int64_t *shape)
{
    Text t = text_new(cx);
    text_printf(&t, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(cx, type));
    for (int d = 0; d < rank; d++) text_printf(&t, d ? ", %lld" : "%lld", (long long)shape[d]);
    text_add(&t, rank == 1 ? ",), }" : "), }");
    if (rank) text_spaces(&t, GROWN_DIGITS - (int)strlen(text_format(cx, "%lld", (long long)shape[0])));
    const size_t unpadded = MAGIC_BYTES + 4 + t.length + 1;
    text_spaces(&t, (int)(HEADER_ALIGN - unpadded % HEADER_ALIGN));
    text_char(&t, '\n');
    return text_string(&t);
}

/* Appends the elements in little-endian order. */
static void add_elements(Text *t, DType type, int64_t elems, const void *data)
{
    const int bytes = type == BF16 ? 4 : dtype_info(type)->bytes;
    for (int64_t i = 0; i < elems; i++) {
        float wide = type == BF16 ? (float)dtype_load(BF16, data, i).f : 0;
        const uint64_t v = type == BF16 ? get_element(&wide, 0, 4) : get_element(data, i, bytes);
        for (int b = 0; b < bytes; b++) text_char(t, (char)(uint8_t)(v >> (8 * b)));
    }
}

Bytes npy_bytes(Ctx *cx, DType type, int rank, const int64_t *shape, const void *data)
{
    const char *header = header_text(cx, type, rank, shape);
    const size_t length = strlen(header);
    int64_t elems = 1;
    for (int d = 0; d < rank; d++) elems *= shape[d];
    Text t = text_new(cx);
    text_addn(&t, MAGIC, MAGIC_BYTES);
    text_addn(&t, "\1\0", 2);
    text_char(&t, (char)(uint8_t)(length & 0xff));
    text_char(&t, (char)(uint8_t)(length >> 8));
    text_add(&t, header);
    add_elements(&t, type, elems, data);
    return (Bytes){ (const uint8_t *)t.at, t.length };
}

bool npy_write(Ctx *cx, const char *path, DType type, int rank, const int64_t *shape, const void *data)
{
    if (ctx_failed(cx)) return false;
    const Bytes file = npy_bytes(cx, type, rank, shape, data);
    return file_write(cx, path, file.at, file.count);
}
