/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_PROTOBUF_H
#define LW_IMPORT_PROTOBUF_H
/* The wire format of protocol buffers: a message is a run of fields, each a number, a wire type and a value. Nothing is
 * kept and nothing recurses: whoever knows the schema opens the messages inside. A malformed message sets the cursor's
 * `bad`, and no field comes after that. */
#include "support/cursor.h"
#include "support/ctx.h"

typedef enum WireType { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } WireType;

typedef struct Field {
    uint64_t number;
    WireType wire;
    uint64_t value;      /* VARINT, 64, 32: the bits */
    Cursor bytes;        /* BYTES */
} Field;

bool proto_next(Cursor *message, Field *out);        /* false at the end, or when bad */

/* Repeated numbers come one a field or packed into one field of bytes. Calls read the numbers of one field in turn:
 * `packed` says how they are packed (VARINT, 64 or 32). */
bool proto_number(Field *f, WireType packed, uint64_t *out);

int proto_fields(Cursor message, uint64_t number);       /* how many fields of bytes have this number */
size_t proto_numbers(Cursor message, uint64_t number, WireType packed);      /* how many numbers its fields hold */
bool proto_malformed(Ctx *cx, const Cursor *message, const char *where);     /* an error if it is bad */

float  proto_float(uint64_t bits);
double proto_double(uint64_t bits);
const char *proto_text(Ctx *cx, const Field *f);     /* interned; up to the first NUL */

#endif
