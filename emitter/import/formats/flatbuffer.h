/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_FLATBUFFER_H
#define LW_IMPORT_FLATBUFFER_H
/* Reads flatbuffers in place: tables, vectors and texts over a range of bytes, without generated code. All offsets are
 * little-endian, and relative to their own position:
 *
 *   file     [u32 to the root table][4 letters that name the format]
 *   table    [i32 back to its vtable] fields...
 *   vtable   [u16 own bytes][u16 the table's bytes][u16 of each field; 0: absent]
 *   vector   [u32 count] elements; tables in fields and vectors: u32 to them
 *   text     a vector of bytes
 *
 * Data outside the file reads as absent or empty and sets the file's sticky `bad`; callers test it once per part. No
 * function recurses: the caller opens each nesting level of the schema. Several offsets may point to the same bytes, so
 * the file size does not bound the sum of all vectors; callers bound their own work. (flatbuffers.dev, "Internals") */
#include "support/ctx.h"
#include "support/file.h"

typedef struct FlatFile { Bytes bytes; bool bad; } FlatFile;
/* A table in the file; all fields are 0 if the table is absent. */
typedef struct FlatTable { FlatFile *file; size_t at, end, vtable; int fields; } FlatTable;
/* A vector in the file; size: bytes of an element. All fields are 0 if the vector is absent. */
typedef struct FlatVector { FlatFile *file; size_t at, count; int size; } FlatVector;

/* Returns the root table. identifier: four letters; a mismatch sets `bad`. */
FlatTable flat_root(FlatFile *f, const char *identifier);

bool    flat_has(const FlatTable *t, int field);
/* Reads a signed number of 1, 2, 4 or 8 bytes, or returns `otherwise` if it is absent. */
int64_t flat_int(const FlatTable *t, int field, int bytes, int64_t otherwise);
float   flat_float(const FlatTable *t, int field, float otherwise);
FlatTable  flat_table(const FlatTable *t, int field);
FlatVector flat_vector(const FlatTable *t, int field, int size);      /* size: bytes of an element; 4 for tables */
/* an interned text, up to the first NUL; "" if absent */
const char *flat_text(Ctx *cx, const FlatTable *t, int field);

/* Each of these functions returns element i; i must be less than count. */
int64_t   flat_int_at(const FlatVector *v, size_t i);
float     flat_float_at(const FlatVector *v, size_t i);
FlatTable flat_table_at(const FlatVector *v, size_t i);

#endif
