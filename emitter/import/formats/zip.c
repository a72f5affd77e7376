/* SPDX-License-Identifier: MIT */
/* Finds entries through the central directory at the file's end, and reads only the length of a local header. The file
 * is not trusted: every range in the directory must be inside the file, and unpacked data must match its checksum. */
#include "import/formats/zip.h"

#include "support/cursor.h"
#include "import/formats/inflate.h"
#include "support/names.h"
#include "support/text.h"

enum { END_MARK = 0x06054b50, ENTRY_MARK = 0x02014b50, LOCAL_MARK = 0x04034b50, END_BYTES = 22, MOST_COMMENT = 65535 };
/* MOST_RATIO: the largest compression ratio of deflate */
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, MOST_ENTRIES = 65534, MOST_RATIO = 1032 };

static bool refuse(Ctx *cx, const char *path, const char *what)
{
    diag_error(cx, NULL, "\"%s\" is not a zip archive that can be read: %s", path, what);
    return false;
}

/* Finds the end record, which only a comment may follow; returns the directory's entry count and offset. */
static bool find_end(Bytes file, int *count, uint64_t *offset)
{
    for (size_t comment = 0; comment <= MOST_COMMENT && comment + END_BYTES <= file.count; comment++) {
        Cursor c = cursor_new(file.at + file.count - END_BYTES - comment, END_BYTES);
        if (cursor_u32(&c) != END_MARK) continue;
        cursor_take(&c, 6);
        *count = cursor_u16(&c);
        cursor_take(&c, 4);
        *offset = cursor_u32(&c);
        if (cursor_u16(&c) == comment) return true;
    }
    return false;
}

static bool read_entry(Ctx *cx, const char *path, Cursor *c, ZipEntry *e)
{
    if (cursor_u32(c) != ENTRY_MARK) return refuse(cx, path, "its directory is damaged or truncated");
    cursor_take(c, 4);
    const int flags = cursor_u16(c);
    e->method = cursor_u16(c);
    cursor_take(c, 4);
    e->crc = cursor_u32(c);
    e->packed = cursor_u32(c);
    e->size = cursor_u32(c);
    const int name_bytes = cursor_u16(c), extra_bytes = cursor_u16(c), comment_bytes = cursor_u16(c);
    cursor_take(c, 8);
    e->offset = cursor_u32(c);
    const Cursor text = cursor_take(c, (uint64_t)name_bytes);
    cursor_take(c, (uint64_t)(extra_bytes + comment_bytes));
    if (c->bad) return refuse(cx, path, "its directory is damaged or truncated");
    e->name = name_n(cx, (const char *)text.at, cursor_left(&text));
    if (flags & ENCRYPTED)
        return refuse(cx, path,
                      text_format(cx, "\"%s\" is encrypted; save the archive without a password", e->name));
    return true;
}

/* Returns a part of the archive, or no bytes if the part exceeds the archive. */
static Bytes range_of(Ctx *cx, const Zip *z, uint64_t offset, uint64_t count)
{
    const Bytes none = { (const uint8_t *)"", 0 };
    if (offset > z->size || count > z->size - offset) return none;
    if (z->file.at) return (Bytes){ z->file.at + offset, (size_t)count };
    uint8_t *to = arena_alloc(cx->arena, (size_t)count);
    return file_read_part(cx, z->path, (int64_t)offset, to, (size_t)count) ? (Bytes){ to, (size_t)count } : none;
}

static bool read_directory(Ctx *cx, Zip *out)
{
    uint64_t offset = 0;
    const char *path = out->path;
    const uint64_t last = out->size < END_BYTES + MOST_COMMENT ? out->size : END_BYTES + MOST_COMMENT;
    if (ctx_failed(cx)) return false;
    if (!find_end(range_of(cx, out, out->size - last, last), &out->count, &offset))
        return refuse(cx, path, "it does not end like a zip file; use a file that numpy.savez wrote");
    if (out->count > MOST_ENTRIES || offset > out->size)
        return refuse(
            cx, path,
            text_format(cx,
                        "its directory, %d entries at %llu, exceeds the file; write at most %d entries and 4 GB",
                        out->count, (unsigned long long)offset, MOST_ENTRIES));
    const Bytes directory = range_of(cx, out, offset, out->size - offset);
    Cursor c = cursor_new(directory.at, directory.count);
    if (cursor_left(&c) / 46 < (size_t)out->count) return refuse(cx, path, "its directory is damaged or truncated");
    out->entry = NEW_ARRAY(cx->arena, ZipEntry, out->count);
    for (int i = 0; i < out->count; i++)
        if (!read_entry(cx, path, &c, &out->entry[i])) return false;
    return true;
}

