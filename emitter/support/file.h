/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_FILE_H
#define LW_SUPPORT_FILE_H
/* Whole files in and out. A file is written under a new temporary name beside its path and renamed, so that a reader sees
 * the old one or the new one whole, never half of it; a failure removes it. A device is written directly. Failures are
 * diagnostics. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

typedef struct Bytes { const uint8_t *at; size_t count; } Bytes;

/* Owned by cx; a NUL follows the last byte */
Bytes file_read(Ctx *cx, const char *path);
/* The bytes as text. A NUL among them, which would end the text early, is an error at its line and column. */
const char *file_text(Ctx *cx, const char *path, Bytes file);
bool  file_write(Ctx *cx, const char *path, const void *bytes, size_t count);
/* Several files, all or none as far as the file system allows: all are written under temporary names before the first
 * is renamed. */
typedef struct FileOut { const char *path; const void *bytes; size_t count; } FileOut;
bool  file_write_all(Ctx *cx, const FileOut *files, size_t count);

const char *path_folder(Ctx *cx, const char *path);     /* "a/b.c" -> "a/"; "b.c" -> "" */
const char *path_stem(Ctx *cx, const char *path);       /* "a/b.c" -> "b" */
const char *path_extension(const char *path);           /* "a/b.c" -> "c"; none -> "" */

#endif
