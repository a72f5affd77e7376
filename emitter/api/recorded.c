/* SPDX-License-Identifier: MIT */
/* Reads recorded layers: see recorded.h. Finds the entry of a layer by its name, or by the tensor's number in the
 * file. */

/* Decision: recorded layers are numpy files. `verify --recorded` reads a folder of `.npy` or an `.npz`.
 * `import/formats/zip.c` accepts the directory at the file's end only if it lies inside the file;
 * `import/formats/inflate.c` writes exactly the promised number of bytes. An entry belongs to a layer by its name, or
 * by the tensor's number in the model's file (`..._t21.npy`). */
#include "api/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/elements.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

bool recorded_open(const Build *b, Recorded *r)
{
    *r = (Recorded){ .path = b->options->recorded };
    if (!r->path) return true;
    r->is_zip = text_equal(path_extension(r->path), "npz");
    return !r->is_zip || zip_open(b->cx, r->path, file_read(b->cx, r->path), &r->zip);
}

/* Returns true for LAYER.npy, with the layer's name or its C identifier, and for ANYTHING_tN.npy if N is the tensor's
 * number in the file. */
static bool is_entry_of(const Build *b, const char *entry, const Tensor *t)
{
    if (text_equal(entry, text_format(b->cx, "%s.npy", t->name))
        || text_equal(entry, text_format(b->cx, "%s.npy", name_identifier(b->cx, t->name))))
        return true;
    const char *last = strrchr(entry, '_');
    char *end = NULL;
    long number = last && last[1] == 't' ? strtol(last + 2, &end, 10) : -1;
    return number >= 0 && number < b->model.number_count && text_equal(end, ".npy")
           && text_equal(b->model.of_number[number], t->name);
}

static const void *zipped_data(const Build *b, Recorded *r, const Tensor *t)
{
    enum { MOST_HEADER = 1 << 16 };
    for (int i = 0; i < r->zip.count; i++) {
        const ZipEntry *e = &r->zip.entry[i];
        Bytes file;
        if (!is_entry_of(b, e->name, t)) continue;
        r->found++;
        return zip_read(b->cx, &r->zip, e, (uint64_t)tensor_bytes(t) + MOST_HEADER, &file)
                   ? elements_parse(b->cx, text_format(b->cx, "%s/%s", r->path, e->name), file, t)
                   : NULL;
    }
    return NULL;
}

const void *recorded_layer(const Build *b, Recorded *r, const Tensor *t)
{
    if (!r->path || ctx_failed(b->cx)) return NULL;
    if (r->is_zip) return zipped_data(b, r, t);
    const char *path = text_format(b->cx, "%s/%s.npy", r->path, name_identifier(b->cx, t->name));
    FILE *f = fopen(path, "rb");
    if (f) fclose(f), r->found++;
    return f ? elements_read(b->cx, path, t) : NULL;
}
