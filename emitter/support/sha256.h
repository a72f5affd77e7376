/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SHA256_H
#define LW_SUPPORT_SHA256_H
/* SHA-256 (FIPS 180-4, section 6.2). */
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

enum { SHA256_BYTES = 32 };

/* The digest of bytes that arrive in pieces: sha256_new, sha256_add for each piece, sha256_end. */
typedef struct Sha256 {
    uint32_t h[8];
    uint64_t count;                  /* the number of bytes so far */
    uint8_t block[64];               /* the bytes after the last whole block */
} Sha256;
Sha256 sha256_new(void);
void sha256_add(Sha256 *s, const void *bytes, size_t count);
void sha256_end(Sha256 *s, uint8_t digest[SHA256_BYTES]);

/* Returns the digest as 64 hexadecimal digits, as sha256sum prints it. */
const char *sha256_hex(Ctx *cx, const void *bytes, size_t count);
#endif
