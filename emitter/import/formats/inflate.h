/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_INFLATE_H
#define LW_SUPPORT_INFLATE_H
/* Compressed bytes, as zip files hold them: "deflate", RFC 1951. */
#include "support/file.h"

/* Exactly out_count bytes into out, from all of `in`. False where it is damaged, or gives another number of bytes; never writes
 * behind out. */
bool inflate(Bytes in, uint8_t *out, size_t out_count);
/* Of zip files: polynomial 0xedb88320, reflected */
uint32_t crc32_of(const uint8_t *bytes, size_t count);

#endif
