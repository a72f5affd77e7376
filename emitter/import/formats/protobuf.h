/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_PROTOBUF_H
#define LW_IMPORT_PROTOBUF_H
/* Reads the wire format of protocol buffers: a message is a sequence of fields, each with a number, a wire type and a
 * value. Nothing is stored and nothing recurses: the caller has the schema and opens nested messages. A malformed
 * message sets the cursor's `bad`, which ends the iteration. */
#include "support/cursor.h"
#include "support/ctx.h"

typedef enum WireType { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } WireType;

typedef struct Field {
    uint64_t number;
    WireType wire;
    uint64_t value;      /* the bits of a VARINT, 64 or 32 */
    Cursor bytes;        /* BYTES */
} Field;

/* reads the next field; returns false at the end, or if `bad` is set */
bool proto_next(Cursor *message, Field *out);

/* Reads the next value of a repeated number: a field holds one value, or several packed into bytes. Call the function
 * until it returns false; `packed` is the encoding of packed values (VARINT, 64 or 32). */
bool proto_number(Field *f, WireType packed, uint64_t *out);

/* returns the count of length-delimited fields with this number */
int proto_fields(Cursor message, uint64_t number);
/* returns the count of values in all of these fields */
size_t proto_numbers(Cursor message, uint64_t number, WireType packed);
bool proto_malformed(Ctx *cx, const Cursor *message, const char *where);     /* reports an error if it is bad */

float  proto_float(uint64_t bits);
double proto_double(uint64_t bits);
const char *proto_text(Ctx *cx, const Field *f);     /* the field's text, interned, up to the first NUL */

#endif
