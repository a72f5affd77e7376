/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_FLATBUFFER_H
#define LW_IMPORT_FLATBUFFER_H
/* The format of flatbuffers, read in place: tables, vectors and texts over a range of bytes, without generated code. All
 * offsets are little-endian and relative:
 *
 *   file     [u32 to the root table][4 letters that name the format]
 *   table    [i32 back to its vtable] fields...       vtable  [u16 own bytes][u16 the table's bytes][u16 of each field; 0: absent]
 *   vector   [u32 count] elements                     text    a vector of bytes;   tables in fields and vectors: u32 to them
 *
 * Whatever does not lie inside of the file reads as absent or empty and sets `bad` of the file, which stays: test it
 * once at the end of a part. Nothing recurses: the schema's reader opens each level. Offsets may point to the same
 * bytes twice, so a vector's size bounds nothing but itself: readers bound the work. (flatbuffers.dev, "Internals") */
#include "support/ctx.h"
#include "support/file.h"

typedef struct FlatFile { Bytes bytes; bool bad; } FlatFile;
/* Fields 0: absent or empty */
typedef struct FlatTable { FlatFile *file; size_t at, end, vtable; int fields; } FlatTable;
/* Size of an element in bytes */
typedef struct FlatVector { FlatFile *file; size_t at, count; int size; } FlatVector;

FlatTable flat_root(FlatFile *f, const char *identifier);             /* of four letters; another one is `bad` */

bool    flat_has(const FlatTable *t, int field);
/* signed, of 1, 2, 4 or 8 bytes */
int64_t flat_int(const FlatTable *t, int field, int bytes, int64_t otherwise);
float   flat_float(const FlatTable *t, int field, float otherwise);
FlatTable  flat_table(const FlatTable *t, int field);
FlatVector flat_vector(const FlatTable *t, int field, int size);      /* of numbers; of tables with size 4 */
const char *flat_text(Ctx *cx, const FlatTable *t, int field);        /* interned, up to the first NUL; absent: "" */

/* Element i, which must be less than `count`. */
int64_t   flat_int_at(const FlatVector *v, size_t i);
float     flat_float_at(const FlatVector *v, size_t i);
FlatTable flat_table_at(const FlatVector *v, size_t i);

#endif
