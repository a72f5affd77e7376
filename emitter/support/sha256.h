/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SHA256_H
#define LW_SUPPORT_SHA256_H
/* SHA-256 (FIPS 180-4, section 6.2). */
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

/* Returns the digest as 64 hexadecimal digits, as sha256sum prints it. */
const char *sha256_hex(Ctx *cx, const void *bytes, size_t count);
#endif
