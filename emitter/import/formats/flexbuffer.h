/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_FLEXBUFFER_H
#define LW_IMPORT_FLEXBUFFER_H
/* Reads the map at the root of a flexbuffer in place: numbers by name. Offsets are unsigned, little-endian and go back
 * from where they are stored; w is 1, 2, 4 or 8 bytes.
 *
 *   file     ... [root value: w][its type][w]
 *   map      [offset of the keys: w][w of the keys: w][count: w] values: w each, types: 1 each
 *   keys     [count] offsets of texts with a NUL at the end
 *   type     4 * kind + log2 of the width of the target of an offset
 *
 * Data outside the bytes is absent. (flatbuffers.dev, "FlexBuffers") */
#include "support/file.h"

/* A map; values, keys: the positions of its values and keys in the bytes. */
typedef struct FlexMap { Bytes bytes; size_t values, keys; uint64_t count; int width, key_width; } FlexMap;
typedef struct FlexNumber { bool is_real; int64_t integer; double real; } FlexNumber;

bool flex_map(Bytes bytes, FlexMap *out);                             /* returns false if the map is not well-formed */
/* key i, for i < count, or NULL if it is damaged */
const char *flex_key(const FlexMap *m, uint64_t i);
/* returns false if the value is damaged, or is not a number */
bool flex_number_at(const FlexMap *m, uint64_t i, FlexNumber *out);
/* Reads an integer or a truth value; returns false if it is absent, damaged, or of another kind */
bool flex_int(const FlexMap *m, const char *key, int64_t *out);
/* Reads a number of any kind; returns false if it is absent or damaged. */
bool flex_real(const FlexMap *m, const char *key, double *out);

#endif
