/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_PROTOBUF_WRITE_H
#define LW_IMPORT_PROTOBUF_WRITE_H
/* Writes the wire format of protocol buffers: fields are appended to a message, in any order. Memory is
 * the context's. */
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

typedef struct Message { Ctx *cx; uint8_t *at; size_t count, capacity; } Message;

Message message_new(Ctx *cx);
void message_int(Message *m, int number, int64_t v);                          /* a varint */
void message_float(Message *m, int number, float v);                          /* 32 bits */
void message_bytes(Message *m, int number, const void *bytes, size_t count);
void message_text(Message *m, int number, const char *text);
void message_nested(Message *m, int number, const Message *inner);
#endif
