/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_CURSOR_H
#define LW_SUPPORT_CURSOR_H
/* The only reader of bytes from outside. Numbers are little-endian on any host. A read past the end returns zeros and
 * sets `bad`, which stays set, so test it once per message, not at each read. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Cursor { const uint8_t *at, *end; bool bad; } Cursor;

Cursor   cursor_new(const void *bytes, size_t count);
size_t   cursor_left(const Cursor *c);
uint8_t  cursor_u8(Cursor *c);
uint16_t cursor_u16(Cursor *c);
uint32_t cursor_u32(Cursor *c);
uint64_t cursor_u64(Cursor *c);
/* Reads a base-128 number of protobuf; more than 10 bytes are an error. */
uint64_t cursor_varint(Cursor *c);
/* Returns the next `count` bytes as a new cursor; c moves past them. */
Cursor   cursor_take(Cursor *c, uint64_t count);

#endif
