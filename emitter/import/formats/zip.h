/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ZIP_H
#define LW_IMPORT_ZIP_H
/* Zip files, as numpy.savez and savez_compressed write them (.npz): stored or deflated entries, not encrypted, below 4 GB. */
#include "support/file.h"

typedef struct ZipEntry {
    const char *name;
    int method; uint32_t crc;
    /* Bytes in the file, of what it holds, and from the file's begin to the local header */
    uint64_t packed, size, offset;
} ZipEntry;
typedef struct Zip { const char *path; Bytes file; int count; ZipEntry *entry; } Zip;

/* The directory alone. False, and a diagnostic, where the file is none. */
bool zip_open(Ctx *cx, const char *path, Bytes file, Zip *out);
/* What the entry holds, at most `most` bytes: an entry that claims more is refused before anything is unpacked. */
bool zip_read(Ctx *cx, const Zip *z, const ZipEntry *e, uint64_t most, Bytes *out);

#endif