bool zip_open(Ctx *cx, const char *path, Bytes file, Zip *out)
{
    *out = (Zip){ .path = path, .file = file, .size = file.count };
    return read_directory(cx, out);
}

bool zip_open_file(Ctx *cx, const char *path, Zip *out)
{
    const int64_t size = file_size(path);
    *out = (Zip){ .path = path, .size = size > 0 ? (size_t)size : 0 };
    return out->size ? read_directory(cx, out) : zip_open(cx, path, file_read(cx, path), out);
}

/* Returns the offset of the entry's bytes, which follow the local header. Returns 0, with a diagnostic, if the bytes
 * exceed the file. */
static uint64_t offset_of_packed(Ctx *cx, const Zip *z, const ZipEntry *e)
{
    enum { LOCAL_BYTES = 30 };
    const Bytes local = range_of(cx, z, e->offset, LOCAL_BYTES);
    Cursor c = cursor_new(local.at, local.count);
    const bool is_local = cursor_u32(&c) == LOCAL_MARK;
    cursor_take(&c, 22);
    const int name_bytes = cursor_u16(&c), extra_bytes = cursor_u16(&c);
    const uint64_t at = e->offset + LOCAL_BYTES + (uint64_t)(name_bytes + extra_bytes);
    if (is_local && !c.bad && at <= z->size && e->packed <= z->size - at) return at;
    refuse(cx, z->path,
           text_format(cx, "\"%s\", %llu bytes at %llu, exceeds the file or has no header there", e->name,
                       (unsigned long long)e->packed, (unsigned long long)e->offset));
    return 0;
}

static bool refuse_checksum(Ctx *cx, const Zip *z, const ZipEntry *e, uint32_t crc)
{
    return refuse(cx, z->path,
                  text_format(cx, "\"%s\" is damaged: its checksum is %08lx, but its directory declares %08lx", e->name,
                              (unsigned long)crc, (unsigned long)e->crc));
}

int64_t zip_stored_at(Ctx *cx, const Zip *z, const ZipEntry *e)
{
    uint8_t part[1 << 12];
    uint32_t crc = 0;
    if (z->file.at || e->method != STORED || e->size != e->packed) return 0;
    const size_t at = (size_t)offset_of_packed(cx, z, e), size = (size_t)e->size;
    for (size_t done = 0; at && done < size;) {
        const size_t count = size - done < sizeof part ? size - done : sizeof part;
        if (!file_read_part(cx, z->path, (int64_t)(at + done), part, count)) return 0;
        crc = crc32_more(crc, part, count);
        done += count;
    }
    return !at || crc == e->crc || refuse_checksum(cx, z, e, crc) ? (int64_t)at : 0;
}

bool zip_read(Ctx *cx, const Zip *z, const ZipEntry *e, uint64_t most, Bytes *out)
{
    const uint64_t at = ctx_failed(cx) ? 0 : offset_of_packed(cx, z, e);
    if (!at) return false;
    if (e->method != STORED && e->method != DEFLATED)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" is packed by method %d; use method 0 (stored) or 8 (deflated)",
                                      e->name, e->method));
    if (e->size > most)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" has %llu bytes; use at most %llu bytes", e->name,
                                  (unsigned long long)e->size, (unsigned long long)most));
    if (e->method == STORED ? e->size != e->packed : e->size / MOST_RATIO > e->packed)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" declares %llu bytes, which its %llu packed bytes cannot hold", e->name,
                                  (unsigned long long)e->size, (unsigned long long)e->packed));
    Bytes packed = range_of(cx, z, at, e->packed);
    if (e->method == DEFLATED) {
        uint8_t *unpacked = arena_alloc(cx->arena, (size_t)e->size);
        if (!inflate(packed, unpacked, (size_t)e->size))
            return refuse(cx, z->path,
                          text_format(cx, "the packed bytes of \"%s\" are damaged, or do not unpack to %llu bytes",
                                      e->name, (unsigned long long)e->size));
        packed = (Bytes){ unpacked, (size_t)e->size };
    }
    const uint32_t crc = crc32_more(0, packed.at, packed.count);
    if (ctx_failed(cx) || (crc != e->crc && !refuse_checksum(cx, z, e, crc))) return false;
    *out = packed;
    return true;
}
