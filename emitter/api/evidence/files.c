/* SPDX-License-Identifier: MIT */
/* Lists the files of the folder: see evidence.h. */
#include <string.h>

#include "api/evidence/evidence.h"

void evidence_file(Evidence *e, const char *path, const void *bytes, size_t count)
{
    if (e->file_count == e->file_capacity) {
        FileOut *more = NEW_ARRAY(e->cx->arena, FileOut, 2 * e->file_capacity + 32);
        if (e->file_count) memcpy(more, e->file, (size_t)e->file_count * sizeof *more);
        e->file_capacity = 2 * e->file_capacity + 32;
        e->file = more;
    }
    e->file[e->file_count++] = (FileOut){ .path = text_format(e->cx, "%s/%s", e->folder, path), .bytes = bytes,
                                          .count = count };
}

void evidence_text(Evidence *e, const char *path, const char *text) { evidence_file(e, path, text, strlen(text)); }
