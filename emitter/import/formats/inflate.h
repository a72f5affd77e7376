/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_INFLATE_H
#define LW_IMPORT_INFLATE_H
/* Decompresses zip entries: "deflate", RFC 1951. */
#include "support/file.h"

/* Decompresses all of `in` into exactly out_count bytes at `out`. Returns false if the data is damaged or its size
 * differs from out_count; never writes past `out`. */
bool inflate(Bytes in, uint8_t *out, size_t out_count);
/* Returns the CRC-32 of zip files (polynomial 0xedb88320, reflected) of a longer sequence of bytes, from the CRC of its
 * beginning and the bytes that follow; the CRC of an empty sequence is 0. */
uint32_t crc32_more(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
