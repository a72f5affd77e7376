/* SPDX-License-Identifier: MIT */
/* Creates the folders of files that are written together: see folder.h. */
#include "api/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/names.h"

/* Returns the shortest prefix of the path that is a file, or NULL if no prefix is a file. */
static const char *file_in_path(Ctx *cx, const char *path)
{
    for (size_t n = 1; n <= strlen(path); n++) {
        const char *part = path[n] == '/' || !path[n] ? text_format(cx, "%.*s", (int)n, path) : NULL;
        if (part && file_size(part) >= 0 && !file_is_folder(part)) return part;
    }
    return NULL;
}

typedef struct Folders { const char **path; int count; } Folders;

static void add_missing(Ctx *cx, Folders *to, const char *path)
{
    for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        const char *part = name_n(cx, path, (size_t)(s - path));
        bool is_known = file_is_folder(part);
        for (int i = 0; i < to->count && !is_known; i++) is_known = to->path[i] == part;
        if (!is_known) to->path[to->count++] = part;
    }
}

/* Returns the folders of the files that do not exist yet, each after its parent folder. */
static Folders missing_folders(Ctx *cx, const FileOut *file, int files)
{
    int count = 0;
    for (int i = 0; i < files; i++)
        for (const char *s = file[i].path; *s; s++) count += *s == '/';
    Folders missing = { NEW_ARRAY(cx->arena, const char *, count + 1), 0 };
    for (int i = 0; i < files; i++) add_missing(cx, &missing, file[i].path);
    return missing;
}

static void remove_folders(const Folders *f)
{
    for (int i = f->count - 1; i >= 0; i--)
        if (file_is_folder(f->path[i])) remove(f->path[i]);              /* fails if the folder has files */
}

static bool create_folders(Ctx *cx, const Folders *missing, const char *root)
{
    const char *file = file_in_path(cx, root);
    int done = 0;
    while (!file && done < missing->count && folder_create(missing->path[done])) done++;
    if (file) diag_error(cx, root, "cannot create this folder: \"%s\" is a file", file);
    else if (done < missing->count)
        diag_error(cx, missing->path[done], "cannot create this folder: %s", strerror(errno));
    return !ctx_failed(cx);
}

bool folder_write(Ctx *cx, const char *root, const FileOut *file, int count)
{
    const Folders created = missing_folders(cx, file, count);
    const bool is_written = create_folders(cx, &created, root) && file_write_all(cx, file, (size_t)count);
    if (!is_written) remove_folders(&created);
    return is_written;
}
