/* SPDX-License-Identifier: MIT */
#include "support/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/names.h"
#include "support/text.h"

static const size_t LARGEST_FILE = (size_t)1 << 31;   /* bytes; more is no model for a microcontroller */

Bytes file_read(Ctx *cx, const char *path)
{
    Bytes none = { (const uint8_t *)"", 0 };
    if (ctx_failed(cx)) return none;
    FILE *f = fopen(path, "rb");
    if (!f) {
        diag_error(cx, NULL, "cannot open \"%s\": %s", path, strerror(errno));
        return none;
    }
    size_t room = 1 << 16, count = 0;
    uint8_t *at = arena_alloc(cx->arena, room);
    for (size_t n; (n = fread(at + count, 1, room - 1 - count, f)) > 0;) {
        count += n;
        if (count < room - 1) continue;
        uint8_t *bigger = arena_alloc(cx->arena, room * 2);
        memcpy(bigger, at, count);
        at = bigger;
        room *= 2;
        if (room > LARGEST_FILE) break;
    }
    bool bad = ferror(f) != 0 || room > LARGEST_FILE;
    fclose(f);
    if (bad) diag_error(cx, NULL, "cannot read \"%s\": it is a folder, unreadable or larger than 1 GiB", path);
    at[count] = 0;
    return bad ? none : (Bytes){ at, count };
}

static bool write_temporary(const char *temporary, const FileOut *file)
{
    FILE *f = fopen(temporary, "wb");
    if (!f) return false;
    bool ok = fwrite(file->bytes, 1, file->count, f) == file->count;
    if (fclose(f) != 0) ok = false;
    return ok;
}

/* Not a folder, and not protected: found out before anything is replaced. */
static bool may_replace(const char *path)
{
    FILE *f = fopen(path, "r+b");
    if (f) fclose(f);
    return f || errno == ENOENT;
}

bool file_write_all(Ctx *cx, const FileOut *files, size_t count)
{
    if (ctx_failed(cx)) return false;
    const char **temporary = NEW_ARRAY(cx->arena, const char *, count);
    bool ok = true;
    size_t i;
    for (i = 0; i < count && ok; i++) {
        temporary[i] = text_format(cx, "%s.part", files[i].path);
        ok = may_replace(files[i].path) && write_temporary(temporary[i], &files[i]);
    }
    size_t begun = i;
    if (!ok) diag_error(cx, NULL, "cannot write \"%s\": %s", files[i - 1].path, strerror(errno));
    for (i = 0; i < begun && ok; i++) {
        ok = rename(temporary[i], files[i].path) == 0;
        if (!ok) diag_error(cx, NULL, "cannot write \"%s\": %s", files[i].path, strerror(errno));
    }
    if (!ok)
        for (i = 0; i < begun; i++) remove(temporary[i]);
    return ok;
}

bool file_write(Ctx *cx, const char *path, const void *bytes, size_t count)
{
    FileOut one = { path, bytes, count };
    return file_write_all(cx, &one, 1);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_folder(Ctx *cx, const char *path) { return name_n(cx, path, (size_t)(last_part(path) - path)); }

const char *path_stem(Ctx *cx, const char *path)
{
    const char *base = last_part(path), *dot = strrchr(base, '.');
    return dot && dot != base ? name_n(cx, base, (size_t)(dot - base)) : name(cx, base);
}

const char *path_extension(const char *path)
{
    const char *base = last_part(path), *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}
