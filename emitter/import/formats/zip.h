/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ZIP_H
#define LW_IMPORT_ZIP_H
/* Reads zip files in the form that numpy.savez and savez_compressed write (.npz): entries stored or deflated, not
 * encrypted, below 4 GB. */
#include "support/file.h"

typedef struct ZipEntry {
    const char *name;
    int method; uint32_t crc;
    /* packed: bytes in the file; size: unpacked bytes; offset: the offset of the local header */
    uint64_t packed, size, offset;
} ZipEntry;
/* file: all bytes; if it is empty, bytes are read from the path when they are needed */
typedef struct Zip { const char *path; Bytes file; size_t size; int count; ZipEntry *entry; } Zip;

/* Reads the directory only. Returns false, with a diagnostic, if the file is not a zip file. */
bool zip_open(Ctx *cx, const char *path, Bytes file, Zip *out);
/* Opens a file and holds only its directory in memory; a stream is read as a whole. */
bool zip_open_file(Ctx *cx, const char *path, Zip *out);
/* Returns the offset of an entry if it is stored uncompressed and the file can be read at any offset; also checks its
 * checksum. Returns 0 if the entry has to be unpacked. */
int64_t zip_stored_at(Ctx *cx, const Zip *z, const ZipEntry *e);
/* Unpacks the entry, at most `most` bytes. An entry with a greater size is refused before unpacking. */
bool zip_read(Ctx *cx, const Zip *z, const ZipEntry *e, uint64_t most, Bytes *out);

#endif
