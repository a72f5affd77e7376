/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_FILE_H
#define LW_SUPPORT_FILE_H
/* Reads and writes whole files. A file is written under a new temporary name beside its path, then renamed. So a reader
 * finds either the old or the new file, never a part. A failure removes the temporary file. Devices are written
 * directly. Failures are diagnostics. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/text.h"

typedef struct Bytes { const uint8_t *at; size_t count; } Bytes;

/* Returns the bytes of a file, owned by cx. A NUL follows the last byte. */
Bytes file_read(Ctx *cx, const char *path);
/* Like file_read, for a file that another file names, below `folder` ("" or with a slash at its end). That file must be
 * a regular file, and neither it nor the folders on the way may be links. */
Bytes file_read_below(Ctx *cx, const char *folder, const char *path);
/* Returns the number of bytes of a file, or -1 if the file does not exist, is a pipe, or cannot be opened. */
int64_t file_size(const char *path);
/* Reads `count` bytes at the offset `at`. Returns false, with a diagnostic, if the file does not have them. */
bool file_read_part(Ctx *cx, const char *path, int64_t at, void *to, size_t count);
bool file_is_folder(const char *path);                  /* returns false also where the system has no stat */
bool folder_create(const char *path);                   /* also true if it exists; errno is the reason of a failure */
/* Returns the names in a folder that end in ".extension", sorted by bytes. Returns none where the system has no
 * folders. */
const char *const *folder_files(Ctx *cx, const char *path, const char *extension, int *count);
/* Returns the bytes as text. A NUL among them, which would end the text early, is an error with its line and column. */
const char *file_text(Ctx *cx, const char *path, Bytes file);
/* Returns false, with a diagnostic, if the folder of a file to be written is missing. Long work calls this before it
 * begins. */
bool  file_has_folder(Ctx *cx, const char *path);
bool  file_write(Ctx *cx, const char *path, const void *bytes, size_t count);
/* Writes several files, all or none as far as the file system allows. All are complete under temporary names before the
 * first one is renamed. If two processes write the same files, one process renames all of its files before the other
 * renames any. */
typedef void FilePrint(Ctx *cx, const void *what, TextPut *put, void *to);
typedef struct FileOut {
    const char *path;
    const void *bytes; size_t count;
    FilePrint *print; const void *what;                 /* prints a large file piece by piece; NULL writes `bytes` */
} FileOut;
bool  file_write_all(Ctx *cx, const FileOut *files, size_t count);

const char *path_folder(Ctx *cx, const char *path);     /* returns "a/" for "a/b.c", and "" for "b.c" */
const char *path_stem(Ctx *cx, const char *path);       /* returns "b" for "a/b.c" */
const char *path_extension(const char *path);           /* returns "c" for "a/b.c", and "" without an extension */

#endif
