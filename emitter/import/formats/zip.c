/* SPDX-License-Identifier: MIT */
/* Entries are located through the central directory at the file's end; of a local header, only its length is read. The
 * file is not trusted: every range in the directory must be inside the file, and unpacked data must match its
 * checksum. */
#include "import/formats/zip.h"

#include "support/cursor.h"
#include "import/formats/inflate.h"
#include "support/names.h"
#include "support/text.h"

enum { END_MARK = 0x06054b50, ENTRY_MARK = 0x02014b50, LOCAL_MARK = 0x04034b50, END_BYTES = 22, MOST_COMMENT = 65535 };
/* MOST_RATIO: deflate's greatest compression ratio */
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
                      text_format(cx, "\"%s\" is encrypted; entries without a password are accepted", e->name));
    return true;
}

bool zip_open(Ctx *cx, const char *path, Bytes file, Zip *out)
{
    uint64_t offset = 0;
    *out = (Zip){ .path = path, .file = file };
    if (ctx_failed(cx)) return false;
    if (!find_end(file, &out->count, &offset))
        return refuse(cx, path, "it does not end as a zip file; a file of numpy.savez is accepted");
    if (out->count > MOST_ENTRIES || offset > file.count)
        return refuse(
            cx, path,
            text_format(cx,
                        "its directory, %d entries at %llu, exceeds the file; at most %d entries and 4 GB are "
                        "accepted",
                        out->count, (unsigned long long)offset, MOST_ENTRIES));
    Cursor c = cursor_new(file.at + offset, file.count - (size_t)offset);
    if (cursor_left(&c) / 46 < (size_t)out->count) return refuse(cx, path, "its directory is damaged or truncated");
    out->entry = NEW_ARRAY(cx->arena, ZipEntry, out->count);
    for (int i = 0; i < out->count; i++)
        if (!read_entry(cx, path, &c, &out->entry[i])) return false;
    return true;
}

/* Returns the entry's bytes as stored in the file. */
static bool find_packed(Ctx *cx, const Zip *z, const ZipEntry *e, Bytes *out)
{
    Cursor c = cursor_new(z->file.at, z->file.count);
    cursor_take(&c, e->offset);
    const bool is_local = cursor_u32(&c) == LOCAL_MARK;
    cursor_take(&c, 22);
    const int name_bytes = cursor_u16(&c), extra_bytes = cursor_u16(&c);
    cursor_take(&c, (uint64_t)(name_bytes + extra_bytes));
    const Cursor packed = cursor_take(&c, e->packed);
    if (!is_local || c.bad)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\", %llu bytes at %llu, exceeds the file or has no header there", e->name,
                                  (unsigned long long)e->packed, (unsigned long long)e->offset));
    *out = (Bytes){ packed.at, (size_t)e->packed };
    return true;
}

bool zip_read(Ctx *cx, const Zip *z, const ZipEntry *e, uint64_t most, Bytes *out)
{
    Bytes packed;
    if (ctx_failed(cx) || !find_packed(cx, z, e, &packed)) return false;
    if (e->method != STORED && e->method != DEFLATED)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" is packed by method %d; 0 and 8 are accepted", e->name, e->method));
    if (e->size > most)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" has %llu bytes; at most %llu are accepted", e->name,
                                  (unsigned long long)e->size, (unsigned long long)most));
    if (e->method == STORED ? e->size != e->packed : e->size / MOST_RATIO > e->packed)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" declares %llu bytes, which its %llu packed bytes cannot hold", e->name,
                                  (unsigned long long)e->size, (unsigned long long)e->packed));
    if (e->method == DEFLATED) {
        uint8_t *unpacked = arena_alloc(cx->arena, (size_t)e->size);
        if (!inflate(packed, unpacked, (size_t)e->size))
            return refuse(cx, z->path,
                          text_format(cx, "the packed bytes of \"%s\" are damaged, or do not unpack to %llu bytes",
                                      e->name, (unsigned long long)e->size));
        packed = (Bytes){ unpacked, (size_t)e->size };
    }
    if (crc32_of(packed.at, packed.count) != e->crc)
        return refuse(cx, z->path,
                      text_format(cx, "\"%s\" is damaged: its checksum is %08lx, but its directory declares %08lx",
                                  e->name, (unsigned long)crc32_of(packed.at, packed.count), (unsigned long)e->crc));
    *out = packed;
    return true;
}
