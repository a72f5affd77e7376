/* SPDX-License-Identifier: MIT */
#ifndef LW_TESTS_ROWS_DATA_H
#define LW_TESTS_ROWS_DATA_H
/* What a case of rows_cases.c and its run on a core share: elements by their type's letter, and their first values.
 * b: i8, u: u8, h: i16, n: u16, i: i32, l: u32, w: two bytes in an i32, low + 65536 * high. */
#include <stdint.h>

enum { ROWS_ROOM = 4096, ROWS_OPERANDS = 4 };        /* elements of a memory; memories that a macro reads */

/* A case is one of these, a memory of the result and those of operands, and numbers, all in words. */
typedef struct RowsCase { int32_t macro, call, hash, is_wide, memories, numbers; } RowsCase;
typedef struct RowsMemory { int32_t extent, least, greatest, turn, seed; } RowsMemory;

static inline int32_t rows_draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int32_t)(*seed >> 8);
}

static inline int32_t rows_get(char type, const void *from, int32_t i)
{
    return type == 'b'   ? ((const int8_t *)from)[i]
           : type == 'u' ? ((const uint8_t *)from)[i]
           : type == 'h' ? ((const int16_t *)from)[i]
           : type == 'n' ? ((const uint16_t *)from)[i]
                         : ((const int32_t *)from)[i];
}

static inline void rows_set(char type, void *to, int32_t i, int32_t value)
{
    if (type == 'b') ((int8_t *)to)[i] = (int8_t)value;
    else if (type == 'u') ((uint8_t *)to)[i] = (uint8_t)value;
    else if (type == 'h') ((int16_t *)to)[i] = (int16_t)value;
    else if (type == 'n') ((uint16_t *)to)[i] = (uint16_t)value;
    else ((int32_t *)to)[i] = value;
}

static inline int32_t rows_between(int32_t least, int32_t greatest, uint32_t *seed)
{
    const uint32_t high = (uint32_t)rows_draw(seed) << 8, span = (uint32_t)greatest - (uint32_t)least + 1;
    const uint32_t any = high ^ (uint32_t)rows_draw(seed);
    return (int32_t)((uint32_t)least + (span ? any % span : any));
}

/* All elements: the least value (turn 0), the least and the greatest in turn (1), or any (others). */
static inline void rows_fill(char type, void *to, const RowsMemory *m)
{
    uint32_t seed = (uint32_t)m->seed;
    for (int32_t i = 0; i < m->extent; i++) {
        const int32_t end = m->turn == 0 || i % 2 ? m->least : m->greatest;
        int32_t value = m->turn < 2 ? end : rows_between(m->least, m->greatest, &seed);
        if (type == 'w') value += 65536 * (m->turn < 2 ? end : rows_between(m->least, m->greatest, &seed));
        rows_set(type, to, i, value);
    }
}

static inline uint32_t rows_hash(char type, const void *of, int32_t extent)
{
    uint32_t hash = 2166136261u;
    for (int32_t i = 0; i < extent; i++) hash = (hash ^ (uint32_t)rows_get(type, of, i)) * 16777619u;
    return hash;
}
#endif
