/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ZIP_H
#define LW_IMPORT_ZIP_H
/* Reads zip files in the form that numpy.savez and savez_compressed write (.npz): entries stored or deflated, not
 * encrypted, below 4 GB. */
#include "support/file.h"

typedef struct ZipEntry {
    const char *name;
    int method; uint32_t crc;
    /* Bytes in the file, bytes unpacked, and the offset of the local header */
    uint64_t packed, size, offset;
} ZipEntry;
typedef struct Zip { const char *path; Bytes file; int count; ZipEntry *entry; } Zip;

/* Reads the directory only. Returns false, with a diagnostic, if the file is not a zip file. */
bool zip_open(Ctx *cx, const char *path, Bytes file, Zip *out);
/* Unpacks the entry, at most `most` bytes. An entry with a greater size is refused before unpacking. */
bool zip_read(Ctx *cx, const Zip *z, const ZipEntry *e, uint64_t most, Bytes *out);

#endif
